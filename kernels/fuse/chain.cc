// SPDX-License-Identifier: Apache-2.0
#include "kernels/fuse/chain.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/fuse/chain.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "kernels/elementwise/elementwise-inl.h"
#include "kernels/math/math-inl.h"
#include "kernels/common/lists.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {

template <chain_step Step, class V>
HWY_INLINE V next_value(V value, V x) {
  if constexpr (Step == chain_step::plus) return hn::Add(value, x);
  else if constexpr (Step == chain_step::minus) return hn::Sub(value, x);
  else if constexpr (Step == chain_step::times) return hn::Mul(value, x);
  else return hn::Sub(x, value);
}

// Applies FirstOp to the first operands, then each step to the value and the next operand.
template <chain_first_op FirstOp, chain_step... Steps>
struct chain_map
    : std::conditional_t<keeps_values(FirstOp) || FirstOp == chain_first_op::SigmoidTail, long_map, short_map> {
  static constexpr std::size_t operands = operands_of(FirstOp) + sizeof...(Steps);
  static_assert(operands <= most_chain_operands);
  static constexpr bool keeps = keeps_values(FirstOp) && sizeof...(Steps) != 0;
  static constexpr bool has_tail = FirstOp == chain_first_op::Sigmoid || FirstOp == chain_first_op::SigmoidTail;
  template <class V, class... In>
  static HWY_INLINE V after(V value, In... in) {
    ((value = next_value<Steps>(value, in)), ...);
    return value;
  }
  // Begins the first op: a sigmoid by its tail, from which `value` computes the sigmoid.
  template <class D, class V>
  static HWY_INLINE V value([[maybe_unused]] D d, V opened, [[maybe_unused]] V x) {
    if constexpr (FirstOp == chain_first_op::Sigmoid) return SigmoidOfTail(d, opened, x);
    else return opened;
  }
  template <class D, class V>
  static HWY_INLINE V opened([[maybe_unused]] D d, V x) {
    if constexpr (has_tail) return SigmoidTail(d, x);
    else if constexpr (FirstOp == chain_first_op::Tanh) return Tanh(d, x);
    else if constexpr (FirstOp == chain_first_op::Exp) return Exp(d, x);
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
    if constexpr (operands_of(FirstOp) == 3) return after_three(d, x, in...);
    else if constexpr (operands_of(FirstOp) == 2) return after_pair(d, x, in...);
    else return after(value(d, opened(d, x), x), in...);
  }
  // Does the same as after, and calls keep(k, value) for the first op, for which `kept_first` is kept, and for each
  // step but the last.
  template <class Keep, class V, class... In>
  static HWY_INLINE V after_keeping(const Keep& keep, V kept_first, V value, In... in) {
    std::size_t k = 0;
    ((keep(k, k == 0 ? kept_first : value), ++k, value = next_value<Steps>(value, in)), ...);
    return value;
  }
  // True if the first op computes four vectors at once, which is faster than one vector after the other.
  template <class D>
  static constexpr bool takes_four = has_tables<D> && (has_tail || FirstOp == chain_first_op::Exp);
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
    hn::StoreU(Map::after_keeping(keep, g.keeps_sigmoid_tail ? opened : value, value, others...), d, y + at);
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
  const auto kept_first = g.keeps_sigmoid_tail ? opened : value;
  store_first(d, Map::after_keeping(keep_first, kept_first, value, rest.first(d, i, n - i)...), y + i, n - i);
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

// Kernel of a chain, with a parameter for each operand.
template <class T, class Map, class = std::make_index_sequence<Map::operands>>
struct chain_kernel;
template <class T, class Map, std::size_t... K>
struct chain_kernel<T, Map, std::index_sequence<K...>> {
  template <std::size_t>
  using operand_pointer = const T*;
  static HWY_INLINE void run(const chain_geometry& g, operand_pointer<K>... x, T* y) {
    spread<T> single[most_chain_operands];
    run_map<T, Map>(g, y, single[K].row(x, g.moves[K])...);
  }
};

// Returns the map with the steps up to the first that is none.
template <chain_first_op FirstOp, chain_step First, chain_step Second, chain_step Third>
constexpr auto listed_map() {
  if constexpr (First == chain_step::none) return chain_map<FirstOp>{};
  else if constexpr (Second == chain_step::none) return chain_map<FirstOp, First>{};
  else if constexpr (Third == chain_step::none) return chain_map<FirstOp, First, Second>{};
  else return chain_map<FirstOp, First, Second, Third>{};
}
template <class T, chain_first_op FirstOp, chain_step... Steps>
using listed_kernel = chain_kernel<T, decltype(listed_map<FirstOp, Steps...>())>;

KG_TYPED_CALL

#define KG_DEFINE_CHAIN(first_op, first, second, third, type)                                                       \
  KG_DEFINE_FUNCTION(type, KG_CHAIN_NAME(first_op, first, second, third, type), KG_RUN_PARAMETERS,                  \
                     typed_call<&listed_kernel<storage_t<dtype::type>, chain_first_op::first_op, chain_step::first, \
                                               chain_step::second, chain_step::third>::run>::run(in, out, geometry))
KG_CHAINS(KG_DEFINE_CHAIN, float32)
KG_CHAINS(KG_DEFINE_CHAIN, float64)
#undef KG_DEFINE_CHAIN

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/common/dispatch.h"

namespace kerngrad::kernels {

#define KG_DISPATCH_CHAIN(first_op, first, second, third, type)                                      \
  KG_DISPATCH_FUNCTION(type, KG_CHAIN_NAME(first_op, first, second, third, type), KG_RUN_PARAMETERS, \
                       (in, out, geometry))
KG_CHAINS(KG_DISPATCH_CHAIN, float32)
KG_CHAINS(KG_DISPATCH_CHAIN, float64)
#undef KG_DISPATCH_CHAIN

}  // namespace kerngrad::kernels
#endif
