// SPDX-License-Identifier: Apache-2.0
// The largest error of a kernel over all floats, or over sampled operands.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>

#include "kernels/common/abi.h"
#include "tools/accuracy/oracle.h"

namespace kgaccuracy {

/// Where a kernel errs most: operands, what it gave, what the exact value is, and their distance in units in the last
/// place. Up to half a unit is not looked into: 0 stands for "rounded to the nearest".
struct finding {
  double error = 0;
  double a = 0, b = 0, got = 0;
  long double wanted = 0;
};

/// How a sweep is done. `progress` is told the part that is finished, from one thread at a time.
struct options {
  std::uint32_t stride = 1;      ///< of the 2^32 floats, every n-th
  std::size_t samples = 150000;  ///< of float64 and of functions of two operands
  int threads = 2;
  std::function<void(double part)> progress{};
};

/// All floats through a float32 kernel. The C library's double precision finds the candidates; MPFR is asked where the
/// error may be the largest so far, within `estimate_margin`. `exact` says that half a unit is too much (Round).
finding sweep_floats(const kerngrad::kernels::entry& kernel, const unary_oracle& oracle, bool exact,
                     const options& how);
/// Sampled and hard points through a float64 kernel, each against MPFR.
finding sample_doubles(const kerngrad::kernels::entry& kernel, const unary_oracle& oracle, const options& how);
/// Sampled pairs through a kernel of two operands, each against MPFR.
finding sample_pairs(const kerngrad::kernels::entry& kernel, const binary_oracle& oracle, const options& how);

}  // namespace kgaccuracy
