// SPDX-License-Identifier: Apache-2.0
#include "kernels/chain.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/chain.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "kernels/elementwise-inl.h"
#include "kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {

template <chain_step Step, class V>
HWY_INLINE V next_value(V value, V x) {
  if constexpr (Step == chain_step::plus) return hn::Add(value, x);
  else if constexpr (Step == chain_step::minus) return hn::Sub(value, x);
  else if constexpr (Step == chain_step::times) return hn::Mul(value, x);
  else return hn::Sub(x, value);
}

template <chain_head Head, class D, class V>
HWY_INLINE V first_value([[maybe_unused]] D d, V x) {
  if constexpr (Head == chain_head::Sigmoid) return Sigmoid(d, x);
  else if constexpr (Head == chain_head::Tanh) return Tanh(d, x);
  else if constexpr (Head == chain_head::Exp) return Exp(d, x);
  else return x;
}

template <chain_head Head, chain_step... Steps>
struct chain_map : std::conditional_t<Head == chain_head::none, short_map, long_map> {
  template <class D, class V, class... In>
  HWY_INLINE V operator()(D d, V x, In... in) const {
    V value = first_value<Head>(d, x);
    ((value = next_value<Steps>(value, in)), ...);
    return value;
  }
};

template <class T, class Map, class... In>
HWY_INLINE void run_map(const chain_geometry& g, T* y, In... in) {
  if constexpr (can_stream<Map, T>) {
    if (HWY_UNLIKELY(g.past_caches) && reinterpret_cast<std::uintptr_t>(y) % sizeof(T) == 0 && !(in.is(y) || ...)) {
      const hn::ScalableTag<T> d;
      const std::size_t start = until_aligned(d, y, g.n);
      if (start != 0) map_array<T>(Map{}, y, start, in...);
      if constexpr (Map::is_short) return stream_loop(Map{}, d, y, start, g.n, in...);
      else return long_loop(Map{}, d, y, start, g.n, true, in...);
    }
  }
  map_array<T>(Map{}, y, g.n, in...);
}

template <class T, chain_head Head, chain_step First, chain_step Second, chain_step Third>
HWY_INLINE void run_chain(const void* const* in, void* const* out, const void* geometry) {
  const auto& g = *static_cast<const chain_geometry*>(geometry);
  spread<T> single[most_chain_operands];
  const auto x = [&](std::size_t k) HWY_ATTR { return single[k].row(static_cast<const T*>(in[k]), g.moves[k]); };
  T* const y = static_cast<T*>(out[0]);
  if constexpr (Second == chain_step::none) run_map<T, chain_map<Head, First>>(g, y, x(0), x(1));
  else if constexpr (Third == chain_step::none) run_map<T, chain_map<Head, First, Second>>(g, y, x(0), x(1), x(2));
  else run_map<T, chain_map<Head, First, Second, Third>>(g, y, x(0), x(1), x(2), x(3));
}

#define KG_DEFINE(head, first, second, third, type)                                                                \
  void KG_CHAIN_NAME(head, first, second, third, type)(const void* const* in, void* const* out,                    \
                                                       const void* geometry) {                                     \
    run_chain<storage_t<dtype::type>, chain_head::head, chain_step::first, chain_step::second, chain_step::third>( \
        in, out, geometry);                                                                                        \
  }
#define KG_CHAIN(head, first, second, third) KG_CHAIN_TYPES(KG_DEFINE, head, first, second, third)
#include "kernels/chain.inc"

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kerngrad::kernels {

#define KG_EXPORT(name) HWY_EXPORT(name)
#define KG_DISPATCH_NAME(name) HWY_DYNAMIC_DISPATCH(name)
#define KG_DISPATCH(head, first, second, third, type)                                           \
  KG_EXPORT(KG_CHAIN_NAME(head, first, second, third, type));                                   \
  void KG_CHAIN_NAME(head, first, second, third, type)(const void* const* in, void* const* out, \
                                                       const void* geometry) {                  \
    KG_DISPATCH_NAME(KG_CHAIN_NAME(head, first, second, third, type))(in, out, geometry);       \
  }
#define KG_CHAIN(head, first, second, third) KG_CHAIN_TYPES(KG_DISPATCH, head, first, second, third)
#include "kernels/chain.inc"

}  // namespace kerngrad::kernels
#endif
