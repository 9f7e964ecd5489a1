// SPDX-License-Identifier: Apache-2.0
#include "kernels/fuse/chain.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fuse/chain.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "kernels/elementwise/elementwise-inl.h"
#include "kernels/math/math-inl.h"

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
struct chain_map : std::conditional_t<keeps_values(Head) || Head == chain_head::SigmoidTail, long_map, short_map> {
  static constexpr bool keeps = keeps_values(Head) && sizeof...(Steps) != 0;
  static constexpr bool has_tail = Head == chain_head::Sigmoid || Head == chain_head::SigmoidTail;
  template <class V, class... In>
  static HWY_INLINE V after(V value, In... in) {
    ((value = next_value<Steps>(value, in)), ...);
    return value;
  }
  // Opens x by the head: a sigmoid by its tail, which `value` takes to the sigmoid.
  template <class D, class V>
  static HWY_INLINE V value([[maybe_unused]] D d, V opened, [[maybe_unused]] V x) {
    if constexpr (Head == chain_head::Sigmoid) return SigmoidOfTail(d, opened, x);
    else return opened;
  }
  template <class D, class V>
  static HWY_INLINE V opened([[maybe_unused]] D d, V x) {
    if constexpr (has_tail) return SigmoidTail(d, x);
    else if constexpr (Head == chain_head::Tanh) return Tanh(d, x);
    else if constexpr (Head == chain_head::Exp) return Exp(d, x);
    else return x;
  }
  template <class D, class V, class... In>
  static HWY_INLINE V after_pair(D d, V dy, V tail, In... in) {
    return after(hn::Mul(dy, SigmoidSlope(d, tail)), in...);
  }
  template <class D, class V, class... In>
  static HWY_INLINE V after_three(D d, V dy, V tail, V x, In... in) {
    const V slope = SigmoidSlope(d, tail);
    return after(hn::Add(hn::Mul(dy, SigmoidOfTail(d, tail, x)), hn::Mul(hn::Mul(dy, x), slope)), in...);
  }
  template <class D, class V, class... In>
  HWY_INLINE V operator()([[maybe_unused]] D d, V x, In... in) const {
    if constexpr (operands_of(Head) == 3) return after_three(d, x, in...);
    else if constexpr (operands_of(Head) == 2) return after_pair(d, x, in...);
    else return after(value(d, opened(d, x), x), in...);
  }
  // As after, with keep(k, value) of what the head and the steps but the last give; `head` is kept of the head.
  template <class Keep, class V, class... In>
  static HWY_INLINE V after_keeping(const Keep& keep, V head, V value, In... in) {
    std::size_t k = 0;
    ((keep(k, k == 0 ? head : value), ++k, value = next_value<Steps>(value, in)), ...);
    return value;
  }
  // Whether the head does each of its steps for four vectors, which is faster than one vector after the other.
  template <class D>
  static constexpr bool takes_four = has_tables<D> && (has_tail || Head == chain_head::Exp);
  template <class D, class V>
  static HWY_INLINE void open_four(D d, vectors<V, 4> v) {
    if constexpr (has_tail) SigmoidTailOfAll(d, v);
    else ExpOfAll(d, v);
  }
};

// put(at, opened, x, others...) for each vector of all groups of four. Returns where the rest begins.
template <class T, class Map, class Put, class First, class... Rest>
HWY_INLINE std::size_t run_fours(std::size_t n, const Put& put, First first, Rest... rest) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    auto v0 = first.all(d, i, 0), v1 = first.all(d, i, lanes);
    auto v2 = first.all(d, i, 2 * lanes), v3 = first.all(d, i, 3 * lanes);
    Map::open_four(d, vectors<hn::Vec<decltype(d)>, 4>{{&v0, &v1, &v2, &v3}});
    put(i, v0, first.all(d, i, 0), rest.all(d, i, 0)...);
    put(i + lanes, v1, first.all(d, i, lanes), rest.all(d, i, lanes)...);
    put(i + 2 * lanes, v2, first.all(d, i, 2 * lanes), rest.all(d, i, 2 * lanes)...);
    put(i + 3 * lanes, v3, first.all(d, i, 3 * lanes), rest.all(d, i, 3 * lanes)...);
  }
  return i;
}

template <class T, class Map, class... In>
HWY_NOINLINE void fours_loop(T* y, std::size_t n, In... in) {
  const hn::ScalableTag<T> d;
  const auto put = [&](std::size_t at, auto opened, auto x, auto... others)
                       HWY_ATTR { hn::StoreU(Map::after(Map::value(d, opened, x), others...), d, y + at); };
  const std::size_t start = run_fours<T, Map>(n, put, in...);
  if (start != n) long_loop(Map{}, d, y, start, n, false, in...);
}

template <class T, class Map, class First, class... Rest>
HWY_NOINLINE void keeping_loop(const chain_geometry& g, T* y, First first, Rest... rest) {
  const hn::ScalableTag<T> d;
  const std::size_t lanes = hn::Lanes(d), n = g.n;
  T* const kept[] = {static_cast<T*>(g.kept[0]), static_cast<T*>(g.kept[1]), static_cast<T*>(g.kept[2])};
  const auto put = [&](std::size_t at, auto opened, auto x, auto... others) HWY_ATTR {
    const auto keep = [&](std::size_t k, auto v) HWY_ATTR {
      if (kept[k]) hn::StoreU(v, d, kept[k] + at);
    };
    const auto value = Map::value(d, opened, x);
    hn::StoreU(Map::after_keeping(keep, g.keeps_tail ? opened : value, value, others...), d, y + at);
  };
  std::size_t i = 0;
  if constexpr (Map::template takes_four<decltype(d)>) i = run_fours<T, Map>(n, put, first, rest...);
  for (; i + lanes <= n; i += lanes) {
    const auto x = first.all(d, i, 0);
    put(i, Map::opened(d, x), x, rest.all(d, i, 0)...);
  }
  if (i == n) return;
  const auto keep_first = [&](std::size_t k, auto v) HWY_ATTR {
    if (kept[k]) store_first(d, v, kept[k] + i, n - i);
  };
  const auto x = first.first(d, i, n - i), opened = Map::opened(d, x), value = Map::value(d, opened, x);
  const auto head = g.keeps_tail ? opened : value;
  store_first(d, Map::after_keeping(keep_first, head, value, rest.first(d, i, n - i)...), y + i, n - i);
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
  if constexpr (Map::template takes_four<hn::ScalableTag<T>>) {
    if (!(g.n >= stream_question && streams(y, g.n, in...))) return fours_loop<T, Map>(y, g.n, in...);
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
  static_assert(operands <= most_chain_operands);
  if constexpr (operands == 1) run_map<T, map>(g, y, x(0));
  else if constexpr (operands == 2) run_map<T, map>(g, y, x(0), x(1));
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

#define KG_DEFINE(head, first, second, third, type)                                                                   \
  KG_DEFINE_ENTRY(                                                                                                    \
      type, KG_CHAIN_NAME(head, first, second, third, type),                                                          \
      run_listed<storage_t<dtype::type>, chain_head::head, chain_step::first, chain_step::second, chain_step::third>( \
          in, out, geometry))
#define KG_CHAIN(head, first, second, third) KG_CHAIN_TYPES(KG_DEFINE, head, first, second, third)
#include "kernels/fuse/chain.inc"

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/common/dispatch.h"

namespace kerngrad::kernels {

#define KG_DISPATCH(head, first, second, third, type) \
  KG_DISPATCH_ENTRY(type, KG_CHAIN_NAME(head, first, second, third, type))
#define KG_CHAIN(head, first, second, third) KG_CHAIN_TYPES(KG_DISPATCH, head, first, second, third)
#include "kernels/fuse/chain.inc"

}  // namespace kerngrad::kernels
#endif
