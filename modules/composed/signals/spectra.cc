// SPDX-License-Identifier: Apache-2.0
// Fourier, cosine and sine transforms along any axes, as numpy.fft and scipy.fft have them.
module;
#include "kernels/common/abi.h"
export module kerngrad:composed_spectra;

import :std;
import :core;
import :axes;
import :tensor;
import :ops_fft;

export namespace kerngrad {

// ------------------------------------------------------------------------------------------ Fourier transforms

/// Options of fft, ifft, rfft, irfft, hfft and ihfft. A transform has `n` points, by default the size of the axis. A
/// longer axis is cut, a shorter one padded with zeros. `norm` selects the transform that is divided by n.
struct fft_options {
  std::optional<std::int64_t> n{};
  axis_index axis = -1;
  fft_norm norm = fft_norm::backward;
};
/// Options of the transforms along several axes. `sizes` is the number of points for each of `axes`. Without `axes` the
/// last axes are transformed, as many as `sizes` has; without both, all axes. `norm` is as in fft_options. fft2, ifft2,
/// rfft2 and irfft2 transform the last two axes by default.
struct fftn_options {
  std::vector<std::int64_t> sizes{};
  std::vector<std::int64_t> axes{};
  fft_norm norm = fft_norm::backward;
};

/// The discrete Fourier transform along an axis, as numpy.fft.fft. complex128 and float64 give complex128; other
/// numbers give complex64. Throws for n below 1, and for an axis without elements if n is not given. Differentiable.
tensor fft(const tensor& x, const fft_options& options);
/// The inverse discrete Fourier transform along an axis, as numpy.fft.ifft. Dtypes and errors are those of fft.
/// Differentiable.
tensor ifft(const tensor& x, const fft_options& options);
/// The discrete Fourier transform of real numbers along an axis: its bins 0 to n / 2, as numpy.fft.rfft. float64 gives
/// complex128, others complex64. Throws for complex numbers. Other errors are those of fft. Differentiable.
tensor rfft(const tensor& x, const fft_options& options);
/// The inverse of rfft: n real points, 2 (bins - 1) unless n is given. Missing bins count as 0. complex128 and float64
/// give float64, others float32. Errors are those of fft. Differentiable.
tensor irfft(const tensor& x, const fft_options& options);
/// The discrete Fourier transform of a signal with Hermitian symmetry, as numpy.fft.hfft. x has the points 0 to n / 2
/// of the signal; the other points are their conjugates. The result has n real numbers along the axis, by default
/// 2 (size of x's axis - 1). Dtypes and errors are those of irfft. Differentiable.
tensor hfft(const tensor& x, const fft_options& options = {});
/// The inverse of hfft: the points 0 to n / 2 of a signal with these real bins. Dtypes and errors are those of rfft.
/// Differentiable.
tensor ihfft(const tensor& x, const fft_options& options = {});

/// The discrete Fourier transform along several axes, all by default, as numpy.fft.fftn. Dtypes are those of fft.
/// Throws unless there is one size for each axis, and for one axis twice. Differentiable.
tensor fftn(const tensor& x, const fftn_options& options = {});
/// The inverse discrete Fourier transform along several axes, all by default: the inverse of fftn. The rest is as for
/// fftn. Differentiable.
tensor ifftn(const tensor& x, const fftn_options& options = {});
/// The discrete Fourier transform of real numbers along several axes, all by default: rfft along the last of the axes,
/// then fft along the others. Dtypes are those of rfft. Throws for complex numbers; other errors are those of fftn.
/// Differentiable.
tensor rfftn(const tensor& x, const fftn_options& options = {});
/// The inverse of rfftn. The last of the axes gets 2 (bins - 1) points unless `sizes` is given. Dtypes are those of
/// irfft, errors those of fftn. Differentiable.
tensor irfftn(const tensor& x, const fftn_options& options = {});
/// The discrete Fourier transform along two axes: fftn, by default along the last two axes. Dtypes and errors are those
/// of fftn. Differentiable.
tensor fft2(const tensor& x, const fftn_options& options = {});
/// The inverse discrete Fourier transform along two axes: ifftn, by default along the last two axes. Dtypes and errors
/// are those of ifftn. Differentiable.
tensor ifft2(const tensor& x, const fftn_options& options = {});
/// The discrete Fourier transform of real numbers along two axes: rfftn, by default along the last two axes. Dtypes and
/// errors are those of rfftn. Differentiable.
tensor rfft2(const tensor& x, const fftn_options& options = {});
/// The inverse of rfft2: irfftn, by default along the last two axes. Dtypes and errors are those of irfftn.
/// Differentiable.
tensor irfft2(const tensor& x, const fftn_options& options = {});

/// Shifts the zero frequency to the middle: rolls each axis by half of its size, rounded down. Axes are all by default.
/// Any dtype. Differentiable.
tensor fftshift(const tensor& x, const axes& over = all_axes);
/// Shifts the zero frequency from the middle to the first index, which undoes fftshift. Any dtype. Differentiable.
tensor ifftshift(const tensor& x, const axes& over = all_axes);

/// Frequencies of the bins of fft for n points with the distance `spacing`: 0, 1, ..., -2, -1 divided by n * spacing.
/// Throws for n below 1, a spacing of 0 and dtypes that are no floats.
tensor fftfreq(std::int64_t n, double spacing = 1, dtype type = dtype::float32);
/// Frequencies of the bins of rfft for n points with the distance `spacing`: 0 to n / 2 divided by n * spacing. Errors
/// are those of fftfreq.
tensor rfftfreq(std::int64_t n, double spacing = 1, dtype type = dtype::float32);

// ------------------------------------------------------------------------------------------ cosines and sines

/// Options of dct, idct, dst and idst. `type` is 1 to 4; points, axis and norm are as in fft_options.
struct dct_options {
  int type = 2;
  std::optional<std::int64_t> n{};
  axis_index axis = -1;
  fft_norm norm = fft_norm::backward;
};
/// The discrete cosine transform along an axis, as scipy.fft.dct. With N points and the norm backward, type 2 is y[k] =
/// 2 sum x[t] cos(pi k (2 t + 1) / (2 N)). Type 1 has cos(pi k t / (N - 1)). Type 3 has cos(pi (2 k + 1) t / (2 N)).
/// Type 4 has cos(pi (2 k + 1) (2 t + 1) / (4 N)). End terms of types 1 and 3 count half. The norm ortho makes the
/// transform orthogonal. float64 gives float64, other real numbers float32. Throws for complex numbers, other types,
/// and fewer than two points of type 1. Differentiable.
tensor dct(const tensor& x, const dct_options& options = {});
/// The inverse of dct of the same type and norm. Dtypes and errors are those of dct. Differentiable.
tensor idct(const tensor& x, const dct_options& options = {});
/// The discrete sine transform along an axis, as scipy.fft.dst. With N points and the norm backward, type 2 is y[k] = 2
/// sum x[t] sin(pi (k + 1) (2 t + 1) / (2 N)). Type 1 has sin(pi (k + 1) (t + 1) / (N + 1)). Type 3 has sin(pi (2 k +
/// 1) (t + 1) / (2 N)). Type 4 has sin(pi (2 k + 1) (2 t + 1) / (4 N)). The last term of type 3 counts half. Norms,
/// dtypes and errors are those of dct. Differentiable.
tensor dst(const tensor& x, const dct_options& options = {});
/// The inverse of dst of the same type and norm. Dtypes and errors are those of dst. Differentiable.
tensor idst(const tensor& x, const dct_options& options = {});

}  // namespace kerngrad
