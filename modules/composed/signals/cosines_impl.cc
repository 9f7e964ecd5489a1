// SPDX-License-Identifier: Apache-2.0
// Cosine and sine transforms by Fourier transforms: of the same length for types 2 and 3, of twice the length for the
// others. Sines are cosines of the reversed or alternating signal.
module;
#include <cmath>
#include <cstdint>
#include <numbers>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>
#include "kernels/common/abi.h"
#include "kernels/common/scratch.h"
#include "kernels/common/sizes.h"
module kerngrad;

import :composed_checks;
import :composed_last_axis;
import :tape;

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

// ------------------------------------------------------------------------------------------ steps in one pass

// A transform that no gradient is recorded of takes its rows through three passes: a turn of the points or their order,
// the Fourier transform, and a turn of the bins. A recorded one is made of ops below, which have gradients.

constexpr operand points_operands[] = {{"x", wide_floats}};
constexpr operand bins_operands[] = {{"bins", complex_only | only(dtype::complex128)}};
constexpr attr_spec points_attrs[] = {{"points", attr_kind::integer, "elements of a row of the result", true}};

/// Turns by exp(-i pi (a k + b) / d), each a product of two in tables: 512 apart, and those between.
class turn_table {
 public:
  turn_table(std::int64_t count, double a, double b, double d)
      : far_(kernels::product_of(2, count / together + 1)), near_(2 * together) {
    const double unit = std::numbers::pi / d;
    for (std::int64_t k = 0; k <= count / together; ++k)
      put(far_.data() + 2 * k, static_cast<double>(k * together) * a * unit);
    for (std::int64_t k = 0; k < together; ++k) put(near_.data() + 2 * k, (static_cast<double>(k) * a + b) * unit);
  }
  struct turn {
    double cosine, sine;  // of the angle without its sign
  };
  turn operator[](std::int64_t k) {
    const double *far = far_.data() + k / together * 2, *near = near_.data() + k % together * 2;
    if (k < together) return {near[0], near[1]};
    return {far[0] * near[0] - far[1] * near[1], far[1] * near[0] + far[0] * near[1]};
  }

 private:
  static constexpr std::int64_t together = 512;
  static void put(double* to, double angle) { to[0] = std::cos(angle), to[1] = std::sin(angle); }
  kernels::scratch<double> far_, near_;
};

// Calls `step` with each row of the first operand, of the result, and its number of elements.
template <class In, class Out, class Step>
void each_row(const launch_call& c, const Step& step) {
  const std::span<const In> x = elements_in<In>(c, 0);
  const std::span<Out> y = elements_out<Out>(c);
  if (y.empty()) return;
  const std::int64_t from = c.in[0].dims[c.in[0].dims.rank() - 1], to = c.out[0].dims[c.out[0].dims.rank() - 1];
  for (std::int64_t row = 0; row < std::ssize(y) / to; ++row) step(x.data() + row * from, y.data() + row * to);
}

template <class T>
using complex_of = std::conditional_t<std::is_same_v<T, float>, complex64, complex128>;

constexpr std::int64_t row_of(const shape& dims) { return dims[dims.rank() - 1]; }
void infer_rows(inference& call, std::int64_t size) {
  std::vector<std::int64_t> sizes(call.in[0].dims.begin(), call.in[0].dims.end());
  sizes.back() = size;
  call.give(shape(sizes));
}
void infer_same(inference& call) { call.give(call.in[0].dims); }
void infer_half_bins(inference& call) { infer_rows(call, row_of(call.in[0].dims) / 2 + 1); }
void infer_pairs(inference& call) { infer_rows(call, row_of(call.in[0].dims) / 2); }
void infer_points(inference& call) { infer_rows(call, call.attr("points").as_integer()); }

consteval op_row step_row(std::string_view name, std::string_view doc, std::span<const operand> operands, result after,
                          infer_fn infer, std::span<const attr_spec> attrs = {}) {
  return {.name = name,
          .doc = doc,
          .group = family::fft,
          .operands = operands,
          .attrs = attrs,
          .types = {lift::none, after},
          .infer = infer,
          .no_gradient = "a recorded transform is made of other ops",
          .cost = 8};
}
// The kernels of a step from rows of real numbers, or from rows of bins: Step::run<T> has the type of the real ones.
template <class Step>
consteval auto kernels_from_reals() {
  return on_calls<wide_floats>([]<class T>(const launch_call& c) { Step::template run<T>(c); });
}
template <class Step>
consteval auto kernels_from_bins() {
  return kernel_list(on_call<complex64>([](const launch_call& c) { Step::template run<float>(c); }),
                     on_call<complex128>([](const launch_call& c) { Step::template run<double>(c); }));
}

// The even elements of each row, then the odd ones from the end.
struct even_then_odd_step {
  template <class T>
  static void run(const launch_call& c) {
    const std::int64_t n = row_of(c.in[0].dims);
    each_row<T, T>(c, [&](const T* x, T* y) {
      for (std::int64_t i = 0; i < (n + 1) / 2; ++i) y[i] = x[2 * i];
      for (std::int64_t i = 0; i < n / 2; ++i) y[n - 1 - i] = x[2 * i + 1];
    });
  }
};
struct EvenThenOdd {
  static constexpr op_row row = step_row("EvenThenOdd", "The even elements, then the odd ones from the end.",
                                         points_operands, result::same, infer_same);
  static constexpr auto kernels = kernels_from_reals<even_then_odd_step>();
};

// Back from that order.
struct from_even_then_odd_step {
  template <class T>
  static void run(const launch_call& c) {
    const std::int64_t n = row_of(c.in[0].dims);
    each_row<T, T>(c, [&](const T* x, T* y) {
      for (std::int64_t i = 0; i < (n + 1) / 2; ++i) y[2 * i] = x[i];
      for (std::int64_t i = 0; i < n / 2; ++i) y[2 * i + 1] = x[n - 1 - i];
    });
  }
};
struct FromEvenThenOdd {
  static constexpr op_row row = step_row("FromEvenThenOdd", "Elements from the even ones and the odd ones reversed.",
                                         points_operands, result::same, infer_same);
  static constexpr auto kernels = kernels_from_reals<from_even_then_odd_step>();
};

// The sums of type 2 from the bins of rows in that order.
struct cosines_of_bins_step {
  template <class T>
  static void run(const launch_call& c) {
    const std::int64_t n = row_of(c.out[0].dims);
    turn_table turns(n / 2, 1, 0, 2 * static_cast<double>(n));
    each_row<complex_of<T>, T>(c, [&](const complex_of<T>* x, T* y) {
      for (std::int64_t k = 0; k <= n / 2; ++k) {
        const auto [cosine, sine] = turns[k];
        const double re = x[k].real, im = x[k].imag;
        if (k > 0) y[n - k] = static_cast<T>(2 * (re * sine - im * cosine));
        y[k] = static_cast<T>(2 * (re * cosine + im * sine));  // last: the middle bin is its own mirror image
      }
    });
  }
};
struct CosinesOfBins {
  static constexpr op_row row =
      step_row("CosinesOfBins", "Cosine sums of type 2 from the bins of rows, the even elements first.", bins_operands,
               result::part, infer_points, points_attrs);
  static constexpr auto kernels = kernels_from_bins<cosines_of_bins_step>();
};

// The bins whose inverse transform has the sums of type 3, the even ones first.
struct bins_of_cosines_step {
  template <class T>
  static void run(const launch_call& c) {
    const std::int64_t n = row_of(c.in[0].dims);
    turn_table turns(n / 2, 1, 0, 2 * static_cast<double>(n));
    each_row<T, complex_of<T>>(c, [&](const T* x, complex_of<T>* y) {
      for (std::int64_t k = 0; k <= n / 2; ++k) {
        const auto [cosine, sine] = turns[k];
        const double here = x[k], mirrored = k > 0 ? static_cast<double>(x[n - k]) : 0;
        y[k] = {static_cast<T>(here * cosine + mirrored * sine), static_cast<T>(here * sine - mirrored * cosine)};
      }
    });
  }
};
struct BinsOfCosines {
  static constexpr op_row row = step_row("BinsOfCosines", "Bins of the cosine sums of type 3, the even sums first.",
                                         points_operands, result::pair, infer_half_bins);
  static constexpr auto kernels = kernels_from_reals<bins_of_cosines_step>();
};

// Type 4 of an even number of points n is a complex transform of half as many. Element j of it is x[2 j] + i x[n - 1 -
// 2 j], turned by -pi (4 j + 1) / (4 n). Bin k, turned by -pi k / n, has half of y[2 k] as its real part and half of
// -y[n - 1 - 2 k] as its imaginary one, because (4 k + 1) (4 j + 1) = 16 k j + (4 j + 1) + 4 k.
struct pairs_step {
  template <class T>
  static void run(const launch_call& c) {
    const std::int64_t n = row_of(c.in[0].dims);
    turn_table turns(n / 2, 4, 1, 4 * static_cast<double>(n));
    each_row<T, complex_of<T>>(c, [&](const T* x, complex_of<T>* y) {
      for (std::int64_t k = 0; k < n / 2; ++k) {
        const auto [cosine, sine] = turns[k];
        const double re = x[2 * k], im = x[n - 1 - 2 * k];
        y[k] = {static_cast<T>(re * cosine + im * sine), static_cast<T>(im * cosine - re * sine)};
      }
    });
  }
};
struct CosinePairs {
  static constexpr op_row row = step_row("CosinePairs", "Elements from both ends as complex numbers, turned.",
                                         points_operands, result::pair, infer_pairs);
  static constexpr auto kernels = kernels_from_reals<pairs_step>();
};
struct cosines_of_pairs_step {
  template <class T>
  static void run(const launch_call& c) {
    const std::int64_t n = row_of(c.out[0].dims);
    turn_table turns(n / 2, 1, 0, static_cast<double>(n));
    each_row<complex_of<T>, T>(c, [&](const complex_of<T>* x, T* y) {
      for (std::int64_t k = 0; k < n / 2; ++k) {
        const auto [cosine, sine] = turns[k];
        const double re = x[k].real, im = x[k].imag;
        y[2 * k] = static_cast<T>(2 * (re * cosine + im * sine));
        y[n - 1 - 2 * k] = static_cast<T>(2 * (re * sine - im * cosine));
      }
    });
  }
};
struct CosinesOfPairs {
  static constexpr op_row row = step_row("CosinesOfPairs", "Cosine sums of type 4 from the bins of pairs.",
                                         bins_operands, result::part, infer_points, points_attrs);
  static constexpr auto kernels = kernels_from_bins<cosines_of_pairs_step>();
};

bool in_steps() { return !detail::recording_now(); }

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
  if (in_steps()) return call<CosinesOfBins>(rfft(call<EvenThenOdd>(x)), attr<"points">(n));
  const tensor bins = rfft(even_then_odd(x)), re = real(bins), im = imag(bins);
  const auto [c, s] = turns(n / 2 + 1, x.type(), 2 * n, [](std::int64_t k) { return k; });
  const tensor first = re * c + im * s, last = re * s - im * c;
  return concat({first, reverse(last_axis_part(last, 1, (n - 1) / 2), -1)}, -1) * 2;
}
// Back from there: the bins are (x[k] - i x[n - k]), turned the other way, with x[n] = 0.
tensor cosines_3(const tensor& x) {
  const std::int64_t n = x.dims()[x.rank() - 1], half = n / 2 + 1;
  if (in_steps()) return call<FromEvenThenOdd>(irfft(call<BinsOfCosines>(x), n, fft_norm::forward));
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
  if (in_steps() && n % 2 == 0) return call<CosinesOfPairs>(fft(call<CosinePairs>(x)), attr<"points">(n));
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
