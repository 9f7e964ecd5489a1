// SPDX-License-Identifier: Apache-2.0
// Batch normalization with given moments on every target and its reference, against the definition in long double.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>
#include <range/v3/view/cartesian_product.hpp>

#include "kernels/norm/batch.h"
#include "tests/support/kernels.h"

namespace {
using namespace kerngrad;
using namespace kerngrad::kernels;
using kgtest::edge;
using kgtest::edges;
using kgtest::guarded;
namespace views = ranges::views;

template <class T>
run_fn kernel(bool reference) {
  if constexpr (std::is_same_v<T, float>) return reference ? reference::FusedBatchNorm_float32 : FusedBatchNorm_float32;
  else return reference ? reference::FusedBatchNorm_float64 : FusedBatchNorm_float64;
}

// An axis of x, and whether the moments have it, too.
struct axis {
  std::int64_t size;
  bool moves;
};
using axes = std::vector<axis>;

batch_norm_geometry geometry(const axes& of, double epsilon) {
  batch_norm_geometry g{{}, epsilon};
  g.walk.rank = static_cast<int>(of.size());
  std::int64_t step[2] = {1, 1};
  for (int i = g.walk.rank - 1; i >= 0; --i) {
    const axis& a = of[static_cast<std::size_t>(i)];
    g.walk.dims[i] = a.size;
    g.walk.strides[0][i] = step[0];
    g.walk.strides[1][i] = a.moves ? step[1] : 0;
    step[0] *= a.size;
    if (a.moves) step[1] *= a.size;
  }
  return g;
}

std::size_t count(const axes& of, bool moments) {
  std::size_t all = 1;
  for (const axis& a : of) all *= a.moves || !moments ? static_cast<std::size_t>(a.size) : 1;
  return all;
}
// The element of the moments that element i of x meets.
std::size_t moment_of(const axes& of, std::size_t i) {
  std::size_t at = 0, step = 1;
  for (std::size_t k = of.size(); k-- > 0;) {
    const auto size = static_cast<std::size_t>(of[k].size);
    if (of[k].moves) at += i % size * step, step *= size;
    i /= size;
  }
  return at;
}

template <class T>
struct operands {
  guarded<T> x, mean, variance, offset, scale, y;
  operands(const axes& of, edge side)
      : x(count(of, false), side),
        mean(count(of, true), side),
        variance(count(of, true), side),
        offset(count(of, true), side),
        scale(count(of, true), side),
        y(count(of, false), side) {
    std::mt19937 random(static_cast<unsigned>(x.size()));
    const auto fill = [&](guarded<T>& values, double low, double high) {
      for (T& v : values) v = static_cast<T>(std::uniform_real_distribution<double>(low, high)(random));
    };
    fill(x, 90, 110), fill(mean, 95, 105), fill(variance, 0, 4), fill(offset, -2, 2), fill(scale, -3, 3);
  }
};

template <class T>
void check(const axes& of, bool has_offset, bool has_scale, edge side, bool reference) {
  operands<T> o(of, side);
  const batch_norm_geometry g = geometry(of, 0.25);
  const void* in[] = {o.x.data(), o.mean.data(), o.variance.data(), has_offset ? o.offset.data() : nullptr,
                      has_scale ? o.scale.data() : nullptr};
  void* out[] = {o.y.data()};
  kernel<T>(reference)(in, out, &g);
  const long double unit = std::numeric_limits<T>::epsilon();
  for (std::size_t i = 0; i < o.x.size(); ++i) {
    const std::size_t k = moment_of(of, i);
    const long double centred = static_cast<long double>(o.x[i]) - o.mean[k];
    const long double factor = (has_scale ? o.scale[k] : 1.0L) / std::sqrt(o.variance[k] + 0.25L);
    const long double want = centred * factor + (has_offset ? o.offset[k] : 0.0L);
    // Seven roundings of half a unit, those of the factor and the difference relative to their product.
    const long double bound = 3 * unit * std::fabs(centred * factor) + unit * std::fabs(want);
    ASSERT_LE(std::fabs(want - static_cast<long double>(o.y[i])), bound) << i << " of " << o.x.size();
  }
}

const std::vector<axes>& geometries() {
  static const std::vector<axes> all = [] {
    std::vector<axes> made;
    constexpr std::int64_t lengths[] = {1,  2,   3,   7,   8,   15,  16,  17,   31,  33,
                                        64, 100, 255, 257, 512, 513, 700, 1025, 2100};
    constexpr std::int64_t rows[] = {1, 2, 9};
    for (const auto& [n, count] : views::cartesian_product(lengths, rows)) {
      made.push_back({{count, false}, {n, true}});
      made.push_back({{count, true}, {n, false}});
    }
    for (const std::int64_t n : lengths) made.push_back({{n, true}}), made.push_back({{n, false}});
    made.push_back({{3, true}, {5, false}, {19, true}});
    made.push_back({{3, false}, {5, true}, {19, false}});
    made.push_back({{2, true}, {3, false}, {4, true}, {7, false}});
    made.push_back({{2, false}, {3, true}, {4, false}, {7, true}});
    made.push_back({{0, false}, {5, true}});
    made.push_back({{5, false}, {0, true}});
    made.push_back({{0, true}});
    return made;
  }();
  return all;
}

template <class T>
void check_all(bool reference) {
  constexpr bool either[] = {true, false};
  for (const auto& [of, offset, scale, side] : views::cartesian_product(geometries(), either, either, edges))
    ASSERT_NO_FATAL_FAILURE(check<T>(of, offset, scale, side, reference));
}

TEST(batch_norm, is_the_definition_on_every_target) {
  kgtest::on_every_target([](const char*) {
    check_all<float>(false);
    check_all<double>(false);
  });
}

TEST(batch_norm, is_the_definition_in_the_reference) {
  check_all<float>(true);
  check_all<double>(true);
}

// As the header promises: x - mean, then the factor, then the offset, each rounded once.
template <class T>
void compare_bits() {
  const axes of = {{9, false}, {37, true}};
  operands<T> o(of, edge::end);
  const batch_norm_geometry g = geometry(of, 0.001);
  const void* in[] = {o.x.data(), o.mean.data(), o.variance.data(), o.offset.data(), o.scale.data()};
  void* out[] = {o.y.data()};
  kernel<T>(false)(in, out, &g);
  for (std::size_t i = 0; i < o.x.size(); ++i) {
    const std::size_t k = moment_of(of, i);
    volatile T sum = o.variance[k] + static_cast<T>(0.001), root = std::sqrt(sum), factor = o.scale[k] / root;
    volatile T centred = o.x[i] - o.mean[k], product = centred * factor, y = product + o.offset[k];
    const T want = y;
    ASSERT_EQ(std::memcmp(&want, &o.y[i], sizeof(T)), 0) << i << ": " << want << " and " << o.y[i];
  }
}

TEST(batch_norm, has_the_same_bits_on_every_target) {
  kgtest::on_every_target([](const char*) {
    compare_bits<float>();
    compare_bits<double>();
  });
}

TEST(batch_norm, may_replace_x_by_its_result) {
  const std::vector<axes> all = {{{40, false}, {9, true}}, {{3, false}, {1100, true}}, {{5, true}, {70, false}}};
  kgtest::on_every_target([&all](const char*) {
    for (const axes& of : all) {
      operands<float> o(of, edge::end);
      const batch_norm_geometry g = geometry(of, 0.001);
      const void* in[] = {o.x.data(), o.mean.data(), o.variance.data(), o.offset.data(), o.scale.data()};
      void* out[] = {o.y.data()};
      void* out_place[] = {o.x.data()};
      FusedBatchNorm_float32(in, out, &g);
      FusedBatchNorm_float32(in, out_place, &g);
      ASSERT_EQ(std::memcmp(o.x.data(), o.y.data(), o.x.size() * sizeof(float)), 0);
    }
  });
}

TEST(batch_norm, keeps_the_digits_of_a_small_deviation_from_a_large_mean) {
  kgtest::on_every_target([](const char*) {
    const float x = 16777218, mean = 16777216, variance = 4, offset = 0.5f, scale = 3;
    float y = 0;
    const batch_norm_geometry g = geometry({{1, true}}, 0);
    const void* in[] = {&x, &mean, &variance, &offset, &scale};
    void* out[] = {&y};
    FusedBatchNorm_float32(in, out, &g);
    ASSERT_EQ(y, 3.5f);
  });
}

TEST(batch_norm, of_no_deviation_or_none_that_exists_is_infinite_or_NaN) {
  kgtest::on_every_target([](const char*) {
    const std::vector<float> x = {1, 0, 1, 1}, mean = {0, 0, 0, 0}, variance = {0, 0, -1, std::nanf("")};
    std::vector<float> y(4);
    const batch_norm_geometry g = geometry({{4, true}}, 0);
    const void* in[] = {x.data(), mean.data(), variance.data(), nullptr, nullptr};
    void* out[] = {y.data()};
    FusedBatchNorm_float32(in, out, &g);
    ASSERT_EQ(y[0], std::numeric_limits<float>::infinity());
    for (std::size_t i = 1; i < 4; ++i) ASSERT_TRUE(std::isnan(y[i])) << i;
  });
}
}  // namespace
