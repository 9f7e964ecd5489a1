// SPDX-License-Identifier: Apache-2.0
// Kernels written with <kerngrad/kernel.h>, on every target, against scalar definitions in wider arithmetic.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>
#include <range/v3/view/cartesian_product.hpp>

#include "hwy/targets.h"
#include "kernels/elementwise/binary.h"
#include "kernels/reduce/reduce.h"
#include "kernels/elementwise/unary.h"
#include "tests/author/kernels.h"
#include "tests/support/kernels.h"

namespace {
using namespace kerngrad;
using namespace kerngrad::kernels;
using kgtest::edge;
using kgtest::guarded;

using wide = long double;
constexpr double parameters[2] = {0.75, -3.6};

// Calls f(T{}) with the C++ type of a dtype.
template <class F>
void with_type(dtype type, F f) {
  if (type == dtype::float32) return f(float{});
  if (type == dtype::float64) return f(double{});
  if (type == dtype::int32) return f(std::int32_t{});
  if (type == dtype::int64) return f(std::int64_t{});
  ASSERT_EQ(type, dtype::uint8);
  f(std::uint8_t{});
}

// Numbers of all sizes; with `special`, every seventh is an infinity, a NaN, a zero, or an end of the range.
template <class T>
std::vector<T> numbers(std::size_t n, std::uint32_t seed, bool special) {
  using limits = std::numeric_limits<T>;
  std::mt19937 draw(seed);
  std::vector<T> x(n);
  for (std::size_t i = 0; i < n; ++i) {
    if constexpr (std::is_floating_point_v<T>) {
      x[i] = std::ldexp(static_cast<T>(draw() % 2001) / 500 - 2, static_cast<int>(draw() % 5));
    } else {
      x[i] = static_cast<T>((std::uint64_t{draw()} << 32 | draw()) >> draw() % 60);
    }
    if (!special || i % 7 != 3) continue;
    const T ends[] = {limits::has_infinity ? limits::infinity() : limits::max(),
                      T{0},
                      limits::lowest(),
                      limits::has_infinity ? -limits::infinity() : limits::lowest(),
                      limits::has_quiet_NaN ? limits::quiet_NaN() : T{1},
                      static_cast<T>(-T{0})};
    x[i] = ends[draw() % 6];
  }
  return x;
}

template <class T>
T unary_oracle(const std::string& op, T x) {
  if constexpr (std::is_integral_v<T>) {
    const auto u = static_cast<std::uint64_t>(static_cast<std::int64_t>(x));
    if (op == "Cube") return static_cast<T>(u * u * u);
    return static_cast<T>(u - 3);  // Shift: -3.6 truncates
  } else {
    if (op == "Cube") return static_cast<T>(static_cast<wide>(x) * static_cast<T>(static_cast<wide>(x) * x));
    if (op == "Mish") return static_cast<T>(x == 0 ? wide{x} : wide{x} * std::tanh(std::log1p(std::exp(wide{x}))));
    if (std::isnan(x)) return x;
    if (x > T(parameters[0])) return static_cast<T>(wide{x} - parameters[0]);
    return x < -T(parameters[0]) ? static_cast<T>(wide{x} + parameters[0]) : 0;
  }
}

// Equal, NaN for NaN, or within `relative` of each other.
template <class T>
bool agrees(T got, T want, double relative) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(want)) return std::isnan(got);
    if (std::isinf(want) || relative == 0) return got == want;
    return std::fabs(wide{got} - want) <= relative * std::fabs(wide{want}) + std::numeric_limits<T>::denorm_min();
  }
  return got == want;
}

// Products of float64 are rounded twice by the definition above.
template <class T>
double tolerance(const std::string& op) {
  const double epsilon = static_cast<double>(std::numeric_limits<T>::epsilon());
  if (op == "Mish") return 16 * epsilon;
  return op == "Cube" && std::is_same_v<T, double> ? 2 * epsilon : 0;
}

std::string name_of(const entry& e) { return std::string(e.op) + " " + std::to_string(static_cast<int>(e.type)); }

// n elements `shift` elements away from a guard page.
template <class T>
class placed {
 public:
  placed(std::size_t n, std::size_t shift, edge side) : all_(n + shift, side), at_(side == edge::end ? 0 : shift) {}
  T* data() { return all_.data() + at_; }

 private:
  guarded<T> all_;
  std::size_t at_;
};

template <class T>
void check_unary(const entry& e, std::size_t n, std::size_t shift, edge side) {
  const std::vector<T> values = numbers<T>(n, static_cast<std::uint32_t>(n), true);
  placed<T> x(n, shift, side), y(n, shift, side);
  std::copy(values.begin(), values.end(), x.data());
  const unary_geometry g{static_cast<std::int64_t>(n), {parameters[0], parameters[1]}};
  const void* in[] = {x.data()};
  for (int door = 0; door < (e.flat1 ? 3 : 2); ++door) {
    void* out[] = {door == 1 ? x.data() : y.data()};  // the second time in place
    if (door == 1) std::copy(values.begin(), values.end(), x.data());
    if (door < 2) e.run(in, out, &g);
    if (door == 2) {
      std::copy(values.begin(), values.end(), x.data());
      std::fill_n(y.data(), n, T{42});
      e.flat1(x.data(), y.data(), n);
    }
    const T* result = static_cast<const T*>(out[0]);
    for (std::size_t i = 0; i < n; ++i) {
      ASSERT_TRUE(agrees(result[i], unary_oracle<T>(e.op, values[i]), tolerance<T>(e.op)))
          << name_of(e) << " of " << +values[i] << " gave " << +result[i] << ", element " << i << " of " << n;
    }
  }
}

TEST(AuthorKernels, MapsOfOneOperandEqualTheirDefinitionsOnEveryTarget) {
  kgtest::on_every_target([](const char*) {
    for (const entry& e : my::unary_table) {
      with_type(e.type, [&](auto zero) {
        using T = decltype(zero);
        for (std::size_t n = 0; n <= 4 * 64 / sizeof(T) + 3; n += n < 40 ? 1 : 7) {
          for (const std::size_t shift : {0, 1, 3}) {
            check_unary<T>(e, n, shift, edge::begin);
            check_unary<T>(e, n, shift, edge::end);
            if (::testing::Test::HasFatalFailure()) return;
          }
        }
        check_unary<T>(e, 3001, 0, edge::end);
      });
    }
  });
}

template <class T>
T distance(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    const auto u = static_cast<std::uint64_t>(a), v = static_cast<std::uint64_t>(b);
    return static_cast<T>(a > b ? u - v : v - u);
  } else {
    return static_cast<T>(std::fabs(wide{a} - b));
  }
}

// A step of 0 spreads one element over the axis.
struct steps {
  std::int64_t row, column;
};

template <class T>
void check_binary(const entry& e, std::int64_t rows, std::int64_t n, steps a_steps, steps b_steps) {
  const auto extent = [&](steps s) {
    return rows == 0 || n == 0 ? 0u : static_cast<std::size_t>((rows - 1) * s.row + (n - 1) * s.column + 1);
  };
  const std::vector<T> as = numbers<T>(extent(a_steps), 1, true), bs = numbers<T>(extent(b_steps), 2, true);
  guarded<T> a(as.size()), b(bs.size()), y(static_cast<std::size_t>(rows * n));
  std::copy(as.begin(), as.end(), a.data());
  std::copy(bs.begin(), bs.end(), b.data());
  broadcast_geometry g{2, {rows, n}, {{a_steps.row, a_steps.column}, {b_steps.row, b_steps.column}}};
  const void* in[] = {a.data(), b.data()};
  void* out[] = {y.data()};
  e.run(in, out, &g);
  for (std::int64_t i = 0; i < rows * n; ++i) {
    const T left = as[static_cast<std::size_t>(i / n * a_steps.row + i % n * a_steps.column)];
    const T right = bs[static_cast<std::size_t>(i / n * b_steps.row + i % n * b_steps.column)];
    const T got = y[static_cast<std::size_t>(i)];
    ASSERT_TRUE(agrees(got, distance(left, right), 0))
        << name_of(e) << " of " << +left << ", " << +right << " gave " << +got << ", element " << i << " of " << n;
  }
  if (a_steps.column == 0 || b_steps.column == 0 || rows != 1) return;
  std::vector<T> again(static_cast<std::size_t>(n));
  e.flat2(a.data(), b.data(), y.data(), static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < again.size(); ++i) ASSERT_TRUE(agrees(y[i], distance(as[i], bs[i]), 0)) << i;
}

TEST(AuthorKernels, MapsOfTwoOperandsBroadcastOnEveryTarget) {
  kgtest::on_every_target([](const char*) {
    for (const entry& e : my::binary_table) {
      with_type(e.type, [&](auto zero) {
        using T = decltype(zero);
        for (const std::int64_t n : {0, 1, 2, 3, 5, 8, 15, 16, 17, 31, 33, 63, 64, 65, 129, 270}) {
          check_binary<T>(e, 1, n, {n, 1}, {n, 1});
          check_binary<T>(e, 3, n, {n, 1}, {0, 1});
          check_binary<T>(e, 3, n, {1, 0}, {n, 1});
          check_binary<T>(e, 2, n, {n, 1}, {0, 0});
          check_binary<T>(e, 2, n, {1, 0}, {0, 0});
        }
      });
    }
  });
}

// The answer of a reduction, and the sum of the magnitudes that a float answer's error is measured by.
template <class T>
struct answer {
  wide value;
  std::uint64_t integer;
  wide magnitude;
  wide between = 0;  // what has to be stored on the way
};

template <class T>
answer<T> reduced(const std::string& op, const T* x, std::int64_t count, std::int64_t step) {
  wide squares = 0, greatest = 0, least = std::numeric_limits<wide>::infinity();
  std::uint64_t wrapping = 0;
  std::int64_t lowest = static_cast<std::int64_t>(std::numeric_limits<std::int32_t>::max());
  bool nan = false;
  for (std::int64_t i = 0; i < count; ++i) {
    const wide v = x[i * step];
    squares += v * v;
    if (std::fabs(v) > greatest) greatest = std::fabs(v);
    if (std::fabs(v) < least) least = std::fabs(v);
    nan = nan || std::isnan(v);
    if constexpr (std::is_integral_v<T>) {
      const auto u = static_cast<std::uint64_t>(static_cast<std::int64_t>(x[i * step]));
      wrapping += u * u;
      lowest = std::min(lowest, static_cast<std::int64_t>(x[i * step]));
    }
  }
  if (op == "SumOfSquares") return {squares, wrapping, squares};
  if (op == "Norm") return {std::sqrt(squares), 0, std::sqrt(squares), squares};
  if (op == "MaxMagnitude") return {nan ? std::nanl("") : greatest, 0, 0};
  if (op == "MinMagnitude") return {nan ? std::nanl("") : least, 0, 0};
  return {0, static_cast<std::uint64_t>(lowest), 0};
}

template <class T>
void check_reduction(const entry& e, const reduce_geometry& g, bool special) {
  const std::size_t size = static_cast<std::size_t>(g.outer * g.count * g.inner);
  const std::size_t results = static_cast<std::size_t>(g.outer * g.inner);
  const std::vector<T> values = numbers<T>(size, static_cast<std::uint32_t>(size), special);
  std::vector<T> first;
  constexpr std::size_t shifts[] = {0, 1, 2, 3};
  for (const auto& [side, shift] : ranges::views::cartesian_product(kgtest::edges, shifts)) {
    placed<T> x(size, shift, side), y(results, shift, side);
    std::copy(values.begin(), values.end(), x.data());
    const void* in[] = {x.data()};
    void* out[] = {y.data()};
    e.run(in, out, &g);
    const std::vector<T> now(y.data(), y.data() + results);
    if (first.empty()) first = now;
    ASSERT_TRUE(results == 0 || std::memcmp(first.data(), now.data(), results * sizeof(T)) == 0)
        << name_of(e) << ": the result depends on the alignment";
  }
  for (std::size_t i = 0; i < results; ++i) {
    const std::int64_t o = static_cast<std::int64_t>(i) / g.inner, j = static_cast<std::int64_t>(i) % g.inner;
    const T* column = g.count > 0 ? values.data() + o * g.count * g.inner + j : nullptr;
    const answer<T> want = reduced<T>(e.op, column, g.count, g.inner);
    bool right;
    if constexpr (std::is_integral_v<T>) {
      right = first[i] == static_cast<T>(want.integer);
    } else if (!std::isfinite(want.value)) {
      right = agrees(first[i], static_cast<T>(want.value), 0);
    } else if (std::max(want.value, want.between) > std::numeric_limits<T>::max()) {
      right = std::isinf(first[i]);
    } else {
      right = std::fabs(first[i] - want.value) <= 16 * wide{std::numeric_limits<T>::epsilon()} * want.magnitude;
    }
    ASSERT_TRUE(right) << name_of(e) << " of " << g.outer << ", " << g.count << ", " << g.inner << " gave " << +first[i]
                       << ", wanted " << want.value << " or " << want.integer;
  }
}

TEST(AuthorKernels, ReductionsEqualTheirDefinitionsOnEveryTargetAndWhateverTheAlignment) {
  static constexpr std::int64_t counts[] = {0, 1, 2, 3, 7, 8, 9, 17, 31, 64, 67, 129, 513, 4097, 13001};
  static constexpr std::int64_t inners[] = {0, 1, 2, 3, 5, 15, 16, 17, 33, 65, 300};
  static constexpr bool either[] = {false, true};
  kgtest::on_every_target([](const char*) {
    for (const entry& e : my::reduction_table) {
      with_type(e.type, [&](auto zero) {
        using T = decltype(zero);
        for (const auto& [count, inner, special] : ranges::views::cartesian_product(counts, inners, either)) {
          if (count * inner > 40000) continue;
          check_reduction<T>(e, {count < 100 ? 2 : 1, count, inner}, special);
          if (::testing::Test::HasFatalFailure()) return;
        }
      });
    }
  });
}

TEST(AuthorKernels, HighwayFindsTheTargetsThatTheLibraryFinds) {
  target compiled[64], supported[64];
  std::int64_t wanted = 0, found = 0;
  for (int i = compiled_targets(compiled, 64); i-- > 0;) wanted |= compiled[i].bits;
  for (int i = supported_targets(supported, 64); i-- > 0;) found |= supported[i].bits;
  EXPECT_EQ(found, hwy::SupportedTargets() & wanted);
}

TEST(AuthorKernels, ABodyRunsAsCompiledForThePinnedTarget) {
  target all[64];
  const int count = supported_targets(all, 64);
  for (int i = 0; i < count; ++i) {
    pin_target(all[i].bits);
    const double x[3] = {1, 2, 3};
    double y[3] = {};
    my::more::RunningTarget_float64(x, y, 3);
    for (double bits : y) EXPECT_EQ(bits, static_cast<double>(all[i].bits)) << all[i].name;
  }
  unpin_target();
  EXPECT_GT(count, 0);
}

TEST(AuthorKernels, AParameterOfAnIntegerKernelIsConvertedAsByCast) {
  const struct {
    double given;
    std::int32_t want;
  } cases[] = {{2.9, 2}, {-2.9, -2}, {1e30, 2147483647}, {-1e30, -2147483647 - 1}, {std::nan(""), 0}};
  for (const auto& c : cases) {
    const std::int32_t x = 0;
    std::int32_t y = 1;
    const void* in[] = {&x};
    void* out[] = {&y};
    const unary_geometry g{1, {77, c.given}};
    my::more::Shift_int32_run(in, out, &g);
    EXPECT_EQ(y, c.want) << c.given;
  }
}

TEST(AuthorKernels, AnEntryNamesTheKernelAtCompileTime) {
  constexpr entry unary = KERNGRAD_ENTRY_UNARY(my::more, Cube, int64);
  static_assert(unary.type == dtype::int64 && unary.run == my::more::Cube_int64_run &&
                unary.flat1 == my::more::Cube_int64 && unary.flat2 == nullptr);
  constexpr entry binary = KERNGRAD_ENTRY_BINARY(my::more, Distance, uint8);
  static_assert(binary.run == my::more::Distance_uint8_run && binary.flat1 == nullptr &&
                binary.flat2 == my::more::Distance_uint8);
  constexpr entry reduction = KERNGRAD_ENTRY_REDUCTION(my, Norm, float32);
  static_assert(reduction.run == my::Norm_float32_run && !reduction.flat1 && !reduction.flat2);
  EXPECT_STREQ(unary.op, "Cube");
  EXPECT_STREQ(reduction.op, "Norm");
}

}  // namespace
