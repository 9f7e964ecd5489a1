// SPDX-License-Identifier: Apache-2.0
// Several vectors under one name, once per target. The vectors of SVE and of RISC-V have no size that a compiler knows:
// there are no arrays of them, no members, no captures by copy. There are variables of them and pointers to those.
#if defined(KERNGRAD_KERNELS_VECTORS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNGRAD_KERNELS_VECTORS_INL_H_
#undef KERNGRAD_KERNELS_VECTORS_INL_H_
#else
#define KERNGRAD_KERNELS_VECTORS_INL_H_
#endif

#include <utility>

#include "hwy/highway.h"
#include "kernels/common/target-inl.h"

// After the parameters of a lambda: vectors that a call takes references to would have to be in memory. Those of EMU128
// and those under ASan are there anyway, and larger functions are slower.
#undef KG_INLINED
#if KG_EMULATED || HWY_IS_ASAN
#define KG_INLINED HWY_ATTR
#else
#define KG_INLINED HWY_ATTR __attribute__((always_inline))
#endif

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Stands for an array of kCount vectors. They are in registers if all indices are known to the compiler: loops over
/// them have constant bounds and are unrolled.
template <class V, int kCount>
struct vectors {
  V* at[kCount];
  HWY_INLINE V& operator[](int i) const { return *at[i]; }
  /// kRow vectors from kRow * row on: a row of a matrix.
  template <int kRow>
  HWY_INLINE vectors<V, kRow> row(int row) const {
    vectors<V, kRow> part;
    for (int i = 0; i < kRow; ++i) part.at[i] = at[kRow * row + i];
    return part;
  }
};

/// Calls f with the addresses of its copies of these vectors.
template <class F, class V, class... Same>
HWY_INLINE void with_copies(const F& f, V first, Same... others) {
  f(vectors<V, 1 + static_cast<int>(sizeof...(others))>{{&first, &others...}});
}

/// Calls f with kCount vectors of zeros, which live as long as the call. No vector is made by a call of its own: each
/// call that is inlined costs the compiler another copy of f.
template <int kCount, class D, class F>
HWY_INLINE void with_vectors(D d, const F& f) {
  const auto made = [&]<int... kAt>(std::integer_sequence<int, kAt...>)
                        KG_INLINED { with_copies(f, (static_cast<void>(kAt), hn::Zero(d))...); };
  made(std::make_integer_sequence<int, kCount>());
}

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard that toggles per target
