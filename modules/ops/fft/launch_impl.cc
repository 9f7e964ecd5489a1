// SPDX-License-Identifier: Apache-2.0
// Launchers of the Fourier transforms. Their kernels split the work themselves: what is worked out of a length serves
// all rows.
module;
#include <cmath>
#include "kernels/common/abi.h"
#include "kernels/fft/fft.h"
module kerngrad;

import :geometry;

namespace kerngrad::launch {
namespace {

// Factor of the sums: the transform that `norm` names is the one that is divided.
double fft_scale(std::string_view norm, std::int64_t length, bool inverse) {
  const double n = static_cast<double>(length);
  if (norm == "ortho") return 1 / std::sqrt(n);
  return (norm == "backward") == inverse ? 1 / n : 1;
}

void run_fft(const launch_call& c, std::int64_t length, attr_place norm, bool inverse) {
  const shape &x = c.in[0].dims, &y = c.out[0].dims;
  if (y.size() == 0) return;
  detail::run_kernel_of(c, kernels::fft_geometry{.rows = y.size() / y[y.rank() - 1],
                                                 .given = x[x.rank() - 1],
                                                 .length = length,
                                                 .scale = fft_scale(c.call.attr(norm).as_text(), length, inverse)});
}

}  // namespace

void fft(const launch_call& c) {
  run_fft(c, c.in[0].dims[c.in[0].dims.rank() - 1], place_in(attributes::fft, "norm"), false);
}
void ifft(const launch_call& c) {
  run_fft(c, c.in[0].dims[c.in[0].dims.rank() - 1], place_in(attributes::fft, "norm"), true);
}
void rfft(const launch_call& c) { run_fft(c, shapes::rfft_length(c.call), place_in(attributes::rfft, "norm"), false); }
void irfft(const launch_call& c) {
  run_fft(c, shapes::irfft_length(c.call), place_in(attributes::irfft, "norm"), true);
}

}  // namespace kerngrad::launch
