// SPDX-License-Identifier: Apache-2.0
// From the definitions, one element after the other: float32 in double, float64 in long double, rounded once;
// integers modulo their width, sums of bytes modulo 2^64.
#include "kernels/reduce/reference_reduce.h"

#include <cstdint>
#include <limits>
#include <type_traits>

namespace kerngrad::kernels::reference {
namespace {

template <class T, bool Float = std::is_floating_point_v<T>> struct wide {
  using type = std::make_unsigned_t<T>;
};
template <> struct wide<std::uint8_t, false> {
  using type = std::uint64_t;
};
template <> struct wide<float, true> {
  using type = double;
};
template <> struct wide<double, true> {
  using type = long double;
};
template <class T> using wide_t = typename wide<T>::type;

template <class T>
struct column {
  const T* x;
  std::int64_t count, step;
  T operator[](std::int64_t i) const { return x[i * step]; }
};

template <class T> wide_t<T> total(const column<T>& c) {
  wide_t<T> sum = 0;
  for (std::int64_t i = 0; i < c.count; ++i) sum += static_cast<wide_t<T>>(c[i]);
  return sum;
}

struct Sum {
  template <dtype K, class T> static auto of(const column<T>& c) {
    return static_cast<std::conditional_t<K == dtype::uint8, std::int64_t, T>>(total(c));
  }
};
struct Mean {
  template <dtype, class T> static T of(const column<T>& c) {
    return static_cast<T>(total(c) / static_cast<wide_t<T>>(c.count));
  }
};
struct Prod {
  template <dtype, class T> static T of(const column<T>& c) {
    wide_t<T> product = 1;
    for (std::int64_t i = 0; i < c.count; ++i) product *= static_cast<wide_t<T>>(c[i]);
    return static_cast<T>(product);
  }
};

template <bool Greatest>
struct Extreme {
  template <dtype K, class T> static T of(const column<T>& c) {
    using limits = std::numeric_limits<T>;
    T best = Greatest ? limits::lowest() : K == dtype::boolean ? T{1} : limits::max();
    if (limits::has_infinity) best = Greatest ? -limits::infinity() : limits::infinity();
    for (std::int64_t i = 0; i < c.count; ++i) {
      if (c[i] != c[i]) return c[i];
      if (Greatest ? c[i] > best : c[i] < best) best = c[i];
    }
    return best;
  }
};
using Max = Extreme<true>;
using Min = Extreme<false>;

struct All {
  template <dtype, class T> static T of(const column<T>& c) {
    for (std::int64_t i = 0; i < c.count; ++i)
      if (c[i] == 0) return 0;
    return 1;
  }
};
struct Any {
  template <dtype, class T> static T of(const column<T>& c) {
    for (std::int64_t i = 0; i < c.count; ++i)
      if (c[i] != 0) return 1;
    return 0;
  }
};

template <bool Greatest>
struct Place {
  template <dtype, class T> static std::int32_t of(const column<T>& c) {
    std::int64_t best = 0;
    for (std::int64_t i = 1; i < c.count; ++i) {
      if (Greatest ? c[i] > c[best] : c[i] < c[best]) best = i;
    }
    return static_cast<std::int32_t>(best);
  }
};
using ArgMax = Place<true>;
using ArgMin = Place<false>;

template <class Op, dtype K>
void reduce(const void* const* in, void* const* out, const reduce_geometry& g) {
  using P = part_t<K>;
  if constexpr (parts_of<storage_t<K>>::count == 2) {
    const P* x = static_cast<const P*>(in[0]);
    P* y = static_cast<P*>(out[0]);
    for (std::int64_t i = 0; i < g.outer * g.inner; ++i) {
      const P* first = x + 2 * (i / g.inner * g.count * g.inner + i % g.inner);
      for (int part = 0; part < 2; ++part) {
        y[2 * i + part] = Op::template of<K>(column<P>{first + part, g.count, 2 * g.inner});
      }
    }
  } else {
    const P* x = static_cast<const P*>(in[0]);
    auto* y = static_cast<decltype(Op::template of<K>(column<P>{}))*>(out[0]);
    for (std::int64_t i = 0; i < g.outer * g.inner; ++i) {
      y[i] = Op::template of<K>(column<P>{x + i / g.inner * g.count * g.inner + i % g.inner, g.count, g.inner});
    }
  }
}

}  // namespace

#define KG_REDUCE(Name, types, shape) types(KG_BODY, Name)
#define KG_BODY(Name, type)                                                             \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry) {   \
    reduce<Name, dtype::type>(in, out, *static_cast<const reduce_geometry*>(geometry)); \
  }
#include "kernels/reduce/reduce.inc"
#undef KG_REDUCE
#undef KG_BODY

}  // namespace kerngrad::kernels::reference
