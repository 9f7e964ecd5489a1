// SPDX-License-Identifier: Apache-2.0
// Fourier transforms along any axes: the axis becomes the last one, is cut or padded, transformed and put back.
module;
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>
#include "kernels/common/abi.h"
#include "kernels/common/parallel.h"
#include "kernels/common/scratch.h"
#include "kernels/common/sizes.h"
#include "kernels/fft/fft.h"
module kerngrad;

import :composed_checks;
import :composed_last_axis;

namespace kerngrad {

using detail::composed;
using detail::shaped;

// ------------------------------------------------------------------------------------------ rows of the last axis

dtype detail::spectral_type(dtype type) {
  return type == dtype::float64 || type == dtype::complex128 ? dtype::float64 : dtype::float32;
}

tensor detail::last_axis_part(const tensor& x, std::int64_t begin, std::int64_t size) {
  const std::size_t rank = static_cast<std::size_t>(x.rank());
  std::vector<std::int64_t> begins(rank), sizes(rank, -1);
  begins.back() = begin;
  sizes.back() = size;
  return slice(x, begins, sizes);
}

tensor detail::last_axis_padded(const tensor& x, std::int64_t before, std::int64_t after) {
  if (before == 0 && after == 0) return x;
  std::vector<std::int64_t> sides(kernels::extent(x.rank(), 2));
  sides.end()[-2] = before;
  sides.end()[-1] = after;
  return pad(x, sides);
}

tensor detail::last_axis_resized(const tensor& x, std::int64_t size) {
  const std::int64_t had = x.dims()[x.rank() - 1];
  if (had == size) return x;
  return had > size ? last_axis_part(x, 0, size) : last_axis_padded(x, 0, size - had);
}

tensor detail::numbers_of_indices(std::int64_t count, dtype type, const std::function<double(std::int64_t)>& f) {
  const auto fill = [&](std::span<double> all) {
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = f(static_cast<std::int64_t>(i));
  };
  return cast(tensor::build<double>({count}, fill), type);
}

tensor detail::axis_last(const tensor& x, int axis) { return axis == x.rank() - 1 ? x : moveaxis(x, axis, -1); }
tensor detail::axis_back(const tensor& x, int axis) { return axis == x.rank() - 1 ? x : moveaxis(x, -1, axis); }

// ------------------------------------------------------------------------------------------ columns

namespace {

constexpr operand column_operands[] = {{"x", complex_only}};
constexpr attr_spec column_attributes[] = {
    {.name = "inverse", .kind = attr_kind::integer, .doc = "1 for the inverse transform", .least = 0, .most = 1},
    {.name = "scale", .kind = attr_kind::number, .doc = "factor of the sums", .fallback = 1}};
void infer_columns(inference& call) { call.give(call.in[0].dims); }
tensor transformed_columns(const tensor& x, bool inverse, double scale);

/// Complex transforms of the middle axis of x [outer, points, inner]. A few columns at a time become rows of
/// their own, whole cache lines of each row, so that nothing is transposed in memory.
struct ColumnTransform {
  static constexpr op_row row{.name = "ColumnTransform",
                              .doc = "Fourier transforms along the middle one of three axes.",
                              .group = family::fft,
                              .operands = column_operands,
                              .attrs = column_attributes,
                              .infer = infer_columns,
                              .cost = 40};
  static constexpr std::int64_t cache_line = 64, bytes_of_row = 256;

  template <class T>
  static auto transform_of(bool inverse) {
    if constexpr (sizeof(T) == sizeof(complex64)) return inverse ? kernels::IFFT_complex64 : kernels::FFT_complex64;
    else return inverse ? kernels::IFFT_complex128 : kernels::FFT_complex128;
  }

  template <class T>
  static void run(const launch_call& c) {
    const shape& dims = c.in[0].dims;
    const std::span<const T> x = elements_in<T>(c, 0);
    const std::span<T> y = elements_out<T>(c);
    if (y.empty()) return;
    const bool inverse = c.call.attr(place_in(column_attributes, "inverse")).as_integer() != 0;
    const double scale = c.call.attr(place_in(column_attributes, "scale")).as_number();
    const std::int64_t points = dims[1], inner = dims[2],
                       together = bytes_of_row / static_cast<std::int64_t>(sizeof(T));
    const std::int64_t blocks = (inner + together - 1) / together;
    kernels::parallel_chunks(static_cast<std::size_t>(dims[0] * blocks), [&](std::size_t task) {
      const std::int64_t outer = static_cast<std::int64_t>(task) / blocks,
                         column = static_cast<std::int64_t>(task) % blocks * together,
                         count = std::min(together, inner - column), first = outer * points * inner + column;
      // Columns that begin a power of two apart would share a set of the first-level cache.
      const std::int64_t apart = kernels::sum_of(points, cache_line / static_cast<std::int64_t>(sizeof(T)));
      kernels::scratch<T> columns(kernels::product_of(count, apart)), bins(kernels::product_of(count, apart));
      for (std::int64_t p = 0; p < points; ++p)
        for (std::int64_t k = 0; k < count; ++k) columns.data()[k * apart + p] = x.data()[first + p * inner + k];
      const kernels::fft_geometry g{.rows = 1, .given = points, .length = points, .scale = scale};
      for (std::int64_t k = 0; k < count; ++k) {
        const void* in[] = {columns.data() + k * apart};
        void* out[] = {bins.data() + k * apart};
        transform_of<T>(inverse)(in, out, &g);
      }
      for (std::int64_t p = 0; p < points; ++p)
        for (std::int64_t k = 0; k < count; ++k) y.data()[first + p * inner + k] = bins.data()[k * apart + p];
    });
  }
  static constexpr auto kernels = on_calls<complex_only>([]<class T>(const launch_call& c) { run<T>(c); });
  static constexpr auto gradient = gradient_of(wrt(keep::nothing, [](const auto& c) {
    return transformed_columns(c.dy(), c.template attr<"inverse">().as_integer() == 0,
                               c.template attr<"scale">().as_number());
  }));
};

tensor transformed_columns(const tensor& x, bool inverse, double scale) {
  return call<ColumnTransform>(x, attr<"inverse">(std::int64_t{inverse}), attr<"scale">(scale));
}

// The transform of an axis that others follow.
tensor transformed_before_last(const tensor& x, int axis, bool inverse, fft_norm norm) {
  std::int64_t outer = 1, inner = 1;
  for (int i = 0; i < axis; ++i) outer *= x.dims()[i];
  for (int i = axis + 1; i < x.rank(); ++i) inner *= x.dims()[i];
  const double n = static_cast<double>(x.dims()[axis]);
  const bool divided = (norm == fft_norm::backward) == inverse;
  const double scale = norm == fft_norm::ortho ? 1 / std::sqrt(n) : divided ? 1 / n : 1;
  return reshape(transformed_columns(reshape(x, {outer, x.dims()[axis], inner}), inverse, scale), x.dims());
}

}  // namespace

// ------------------------------------------------------------------------------------------ one axis

namespace {

using detail::axis_back;
using detail::axis_last;
using detail::last_axis_resized;
using detail::spectral_type;

// Which transform: its operand is complex, real or half of the bins.
enum class transform_kind : std::uint8_t { fft, ifft, rfft, irfft };

tensor as_complex(const tensor& x) {
  if (detail::is_complex(x)) return x;
  return cast(x, spectral_type(x.type()) == dtype::float64 ? dtype::complex128 : dtype::complex64);
}

tensor operand_of(const composed& call, const tensor& x, transform_kind kind) {
  call.numbers("x", x);
  if (kind != transform_kind::rfft) return as_complex(x);
  call.real("x", x);
  return cast(x, spectral_type(x.type()));
}

// The transform of rows that have their dtype.
tensor rows_transformed(const tensor& rows, std::int64_t n, transform_kind kind, fft_norm norm) {
  switch (kind) {
    case transform_kind::fft: return fft(last_axis_resized(rows, n), norm);
    case transform_kind::ifft: return ifft(last_axis_resized(rows, n), norm);
    case transform_kind::rfft: return rfft(rows, n, norm);
    default: return irfft(rows, n, norm);
  }
}

std::int64_t points_of(const composed& call, const tensor& x, int axis, std::optional<std::int64_t> n,
                       transform_kind kind) {
  constexpr std::int64_t most = 1'000'000'000;  // of the ops
  if (n) {
    if (*n < 1 || *n > most) call.refuse("n = " + std::to_string(*n), "1 to 10^9");
    return *n;
  }
  const std::int64_t size = x.dims()[axis];
  if (size == 0) call.refuse(shaped("x", x), "an axis with elements", "or give n");
  return kind != transform_kind::irfft ? size : size == 1 ? 1 : 2 * (size - 1);
}

tensor transformed(const composed& call, const tensor& x, int axis, std::optional<std::int64_t> n, transform_kind kind,
                   fft_norm norm) {
  const std::int64_t points = points_of(call, x, axis, n, kind);
  const bool is_complex = kind == transform_kind::fft || kind == transform_kind::ifft;
  if (is_complex && axis < x.rank() - 1 && points == x.dims()[axis])
    return transformed_before_last(x, axis, kind == transform_kind::ifft, norm);
  return axis_back(rows_transformed(axis_last(x, axis), points, kind, norm), axis);
}

tensor along_axis(const composed& call, const tensor& x, const fft_options& options, transform_kind kind) {
  call.rank("x", x, 1);
  const int axis = call.axis(options.axis.value(), x.rank());
  return transformed(call, operand_of(call, x, kind), axis, options.n, kind, options.norm);
}

// A Hermitian transform goes the other way, so the norms backward and forward are swapped.
fft_options other_way(fft_options options) {
  options.norm = options.norm == fft_norm::backward  ? fft_norm::forward
                 : options.norm == fft_norm::forward ? fft_norm::backward
                                                     : fft_norm::ortho;
  return options;
}

}  // namespace

tensor fft(const tensor& x, const fft_options& options) {
  return along_axis(composed{"fft"}, x, options, transform_kind::fft);
}
tensor ifft(const tensor& x, const fft_options& options) {
  return along_axis(composed{"ifft"}, x, options, transform_kind::ifft);
}
tensor rfft(const tensor& x, const fft_options& options) {
  return along_axis(composed{"rfft"}, x, options, transform_kind::rfft);
}
tensor irfft(const tensor& x, const fft_options& options) {
  return along_axis(composed{"irfft"}, x, options, transform_kind::irfft);
}
tensor hfft(const tensor& x, const fft_options& options) {
  constexpr composed call{"hfft"};
  call.numbers("x", x);
  return along_axis(call, conj(as_complex(x)), other_way(options), transform_kind::irfft);
}
tensor ihfft(const tensor& x, const fft_options& options) {
  return conj(along_axis(composed{"ihfft"}, x, other_way(options), transform_kind::rfft));
}

// ------------------------------------------------------------------------------------------ several axes

namespace {

struct axis_size {
  int axis;
  std::optional<std::int64_t> n;
};

std::vector<axis_size> axes_in_order(const composed& call, const tensor& x, const fftn_options& options, int usual) {
  const std::vector<std::int64_t>& sizes = options.sizes;
  std::vector<std::int64_t> named = options.axes;
  if (named.empty()) {
    const std::int64_t count = !sizes.empty() ? std::ssize(sizes) : usual > 0 ? usual : x.rank();
    for (std::int64_t i = count; i > 0; --i) named.push_back(-i);
  }
  if (!sizes.empty() && sizes.size() != named.size())
    call.refuse(std::to_string(sizes.size()) + " sizes for " + std::to_string(named.size()) + " axes",
                "one size for each axis");
  std::vector<axis_size> all;
  for (std::size_t i = 0; i < named.size(); ++i) {
    const int axis = call.axis(named[i], x.rank());
    for (const axis_size& other : all)
      if (other.axis == axis) call.refuse("axis " + std::to_string(axis) + " twice", "distinct axes");
    all.push_back({axis, sizes.empty() ? std::nullopt : std::optional(sizes[i])});
  }
  return all;
}

// All bins of real numbers from their first n / 2 + 1 along the last of the axes. The others are conjugates of the bins
// at the opposite frequencies of all axes.
tensor with_opposite_bins(const tensor& half, const std::vector<axis_size>& all, std::int64_t n) {
  const auto last = static_cast<std::size_t>(all.back().axis);
  std::vector<std::int64_t> begins(static_cast<std::size_t>(half.rank())), strides(begins.size(), 1),
      ends(half.dims().begin(), half.dims().end());
  begins[last] = (n - 1) / 2, ends[last] = 0, strides[last] = -1;
  tensor rest = strided_slice(half, begins, ends, strides);
  for (const axis_size& each : std::span(all).first(all.size() - 1)) {
    const std::int64_t size = half.dims()[each.axis];
    const auto opposite = [&](std::span<std::int64_t> to) {
      for (std::int64_t i = 0; i < size; ++i) to[static_cast<std::size_t>(i)] = i == 0 ? 0 : size - i;
    };
    rest = gather(rest, tensor::build<std::int64_t>({size}, opposite), each.axis);
  }
  return concat({half, conj(rest)}, all.back().axis);
}

// The real transforms take the last of the axes; rfftn first, irfftn last. Transforms of real numbers compute half of
// their bins.
tensor along_axes(const composed& call, const tensor& x, const fftn_options& options, transform_kind kind,
                  int usual = 0) {
  call.rank("x", x, std::max(usual, 1));
  const std::vector<axis_size> all = axes_in_order(call, x, options, usual);
  const bool to_reals = kind == transform_kind::irfft, half = kind == transform_kind::fft && real_or_bool.has(x.type());
  const bool of_reals = kind == transform_kind::rfft || half;
  tensor y = operand_of(call, x, of_reals ? transform_kind::rfft : kind);
  for (std::size_t i = all.size(); i > 0; --i) points_of(call, x, all[i - 1].axis, all[i - 1].n, kind);
  const std::size_t complex_axes = all.size() - (of_reals || to_reals ? 1 : 0);
  const std::int64_t last = points_of(call, x, all.back().axis, all.back().n, kind);
  if (of_reals) y = transformed(call, y, all.back().axis, all.back().n, transform_kind::rfft, options.norm);
  const bool inverse = to_reals || kind == transform_kind::ifft;
  for (std::size_t i = complex_axes; i > 0; --i)
    y = transformed(call, y, all[i - 1].axis, all[i - 1].n, inverse ? transform_kind::ifft : transform_kind::fft,
                    options.norm);
  if (half) return with_opposite_bins(y, all, last);
  return to_reals ? transformed(call, y, all.back().axis, all.back().n, kind, options.norm) : y;
}

}  // namespace

tensor fftn(const tensor& x, const fftn_options& options) {
  return along_axes(composed{"fftn"}, x, options, transform_kind::fft);
}
tensor ifftn(const tensor& x, const fftn_options& options) {
  return along_axes(composed{"ifftn"}, x, options, transform_kind::ifft);
}
tensor rfftn(const tensor& x, const fftn_options& options) {
  return along_axes(composed{"rfftn"}, x, options, transform_kind::rfft);
}
tensor irfftn(const tensor& x, const fftn_options& options) {
  return along_axes(composed{"irfftn"}, x, options, transform_kind::irfft);
}
tensor fft2(const tensor& x, const fftn_options& options) {
  return along_axes(composed{"fft2"}, x, options, transform_kind::fft, 2);
}
tensor ifft2(const tensor& x, const fftn_options& options) {
  return along_axes(composed{"ifft2"}, x, options, transform_kind::ifft, 2);
}
tensor rfft2(const tensor& x, const fftn_options& options) {
  return along_axes(composed{"rfft2"}, x, options, transform_kind::rfft, 2);
}
tensor irfft2(const tensor& x, const fftn_options& options) {
  return along_axes(composed{"irfft2"}, x, options, transform_kind::irfft, 2);
}

// ------------------------------------------------------------------------------------------ order and frequencies

namespace {

tensor shifted_by_half(const composed& call, const tensor& x, const axes& over, bool back) {
  call.given("x", x);
  const detail::axis_bits named = call.axes_of(over, x.rank());
  std::vector<std::int64_t> shifts, all;
  for (int axis = 0; axis < x.rank(); ++axis) {
    if ((named >> axis & 1) == 0) continue;
    const std::int64_t half = x.dims()[axis] / 2;
    all.push_back(axis);
    shifts.push_back(back ? -half : half);
  }
  return all.empty() ? x : roll(x, shifts, all);
}

tensor frequencies_of(const composed& call, std::int64_t n, double spacing, dtype type, bool half_of_them) {
  if (n < 1) call.refuse("n = " + std::to_string(n), "1 or more");
  if (!(spacing != 0)) call.refuse("spacing " + to_string(attr_value(spacing)), "a number other than 0");
  if (!floating.has(type)) call.refuse("dtype " + std::string(name_of(type)), to_string(floating));
  const double unit = 1 / (static_cast<double>(n) * spacing);
  const auto from_to = [](std::int64_t first, std::int64_t last) {
    return arange(static_cast<double>(first), static_cast<double>(last), 1, dtype::float64);
  };
  const tensor bins = half_of_them ? from_to(0, n / 2 + 1) : concat({from_to(0, (n + 1) / 2), from_to(-(n / 2), 0)}, 0);
  return cast(bins * unit, type);
}

}  // namespace

tensor fftshift(const tensor& x, const axes& over) { return shifted_by_half(composed{"fftshift"}, x, over, false); }
tensor ifftshift(const tensor& x, const axes& over) { return shifted_by_half(composed{"ifftshift"}, x, over, true); }

tensor fftfreq(std::int64_t n, double spacing, dtype type) {
  return frequencies_of(composed{"fftfreq"}, n, spacing, type, false);
}
tensor rfftfreq(std::int64_t n, double spacing, dtype type) {
  return frequencies_of(composed{"rfftfreq"}, n, spacing, type, true);
}

}  // namespace kerngrad
