// SPDX-License-Identifier: Apache-2.0
// Fourier transforms along any axes, cosine and sine transforms, and short-time transforms, against sums in long
// double.
#include <algorithm>
#include <complex>
#include <limits>
#include <numbers>
#include <optional>

#include "tests/composed/support.h"

namespace {

using kg::dtype;
using kg::fft_norm;
using kg::tensor;
using kgtest::check_gradients;
using kgtest::doubles;
using kgtest::expect_refused;
using kgtest::expect_values;
using kgtest::uniform;
using z = std::complex<long double>;
using sizes = std::vector<std::int64_t>;

constexpr fft_norm norms[] = {fft_norm::backward, fft_norm::ortho, fft_norm::forward};
constexpr long double pi = std::numbers::pi_v<long double>;

// ------------------------------------------------------------------------------------------ the definition

// An array of numbers, in rows.
struct array {
  sizes dims;
  std::vector<z> values;
};

array array_of(const tensor& x) {
  array all{sizes(x.dims().begin(), x.dims().end()), {}};
  const doubles parts = kg::testkit::doubles_of(x);
  const bool pairs = x.type() == dtype::complex64 || x.type() == dtype::complex128;
  for (std::size_t i = 0; i < parts.size(); i += pairs ? 2 : 1)
    all.values.emplace_back(parts[i], pairs ? parts[i + 1] : 0);
  return all;
}

// Calls f(from, to, step) for each row along an axis: the index of its first element in `x` and in `y`.
template <class F>
void for_rows(const array& x, const array& y, std::size_t axis, const F& f) {
  std::size_t inner = 1, outer = 1;
  for (std::size_t i = 0; i < x.dims.size(); ++i)
    (i < axis ? outer : i > axis ? inner : outer) *= i == axis ? 1 : static_cast<std::size_t>(x.dims[i]);
  const auto n = static_cast<std::size_t>(x.dims[axis]), m = static_cast<std::size_t>(y.dims[axis]);
  for (std::size_t i = 0; i < outer; ++i)
    for (std::size_t j = 0; j < inner; ++j) f(i * n * inner + j, i * m * inner + j, inner);
}

// For each row of `n` points, cut or padded, `count` sums of term(t, k) times x[t].
template <class Term>
array sums(const array& x, std::size_t axis, std::int64_t n, std::int64_t count, const Term& term) {
  array y = x;
  y.dims[axis] = count;
  y.values.assign(x.values.size() / static_cast<std::size_t>(x.dims[axis]) * static_cast<std::size_t>(count), 0);
  const std::int64_t there = std::min(n, x.dims[axis]);
  for_rows(x, y, axis, [&](std::size_t from, std::size_t to, std::size_t step) {
    for (std::int64_t k = 0; k < count; ++k)
      for (std::int64_t t = 0; t < there; ++t)
        y.values[to + static_cast<std::size_t>(k) * step] +=
            x.values[from + static_cast<std::size_t>(t) * step] * term(t, k);
  });
  return y;
}

long double factor(fft_norm norm, bool inverse, long double period) {
  if (norm == fft_norm::ortho) return 1 / std::sqrt(period);
  return (norm == fft_norm::backward) == inverse ? 1 / period : 1;
}

// The first `count` bins of n points.
array fourier(const array& x, std::size_t axis, std::int64_t n, std::int64_t count, bool inverse, fft_norm norm) {
  const long double scale = factor(norm, inverse, static_cast<long double>(n));
  return sums(x, axis, n, count, [&](std::int64_t t, std::int64_t k) {
    return std::polar(scale,
                      (inverse ? 2 : -2) * pi * static_cast<long double>(t * k % n) / static_cast<long double>(n));
  });
}

// All n bins of a real signal: those that are given, or 0, and conjugates. The bin 0 and the middle one are real.
array all_bins(const array& half, std::size_t axis, std::int64_t n) {
  array y = half;
  y.dims[axis] = n;
  y.values.assign(half.values.size() / static_cast<std::size_t>(half.dims[axis]) * static_cast<std::size_t>(n), 0);
  for_rows(half, y, axis, [&](std::size_t from, std::size_t to, std::size_t step) {
    for (std::int64_t k = 0; k < n; ++k) {
      const std::int64_t bin = std::min(k, n - k);
      if (bin >= half.dims[axis]) continue;
      z value = half.values[from + static_cast<std::size_t>(bin) * step];
      if (bin == 0 || 2 * bin == n) value = value.real();
      y.values[to + static_cast<std::size_t>(k) * step] = k == bin ? value : std::conj(value);
    }
  });
  return y;
}

void expect_array(const tensor& got, const array& wanted, dtype type) {
  ASSERT_EQ(got.type(), type);
  ASSERT_EQ(got.dims(), kg::shape(wanted.dims));
  const bool single = type == dtype::float32 || type == dtype::complex64;
  const array found = array_of(got);
  long double largest = 0;
  for (const z& value : wanted.values) largest = std::max(largest, std::abs(value));
  const long double within = largest * (single ? 1e-6L : 2e-15L);
  for (std::size_t i = 0; i < wanted.values.size(); ++i)
    ASSERT_LE(std::abs(found.values[i] - wanted.values[i]), within)
        << i << ": " << found.values[i] << " is not " << wanted.values[i];
}

// ------------------------------------------------------------------------------------------ along an axis

tensor complex_of(const kg::shape& dims, dtype type) {
  const dtype part = type == dtype::complex64 ? dtype::float32 : dtype::float64;
  return kg::complex(kg::cast(uniform(dims, 1), part), kg::cast(uniform(dims, 2), part));
}

struct asked {
  std::size_t axis;
  std::optional<std::int64_t> n;
};
const asked cases[] = {{0, {}}, {1, {}}, {2, {}}, {0, 1}, {1, 4}, {1, 3}, {2, 7}, {2, 2}};

TEST(fourier_transforms_along_an_axis, are_the_sums_of_their_definition) {
  for (const dtype type : {dtype::complex64, dtype::complex128})
    for (const auto& [axis, n] : cases)
      for (const fft_norm norm : norms) {
        const tensor x = complex_of({3, 4, 5}, type);
        const array from = array_of(x);
        const std::int64_t points = n.value_or(from.dims[axis]);
        const kg::fft_options how{.n = n, .axis = static_cast<int>(axis) - (axis == 1 ? 3 : 0), .norm = norm};
        expect_array(kg::fft(x, how), fourier(from, axis, points, points, false, norm), type);
        expect_array(kg::ifft(x, how), fourier(from, axis, points, points, true, norm), type);
      }
}

TEST(fourier_transforms_of_real_numbers, are_those_of_complex_numbers_without_imaginary_parts) {
  for (const dtype type : {dtype::float32, dtype::float64})
    for (const auto& [axis, n] : cases)
      for (const fft_norm norm : norms) {
        const tensor x = kg::cast(uniform({3, 4, 5}, 3), type);
        const array from = array_of(x);
        const std::int64_t points = n.value_or(from.dims[axis]);
        const dtype pair = type == dtype::float32 ? dtype::complex64 : dtype::complex128;
        const kg::fft_options how{.n = n, .axis = static_cast<int>(axis), .norm = norm};
        expect_array(kg::fft(x, how), fourier(from, axis, points, points, false, norm), pair);
        expect_array(kg::rfft(x, how), fourier(from, axis, points, points / 2 + 1, false, norm), pair);
      }
  EXPECT_EQ(kg::fft(tensor({1, 2, 3}), {.n = 4}).type(), dtype::complex64);
  EXPECT_EQ(kg::rfft(tensor({true, false}), {.n = 4}).type(), dtype::complex64);
}

TEST(fourier_transforms_to_real_numbers, take_half_of_the_bins_for_all) {
  for (const dtype type : {dtype::complex64, dtype::complex128})
    for (const auto& [axis, n] : cases)
      for (const fft_norm norm : norms) {
        const tensor x = complex_of({3, 4, 5}, type);
        const array half = array_of(x);
        const std::int64_t points = n.value_or(2 * (half.dims[axis] - 1));
        const dtype part = type == dtype::complex64 ? dtype::float32 : dtype::float64;
        const kg::fft_options how{.n = n, .axis = static_cast<int>(axis), .norm = norm};
        array bins = all_bins(half, axis, points);
        expect_array(kg::irfft(x, how), fourier(bins, axis, points, points, true, norm), part);
        for (z& value : bins.values) value = std::conj(value);  // of a Hermitian signal
        const fft_norm other = norm == fft_norm::backward  ? fft_norm::forward
                               : norm == fft_norm::forward ? fft_norm::backward
                                                           : norm;
        expect_array(kg::hfft(x, how), fourier(bins, axis, points, points, true, other), part);
      }
  const tensor real = uniform({3, 6}, 4);
  for (const fft_norm norm : norms)
    expect_values(kg::hfft(kg::ihfft(real, {.norm = norm}), {.n = 6, .norm = norm}), {3, 6}, real.to_doubles(), 1e-15);
  EXPECT_EQ(kg::irfft(tensor({1.0, 2.0}), kg::fft_options{}).type(), dtype::float64);
}

TEST(fourier_transforms_along_an_axis, are_rejected_in_one_sentence) {
  const tensor x = kg::zeros({2, 0});
  expect_refused("fft", [&] { return kg::fft(x, {.axis = 2}); }, {"axis 2"});
  expect_refused("fft", [&] { return kg::fft(x, {.axis = -1}); }, {"[2, 0]", "or give n"});
  expect_refused("ifft", [&] { return kg::ifft(x, {.n = 0}); }, {"n = 0"});
  expect_refused("rfft", [] { return kg::rfft(complex_of({2}, dtype::complex64), kg::fft_options{}); }, {"complex64"});
  expect_refused("hfft", [] { return kg::hfft(tensor(1.0)); }, {"rank 1"});
  EXPECT_EQ(kg::fft(x, {.n = 3}).dims(), (kg::shape{2, 3}));
}

// ------------------------------------------------------------------------------------------ along several axes

TEST(fourier_transforms_along_several_axes, transform_each_of_them) {
  const tensor x = complex_of({3, 4, 5}, dtype::complex128);
  for (const fft_norm norm : norms) {
    array wanted = array_of(x);
    for (std::size_t axis = 0; axis < 3; ++axis)
      wanted = fourier(wanted, axis, wanted.dims[axis], wanted.dims[axis], false, norm);
    expect_array(kg::fftn(x, {.norm = norm}), wanted, dtype::complex128);
    array plane = array_of(x);
    plane = fourier(plane, 1, 6, 6, true, norm);
    plane = fourier(plane, 2, 4, 4, true, norm);
    expect_array(kg::ifft2(x, {.sizes = {6, 4}, .norm = norm}), plane, dtype::complex128);
    expect_array(kg::ifftn(x, {.sizes = {6, 4}, .norm = norm}), plane, dtype::complex128);
    expect_array(kg::ifftn(x, {.sizes = {4, 6}, .axes = {2, -2}, .norm = norm}), plane, dtype::complex128);
  }
}

TEST(fourier_transforms_along_several_axes, of_reals_take_the_last_axis_for_the_half) {
  const tensor x = kg::cast(uniform({3, 4, 5}, 5), dtype::float32);
  array wanted = fourier(array_of(x), 0, 3, 2, false, fft_norm::backward);
  wanted = fourier(wanted, 2, 5, 5, false, fft_norm::backward);
  expect_array(kg::rfftn(x, {.axes = {2, 0}}), wanted, dtype::complex64);
  const tensor wide = uniform({3, 4, 6}, 6);
  for (const fft_norm norm : norms) {
    expect_values(kg::irfftn(kg::rfftn(wide, {.norm = norm}), {.norm = norm}), {3, 4, 6}, wide.to_doubles(), 1e-14);
    expect_values(kg::irfft2(kg::rfft2(x, {.norm = norm}), {.sizes = {4, 5}, .norm = norm}), {3, 4, 5}, x.to_doubles(),
                  1e-6);
    expect_array(kg::fft2(x, {.norm = norm}), array_of(kg::fftn(x, {.axes = {1, 2}, .norm = norm})), dtype::complex64);
  }
  expect_refused("fftn", [&] { return kg::fftn(x, {.sizes = {2}, .axes = {0, 1}}); }, {"1 sizes for 2 axes"});
  expect_refused("fftn", [&] { return kg::fftn(x, {.axes = {0, -3}}); }, {"axis 0 twice"});
  expect_refused("rfft2", [] { return kg::rfft2(kg::zeros({3})); }, {"rank 2"});
}

// Half of the bins are computed, the others are their conjugates.
TEST(fourier_transforms_along_several_axes, of_reals_are_those_of_complex_numbers_without_imaginary_parts) {
  const kg::fftn_options cases[] = {
      {}, {.axes = {1}}, {.axes = {0, 2}}, {.axes = {2, 0}}, {.sizes = {6, 2}, .axes = {1, 0}}, {.sizes = {1, 8, 3}}};
  const tensor x = kg::random_normal({3, 4, 5}, 0, 1, 3, dtype::float64), z = kg::cast(x, dtype::complex128);
  const tensor weights = kg::random_normal({3, 4, 5}, 0, 1, 4, dtype::float64);
  for (const kg::fftn_options& options : cases) {
    expect_array(kg::fftn(x, options), array_of(kg::fftn(z, options)), dtype::complex128);
    const auto f = [&](const tensor& t) {
      const tensor y = kg::fftn(t, options);
      return kg::sum(kg::real(y) * kg::exp(kg::imag(y) * 0.01));
    };
    const auto g = [&](const tensor& t) { return f(kg::cast(t, dtype::complex128)); };
    expect_values(kg::grad(f)(x), {3, 4, 5}, kg::grad(g)(x).to_doubles(), 1e-10);
  }
}

// ------------------------------------------------------------------------------------------ order and frequencies

TEST(fftshift, moves_bin_0_to_the_middle) {
  expect_values(kg::fftshift(tensor({0, 1, 2, 3, 4})), {5}, {3, 4, 0, 1, 2});
  expect_values(kg::fftshift(tensor({0, 1, 2, 3})), {4}, {2, 3, 0, 1});
  expect_values(kg::ifftshift(tensor({3, 4, 0, 1, 2})), {5}, {0, 1, 2, 3, 4});
  const tensor x = kg::reshape(kg::arange(15), {3, 5});
  expect_values(kg::fftshift(x, 0), {3, 5}, {10, 11, 12, 13, 14, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  expect_values(kg::ifftshift(kg::fftshift(x)), {3, 5}, x.to_doubles());
  expect_refused("fftshift", [&] { return kg::fftshift(x, 2); }, {"axis 2"});
}

TEST(fftfreq, counts_up_and_then_from_below) {
  expect_values(kg::fftfreq(4, 0.5, dtype::float64), {4}, {0, 0.5, -1, -0.5});
  expect_values(kg::fftfreq(5, 0.1, dtype::float64), {5}, {0, 2, 4, -4, -2});
  expect_values(kg::rfftfreq(4, 0.5, dtype::float64), {3}, {0, 0.5, 1});
  expect_values(kg::rfftfreq(5, 1, dtype::float64), {3}, {0, 0.2, 0.4});
  EXPECT_EQ(kg::fftfreq(3).type(), dtype::float32);
  expect_refused("fftfreq", [] { return kg::fftfreq(0); }, {"n = 0"});
  expect_refused("rfftfreq", [] { return kg::rfftfreq(3, 0); }, {"spacing 0"});
  expect_refused("fftfreq", [] { return kg::fftfreq(3, 1, dtype::int32); }, {"int32"});
}

// ------------------------------------------------------------------------------------------ gradients

TEST(the_gradients_of_spectra, are_those_of_differences) {
  const auto parts = [](const tensor& y) { return kg::square(kg::real(y)) + kg::imag(y) * 0.5; };
  const tensor x = uniform({2, 3, 4}, 7);
  const std::pair<const char*, std::function<tensor(const tensor&)>> rows[] = {
      {"fft", [&](const tensor& t) { return parts(kg::fft(t, {.n = 5, .axis = 1})); }},
      {"rfft", [&](const tensor& t) { return parts(kg::rfft(t, {.axis = 0, .norm = fft_norm::ortho})); }},
      {"hfft", [](const tensor& t) { return kg::square(kg::hfft(kg::complex(t, t * 0.5), {.n = 5})); }},
      {"fftn", [&](const tensor& t) { return parts(kg::fftn(t)); }},
      {"irfft2", [](const tensor& t) { return kg::square(kg::irfft2(kg::complex(t, t * 2))); }},
      {"fftshift", [](const tensor& t) { return kg::square(kg::fftshift(t)); }},
  };
  for (const auto& [name, f] : rows) check_gradients(name, [&](auto in) { return f(in[0]); }, {x});
}

// ------------------------------------------------------------------------------------------ cosines and sines

// Factors of the sums of dct and dst. The first and the last point count half in some types.
long double cosine_term(bool sines, int type, std::int64_t n, std::int64_t t, std::int64_t k) {
  const auto angle = [](std::int64_t up, std::int64_t down) {
    return pi * static_cast<long double>(up % (2 * down)) / static_cast<long double>(down);
  };
  if (!sines) {
    const long double ends = (t == 0 && (type == 1 || type == 3)) || (t == n - 1 && type == 1) ? 1 : 2;
    if (type == 1) return ends * std::cos(angle(t * k, n - 1));
    if (type == 2) return 2 * std::cos(angle(k * (2 * t + 1), 2 * n));
    if (type == 3) return ends * std::cos(angle(t * (2 * k + 1), 2 * n));
    return 2 * std::cos(angle((2 * k + 1) * (2 * t + 1), 4 * n));
  }
  const long double end = t == n - 1 && type == 3 ? 1 : 2;
  if (type == 1) return 2 * std::sin(angle((k + 1) * (t + 1), n + 1));
  if (type == 2) return 2 * std::sin(angle((k + 1) * (2 * t + 1), 2 * n));
  if (type == 3) return end * std::sin(angle((2 * k + 1) * (t + 1), 2 * n));
  return 2 * std::sin(angle((2 * k + 1) * (2 * t + 1), 4 * n));
}

using cosine_function = tensor (*)(const tensor&, const kg::dct_options&);
struct cosine_pair {
  bool sines;
  cosine_function there, back;
};
const cosine_pair both[] = {{false, kg::dct, kg::idct}, {true, kg::dst, kg::idst}};

TEST(cosine_and_sine_transforms, are_the_sums_of_their_definition) {
  for (const auto& [sines, there, back] : both)
    for (int type = 1; type <= 4; ++type)
      for (const dtype of : {dtype::float32, dtype::float64})
        for (const std::int64_t n : {2, 3, 4, 7, 16, 30}) {
          SCOPED_TRACE(::testing::Message() << (sines ? "sines" : "cosines") << " of type " << type << ", " << n);
          const tensor x = kg::cast(uniform({2, 5, 3}, 8), of);
          const array wanted = sums(array_of(x), 1, n, n, [&, sines = sines](std::int64_t t, std::int64_t k) {
            return z(cosine_term(sines, type, n, t, k));
          });
          expect_array(there(x, {.type = type, .n = n, .axis = 1}), wanted, of);
        }
}

TEST(cosine_and_sine_transforms, are_undone_by_their_inverses_in_every_norm) {
  for (const auto& [sines, there, back] : both)
    for (int type = 1; type <= 4; ++type)
      for (const fft_norm norm : norms)
        for (const std::int64_t n : {2, 5, 8}) {
          const tensor x = uniform({3, n}, 9);
          const kg::dct_options how{.type = type, .norm = norm};
          expect_values(back(there(x, how), how), {3, n}, x.to_doubles(), 1e-14);
          if (norm == fft_norm::ortho)
            EXPECT_NEAR(kg::sum(kg::square(there(x, how))).item(), kg::sum(kg::square(x)).item(), 1e-13);
        }
  expect_values(kg::dct(tensor({1.0, 2.0, 3.0}), {.norm = fft_norm::forward}), {3}, {2, -std::sqrt(3.0) / 3, 0}, 1e-15);
  EXPECT_EQ(kg::dct(tensor({1, 2, 3})).type(), dtype::float32);
}

TEST(cosine_and_sine_transforms, are_rejected_in_one_sentence) {
  const tensor x = kg::ones({2, 1});
  expect_refused("dct", [&] { return kg::dct(x, {.type = 5}); }, {"type 5"});
  expect_refused("dct", [&] { return kg::dct(x, {.type = 1}); }, {"[2, 1]", "2 to"});
  expect_refused("dst", [&] { return kg::dst(x, {.n = 0}); }, {"n = 0"});
  expect_refused("idct", [] { return kg::idct(complex_of({3}, dtype::complex64)); }, {"complex64"});
  expect_refused("idst", [] { return kg::idst(tensor(1.0)); }, {"rank 1"});
}

TEST(the_gradients_of_cosine_and_sine_transforms, are_those_of_differences) {
  for (const auto& [sines, there, back] : both)
    for (int type = 1; type <= 4; ++type)
      for (const fft_norm norm : norms)
        check_gradients("transform",
                        [&, f = there, g = back](auto in) {
                          const kg::dct_options how{.type = type, .norm = norm};
                          return kg::square(f(in[0], how)) + g(in[0], how);
                        },
                        {uniform({2, 5}, 10)});
}

// ------------------------------------------------------------------------------------------ short-time transforms

TEST(istft, gives_the_signal_back_to_rounding) {
  struct row {
    std::int64_t n, length, step;
    std::optional<std::int64_t> points;
  };
  const row rows[] = {{1000, 64, 16, {}}, {1000, 64, 32, 128}, {777, 50, 12, 50}, {20, 33, 11, {}}, {5, 16, 4, {}}};
  for (const dtype type : {dtype::float32, dtype::float64})
    for (const auto& [n, length, step, points] : rows) {
      SCOPED_TRACE(::testing::Message() << n << " elements, frames of " << length << " every " << step);
      const tensor x = kg::cast(uniform({2, n}, 11), type);
      const kg::stft_options how{.fft_length = points, .centered = true, .length = n};
      const tensor y = kg::istft(kg::stft(x, length, step, how), length, step, how);
      EXPECT_EQ(y.type(), type);
      expect_values(y, {2, n}, x.to_doubles(), type == dtype::float32 ? 1e-6 : 1e-13);
    }
}

TEST(istft, of_frames_that_are_not_centered_loses_what_the_window_lacks) {
  const tensor x = uniform({40}, 12), bins = kg::stft(x, 8, 4);
  EXPECT_EQ(bins.type(), dtype::complex128);
  doubles wanted = x.to_doubles();
  wanted[0] = 0;  // where Hann's window is 0
  expect_values(kg::istft(bins, 8, 4), {40}, wanted, 1e-13);
  expect_values(
      kg::istft(bins, 8, 4, {.length = 42}), {42},
      [&] {
        auto more = wanted;
        more.resize(42);
        return more;
      }(),
      1e-13);
  const kg::stft_options square{.window = kg::ones({8}, dtype::float64)};
  expect_values(kg::istft(kg::stft(x, 8, 5, square), 8, 5, square), {38}, kg::slice(x, {0}, {38}).to_doubles(), 1e-13);
}

TEST(istft, is_rejected_in_one_sentence) {
  const tensor bins = complex_of({3, 5}, dtype::complex64);
  EXPECT_EQ(kg::istft(bins, 8, 4).dims(), (kg::shape{16}));
  EXPECT_EQ(kg::istft(complex_of({0, 5}, dtype::complex64), 8, 4, {.centered = true}).dims(), (kg::shape{0}));
  expect_refused("istft", [&] { return kg::istft(kg::real(bins), 8, 4); }, {"float32"});
  expect_refused("istft", [&] { return kg::istft(bins, 8, 0); }, {"every 0"});
  expect_refused("istft", [&] { return kg::istft(bins, 6, 3, {.fft_length = 10}); }, {"[3, 5]", "6 bins"});
  expect_refused("istft", [&] { return kg::istft(bins, 9, 3, {.fft_length = 8}); }, {"fft_length 8"});
  expect_refused("istft", [&] { return kg::istft(bins, 8, 4, {.length = -1}); }, {"length -1"});
  expect_refused("stft", [] { return kg::stft(kg::zeros({9}), 4, 0); }, {"every 0"});
}

TEST(overlap_add, sums_up_frames_where_they_overlap) {
  const tensor x = kg::arange(1, 7, 1, dtype::float64);
  expect_values(kg::overlap_add(kg::reshape(x, {2, 3}), 2), {5}, {1, 2, 3 + 4, 5, 6});
  expect_values(kg::overlap_add(kg::reshape(x, {3, 2}), 1), {4}, {1, 2 + 3, 4 + 5, 6});
  expect_values(kg::overlap_add(kg::reshape(x, {2, 3}), 4), {7}, {1, 2, 3, 0, 4, 5, 6});
  expect_values(kg::overlap_add(kg::reshape(x, {2, 1, 3}), 2), {2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(kg::overlap_add(kg::zeros({2, 0, 3}), 2).dims(), (kg::shape{2, 0}));
  expect_refused("overlap_add", [&] { return kg::overlap_add(x, 1); }, {"rank 2"});
  expect_refused("overlap_add", [&] { return kg::overlap_add(kg::reshape(x, {2, 3}), 0); }, {"step 0"});
}

TEST(the_gradients_of_short_time_transforms, are_those_of_differences) {
  check_gradients("overlap_add", [](auto in) { return kg::square(kg::overlap_add(in[0], 2)); },
                  {uniform({2, 3, 5}, 13)});
  check_gradients("stft",
                  [](auto in) {
                    const tensor y = kg::stft(in[0], 4, 2, {.centered = true});
                    return kg::square(kg::real(y)) + kg::imag(y);
                  },
                  {uniform({9}, 14)});
  check_gradients("istft",
                  [](auto in) { return kg::square(kg::istft(kg::complex(in[0], in[1]), 8, 2, {.centered = true})); },
                  {uniform({4, 5}, 15), uniform({4, 5}, 16)});
}

}  // namespace
