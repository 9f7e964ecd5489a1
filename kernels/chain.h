// SPDX-License-Identifier: Apache-2.0
// Entry points of the chains: two or three sums, differences and products in one pass over their operands. They are no
// ops; fused programs choose them for runs of steps (modules/fuse_chains.cc).
#pragma once
#include "kernels/abi.h"

namespace kerngrad::kernels {

/// A step of a chain, on what was computed so far and the next operand x.
enum class chain_step : std::uint8_t {
  none,   // the chain has ended
  plus,   // value + x
  minus,  // value - x
  times,  // value * x
  from,   // x - value
};
/// The steps of one chain, in the order in which they are done; its operands are one more than its steps.
struct chain_shape {
  chain_step steps[3];
};
/// Every chain that there is a kernel of.
inline constexpr chain_shape chain_shapes[] = {
#define KG_CHAIN(first, second, third) {{chain_step::first, chain_step::second, chain_step::third}},
#include "kernels/chain.inc"
};
inline constexpr std::size_t most_chain_operands = 4;

/// Operands of one length; a single number takes the place of an array.
struct chain_geometry {
  std::size_t n;
  bool moves[most_chain_operands];  ///< whether the operand is an array
  bool past_caches;                 ///< the result is written past the caches (kernels/stream.h)
};

// in = the operands, out[0] = the result, which may be exactly one of them. The geometry is a chain_geometry. Every
// product and sum is rounded on its own: the bits are those of the ops one by one.
#define KG_CHAIN_TYPES(X, first, second, third) X(first, second, third, float32) X(first, second, third, float64)
#define KG_CHAIN_NAME(first, second, third, type) Chain_##first##_##second##_##third##_##type

#define KG_DECLARE(first, second, third, type) \
  void KG_CHAIN_NAME(first, second, third, type)(const void* const* in, void* const* out, const void* geometry);
#define KG_CHAIN(first, second, third) KG_CHAIN_TYPES(KG_DECLARE, first, second, third)
#include "kernels/chain.inc"
#undef KG_DECLARE

/// The kernels of a chain.
struct chain_kernels {
  run_fn float32, float64;
};
/// By the chain's place in chain_shapes.
inline constexpr chain_kernels chain_simd[] = {
#define KG_CHAIN(first, second, third) \
  {KG_CHAIN_NAME(first, second, third, float32), KG_CHAIN_NAME(first, second, third, float64)},
#include "kernels/chain.inc"
};

}  // namespace kerngrad::kernels
