// SPDX-License-Identifier: Apache-2.0
// Launchers: from shapes and attributes to the plain geometry that a kernel takes. One per calling convention, not
// per op; their bodies are in implementation units.
module;
#include "kernels/abi.h"
export module kerngrad:launch;

import :std;
import :core;
import :op;

export namespace kerngrad {

struct launch_call;

/// The code of one kernel: op, dtype and backend are its place in the table. All null where there is none.
struct kernel_slot {
  kernels::run_fn run = nullptr;
  kernels::flat1_fn flat1 = nullptr;
  kernels::flat2_fn flat2 = nullptr;
  /// Takes the call as it is, in place of the row's launcher: kernels in plain C++ that need no geometry.
  void (*direct)(const launch_call&) = nullptr;
  constexpr bool exists() const { return run != nullptr || flat1 != nullptr || flat2 != nullptr || direct != nullptr; }
};

/// One validated call on its way to a kernel.
struct launch_call {
  const inference& call;      ///< row, signatures after promotion, attributes, compute dtype
  const kernel_slot& kernel;  ///< the kernel of the row for the compute dtype
  const kernel_slot* table;   ///< all kernels of the backend: slot(op, dtype) = table[op * dtype_count + dtype]
  std::span<const view> in;
  std::span<const view> out;
};

}  // namespace kerngrad

export namespace kerngrad::launch {
void unary(const launch_call&);   ///< x -> y, with up to two numbers as parameters
void binary(const launch_call&);  ///< a, b broadcast
void select(const launch_call&);  ///< condition, t, e broadcast
void add_n(const launch_call&);   ///< a list of equal shapes, added in order
void cast(const launch_call&);
void convert(const launch_call&);  ///< Complex, Real, Imag, ComplexAbs: a count and nothing else
void reduce(const launch_call&);
void along_axis(const launch_call&);  ///< softmax and its kin
void cross_entropy(const launch_call&);
void scan(const launch_call&);
void matmul(const launch_call&);
void conv(const launch_call&);
void conv_backprop_input(const launch_call&);
void conv_backprop_filter(const launch_call&);
void fused_matmul(const launch_call&);  ///< a product, then bias and activation on it
void fused_conv(const launch_call&);
void pool(const launch_call&);
void pool_grad(const launch_call&);
void pool_gather(const launch_call&);
void copy(const launch_call&);  ///< same elements in the same order
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
void fill_like(const launch_call&);
void range(const launch_call&);
void linspace(const launch_call&);
void random(const launch_call&);
}  // namespace kerngrad::launch
