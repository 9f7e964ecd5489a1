// SPDX-License-Identifier: Apache-2.0
// Convolutions, linear filters and their design, and other sampling rates, as scipy.signal has them.
module;
#include "kernels/common/abi.h"
export module kerngrad:composed_filters;

import :std;
import :core;
import :axes;
import :tensor;
import :composed_windows;

export namespace kerngrad {

// ------------------------------------------------------------------------------------------ convolutions

/// The part of a convolution to return. `full` is all of it, `same` its middle with the size of the first operand, and
/// `valid` the elements that need no zeros beyond the ends.
enum class convolution_part : std::uint8_t { full, same, valid };

/// The convolution of two tensors of one rank along axes, all by default, computed by products of Fourier transforms,
/// as scipy.signal.fftconvolve. Other axes broadcast. float64 gives float64, other real numbers float32. For n elements
/// the error is about log2(n) units in the last place of the largest result. Throws for complex numbers, for different
/// ranks and for an axis without elements. Throws for `valid` if neither operand is the larger one along all axes.
/// Differentiable.
tensor fftconvolve(const tensor& a, const tensor& b, convolution_part part = convolution_part::full,
                   const axes& along = all_axes);
/// The convolution along one axis, computed in blocks, as scipy.signal.oaconvolve. It is faster than fftconvolve if one
/// operand is far longer than the other. The rest is as for `fftconvolve`. Differentiable.
tensor oaconvolve(const tensor& a, const tensor& b, convolution_part part = convolution_part::full,
                  axis_index along = -1);

// ------------------------------------------------------------------------------------------ linear filters

/// Options of lfilter and sosfilt. `initial` is the state of the filter in the transposed direct form II, zeros by
/// default. For lfilter it has x's shape with an axis of size max(nb, na) - 1, for nb and na coefficients. For sosfilt
/// that axis has 2 elements, and an axis of the sections comes first.
struct filter_options {
  axis_index axis = -1;
  tensor initial{};
};
/// Filters along an axis, as scipy.signal.lfilter: a[0] y[t] = sum of b[k] x[t - k] - sum over k > 0 of a[k] y[t - k].
/// Operands are promoted to float32 or float64; sums are computed in double precision. Throws unless the coefficients
/// are vectors with elements. If a[0] is 0, the results are not finite. Differentiable in all operands.
tensor lfilter(const tensor& b, const tensor& a, const tensor& x, const filter_options& options = {});
/// Filters along an axis by second-order sections, one after the other, as scipy.signal.sosfilt. Each row of `sos`
/// [sections, 6] has the coefficients b and a of a section. Dtypes are those of lfilter. Throws for sections of another
/// shape. Differentiable in all operands.
tensor sosfilt(const tensor& sos, const tensor& x, const filter_options& options = {});

/// The result of lfilter_with_state and sosfilt_with_state: the filtered signal, and the final state. Pass the state as
/// `initial` to filter the next part of the signal; it has the shape of `initial`.
struct filtered_signal {
  tensor y, state;
};
/// Filters a part of a longer signal, as scipy.signal.lfilter with `zi`, which returns `zf`. Operands, errors and
/// gradients are those of lfilter; both results are differentiable.
filtered_signal lfilter_with_state(const tensor& b, const tensor& a, const tensor& x,
                                   const filter_options& options = {});
/// Filters a part of a longer signal by second-order sections. The state has an axis of the sections before those of x.
/// The rest is as for `sosfilt`; both results are differentiable.
filtered_signal sosfilt_with_state(const tensor& sos, const tensor& x, const filter_options& options = {});

/// Options of filtfilt and sosfiltfilt. The signal is extended at both ends by `padding` elements, which are odd
/// reflections. By default the padding is three times the number of coefficients. As in SciPy, sosfiltfilt counts the
/// coefficients of the whole filter.
struct filtfilt_options {
  axis_index axis = -1;
  std::optional<std::int64_t> padding{};
};
/// Filters forward and backward along an axis, so that no phase shifts, as scipy.signal.filtfilt. Throws unless the
/// signal is longer than the padding. Dtypes are those of lfilter. Differentiable in x.
tensor filtfilt(const tensor& b, const tensor& a, const tensor& x, const filtfilt_options& options = {});
/// Filters forward and backward by second-order sections, as scipy.signal.sosfiltfilt. The rest is as for `filtfilt`.
/// Differentiable in x.
tensor sosfiltfilt(const tensor& sos, const tensor& x, const filtfilt_options& options = {});

// ------------------------------------------------------------------------------------------ filter design

/// The frequencies that a filter passes.
enum class filter_band : std::uint8_t { lowpass, highpass, bandpass, bandstop };

/// Options of firwin. Frequencies have the unit of the sampling rate `fs`. With the default of 2, a frequency of 1 is
/// half of the sampling rate.
struct firwin_options {
  filter_band band = filter_band::lowpass;
  window_kind window = "hamming";
  bool scale = true;  ///< scales to gain 1 in the middle of the first band that passes
  double fs = 2;
};
/// Coefficients of a linear-phase filter by the window method, float64 [taps], as scipy.signal.firwin. lowpass and
/// highpass have one cutoff, bandpass and bandstop two. Throws for another number of cutoffs, and unless they increase
/// between 0 and fs / 2. Throws for an even number of taps if the filter passes fs / 2.
tensor firwin(std::int64_t taps, std::span<const double> cutoffs, const firwin_options& options = {});
inline tensor firwin(std::int64_t taps, std::initializer_list<double> cutoffs, const firwin_options& options = {}) {
  return firwin(taps, std::span(cutoffs.begin(), cutoffs.size()), options);
}
/// Second-order sections of a digital Butterworth filter, float64 [sections, 6], as scipy.signal.butter with
/// output="sos". bandpass and bandstop have twice the order. Throws for an order outside of 1 to 100. Cutoffs and their
/// errors are those of firwin.
tensor butter(int order, std::span<const double> cutoffs, filter_band band = filter_band::lowpass, double fs = 2);
inline tensor butter(int order, std::initializer_list<double> cutoffs, filter_band band = filter_band::lowpass,
                     double fs = 2) {
  return butter(order, std::span(cutoffs.begin(), cutoffs.size()), band, fs);
}

// ------------------------------------------------------------------------------------------ sampling rates

/// Upsamples, filters and downsamples along an axis, as scipy.signal.upfirdn. It puts `up` - 1 zeros after each element
/// of x, filters with h, and keeps every `down`-th element. Dtypes are those of lfilter. Throws for up or down below 1,
/// and unless h is a vector with elements. Differentiable in h and x.
tensor upfirdn(const tensor& h, const tensor& x, std::int64_t up = 1, std::int64_t down = 1, axis_index axis = -1);
/// Resamples x to `count` elements along an axis, as scipy.signal.resample. The result is the periodic signal with the
/// same spectrum, cut or padded. float64 gives float64, other real numbers float32. Throws for complex numbers, for a
/// count below 1 and for an axis without elements. Differentiable.
tensor resample(const tensor& x, std::int64_t count, axis_index axis = -1);
/// Resamples x at up / down of its sampling rate by a zero-phase filter, as scipy.signal.resample_poly: n elements
/// become ceil(n up / down). `window` is that of the filter, which has 20 max(up, down) + 1 taps. float64 gives
/// float64, other real numbers float32. Throws for complex numbers, for up or down below 1 and for an axis without
/// elements. Differentiable.
tensor resample_poly(const tensor& x, std::int64_t up, std::int64_t down, axis_index axis = -1,
                     const window_kind& window = {"kaiser", 5.0});

}  // namespace kerngrad
