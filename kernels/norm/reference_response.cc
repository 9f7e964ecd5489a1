// SPDX-License-Identifier: Apache-2.0
// From the definition, channel by channel, in the next wider type; rounded once.
#include "kernels/norm/response.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "kernels/common/reference_scalar.h"

namespace kerngrad::kernels::reference {
namespace {

/// The sum of term(i) over the elements i of a pixel, which begins at `first`, in the window around its channel c.
template <class T, class Term>
wide_t<T> sum_around(const response_geometry& g, std::int64_t first, std::int64_t c, Term term) {
  wide_t<T> sum = 0;
  for (std::int64_t k = std::max(c - g.radius, std::int64_t{0}); k < std::min(c + g.radius + 1, g.channels); ++k)
    sum += term(first + k);
  return sum;
}

template <class T>
wide_t<T> norm_at(const response_geometry& g, const T* x, std::int64_t first, std::int64_t c) {
  using wide = wide_t<T>;
  const auto square = [x](std::int64_t i) { return wide{x[i]} * x[i]; };
  return static_cast<T>(g.bias) + static_cast<T>(g.alpha) * sum_around<T>(g, first, c, square);
}

template <class F>
void each_element(const response_geometry& g, F f) {
  for (std::int64_t row = 0; row < g.rows; ++row)
    for (std::int64_t c = 0; c < g.channels; ++c) f(row * g.channels, c);
}

template <dtype Type, class T = storage_t<Type>>
void LRN(const response_geometry& g, const T* x, T* y) {
  const wide_t<T> exponent = static_cast<T>(-g.beta);
  each_element(g, [&](std::int64_t first, std::int64_t c) {
    const wide_t<T> power = std::pow(norm_at<T>(g, x, first, c), exponent);
    y[first + c] = static_cast<T>(x[first + c] * power);
  });
}

template <dtype Type, class T = storage_t<Type>>
void LRNGrad(const response_geometry& g, const T* x, const T* y, const T* dy, T* dx) {
  using wide = wide_t<T>;
  const wide exponent = static_cast<T>(-g.beta), slope = static_cast<T>(2 * g.alpha * g.beta);
  each_element(g, [&](std::int64_t first, std::int64_t c) {
    const wide sum = sum_around<T>(
        g, first, c, [&](std::int64_t i) { return wide{dy[i]} * y[i] / norm_at<T>(g, x, first, i - first); });
    const wide own = dy[first + c] * std::pow(norm_at<T>(g, x, first, c), exponent);
    dx[first + c] = static_cast<T>(own - slope * x[first + c] * sum);
  });
}

}  // namespace

KG_DEFINE_PLAIN_KERNELS(KG_RESPONSE_KERNELS)

}  // namespace kerngrad::kernels::reference
