// SPDX-License-Identifier: Apache-2.0
// Bias and activation of the fused layers on every target, against the definitions in long double and, bit by bit,
// against the kernels of Add and of each activation.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>
#include <range/v3/view/cartesian_product.hpp>
#include <range/v3/view/iota.hpp>

#include "kernels/elementwise/binary.h"
#include "kernels/fused/fused.h"
#include "kernels/elementwise/unary.h"
#include "tests/support/kernels.h"
#include "tests/support/wide.h"

namespace {
using namespace kerngrad;
using namespace kerngrad::kernels;
using kgtest::edge;
using kgtest::edges;
using kgtest::guarded;
namespace views = ranges::views;

template <class T> constexpr dtype type_of = std::is_same_v<T, float> ? dtype::float32 : dtype::float64;
template <class T>
run_fn finish(bool reference) {
  if constexpr (std::is_same_v<T, float>) return reference ? reference::FinishLayer_float32 : FinishLayer_float32;
  else return reference ? reference::FinishLayer_float64 : FinishLayer_float64;
}

// Relation of an axis of y to the bias and the weights.
enum class has { both, bias, weights, neither };
struct axis {
  std::int64_t size;
  has of;
};

fused_geometry geometry(const std::vector<axis>& axes, activation after, double alpha) {
  fused_geometry g{{}, after, alpha};
  g.walk.rank = static_cast<int>(axes.size());
  std::int64_t step[3] = {1, 1, 1};
  for (int i = g.walk.rank - 1; i >= 0; --i) {
    const axis& a = axes[static_cast<std::size_t>(i)];
    const bool moves[3] = {true, a.of == has::both || a.of == has::bias, a.of == has::both || a.of == has::weights};
    g.walk.dims[i] = a.size;
    for (int k = 0; k < 3; ++k) {
      g.walk.strides[k][i] = moves[k] ? step[k] : 0;
      if (moves[k]) step[k] *= a.size;
    }
  }
  return g;
}

// Elements of y, the bias and the weights.
struct sizes {
  std::size_t y = 1, bias = 1, weights = 1;
  explicit sizes(const fused_geometry& g) {
    for (int i = 0; i < g.walk.rank; ++i) {
      const auto size = static_cast<std::size_t>(g.walk.dims[i]);
      y *= size;
      bias *= g.walk.strides[1][i] ? size : 1;
      weights *= g.walk.strides[2][i] ? size : 1;
    }
  }
};

// The offset of element i of y in the bias (k = 1) or the weights (k = 2).
std::size_t offset(const fused_geometry& g, std::int64_t i, int k) {
  std::int64_t at = 0;
  for (int a = g.walk.rank - 1; a >= 0; i /= g.walk.dims[a--]) at += i % g.walk.dims[a] * g.walk.strides[k][a];
  return static_cast<std::size_t>(at);
}

long double defined(activation after, long double x, long double weight, long double alpha) {
  switch (after) {
    case activation::linear: return x;
    case activation::relu: return std::fmax(x, 0.0L);
    case activation::relu6: return std::fmin(std::fmax(x, 0.0L), 6.0L);
    case activation::elu: return x > 0 ? x : std::exp(x) - 1;
    case activation::sigmoid: return 0.5L * (1 + std::tanh(x / 2));
    case activation::leakyrelu: return x > 0 ? x : x * alpha;
    case activation::prelu: return x > 0 ? x : x * weight;
  }
  return 0;
}

template <class T>
void fill(guarded<T>& values, unsigned seed) {
  std::mt19937 random(seed);
  for (T& v : values) v = static_cast<T>(std::uniform_real_distribution<double>(-9, 9)(random));
}

template <class T>
void check(const std::vector<axis>& axes, activation after, edge side, bool reference) {
  const fused_geometry g = geometry(axes, after, 0.3);
  const sizes count(g);
  guarded<T> y(count.y, side), bias(count.bias, side), weights(count.weights, side);
  fill(y, 1), fill(bias, 2), fill(weights, 3);
  const std::vector<T> product(y.begin(), y.end());
  const void* in[] = {bias.data(), weights.data()};
  void* out[] = {y.data()};
  finish<T>(reference)(in, out, &g);
  const long double eps = std::numeric_limits<T>::epsilon(), alpha = static_cast<T>(0.3);
  for (std::size_t i = 0; i < count.y; ++i) {
    const auto at = static_cast<std::int64_t>(i);
    const long double x = static_cast<long double>(product[i]) + bias[offset(g, at, 1)];
    const long double weight = weights[offset(g, at, 2)], want = defined(after, x, weight, alpha);
    // The sum is rounded once; slopes are at most 9, and the functions' own error is below 4 units.
    const long double bound = 10 * eps * std::fabs(x) + 4 * eps * std::fabs(want);
    ASSERT_LE(std::fabs(want - static_cast<long double>(y[i])), bound)
        << activations[static_cast<int>(after)].name << " " << i << " of " << count.y;
  }
}

const std::vector<std::vector<axis>>& geometries() {
  static const std::vector<std::vector<axis>> all = [] {
    std::vector<std::vector<axis>> made;
    constexpr std::int64_t lengths[] = {1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 64, 100, 255, 256, 257, 300, 700};
    static const std::vector<std::int64_t> counts =
        kgtest::slow_long_double ? std::vector<std::int64_t>{1, 2} : std::vector<std::int64_t>{1, 2, 5, 40};
    constexpr has any[] = {has::both, has::bias, has::weights, has::neither};
    for (const auto& [n, rows, of] : views::cartesian_product(lengths, counts, any))
      made.push_back({{rows, has::neither}, {n, of}});
    constexpr has outer[] = {has::both, has::bias, has::weights}, inner[] = {has::both, has::neither};
    for (const auto& [first, last] : views::cartesian_product(outer, inner))
      made.push_back({{3, first}, {5, has::neither}, {19, last}});
    made.push_back({{37, has::both}});
    made.push_back({{1, has::neither}});
    made.push_back({{0, has::neither}, {5, has::both}});
    made.push_back({{5, has::neither}, {0, has::both}});
    return made;
  }();
  return all;
}

template <class T>
void check_all(bool reference) {
  const auto places = views::iota(std::size_t{0}, std::size(activations));
  for (const auto& [axes, a, side] : views::cartesian_product(geometries(), places, edges))
    ASSERT_NO_FATAL_FAILURE(check<T>(axes, static_cast<activation>(a), side, reference));
}

TEST(FinishLayer, AddsTheBiasAndAppliesTheActivation) {
  kgtest::on_every_target([](const char*) { check_all<float>(false); });
}
TEST(FinishLayer, DoesSoInDoublePrecision) {
  kgtest::on_every_target([](const char*) { check_all<double>(false); });
}
TEST(FinishLayer, ReferenceAddsTheBiasAndAppliesTheActivation) {
  check_all<float>(true);
  check_all<double>(true);
}

// ------------------------------------------------------------------------------------------ bits

template <class T>
const entry& kernel_of(const char* op) {
  const auto in = [&](const auto& table) -> const entry* {
    for (const entry& e : table)
      if (e.type == type_of<T> && std::strcmp(e.op, op) == 0) return &e;
    return nullptr;
  };
  if (const entry* found = in(unary_simd)) return *found;
  if (const entry* found = in(parametric_simd)) return *found;
  return *in(binary_simd);
}

// y with the bias and the activation of an array of one row, by the kernels of the parts.
template <class T>
std::vector<T> by_parts(std::vector<T> y, const std::vector<T>* bias, const std::vector<T>& weights, activation after,
                        double alpha) {
  const std::string op = activations[static_cast<int>(after)].op;
  if (bias) kernel_of<T>("Add").flat2(y.data(), bias->data(), y.data(), y.size());
  if (op == "Identity") return y;
  const entry& kernel = kernel_of<T>(op.c_str());
  if (kernel.flat1) kernel.flat1(y.data(), y.data(), y.size());
  else if (kernel.flat2) kernel.flat2(y.data(), weights.data(), y.data(), y.size());
  else {
    const unary_geometry g{static_cast<std::int64_t>(y.size()), {alpha, 0}};
    const void* in[] = {y.data()};
    void* out[] = {y.data()};
    kernel.run(in, out, &g);
  }
  return y;
}

template <class T>
std::vector<T> special_values() {
  using limits = std::numeric_limits<T>;
  return {T{0},
          -T{0},
          limits::infinity(),
          -limits::infinity(),
          limits::quiet_NaN(),
          limits::max(),
          limits::min(),
          -limits::min(),
          limits::denorm_min(),
          -limits::max(),
          -limits::denorm_min(),
          T{6},
          T{1},
          T{-1},
          T(5.9999995),
          T{7},
          T{-100},
          T{100}};
}

template <class T>
void compare_bits() {
  const std::vector<T> values = special_values<T>();
  std::vector<T> product, bias, weights;
  constexpr T slopes[] = {T{0.25}, T{-2}, T{0}};
  for (const auto& [a, b, w] : views::cartesian_product(values, values, slopes))
    product.push_back(a), bias.push_back(b), weights.push_back(w);
  constexpr double alphas[] = {0.2, -0.5};
  constexpr bool either[] = {true, false};
  const auto places = views::iota(std::size_t{0}, std::size(activations));
  for (const auto& [a, alpha, has_bias] : views::cartesian_product(places, alphas, either)) {
    const auto after = static_cast<activation>(a);
    const fused_geometry g = geometry({{static_cast<std::int64_t>(product.size()), has::both}}, after, alpha);
    fused_geometry without = g;
    without.walk.strides[1][0] = 0;
    std::vector<T> y = product;
    const void* in[] = {has_bias ? bias.data() : nullptr, weights.data()};
    void* out[] = {y.data()};
    finish<T>(false)(in, out, has_bias ? &g : &without);
    const std::vector<T> want = by_parts(product, has_bias ? &bias : nullptr, weights, after, alpha);
    for (std::size_t i = 0; i < y.size(); ++i)
      ASSERT_EQ(std::memcmp(&y[i], &want[i], sizeof(T)), 0)
          << activations[a].name << " of " << product[i] << " + " << bias[i] << ": " << y[i] << ", " << want[i];
  }
}

TEST(FinishLayer, HasTheBitsOfItsPartsForSpecialValues) {
  kgtest::on_every_target([](const char*) {
    compare_bits<float>();
    compare_bits<double>();
  });
}

}  // namespace
