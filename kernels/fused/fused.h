// SPDX-License-Identifier: Apache-2.0
// Entry points of the fused layers' own part: bias and activation on the result of a product or a convolution, in
// place. Launchers run the kernel of the product, then this one while the result is in a cache.
#pragma once
#include "kernels/elementwise/binary.h"
#include "kernels/common/lists.h"

namespace kerngrad {

// Activations of the fused layers: the text of their attribute, and the op that computes the same.
#define KG_ACTIVATIONS(X) \
  X(linear, Identity)     \
  X(relu, Relu)           \
  X(relu6, Relu6)         \
  X(elu, Elu)             \
  X(sigmoid, Sigmoid)     \
  X(leakyrelu, LeakyRelu) \
  X(prelu, Prelu)

/// Function that a fused layer applies to the sum of its product and its bias.
enum class activation : std::uint8_t {
#define KG_ACTIVATION_NAME(name, op) name,
  KG_ACTIVATIONS(KG_ACTIVATION_NAME)
#undef KG_ACTIVATION_NAME
};

namespace kernels {

/// An activation's text in an attribute and the op that computes the same.
struct activation_entry {
  const char* name;
  const char* op;
};
#define KG_ACTIVATION_ENTRY(name, op) {#name, #op},
#define KG_ACTIVATION_TEXT(name, op) "|" #name
inline constexpr activation_entry activations[] = {KG_ACTIVATIONS(KG_ACTIVATION_ENTRY)};
/// The texts, each with a `|` before it.
inline constexpr char activation_texts[] = KG_ACTIVATIONS(KG_ACTIVATION_TEXT);
#undef KG_ACTIVATION_ENTRY
#undef KG_ACTIVATION_TEXT

/// y = activation(y + bias), where bias and the weights of prelu broadcast to y. The strides are those of y, the bias
/// and the weights, in this order; `alpha` is the slope of leakyrelu.
struct fused_geometry {
  broadcast_geometry walk;
  activation after;
  double alpha;
};

// in = {bias, weights}, either of which may be null, out = {y}. The geometry is a fused_geometry. One kernel serves
// all ops.
#define KG_FUSED_KERNELS(X) KG_FLOATS(X, FinishLayer)
#define KG_FUSED_OPS(X)                     \
  KG_FLOATS(X, (_FusedMatMul, FinishLayer)) \
  KG_FLOATS(X, (FusedConv2D, FinishLayer)) KG_FLOATS(X, (FusedDepthwiseConv2D, FinishLayer))

KG_DECLARE_SHARED_KERNELS(fused, KG_FUSED_KERNELS, KG_FUSED_OPS)

}  // namespace kernels
}  // namespace kerngrad
