// SPDX-License-Identifier: Apache-2.0
// Windows and frames of signals.
module;
#include "kernels/common/abi.h"
export module kerngrad:composed_signals;

import :std;
import :core;
import :tensor;

export namespace kerngrad {

/// a - b * cos(2 pi i / n) for i from 0 to length - 1, where n is the length, less 1 for an odd one: the window of an
/// even length is periodic. One element is the middle, a + b.
tensor cosine_window(std::int64_t length, double a, double b, dtype type = dtype::float32);
/// Hann's window: cosine_window with 0.5 and 0.5.
tensor hann_window(std::int64_t length, dtype type = dtype::float32);
/// Hamming's window: cosine_window with 0.54 and 0.46.
tensor hamming_window(std::int64_t length, dtype type = dtype::float32);

/// Options of frame: with `pad_end` the last frames reach beyond the signal and have `pad_value` there.
struct frame_options {
  bool pad_end = false;
  double pad_value = 0;
};
/// The stretches of `length` elements that begin every `step` elements along the last axis: of a signal [..., n] frames
/// [..., count, length]. Without padding all of them lie inside. Any dtype. Gradient: dy added up where frames overlap.
tensor frame(const tensor& signal, std::int64_t length, std::int64_t step, const frame_options& options = {});

/// The least power of two that is not below a number of 1 or more.
std::int64_t enclosing_power_of_two(std::int64_t value);

/// Options of stft. The transforms have `fft_length` points, by default the least power of two that holds a frame; the
/// window, by default Hann's, has one number for each element of a frame.
struct stft_options {
  std::optional<std::int64_t> fft_length{};
  tensor window{};
};
/// The short-time Fourier transform: the real FFT of each windowed frame. Of a signal [..., n], float32, the result is
/// [..., frames, fft_length / 2 + 1], complex64. Differentiable.
tensor stft(const tensor& signal, std::int64_t frame_length, std::int64_t frame_step, const stft_options& options = {});

}  // namespace kerngrad
