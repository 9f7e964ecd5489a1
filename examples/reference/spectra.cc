// SPDX-License-Identifier: Apache-2.0
// Spectra, filters and sampling rates of signals.
#include <cmath>
#include <iostream>
#include <numbers>

#include "example.h"

import kerngrad;

namespace {

// ------------------------------------------------------------------------------------------ Fourier transforms

void two_columns_of_four_points() {
  const kg::tensor x{{1.f, 0.f}, {0.f, 1.f}, {0.f, 0.f}};
  const kg::fft_options columns{.n = 4, .axis = 0};
  std::cout << kg::real(kg::fft(x, columns)) << "\n";
}
const example for_two_columns_of_four_points{"kg::fft_options", two_columns_of_four_points};

void a_signal_with_real_bins() {
  const kg::tensor half = kg::ihfft(kg::tensor({4.0, 1.0, 0.0, 1.0}));
  std::cout << kg::real(half) << "\n" << kg::hfft(half) << "\n";
}
const example for_a_signal_with_real_bins{"kg::hfft kg::ihfft", a_signal_with_real_bins};

void both_axes_and_back() {
  const kg::tensor x{{1.0, 2.0}, {3.0, 5.0}};
  std::cout << kg::real(kg::fft2(x)) << "\n" << kg::real(kg::ifft2(kg::fft2(x))) << "\n";
}
const example for_both_axes_and_back{"kg::fft2 kg::ifft2", both_axes_and_back};

void half_of_a_plane() {
  const kg::tensor x = kg::arange(0, 12, 1, kg::dtype::float64), plane = kg::reshape(x, {3, 4});
  const kg::tensor bins = kg::rfft2(plane);
  std::cout << kg::to_string(bins.dims()) << " " << kg::all_close(kg::irfft2(bins), plane) << "\n";
}
const example for_half_of_a_plane{"kg::rfft2 kg::irfft2", half_of_a_plane};

void a_volume_and_back() {
  const kg::tensor x = kg::random_normal({4, 6, 8}, 0, 1, 1);
  std::cout << kg::to_string(kg::fftn(x, {.axes = {0, 1}}).dims()) << " " << kg::to_string(kg::rfftn(x).dims()) << "\n"
            << kg::all_close(kg::irfftn(kg::rfftn(x)), x, {.atol = 1e-5}) << " "
            << kg::all_close(kg::real(kg::ifftn(kg::fftn(x))), x, {.atol = 1e-5}) << "\n";
}
const example for_a_volume_and_back{"kg::fftn kg::ifftn kg::rfftn kg::irfftn", a_volume_and_back};

void bin_0_in_the_middle() {
  const kg::tensor f = kg::fftfreq(4, 0.25);
  std::cout << f << "\n" << kg::fftshift(f) << "\n" << kg::ifftshift(kg::fftshift(f)) << "\n";
}
const example for_bin_0_in_the_middle{"kg::fftfreq kg::fftshift kg::ifftshift", bin_0_in_the_middle};

void frequencies_of_real_points() { std::cout << kg::rfftfreq(4, 0.25) << "\n"; }
const example for_frequencies_of_real_points{"kg::rfftfreq", frequencies_of_real_points};

void a_ramp_by_cosines() {
  const kg::tensor x({1.0, 2.0, 3.0, 4.0}), bins = kg::dct(x, {.norm = kg::fft_norm::ortho});
  std::cout << kg::round(bins * 1000) / 1000 << "\n" << kg::idct(bins, {.norm = kg::fft_norm::ortho}) << "\n";
}
const example for_a_ramp_by_cosines{"kg::dct kg::idct", a_ramp_by_cosines};

void a_ramp_by_sines() {
  const kg::tensor bins = kg::dst(kg::tensor({1.0, 2.0}), {.type = 1});
  std::cout << bins << "\n" << kg::idst(bins, {.type = 1}) << "\n";
}
const example for_a_ramp_by_sines{"kg::dst kg::idst", a_ramp_by_sines};

void a_signal_from_its_short_time_spectrum() {
  const kg::tensor x = kg::random_normal({1000}, 0, 1, 1, kg::dtype::float64);
  const kg::stft_options how{.centered = true, .length = 1000};
  const kg::tensor y = kg::istft(kg::stft(x, 64, 16, how), 64, 16, how);
  std::cout << (kg::max(kg::abs(y - x)).item() < 1e-13) << "\n";
}
const example for_a_signal_from_its_short_time_spectrum{"kg::istft kg::stft_options",
                                                        a_signal_from_its_short_time_spectrum};

void frames_added_up() { std::cout << kg::overlap_add(kg::tensor{{1, 2, 3}, {4, 5, 6}}, 2) << "\n"; }
const example for_frames_added_up{"kg::overlap_add", frames_added_up};

// ------------------------------------------------------------------------------------------ windows

void windows_for_spectra_and_for_filters() {
  std::cout << kg::get_window("hann", 4) << "\n" << kg::get_window({"tukey", 0.5}, 5, /*periodic=*/false) << "\n";
}
const example for_windows_for_spectra_and_for_filters{"kg::get_window", windows_for_spectra_and_for_filters};

// ------------------------------------------------------------------------------------------ convolutions

void products_of_polynomials() {
  const kg::tensor a({1.0, 2.0, 3.0}), b({1.0, 1.0});
  std::cout << kg::round(kg::fftconvolve(a, b)) << "\n"
            << kg::round(kg::fftconvolve(a, b, kg::convolution_part::valid)) << "\n";
}
const example for_products_of_polynomials{"kg::fftconvolve kg::convolution_part", products_of_polynomials};

void a_long_signal_and_a_short_filter() {
  const kg::tensor signal = kg::ones({100000}), filter = kg::full({3}, 1.0 / 3);
  std::cout << kg::oaconvolve(signal, filter, kg::convolution_part::same)(50000).item() << "\n";
}
const example for_a_long_signal_and_a_short_filter{"kg::oaconvolve", a_long_signal_and_a_short_filter};

// ------------------------------------------------------------------------------------------ filters

void a_leaky_sum() {
  const kg::tensor b({1.f}), a({1.f, -0.5f});
  std::cout << kg::lfilter(b, a, kg::tensor({1.f, 0.f, 0.f, 2.f})) << "\n"
            << kg::lfilter(b, a, kg::zeros({3}), {.initial = kg::tensor({8.f})}) << "\n";
}
const example for_a_leaky_sum{"kg::lfilter", a_leaky_sum};

void a_slow_wave_without_the_fast_one() {
  const kg::tensor t = kg::arange(0, 400, 1, kg::dtype::float64) / 100;
  const kg::tensor slow = kg::sin(t * (2 * std::numbers::pi)), fast = kg::sin(t * (60 * std::numbers::pi));
  const kg::tensor sos = kg::butter(4, {5}, kg::filter_band::lowpass, 100);
  const kg::tensor rest = kg::sosfilt(sos, fast), both = kg::sosfiltfilt(sos, slow + fast);
  std::cout << (kg::max(kg::abs(rest(kg::range(100, 400)))).item() < 1e-3) << " "
            << (kg::max(kg::abs((both - slow)(kg::range(100, 300)))).item() < 1e-3) << "\n";
}
const example for_a_slow_wave_without_the_fast_one{"kg::butter kg::filter_band kg::sosfilt kg::sosfiltfilt",
                                                   a_slow_wave_without_the_fast_one};

void a_mean_that_does_not_lag() {
  const kg::tensor x = kg::arange(0, 8, 1, kg::dtype::float64), b({0.5, 0.5}), a({1.0});
  std::cout << kg::lfilter(b, a, x) << "\n" << kg::filtfilt(b, a, x, {.padding = 2}) << "\n";
}
const example for_a_mean_that_does_not_lag{"kg::filtfilt", a_mean_that_does_not_lag};

void taps_of_a_lowpass() {
  const kg::tensor h = kg::firwin(5, {0.25}, {.window = "hann"});
  std::cout << kg::round(h * 1000) / 1000 << "\n" << kg::round(kg::sum(h) * 1e9) / 1e9 << "\n";
}
const example for_taps_of_a_lowpass{"kg::firwin", taps_of_a_lowpass};

// ------------------------------------------------------------------------------------------ sampling rates

void three_halves_of_the_elements() {
  const kg::tensor x({1.f, 2.f, 3.f}), line({0.5f, 1.f, 0.5f});
  std::cout << kg::upfirdn(line, x, 2) << "\n" << kg::upfirdn(line, x, 2, 3) << "\n";
}
const example for_three_halves_of_the_elements{"kg::upfirdn", three_halves_of_the_elements};

void a_period_with_more_elements() {
  const kg::tensor x({0.0, 1.0, 0.0, -1.0});
  std::cout << kg::round(kg::resample(x, 8) * 1000) / 1000 << "\n";
}
const example for_a_period_with_more_elements{"kg::resample", a_period_with_more_elements};

void from_48_to_44_1_kilohertz() {
  const kg::tensor second = kg::sin(kg::arange(0, 48000) * (2 * std::numbers::pi * 440 / 48000));
  const kg::tensor y = kg::resample_poly(second, 147, 160);
  const kg::tensor wanted = kg::sin(kg::arange(0, 44100) * (2 * std::numbers::pi * 440 / 44100));
  std::cout << y.size() << " " << (kg::max(kg::abs((y - wanted)(kg::range(100, 44000)))).item() < 0.01) << "\n";
}
const example for_from_48_to_44_1_kilohertz{"kg::resample_poly", from_48_to_44_1_kilohertz};

// ------------------------------------------------------------------------------------------ power spectra

void the_frequency_with_the_most_power() {
  const kg::tensor t = kg::arange(0, 2000) / 1000, x = kg::sin(t * (2 * std::numbers::pi * 125));
  const auto [frequencies, power] = kg::welch(x, {.fs = 1000});
  std::cout << kg::gather(frequencies, kg::argmax(power)).item() << "\n";
}
const example for_the_frequency_with_the_most_power{"kg::welch", the_frequency_with_the_most_power};

void a_rising_tone() {
  const kg::tensor t = kg::arange(0, 1024, 1, kg::dtype::float64) / 1024, x = kg::sin(t * t * 1000);
  const auto [frequencies, times, power] = kg::spectrogram(x, {.fs = 1024, .segment = 256, .overlap = 0});
  std::cout << times << "\n" << kg::gather(frequencies, kg::argmax(power, 0)) << "\n";
}
const example for_a_rising_tone{"kg::spectrogram", a_rising_tone};

}  // namespace
