// SPDX-License-Identifier: Apache-2.0
// Fourier transforms from the definition, in the next wider type. A sum over t of the points of a composite length n =
// p * m is p sums over the points with the same remainder of t by p, which are transforms of length m (Cooley and Tukey
// 1965); a prime length is summed up as it is written.
#include "kernels/fft/fft.h"

#include <cmath>
#include <complex>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "kernels/common/scratch.h"

namespace kerngrad::kernels::reference {
namespace {

template <class W> using number = std::complex<W>;

template <class W> number<W> times(number<W> a, number<W> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// exp(sign * 2 pi i k / n), n being a divisor of the length that the roots are of.
template <class W>
struct roots_of_one {
  scratch<number<W>> all;
  std::int64_t length;
  roots_of_one(std::int64_t n, double sign) : length(n) {
    number<W>* w = all.reach(n);
    const W turn = static_cast<W>(6.283185307179586476925286766559005768L * sign);
    for (std::int64_t k = 0; k < n; ++k) {
      const W angle = turn * static_cast<W>(k) / static_cast<W>(n);
      w[k] = {std::cos(angle), std::sin(angle)};
    }
  }
  number<W> at(std::int64_t k, std::int64_t n) { return all.data()[k % n * (length / n)]; }
};

std::int64_t smallest_factor(std::int64_t n) {
  for (std::int64_t p = 2; p * p <= n; ++p)
    if (n % p == 0) return p;
  return n;
}

// y[0..n) of x[0], x[step], ...
template <class W>
void transform(const number<W>* x, std::int64_t step, std::int64_t n, number<W>* y, roots_of_one<W>& w) {
  if (n == 1) {
    *y = *x;
    return;
  }
  const std::int64_t p = smallest_factor(n), m = n / p;
  for (std::int64_t r = 0; r < p && m > 1; ++r) transform(x + r * step, step * p, m, y + r * m, w);
  scratch<number<W>> parts(n);
  for (std::int64_t i = 0; i < n; ++i) parts.data()[i] = m > 1 ? y[i] : x[i * step];
  for (std::int64_t k = 0; k < n; ++k) {
    number<W> sum = 0;
    for (std::int64_t r = 0; r < p; ++r) sum += times(parts.data()[r * m + k % m], w.at(r * k % n, n));
    y[k] = sum;
  }
}

template <class E> struct arithmetic;
template <> struct arithmetic<complex64> {
  using part = float;
  using wide = double;
};
template <> struct arithmetic<complex128> {
  using part = double;
  using wide = long double;
};

// Every row: load(row, t) gives a point, store(row, k, value) takes what comes out.
template <class W, class Load, class Store>
void for_rows(const fft_geometry& g, double sign, const Load& load, const Store& store) {
  if (g.rows == 0) return;
  roots_of_one<W> w(g.length, sign);
  scratch<number<W>> x(g.length), y(g.length);
  for (std::int64_t row = 0; row < g.rows; ++row) {
    for (std::int64_t t = 0; t < g.length; ++t) x.data()[t] = load(row, t);
    transform(x.data(), 1, g.length, y.data(), w);
    for (std::int64_t k = 0; k < g.length; ++k) store(row, k, y.data()[k] * static_cast<W>(g.scale));
  }
}

template <class E>
void complex_rows(const fft_geometry& g, const E* x, E* y, double sign) {
  using T = typename arithmetic<E>::part;
  using W = typename arithmetic<E>::wide;
  for_rows<W>(
      g, sign,
      [&](std::int64_t row, std::int64_t t) {
        const E& e = x[row * g.length + t];
        return number<W>(e.real, e.imag);
      },
      [&](std::int64_t row, std::int64_t k, number<W> v) {
        y[row * g.length + k] = {static_cast<T>(v.real()), static_cast<T>(v.imag())};
      });
}

template <dtype Type, class T = storage_t<Type>>
void FFT(const fft_geometry& g, const T* x, T* y) {
  complex_rows(g, x, y, -1);
}

template <dtype Type, class T = storage_t<Type>>
void IFFT(const fft_geometry& g, const T* x, T* y) {
  complex_rows(g, x, y, 1);
}

// The complex number with parts of a real type.
template <class T> struct pair_of;
template <> struct pair_of<float> {
  using type = complex64;
};
template <> struct pair_of<double> {
  using type = complex128;
};

template <dtype Type, class T = storage_t<Type>, class E = typename pair_of<T>::type>
void RFFT(const fft_geometry& g, const T* x, E* y) {
  using W = typename arithmetic<E>::wide;
  const std::int64_t bins = g.length / 2 + 1;
  for_rows<W>(
      g, -1, [&](std::int64_t row, std::int64_t t) { return number<W>(t < g.given ? x[row * g.given + t] : 0); },
      [&](std::int64_t row, std::int64_t k, number<W> v) {
        if (k < bins) y[row * bins + k] = {static_cast<T>(v.real()), static_cast<T>(v.imag())};
      });
}

template <dtype Type, class E = storage_t<Type>, class T = typename arithmetic<E>::part>
void IRFFT(const fft_geometry& g, const E* y, T* x) {
  using W = typename arithmetic<E>::wide;
  for_rows<W>(
      g, 1,
      [&](std::int64_t row, std::int64_t k) {
        const bool upper = 2 * k > g.length;
        const std::int64_t bin = upper ? g.length - k : k;
        if (bin >= g.given) return number<W>(0);
        const E& e = y[row * g.given + bin];
        const bool own_conjugate = 2 * bin == g.length || bin == 0;
        return number<W>(e.real, own_conjugate ? 0 : upper ? -e.imag : e.imag);
      },
      [&](std::int64_t row, std::int64_t k, number<W> v) { x[row * g.length + k] = static_cast<T>(v.real()); });
}

}  // namespace

KG_DEFINE_PLAIN_KERNELS(KG_FFT_KERNELS)

}  // namespace kerngrad::kernels::reference
