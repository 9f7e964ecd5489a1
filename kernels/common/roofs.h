// SPDX-License-Identifier: Apache-2.0
// Loops that do nothing but run into one limit of the machine each, for every target: arithmetic, division and the
// ways to memory. The benchmarks time them to say how far a kernel is from what is possible; the library does not have
// them.
#pragma once
#include <cstddef>
#include <cstdint>

namespace kerngrad::kernels {

/// Elements that a run of the loops below handles at once: sizes are multiples of it, addresses of 64 bytes.
inline constexpr std::size_t roof_block = 1024;

/// Independent chains of fused multiply-adds in registers; returns how many floating-point operations that were, a
/// multiply-add counted as two. `values` are two numbers to compute with, then room for one result.
double roof_fma_float32(std::int64_t rounds, float* values);
double roof_fma_float64(std::int64_t rounds, double* values);

/// Independent chains of quotients and of square roots, which share one unit; return how many those were. values[0] is
/// near 1, at most 20000 rounds.
double roof_divide_float32(std::int64_t rounds, float* values);
double roof_divide_float64(std::int64_t rounds, double* values);
double roof_root_float32(std::int64_t rounds, float* values);
double roof_root_float64(std::int64_t rounds, double* values);

/// Reads x. `sink` has room for a block and takes what keeps the compiler from leaving it out.
void roof_read(const std::uint32_t* x, std::size_t n, std::uint32_t* sink);
/// Writes y; past the caches when `stream` says so.
void roof_write(std::uint32_t* y, std::size_t n, bool stream);
/// y = x; written past the caches when `stream` says so.
void roof_copy(const std::uint32_t* x, std::uint32_t* y, std::size_t n, bool stream);

}  // namespace kerngrad::kernels
