// SPDX-License-Identifier: Apache-2.0
// Scalar definitions of the lists of kernels that map elements (kernels/elementwise/flat.h). An item of a list calls
// the function of its name, which a unit defines for the types of the elements.
#pragma once
#include "kernels/common/reference_scalar.h"
#include "kernels/elementwise/binary.h"
#include "kernels/elementwise/unary.h"

namespace kerngrad::kernels::reference {

/// Calls f(offsets of the operands, index of the result) for each element. Divisions of the index give the offsets, so
/// the strides may be anything.
template <int operands, class F>
void walk(const broadcast_geometry& g, F f) {
  std::int64_t total = 1;
  for (int axis = 0; axis < g.rank; ++axis) total *= g.dims[axis];
  for (std::int64_t index = 0; index < total; ++index) {
    std::int64_t rest = index, at[operands] = {};
    for (int axis = g.rank - 1; axis >= 0; --axis) {
      for (int k = 0; k < operands; ++k) at[k] += rest % g.dims[axis] * g.strides[k][axis];
      rest /= g.dims[axis];
    }
    f(at, index);
  }
}

/// Applies f to each element, or to each pair of elements. The result's type is that of f.
template <class T, class F>
void map_flat(const void* x, void* y, std::size_t n, F f) {
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(n); ++i) put(y, i, f(get<T>(x, i)));
}
template <class T, class F>
void map_flat(const void* a, const void* b, void* y, std::size_t n, F f) {
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(n); ++i) put(y, i, f(get<T>(a, i), get<T>(b, i)));
}
template <class T, class F>
void map_broadcast(const void* const* in, void* const* out, const broadcast_geometry& g, F f) {
  walk<2>(g, [&](const std::int64_t* at, std::int64_t index) {
    put(out[0], index, f(get<T>(in[0], at[0]), get<T>(in[1], at[1])));
  });
}

}  // namespace kerngrad::kernels::reference

// Defines a function that computes in the next wider type, by an expression on a wide x.
#define KG_WIDE(Name, expression)      \
  template <class T>                   \
  T Name(T narrow) {                   \
    const wide_t<T> x = narrow;        \
    return static_cast<T>(expression); \
  }

// Defines the entry points of an item.
#define KG_DEFINE_PLAIN_MAP1(kind, Name, types, ...) types(KG_DEFINE_PLAIN_FLAT1, Name)
#define KG_DEFINE_PLAIN_MAP2(kind, Name, types, ...) types(KG_DEFINE_PLAIN_FLAT2, Name)
#define KG_DEFINE_PLAIN_FLAT1(Name, type)                                      \
  void Name##_##type KG_FLAT1_PARAMETERS {                                     \
    map_flat<storage_t<dtype::type>>(x, y, n, [](auto p) { return Name(p); }); \
  }                                                                            \
  void Name##_##type##_run KG_RUN_PARAMETERS { Name##_##type(in[0], out[0], count_of(geometry)); }
#define KG_DEFINE_PLAIN_FLAT2(Name, type, ...)                                                        \
  void Name##_##type KG_FLAT2_PARAMETERS {                                                            \
    map_flat<storage_t<dtype::type>>(a, b, y, n, [](auto p, auto q) { return Name(p, q); });          \
  }                                                                                                   \
  void Name##_##type##_run KG_RUN_PARAMETERS {                                                        \
    map_broadcast<storage_t<dtype::type>>(in, out, *static_cast<const broadcast_geometry*>(geometry), \
                                          [](auto p, auto q) { return Name(p, q); });                 \
  }
