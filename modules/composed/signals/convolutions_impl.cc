// SPDX-License-Identifier: Apache-2.0
// Convolutions by Fourier transforms, and other sampling rates.
module;
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>
#include "kernels/common/abi.h"
#include "kernels/common/sizes.h"
module kerngrad;

import :composed_checks;
import :composed_last_axis;

namespace kerngrad {

using detail::composed;
using detail::last_axis_padded;
using detail::last_axis_part;
using detail::last_axis_resized;
using detail::shaped;
using sizes_of = std::vector<std::int64_t>;

// ------------------------------------------------------------------------------------------ convolutions

namespace {

// The least length that is not below n and has no prime factor above 5.
std::int64_t smooth_length(std::int64_t n) {
  for (std::int64_t length = n;; ++length) {
    std::int64_t rest = length;
    for (const std::int64_t p : {2, 3, 5})
      while (rest % p == 0) rest /= p;
    if (rest == 1) return length;
  }
}

// Both operands in one dtype.
void take_operands(const composed& call, tensor& a, tensor& b) {
  call.rank("a", a, 1);
  call.rank("b", b, 1);
  call.real("a", a);
  call.real("b", b);
  if (a.rank() != b.rank()) call.refuse(shaped("a", a) + " and " + shaped("b", b), "equal ranks");
  const dtype type = detail::spectral_type(promote(a.type(), b.type()));
  a = cast(a, type), b = cast(b, type);
}

// The part of a full convolution along an axis that is returned.
struct extent_of_part {
  std::int64_t begin, size;
};
extent_of_part extent_of(convolution_part part, std::int64_t a, std::int64_t b) {
  switch (part) {
    case convolution_part::full: return {0, a + b - 1};
    case convolution_part::same: return {(b - 1) / 2, a};
    default: return {std::min(a, b) - 1, std::max(a, b) - std::min(a, b) + 1};
  }
}

void check_sizes(const composed& call, const tensor& a, const tensor& b, detail::axis_bits along,
                 convolution_part part) {
  bool a_larger = true, b_larger = true;
  for (int axis = 0; axis < a.rank(); ++axis) {
    const std::int64_t size_a = a.dims()[axis], size_b = b.dims()[axis];
    if ((along >> axis & 1) == 0) {
      if (size_a != size_b && size_a != 1 && size_b != 1)
        call.refuse(shaped("a", a) + " and " + shaped("b", b), "shapes that broadcast along the other axes");
      continue;
    }
    if (size_a == 0 || size_b == 0) call.refuse(shaped("a", a) + " and " + shaped("b", b), "axes with elements");
    a_larger = a_larger && size_a >= size_b;
    b_larger = b_larger && size_b >= size_a;
  }
  if (part == convolution_part::valid && !a_larger && !b_larger)
    call.refuse(shaped("a", a) + " and " + shaped("b", b), "one operand that is the larger one along all axes");
}

}  // namespace

tensor fftconvolve(const tensor& a_given, const tensor& b_given, convolution_part part, const axes& along) {
  constexpr composed call{"fftconvolve"};
  tensor a = a_given, b = b_given;
  take_operands(call, a, b);
  const detail::axis_bits named = call.axes_of(along, a.rank());
  check_sizes(call, a, b, named, part);
  fftn_options over;
  sizes_of begin(static_cast<std::size_t>(a.rank())), size(begin.size(), -1);
  for (int axis = 0; axis < a.rank(); ++axis) {
    if ((named >> axis & 1) == 0) continue;
    const std::int64_t size_a = a.dims()[axis], size_b = b.dims()[axis];
    over.axes.push_back(axis);
    over.sizes.push_back(smooth_length(kernels::sum_of(size_a, size_b) - 1));
    const auto [first, count] = extent_of(part, size_a, size_b);
    begin[static_cast<std::size_t>(axis)] = first;
    size[static_cast<std::size_t>(axis)] = count;
  }
  if (over.axes.empty()) return a * b;
  return slice(irfftn(rfftn(a, over) * rfftn(b, over), over), begin, size);
}

namespace {

// Blocks of the longer rows, each with the zeros that a convolution needs, transformed, multiplied and added up.
tensor convolved_in_blocks(const tensor& longer, const tensor& shorter, std::int64_t points) {
  const std::int64_t n = longer.dims()[longer.rank() - 1], m = shorter.dims()[shorter.rank() - 1];
  const std::int64_t step = points - m + 1, blocks = (n - 1) / step + 1;
  sizes_of dims(longer.dims().begin(), longer.dims().end() - 1);
  dims.insert(dims.end(), {blocks, step});
  const tensor rows = reshape(last_axis_resized(longer, kernels::product_of(blocks, step)), shape(dims));
  const tensor bins = rfft(rows, points) * expand_dims(rfft(shorter, points), -2);
  return last_axis_part(overlap_add(irfft(bins, points), step), 0, n + m - 1);
}

}  // namespace

tensor oaconvolve(const tensor& a_given, const tensor& b_given, convolution_part part, axis_index along) {
  constexpr composed call{"oaconvolve"};
  tensor a = a_given, b = b_given;
  take_operands(call, a, b);
  const int axis = call.axis(along.value(), a.rank());
  check_sizes(call, a, b, detail::axis_bits{1} << axis, part);
  const std::int64_t size_a = a.dims()[axis], size_b = b.dims()[axis];
  const std::int64_t least = std::min(size_a, size_b), most = std::max(size_a, size_b);
  // Eight times the shorter one: an eighth of each block overlaps the next one.
  const std::int64_t points = enclosing_power_of_two(std::max<std::int64_t>(8 * least, 64));
  if (points >= most || a.rank() == max_rank) return fftconvolve(a, b, part, axis);
  const tensor rows_a = detail::axis_last(a, axis), rows_b = detail::axis_last(b, axis);
  const tensor y =
      size_a >= size_b ? convolved_in_blocks(rows_a, rows_b, points) : convolved_in_blocks(rows_b, rows_a, points);
  const auto [begin, size] = extent_of(part, size_a, size_b);
  return detail::axis_back(last_axis_part(y, begin, size), axis);
}

// ------------------------------------------------------------------------------------------ sampling rates

namespace {

// h is cut into `up` phases: result up * q + p is a sum over every up-th element of h, from r = p * down % up on, times
// the elements of x before down * q + p * down / up: a convolution with `up` channels and the stride `down`.
tensor filtered_phases(const tensor& h, const tensor& x, std::int64_t up, std::int64_t down) {
  const std::int64_t taps = h.dims()[0], n = x.dims()[x.rank() - 1];
  const std::int64_t each = (taps - 1) / up + 1, last = (up - 1) * down / up, width = each + last;
  const std::int64_t count = (kernels::sum_of(kernels::product_of(n - 1, up), taps) - 1) / down + 1;
  const std::int64_t windows = (count - 1) / up + 1;
  const auto fill = [&](std::span<std::int64_t> indices) {
    for (std::int64_t w = 0; w < width; ++w)
      for (std::int64_t p = 0; p < up; ++p) {
        const std::int64_t j = p * down / up + each - 1 - w, tap = p * down % up + up * j;
        indices[static_cast<std::size_t>(w * up + p)] = j >= 0 && tap < taps ? tap : taps;  // a zero
      }
  };
  const tensor phases = gather(pad(h, {0, 1}), tensor::build<std::int64_t>({width, up}, fill), 0);
  const std::int64_t reached = kernels::sum_of(kernels::product_of(windows - 1, down), width);
  const tensor padded = last_axis_padded(x, each - 1, std::max<std::int64_t>(0, reached - (each - 1) - n));
  const tensor rows = reshape(last_axis_part(padded, 0, reached), {x.size() / n, reached, 1});
  const tensor y = conv1d(rows, expand_dims(phases, 1), {.stride = down});
  sizes_of dims(x.dims().begin(), x.dims().end());
  dims.back() = kernels::product_of(windows, up);
  return last_axis_part(reshape(y, shape(dims)), 0, count);
}

// Positive factors without a common divisor.
void reduce_rates(const composed& call, std::int64_t& up, std::int64_t& down) {
  constexpr std::int64_t most = 1'000'000;
  if (up < 1 || down < 1 || up > most || down > most)
    call.refuse("up " + std::to_string(up) + " and down " + std::to_string(down), "1 to 10^6");
  const std::int64_t common = std::gcd(up, down);
  up /= common, down /= common;
}

}  // namespace

tensor upfirdn(const tensor& h, const tensor& x, std::int64_t up, std::int64_t down, axis_index axis) {
  constexpr composed call{"upfirdn"};
  call.rank("h", h, 1, 1);
  call.rank("x", x, 1, max_rank - 1);
  call.real("h", h);
  call.real("x", x);
  const int at = call.axis(axis.value(), x.rank());
  if (h.size() == 0 || x.dims()[at] == 0)
    call.refuse(shaped("h", h) + " and " + shaped("x", x), "taps and an axis with elements");
  const std::int64_t asked = up;
  reduce_rates(call, up, down);
  const dtype type = detail::spectral_type(promote(h.type(), x.type()));
  // A common divisor of both rates passes over taps.
  const tensor taps = asked == up ? h : strided_slice(h, {0}, {h.size()}, {asked / up});
  return detail::axis_back(filtered_phases(cast(taps, type), detail::axis_last(cast(x, type), at), up, down), at);
}

tensor resample(const tensor& x, std::int64_t count, axis_index axis) {
  constexpr composed call{"resample"};
  call.rank("x", x, 1);
  call.real("x", x);
  const int at = call.axis(axis.value(), x.rank());
  const std::int64_t n = x.dims()[at], shorter = std::min(n, count);
  if (n == 0) call.refuse(shaped("x", x), "an axis with elements");
  if (count < 1 || count > 1'000'000'000) call.refuse("count " + std::to_string(count), "1 to 10^9");
  const tensor rows = detail::axis_last(cast(x, detail::spectral_type(x.type())), at);
  tensor bins = rfft(rows);
  if (shorter % 2 == 0 && n != count) {
    // The bin at half of the lower rate stands for itself and its conjugate in one of the spectra.
    const tensor weights = detail::numbers_of_indices(n / 2 + 1, rows.type(), [&](std::int64_t k) {
      return k != shorter / 2 ? 1 : count < n ? 2 : 0.5;
    });
    bins = complex(real(bins) * weights, imag(bins) * weights);
  }
  return detail::axis_back(irfft(bins, count, fft_norm::forward) * (1 / static_cast<double>(n)), at);
}

tensor resample_poly(const tensor& x, std::int64_t up, std::int64_t down, axis_index axis, const window_kind& window) {
  constexpr composed call{"resample_poly"};
  call.rank("x", x, 1, max_rank - 1);
  call.real("x", x);
  const int at = call.axis(axis.value(), x.rank());
  const std::int64_t n = x.dims()[at];
  if (n == 0) call.refuse(shaped("x", x), "an axis with elements");
  reduce_rates(call, up, down);
  const tensor floats = cast(x, detail::spectral_type(x.type()));
  if (up == 1 && down == 1) return floats;
  const std::int64_t rate = std::max(up, down), half = 10 * rate, before = down - half % down;
  const tensor h = firwin(2 * half + 1, {1 / static_cast<double>(rate)}, {.window = window}) * static_cast<double>(up);
  // Zeros before the taps, so that the middle tap is at an element of the result, and after them for the last element.
  const std::int64_t count = (n * up - 1) / down + 1, removed = (half + before) / down;
  const std::int64_t taps = 2 * half + 1 + before, wanted = (count + removed - 1) * down + 1 - (n - 1) * up;
  const tensor padded = pad(h, {before, std::max<std::int64_t>(0, wanted - taps)});
  const tensor y = filtered_phases(cast(padded, floats.type()), detail::axis_last(floats, at), up, down);
  return detail::axis_back(last_axis_part(y, removed, count), at);
}

}  // namespace kerngrad
