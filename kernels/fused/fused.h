// SPDX-License-Identifier: Apache-2.0
// Entry points of the fused layers' own part: bias and activation on the result of a product or a convolution, in
// place. Launchers run the kernel of the product, then this one while the result is in a cache.
#pragma once
#include "kernels/elementwise/binary.h"

namespace kerngrad {

/// What a fused layer does with the sum of its product and its bias; the meaning is that of the op in
/// kernels/fused/fused.inc.
enum class activation : std::uint8_t {
#define KG_ACTIVATION(name, op, base, expression) name,
#include "kernels/fused/fused.inc"
};

namespace kernels {

/// An activation's text in an attribute and the op that does the same, by the activation.
struct activation_entry {
  const char* name;
  const char* op;
};
inline constexpr activation_entry activations[] = {
#define KG_ACTIVATION(name, op, base, expression) {#name, #op},
#include "kernels/fused/fused.inc"
};
/// The texts, each with a `|` before it.
inline constexpr char activation_texts[] =
#define KG_ACTIVATION(name, op, base, expression) "|" #name
#include "kernels/fused/fused.inc"
    ;

/// y = activation(y + bias), where bias and the weights of prelu broadcast to y. The strides are those of y, the bias
/// and the weights, in this order; `alpha` is the slope of leakyrelu.
struct fused_geometry {
  broadcast_geometry walk;
  activation after;
  double alpha;
};

// in = {bias, weights}, either of which may be null, out = {y}. The geometry is a fused_geometry. One kernel serves
// all.
#define KG_FUSED_KERNELS(X) KG_FLOATS(X, FinishLayer)
#define KG_FUSED_OPS(X, type) X("_FusedMatMul", type) X("FusedConv2D", type) X("FusedDepthwiseConv2D", type)

KG_FUSED_KERNELS(KG_DECLARE_KERNEL)

inline constexpr entry fused_simd[] = {
#define KG_ENTRY_FUSED(op, type) {op, dtype::type, FinishLayer_##type, nullptr, nullptr},
#define KG_ENTRIES_FUSED(Name, type) KG_FUSED_OPS(KG_ENTRY_FUSED, type)
    KG_FUSED_KERNELS(KG_ENTRIES_FUSED)
#undef KG_ENTRIES_FUSED
#undef KG_ENTRY_FUSED
};

}  // namespace kernels
}  // namespace kerngrad
