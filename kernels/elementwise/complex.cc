// SPDX-License-Identifier: Apache-2.0
#include "kernels/elementwise/complex.h"

#include <type_traits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/elementwise/complex.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "kernels/elementwise/complex-inl.h"
#include "kernels/elementwise/complex-loops-inl.h"
#include "kernels/elementwise/elementwise-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {

// Calls a map's function for each row of a geometry. All maps of a type share the walk.
template <class T, class Out>
using number_row_fn = void (*)(number_source<T> left, number_source<T> right, Out* y, std::size_t n);
template <class Map, class T, class Out>
void number_row(number_source<T> left, number_source<T> right, Out* y, std::size_t n) {
  Map::run(Map{}, left, right, y, n);
}
template <class T, class Out>
HWY_NOINLINE void number_rows(number_row_fn<T, Out> row, const broadcast_geometry& g, const T* a, const T* b, Out* y) {
  constexpr std::int64_t parts = std::is_same_v<T, Out> ? 2 : 1;
  const int last = g.rank - 1;
  const bool a_moves = g.strides[0][last] != 0, b_moves = g.strides[1][last] != 0;
  for_rows<2>(g, [&](const std::int64_t* offsets, std::int64_t start) HWY_ATTR {
    row({a + 2 * offsets[0], a_moves}, {b + 2 * offsets[1], b_moves}, y + parts * start,
        static_cast<std::size_t>(g.dims[last]));
  });
}
template <class Map, class T, class Out = typename Map::template out<T>>
HWY_INLINE void broadcast_numbers(const broadcast_geometry& g, const T* a, const T* b, Out* y) {
  number_rows<T, Out>(number_row<Map, T, Out>, g, a, b, y);
}

template <class Map, class T>
HWY_INLINE void flat_numbers(const void* x, void* y, std::size_t n) {
  Map::run(Map{}, number_source<T>{static_cast<const T*>(x), true}, static_cast<T*>(y), n);
}
template <class Map, class T, class Out = typename Map::template out<T>>
HWY_INLINE void flat_numbers(const void* a, const void* b, void* y, std::size_t n) {
  Map::run(Map{}, number_source<T>{static_cast<const T*>(a), true}, number_source<T>{static_cast<const T*>(b), true},
           static_cast<Out*>(y), n);
}

#define KG_DEFINE_NUMBERS1(Name, type)                         \
  KG_DEFINE_FUNCTION(type, Name##_##type, KG_FLAT1_PARAMETERS, \
                     flat_numbers<Name##_numbers, part_t<dtype::type>>(x, y, n))
#define KG_DEFINE_NUMBERS2(Name, type)                                              \
  KG_DEFINE_FUNCTION(type, Name##_##type, KG_FLAT2_PARAMETERS,                      \
                     flat_numbers<Name##_numbers, part_t<dtype::type>>(a, b, y, n)) \
  KG_DEFINE_FUNCTION(type, Name##_##type##_run, KG_RUN_PARAMETERS,                  \
                     typed_call<&broadcast_numbers<Name##_numbers, part_t<dtype::type>>>::run(in, out, geometry))
KG_TYPED_CALL
KG_COMPLEX_UNARY_KERNELS(KG_DEFINE_NUMBERS1)
KG_COMPLEX_BINARY_KERNELS(KG_DEFINE_NUMBERS2)

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/common/dispatch.h"

namespace kerngrad::kernels {

KG_COMPLEX_UNARY_KERNELS(KG_DISPATCH_FLAT1)
KG_COMPLEX_BINARY_KERNELS(KG_DISPATCH_FLAT2)

}  // namespace kerngrad::kernels
#endif
