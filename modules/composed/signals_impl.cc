// SPDX-License-Identifier: Apache-2.0
module;
#include <bit>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>
#include "kernels/common/abi.h"
#include "kernels/common/sizes.h"
module kerngrad;

import :composed_checks;

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
  const tensor first = arange(0, static_cast<double>(count), 1, dtype::int64) * step;
  const tensor places = expand_dims(first, 1) + arange(0, static_cast<double>(length), 1, dtype::int64);
  return gather(whole, places, -1);
}

std::int64_t enclosing_power_of_two(std::int64_t value) {
  constexpr composed call{"enclosing_power_of_two"};
  if (value < 1 || value > std::int64_t{1} << 62) call.refuse(std::to_string(value), "1 to 2^62");
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(value)));
}

tensor stft(const tensor& signal, std::int64_t frame_length, std::int64_t frame_step, const stft_options& options) {
  constexpr composed call{"stft"};
  call.rank("signal", signal, 1);
  if (signal.type() != dtype::float32)
    call.refuse("operand signal of dtype " + std::string(name_of(signal.type())), "float32", "cast it");
  if (frame_length < 1) call.refuse("frames of " + std::to_string(frame_length), "1 or more elements");
  const std::int64_t length = options.fft_length.value_or(enclosing_power_of_two(frame_length));
  if (length < 1) call.refuse("fft_length " + std::to_string(length), "1 or more");
  const tensor window = options.window.defined() ? options.window : hann_window(frame_length);
  if (!(window.dims() == shape{frame_length}))
    call.refuse(shaped("window", window), "a number for each of " + std::to_string(frame_length) + " elements");
  return rfft(frame(signal, frame_length, frame_step) * window, length);
}

}  // namespace kerngrad
