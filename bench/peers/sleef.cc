// SPDX-License-Identifier: Apache-2.0
// SLEEF: its functions of 1 ulp on whole arrays, with the longest vectors that this program is compiled for.
#include <sleef.h>

#include "bench/peers/case.h"

namespace {

#if defined(__ARM_FEATURE_SVE)
using lanes = svfloat32_t;
#define LANES(name) Sleef_##name##fx_u10sve
template <class F>
void on_array(F f, const float* x, float* y, std::size_t n) {
  for (std::size_t i = 0; i < n; i += svcntw()) {
    const svbool_t inside = svwhilelt_b32_u64(i, n);
    svst1_f32(inside, y + i, f(svld1_f32(inside, x + i)));
  }
}
#else
#if defined(__AVX512F__)
using lanes = __m512;
#define LANES(name) Sleef_##name##f16_u10avx512f
#elif defined(__AVX2__)
using lanes = __m256;
#define LANES(name) Sleef_##name##f8_u10avx2
#elif defined(__aarch64__)
using lanes = float32x4_t;
#define LANES(name) Sleef_##name##f4_u10advsimd
#else
using lanes = __m128;
#define LANES(name) Sleef_##name##f4_u10
#endif
template <class F>
void on_array(F f, const float* x, float* y, std::size_t n) {
  constexpr std::size_t width = sizeof(lanes) / sizeof(float);
  for (std::size_t i = 0; i + width <= n; i += width)
    *reinterpret_cast<lanes*>(y + i) = f(*reinterpret_cast<const lanes*>(x + i));
}
#endif

template <class F>
void add(const char* name, F f, bool positive = false) {
  for (std::size_t n : cases::element_sizes)
    cases::add(name, n, [=] {
      return [f, n, x = positive ? cases::positive(n) : cases::floats(0, n), y = cases::result(n)] {
        on_array(f, x, y, n);
      };
    });
}

}  // namespace

int main(int argc, char** argv) {
  return cases::run(argc, argv, [] {
    add("exp", [](lanes x) { return LANES(exp)(x); });
    add("log", [](lanes x) { return LANES(log)(x); }, true);
    add("tanh", [](lanes x) { return LANES(tanh)(x); });
    add("erf", [](lanes x) { return LANES(erf)(x); });
  });
}
