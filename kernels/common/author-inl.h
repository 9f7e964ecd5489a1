// SPDX-License-Identifier: Apache-2.0
// Parts that the macros of <kerngrad/kernel.h> stand on, once per target: from an author's maps and folds to the
// library's loops, and the checks that speak before a template of the loops does.
#if defined(KERNGRAD_KERNELS_AUTHOR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNGRAD_KERNELS_AUTHOR_INL_H_
#undef KERNGRAD_KERNELS_AUTHOR_INL_H_
#else
#define KERNGRAD_KERNELS_AUTHOR_INL_H_
#endif

#include <concepts>
#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"
#include "kernels/elementwise/binary.h"
#include "kernels/elementwise/elementwise-inl.h"
#include "kernels/reduce/reduce-inl.h"
#include "kernels/reduce/reduce.h"
#include "kernels/elementwise/unary.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {

// ------------------------------------------------------------------------------------------ elementwise

// Operands that an author's map takes next to the tag.
enum class map_form { one_operand, one_operand_and_params, two_operands };

void a_kernel_has_the_parameters_0_and_1_only();  // is called at compile time, and only where that is an error

// The number of a parameter, checked by the compiler.
struct parameter_index {
  int value;
  consteval parameter_index(int i) : value(i) {
    if (i < 0 || i > 1) a_kernel_has_the_parameters_0_and_1_only();
  }
};

// The parameters of unary_geometry in the lane type, converted once per call by the rule of Cast.
template <class T>
class parameters {
 public:
  explicit parameters(const double* numbers) : lanes_{parameter<T>(numbers[0]), parameter<T>(numbers[1])} {}
  HWY_INLINE T operator[](parameter_index i) const { return lanes_[i.value]; }

 private:
  T lanes_[2];
};

template <template <class> class Map, dtype K>
HWY_INLINE void run_unary(const void* const* in, void* const* out, const void* geometry) {
  using T = storage_t<K>;
  const auto& g = *static_cast<const unary_geometry*>(geometry);
  flat1<T>(Map<T>(g.params), in[0], out[0], static_cast<std::size_t>(g.count));
}

template <template <class> class Map, dtype K>
HWY_INLINE void run_binary(const void* const* in, void* const* out, const void* geometry) {
  using T = storage_t<K>;
  using Out = typename Map<T>::result::template type<hn::ScalableTag<T>>;
  broadcast2<Map<T>>(*static_cast<const broadcast_geometry*>(geometry), static_cast<const T*>(in[0]),
                     static_cast<const T*>(in[1]), static_cast<Out*>(out[0]));
}

// ------------------------------------------------------------------------------------------ reductions

// True if a class has a member of this name, whatever it is: taking its address is ambiguous then.
struct has_map_and_finish {
  void map();
  void finish();
};
template <class Author>
struct with_both : Author, has_map_and_finish {};
template <class Author>
concept names_map = !requires { &with_both<Author>::map; };
template <class Author>
concept names_finish = !requires { &with_both<Author>::finish; };

template <class Author, class T>
concept gives_identity = requires {
  { Author::template identity<T>() } -> std::same_as<T>;
};
template <class Author, class D, class V = hn::Vec<D>>
concept combines = requires(D d, V v) {
  { Author::combine(d, v, v) } -> std::same_as<V>;
};
template <class Author, class D, class V = hn::Vec<D>>
concept maps = requires(D d, V v) {
  { Author::map(d, v) } -> std::same_as<V>;
};
template <class Author, class D, class V = hn::Vec<D>>
concept finishes = requires(D d, V v, std::int64_t count) {
  { Author::finish(d, v, count) } -> std::same_as<V>;
};

// The loops take part of a vector where a row is shorter than one. An author's function sees whole vectors only, so
// that it may split, widen and narrow them: the lanes that are no elements repeat the first.
template <class D, class V, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<hn::ScalableTag<T>> widened(D d, V part) {
  const hn::ScalableTag<T> whole;
  HWY_ALIGN T lanes[hn::MaxLanes(hn::ScalableTag<T>{})];
  hn::Store(hn::Set(whole, hn::GetLane(part)), whole, lanes);
  hn::Store(part, d, lanes);
  return hn::Load(whole, lanes);
}
template <class D, class V, class T = hn::TFromD<D>>
HWY_INLINE hn::Vec<D> narrowed(D d, V whole) {
  HWY_ALIGN T lanes[hn::MaxLanes(hn::ScalableTag<T>{})];
  hn::Store(whole, hn::ScalableTag<T>{}, lanes);
  return hn::Load(d, lanes);
}

template <class Author, class D, class V>
HWY_INLINE V map_of(D d, V x) {
  const hn::ScalableTag<hn::TFromD<D>> whole;
  if constexpr (std::same_as<D, hn::ScalableTag<hn::TFromD<D>>>) return Author::map(d, x);
  else return narrowed(d, Author::map(whole, widened(d, x)));
}
template <class Author, class D, class V>
HWY_INLINE V combination_of(D d, V a, V b) {
  const hn::ScalableTag<hn::TFromD<D>> whole;
  if constexpr (std::same_as<D, hn::ScalableTag<hn::TFromD<D>>>) return Author::combine(d, a, b);
  else return narrowed(d, Author::combine(whole, widened(d, a), widened(d, b)));
}

template <class Author>
struct mapped {
  template <class D, class T>
  static HWY_INLINE hn::Vec<D> load(D d, const T* p) {
    return map_of<Author>(d, hn::LoadU(d, p));
  }
  template <class D, class T>
  static HWY_INLINE hn::Vec<D> load_first(D d, const T* p, std::size_t n, T fill) {
    // The lanes above are no elements: the map's answer for them is dropped.
    return hn::IfThenElse(hn::FirstN(d, n), map_of<Author>(d, load_tail(d, p, n, T{0})), hn::Set(d, fill));
  }
};
template <class Author, bool = names_map<Author>> struct reader_of {
  using type = as_is;
};
template <class Author> struct reader_of<Author, true> {
  using type = mapped<Author>;
};

// An author's reduction as a fold of reduce-inl.h.
template <class Author>
struct author_fold {
  using reader = typename reader_of<Author>::type;
  template <class D, class V>
  static HWY_INLINE V join(D d, V a, V b) {
    return combination_of<Author>(d, a, b);
  }
  template <class D, class V>
  static HWY_INLINE hn::TFromD<D> lanes(D d, V v) {
    return halved_lanes<author_fold>(d, v);
  }
};

template <class Author>
struct finish_map : short_map {
  std::int64_t count;
  explicit finish_map(std::int64_t elements) : count(elements) {}
  template <class D, class V>
  HWY_INLINE V operator()(D d, V all) const {
    return Author::finish(d, all, count);
  }
};

template <class Author, dtype K>
HWY_INLINE void run_reduction(const void* const* in, void* const* out, const void* geometry) {
  using T = storage_t<K>;
  using D = hn::ScalableTag<T>;
  if constexpr (!gives_identity<Author, T>) {
    static_assert(gives_identity<Author, T>,
                  "a reduction wants `template <class T> static T identity()`, the value that combine leaves alone");
  } else if constexpr (!combines<Author, D>) {
    static_assert(combines<Author, D>,
                  "a reduction wants `template <class D, class V> static V combine(D d, V a, V b)` on vectors");
  } else if constexpr (names_map<Author> && !maps<Author, D>) {
    static_assert(maps<Author, D>, "the map of a reduction is `template <class D, class V> static V map(D d, V x)`");
  } else if constexpr (names_finish<Author> && !finishes<Author, D>) {
    static_assert(finishes<Author, D>,
                  "the finish of a reduction is `template <class D, class V> static V "
                  "finish(D d, V all, std::int64_t count)`");
  } else {
    const auto& g = *static_cast<const reduce_geometry*>(geometry);
    T* y = static_cast<T*>(out[0]);
    fold<author_fold<Author>>(static_cast<const T*>(in[0]), y, g.outer, static_cast<std::size_t>(g.count),
                              static_cast<std::size_t>(g.inner), Author::template identity<T>());
    if constexpr (names_finish<Author>) {
      map_array<T>(finish_map<Author>(g.count), y, static_cast<std::size_t>(g.outer * g.inner), array<T>(y));
    }
  }
}

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard that toggles per target
