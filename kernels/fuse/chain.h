// SPDX-License-Identifier: Apache-2.0
// Entry points of the chains: sums, differences and products in one pass over their operands, of which the first ones
// may go through a function. They are no ops; fused programs choose them for runs of steps
// (modules/fuse/fuse_chains.cc).
#pragma once
#include "kernels/common/abi.h"

namespace kerngrad::kernels {

/// The function of the first operands: an op by its name, or a part of the derivative of one. Tails
/// t = sigmoid(-|x|) give s = sigmoid(x) and its derivative t * (1 - t), where s has lost the digits of the latter.
enum class chain_first_op : std::uint8_t {
  none,
  Sigmoid,
  Tanh,
  Exp,
  SigmoidTail,  // t
  SigmoidGrad,  // dy * (t * (1 - t)) of dy and t
  SwishGrad,    // dy * s + (dy * x) * (t * (1 - t)) of dy, t and x, for x * sigmoid(x)
};
/// Number of operands of a first op; each step takes one more.
constexpr std::size_t operands_of(chain_first_op first_op) {
  return first_op == chain_first_op::SwishGrad ? 3 : first_op == chain_first_op::SigmoidGrad ? 2 : 1;
}
/// True if chains with this first op can store the values between their steps. The op takes longer than the stores.
constexpr bool keeps_values(chain_first_op first_op) {
  return first_op == chain_first_op::Sigmoid || first_op == chain_first_op::Tanh || first_op == chain_first_op::Exp;
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
  chain_first_op first_op;
  chain_step steps[3];
};
constexpr std::size_t operands_of(const chain_shape& shape) {
  std::size_t count = operands_of(shape.first_op);
  for (chain_step step : shape.steps) count += step != chain_step::none;
  return count;
}

// Chains with a kernel. X(first_op, first, second, third, dtype) computes
// ((first_op(x0) first x1) second x2) third x3 of the operands x0, x1, .... Some first ops take more operands than one.
// All pairs of steps are listed, and the threes that make up products of several factors, their gradients, scaled and
// shifted values, the weighing of activations and its derivatives. Each takes about a kilobyte of code for a target and
// a dtype.
#define KG_CHAINS(X, type)                \
  X(none, plus, plus, none, type)         \
  X(none, plus, minus, none, type)        \
  X(none, plus, from, none, type)         \
  X(none, plus, times, none, type)        \
  X(none, minus, plus, none, type)        \
  X(none, minus, minus, none, type)       \
  X(none, minus, from, none, type)        \
  X(none, minus, times, none, type)       \
  X(none, times, plus, none, type)        \
  X(none, times, minus, none, type)       \
  X(none, times, from, none, type)        \
  X(none, times, times, none, type)       \
  X(none, minus, times, plus, type)       \
  X(none, minus, times, times, type)      \
  X(none, times, times, plus, type)       \
  X(none, times, times, minus, type)      \
  X(none, times, times, from, type)       \
  X(none, times, times, times, type)      \
  X(Sigmoid, times, none, none, type)     \
  X(Sigmoid, times, plus, none, type)     \
  X(Sigmoid, times, times, none, type)    \
  X(Sigmoid, times, times, plus, type)    \
  X(Tanh, times, none, none, type)        \
  X(Tanh, times, plus, none, type)        \
  X(Tanh, times, times, none, type)       \
  X(Tanh, times, times, plus, type)       \
  X(Exp, times, none, none, type)         \
  X(Exp, times, plus, none, type)         \
  X(Exp, times, times, none, type)        \
  X(Exp, times, times, plus, type)        \
  X(SigmoidTail, none, none, none, type)  \
  X(SigmoidGrad, none, none, none, type)  \
  X(SigmoidGrad, plus, none, none, type)  \
  X(SigmoidGrad, times, none, none, type) \
  X(SwishGrad, none, none, none, type)    \
  X(SwishGrad, times, none, none, type)

/// Shapes of the chains, in the order of the list.
inline constexpr chain_shape chain_shapes[] = {
#define KG_CHAIN_SHAPE(first_op, first, second, third, type) \
  {chain_first_op::first_op, {chain_step::first, chain_step::second, chain_step::third}},
    KG_CHAINS(KG_CHAIN_SHAPE, float32)
#undef KG_CHAIN_SHAPE
};
inline constexpr std::size_t most_chain_operands = 4, most_kept_values = 3;

/// Operands of one length; a single number takes the place of an array.
struct chain_geometry {
  std::size_t n;
  bool moves[most_chain_operands];  ///< whether the operand is an array
  bool past_caches;                 ///< the result is written past the caches (kernels/common/stream.h)
  /// Arrays for the results of the first op and of each step but the last, or null. They are none of the operands. Only
  /// first ops that keep values take them.
  void* kept[most_kept_values];
  bool keeps_sigmoid_tail = false;  ///< Sigmoid gives kept[0] the tail in place of its value
};

// in = the operands, out[0] = the result, which may be exactly one of them. The geometry is a chain_geometry. Every
// product and sum is rounded on its own, so the result is bitwise identical to that of the ops.
#define KG_CHAIN_NAME(first_op, first, second, third, type) Chain_##first_op##_##first##_##second##_##third##_##type
#define KG_DECLARE_CHAIN(first_op, first, second, third, type) \
  KG_DECLARE_FUNCTION(type, KG_CHAIN_NAME(first_op, first, second, third, type), KG_RUN_PARAMETERS)
KG_CHAINS(KG_DECLARE_CHAIN, float32)
KG_CHAINS(KG_DECLARE_CHAIN, float64)
#undef KG_DECLARE_CHAIN

/// The kernels of a chain.
struct chain_kernels {
  run_fn float32, float64;
};
/// Kernels in the order of chain_shapes.
inline constexpr chain_kernels chain_simd[] = {
#define KG_CHAIN_KERNELS(first_op, first, second, third, type) \
  {KG_CHAIN_NAME(first_op, first, second, third, float32), KG_CHAIN_NAME(first_op, first, second, third, float64)},
    KG_CHAINS(KG_CHAIN_KERNELS, float32)
#undef KG_CHAIN_KERNELS
};

}  // namespace kerngrad::kernels
