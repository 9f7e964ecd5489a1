// SPDX-License-Identifier: Apache-2.0
// Bias and activation of the fused layers. The arithmetic is that of Add and the activation's own kernel, one rounding
// each, so that a fused layer has the bits of its parts run one by one.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fused/fused.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include <algorithm>
#include <type_traits>

#include "kernels/elementwise/activation-inl.h"
#include "kernels/elementwise/elementwise-inl.h"
#include "kernels/fused/fused.h"
#include "kernels/math/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {

// One map per activation. The compiler drops the loads of weights that the activation does not read.
template <activation After, class T>
struct activation_map
    : std::conditional_t<After == activation::elu || After == activation::sigmoid, long_map, short_map> {
  T alpha;
  explicit activation_map(T slope) : alpha(slope) {}
  template <class D, class V>
  HWY_INLINE V operator()([[maybe_unused]] D d, V product, V bias, [[maybe_unused]] V weights) const {
    const V x = hn::Add(product, bias);
    if constexpr (After == activation::relu) return Relu(d, x);
    else if constexpr (After == activation::relu6) return Relu6(d, x);
    else if constexpr (After == activation::elu) return Elu(d, x);
    else if constexpr (After == activation::sigmoid) return Sigmoid(d, x);
    else if constexpr (After == activation::leakyrelu) return Prelu(d, x, hn::Set(d, alpha));
    else if constexpr (After == activation::prelu) return Prelu(d, x, weights);
    else {
      static_assert(After == activation::linear);
      return x;
    }
  }
};

// Short rows cost more to begin than to run, so those with one bias and one set of weights for all are taken several at
// once, with the operands laid out as often.
template <class T>
struct repeated {
  static constexpr std::int64_t room = 512;
  HWY_ALIGN T lanes[room];
  spread<T> value;

  HWY_INLINE operand<T> rows(const T* row, bool moves, std::int64_t length, std::int64_t count) {
    if (!moves) return value.row(row, false);
    T* to = lanes;
    for (std::int64_t i = 0; i < count; ++i) to = std::copy_n(row, length, to);
    return array(static_cast<const T*>(lanes));
  }
};

template <class T, class Map>
void short_rows(Map map, const broadcast_geometry& g, const T* bias, const T* weights, T* y) {
  const std::int64_t rows = g.dims[0], length = g.dims[1];
  const std::int64_t together = std::min(rows, repeated<T>::room / length);
  repeated<T> bias_rows, weight_rows;
  const operand<T> b = bias_rows.rows(bias, g.strides[1][1] != 0, length, together);
  const operand<T> w = weight_rows.rows(weights, g.strides[2][1] != 0, length, together);
  for (std::int64_t row = 0; row < rows; row += together) {
    T* const to = y + row * length;
    map_array<T>(map, to, static_cast<std::size_t>(std::min(together, rows - row) * length),
                 array(static_cast<const T*>(to)), b, w);
  }
}

template <class T, class Map>
void finish_with(Map map, const broadcast_geometry& g, const T* bias, const T* weights, T* y) {
  const bool same_for_rows = g.rank == 2 && g.strides[1][0] == 0 && g.strides[2][0] == 0;
  const bool is_dense = g.rank == 2 && g.strides[0][0] == g.dims[1];
  if (same_for_rows && is_dense && g.dims[0] > 1 && 2 * g.dims[1] <= repeated<T>::room && g.dims[1] > 0)
    return short_rows(map, g, bias, weights, y);
  const int last = g.rank - 1;
  spread<T> bias_value, weight_value;
  for_rows<3>(g, [&](const std::int64_t* offsets, std::int64_t) HWY_ATTR {
    T* const row = y + offsets[0];
    const operand<T> b = bias_value.row(bias + offsets[1], g.strides[1][last] != 0);
    const operand<T> w = weight_value.row(weights + offsets[2], g.strides[2][last] != 0);
    map_array<T>(map, row, static_cast<std::size_t>(g.dims[last]), array(static_cast<const T*>(row)), b, w);
  });
}

template <dtype Type, class T = storage_t<Type>>
void FinishLayer(const fused_geometry& g, const T* bias, const T* weights, T* y) {
  // Adding -0 changes nothing, not even a zero's sign. An absent operand has strides of 0.
  static constexpr T nothing = T{-0.0};
  if (!bias) bias = &nothing;
  if (!weights) weights = &nothing;
  const T alpha = static_cast<T>(g.alpha);
  switch (g.after) {
#define KG_FINISH(name, op) \
  case activation::name: return finish_with(activation_map<activation::name, T>(alpha), g.walk, bias, weights, y);
    KG_ACTIVATIONS(KG_FINISH)
#undef KG_FINISH
  }
}

}  // namespace

KG_DEFINE_KERNELS(KG_FUSED_KERNELS)

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/common/dispatch.h"

namespace kerngrad::kernels {

KG_DISPATCH_KERNELS(KG_FUSED_KERNELS)

}  // namespace kerngrad::kernels
#endif
