// SPDX-License-Identifier: Apache-2.0
// Windows and frames of signals, and their short-time Fourier transforms.
module;
#include "kernels/common/abi.h"
export module kerngrad:composed_signals;

import :std;
import :core;
import :tensor;

export namespace kerngrad {

/// A window a - b * cos(2 pi i / n) for i from 0 to length - 1. n is the length if that is even, else length - 1:
/// windows of even length are periodic, others symmetric. A window of one element is a + b. Throws for a length below 0
/// and for dtypes that are no floats.
tensor cosine_window(std::int64_t length, double a, double b, dtype type = dtype::float32);
/// Hann's window: cosine_window with a = 0.5 and b = 0.5. Errors are those of cosine_window.
tensor hann_window(std::int64_t length, dtype type = dtype::float32);
/// Hamming's window: cosine_window with a = 0.54 and b = 0.46. Errors are those of cosine_window.
tensor hamming_window(std::int64_t length, dtype type = dtype::float32);

/// Options of frame. With `pad_end` the last frames reach beyond the signal, and `pad_value` fills them.
struct frame_options {
  bool pad_end = false;
  double pad_value = 0;
};
/// Cuts a signal [..., n] into frames [..., count, length] that begin every `step` elements along the last axis.
/// Without `pad_end` all frames are inside the signal. Any dtype. Throws for a length or step below 1, and for a
/// scalar. Gradient: dy added up where frames overlap.
tensor frame(const tensor& signal, std::int64_t length, std::int64_t step, const frame_options& options = {});

/// Adds up frames [..., count, length] that begin every `step` elements. The result is a signal [..., (count - 1) step
/// + length], or one without elements if there are no frames. Any dtype but text. Throws for a step below 1 and rank
/// below 2. Differentiable.
tensor overlap_add(const tensor& frames, std::int64_t step);

/// The smallest power of two that is not below `value`. Throws for a value below 1.
std::int64_t enclosing_power_of_two(std::int64_t value);

/// Options of stft and istft. Transforms have `fft_length` points, by default the smallest power of two that holds a
/// frame. The window, by default Hann's, has one number for each element of a frame. With `centered` the centers of
/// frames are at multiples of the step: zeros extend the signal at both ends, and every element is in a frame.
struct stft_options {
  std::optional<std::int64_t> fft_length{};
  tensor window{};
  bool centered = false;
  std::optional<std::int64_t> length{};  ///< size of the result of istft, which is cut or padded with zeros
};
/// The short-time Fourier transform: the real FFT of each windowed frame. A signal [..., n] gives [..., frames,
/// fft_length / 2 + 1]: complex64 for float32, complex128 for float64. Throws for other dtypes and for windows of
/// another size. Differentiable.
tensor stft(const tensor& signal, std::int64_t frame_length, std::int64_t frame_step, const stft_options& options = {});
/// The inverse of stft with the same options. Adds up windowed frames and divides by the sum of the squared windows.
/// Elements for which that sum is below 1e-10 are not divided: they cannot be recovered. Without `length` the signal
/// ends with the last frame. With `centered` it is recovered up to rounding if the step is at most half a Hann window.
/// complex64 gives float32, complex128 float64. Throws for other dtypes, for bins that do not fit fft_length, and if
/// fft_length is below the frame's length. Differentiable.
tensor istft(const tensor& spectrum, std::int64_t frame_length, std::int64_t frame_step,
             const stft_options& options = {});

}  // namespace kerngrad
