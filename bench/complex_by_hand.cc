// SPDX-License-Identifier: Apache-2.0
#include "bench/complex_by_hand.h"

#include <algorithm>

namespace kgbench {
namespace {

template <class Z>
void multiplied(const Z* a, const Z* b, Z* y, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = a[i] * b[i];
}
template <class Z, class F>
void mapped(const Z* x, Z* y, std::int64_t n, F f) {
  for (std::int64_t i = 0; i < n; ++i) y[i] = f(x[i]);
}
template <class Z>
void product(const Z* a, const Z* b, Z* c, std::int64_t n) {
  std::fill_n(c, n * n, Z{});
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t p = 0; p < n; ++p)
      for (std::int64_t j = 0; j < n; ++j) c[i * n + j] += a[i * n + p] * b[p * n + j];
}

}  // namespace

#define KG_BY_HAND(Z)                                                                             \
  void multiply_by_hand(const Z* a, const Z* b, Z* y, std::int64_t n) { multiplied(a, b, y, n); } \
  void exp_by_hand(const Z* x, Z* y, std::int64_t n) {                                            \
    mapped(x, y, n, [](Z z) { return std::exp(z); });                                             \
  }                                                                                               \
  void log_by_hand(const Z* x, Z* y, std::int64_t n) {                                            \
    mapped(x, y, n, [](Z z) { return std::log(z); });                                             \
  }                                                                                               \
  void tanh_by_hand(const Z* x, Z* y, std::int64_t n) {                                           \
    mapped(x, y, n, [](Z z) { return std::tanh(z); });                                            \
  }                                                                                               \
  void matmul_by_hand(const Z* a, const Z* b, Z* c, std::int64_t n) { product(a, b, c, n); }
KG_BY_HAND(std::complex<float>)
KG_BY_HAND(std::complex<double>)

}  // namespace kgbench
