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

/// The transform that is divided by the number of points n. `backward` divides the inverse by n, `forward` the forward
/// transform, and `ortho` both by sqrt(n). With the same norm, the inverse undoes the transform.
enum class fft_norm : std::uint8_t { backward, ortho, forward };

}  // namespace kerngrad

namespace kerngrad::detail {
constexpr std::string_view fft_norm_text(fft_norm norm) {
  return norm == fft_norm::backward ? "backward" : norm == fft_norm::ortho ? "ortho" : "forward";
}
}  // namespace kerngrad::detail

export namespace kerngrad {

/// The discrete Fourier transform of each row of the last axis, y[k] = sum of x[t] exp(-2 pi i k t / n). n may be any
/// length. Lengths with the prime factors 2, 3 and 5 take passes of Stockham's, other lengths a convolution. It is
/// Rader's for primes such as 257, whose n - 1 has these factors, and Bluestein's for the rest. x is complex64 or
/// complex128 and has rank 1 or more, or it throws. Rows without elements stay as they are. The error is about log2(n)
/// units in the last place of the square root of a row's sum of squares. Gradient: the inverse transform of dy,
/// undivided.
inline tensor fft(const tensor& x, fft_norm norm = fft_norm::backward) {
  return call<"FFT">(x, attr<"norm">(detail::fft_norm_text(norm)));
}
/// The inverse of `fft`, x[t] = sum of y[k] exp(2 pi i k t / n) / n. Dtypes and errors are those of `fft`. Gradient:
/// `fft` of dy, divided by n.
inline tensor ifft(const tensor& x, fft_norm norm = fft_norm::backward) {
  return call<"IFFT">(x, attr<"norm">(detail::fft_norm_text(norm)));
}
/// The discrete Fourier transform of real rows, float32 or float64. Returns the bins 0 to length / 2 as complex64 or
/// complex128; the others are their conjugates. With a `length` the rows are cut to it, or padded with zeros. 0 stands
/// for the size of the last axis; then it throws for an axis without elements. Differentiable.
inline tensor rfft(const tensor& x, std::int64_t length = 0, fft_norm norm = fft_norm::backward) {
  return call<"RFFT">(x, attr<"fftLength">(length), attr<"norm">(detail::fft_norm_text(norm)));
}
/// The inverse of `rfft`: real rows of `length` elements. A length of 0 stands for 2 (bins - 1). complex64 bins give
/// float32, complex128 bins float64. Missing bins count as 0. The imaginary parts of bin 0, and of the last bin of an
/// even length, are ignored: those bins are their own conjugates. Differentiable.
inline tensor irfft(const tensor& x, std::int64_t length = 0, fft_norm norm = fft_norm::backward) {
  return call<"IRFFT">(x, attr<"fftLength">(length), attr<"norm">(detail::fft_norm_text(norm)));
}

}  // namespace kerngrad
