// SPDX-License-Identifier: Apache-2.0
// Borders that repeat elements. Axis by axis from the innermost one: what lies inside is at its position, and both
// borders of an axis are copies of what lies next to them in y, of whole slices, twice as many with every copy. All of
// it is long copies of bytes, which the C library has for every CPU: one function serves every target.
#include "kernels/move/borders.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace kerngrad::kernels {
namespace {

/// Bytes from which on copies do not grow any more, so that they are made from a cache.
constexpr std::size_t longest_source = 1 << 16;

/// Bytes [begin, begin + bytes), each as the one `period` before it.
void repeat_behind(std::byte* begin, std::size_t period, std::size_t bytes) {
  for (std::size_t ready = period; bytes > 0;) {  // a multiple of the period
    const std::size_t now = std::min(bytes, ready);
    std::memcpy(begin, begin - ready, now);
    begin += now, bytes -= now;
    if (ready < longest_source) ready += now;
  }
}

/// Bytes [end - bytes, end), each as the one `period` after it.
void repeat_before(std::byte* end, std::size_t period, std::size_t bytes) {
  for (std::size_t ready = period; bytes > 0;) {
    const std::size_t now = std::min(bytes, ready);
    std::memcpy(end - now, end - now + ready, now);
    end -= now, bytes -= now;
    if (ready < longest_source) ready += now;
  }
}

struct bordered_axes {
  const repeat_geometry& g;
  std::size_t x_step[max_rank]{}, y_step[max_rank]{};  // bytes from an index to the next one
  int last;                                            // the innermost axis that has a border, or axis 0

  bordered_axes(const repeat_geometry& geometry, std::size_t size) : g(geometry), last(0) {
    std::size_t in = size, out = size;
    for (int i = g.rank - 1; i >= 0; --i) {
      x_step[i] = in, y_step[i] = out;
      in *= static_cast<std::size_t>(g.dims[i]);
      out *= static_cast<std::size_t>(g.before[i] + g.dims[i] + g.after[i]);
      if (last == 0 && g.before[i] + g.after[i] > 0) last = i;
    }
  }

  /// One index of each axis before `axis`.
  void fill(int axis, const std::byte* x, std::byte* y) const {
    const std::size_t count = static_cast<std::size_t>(g.dims[axis]), step = y_step[axis];
    std::byte* const first = y + static_cast<std::size_t>(g.before[axis]) * step;
    if (axis == last) std::memcpy(first, x, count * x_step[axis]);
    else
      for (std::size_t i = 0; i < count; ++i) fill(axis + 1, x + i * x_step[axis], first + i * step);
    const std::size_t period = g.wrap ? count * step : step;
    repeat_before(first, period, static_cast<std::size_t>(g.before[axis]) * step);
    repeat_behind(first + count * step, period, static_cast<std::size_t>(g.after[axis]) * step);
  }
};

/// RepeatPad. Exact. Reference: kernels/move/reference_borders.cc.
template <dtype Type>
void RepeatPad(const repeat_geometry& g, const std::byte* x, std::byte* y) {
  bordered_axes(g, sizeof(storage_t<Type>)).fill(0, x, y);
}

}  // namespace

KG_DEFINE_PLAIN_KERNELS(KG_BORDER_KERNELS)

}  // namespace kerngrad::kernels
