// SPDX-License-Identifier: Apache-2.0
// From the definitions, one column after the other, in the next wider type.
#include "kernels/reduce/products.h"

#include <complex>

#include "kernels/common/reference_scalar.h"

namespace kerngrad::kernels::reference {
namespace {

template <class T>
std::complex<wide_t<T>> product(std::complex<wide_t<T>> a, std::complex<wide_t<T>> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
template <class T>
std::complex<wide_t<T>> number_at(const T* x, std::int64_t i) {
  return {x[2 * i], x[2 * i + 1]};
}
template <class T>
void put_number(T* y, std::int64_t i, std::complex<wide_t<T>> z) {
  y[2 * i] = static_cast<T>(z.real()), y[2 * i + 1] = static_cast<T>(z.imag());
}

template <dtype Type, class T = part_t<Type>>
void Prod(const reduce_geometry& g, const T* x, T* y) {
  for (std::int64_t n = 0; n < g.outer * g.inner; ++n) {
    std::complex<wide_t<T>> total = 1;
    for (std::int64_t r = 0; r < g.count; ++r)
      total = product<T>(total, number_at(x, (n / g.inner * g.count + r) * g.inner + n % g.inner));
    put_number(y, n, total);
  }
}

template <class T, class F>
void scan(const scan_geometry& g, const T* x, T* y, std::complex<wide_t<T>> start, F f) {
  for (std::int64_t n = 0; n < g.outer * g.inner; ++n) {
    std::complex<wide_t<T>> carry = start;
    for (std::int64_t r = 0; r < g.count; ++r) {
      const std::int64_t row = g.reverse ? g.count - 1 - r : r;
      const std::int64_t at = (n / g.inner * g.count + row) * g.inner + n % g.inner;
      const std::complex<wide_t<T>> before = carry;
      carry = f(carry, number_at(x, at));
      put_number(y, at, g.exclusive ? before : carry);
    }
  }
}
template <dtype Type, class T = part_t<Type>>
void Cumsum(const scan_geometry& g, const T* x, T* y) {
  scan(g, x, y, 0, [](auto a, auto b) { return a + b; });
}
template <dtype Type, class T = part_t<Type>>
void Cumprod(const scan_geometry& g, const T* x, T* y) {
  scan(g, x, y, 1, [](auto a, auto b) { return product<T>(a, b); });
}

}  // namespace

KG_DEFINE_PLAIN_KERNELS(KG_PRODUCT_KERNELS)

}  // namespace kerngrad::kernels::reference
