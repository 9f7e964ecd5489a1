// SPDX-License-Identifier: Apache-2.0
// Windows, convolutions, filters, sampling rates and power spectra: by their definitions in long double, and next to
// what SciPy gave.
#include <algorithm>
#include <complex>
#include <numbers>

#include "tests/composed/scipy_signals.h"
#include "tests/composed/support.h"

namespace {

using kg::convolution_part;
using kg::dtype;
using kg::filter_band;
using kg::tensor;
using kgtest::check_gradients;
using kgtest::doubles;
using kgtest::expect_refused;
using kgtest::expect_values;
using kgtest::uniform;
using sizes = std::vector<std::int64_t>;

constexpr long double pi = std::numbers::pi_v<long double>;

// The elements are those of a result of SciPy.
void expect_scipy(const std::string& expression, const tensor& got) {
  SCOPED_TRACE(expression);
  const doubles& wanted = kgtest::scipy_signals.at(expression);
  EXPECT_EQ(got.type(), dtype::float64);
  expect_values(kg::flatten(got), {static_cast<std::int64_t>(wanted.size())}, wanted, 1e-13);
}

// x, b, a, sos and zi of scipy_signals.py.
tensor scipy_x() {
  const tensor t = kg::arange(0, 24, 1, dtype::float64);
  return kg::sin(t * t * 0.1) + t * 0.05;
}
const doubles scipy_b = {0.2, 0.3, 0.1}, scipy_a = {2, -1, 0.5, 0.2};
tensor scipy_sos() { return kg::butter(3, {0.2, 0.6}, filter_band::bandpass); }

// ------------------------------------------------------------------------------------------ windows

struct named_window {
  const char* python;
  kg::window_kind kind;
};
const std::vector<named_window>& windows() {
  static const std::vector<named_window> all = {
      {"'boxcar'", "boxcar"},
      {"'triang'", "triang"},
      {"'bartlett'", "bartlett"},
      {"'parzen'", "parzen"},
      {"'bohman'", "bohman"},
      {"'barthann'", "barthann"},
      {"'cosine'", "cosine"},
      {"'lanczos'", "lanczos"},
      {"'hann'", "hann"},
      {"'hamming'", "hamming"},
      {"'blackman'", "blackman"},
      {"'nuttall'", "nuttall"},
      {"'blackmanharris'", "blackmanharris"},
      {"'flattop'", "flattop"},
      {"('general_hamming', 0.75)", {"general_hamming", 0.75}},
      {"('kaiser', 8.6)", {"kaiser", 8.6}},
      {"('gaussian', 1.5)", {"gaussian", 1.5}},
      {"('general_gaussian', 1.5, 2)", {"general_gaussian", 1.5, 2}},
      {"('exponential', None, 3.0)", {"exponential", 3}},
      {"('tukey', 0.5)", "tukey"},
      {"('tukey', 0)", {"tukey", 0}},
      {"('tukey', 1)", {"tukey", 1}},
      {"('chebwin', 60)", {"chebwin", 60}},
      {"('dpss', 1.5)", {"dpss", 1.5}},
      {"'taylor'", "taylor"},
      {"('taylor', 6, 45)", {"taylor", 6, 45}},
  };
  return all;
}

TEST(get_window, gives_the_windows_of_scipy) {
  for (const auto& [python, kind] : windows()) {
    expect_scipy("s.get_window(" + std::string(python) + ", 6)", kg::get_window(kind, 6, true, dtype::float64));
    expect_scipy("s.get_window(" + std::string(python) + ", 5, False)", kg::get_window(kind, 5, false, dtype::float64));
    expect_values(kg::get_window(kind, 1), {1}, {1});
    EXPECT_EQ(kg::get_window(kind, 0).dims(), kg::shape{0});
  }
  EXPECT_EQ(kg::get_window("hann", 3).type(), dtype::float32);
  expect_refused("get_window", [] { return kg::get_window("haan", 3); }, {"haan", "hann, hamming"});
  expect_refused("get_window", [] { return kg::get_window("kaiser", 3); }, {"0 parameters", "kaiser"});
  expect_refused("get_window", [] { return kg::get_window({"tukey", 2}, 3); }, {"parameter 2", "0 to 1"});
  expect_refused("get_window", [] { return kg::get_window({"gaussian", 0}, 3); }, {"above 0"});
  expect_refused("get_window", [] { return kg::get_window("hann", -1); }, {"length -1"});
  expect_refused("get_window", [] { return kg::get_window({"dpss", 3}, 5); }, {"parameter 3", "less than half"});
  expect_refused("get_window", [] { return kg::get_window({"taylor", 2.5}, 5); }, {"2.5", "side lobes"});
  expect_refused("get_window", [] { return kg::get_window({"chebwin", 30}, 5); }, {"45 to 300"});
}

// ------------------------------------------------------------------------------------------ convolutions

doubles convolved(const doubles& a, const doubles& b) {
  std::vector<long double> sums(a.size() + b.size() - 1);
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t j = 0; j < b.size(); ++j) sums[i + j] += static_cast<long double>(a[i]) * b[j];
  return doubles(sums.begin(), sums.end());
}
doubles part_of(const doubles& all, std::int64_t a, std::int64_t b, convolution_part part) {
  const std::int64_t begin = part == convolution_part::full   ? 0
                             : part == convolution_part::same ? (b - 1) / 2
                                                              : std::min(a, b) - 1;
  const std::int64_t size = part == convolution_part::full   ? a + b - 1
                            : part == convolution_part::same ? a
                                                             : std::max(a, b) - std::min(a, b) + 1;
  return doubles(all.begin() + begin, all.begin() + begin + size);
}
constexpr convolution_part parts[] = {convolution_part::full, convolution_part::same, convolution_part::valid};

TEST(convolutions, are_sums_of_products) {
  for (const auto& [n, m] :
       {std::pair<std::int64_t, std::int64_t>{1, 1}, {7, 3}, {3, 8}, {50, 50}, {1000, 5}, {9, 700}})
    for (const convolution_part part : parts)
      for (const dtype type : {dtype::float32, dtype::float64}) {
        SCOPED_TRACE(::testing::Message() << n << " and " << m << " elements");
        const tensor a = kg::cast(uniform({n}, 1), type), b = kg::cast(uniform({m}, 2), type);
        const doubles wanted = part_of(convolved(a.to_doubles(), b.to_doubles()), n, m, part);
        const double within = type == dtype::float32 ? 4e-6 : 2e-14;
        const kg::shape dims{static_cast<std::int64_t>(wanted.size())};
        expect_values(kg::fftconvolve(a, b, part), dims, wanted, within);
        expect_values(kg::oaconvolve(a, b, part), dims, wanted, within);
        EXPECT_EQ(kg::oaconvolve(a, b, part).type(), type);
      }
}

TEST(convolutions, of_matrices_run_along_axes_and_broadcast_others) {
  const tensor a = uniform({3, 4}, 3), b = uniform({2, 3}, 4);
  std::vector<long double> sums(4 * 6);
  const doubles x = a.to_doubles(), y = b.to_doubles();
  for (std::size_t i = 0; i < 12; ++i)
    for (std::size_t j = 0; j < 6; ++j)
      sums[(i / 4 + j / 3) * 6 + i % 4 + j % 3] += static_cast<long double>(x[i]) * y[j];
  expect_values(kg::fftconvolve(a, b), {4, 6}, doubles(sums.begin(), sums.end()), 1e-15);
  expect_values(kg::fftconvolve(a, b, convolution_part::same), {3, 4},
                kg::slice(kg::fftconvolve(a, b), {0, 1}, {3, 4}).to_doubles(), 1e-15);
  const tensor rows = uniform({4, 500}, 5), row = uniform({1, 6}, 6);
  const tensor one = kg::fftconvolve(rows, row, convolution_part::full, 1);
  for (std::int64_t i = 0; i < 4; ++i)
    expect_values(one(i), {505}, convolved(rows(i).to_doubles(), row(0).to_doubles()), 1e-14);
  expect_values(kg::oaconvolve(rows, row), {4, 505}, one.to_doubles(), 1e-14);
  expect_values(kg::oaconvolve(kg::transpose(rows), kg::transpose(row), convolution_part::full, 0), {505, 4},
                kg::transpose(one).to_doubles(), 1e-14);
  expect_refused("fftconvolve", [&] { return kg::fftconvolve(a, b, convolution_part::valid, 2); }, {"axis 2"});
  expect_refused("fftconvolve", [&] { return kg::fftconvolve(a, kg::transpose(a), convolution_part::valid); },
                 {"larger"});
  expect_refused("oaconvolve", [&] { return kg::oaconvolve(a, b); }, {"[3, 4]", "[2, 3]"});
  expect_refused("oaconvolve", [&] { return kg::oaconvolve(a, kg::zeros({3, 0})); }, {"elements"});
  expect_refused("fftconvolve", [&] { return kg::fftconvolve(a, row(0)); }, {"equal ranks"});
}

// ------------------------------------------------------------------------------------------ linear filters

// The recurrence, in long double.
doubles filtered(doubles b, doubles a, const doubles& x) {
  std::vector<long double> y(x.size());
  for (std::size_t t = 0; t < x.size(); ++t) {
    for (std::size_t k = 0; k < b.size() && k <= t; ++k) y[t] += static_cast<long double>(b[k]) * x[t - k];
    for (std::size_t k = 1; k < a.size() && k <= t; ++k) y[t] -= a[k] * y[t - k];
    y[t] /= a[0];
  }
  return doubles(y.begin(), y.end());
}

TEST(lfilter, follows_its_recurrence_along_every_axis) {
  const std::pair<doubles, doubles> filters[] = {
      {{2}, {4}}, {{1, 2, -1}, {1}}, {{1}, {2, -1.5, 0.5}}, {{0.5, 0.25}, {1, -0.9}}, {scipy_b, scipy_a}};
  for (const auto& [b, a] : filters)
    for (const std::int64_t n : {1, 2, 600, 1500})
      for (const dtype type : {dtype::float32, dtype::float64}) {
        const tensor x = kg::cast(uniform({2, n}, 7), type);
        doubles wanted;
        for (std::int64_t i = 0; i < 2; ++i) {
          const doubles row = filtered(b, a, x(i).to_doubles());
          wanted.insert(wanted.end(), row.begin(), row.end());
        }
        const tensor tb = kg::cast(tensor(b), type), ta = kg::cast(tensor(a), type);
        const double within = type == dtype::float32 ? 2e-6 : 1e-14;
        expect_values(kg::lfilter(tb, ta, x), {2, n}, wanted, within);
        expect_values(kg::transpose(kg::lfilter(tb, ta, kg::transpose(x), {.axis = 0})), {2, n}, wanted, within);
      }
}

TEST(filters, give_what_scipy_gives) {
  const tensor x = scipy_x(), b(scipy_b), a(scipy_a), sos = scipy_sos();
  expect_scipy("s.lfilter(b, a, x)", kg::lfilter(b, a, x));
  expect_scipy("s.lfilter(b, a, x, zi=zi)[0]", kg::lfilter(b, a, x, {.initial = tensor({0.5, -1.0, 0.25})}));
  expect_scipy("s.sosfilt(sos, x)", kg::sosfilt(sos, x));
  expect_scipy("s.sosfilt(sos, x, zi=np.reshape(np.arange(6) * 0.1, (3, 2)))[0]",
               kg::sosfilt(sos, x, {.initial = kg::reshape(kg::arange(0, 6, 1, dtype::float64) * 0.1, {3, 2})}));
  expect_scipy("s.filtfilt(b, a, x)", kg::filtfilt(b, a, x));
  expect_scipy("s.filtfilt(b, a, x, padlen=2)", kg::filtfilt(b, a, x, {.padding = 2}));
  expect_scipy("s.sosfiltfilt(s.butter(3, .4, output=\"sos\"), x)", kg::sosfiltfilt(kg::butter(3, {0.4}), x));
  expect_scipy("s.sosfiltfilt(sos, x, padlen=5)", kg::sosfiltfilt(sos, x, {.padding = 5}));
  const tensor columns = kg::stack({x, x * 2}, 1);
  expect_values(kg::sosfiltfilt(sos, columns, {.axis = 0, .padding = 5})(kg::all, 1), {24},
                (kg::sosfiltfilt(sos, x, {.padding = 5}) * 2).to_doubles(), 1e-13);
}

TEST(filters, are_rejected_in_one_sentence) {
  const tensor x = uniform({4}, 8), b(scipy_b), a(scipy_a);
  expect_refused("lfilter", [&] { return kg::lfilter(kg::zeros({0}), a, x); }, {"b", "[0]"});
  expect_refused("lfilter", [&] { return kg::lfilter(b, kg::zeros({2, 2}), x); }, {"a", "rank 1"});
  expect_refused("lfilter", [&] { return kg::lfilter(b, a, x, {.initial = kg::zeros({2})}); }, {"[2]", "[3]"});
  expect_refused("lfilter", [&] { return kg::lfilter(b, a, kg::complex(x, x)); }, {"complex128"});
  expect_refused("sosfilt", [&] { return kg::sosfilt(kg::zeros({2, 5}), x); }, {"[2, 5]", "[sections, 6]"});
  expect_refused("sosfilt", [&] { return kg::sosfilt(scipy_sos(), x, {.initial = kg::zeros({2, 2})}); }, {"[3, 2]"});
  expect_refused("filtfilt", [&] { return kg::filtfilt(b, a, x); }, {"padding 12", "[4]"});
  EXPECT_EQ(kg::lfilter(b, a, kg::zeros({2, 0}, dtype::float64)).dims(), (kg::shape{2, 0}));
  EXPECT_EQ(kg::lfilter(kg::ones({1}), kg::ones({1}), kg::ones({2}, dtype::int32)).type(), dtype::float32);
}

TEST(the_gradients_of_filters, are_those_of_differences) {
  const tensor x = uniform({2, 5}, 9), b({0.5, 0.25, -0.75}), a({1.5, 0.5, -0.25, 0.125});
  check_gradients("lfilter", [](auto in) { return kg::square(kg::lfilter(in[0], in[1], in[2])); }, {b, a, x});
  check_gradients("lfilter from a state",
                  [&](auto in) { return kg::square(kg::lfilter(b, a, in[0], {.initial = in[1]})); },
                  {x, uniform({2, 3}, 10)});
  check_gradients("lfilter without feedback", [&](auto in) { return kg::square(kg::lfilter(in[0], in[1], x)); },
                  {b, tensor({2.0})});
  const tensor sos({0.5, 0.25, -0.75, 1.0, 0.25, 0.5, 1.0, 0.5, 0.25, 2.0, -0.5, 0.25}, {2, 6});
  check_gradients("sosfilt", [](auto in) { return kg::square(kg::sosfilt(in[0], in[1], {.axis = 0})); },
                  {sos, kg::transpose(x)});
  check_gradients("filtfilt", [&](auto in) { return kg::square(kg::filtfilt(b, a, in[0], {.padding = 2})); }, {x});
  check_gradients("fftconvolve", [](auto in) { return kg::square(kg::fftconvolve(in[0], in[1])); },
                  {uniform({2, 3}, 11), uniform({3, 2}, 12)});
  check_gradients("upfirdn", [](auto in) { return kg::square(kg::upfirdn(in[0], in[1], 3, 2)); },
                  {uniform({4}, 13), x});
  check_gradients("resample", [](auto in) { return kg::square(kg::resample(in[0], 4)); }, {uniform({2, 6}, 14)});
  check_gradients("resample_poly", [](auto in) { return kg::square(kg::resample_poly(in[0], 2, 3)); }, {x});
  check_gradients("welch", [](auto in) { return kg::welch(in[0], {.segment = 4}).power; }, {uniform({8}, 15)});
}

// ------------------------------------------------------------------------------------------ filter design

TEST(filter_designs, are_those_of_scipy) {
  const std::pair<std::string, filter_band> bands[] = {{"0.3, pass_zero=\"lowpass\"", filter_band::lowpass},
                                                       {"0.3, pass_zero=\"highpass\"", filter_band::highpass},
                                                       {"[0.2, 0.6], pass_zero=\"bandpass\"", filter_band::bandpass},
                                                       {"[0.2, 0.6], pass_zero=\"bandstop\"", filter_band::bandstop}};
  for (const auto& [python, band] : bands) {
    const doubles cutoffs = python[0] == '[' ? doubles{0.2, 0.6} : doubles{0.3};
    expect_scipy("s.firwin(7, " + python + ")", kg::firwin(7, cutoffs, {.band = band}));
    for (int order = 1; order <= 4; ++order)
      expect_scipy("s.butter(" + std::to_string(order) + ", " + python.substr(0, python.find(", pass")) + ", " +
                       python.substr(python.find('"')) + ", output=\"sos\")",
                   kg::butter(order, cutoffs, band));
  }
  expect_scipy("s.firwin(4, .5)", kg::firwin(4, {0.5}));
  expect_scipy("s.firwin(7, 100, fs=400, window=(\"kaiser\", 5.), scale=False)",
               kg::firwin(7, {100}, {.window = {"kaiser", 5.0}, .scale = false, .fs = 400}));
}

// |H|^2 at an angle on the unit circle, of sections.
long double squared_gain(const doubles& sos, long double angle) {
  std::complex<long double> gain = 1;
  for (std::size_t i = 0; i < sos.size(); i += 6) {
    const auto polynomial = [&](std::size_t at) {
      return static_cast<long double>(sos[at]) +
             std::polar<long double>(1, -angle) * static_cast<long double>(sos[at + 1]) +
             std::polar<long double>(1, -2 * angle) * static_cast<long double>(sos[at + 2]);
    };
    gain *= polynomial(i) / polynomial(i + 3);
  }
  return std::norm(gain);
}

TEST(butter, has_the_gain_of_a_butterworth_filter) {
  for (const int order : {1, 2, 5, 10, 20})
    for (const double cutoff : {0.05, 0.3, 0.9}) {
      const doubles low = kg::butter(order, {cutoff}).to_doubles();
      const doubles high = kg::butter(order, {cutoff * 50}, filter_band::highpass, 100).to_doubles();
      for (const double at : {0.01, 0.04, 0.05, 0.3, 0.5, 0.91}) {
        const long double ratio = std::tan(pi * at / 2) / std::tan(pi * static_cast<long double>(cutoff) / 2);
        EXPECT_NEAR(static_cast<double>(squared_gain(low, pi * at)),
                    static_cast<double>(1 / (1 + std::pow(ratio, 2 * order))), 1e-9)
            << order << " " << cutoff << " " << at;
        EXPECT_NEAR(static_cast<double>(squared_gain(high, pi * at)),
                    static_cast<double>(1 / (1 + std::pow(ratio, -2 * order))), 1e-9);
      }
    }
}

TEST(filter_designs, are_rejected_in_one_sentence) {
  expect_refused("firwin", [] { return kg::firwin(0, {0.5}); }, {"0 taps"});
  expect_refused("firwin", [] { return kg::firwin(4, {0.5}, {.band = filter_band::highpass}); }, {"4 taps", "odd"});
  expect_refused("firwin", [] { return kg::firwin(5, {0.5, 0.2}, {.band = filter_band::bandpass}); }, {"cutoff 0.2"});
  expect_refused("firwin", [] { return kg::firwin(5, {0.5, 0.7}); }, {"2 cutoffs", "1 for"});
  expect_refused("butter", [] { return kg::butter(0, {0.5}); }, {"order 0"});
  expect_refused("butter", [] { return kg::butter(3, {1.0}); }, {"cutoff 1"});
  expect_refused("butter", [] { return kg::butter(3, {0.5}, filter_band::lowpass, 0); }, {"fs 0"});
}

// ------------------------------------------------------------------------------------------ sampling rates

TEST(upfirdn, takes_every_element_of_a_filtered_signal_with_zeros) {
  for (const auto& [up, down] : {std::pair{1, 1}, {3, 1}, {1, 3}, {3, 2}, {2, 5}, {4, 6}, {7, 7}})
    for (const std::int64_t n : {1, 2, 9})
      for (const std::int64_t taps : {1, 4, 11}) {
        const tensor x = uniform({n}, 16), h = uniform({taps}, 17);
        doubles wide(static_cast<std::size_t>((n - 1) * up + 1));
        const doubles given = x.to_doubles();
        for (std::size_t i = 0; i < given.size(); ++i) wide[i * static_cast<std::size_t>(up)] = given[i];
        const doubles all = convolved(wide, h.to_doubles());
        doubles wanted;
        for (std::size_t i = 0; i < all.size(); i += static_cast<std::size_t>(down)) wanted.push_back(all[i]);
        SCOPED_TRACE(::testing::Message() << n << " elements, " << taps << " taps, " << up << "/" << down);
        expect_values(kg::upfirdn(h, x, up, down), {static_cast<std::int64_t>(wanted.size())}, wanted, 1e-15);
      }
  expect_refused("upfirdn", [] { return kg::upfirdn(kg::ones({2}), kg::ones({2}), 0); }, {"up 0"});
  expect_refused("upfirdn", [] { return kg::upfirdn(kg::ones({2}), kg::ones({2, 0})); }, {"[2, 0]"});
}

TEST(other_sampling_rates, give_what_scipy_gives) {
  const tensor x = scipy_x(), b(scipy_b);
  for (const auto& [up, down] : {std::pair{1, 1}, {3, 2}, {2, 5}, {4, 6}})
    expect_scipy("s.upfirdn(b, x, " + std::to_string(up) + ", " + std::to_string(down) + ")",
                 kg::upfirdn(b, x, up, down));
  for (const int n : {15, 16, 30, 35}) expect_scipy("s.resample(x, " + std::to_string(n) + ")", kg::resample(x, n));
  expect_scipy("s.resample(x[:9], 6)", kg::resample(kg::slice(x, {0}, {9}), 6));
  for (const auto& [up, down] : {std::pair{3, 2}, {2, 3}, {4, 6}, {1, 4}, {5, 1}})
    expect_scipy("s.resample_poly(x, " + std::to_string(up) + ", " + std::to_string(down) + ")",
                 kg::resample_poly(x, up, down));
  const tensor columns = kg::stack({x, x * 2}, 1);
  expect_values(kg::resample_poly(columns, 3, 2, 0)(kg::all, 0), {36}, kg::resample_poly(x, 3, 2).to_doubles(), 1e-14);
  expect_values(kg::resample(columns, 7, 0)(kg::all, 1), {7}, (kg::resample(x, 7) * 2).to_doubles(), 1e-14);
  expect_values(kg::resample_poly(x, 4, 4), {24}, x.to_doubles());
  expect_refused("resample", [&] { return kg::resample(x, 0); }, {"count 0"});
  expect_refused("resample_poly", [&] { return kg::resample_poly(x, 0, 1); }, {"up 0"});
}

// ------------------------------------------------------------------------------------------ power spectra

TEST(power_spectra, give_what_scipy_gives) {
  const tensor x = scipy_x();
  expect_scipy("s.welch(x, nperseg=8)[1]", kg::welch(x, {.segment = 8}).power);
  expect_scipy("s.welch(x, window=\"boxcar\")[1]", kg::welch(x, {.window = "boxcar"}).power);
  expect_scipy(
      "s.welch(x, 10, nperseg=9, noverlap=3, nfft=12, scaling=\"spectrum\", detrend=False)[1]",
      kg::welch(
          x,
          {.fs = 10, .segment = 9, .overlap = 3, .n = 12, .detrend = false, .scaling = kg::spectrum_scaling::spectrum})
          .power);
  const auto [frequencies, times, power] = kg::spectrogram(x, {.fs = 2, .segment = 8});
  expect_scipy("s.spectrogram(x, 2, nperseg=8)[0]", frequencies);
  expect_scipy("s.spectrogram(x, 2, nperseg=8)[1]", times);
  expect_scipy("s.spectrogram(x, 2, nperseg=8)[2]", power);
}

TEST(power_spectra, of_noise_add_up_to_its_variance) {
  const tensor x = kg::random_normal({2, 20000}, 0, 3, 18);
  const auto [frequencies, power] = kg::welch(x, {.fs = 500});
  EXPECT_EQ(power.type(), dtype::float32);
  ASSERT_EQ(power.dims(), (kg::shape{2, 129}));
  for (const double total : (kg::sum(power, 1) * (500.0 / 256)).to_doubles()) EXPECT_NEAR(total, 9, 0.3);
  EXPECT_EQ(frequencies.to_doubles().back(), 250);
  EXPECT_EQ(kg::spectrogram(kg::transpose(x), {.axis = 0}).power.dims(), (kg::shape{129, 2, 89}));
  expect_values(kg::transpose(kg::welch(kg::transpose(x), {.fs = 500, .axis = 0}).power), {2, 129}, power.to_doubles(),
                1e-6);
  expect_refused("welch", [&] { return kg::welch(x, {.segment = 0}).power; }, {"segment 0"});
  expect_refused("welch", [&] { return kg::welch(x, {.segment = 8, .overlap = 8}).power; }, {"overlap 8"});
  expect_refused("welch", [&] { return kg::welch(x, {.segment = 8, .n = 4}).power; }, {"n = 4"});
  expect_refused("spectrogram", [] { return kg::spectrogram(kg::zeros({0})).power; }, {"[0]"});
  expect_refused("spectrogram", [&] { return kg::spectrogram(x, {.fs = -1}).power; }, {"fs -1"});
}

// ------------------------------------------------------------------------------------------ states and pairs

TEST(lfilter_with_state, goes_on_where_it_stopped_as_scipy) {
  const tensor x = scipy_x(), b(scipy_b), a(scipy_a), zi({0.5, -1.0, 0.25});
  const auto whole = kg::lfilter_with_state(b, a, x, {.initial = zi});
  expect_scipy("s.lfilter(b, a, x, zi=zi)[0]", whole.y);
  expect_scipy("s.lfilter(b, a, x, zi=zi)[1]", whole.state);
  const auto first = kg::lfilter_with_state(b, a, kg::slice(x, {0}, {2}), {.initial = zi});
  expect_scipy("s.lfilter(b, a, x[:2], zi=zi)[1]", first.state);
  const auto rest = kg::lfilter_with_state(b, a, kg::slice(x, {2}, {22}), {.initial = first.state});
  expect_values(kg::concat({first.y, rest.y}), {24}, whole.y.to_doubles(), 1e-13);
  expect_values(rest.state, {3}, whole.state.to_doubles(), 1e-13);
  expect_scipy("s.lfilter(a, [2], x, zi=zi)[1]", kg::lfilter_with_state(a, tensor({2.0}), x, {.initial = zi}).state);
  const tensor columns = kg::stack({x, x * 2}, 1);
  const auto both = kg::lfilter_with_state(b, a, columns, {.axis = 0});
  EXPECT_EQ(both.state.dims(), (kg::shape{3, 2}));
  const tensor y = kg::lfilter_with_state(b, a, columns, {.axis = 0, .initial = both.state}).y;
  expect_values(kg::concat({both.y, y}), {48, 2},
                kg::lfilter(b, a, kg::concat({columns, columns}), {.axis = 0}).to_doubles(), 1e-13);
  EXPECT_EQ(kg::lfilter_with_state(tensor({2.0}), tensor({1.0}), x).state.dims(), kg::shape{0});
}

TEST(sosfilt_with_state, goes_on_where_it_stopped_as_scipy) {
  const tensor x = scipy_x(), sos = scipy_sos();
  const tensor zi = kg::reshape(kg::arange(0, 6, 1, dtype::float64) * 0.1, {3, 2});
  const auto whole = kg::sosfilt_with_state(sos, x, {.initial = zi});
  expect_scipy("s.sosfilt(sos, x, zi=np.reshape(np.arange(6) * 0.1, (3, 2)))[0]", whole.y);
  expect_scipy("s.sosfilt(sos, x, zi=np.reshape(np.arange(6) * 0.1, (3, 2)))[1]", whole.state);
}

TEST(filters_with_states, are_differentiable) {
  check_gradients("lfilter_with_state",
                  [](auto in) {
                    const auto [y, state] = kg::lfilter_with_state(in[0], in[1], in[2], {.initial = in[3]});
                    return kg::sum(kg::square(y)) + kg::sum(kg::square(state));
                  },
                  {uniform({3}, 1), tensor({1.5, 0.3, 0.2}), uniform({2, 4}, 2), uniform({2, 2}, 3)});
  check_gradients("sosfilt_with_state",
                  [](auto in) {
                    const auto [y, state] = kg::sosfilt_with_state(in[0], in[1], {.initial = in[2]});
                    return kg::sum(kg::square(y)) + kg::sum(kg::square(state));
                  },
                  {kg::reshape(tensor({0.2, 0.3, 0.1, 1.2, 0.3, 0.1}), {1, 6}), uniform({4}, 2), uniform({1, 2}, 3)});
}

TEST(csd_and_coherence, are_those_of_scipy) {
  const tensor x = scipy_x(), y = kg::reverse(x);
  const auto [frequencies, cross] = kg::csd(x, y, {.segment = 8});
  EXPECT_EQ(cross.type(), dtype::complex128);
  EXPECT_EQ(frequencies.to_doubles(), kg::welch(x, {.segment = 8}).frequencies.to_doubles());
  expect_scipy("s.csd(x, x[::-1], nperseg=8)[1].real", kg::real(cross));
  expect_scipy("s.csd(x, x[::-1], nperseg=8)[1].imag", kg::imag(cross));
  const kg::spectrum_options options{.fs = 10,
                                     .window = "boxcar",
                                     .segment = 9,
                                     .overlap = 3,
                                     .n = 12,
                                     .detrend = false,
                                     .scaling = kg::spectrum_scaling::spectrum};
  expect_scipy("s.csd(x, x[::-1], 10, \"boxcar\", 9, 3, 12, False, scaling=\"spectrum\")[1].imag",
               kg::imag(kg::csd(x, y, options).power));
  expect_scipy("s.coherence(x, x[::-1], nperseg=6)[1]", kg::coherence(x, y, {.segment = 6}).power);
  check_gradients("csd",
                  [](auto in) {
                    const tensor p = kg::csd(in[0], in[1], {.segment = 4}).power;
                    return kg::real(p) * kg::imag(p);
                  },
                  {uniform({8}, 1), uniform({8}, 2)});
  check_gradients("coherence", [](auto in) { return kg::coherence(in[0], in[1], {.segment = 4}).power; },
                  {uniform({8}, 3), uniform({8}, 4)});
  expect_refused("csd", [&] { return kg::csd(x, kg::zeros({2})).power; }, {"operand y"});
  expect_refused("coherence", [&] { return kg::coherence(x, y, {.segment = 0}).power; }, {"segment 0"});
  expect_refused("lfilter_with_state", [&] { return kg::lfilter_with_state(scipy_sos(), x, x).y; }, {"operand b"});
}

}  // namespace
