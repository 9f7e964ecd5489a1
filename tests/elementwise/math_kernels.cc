// SPDX-License-Identifier: Apache-2.0
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/elementwise/math_kernels.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include "kernels/math/math-inl.h"
#include "tests/elementwise/math_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {

// Whole vectors, then single lanes.
template <class T>
void erfc_of(const void* in, void* out, std::size_t n) {
  const T* x = static_cast<const T*>(in);
  T* y = static_cast<T*>(out);
  const hn::ScalableTag<T> d;
  const hn::CappedTag<T, 1> single;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= n; i += hn::Lanes(d)) hn::StoreU(Erfc(d, hn::LoadU(d, x + i)), d, y + i);
  for (; i < n; ++i) hn::StoreU(Erfc(single, hn::LoadU(single, x + i)), single, y + i);
}
void erfc_float32(const void* x, void* y, std::size_t n) { erfc_of<float>(x, y, n); }
void erfc_float64(const void* x, void* y, std::size_t n) { erfc_of<double>(x, y, n); }

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kerngrad::kernels {
HWY_EXPORT(erfc_float32);
HWY_EXPORT(erfc_float64);
void run_erfc_float32(const void* x, void* y, std::size_t n) { HWY_DYNAMIC_DISPATCH(erfc_float32)(x, y, n); }
void run_erfc_float64(const void* x, void* y, std::size_t n) { HWY_DYNAMIC_DISPATCH(erfc_float64)(x, y, n); }
}  // namespace kerngrad::kernels
namespace kgtest {
void erfc_float32(const void* x, void* y, std::size_t n) { kerngrad::kernels::run_erfc_float32(x, y, n); }
void erfc_float64(const void* x, void* y, std::size_t n) { kerngrad::kernels::run_erfc_float64(x, y, n); }
}  // namespace kgtest
#endif
