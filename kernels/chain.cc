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

// What the head gives of its operands, which are the first ones, and the steps of that and the others.
template <chain_head Head, chain_step... Steps>
struct chain_map : std::conditional_t<keeps_values(Head), long_map, short_map> {
  static constexpr bool keeps = keeps_values(Head) && sizeof...(Steps) != 0;
  template <class V, class... In>
  static HWY_INLINE V after(V value, In... in) {
    ((value = next_value<Steps>(value, in)), ...);
    return value;
  }
  template <class D, class V>
  static HWY_INLINE V opened([[maybe_unused]] D d, V x) {
    if constexpr (Head == chain_head::Sigmoid) return Sigmoid(d, x);
    else if constexpr (Head == chain_head::Tanh) return Tanh(d, x);
    else if constexpr (Head == chain_head::Exp) return Exp(d, x);
    else return x;
  }
  template <class D, class V>
  static HWY_INLINE V sigmoid_grad(D d, V dy, V s) {
    return hn::Mul(dy, hn::Mul(s, hn::Sub(hn::Set(d, 1), s)));
  }
  template <class D, class V, class... In>
  static HWY_INLINE V after_pair([[maybe_unused]] D d, V dy, V of, In... in) {
    if constexpr (Head == chain_head::SigmoidGrad) return after(sigmoid_grad(d, dy, of), in...);
    else return after(hn::Mul(dy, hn::Sub(hn::Set(d, 1), hn::Mul(of, of))), in...);
  }
  template <class D, class V, class... In>
  static HWY_INLINE V after_three(D d, V dy, V s, V x, In... in) {
    return after(hn::Add(hn::Mul(dy, s), sigmoid_grad(d, hn::Mul(dy, x), s)), in...);
  }
  template <class D, class V, class... In>
  HWY_INLINE V operator()([[maybe_unused]] D d, V x, In... in) const {
    if constexpr (operands_of(Head) == 3) return after_three(d, x, in...);
    else if constexpr (operands_of(Head) == 2) return after_pair(d, x, in...);
    else return after(opened(d, x), in...);
  }
  // The same, with keep(k, value) of what the head and the steps but the last give.
  template <class D, class Keep, class V, class... In>
  static HWY_INLINE V keeping(D d, const Keep& keep, V x, In... in) {
    V value = opened(d, x);
    std::size_t at = 0;
    ((keep(at++, value), value = next_value<Steps>(value, in)), ...);
    return value;
  }
};

template <class T, class Map, class... In>
HWY_NOINLINE void keeping_loop(const chain_geometry& g, T* y, In... in) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d), n = g.n;
  T* const kept[] = {static_cast<T*>(g.kept[0]), static_cast<T*>(g.kept[1]), static_cast<T*>(g.kept[2])};
  std::size_t i = 0;
  const auto keep = [&](std::size_t k, auto v) HWY_ATTR {
    if (kept[k]) hn::StoreU(v, d, kept[k] + i);
  };
  for (; i + lanes <= n; i += lanes) hn::StoreU(Map::keeping(d, keep, in.all(d, i, 0)...), d, y + i);
  if (i == n) return;
  const auto keep_first = [&](std::size_t k, auto v) HWY_ATTR {
    if (kept[k]) store_first(d, v, kept[k] + i, n - i);
  };
  store_first(d, Map::keeping(d, keep_first, in.first(d, i, n - i)...), y + i, n - i);
}

template <class T, class Map, class... In>
HWY_INLINE void run_map(const chain_geometry& g, T* y, In... in) {
  if constexpr (Map::keeps) {
    if (HWY_UNLIKELY(g.kept[0] || g.kept[1] || g.kept[2])) return keeping_loop<T, Map>(g, y, in...);
  }
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

template <class T, chain_head Head, chain_step... Steps>
HWY_INLINE void run_chain(const void* const* in, void* const* out, const void* geometry) {
  const auto& g = *static_cast<const chain_geometry*>(geometry);
  spread<T> single[most_chain_operands];
  const auto x = [&](std::size_t k) HWY_ATTR { return single[k].row(static_cast<const T*>(in[k]), g.moves[k]); };
  T* const y = static_cast<T*>(out[0]);
  using map = chain_map<Head, Steps...>;
  constexpr std::size_t operands = operands_of(Head) + sizeof...(Steps);
  static_assert(operands >= 2 && operands <= most_chain_operands);
  if constexpr (operands == 2) run_map<T, map>(g, y, x(0), x(1));
  else if constexpr (operands == 3) run_map<T, map>(g, y, x(0), x(1), x(2));
  else run_map<T, map>(g, y, x(0), x(1), x(2), x(3));
}
// The steps up to the first that is none.
template <class T, chain_head Head, chain_step First, chain_step Second, chain_step Third>
HWY_INLINE void run_listed(const void* const* in, void* const* out, const void* geometry) {
  if constexpr (First == chain_step::none) run_chain<T, Head>(in, out, geometry);
  else if constexpr (Second == chain_step::none) run_chain<T, Head, First>(in, out, geometry);
  else if constexpr (Third == chain_step::none) run_chain<T, Head, First, Second>(in, out, geometry);
  else run_chain<T, Head, First, Second, Third>(in, out, geometry);
}

#define KG_DEFINE(head, first, second, third, type)                                                                 \
  void KG_CHAIN_NAME(head, first, second, third, type)(const void* const* in, void* const* out,                     \
                                                       const void* geometry) {                                      \
    run_listed<storage_t<dtype::type>, chain_head::head, chain_step::first, chain_step::second, chain_step::third>( \
        in, out, geometry);                                                                                         \
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
