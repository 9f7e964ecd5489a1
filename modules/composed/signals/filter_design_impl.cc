// SPDX-License-Identifier: Apache-2.0
// Coefficients of filters, computed in double precision: windowed ideal filters, and Butterworth filters by poles and
// zeros.
module;
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <numbers>
#include <span>
#include <string>
#include <vector>
#include "kernels/common/abi.h"
#include "kernels/common/sizes.h"
module kerngrad;

import :composed_checks;
import :composed_last_axis;

namespace kerngrad {

using detail::composed;

namespace {

constexpr double pi = std::numbers::pi;

// Cutoffs as shares of half of the sampling rate.
std::vector<double> shares_of(const composed& call, std::span<const double> cutoffs, filter_band band, double fs) {
  if (!(fs > 0) || !std::isfinite(fs)) call.refuse("fs " + to_string(attr_value(fs)), "a rate above 0");
  const std::size_t wanted = band == filter_band::bandpass || band == filter_band::bandstop ? 2 : 1;
  if (cutoffs.size() != wanted)
    call.refuse(std::to_string(cutoffs.size()) + " cutoffs", std::to_string(wanted) + " for this band");
  std::vector<double> shares;
  for (const double cutoff : cutoffs) {
    const double share = cutoff / (fs / 2);
    if (!(share > (shares.empty() ? 0 : shares.back()) && share < 1))
      call.refuse("cutoff " + to_string(attr_value(cutoff)), "cutoffs that increase between 0 and fs / 2");
    shares.push_back(share);
  }
  return shares;
}

}  // namespace

// ------------------------------------------------------------------------------------------ windowed filters

tensor firwin(std::int64_t taps, std::span<const double> cutoffs, const firwin_options& options) {
  constexpr composed call{"firwin"};
  const bool stops_middle = options.band == filter_band::bandstop;
  const bool passes_0 = options.band == filter_band::lowpass || stops_middle;
  const bool passes_half = options.band == filter_band::highpass || stops_middle;
  if (taps < 1 || taps > 100'000'000) call.refuse(std::to_string(taps) + " taps", "1 to 10^8");
  if (passes_half && taps % 2 == 0)
    call.refuse(std::to_string(taps) + " taps", "an odd number for a filter that passes fs / 2", "add one");
  std::vector<double> ends = shares_of(call, cutoffs, options.band, options.fs);
  if (passes_0) ends.insert(ends.begin(), 0);
  if (passes_half) ends.push_back(1);
  const tensor from_middle =
      arange(0, static_cast<double>(taps), 1, dtype::float64) - static_cast<double>(taps - 1) / 2;
  tensor ideal = zeros({taps}, dtype::float64);
  for (std::size_t i = 0; i < ends.size(); i += 2) {
    ideal = ideal + sinc(from_middle * ends[i + 1]) * ends[i + 1];
    if (ends[i] != 0) ideal = ideal - sinc(from_middle * ends[i]) * ends[i];
  }
  const tensor h = ideal * get_window(options.window, taps, false, dtype::float64);
  if (!options.scale) return h;
  const double at = ends[0] == 0 ? 0 : ends[1] == 1 ? 1 : (ends[0] + ends[1]) / 2;
  return h / (at == 0 ? sum(h) : sum(h * cos(from_middle * (pi * at))));
}

// ------------------------------------------------------------------------------------------ Butterworth filters

namespace {

using number = std::complex<double>;
using numbers = std::vector<number>;

struct poles_and_zeros {
  numbers zeros, poles;
  double gain = 1;
};

// The product of the distances from a point.
number distances(const numbers& all, number from) {
  number product = 1;
  for (const number& each : all) product *= from - each;
  return product;
}

// The analog filter with the cutoff 1: poles on the left half of the unit circle.
numbers prototype(int order) {
  numbers poles;
  for (int k = -order + 1; k < order; k += 2) {
    const double angle = pi * k / (2 * order);
    poles.push_back(k == 0 ? number(-1) : -std::polar(1.0, angle));
  }
  return poles;
}

// Each root becomes two, whose product is the square of `center`.
numbers split(const numbers& roots, double center) {
  numbers all;
  for (const number& root : roots) {
    const number apart = std::sqrt(root * root - center * center);
    all.insert(all.end(), {root + apart, root - apart});
  }
  return all;
}

poles_and_zeros analog(int order, std::span<const double> w, filter_band band) {
  poles_and_zeros filter;
  const numbers poles = prototype(order);
  const bool wide = w.size() == 2;
  const double width = wide ? w[1] - w[0] : w[0], center = wide ? std::sqrt(w[0] * w[1]) : 0;
  for (const number& p : poles) {
    const bool passes_low = band == filter_band::lowpass || band == filter_band::bandpass;
    filter.poles.push_back((passes_low ? p * width : width / p) * (wide ? 0.5 : 1.0));
  }
  if (wide) filter.poles = split(filter.poles, center);
  const auto count = static_cast<std::size_t>(order);
  if (band == filter_band::lowpass || band == filter_band::bandpass) filter.gain = std::pow(width, order);
  if (band == filter_band::highpass || band == filter_band::bandpass) filter.zeros.assign(count, 0);
  if (band == filter_band::bandstop)
    for (std::size_t i = 0; i < count; ++i)
      filter.zeros.insert(filter.zeros.end(), {number(0, center), number(0, -center)});
  return filter;
}

// z = (4 + s) / (4 - s): the bilinear transform with the rate 2.
poles_and_zeros digital(const poles_and_zeros& filter) {
  poles_and_zeros result;
  const auto mapped = [](const numbers& all) {
    numbers result;
    for (const number& each : all) result.push_back((4.0 + each) / (4.0 - each));
    return result;
  };
  result.poles = mapped(filter.poles);
  result.zeros = mapped(filter.zeros);
  result.gain = filter.gain * (distances(filter.zeros, 4) / distances(filter.poles, 4)).real();
  result.zeros.resize(result.poles.size(), -1);  // those at infinity
  return result;
}

bool is_real(number x) { return std::fabs(x.imag()) <= 100 * std::numeric_limits<double>::epsilon() * std::abs(x); }

// One of each pair of conjugates, then the real ones.
numbers without_conjugates(const numbers& all) {
  numbers pairs, reals;
  for (const number& x : all) {
    if (is_real(x)) reals.push_back(x.real());
    else if (x.imag() > 0) pairs.push_back(x);
  }
  pairs.insert(pairs.end(), reals.begin(), reals.end());
  return pairs;
}

// Takes the element for which `cost` is least, among the real ones if only these are wanted.
template <class Cost>
number take(numbers& all, bool only_real, const Cost& cost) {
  std::size_t best = all.size();
  for (std::size_t i = 0; i < all.size(); ++i)
    if ((!only_real || is_real(all[i])) && (best == all.size() || cost(all[i]) < cost(all[best]))) best = i;
  const number taken = all[best];
  all.erase(all.begin() + static_cast<std::ptrdiff_t>(best));
  return taken;
}

// The coefficients of (1 - p / z) (1 - q / z).
std::array<double, 3> product(number p, number q) { return {1, -(p + q).real(), (p * q).real()}; }

// Sections whose poles are nearest to the unit circle come last, each with the zeros that are nearest to them. A filter
// of odd order has a pole and a zero more, at 0.
std::vector<double> sections_of(poles_and_zeros filter) {
  if (filter.poles.size() % 2 != 0) filter.poles.emplace_back(0), filter.zeros.emplace_back(0);
  const std::size_t count = filter.poles.size() / 2;
  numbers poles = without_conjugates(filter.poles), zeros = without_conjugates(filter.zeros);
  std::vector<double> sos(kernels::extent(6, static_cast<std::int64_t>(count)));
  const auto from_circle = [](number p) { return std::fabs(1 - std::abs(p)); };
  for (std::size_t i = count; i-- > 0;) {
    const number p = take(poles, false, from_circle);
    const number q = is_real(p) ? take(poles, true, from_circle) : std::conj(p);
    const auto from_pole = [&](number z) { return std::abs(z - p); };
    const number z = take(zeros, false, from_pole);
    const number second = is_real(z) ? take(zeros, true, from_pole) : std::conj(z);
    std::ranges::copy(product(z, second), sos.begin() + static_cast<std::ptrdiff_t>(6 * i));
    std::ranges::copy(product(p, q), sos.begin() + static_cast<std::ptrdiff_t>(6 * i + 3));
  }
  for (std::size_t k = 0; k < 3; ++k) sos[k] *= filter.gain;
  return sos;
}

}  // namespace

tensor butter(int order, std::span<const double> cutoffs, filter_band band, double fs) {
  constexpr composed call{"butter"};
  if (order < 1 || order > 100) call.refuse("order " + std::to_string(order), "1 to 100");
  std::vector<double> warped = shares_of(call, cutoffs, band, fs);
  for (double& w : warped) w = 4 * std::tan(pi * w / 2);
  const std::vector<double> sos = sections_of(digital(analog(order, warped, band)));
  return tensor(sos, {std::ssize(sos) / 6, 6});
}

}  // namespace kerngrad
