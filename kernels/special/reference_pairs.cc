// SPDX-License-Identifier: Apache-2.0
// Special functions of several operands from their series, in the next wider type, rounded once.
#include "kernels/special/pairs.h"
#include "kernels/elementwise/reference_maps.h"

#include <cmath>
#include <limits>

namespace kerngrad::kernels::reference {
namespace {

template <class W>
constexpr W none = std::numeric_limits<W>::quiet_NaN();
template <class W>
constexpr W infinity = std::numeric_limits<W>::infinity();

template <class W>
W beta_of(W a, W b) {
  if (!(a >= 0) || !(b >= 0)) return none<W>;
  const bool vanishing = a == 0 || b == 0, endless = std::isinf(a) || std::isinf(b);
  if (vanishing) return endless ? none<W> : infinity<W>;
  if (endless) return 0;
  return std::exp(std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b));
}

// The series of positive terms, or the fraction from its end.
template <class W>
W gammainc_of(W a, W x, bool upper) {
  if (!(a >= 0) || !(x >= 0)) return none<W>;
  const bool least = x == 0 || std::isinf(a), most = std::isinf(x) || a == 0;
  if (least && most) return none<W>;
  if (least || most) return most != upper ? 1 : 0;
  const W factor = std::exp(a * std::log(x) - x - std::lgamma(a));
  if (x > a + 1 || (upper && x > 1 && x > a)) {
    const int terms = 2000;
    W f = x + 2 * terms + 1 - a;
    for (int i = terms; i > 0; --i) f = x + 2 * i - 1 - a + i * (a - i) / f;
    return upper ? factor / f : 1 - factor / f;
  }
  W term = 1 / a, sum = term;
  for (int k = 1; k < 200000 && term > sum * std::numeric_limits<W>::epsilon() / 4; ++k) sum += term *= x / (a + k);
  return upper ? 1 - factor * sum : factor * sum;
}

// The hypergeometric series of DLMF 8.17.8.
template <class W>
W betainc_of(W a, W b, W x, W other) {
  if (!(a > 0) || !(b > 0) || !(x >= 0 && x <= 1) || std::isinf(a) || std::isinf(b)) return none<W>;
  if (x == 0 || x == 1) return x;
  if (x > (a + 1) / (a + b + 2)) return 1 - betainc_of(b, a, other, x);
  W term = 1, sum = 1;
  for (int k = 0; k < 200000 && term > sum * std::numeric_limits<W>::epsilon() / 4; ++k)
    sum += term *= x * (a + b + k) / (a + k + 1);
  const W log = a * std::log(x) + b * std::log(other) - std::lgamma(a) - std::lgamma(b) + std::lgamma(a + b);
  return std::exp(log) / a * sum;
}

template <class T>
T Beta(T a, T b) {
  return static_cast<T>(beta_of<wide_t<T>>(a, b));
}
template <class T>
T Gammainc(T a, T x) {
  return static_cast<T>(gammainc_of<wide_t<T>>(a, x, false));
}
template <class T>
T Gammaincc(T a, T x) {
  return static_cast<T>(gammainc_of<wide_t<T>>(a, x, true));
}

template <dtype Type, class T = storage_t<Type>>
void Betainc(const broadcast_geometry& g, const T* a, const T* b, const T* x, T* y) {
  walk<3>(g, [&](const std::int64_t* at, std::int64_t index) {
    const wide_t<T> value = x[at[2]];
    y[index] = static_cast<T>(betainc_of<wide_t<T>>(a[at[0]], b[at[1]], value, 1 - value));
  });
}

}  // namespace

KG_PAIR_KERNELS(KG_DEFINE_PLAIN_MAP2)
KG_DEFINE_PLAIN_KERNELS(KG_TRIPLE_KERNELS)

}  // namespace kerngrad::kernels::reference
