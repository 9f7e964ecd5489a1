// SPDX-License-Identifier: Apache-2.0
#include "kernels/fused/fused.h"
#include "kernels/elementwise/reference_maps.h"

#include <cmath>
#include <cstddef>

namespace kerngrad::kernels::reference {
namespace {

// The activation of a sum in the next wider type; rounded once, with the sum.
template <class W>
W activated(activation which, W x, W weight, W alpha) {
  switch (which) {
    case activation::linear: return x;
    case activation::relu: return x < 0 ? 0 : x;
    case activation::relu6: return x < 0 ? 0 : x > 6 ? 6 : x;
    case activation::elu: return x < 0 ? std::expm1(x) : x;
    case activation::sigmoid: return 1 / (1 + std::exp(-x));
    case activation::leakyrelu: return x < 0 ? alpha * x : x;
    case activation::prelu: return x < 0 ? weight * x : x;
  }
  return x;
}

template <dtype Type, class T = storage_t<Type>>
void FinishLayer(const fused_geometry& g, const T* bias, const T* weights, T* y) {
  using wide = wide_t<T>;
  walk<3>(g.walk, [&](const std::int64_t* at, std::int64_t i) {
    const wide x = bias ? wide{y[i]} + bias[at[1]] : wide{y[i]};
    y[i] = static_cast<T>(
        activated<wide>(g.after, x, weights ? weights[at[2]] : T{0}, static_cast<wide>(static_cast<T>(g.alpha))));
  });
}

}  // namespace

KG_DEFINE_PLAIN_KERNELS(KG_FUSED_KERNELS)

}  // namespace kerngrad::kernels::reference
