// SPDX-License-Identifier: Apache-2.0
module;
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include "kernels/common/abi.h"
module kerngrad;

import :composed_checks;
import :composed_last_axis;

namespace kerngrad {

using detail::composed;
using detail::shaped;

namespace {

// Options that were checked, with all defaults.
struct segments {
  int axis;
  std::int64_t length, step, points;
  tensor window;
};
segments segments_of(const composed& call, const tensor& x, const spectrum_options& options, const window_kind& usual,
                     std::int64_t usual_share) {
  call.rank("x", x, 1, max_rank - 1);
  call.real("x", x);
  const int axis = call.axis(options.axis.value(), x.rank());
  if (x.dims()[axis] == 0) call.refuse(shaped("x", x), "an axis with elements");
  if (!(options.fs > 0) || !std::isfinite(options.fs))
    call.refuse("fs " + to_string(attr_value(options.fs)), "a rate above 0");
  if (options.segment < 1) call.refuse("segment " + std::to_string(options.segment), "1 or more");
  const std::int64_t length = std::min(options.segment, x.dims()[axis]);
  const std::int64_t overlap = options.overlap.value_or(length / usual_share);
  if (overlap < 0 || overlap >= length)
    call.refuse("overlap " + std::to_string(overlap) + " of segments of " + std::to_string(length),
                "0 or more, and fewer elements than a segment");
  const std::int64_t points = options.n.value_or(length);
  if (points < length || points > 1'000'000'000)
    call.refuse("n = " + std::to_string(points),
                "10^9 at most, and at least the " + std::to_string(length) + " elements of a segment");
  return {axis, length, length - overlap, points,
          get_window(options.window.value_or(usual), length, true, dtype::float64)};
}

// The bins of all segments, [..., segments, frequencies].
tensor bins_of(const tensor& x, dtype type, const segments& s, bool detrend) {
  const tensor rows = detail::axis_last(cast(x, type), s.axis);
  tensor frames = frame(rows, s.length, s.step);
  if (detrend) frames = frames - mean(frames, -1, true);
  return rfft(frames * cast(s.window, frames.type()), s.points);
}

// Factors of products of two bins. Inner bins stand for their conjugates, too.
tensor weights_of(const segments& s, dtype type, const spectrum_options& options) {
  const double whole = options.scaling == spectrum_scaling::density ? options.fs * sum(square(s.window)).item()
                                                                    : std::pow(sum(s.window).item(), 2);
  return detail::numbers_of_indices(s.points / 2 + 1, type,
                                    [&](std::int64_t k) { return (k == 0 || 2 * k == s.points ? 1 : 2) / whole; });
}

// [..., segments, frequencies].
tensor powers(const tensor& x, const segments& s, const spectrum_options& options) {
  const dtype type = detail::spectral_type(x.type());
  const tensor bins = bins_of(x, type, s, options.detrend);
  return (square(real(bins)) + square(imag(bins))) * weights_of(s, type, options);
}

// The bins of two signals, and their products: weighted means over segments.
struct cross_powers {
  segments by;
  tensor ar, ai, br, bi, weights;

  tensor averaged(const tensor& products) const { return detail::axis_back(mean(products * weights, -2), by.axis); }
  // Parts of conj(X) Y.
  tensor re() const { return averaged(ar * br + ai * bi); }
  tensor im() const { return averaged(ar * bi - ai * br); }
  tensor of_x() const { return averaged(square(ar) + square(ai)); }
  tensor of_y() const { return averaged(square(br) + square(bi)); }
  tensor frequencies(double fs) const { return rfftfreq(by.points, 1 / fs, ar.type()); }
};
cross_powers cross_powers_of(const composed& call, const tensor& x, const tensor& y, const spectrum_options& options) {
  const segments s = segments_of(call, x, options, "hann", 2);
  call.real("y", y);
  call.one_shape("x", x, "y", y);
  const dtype type = promote(detail::spectral_type(x.type()), detail::spectral_type(y.type()));
  const tensor a = bins_of(x, type, s, options.detrend), b = bins_of(y, type, s, options.detrend);
  return {s, real(a), imag(a), real(b), imag(b), weights_of(s, type, options)};
}

}  // namespace

power_spectrum csd(const tensor& x, const tensor& y, const spectrum_options& options) {
  const cross_powers p = cross_powers_of(composed{"csd"}, x, y, options);
  return {p.frequencies(options.fs), complex(p.re(), p.im())};
}

power_spectrum coherence(const tensor& x, const tensor& y, const spectrum_options& options) {
  const cross_powers p = cross_powers_of(composed{"coherence"}, x, y, options);
  return {p.frequencies(options.fs), (square(p.re()) + square(p.im())) / p.of_x() / p.of_y()};
}

power_spectrum welch(const tensor& x, const spectrum_options& options) {
  const segments s = segments_of(composed{"welch"}, x, options, "hann", 2);
  const tensor power = mean(powers(x, s, options), -2);
  return {rfftfreq(s.points, 1 / options.fs, power.type()), detail::axis_back(power, s.axis)};
}

power_over_time spectrogram(const tensor& x, const spectrum_options& options) {
  const segments s = segments_of(composed{"spectrogram"}, x, options, {"tukey", 0.25}, 8);
  const tensor power = swapaxes(powers(x, s, options), -1, -2);
  const tensor times = detail::numbers_of_indices(power.dims()[power.rank() - 1], power.type(), [&](std::int64_t k) {
    return (static_cast<double>(s.length) / 2 + static_cast<double>(k * s.step)) / options.fs;
  });
  return {rfftfreq(s.points, 1 / options.fs, power.type()), times,
          s.axis == x.rank() - 1 ? power : moveaxis(power, -2, s.axis)};
}

}  // namespace kerngrad
