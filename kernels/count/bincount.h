// SPDX-License-Identifier: Apache-2.0
// Entry points of the counts of small integers.
#pragma once
#include "kernels/common/lists.h"

namespace kerngrad::kernels {

/// y[r, b] = the sum of the weights of row r's elements that are b, their number where there are no weights, or, of a
/// binary count, 1 where there is one and 0 where there is none.
struct bincount_geometry {
  std::int64_t rows, count;  ///< of x, [rows, count]
  std::int64_t size;         ///< of a row of y: elements of x from there on are dropped
  dtype elements;            ///< of x: an integer dtype or boolean; none is negative
  bool weighted, binary;
};

/// f(the elements of x) for x of an integer dtype or boolean.
template <class F>
void with_counted_elements(dtype type, const void* x, const F& f) {
  visit(type, [&]<dtype Type>(dtype_constant<Type>) {
    if constexpr (trait_of(Type).kind <= dtype_kind::integer) f(static_cast<const storage_t<Type>*>(x));
  });
}

// in = {x, weights [rows, count] in the entry's dtype, which may be missing}, out = {y}. The geometry is a
// bincount_geometry.
#define KG_BINCOUNT_KERNELS(X) KG_SIGNED(X, DenseBincount)

KG_DECLARE_PLAIN_KERNELS(bincount, KG_BINCOUNT_KERNELS)

}  // namespace kerngrad::kernels
