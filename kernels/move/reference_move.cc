// SPDX-License-Identifier: Apache-2.0
// From the definitions, index by index. Elements are copied as bytes; sums and products of float32 are carried in
// double, those of float64 in their own type in the order of the elements, integers modulo their width.
#include "kernels/move/reference_move.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <vector>

#include "kernels/common/sizes.h"

namespace kerngrad::kernels::reference {
namespace {

// Copies the element `from` of x to the element `to` of y.
template <dtype K> void move_one(const void* x, std::int64_t from, void* y, std::int64_t to) {
  constexpr std::int64_t size = sizeof(storage_t<K>);
  std::memcpy(static_cast<char*>(y) + to * size, static_cast<const char*>(x) + from * size, sizeof(storage_t<K>));
}

// The sum in the type's own arithmetic; integers wrap.
template <class T> T plus(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return a + b;
  } else {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
  }
}

template <dtype K> void StridedCopy(const void* const* in, void* const* out, const void* geometry) {
  const auto& g = *static_cast<const copy_geometry*>(geometry);
  std::int64_t count = 1;
  for (int a = 0; a < g.rank; ++a) count *= g.dims[a];
  for (std::int64_t n = 0; n < count; ++n) {
    std::int64_t from = g.in_offset, to = g.out_offset, rest = n;
    for (int a = g.rank - 1; a >= 0; --a) {
      from += rest % g.dims[a] * g.in_strides[a];
      to += rest % g.dims[a] * g.out_strides[a];
      rest /= g.dims[a];
    }
    move_one<K>(in[0], from, out[0], to);
  }
}

template <dtype K> void PadV2(const void* const* in, void* const* out, const void* geometry) {
  const auto& g = *static_cast<const pad_geometry*>(geometry);
  std::int64_t count = 1;
  for (int a = 0; a < g.rank; ++a) count *= g.before[a] + g.dims[a] + g.after[a];
  for (std::int64_t n = 0; n < count; ++n) {
    std::int64_t from = 0, step = 1, rest = n;
    bool inside = true;
    for (int a = g.rank - 1; a >= 0; --a) {
      const std::int64_t size = g.before[a] + g.dims[a] + g.after[a], at = rest % size - g.before[a];
      inside = inside && at >= 0 && at < g.dims[a];
      from += at * step;
      step *= g.dims[a];
      rest /= size;
    }
    move_one<K>(inside ? in[0] : g.value, inside ? from : 0, out[0], n);
  }
}

// Calls f(element of x, element of y) for every element that a gather reads and writes.
template <class F> void each_gathered(const gather_geometry& g, const std::int32_t* indices, F f) {
  for (std::int64_t b = 0; b < g.batch; ++b) {
    for (std::int64_t o = 0; o < g.outer; ++o) {
      for (std::int64_t j = 0; j < g.count; ++j) {
        for (std::int64_t i = 0; i < g.inner; ++i) {
          const std::int64_t part = b * g.outer + o;
          f((part * g.axis + indices[b * g.count + j]) * g.inner + i, (part * g.count + j) * g.inner + i);
        }
      }
    }
  }
}

template <dtype K> void GatherV2(const void* const* in, void* const* out, const void* geometry) {
  each_gathered(*static_cast<const gather_geometry*>(geometry), static_cast<const std::int32_t*>(in[1]),
                [&](std::int64_t from, std::int64_t to) { move_one<K>(in[0], from, out[0], to); });
}

// The accumulator of sums at indices, which are rounded once.
template <class T> using sum_of = std::conditional_t<std::is_same_v<T, float>, double, T>;

template <dtype K> void GatherGrad(const void* const* in, void* const* out, const void* geometry) {
  using T = storage_t<K>;
  const auto& g = *static_cast<const gather_geometry*>(geometry);
  const T* dy = static_cast<const T*>(in[0]);
  std::vector<sum_of<T>> sums(extent(g.batch, g.outer, g.axis, g.inner));
  each_gathered(g, static_cast<const std::int32_t*>(in[1]),
                [&](std::int64_t x, std::int64_t y) { sums[static_cast<std::size_t>(x)] += dy[y]; });
  std::transform(sums.begin(), sums.end(), static_cast<T*>(out[0]), [](auto sum) { return static_cast<T>(sum); });
}

template <dtype K> void UnsortedSegmentSum(const void* const* in, void* const* out, const void* geometry) {
  using T = storage_t<K>;
  const auto& g = *static_cast<const segment_geometry*>(geometry);
  const T* x = static_cast<const T*>(in[0]);
  const std::int32_t* ids = static_cast<const std::int32_t*>(in[1]);
  T* y = static_cast<T*>(out[0]);
  for (std::int64_t s = 0; s < g.segments; ++s) {
    for (std::int64_t i = 0; i < g.inner; ++i) {
      sum_of<T> sum = 0;
      for (std::int64_t r = 0; r < g.rows; ++r)
        sum = ids[r] == s ? plus(sum, static_cast<sum_of<T>>(x[r * g.inner + i])) : sum;
      y[s * g.inner + i] = static_cast<T>(sum);
    }
  }
}

template <dtype K> void ScatterRows(const void* const* in, void* const* out, const void* geometry) {
  const auto& g = *static_cast<const scatter_geometry*>(geometry);
  const std::int32_t* indices = static_cast<const std::int32_t*>(in[1]);
  for (std::int64_t r = 0; r < g.rows; ++r)
    for (std::int64_t i = 0; i < g.inner; ++i) move_one<K>(in[0], r * g.step + i, out[0], indices[r] * g.inner + i);
}

template <dtype K> void BandPart(const void* const* in, void* const* out, const void* geometry) {
  const auto& g = *static_cast<const band_geometry*>(geometry);
  const storage_t<K> zero{};
  for (std::int64_t n = 0; n < g.count * g.columns; ++n) {
    const std::int64_t row = (g.first + n / g.columns) % g.rows, column = n % g.columns;
    const bool inside = row - column <= g.lower && column - row <= g.upper;
    move_one<K>(inside ? in[0] : &zero, inside ? n : 0, out[0], n);
  }
}

template <dtype K> void OneHot(const void* const* in, void* const* out, const void* geometry) {
  using T = storage_t<K>;
  const auto& g = *static_cast<const one_hot_geometry*>(geometry);
  const std::int32_t* indices = static_cast<const std::int32_t*>(in[0]);
  T* y = static_cast<T*>(out[0]);
  for (std::int64_t o = 0; o < g.outer; ++o) {
    for (std::int64_t c = 0; c < g.depth; ++c) {
      for (std::int64_t i = 0; i < g.inner; ++i) {
        y[(o * g.depth + c) * g.inner + i] = static_cast<T>(indices[o * g.inner + i] == c ? g.on : g.off);
      }
    }
  }
}

template <class T, class A, class F> void scan(const T* x, T* y, const scan_geometry& g, A start, F f) {
  for (std::int64_t n = 0; n < g.outer * g.inner; ++n) {
    A carry = start;
    for (std::int64_t r = 0; r < g.count; ++r) {
      const std::int64_t row = g.reverse ? g.count - 1 - r : r;
      const std::int64_t at = (n / g.inner * g.count + row) * g.inner + n % g.inner;
      const A before = carry;
      carry = f(carry, static_cast<A>(x[at]));
      y[at] = static_cast<T>(g.exclusive ? before : carry);
    }
  }
}

// What a scan carries: double for both float types, the unsigned type of integers.
template <class T, bool Float = std::is_floating_point_v<T>> struct carried {
  using type = std::make_unsigned_t<T>;
};
template <class T> struct carried<T, true> {
  using type = double;
};

template <dtype K> void Cumsum(const void* const* in, void* const* out, const void* geometry) {
  using T = storage_t<K>;
  using A = typename carried<T>::type;
  scan(static_cast<const T*>(in[0]), static_cast<T*>(out[0]), *static_cast<const scan_geometry*>(geometry), A{0},
       [](A a, A b) { return a + b; });
}

template <dtype K> void Cumprod(const void* const* in, void* const* out, const void* geometry) {
  using T = storage_t<K>;
  using A = typename carried<T>::type;
  scan(static_cast<const T*>(in[0]), static_cast<T*>(out[0]), *static_cast<const scan_geometry*>(geometry), A{1},
       [](A a, A b) { return a * b; });
}

// From the definition: of the elements up to each place the first that none goes before, a NaN going before all others.
template <bool Greatest, class T> void running_extreme(const T* x, T* y, const scan_geometry& g) {
  using limits = std::numeric_limits<T>;
  T start = Greatest ? limits::lowest() : limits::max();
  if (limits::has_infinity) start = Greatest ? -limits::infinity() : limits::infinity();
  const auto goes_before = [](T a, T b) { return b == b && (a != a || (Greatest ? a > b : a < b)); };
  for (std::int64_t n = 0; n < g.outer * g.inner; ++n) {
    const auto at = [&](std::int64_t step) {
      const std::int64_t row = g.reverse ? g.count - 1 - step : step;
      return (n / g.inner * g.count + row) * g.inner + n % g.inner;
    };
    for (std::int64_t r = 0; r < g.count; ++r) {
      const std::int64_t seen = g.exclusive ? r : r + 1;
      T best = seen == 0 ? start : x[at(0)];
      for (std::int64_t i = 1; i < seen; ++i) best = goes_before(x[at(i)], best) ? x[at(i)] : best;
      y[at(r)] = best;
    }
  }
}

template <dtype K> void CumMax(const void* const* in, void* const* out, const void* geometry) {
  using T = storage_t<K>;
  running_extreme<true>(static_cast<const T*>(in[0]), static_cast<T*>(out[0]),
                        *static_cast<const scan_geometry*>(geometry));
}

template <dtype K> void CumMin(const void* const* in, void* const* out, const void* geometry) {
  using T = storage_t<K>;
  running_extreme<false>(static_cast<const T*>(in[0]), static_cast<T*>(out[0]),
                         *static_cast<const scan_geometry*>(geometry));
}

}  // namespace

#define KG_MOVE(Name, types) types(KG_BODY, Name)
#define KG_BODY(Name, type)                                                           \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry) { \
    Name<dtype::type>(in, out, geometry);                                             \
  }
#include "kernels/move/move.inc"
#undef KG_MOVE
#undef KG_BODY

}  // namespace kerngrad::kernels::reference
