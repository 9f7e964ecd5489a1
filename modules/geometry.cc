// SPDX-License-Identifier: Apache-2.0
// Strides, known inside the library only: how launchers walk shapes.
module;
#include "kernels/abi.h"
#include "kernels/binary.h"
module kerngrad:geometry;

import :std;
import :core;
import :op;
import :launch;

namespace kerngrad::detail {

/// One axis of a strided copy: its size and the distance of its elements on both sides, in elements.
struct copy_axis {
  std::int64_t size, in, out;
};

/// Row-major strides of a shape.
std::vector<std::int64_t> strides_of(const shape& dims);
/// The product of the sizes from axis `first` up to, not including, `last`.
std::int64_t extent_of(const shape& dims, int first, int last);
/// Copies along the axes, outermost first, with the `Transpose` kernel of the backend (any strided copy will do).
void copy_strided(const launch_call& c, const void* in, void* out, dtype type, std::vector<copy_axis> axes,
                  std::int64_t in_offset = 0, std::int64_t out_offset = 0);
/// x with its axes permuted, contiguous.
void permute(const launch_call& c, const void* in, void* out, dtype type, const shape& dims, std::span<const int> perm);
/// How three operands broadcast to a shape are walked, axes merged where all three walk them as one.
kernels::broadcast_geometry walk_of_three(const shape& dims, const std::array<shape, 3>& operands);
/// Fills with a number.
void fill_with(const launch_call& c, void* out, dtype type, std::int64_t count, double value);

/// Runs the kernel of a call on its operands and its (first) result.
template <class Geometry>
void run_kernel_of(const launch_call& c, const Geometry& g) {
  const void* in[8];  // as many operands as a row may have
  void* out[1] = {c.out[0].data};
  for (std::size_t i = 0; i < c.in.size(); ++i) in[i] = c.in[i].data;
  c.kernel.run(in, out, &g);
}

}  // namespace kerngrad::detail
