// SPDX-License-Identifier: Apache-2.0
// Windows and frames of signals, and their short-time Fourier transforms.
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

/// Adds up frames [..., count, length] that begin every `step` elements: a signal [..., (count - 1) step + length], or
/// of no elements where there are no frames. Any dtype with sums. Throws for a step below 1 and rank below 2.
/// Differentiable.
tensor overlap_add(const tensor& frames, std::int64_t step);

/// The least power of two that is not below a number of 1 or more.
std::int64_t enclosing_power_of_two(std::int64_t value);

/// Options of stft and istft. The transforms have `fft_length` points, by default the least power of two that holds a
/// frame. The window, by default Hann's, has one number for each element of a frame. The middles of `centered` frames
/// are at multiples of the step: zeros extend the signal at both ends, and every element is inside of a frame.
struct stft_options {
  std::optional<std::int64_t> fft_length{};
  tensor window{};
  bool centered = false;
  std::optional<std::int64_t> length{};  ///< of istft: elements of the signal, which is cut or padded with zeros
};
/// The short-time Fourier transform: the real FFT of each windowed frame. A signal [..., n] gives
/// [..., frames, fft_length / 2 + 1]: complex64 for float32, complex128 for float64. Other dtypes throw, and so do
/// windows of another size. Differentiable.
tensor stft(const tensor& signal, std::int64_t frame_length, std::int64_t frame_step, const stft_options& options = {});
/// The inverse of stft with the same options: windowed frames are added up and divided by the sum of the squared
/// windows. If that is below 1e-10, nothing is divided: the signal is lost there. The signal without `length` ends
/// with the last frame. With `centered` it comes back up to rounding where the step is at most half a Hann window.
/// complex64 gives float32, complex128 float64. Throws for other dtypes, for bins that do not fit fft_length, and for
/// an fft_length below the frame's. Differentiable.
tensor istft(const tensor& spectrum, std::int64_t frame_length, std::int64_t frame_step,
             const stft_options& options = {});

}  // namespace kerngrad
