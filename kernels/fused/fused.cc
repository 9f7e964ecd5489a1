// SPDX-License-Identifier: Apache-2.0
// Bias and activation of the fused layers. The arithmetic is that of Add and the activation's own kernel, one rounding
// each, so that a fused layer has the bits of its parts run one by one.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fused/fused.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include <algorithm>

#include "kernels/elementwise/activation-inl.h"
#include "kernels/elementwise/elementwise-inl.h"
#include "kernels/fused/fused.h"
#include "kernels/math/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {

// One map per activation. Where an activation reads no weights, the compiler drops their loads.
#define KG_ACTIVATION(name, op, base, expression)                                                        \
  template <class T>                                                                                     \
  struct name##_map : base {                                                                             \
    T alpha;                                                                                             \
    explicit name##_map(T slope) : alpha(slope) {}                                                       \
    template <class D, class V>                                                                          \
    HWY_INLINE V operator()([[maybe_unused]] D d, V product, V bias, [[maybe_unused]] V weights) const { \
      const V x = hn::Add(product, bias);                                                                \
      return expression;                                                                                 \
    }                                                                                                    \
  };
#include "kernels/fused/fused.inc"

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

template <class T>
void FinishLayer(const void* const* in, void* const* out, const void* geometry) {
  const auto& g = *static_cast<const fused_geometry*>(geometry);
  // Adding -0 changes nothing, not even a zero's sign. An operand that is not there has strides of 0.
  static constexpr T nothing = T{-0.0};
  const T* const bias = in[0] ? static_cast<const T*>(in[0]) : &nothing;
  const T* const weights = in[1] ? static_cast<const T*>(in[1]) : &nothing;
  T* const y = static_cast<T*>(out[0]);
  const T alpha = static_cast<T>(g.alpha);
  switch (g.after) {
#define KG_ACTIVATION(name, op, base, expression) \
  case activation::name: return finish_with(name##_map<T>(alpha), g.walk, bias, weights, y);
#include "kernels/fused/fused.inc"
  }
}

}  // namespace

#define KG_DEFINE_FUSED(Name, type) KG_DEFINE_KERNEL(Name, type, Name<storage_t<dtype::type>>(in, out, geometry))
KG_FUSED_KERNELS(KG_DEFINE_FUSED)
#undef KG_DEFINE_FUSED

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/common/dispatch.h"

namespace kerngrad::kernels {

KG_FUSED_KERNELS(KG_DISPATCH_KERNEL)

}  // namespace kerngrad::kernels
#endif
