// SPDX-License-Identifier: Apache-2.0
// Special functions from series, integrals and recurrences, in the next wider type, rounded once.
#include "kernels/special/functions.h"
#include "kernels/elementwise/reference_maps.h"

#include <cmath>
#include <limits>

namespace kerngrad::kernels::reference {
namespace {

constexpr long double pi = 3.14159265358979323846264338327950288L;
constexpr long double euler = 0.57721566490153286060651209008240243L;
// Bernoulli's numbers B_2 to B_24.
constexpr long double bernoulli[] = {1.0L / 6,       -1.0L / 30,       1.0L / 42,       -1.0L / 30,
                                     5.0L / 66,      -691.0L / 2730,   7.0L / 6,        -3617.0L / 510,
                                     43867.0L / 798, -174611.0L / 330, 854513.0L / 138, -236364091.0L / 2730};

// The recurrence up to 20, then the asymptotic series; below 0 the reflection.
template <class W>
W digamma_of(W x) {
  if (x == 0) return std::copysign(std::numeric_limits<W>::infinity(), -x);
  if (x < 0) {
    if (x == std::floor(x)) return std::numeric_limits<W>::quiet_NaN();
    return digamma_of(1 - x) - static_cast<W>(pi) / std::tan(static_cast<W>(pi) * (x - std::nearbyint(x)));
  }
  if (std::isinf(x)) return x;
  W sum = 0;
  for (; x < 20; ++x) sum -= 1 / x;
  W power = 1 / (x * x);
  sum += std::log(x) - 1 / (2 * x);
  for (int j = 0; j < 12; ++j, power /= x * x) sum -= static_cast<W>(bernoulli[j]) / (2 * j + 2) * power;
  return sum;
}

// Newton's steps on erfc, which is convex above 0.
template <class W>
W erfinv_of(W x) {
  if (!(std::fabs(x) < 1))
    return std::fabs(x) == 1 ? x * std::numeric_limits<W>::infinity() : std::numeric_limits<W>::quiet_NaN();
  const W rest = 1 - std::fabs(x);
  W y = 0;
  for (int i = 0; i < 200; ++i) {
    const W step = rest < W(0.5) ? std::erfc(y) - rest : std::fabs(x) - std::erf(y);
    const W next = y + step * std::exp(y * y) * std::sqrt(static_cast<W>(pi)) / 2;
    if (next == y || std::fabs(next - y) < std::numeric_limits<W>::epsilon() * y / 4) break;
    y = next;
  }
  return std::copysign(y, x);
}

// The series; below -2 the continued fraction of E1, above 60 the asymptotic series.
template <class W>
W expi_of(W x) {
  if (x == 0) return -std::numeric_limits<W>::infinity();
  if (std::isinf(x)) return x > 0 ? x : -W{0};
  if (x < -2) {
    const W z = -x;
    W f = z + 401;
    for (int k = 200; k > 0; --k) f = z + 2 * k - 1 - static_cast<W>(k) * k / f;
    return -std::exp(x) / f;
  }
  W sum = 0, term = 1;
  if (x > 60) {
    for (int k = 1; k <= x && term > 0; ++k) sum += term, term *= k / x;
    return std::exp(x / 2) / x * sum * std::exp(x / 2);
  }
  for (int k = 1; k < 400; ++k) term *= x / k, sum += term / k;
  return static_cast<W>(euler) + std::log(std::fabs(x)) + sum;
}

template <class W>
W bessel_i_of(int order, W x) {
  if (x != x) return x;
  const W infinity = std::numeric_limits<W>::infinity();
  if (std::fabs(x) > 2000) return order == 1 ? std::copysign(infinity, x) : infinity;
  W term = order == 0 ? W{1} : x / 2, sum = term;
  for (int k = 1; k < 4000 && term != 0; ++k) sum += term *= x / 2 * (x / 2) / k / (k + order);
  return sum;
}

// Bessel's integral by the trapezoidal rule, which is exact but for terms beyond its number of points; for large
// arguments Hankel's expansion.
template <class W>
W bessel_j_of(int order, W x) {
  if (x != x) return x;
  const W a = std::fabs(x), side = order == 1 && std::signbit(x) ? W{-1} : W{1};
  if (std::isinf(a)) return side * 0;
  if (a == 0) return order == 0 ? W{1} : x;
  if (a < W(1e-3))
    return order == 0 ? 1 - a * a / 4 + a * a * a * a / 64 : x / 2 * (1 - a * a / 8 + a * a * a * a / 192);
  if (a < 1000) {
    const int count = static_cast<int>(a) + 80;
    W sum = 0;
    for (int i = 0; i < 2 * count; ++i) {
      const W t = static_cast<W>(pi) * i / count;
      sum += std::cos(order * t - a * std::sin(t));
    }
    return side * sum / (2 * count);
  }
  // Coefficients of DLMF 10.17.1 over powers of a.
  W term = 1, p = 0, q = 0;
  for (int k = 0; k < 12; ++k) {
    (k % 2 == 0 ? p : q) += k % 4 < 2 ? term : -term;
    term *= static_cast<W>(4 * order - (2 * k + 1) * (2 * k + 1)) / (8 * (k + 1) * a);
  }
  const W s = std::sin(a), c = std::cos(a), scale = 1 / std::sqrt(static_cast<W>(pi) * a);
  return side * scale * (order == 0 ? p * (c + s) - q * (s - c) : p * (s - c) + q * (s + c));
}

KG_WIDE(Lgamma, std::lgamma(x))
KG_WIDE(Digamma, digamma_of(x))
KG_WIDE(Erfinv, erfinv_of(x))
KG_WIDE(Expi, expi_of(x))
KG_WIDE(BesselI0, bessel_i_of(0, x))
KG_WIDE(BesselI1, bessel_i_of(1, x))
KG_WIDE(BesselJ0, bessel_j_of(0, x))
KG_WIDE(BesselJ1, bessel_j_of(1, x))

// The recurrence from any x up to n + 25, then Euler and Maclaurin's sum.
template <class W>
W polygamma_of(int n, W x) {
  if (n == 0) return digamma_of(x);
  if (x != x || x == -std::numeric_limits<W>::infinity()) return std::numeric_limits<W>::quiet_NaN();
  const W sign = n % 2 == 1 ? W{1} : W{-1};
  if (x <= 0 && x == std::floor(x))
    return x == 0       ? sign * std::numeric_limits<W>::infinity()
           : n % 2 == 1 ? std::numeric_limits<W>::infinity()
                        : std::numeric_limits<W>::quiet_NaN();
  if (std::isinf(x)) return sign * 0;
  W sum = 0;
  for (; x < n + 25; ++x) sum += std::pow(x, static_cast<W>(-n - 1));
  const W power = std::pow(x, static_cast<W>(-n - 1));
  W factor = static_cast<W>(n + 1) / 2 / x, rest = x / n + W(0.5);
  for (int j = 1; j <= 12; ++j) {
    rest += factor * static_cast<W>(bernoulli[j - 1]);
    factor *= static_cast<W>(n + 2 * j) * (n + 2 * j + 1) / (2 * j + 1) / (2 * j + 2) / x / x;
  }
  return sign * std::tgamma(static_cast<W>(n + 1)) * (sum + power * rest);
}

template <dtype Type, class T = storage_t<Type>>
void Polygamma(const unary_geometry& g, const T* x, T* y) {
  for (std::int64_t i = 0; i < g.count; ++i)
    y[i] = static_cast<T>(polygamma_of<wide_t<T>>(static_cast<int>(g.params[0]), x[i]));
}

}  // namespace

KG_FUNCTION_KERNELS(KG_DEFINE_PLAIN_MAP1)
KG_DEFINE_PLAIN_KERNELS(KG_ORDER_KERNELS)

}  // namespace kerngrad::kernels::reference
