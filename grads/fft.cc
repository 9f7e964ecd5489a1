// SPDX-License-Identifier: Apache-2.0
// Gradient rules of the Fourier transforms. They are linear, so that each rule is the adjoint: the transform the other
// way with the same factor, which is that of the norm where the other direction is divided. A real transform gives each
// inner bin for itself and its conjugate.
module;
#include "kernels/common/abi.h"
module kerngrad:grads_fft;

import :std;
import :core;
import :tensor;
import :rule;
import :call;
import :ops;

namespace kerngrad::rules {

/// The norm with which the transform the other way has the same factor.
template <class C>
std::string_view adjoint_norm(const C& c) {
  const std::string_view norm = c.template attr<"norm">().as_text();
  return norm == "backward" ? "forward" : norm == "forward" ? "backward" : "ortho";
}

/// Bins 0 to n / 2 times a weight each: `inner` for bins that stand for their conjugates, too. By the parts, which
/// every complex dtype has.
inline tensor weighted_bins(const tensor& bins, std::int64_t n, double inner) {
  const auto fill = [&](std::span<double> weights) {
    for (double& weight : weights) weight = inner;
    weights.front() = 1;
    if (n % 2 == 0) weights.back() = 1;
  };
  const tensor re = real(bins), weights = cast(tensor::build<double>({n / 2 + 1}, fill), re.type());
  return complex(re * weights, imag(bins) * weights);
}

/// The first elements of the last axis, or zeros after them: of so many.
inline tensor with_rows_of(const tensor& x, std::int64_t size) {
  const int last = x.dims().rank() - 1;
  const std::int64_t had = x.dims()[last];
  if (had == size) return x;
  std::vector<std::int64_t> begin(static_cast<std::size_t>(last + 1)), sizes(begin.size(), -1), pairs(2 * begin.size());
  sizes.back() = size;
  pairs.back() = size - had;
  return had > size ? slice(x, begin, sizes) : pad(x, pairs);
}

inline constexpr auto fft_rules = family_rules(rule_list{
    rule<"FFT">(wrt(keep::nothing, [](const auto& c) { return call<"IFFT">(c.dy(), attr<"norm">(adjoint_norm(c))); })),
    rule<"IFFT">(wrt(keep::nothing, [](const auto& c) { return call<"FFT">(c.dy(), attr<"norm">(adjoint_norm(c))); })),
    rule<"RFFT">(wrt(keep::nothing,
                     [](const auto& c) {
                       const std::int64_t given = c.dims(0)[c.dims(0).rank() - 1];
                       const std::int64_t asked = c.template attr<"fftLength">().as_integer();
                       const std::int64_t n = asked > 0 ? asked : given;
                       const tensor points = call<"IRFFT">(weighted_bins(c.dy(), n, 0.5), attr<"fftLength">(n),
                                                           attr<"norm">(adjoint_norm(c)));
                       return with_rows_of(points, given);
                     })),
    rule<"IRFFT">(wrt(keep::nothing,
                      [](const auto& c) {
                        const std::int64_t n = c.dy().dims()[c.dy().dims().rank() - 1];
                        const tensor bins = call<"RFFT">(c.dy(), attr<"norm">(adjoint_norm(c)));
                        return with_rows_of(weighted_bins(bins, n, 2), c.dims(0)[c.dims(0).rank() - 1]);
                      })),
});

}  // namespace kerngrad::rules
