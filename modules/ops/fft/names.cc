// SPDX-License-Identifier: Apache-2.0
// Typed names of the Fourier transforms.
module;
#include "kernels/common/abi.h"
export module kerngrad:ops_fft;

import :std;
import :core;
import :op;
import :table;
import :tensor;
import :engine;
import :call;

export namespace kerngrad {

/// Which transform is divided by the number of its points: the inverse, the forward one, or both by its root. A
/// transform and its inverse of one norm give back what they were given.
enum class fft_norm : std::uint8_t { backward, ortho, forward };

}  // namespace kerngrad

namespace kerngrad::detail {
constexpr std::string_view fft_norm_text(fft_norm norm) {
  return norm == fft_norm::backward ? "backward" : norm == fft_norm::ortho ? "ortho" : "forward";
}
}  // namespace kerngrad::detail

export namespace kerngrad {

/// The discrete Fourier transform of each row of the last axis, y[k] = sum of x[t] exp(-2 pi i k t / n), of any length
/// n: passes of Stockham's over the prime factors 2, 3 and 5, Bluestein's convolution where there are others. x is
/// complex64 or complex128 and has rank 1 or more, or it throws; rows without elements stay as they are. The error is
/// about log2(n) units in the last place of the root of the sum of squares of a row. Gradient: the inverse transform of
/// dy, undivided.
inline tensor fft(const tensor& x, fft_norm norm = fft_norm::backward) {
  return call<"FFT">(x, attr<"norm">(detail::fft_norm_text(norm)));
}
/// The inverse of `fft`, x[t] = sum of y[k] exp(2 pi i k t / n) / n. Gradient: `fft` of dy, divided by n.
inline tensor ifft(const tensor& x, fft_norm norm = fft_norm::backward) {
  return call<"IFFT">(x, attr<"norm">(detail::fft_norm_text(norm)));
}
/// `fft` of real rows, float32 or float64. It gives the bins 0 to length / 2, complex64 or complex128: the others are
/// their conjugates. With a `length` the rows are cut to it, or padded with zeros; 0 stands for the size of the last
/// axis, which must have elements then. Differentiable.
inline tensor rfft(const tensor& x, std::int64_t length = 0, fft_norm norm = fft_norm::backward) {
  return call<"RFFT">(x, attr<"fftLength">(length), attr<"norm">(detail::fft_norm_text(norm)));
}
/// The inverse of `rfft`: real rows of `length` elements, 2 (bins - 1) when it is 0. complex64 bins give float32,
/// complex128 bins float64. Missing bins count as 0. The imaginary parts of bin 0, and of the last bin of an even
/// length, do not count: those bins are their own conjugates. Differentiable.
inline tensor irfft(const tensor& x, std::int64_t length = 0, fft_norm norm = fft_norm::backward) {
  return call<"IRFFT">(x, attr<"fftLength">(length), attr<"norm">(detail::fft_norm_text(norm)));
}

}  // namespace kerngrad
