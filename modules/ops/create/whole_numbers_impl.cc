// SPDX-License-Identifier: Apache-2.0
module;
#include <cstdint>
#include "kernels/common/abi.h"
module kerngrad;

namespace kerngrad::detail {

// Products and sums wrap on the way; the elements themselves fit.
tensor whole_numbers(std::int64_t start, std::int64_t stop, std::int64_t step) {
  const auto bits = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  const std::uint64_t span = step > 0 ? bits(stop) - bits(start) : bits(start) - bits(stop);
  const std::uint64_t stride = step > 0 ? bits(step) : -bits(step);
  const bool none = step > 0 ? start >= stop : start <= stop;
  const std::uint64_t count = none || step == 0 ? 0 : (span - 1) / stride + 1;
  const tensor numbers = arange(0.0, static_cast<double>(count), step == 0 ? 0.0 : 1.0, dtype::int64);
  return numbers * int64_number(step) + int64_number(start);
}

}  // namespace kerngrad::detail
