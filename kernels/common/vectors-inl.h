// SPDX-License-Identifier: Apache-2.0
// Several vectors under one name, once per target. The vectors of SVE and of RISC-V have no size that a compiler knows:
// there are no arrays of them, no members, no captures by copy. There are variables of them and pointers to those.
#if defined(KERNGRAD_KERNELS_VECTORS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNGRAD_KERNELS_VECTORS_INL_H_
#undef KERNGRAD_KERNELS_VECTORS_INL_H_
#else
#define KERNGRAD_KERNELS_VECTORS_INL_H_
#endif

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

/// What an array of kCount vectors would be. They are in registers if all places are known to the compiler: loops over
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

/// Calls f with kCount vectors of zeros, which live as long as the call.
template <int kCount, class D, class F, class... V>
HWY_INLINE void with_vectors(D d, const F& f, V&... made) {
  if constexpr (sizeof...(V) == kCount) {
    f(vectors<hn::Vec<D>, kCount>{{&made...}});
  } else {
    auto next = hn::Zero(d);
    with_vectors<kCount>(d, f, made..., next);
  }
}

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard that toggles per target
