// SPDX-License-Identifier: Apache-2.0
// Power spectra of signals, as scipy.signal estimates them.
module;
#include "kernels/common/abi.h"
export module kerngrad:composed_estimates;

import :std;
import :core;
import :axes;
import :tensor;
import :composed_windows;

export namespace kerngrad {

/// The unit of a power spectrum: power per unit of frequency (`density`), or the power of a wave at a bin (`spectrum`).
enum class spectrum_scaling : std::uint8_t { density, spectrum };

/// Options of welch, csd, coherence and spectrogram. Segments have `segment` elements, or all of a shorter signal.
/// Neighboring segments share `overlap` elements: by default half of them, or an eighth for spectrogram. With `detrend`
/// the mean of each segment is subtracted. The window is by default Hann's, for spectrogram {"tukey", 0.25}. Transforms
/// have `n` points, by default as many as a segment and never fewer. `fs` is the sampling rate, above 0.
struct spectrum_options {
  double fs = 1;
  std::optional<window_kind> window{};
  std::int64_t segment = 256;
  std::optional<std::int64_t> overlap{};
  std::optional<std::int64_t> n{};
  bool detrend = true;
  spectrum_scaling scaling = spectrum_scaling::density;
  axis_index axis = -1;
};
/// Frequencies in the unit of the sampling rate `fs`, and the power at each of them.
struct power_spectrum {
  tensor frequencies, power;
};
/// Frequencies in the unit of the sampling rate `fs`, the times of the segments' centers, and the power at each
/// frequency and time.
struct power_over_time {
  tensor frequencies, times, power;
};
/// The mean of the one-sided power spectra of overlapping segments along an axis (Welch 1967), as scipy.signal.welch.
/// In the result the axis has the n / 2 + 1 frequencies. float64 gives float64, other real numbers float32. Throws for
/// complex numbers, a signal without elements, and options that do not fit. The power is differentiable.
power_spectrum welch(const tensor& x, const spectrum_options& options = {});
/// The mean cross power spectrum of two signals, conj(X) Y for their bins X and Y, as scipy.signal.csd. The signals
/// have one shape, or it throws. Options, axis and other errors are those of welch. The power is complex64, or
/// complex128 if an operand is float64. Differentiable in both signals.
power_spectrum csd(const tensor& x, const tensor& y, const spectrum_options& options = {});
/// The coherence |csd(x, y)|^2 / (welch(x) welch(y)) of two signals, 0 to 1, as scipy.signal.coherence. It is the
/// member `power` of the result. NaN at a frequency where a signal has no power. Dtypes and errors are those of welch,
/// gradients those of csd.
power_spectrum coherence(const tensor& x, const tensor& y, const spectrum_options& options = {});
/// The one-sided power spectra of overlapping segments, as scipy.signal.spectrogram. In the result the axis has the
/// frequencies, and a new last axis the times. Dtypes and errors are those of welch. The power is differentiable.
power_over_time spectrogram(const tensor& x, const spectrum_options& options = {});

}  // namespace kerngrad
