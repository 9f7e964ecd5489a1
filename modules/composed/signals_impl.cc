// SPDX-License-Identifier: Apache-2.0
module;
#include <algorithm>
#include <bit>
#include <cmath>
#include <numbers>
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
using detail::shaped;

namespace {

tensor window_of(const composed& call, std::int64_t length, double a, double b, dtype type) {
  if (length < 0) call.refuse("length " + std::to_string(length), "0 or more");
  if (!floating.has(type)) call.refuse("dtype " + std::string(name_of(type)), to_string(floating));
  if (length == 1) return full({1}, a + b, type);
  const double turn = 2 * std::numbers::pi / static_cast<double>(length - length % 2);
  const auto fill = [&](std::span<double> elements) {
    for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = a - b * std::cos(turn * static_cast<double>(i));
  };
  return cast(tensor::build<double>({length}, fill), type);
}

}  // namespace

tensor cosine_window(std::int64_t length, double a, double b, dtype type) {
  return window_of(composed{"cosine_window"}, length, a, b, type);
}
tensor hann_window(std::int64_t length, dtype type) {
  return window_of(composed{"hann_window"}, length, 0.5, 0.5, type);
}
tensor hamming_window(std::int64_t length, dtype type) {
  return window_of(composed{"hamming_window"}, length, 0.54, 0.46, type);
}

namespace {

// Frames are rows of `unit` elements, which begin at multiples of `unit` in the signal, so that whole rows are copied.
tensor frames_of(const tensor& signal, std::int64_t count, std::int64_t length, std::int64_t step) {
  const std::int64_t unit = count > 0 ? std::gcd(length, step) : 1;
  const std::int64_t size = signal.dims()[signal.rank() - 1] / unit * unit;
  std::vector<std::int64_t> dims(signal.dims().begin(), signal.dims().end() - 1);
  dims.insert(dims.end(), {size / unit, unit});
  const tensor rows = reshape(detail::last_axis_resized(signal, size), shape(dims));
  const tensor first = arange(0, static_cast<double>(count), 1, dtype::int64) * (step / unit);
  const tensor indices = expand_dims(first, 1) + arange(0, static_cast<double>(length / unit), 1, dtype::int64);
  dims.end()[-2] = count, dims.end()[-1] = length;
  return reshape(gather(rows, reshape(indices, {indices.size()}), -2), shape(dims));
}

}  // namespace

tensor frame(const tensor& signal, std::int64_t length, std::int64_t step, const frame_options& options) {
  constexpr composed call{"frame"};
  call.rank("signal", signal, 1, max_rank - 1);
  if (length < 1 || step < 1)
    call.refuse("length " + std::to_string(length) + " and step " + std::to_string(step), "1 or more");
  const std::int64_t size = signal.dims()[signal.rank() - 1];
  std::int64_t count = size < length ? 0 : (size - length) / step + 1;
  if (options.pad_end) count = size ? (size - 1) / step + 1 : 0;
  tensor whole = signal;
  const std::int64_t end = count ? kernels::sum_of((count - 1) * step, length) : 0;
  if (end > size) {
    std::vector<std::int64_t> sides(kernels::extent(signal.rank(), 2) - 1);
    sides.push_back(end - size);
    whole = pad(signal, sides, options.pad_value);
  }
  return frames_of(whole, count, length, step);
}

// Frames are cut into parts of `step` elements. Part j of frame i belongs to part i + j of the signal: rows of parts,
// of which each is one longer than the next one takes, are shifted against each other, and summed.
tensor overlap_add(const tensor& frames, std::int64_t step) {
  constexpr composed call{"overlap_add"};
  call.rank("frames", frames, 2, max_rank - 1);
  call.numbers("frames", frames);
  if (step < 1) call.refuse("step " + std::to_string(step), "1 or more");
  const std::int64_t count = frames.dims()[frames.rank() - 2], length = frames.dims()[frames.rank() - 1];
  std::vector<std::int64_t> dims(frames.dims().begin(), frames.dims().end() - 2);
  if (count == 0 || length == 0) {
    dims.push_back(0);
    return zeros(shape(dims), frames.type());
  }
  const std::int64_t parts = (length - 1) / step + 1,
                     size = kernels::sum_of(kernels::product_of(count - 1, step), length);
  const auto shaped_as = [&](const tensor& x, std::initializer_list<std::int64_t> last) {
    std::vector<std::int64_t> all = dims;
    all.insert(all.end(), last);
    return reshape(x, shape(all));
  };
  const tensor cut = detail::last_axis_resized(frames, kernels::product_of(parts, step));
  const tensor by_part = swapaxes(shaped_as(cut, {count, parts, step}), -3, -2);
  // `parts` zeros after each row, of which the last one is dropped with the end of all rows.
  const tensor flat = shaped_as(by_part, {parts, count * step});
  const tensor rows =
      shaped_as(detail::last_axis_padded(flat, 0, kernels::product_of(parts, step)), {parts * (count + parts) * step});
  const tensor skewed = detail::last_axis_part(rows, 0, parts * (count + parts - 1) * step);
  return detail::last_axis_part(sum(shaped_as(skewed, {parts, (count + parts - 1) * step}), -2), 0, size);
}

std::int64_t enclosing_power_of_two(std::int64_t value) {
  constexpr composed call{"enclosing_power_of_two"};
  if (value < 1 || value > std::int64_t{1} << 62) call.refuse(std::to_string(value), "1 to 2^62");
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(value)));
}

namespace {

// The layout that stft and istft share.
struct stft_plan {
  std::int64_t points, margin;  // margin: elements in front of a signal with centered frames
  tensor window;
};
stft_plan plan_of(const composed& call, std::int64_t frame_length, std::int64_t frame_step, const stft_options& options,
                  dtype type) {
  if (frame_length < 1 || frame_step < 1)
    call.refuse("frames of " + std::to_string(frame_length) + " every " + std::to_string(frame_step) + " elements",
                "1 or more");
  const std::int64_t points = options.fft_length.value_or(enclosing_power_of_two(frame_length));
  if (points < 1) call.refuse("fft_length " + std::to_string(points), "1 or more");
  const tensor window = options.window.defined() ? options.window : hann_window(frame_length, type);
  if (!(window.dims() == shape{frame_length}))
    call.refuse(shaped("window", window), "a number for each of " + std::to_string(frame_length) + " elements");
  return {points, options.centered ? frame_length / 2 : 0, cast(window, type)};
}

}  // namespace

tensor stft(const tensor& signal, std::int64_t frame_length, std::int64_t frame_step, const stft_options& options) {
  constexpr composed call{"stft"};
  call.rank("signal", signal, 1);
  if (!wide_floats.has(signal.type()))
    call.refuse("operand signal of dtype " + std::string(name_of(signal.type())), to_string(wide_floats), "cast it");
  const stft_plan plan = plan_of(call, frame_length, frame_step, options, signal.type());
  tensor x = signal;
  if (options.centered) {
    const std::int64_t size = kernels::sum_of(signal.dims()[signal.rank() - 1], 2 * plan.margin);
    const std::int64_t beyond =
        size < frame_length ? frame_length - size : (frame_step - (size - frame_length) % frame_step) % frame_step;
    x = detail::last_axis_padded(signal, plan.margin, plan.margin + beyond);
  }
  return rfft(frame(x, frame_length, frame_step) * plan.window, plan.points);
}

tensor istft(const tensor& spectrum, std::int64_t frame_length, std::int64_t frame_step, const stft_options& options) {
  constexpr composed call{"istft"};
  call.rank("spectrum", spectrum, 2, max_rank - 1);
  if (!detail::is_complex(spectrum))
    call.refuse("operand spectrum of dtype " + std::string(name_of(spectrum.type())), "complex64 or complex128");
  const stft_plan plan = plan_of(call, frame_length, frame_step, options, detail::spectral_type(spectrum.type()));
  if (plan.points < frame_length)
    call.refuse("fft_length " + std::to_string(plan.points), std::to_string(frame_length) + " or more, as frames have");
  const std::int64_t count = spectrum.dims()[spectrum.rank() - 2], bins = spectrum.dims()[spectrum.rank() - 1];
  if (bins != plan.points / 2 + 1)
    call.refuse(shaped("spectrum", spectrum),
                std::to_string(plan.points / 2 + 1) + " bins, for fft_length " + std::to_string(plan.points));
  const std::int64_t most = std::int64_t{1} << 40;
  if (options.length && (*options.length < 0 || *options.length > most))
    call.refuse("length " + std::to_string(*options.length), "0 to 2^40");
  const tensor frames = detail::last_axis_resized(irfft(spectrum, plan.points), frame_length) * plan.window;
  const tensor weights = broadcast_to(square(plan.window), {count, frame_length});
  const tensor total = overlap_add(weights, frame_step);
  const tensor whole = overlap_add(frames, frame_step) / where(total < 1e-10, ones_like(total), total);
  const std::int64_t size = whole.dims()[whole.rank() - 1];
  if (options.length) {
    const std::int64_t there = std::max<std::int64_t>(0, size - plan.margin);
    const tensor rest = detail::last_axis_part(whole, size - there, there);
    return detail::last_axis_resized(rest, *options.length);
  }
  return detail::last_axis_part(whole, std::min(plan.margin, size), std::max<std::int64_t>(0, size - 2 * plan.margin));
}

}  // namespace kerngrad
