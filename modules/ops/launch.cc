// SPDX-License-Identifier: Apache-2.0
// Launchers: from shapes and attributes to the plain geometry that a kernel takes. One per calling convention, not
// per op; their bodies are in implementation units.
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
void along_axis(const launch_call&);
void cross_entropy(const launch_call&);
void scan(const launch_call&);
void matmul(const launch_call&);
void conv(const launch_call&);
void conv_backprop_input(const launch_call&);
void conv_backprop_filter(const launch_call&);
void fused_matmul(const launch_call&);
void fused_conv(const launch_call&);
void pool(const launch_call&);
void pool_grad(const launch_call&);
void pool_gather(const launch_call&);
void resize(const launch_call&);
void resize_grad(const launch_call&);
void crop(const launch_call&);
void crop_grad(const launch_call&);
void transform(const launch_call&);
void transform_grad(const launch_call&);
void copy(const launch_call&);
void transpose(const launch_call&);
void slice(const launch_call&);
void concat(const launch_call&);
void unpack(const launch_call&);
void split(const launch_call&);
void pad(const launch_call&);
void tile(const launch_call&);
void broadcast_to(const launch_call&);
void gather(const launch_call&);
void gather_grad(const launch_call&);
void segment_sum(const launch_call&);
void one_hot(const launch_call&);
void reverse(const launch_call&);
void fill(const launch_call&);
void zeros_like(const launch_call&);
void ones_like(const launch_call&);
void range(const launch_call&);
void linspace(const launch_call&);
void random(const launch_call&);
void batch_norm(const launch_call&);
void layer_norm(const launch_call&);
void response_norm(const launch_call&);
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
    case convention::along_axis: return launch::along_axis;
    case convention::cross_entropy: return launch::cross_entropy;
    case convention::scan: return launch::scan;
    case convention::matmul: return launch::matmul;
    case convention::conv: return launch::conv;
    case convention::conv_backprop_input: return launch::conv_backprop_input;
    case convention::conv_backprop_filter: return launch::conv_backprop_filter;
    case convention::fused_matmul: return launch::fused_matmul;
    case convention::fused_conv: return launch::fused_conv;
    case convention::pool: return launch::pool;
    case convention::pool_grad: return launch::pool_grad;
    case convention::pool_gather: return launch::pool_gather;
    case convention::resize: return launch::resize;
    case convention::resize_grad: return launch::resize_grad;
    case convention::crop: return launch::crop;
    case convention::crop_grad: return launch::crop_grad;
    case convention::transform: return launch::transform;
    case convention::transform_grad: return launch::transform_grad;
    case convention::copy: return launch::copy;
    case convention::transpose: return launch::transpose;
    case convention::slice: return launch::slice;
    case convention::concat: return launch::concat;
    case convention::unpack: return launch::unpack;
    case convention::split: return launch::split;
    case convention::pad: return launch::pad;
    case convention::tile: return launch::tile;
    case convention::broadcast_to: return launch::broadcast_to;
    case convention::gather: return launch::gather;
    case convention::gather_grad: return launch::gather_grad;
    case convention::segment_sum: return launch::segment_sum;
    case convention::one_hot: return launch::one_hot;
    case convention::reverse: return launch::reverse;
    case convention::fill: return launch::fill;
    case convention::zeros_like: return launch::zeros_like;
    case convention::ones_like: return launch::ones_like;
    case convention::range: return launch::range;
    case convention::linspace: return launch::linspace;
    case convention::random: return launch::random;
    case convention::batch_norm: return launch::batch_norm;
    case convention::layer_norm: return launch::layer_norm;
    case convention::response_norm: return launch::response_norm;
  }
  return row.launch;
}

}  // namespace kerngrad
