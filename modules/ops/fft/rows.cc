// SPDX-License-Identifier: Apache-2.0
// Rows of the Fourier transforms.
module;
#include "kernels/common/abi.h"
export module kerngrad:rows_fft;

import :std;
import :core;
import :op;
import :attributes;
import :launch;
import :shapes_fft;
import :rows;

namespace kerngrad::launch {
void fft(const launch_call&);
void ifft(const launch_call&);
void rfft(const launch_call&);
void irfft(const launch_call&);
}  // namespace kerngrad::launch

namespace kerngrad::rows {

inline constexpr operand points_of_fft[] = {{"input", complex_only}};
inline constexpr operand points_of_rfft[] = {{"input", only(dtype::float32) | only(dtype::float64)}};
inline constexpr operand bins_of_irfft[] = {{"input", complex_only}};

consteval op_row fft_row(std::string_view name, std::string_view doc, std::span<const operand> operands,
                         std::span<const attr_spec> attrs, infer_fn infer, launch_fn launch, result after) {
  return {.name = name,
          .doc = doc,
          .group = family::fft,
          .operands = operands,
          .attrs = attrs,
          .types = {lift::none, after},
          .infer = infer,
          .launch = launch,
          .cost = 5};
}

inline constexpr op_row fft_rows[] = {
    fft_row("FFT", "The discrete Fourier transform of each row of the last axis: sums of x[t] exp(-2 pi i k t / n).",
            points_of_fft, attributes::fft, shapes::fft, launch::fft, result::same),
    fft_row("IFFT", "The inverse of FFT: sums of x[k] exp(2 pi i k t / n) / n.", points_of_fft, attributes::fft,
            shapes::fft, launch::ifft, result::same),
    fft_row("RFFT", "FFT of real rows, cut or padded with zeros to fftLength: the bins 0 to fftLength / 2.",
            points_of_rfft, attributes::rfft, shapes::rfft, launch::rfft, result::pair),
    fft_row("IRFFT",
            "The inverse of RFFT; bins that are missing are 0, and the imaginary part of a bin that is its own "
            "conjugate does not count.",
            bins_of_irfft, attributes::irfft, shapes::irfft, launch::irfft, result::part),
};

}  // namespace kerngrad::rows
