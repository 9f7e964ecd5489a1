// SPDX-License-Identifier: Apache-2.0
// Entry points of the discrete Fourier transforms.
#pragma once
#include "kernels/common/lists.h"

namespace kerngrad::kernels {

/// `rows` transforms of `length` points each, at least 1 where there are rows. A row of the operand has `given`
/// elements: those of FFT and IFFT are `length`; RFFT and IRFFT take the first ones that the transform has, and zeros
/// where there are not as many. The result is multiplied by `scale`.
struct fft_geometry {
  std::int64_t rows, given, length;
  double scale;
};

// With w = exp(-2 pi i / length):
//   FFT    in = {x}  out = {y}   y[k] = scale * sum of x[t] w^(k t)
//   IFFT   in = {x}  out = {y}   y[k] = scale * sum of x[t] w^(-k t)
//   RFFT   in = {x}  out = {y}   of real x the bins 0 to length / 2 of FFT; the others are their conjugates
//   IRFFT  in = {y}  out = {x}   IFFT of length / 2 + 1 bins and their conjugates, which is real; imaginary parts of
//                                bin 0, and of bin length / 2 of an even length, do not count
// |error| <= about eps * log2(length) * the root of the sum of |x|^2, scaled. A NaN or an infinity reaches all elements
// of its row. Reference: kernels/fft/reference_fft.cc.
#define KG_FFT_KERNELS(X) \
  X(FFT, complex64)       \
  X(FFT, complex128) X(IFFT, complex64) X(IFFT, complex128) KG_FLOATS(X, RFFT) X(IRFFT, complex64) X(IRFFT, complex128)

KG_DECLARE_KERNELS(fft, KG_FFT_KERNELS)

}  // namespace kerngrad::kernels
