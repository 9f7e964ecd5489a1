// SPDX-License-Identifier: Apache-2.0
// Loops over std::complex, compiled with -O3 for the machine that they run on.
#pragma once
#include <complex>
#include <cstdint>

namespace kgbench {

void multiply_by_hand(const std::complex<float>* a, const std::complex<float>* b, std::complex<float>* y,
                      std::int64_t n);
void multiply_by_hand(const std::complex<double>* a, const std::complex<double>* b, std::complex<double>* y,
                      std::int64_t n);
void exp_by_hand(const std::complex<float>* x, std::complex<float>* y, std::int64_t n);
void exp_by_hand(const std::complex<double>* x, std::complex<double>* y, std::int64_t n);
void log_by_hand(const std::complex<float>* x, std::complex<float>* y, std::int64_t n);
void log_by_hand(const std::complex<double>* x, std::complex<double>* y, std::int64_t n);
void tanh_by_hand(const std::complex<float>* x, std::complex<float>* y, std::int64_t n);
void tanh_by_hand(const std::complex<double>* x, std::complex<double>* y, std::int64_t n);
/// Square matrices. The innermost loop goes along rows.
void matmul_by_hand(const std::complex<float>* a, const std::complex<float>* b, std::complex<float>* c, std::int64_t n);
void matmul_by_hand(const std::complex<double>* a, const std::complex<double>* b, std::complex<double>* c,
                    std::int64_t n);

}  // namespace kgbench
