// SPDX-License-Identifier: Apache-2.0
// Cosine and sine transforms by Fourier transforms: of the same length for types 2 and 3, of twice the length for the
// others. Sines are cosines of the reversed or alternating signal.
module;
#include <cmath>
#include <cstdint>
#include <numbers>
#include <optional>
#include <string>
#include <vector>
#include "kernels/common/abi.h"
#include "kernels/common/sizes.h"
module kerngrad;

import :composed_checks;
import :composed_last_axis;

namespace kerngrad {

using detail::composed;
using detail::last_axis_part;
using detail::numbers_of_indices;
using detail::shaped;

namespace {

// ------------------------------------------------------------------------------------------ factors

struct cosine_sine {
  tensor cosines, sines;
};
// Turns by the angles pi * numerator(k) / denominator, with numerators below twice the denominator.
template <class Numerator>
cosine_sine turns(std::int64_t count, dtype type, std::int64_t denominator, const Numerator& numerator) {
  const auto angle = [&](std::int64_t k) {
    return std::numbers::pi * static_cast<double>(numerator(k)) / static_cast<double>(denominator);
  };
  return {numbers_of_indices(count, type, [&](std::int64_t k) { return std::cos(angle(k)); }),
          numbers_of_indices(count, type, [&](std::int64_t k) { return std::sin(angle(k)); })};
}

// 1, -1, 1, ...
tensor alternating(const tensor& x) {
  return x * numbers_of_indices(x.dims()[x.rank() - 1], x.type(), [](std::int64_t k) { return k % 2 ? -1.0 : 1.0; });
}
// Element `at` of each row times a factor.
tensor element_scaled(const tensor& x, std::int64_t at, double factor) {
  return x *
         numbers_of_indices(x.dims()[x.rank() - 1], x.type(), [&](std::int64_t k) { return k == at ? factor : 1.0; });
}

// ------------------------------------------------------------------------------------------ sums

// Each function computes what its docstring sums up in the norm backward, of rows x.

// The rows and their mirror image, without the ends, have a real spectrum.
tensor cosines_1(const tensor& x) {
  const std::int64_t n = x.dims()[x.rank() - 1];
  return real(rfft(concat({x, reverse(last_axis_part(x, 1, n - 2), -1)}, -1)));
}
// The even elements, then the odd ones from the end: bin k of these rows, turned by -pi k / (2 n), has half of y[k] as
// its real part and half of -y[n - k] as its imaginary one (Makhoul 1980).
tensor even_then_odd(const tensor& x) {
  const std::uint32_t rest = 1;
  const auto every_second = [&](std::int64_t from) {
    return strided_slice(x, {0, from}, {0, x.dims()[x.rank() - 1]}, {1, 2}, {.ellipsis = rest});
  };
  return x.dims()[x.rank() - 1] == 1 ? x : concat({every_second(0), reverse(every_second(1), -1)}, -1);
}
tensor cosines_2(const tensor& x) {
  const std::int64_t n = x.dims()[x.rank() - 1];
  const tensor bins = rfft(even_then_odd(x)), re = real(bins), im = imag(bins);
  const auto [c, s] = turns(n / 2 + 1, x.type(), 2 * n, [](std::int64_t k) { return k; });
  const tensor first = re * c + im * s, last = re * s - im * c;
  return concat({first, reverse(last_axis_part(last, 1, (n - 1) / 2), -1)}, -1) * 2;
}
// Back from there: the bins are (x[k] - i x[n - k]), turned the other way, with x[n] = 0.
tensor cosines_3(const tensor& x) {
  const std::int64_t n = x.dims()[x.rank() - 1], half = n / 2 + 1;
  const tensor mirrored = last_axis_part(detail::last_axis_padded(reverse(x, -1), 1, 0), 0, half);
  const tensor first = last_axis_part(x, 0, half);
  const auto [c, s] = turns(half, x.type(), 2 * n, [](std::int64_t k) { return k; });
  const tensor bins = complex(first * c + mirrored * s, first * s - mirrored * c);
  const tensor rows = irfft(bins, n, fft_norm::forward);
  // The odd elements follow the even ones, from the end: pairs of both are the rows.
  const std::int64_t evens = (n + 1) / 2;
  const tensor odds = reverse(last_axis_part(rows, evens, n - evens), -1);
  const tensor pairs = stack({last_axis_part(rows, 0, evens), detail::last_axis_resized(odds, evens)}, -1);
  std::vector<std::int64_t> dims(x.dims().begin(), x.dims().end());
  dims.back() = 2 * evens;
  return last_axis_part(reshape(pairs, shape(dims)), 0, n);
}
// (2 k + 1) (2 t + 1) = 4 k t + 2 t + (2 k + 1): a turn of the points, a transform of 2 n points, a turn of the bins.
tensor cosines_4(const tensor& x) {
  const std::int64_t n = x.dims()[x.rank() - 1];
  const auto [pc, ps] = turns(n, x.type(), 2 * n, [](std::int64_t t) { return t; });
  const auto [bc, bs] = turns(n, x.type(), 4 * n, [](std::int64_t k) { return 2 * k + 1; });
  const tensor points = detail::last_axis_padded(complex(x * pc, neg(x * ps)), 0, n);
  const tensor bins = last_axis_part(fft(points), 0, n);
  return (real(bins) * bc + imag(bins) * bs) * 2;
}
tensor cosine_sums(const tensor& x, int type) {
  return type == 1 ? cosines_1(x) : type == 2 ? cosines_2(x) : type == 3 ? cosines_3(x) : cosines_4(x);
}

// The rows and their negative mirror image, with zeros between, have an imaginary spectrum.
tensor sines_1(const tensor& x) {
  const std::int64_t n = x.dims()[x.rank() - 1];
  const tensor after_zero = detail::last_axis_padded(x, 1, 0);
  const tensor bins = rfft(concat({after_zero, detail::last_axis_padded(neg(reverse(x, -1)), 1, 0)}, -1));
  return neg(imag(last_axis_part(bins, 1, n)));
}
tensor sine_sums(const tensor& x, int type) {
  if (type == 1) return sines_1(x);
  if (type == 2) return reverse(cosines_2(alternating(x)), -1);
  return alternating(cosine_sums(reverse(x, -1), type));
}

// ------------------------------------------------------------------------------------------ norms

// A transform of rows as it is called.
struct plan {
  bool sines;
  int type;
  std::int64_t n;

  // The inverse has the type of the transposed sums.
  plan inverted() const { return {sines, type == 2 ? 3 : type == 3 ? 2 : type, n}; }
  // The transform and its inverse, both in the norm backward, multiply by this.
  std::int64_t period() const { return 2 * (type != 1 ? n : sines ? n + 1 : n - 1); }
};

tensor sums(const plan& p, const tensor& x) { return p.sines ? sine_sums(x, p.type) : cosine_sums(x, p.type); }

// Orthogonal transforms weigh the ends of types 1 to 3: those of the points, of the bins, or both.
tensor orthogonal(const plan& p, tensor x) {
  const double root = std::numbers::sqrt2;
  const std::int64_t end = p.sines ? p.n - 1 : 0;
  if (p.type == 1 && !p.sines) x = element_scaled(element_scaled(x, 0, root), p.n - 1, root);
  if (p.type == 3) x = element_scaled(x, end, root);
  tensor y = sums(p, x) * (1 / std::sqrt(static_cast<double>(p.period())));
  if (p.type == 1 && !p.sines) y = element_scaled(element_scaled(y, 0, 1 / root), p.n - 1, 1 / root);
  if (p.type == 2) y = element_scaled(y, end, 1 / root);
  return y;
}

tensor transformed(const composed& call, const tensor& x, const dct_options& options, bool sines, bool inverse) {
  call.rank("x", x, 1, max_rank - 1);
  call.real("x", x);
  if (options.type < 1 || options.type > 4) call.refuse("type " + std::to_string(options.type), "1, 2, 3 or 4");
  const int axis = call.axis(options.axis.value(), x.rank());
  const std::int64_t n = options.n.value_or(x.dims()[axis]), least = options.type == 1 && !sines ? 2 : 1;
  constexpr std::int64_t most = 400'000'000;  // twice as many are points of a Fourier transform
  if (n < least || n > most)
    call.refuse(
        options.n ? "n = " + std::to_string(n) : shaped("x", x),
        std::to_string(least) + " to " + std::to_string(most) + " points for type " + std::to_string(options.type));
  const tensor rows = detail::last_axis_resized(detail::axis_last(cast(x, detail::spectral_type(x.type())), axis), n);
  plan p{sines, options.type, n};
  if (inverse) p = p.inverted();
  if (options.norm == fft_norm::ortho) return detail::axis_back(orthogonal(p, rows), axis);
  const bool divided = (options.norm == fft_norm::backward) == inverse;
  const tensor y = sums(p, rows);
  return detail::axis_back(divided ? y * (1 / static_cast<double>(p.period())) : y, axis);
}

}  // namespace

tensor dct(const tensor& x, const dct_options& options) {
  return transformed(composed{"dct"}, x, options, false, false);
}
tensor idct(const tensor& x, const dct_options& options) {
  return transformed(composed{"idct"}, x, options, false, true);
}
tensor dst(const tensor& x, const dct_options& options) {
  return transformed(composed{"dst"}, x, options, true, false);
}
tensor idst(const tensor& x, const dct_options& options) {
  return transformed(composed{"idst"}, x, options, true, true);
}

}  // namespace kerngrad
