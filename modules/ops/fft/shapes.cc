// SPDX-License-Identifier: Apache-2.0
// Shape rules of the Fourier transforms, of each row of the last axis.
module;
#include "kernels/common/abi.h"
export module kerngrad:shapes_fft;

import :std;
import :core;
import :op;
import :attributes;
import :shapes;

namespace kerngrad::shapes {

/// The size of the axis that is transformed.
constexpr std::int64_t size_of_rows(const inference& call) {
  const shape& x = call.in[0].dims;
  if (x.rank() == 0) call.refuse("a scalar", "rank 1 or more: rows along the last axis");
  return x[x.rank() - 1];
}
/// The operand's shape with rows of another size.
constexpr shape with_rows_of(const inference& call, std::int64_t size) {
  const shape& x = call.in[0].dims;
  std::array<std::int64_t, max_rank> dims{};
  for (int axis = 0; axis < x.rank(); ++axis) dims[static_cast<std::size_t>(axis)] = x[axis];
  dims[static_cast<std::size_t>(x.rank() - 1)] = size;
  return shape(std::span<const std::int64_t>(dims.data(), static_cast<std::size_t>(x.rank())));
}

/// FFT and IFFT: the shape of x. The launcher reads the attribute.
export constexpr void fft(inference& call) {
  size_of_rows(call);
  call.give(call.in[0].dims);
}

/// The number of points of an RFFT transform.
constexpr std::int64_t rfft_length(const inference& call) {
  const std::int64_t asked = call.attr(place_in(attributes::rfft, "fftLength")).as_integer();
  const std::int64_t length = asked > 0 ? asked : size_of_rows(call);
  if (length == 0)
    call.refuse("input of shape " + to_string(call.in[0].dims), "a last axis with elements", "or give fftLength");
  return length;
}
/// RFFT: x with a last axis of half of the points plus one bins.
export constexpr void rfft(inference& call) {
  size_of_rows(call);
  call.give(with_rows_of(call, rfft_length(call) / 2 + 1));
}

/// The number of points of an IRFFT transform.
constexpr std::int64_t irfft_length(const inference& call) {
  const std::int64_t asked = call.attr(place_in(attributes::irfft, "fftLength")).as_integer();
  if (asked > 0) return asked;
  const std::int64_t bins = size_of_rows(call);
  if (bins == 0)
    call.refuse("input of shape " + to_string(call.in[0].dims), "a last axis with elements", "or give fftLength");
  return bins == 1 ? 1 : 2 * (bins - 1);
}
/// IRFFT: x with a last axis of as many points as the attribute states.
export constexpr void irfft(inference& call) {
  size_of_rows(call);
  call.give(with_rows_of(call, irfft_length(call)));
}

}  // namespace kerngrad::shapes
