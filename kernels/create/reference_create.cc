// SPDX-License-Identifier: Apache-2.0
// From the definitions, element by element.
#include "kernels/create/reference_create.h"

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace kerngrad::kernels::reference {
namespace {

struct Fill {
  template <dtype K> static void run(void* y, const void* geometry) {
    const auto& g = *static_cast<const fill_geometry*>(geometry);
    constexpr std::size_t size = sizeof(storage_t<K>);
    for (std::int64_t i = 0; i < g.count; ++i)
      std::memcpy(static_cast<char*>(y) + i * static_cast<std::int64_t>(size), g.value, size);
  }
};

// Doubled halves, where i * step overflows.
double on_line(double i, double start, double step, bool wide) {
  if (wide) return (start / 2 + i * (step / 2)) * 2;
  return start + i * step;
}

struct Range {
  template <dtype K> static void run(void* out, const void* geometry) {
    using T = storage_t<K>;
    const auto& g = *static_cast<const range_geometry*>(geometry);
    T* y = static_cast<T*>(out);
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
};

struct LinSpace {
  template <dtype K> static void run(void* out, const void* geometry) {
    using T = storage_t<K>;
    const auto& g = *static_cast<const linspace_geometry*>(geometry);
    T* y = static_cast<T*>(out);
    for (std::int64_t i = 0; i < g.count; ++i) {
      const double steps = static_cast<double>(g.count - 1);
      const double step = i == 0       ? 0.0
                          : is_wide(g) ? (g.stop / 2 - g.start / 2) / steps * 2
                                       : (g.stop - g.start) / steps;
      const double value = on_line(static_cast<double>(i), g.start, step, is_wide(g));
      y[i] = static_cast<T>(i != 0 && i == g.count - 1 ? g.stop : value);
    }
  }
};

}  // namespace

#define KG_CREATE(Name, types) types(KG_BODY, Name)
#define KG_BODY(Name, type)                                                        \
  void Name##_##type(const void* const*, void* const* out, const void* geometry) { \
    Name::run<dtype::type>(out[0], geometry);                                      \
  }
#include "kernels/create/create.inc"
#undef KG_CREATE
#undef KG_BODY

}  // namespace kerngrad::kernels::reference
