// SPDX-License-Identifier: Apache-2.0
// Windows, as scipy.signal.windows has them.
module;
#include "kernels/common/abi.h"
export module kerngrad:composed_windows;

import :std;
import :core;
import :tensor;

export namespace kerngrad {

/// A window by its name, and its parameters if it has some: `"hann"`, `{"kaiser", 8.6}`.
///
/// | name | parameters |
/// | --- | --- |
/// | boxcar, triang, bartlett, parzen, bohman, cosine, lanczos, barthann | none |
/// | hann, hamming, blackman, nuttall, blackmanharris, flattop | none |
/// | general_hamming | alpha |
/// | kaiser | beta, 0 or more |
/// | gaussian | standard deviation, above 0 |
/// | general_gaussian | shape p and standard deviation, above 0 |
/// | exponential | decay tau, above 0, in elements |
/// | tukey | tapered share, 0 to 1; 0.5 unless given |
/// | chebwin | attenuation of the side lobes in decibels, 45 to 300 |
/// | dpss | half of the bandwidth times the length, above 0; at most half the length |
/// | taylor | side lobes of one level, 1 to 100, and their suppression in decibels; 4 and 30 unless given |
class window_kind {
 public:
  window_kind(const char* name) : name_(name) {}
  window_kind(std::string name) : name_(std::move(name)) {}
  window_kind(std::string name, double parameter) : name_(std::move(name)), parameters_{parameter} {}
  window_kind(std::string name, double first, double second) : name_(std::move(name)), parameters_{first, second} {}
  const std::string& name() const { return name_; }
  std::span<const double> parameters() const { return parameters_; }

 private:
  std::string name_;
  std::vector<double> parameters_;
};

/// A window of `length` elements, as scipy.signal.get_window. By default it is one period of a periodic window, for
/// spectra; if `periodic` is false, it is symmetric, for filters. Computed in double precision. Throws for an unknown
/// name, for parameters that do not fit, for a length below 0 and for dtypes that are no floats.
tensor get_window(const window_kind& kind, std::int64_t length, bool periodic = true, dtype type = dtype::float32);

}  // namespace kerngrad
