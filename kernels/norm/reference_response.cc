// SPDX-License-Identifier: Apache-2.0
// From the definition, channel by channel, in the next wider type; rounded once.
#include "kernels/norm/reference_response.h"

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
wide_t<T> norm_at(const response_geometry& g, const void* x, std::int64_t first, std::int64_t c) {
  using wide = wide_t<T>;
  const auto square = [x](std::int64_t i) { return wide{get<T>(x, i)} * get<T>(x, i); };
  return static_cast<T>(g.bias) + static_cast<T>(g.alpha) * sum_around<T>(g, first, c, square);
}

template <class F>
void each_element(const response_geometry& g, F f) {
  for (std::int64_t row = 0; row < g.rows; ++row)
    for (std::int64_t c = 0; c < g.channels; ++c) f(row * g.channels, c);
}

template <class T>
void LRN(const void* const* in, void* const* out, const response_geometry& g) {
  const wide_t<T> exponent = static_cast<T>(-g.beta);
  each_element(g, [&](std::int64_t first, std::int64_t c) {
    const wide_t<T> power = std::pow(norm_at<T>(g, in[0], first, c), exponent);
    put<T>(out[0], first + c, static_cast<T>(get<T>(in[0], first + c) * power));
  });
}

template <class T>
void LRNGrad(const void* const* in, void* const* out, const response_geometry& g) {
  using wide = wide_t<T>;
  const wide exponent = static_cast<T>(-g.beta), slope = static_cast<T>(2 * g.alpha * g.beta);
  each_element(g, [&](std::int64_t first, std::int64_t c) {
    const wide sum = sum_around<T>(g, first, c, [&](std::int64_t i) {
      return wide{get<T>(in[2], i)} * get<T>(in[1], i) / norm_at<T>(g, in[0], first, i - first);
    });
    const wide own = get<T>(in[2], first + c) * std::pow(norm_at<T>(g, in[0], first, c), exponent);
    put<T>(out[0], first + c, static_cast<T>(own - slope * get<T>(in[0], first + c) * sum));
  });
}

}  // namespace

#define KG_DEFINE_RESPONSE(Name, type)                                                       \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry) {        \
    Name<storage_t<dtype::type>>(in, out, *static_cast<const response_geometry*>(geometry)); \
  }
KG_RESPONSES(KG_DEFINE_RESPONSE)
#undef KG_DEFINE_RESPONSE

}  // namespace kerngrad::kernels::reference
