// SPDX-License-Identifier: Apache-2.0
// Maps and entry points of the lists of kernels in kernels/elementwise/flat.h, once per target.
#if defined(KERNGRAD_KERNELS_MAPS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNGRAD_KERNELS_MAPS_INL_H_
#undef KERNGRAD_KERNELS_MAPS_INL_H_
#else
#define KERNGRAD_KERNELS_MAPS_INL_H_
#endif

#include "hwy/highway.h"
#include "kernels/elementwise/elementwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The map of a kernel for a dtype: that of complex numbers has another expression.
template <class Map, dtype Type>
struct map_for {
  using type = Map;
};
template <class Map, dtype Type>
using typed_map = typename map_for<Map, Type>::type;

// A map of complex64 by a map of float32 pairs (real, imaginary).
template <class Pairs>
struct pairs_map : short_map {
  template <class W, class... V>
  HWY_INLINE auto operator()(W wide, V... v) const {
    const hn::Repartition<float, W> d;
    return hn::BitCast(wide, Pairs{}(d, hn::BitCast(d, v)...));
  }
};

// Less than a vector of a short map is done at once: the loop for any length saves registers that this does not need.
template <class T, class Map>
HWY_INLINE void flat_of_any_length(Map map, const void* a, const void* b, void* y, std::size_t n) {
  if constexpr (Map::is_short && masked_memory<T>() && !KG_EMULATED) {
    using result = typename Map::result;
    const hn::ScalableTag<T> d;
    if (n < hn::Lanes(d)) {
      if (n == 0) return;
      const auto left = load_first(d, static_cast<const T*>(a), n), right = load_first(d, static_cast<const T*>(b), n);
      return result::put_first(d, map(d, left, right), static_cast<typename result::template type<decltype(d)>*>(y), n);
    }
  }
  flat2<T>(map, a, b, y, n);
}

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard that toggles per target

#ifndef KG_MAP_OF

// Defines a map by an expression on its parameters. KG_MAP_kind defines that of an item of a list.
#define KG_MAP_OF(Map, base, parameters, expression) \
  struct Map : base {                                \
    template <class D, class V>                      \
    HWY_INLINE auto operator() parameters const {    \
      return expression;                             \
    }                                                \
  };
#define KG_MAP_SHORT(Name, parameters, expression) KG_MAP_OF(Name##_map, short_map, parameters, expression)
#define KG_MAP_LONG(Name, parameters, expression) KG_MAP_OF(Name##_map, long_map, parameters, expression)
#define KG_MAP_TEST(Name, parameters, expression) KG_MAP_OF(Name##_map, short_test, parameters, expression)
#define KG_MAP_COMPLEX(Name, parameters, expression)         \
  KG_MAP_OF(Name##_pairs, short_map, parameters, expression) \
  KG_MAP_FOR_COMPLEX(Name##_map, pairs_map<Name##_pairs>)
#define KG_MAP_FOR_COMPLEX(Map, ComplexMap) \
  template <>                               \
  struct map_for<Map, dtype::complex64> {   \
    using type = ComplexMap;                \
  };

// Defines the map of an item of a list, and its entry points for each dtype.
#define KG_DEFINE_MAP1(kind, Name, types, ...) \
  KG_MAP_##kind(Name, ([[maybe_unused]] D d, V x), (__VA_ARGS__)) types(KG_DEFINE_FLAT1, Name)
#define KG_DEFINE_MAP2(kind, Name, types, ...) \
  KG_MAP_##kind(Name, ([[maybe_unused]] D d, V a, V b), (__VA_ARGS__)) types(KG_DEFINE_FLAT2, Name)
#define KG_DEFINE_FLAT1(Name, type)                            \
  KG_DEFINE_FUNCTION(type, Name##_##type, KG_FLAT1_PARAMETERS, \
                     flat1<lane_t<dtype::type>>(typed_map<Name##_map, dtype::type>(), x, y, n))
#define KG_DEFINE_FLAT2(Name, type)                                                                             \
  KG_DEFINE_FUNCTION(type, Name##_##type, KG_FLAT2_PARAMETERS,                                                  \
                     flat_of_any_length<lane_t<dtype::type>>(typed_map<Name##_map, dtype::type>(), a, b, y, n)) \
  KG_DEFINE_FUNCTION(                                                                                           \
      type, Name##_##type##_run, KG_RUN_PARAMETERS,                                                             \
      typed_call<&broadcast2<typed_map<Name##_map, dtype::type>, lane_t<dtype::type>>>::run(in, out, geometry))

#endif  // KG_MAP_OF
