// SPDX-License-Identifier: Apache-2.0
// Launchers: from shapes and attributes to the plain geometry that a kernel takes. Those of the calling conventions are
// here. A family declares its own next to its rows. Their bodies are in implementation units.
module;
#include "kernels/common/abi.h"
export module kerngrad:launch;

import :std;
import :core;
import :op;

export namespace kerngrad {

struct launch_call;

/// The built-in backends, in the order of their tables.
enum class backend : std::uint8_t { simd, reference };
/// Number of built-in backends.
inline constexpr int backend_count = 2;

/// The code of one kernel. Its position in the table determines op, dtype and backend. All members are null if there is
/// no kernel.
struct kernel_slot {
  kernels::run_fn run = nullptr;
  kernels::flat1_fn flat1 = nullptr;
  kernels::flat2_fn flat2 = nullptr;
  /// Takes the call itself, in place of the launcher of the row: for kernels in plain C++ that need no geometry.
  void (*direct)(const launch_call&) = nullptr;
  constexpr bool exists() const { return run != nullptr || flat1 != nullptr || flat2 != nullptr || direct != nullptr; }
};

/// One validated call that is about to run a kernel.
struct launch_call {
  const inference& call;      ///< row, signatures after promotion, attributes, compute dtype
  const kernel_slot& kernel;  ///< the kernel of the row for the compute dtype
  backend from;               ///< the backend of other kernels that the launcher needs
  bool built_in;              ///< true for a built-in kernel: several threads may share its work
  std::span<const view> in;
  std::span<view> out;  ///< results with the shapes of the shape rule; `made` changes shapes
  /// Keeps strings that the kernel makes until the engine has copied them into the results. A kernel may also put a
  /// string of an operand into a result.
  kernels::text_writer* texts = nullptr;
};

/// Reports the shape of result `k` of an op with bounded sizes. It has the bound's rank, and no axis is larger than the
/// bound's. The result's elements are the first ones, without gaps. Throws for any other shape.
void made(const launch_call& call, int k, const shape& dims);

}  // namespace kerngrad

// The launchers of the known calling conventions.
namespace kerngrad::launch {
void unary(const launch_call&);
void binary(const launch_call&);
void select(const launch_call&);
void add_n(const launch_call&);
void cast(const launch_call&);
void convert(const launch_call&);
void reduce(const launch_call&);
void copy(const launch_call&);
void unpack(const launch_call&);
void split(const launch_call&);
void zeros_like(const launch_call&);
void ones_like(const launch_call&);
void random(const launch_call&);
}  // namespace kerngrad::launch

export namespace kerngrad {

/// The launcher of an op: that of its calling convention, or its own.
constexpr launch_fn launcher_of(const op_row& row) {
  switch (row.convention) {
    case convention::custom: break;
    case convention::unary: return launch::unary;
    case convention::binary: return launch::binary;
    case convention::select: return launch::select;
    case convention::add_n: return launch::add_n;
    case convention::cast: return launch::cast;
    case convention::convert: return launch::convert;
    case convention::reduce: return launch::reduce;
    case convention::copy: return launch::copy;
    case convention::unpack: return launch::unpack;
    case convention::split: return launch::split;
    case convention::zeros_like: return launch::zeros_like;
    case convention::ones_like: return launch::ones_like;
    case convention::random: return launch::random;
  }
  return row.launch;
}

}  // namespace kerngrad
