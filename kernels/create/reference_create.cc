// SPDX-License-Identifier: Apache-2.0
// From the definitions, element by element.
#include "kernels/create/create.h"

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace kerngrad::kernels::reference {
namespace {

template <dtype Type>
void Fill(const fill_geometry& g, char* y) {
  constexpr std::size_t size = sizeof(storage_t<Type>);
  for (std::int64_t i = 0; i < g.count; ++i) std::memcpy(y + i * static_cast<std::int64_t>(size), g.value, size);
}

// Doubled halves, where i * step overflows.
double on_line(double i, double start, double step, bool wide) {
  if (wide) return (start / 2 + i * (step / 2)) * 2;
  return start + i * step;
}

template <dtype Type, class T = storage_t<Type>>
void Range(const range_geometry& g, T* y) {
  for (std::int64_t i = 0; i < g.count; ++i) {
    if constexpr (std::is_floating_point_v<T>) {
      y[i] = static_cast<T>(on_line(static_cast<double>(i), g.start, g.step, is_wide(g)));
    } else {
      const auto start = static_cast<std::uint64_t>(static_cast<std::int64_t>(g.start));
      const auto step = static_cast<std::uint64_t>(static_cast<std::int64_t>(g.step));
      y[i] = static_cast<T>(start + static_cast<std::uint64_t>(i) * step);
    }
  }
}

template <dtype Type, class T = storage_t<Type>>
void LinSpace(const linspace_geometry& g, T* y) {
  for (std::int64_t i = 0; i < g.count; ++i) {
    const double steps = static_cast<double>(g.count - 1);
    const double step = i == 0 ? 0.0 : is_wide(g) ? (g.stop / 2 - g.start / 2) / steps * 2 : (g.stop - g.start) / steps;
    const double value = on_line(static_cast<double>(i), g.start, step, is_wide(g));
    y[i] = static_cast<T>(i != 0 && i == g.count - 1 ? g.stop : value);
  }
}

}  // namespace

KG_DEFINE_PLAIN_KERNELS(KG_CREATE_KERNELS)

}  // namespace kerngrad::kernels::reference
