// SPDX-License-Identifier: Apache-2.0
// Entry points of the chains: sums, differences and products in one pass over their operands, of which the first ones
// may go through a function. They are no ops; fused programs choose them for runs of steps
// (modules/fuse/fuse_chains.cc).
#pragma once
#include "kernels/common/abi.h"

namespace kerngrad::kernels {

/// The function of the first operands: an op by its name, or a part of the derivative of one. Tails
/// t = sigmoid(-|x|) give s = sigmoid(x) and its derivative t * (1 - t), where s has lost the digits of the latter.
enum class chain_head : std::uint8_t {
  none,
  Sigmoid,
  Tanh,
  Exp,
  SigmoidTail,  // t
  SigmoidGrad,  // dy * (t * (1 - t)) of dy and t
  SwishGrad,    // dy * s + (dy * x) * (t * (1 - t)) of dy, t and x, for x * sigmoid(x)
};
/// How many operands a head takes; each step takes one more.
constexpr std::size_t operands_of(chain_head head) {
  return head == chain_head::SwishGrad ? 3 : head == chain_head::SigmoidGrad ? 2 : 1;
}
/// Whether chains with this head can keep what lies between their steps: the function is the work, not the stores.
constexpr bool keeps_values(chain_head head) {
  return head == chain_head::Sigmoid || head == chain_head::Tanh || head == chain_head::Exp;
}
/// A step of a chain, on what was computed so far and the next operand x.
enum class chain_step : std::uint8_t {
  none,   // the chain has ended
  plus,   // value + x
  minus,  // value - x
  times,  // value * x
  from,   // x - value
};
/// The steps of one chain, in the order in which they are done.
struct chain_shape {
  chain_head head;
  chain_step steps[3];
};
constexpr std::size_t operands_of(const chain_shape& shape) {
  std::size_t count = operands_of(shape.head);
  for (chain_step step : shape.steps) count += step != chain_step::none;
  return count;
}
/// Every chain that there is a kernel of.
inline constexpr chain_shape chain_shapes[] = {
#define KG_CHAIN(head, first, second, third) \
  {chain_head::head, {chain_step::first, chain_step::second, chain_step::third}},
#include "kernels/fuse/chain.inc"
};
inline constexpr std::size_t most_chain_operands = 4, most_kept_values = 3;

/// Operands of one length; a single number takes the place of an array.
struct chain_geometry {
  std::size_t n;
  bool moves[most_chain_operands];  ///< whether the operand is an array
  bool past_caches;                 ///< the result is written past the caches (kernels/common/stream.h)
  /// Where what the head gives is stored as well, and what each step but the last gives; null: nowhere. None of the
  /// operands, and only for heads that keep values.
  void* kept[most_kept_values];
  bool keeps_tail = false;  ///< Sigmoid gives kept[0] the tail in place of its value
};

// in = the operands, out[0] = the result, which may be exactly one of them. The geometry is a chain_geometry. Every
// product and sum is rounded on its own: the bits are those of the ops one by one.
#define KG_CHAIN_TYPES(X, head, first, second, third) \
  X(head, first, second, third, float32) X(head, first, second, third, float64)
#define KG_CHAIN_NAME(head, first, second, third, type) Chain_##head##_##first##_##second##_##third##_##type

#define KG_DECLARE(head, first, second, third, type) \
  KG_DECLARE_ENTRY(type, KG_CHAIN_NAME(head, first, second, third, type))
#define KG_CHAIN(head, first, second, third) KG_CHAIN_TYPES(KG_DECLARE, head, first, second, third)
#include "kernels/fuse/chain.inc"
#undef KG_DECLARE

/// The kernels of a chain.
struct chain_kernels {
  run_fn float32, float64;
};
/// By the chain's place in chain_shapes.
inline constexpr chain_kernels chain_simd[] = {
#define KG_CHAIN(head, first, second, third) \
  {KG_CHAIN_NAME(head, first, second, third, float32), KG_CHAIN_NAME(head, first, second, third, float64)},
#include "kernels/fuse/chain.inc"
};

}  // namespace kerngrad::kernels
