// SPDX-License-Identifier: Apache-2.0
// Random sweeps. Include before any import.
#pragma once
#include <cstdint>
#include <iostream>
#include <random>

#include "tests/support/full.h"

namespace kgtest {

/// Seeds from `first` on.
struct sweep {
  std::uint64_t first = 0;
  std::int64_t count = 0;
};

/// The same seeds in each run of a sample, others in each run of a whole sweep. KERNGRAD_SEED says where to begin, and
/// the variable `name` how many there are.
inline sweep wanted_sweep(const char* name, std::int64_t sample, std::int64_t whole) {
  const auto number = [](const char* variable, std::int64_t fallback) {
    const char* const text = std::getenv(variable);
    return text ? std::atoll(text) : fallback;
  };
  const std::int64_t drawn = full() ? static_cast<std::int64_t>(std::random_device()()) : 1;
  const sweep all{static_cast<std::uint64_t>(number("KERNGRAD_SEED", drawn)), number(name, full() ? whole : sample)};
  std::cout << "KERNGRAD_SEED=" << all.first << " " << name << "=" << all.count << "\n";
  return all;
}

}  // namespace kgtest
