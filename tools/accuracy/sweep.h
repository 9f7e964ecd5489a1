// SPDX-License-Identifier: Apache-2.0
// The largest error of a kernel over all floats, or over sampled operands.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "kernels/common/abi.h"
#include "tools/accuracy/oracle.h"

namespace kgaccuracy {

/// Largest error of a kernel: operands, its result, the exact value, and their distance in units in the last place. Up
/// to half a unit is not looked into: 0 stands for "rounded to the nearest".
struct finding {
  double error = 0;
  double a = 0, b = 0, got = 0;
  long double wanted = 0;
};

/// How a sweep is done. `progress` is told the part that is finished, from one thread at a time.
struct options {
  std::uint32_t stride = 1;      ///< of the 2^32 floats, every n-th
  std::size_t samples = 150000;  ///< of float64, of functions of two operands and of those without an estimate
  int threads = 2;
  std::function<void(double part)> progress{};
};

/// A function of one or two operands, on arrays of `n` elements.
template <class T>
using on_elements = std::function<void(const T* x, T* y, std::size_t n)>;
template <class T>
using on_pairs = std::function<void(const T* a, const T* b, T* y, std::size_t n)>;
/// Expected values: an estimate in double precision, right to `estimate_margin`, and the value rounded to 64 bits.
/// Operands that `covers` leaves out are not measured.
struct wanted_of_one {
  std::function<double(double x)> estimate;
  std::function<long double(double x)> exact;
  std::function<bool(double x)> covers{};
};
using wanted_of_two = std::function<long double(double a, double b)>;

/// All floats through a function. The estimate finds the candidates; MPFR is asked where the error may be the largest
/// so far, within `estimate_margin`. `exact` says that half a unit is too much (Round).
finding sweep_floats(const on_elements<float>& f, const wanted_of_one& wanted, bool exact, const options& how);
/// The largest errors of 500 floats in each of 400 equal parts of [low, high], each against MPFR: (middle, error).
std::vector<std::pair<double, double>> error_curve(const on_elements<float>& f, const wanted_of_one& wanted, double low,
                                                   double high);
/// Sampled and hard points through a function, each against MPFR.
template <class T>
finding sample(const on_elements<T>& f, const wanted_of_one& wanted, const options& how);
/// Pairs through a function of two operands, each against MPFR. If the exact value is NaN, nothing is wanted if
/// `where_defined` says so.
template <class T>
finding sample_pairs(const on_pairs<T>& f, const pairs<T>& at, const wanted_of_two& wanted, bool where_defined,
                     const options& how);

}  // namespace kgaccuracy
