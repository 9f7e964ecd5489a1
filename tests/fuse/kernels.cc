// SPDX-License-Identifier: Apache-2.0
// The chains' kernels against scalar code, on every target: all lengths around the vectors', operands that are single
// numbers, results over an operand and past the caches, nothing next to the arrays.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <deque>
#include <random>
#include <string>
#include <type_traits>
#include <vector>
#include <range/v3/view/cartesian_product.hpp>
#include <range/v3/view/iota.hpp>

#include "kernels/fuse/chain.h"
#include "kernels/elementwise/unary.h"
#include "tests/support/kernels.h"

namespace {

using namespace kerngrad::kernels;
using kgtest::edge;
using kgtest::edges;
using kgtest::guarded;
namespace views = ranges::views;

// First ops that are ops have their own kernels, and the chain must be bitwise identical to them. The others are
// computed by their definitions.
template <class T>
void apply_op(chain_first_op first_op, T* y, std::size_t n) {
  constexpr bool narrow = std::is_same_v<T, float>;
  switch (first_op) {
    case chain_first_op::Sigmoid: return narrow ? Sigmoid_float32(y, y, n) : Sigmoid_float64(y, y, n);
    case chain_first_op::Tanh: return narrow ? Tanh_float32(y, y, n) : Tanh_float64(y, y, n);
    case chain_first_op::Exp: return narrow ? Exp_float32(y, y, n) : Exp_float64(y, y, n);
    case chain_first_op::SigmoidTail:
      for (std::size_t i = 0; i < n; ++i) y[i] = -std::fabs(y[i]);
      return apply_op(chain_first_op::Sigmoid, y, n);
    default: return;
  }
}
template <class T>
T first_op_value(chain_first_op first_op, T a, T b, T c) {
  const T slope = b * (1 - b), turned = a * c, sigmoid = c >= 0 ? 1 - b : b;
  switch (first_op) {
    case chain_first_op::SigmoidGrad: return a * slope;
    case chain_first_op::SwishGrad: return a * sigmoid + turned * slope;
    default: return a;
  }
}
template <class T>
T after(chain_step step, T value, T x) {
  switch (step) {
    case chain_step::none: return value;
    case chain_step::plus: return value + x;
    case chain_step::minus: return value - x;
    case chain_step::times: return value * x;
    case chain_step::from: return x - value;
  }
  return value;
}

struct setting {
  std::size_t n;
  int singles;  // bit k: operand k is one number
  int over;     // the operand that the result replaces; -1: none
  bool past_caches;
  edge side;
};

template <class T>
void check(std::size_t which, const setting& s) {
  const chain_shape& shape = chain_shapes[which];
  const std::size_t count = operands_of(shape);
  std::deque<guarded<T>> x;
  std::mt19937 random(static_cast<unsigned>(which + 1));
  for (std::size_t k = 0; k < count; ++k) {
    x.emplace_back((s.singles >> k) & 1 ? 1 : s.n, s.side);
    for (T& v : x.back()) v = static_cast<T>(std::uniform_real_distribution<double>(-9, 9)(random));
  }
  const auto at = [&](std::size_t k, std::size_t i) { return x[k].data()[(s.singles >> k) & 1 ? 0 : i]; };
  std::vector<T> want(s.n);
  const std::size_t first = operands_of(shape.first_op);
  for (std::size_t i = 0; i < s.n; ++i)
    want[i] = first_op_value(shape.first_op, at(0, i), first > 1 ? at(1, i) : T{}, first > 2 ? at(2, i) : T{});
  apply_op<T>(shape.first_op, want.data(), s.n);
  for (std::size_t i = 0; i < s.n; ++i)
    for (std::size_t k = first; k < count; ++k) want[i] = after(shape.steps[k - first], want[i], at(k, i));
  chain_geometry g{s.n, {}, s.past_caches, {}};
  const void* in[most_chain_operands] = {};
  for (std::size_t k = 0; k < count; ++k) in[k] = x[k].data(), g.moves[k] = !((s.singles >> k) & 1);
  guarded<T> fresh(s.n, s.side);
  T* const y = s.over < 0 ? fresh.data() : x[static_cast<std::size_t>(s.over)].data();
  void* out[] = {y};
  (std::is_same_v<T, float> ? chain_simd[which].float32 : chain_simd[which].float64)(in, out, &g);
  EXPECT_TRUE(s.n == 0 || std::memcmp(y, want.data(), s.n * sizeof(T)) == 0)
      << "chain " << which << " of " << sizeof(T) << " bytes, n " << s.n << ", singles " << s.singles << ", over "
      << s.over << ", past the caches " << s.past_caches;
}

void check_all(const setting& s) {
  for (std::size_t which = 0; which < std::size(chain_shapes); ++which) {
    if (s.over >= static_cast<int>(operands_of(chain_shapes[which]))) continue;
    check<float>(which, s);
    check<double>(which, s);
  }
}

TEST(a_chain, gives_the_bits_of_its_steps_for_every_length) {
  kgtest::on_every_target([](const char*) {
    for (const auto& [n, side] : views::cartesian_product(views::iota(std::size_t{0}, std::size_t{70}), edges))
      check_all({n, 0, -1, false, side});
    check_all({1000, 0, -1, false, edge::end});
  });
}

// Values between the steps, for chains that keep it; the steps before `kept` are those of the whole.
template <class T>
void check_kept(std::size_t which, std::size_t n, int kept, edge side, bool tail = false) {
  const chain_shape& shape = chain_shapes[which];
  const std::size_t count = operands_of(shape);
  std::deque<guarded<T>> x, between;
  std::mt19937 random(static_cast<unsigned>(which + 1));
  for (std::size_t k = 0; k < count; ++k) {
    x.emplace_back(n, side);
    for (T& v : x.back()) v = static_cast<T>(std::uniform_real_distribution<double>(-9, 9)(random));
  }
  chain_geometry g{n, {true, true, true, true}, false, {}, tail};
  for (std::size_t k = 0; k + 1 < count; ++k) {
    between.emplace_back(n, side);
    if ((kept >> k) & 1) g.kept[k] = between.back().data();
  }
  const void* in[most_chain_operands] = {};
  for (std::size_t k = 0; k < count; ++k) in[k] = x[k].data();
  guarded<T> y(n, side);
  void* out[] = {y.data()};
  (std::is_same_v<T, float> ? chain_simd[which].float32 : chain_simd[which].float64)(in, out, &g);
  std::vector<T> want(x[0].data(), x[0].data() + n), tails = want;
  apply_op<T>(shape.first_op, want.data(), n);
  apply_op<T>(chain_first_op::SigmoidTail, tails.data(), n);
  for (std::size_t k = 0; k < count; ++k) {
    const T* got = k + 1 == count ? y.data() : ((kept >> k) & 1) ? between[k].data() : want.data();
    if (k == 0 && tail && (kept & 1)) {
      EXPECT_TRUE(n == 0 || std::memcmp(got, tails.data(), n * sizeof(T)) == 0) << which << ", tail, n " << n;
      got = want.data();
    }
    EXPECT_TRUE(n == 0 || std::memcmp(got, want.data(), n * sizeof(T)) == 0) << which << ", value " << k << ", n " << n;
    for (std::size_t i = 0; i < n && k + 1 < count; ++i) want[i] = after(shape.steps[k], want[i], x[k + 1].data()[i]);
  }
}

TEST(a_chain, keeps_what_lies_between_its_steps) {
  constexpr std::size_t sizes[] = {0, 3, 37};
  int checked = 0;
  kgtest::on_every_target([&](const char*) {
    for (std::size_t which = 0; which < std::size(chain_shapes); ++which) {
      if (!keeps_values(chain_shapes[which].first_op)) continue;
      const auto kept_ones = views::iota(1, 1 << (operands_of(chain_shapes[which]) - 1));
      for (const auto& [n, kept] : views::cartesian_product(sizes, kept_ones)) {
        check_kept<float>(which, n, kept, edge::end);
        check_kept<double>(which, n, kept, edge::begin);
        if (chain_shapes[which].first_op == chain_first_op::Sigmoid) {
          check_kept<float>(which, n, kept, edge::end, true);
          check_kept<double>(which, n, kept, edge::begin, true);
        }
        ++checked;
      }
    }
  });
  EXPECT_GT(checked, 0);
}

TEST(a_chain, takes_numbers_for_arrays) {
  kgtest::on_every_target([](const char*) {
    for (int singles = 1; singles < 16; ++singles) check_all({75, singles, -1, false, edge::end});
  });
}

TEST(a_chain, may_replace_any_of_its_operands) {
  constexpr std::size_t sizes[] = {3, 16, 75};
  kgtest::on_every_target([&](const char*) {
    for (const auto& [over, n] : views::cartesian_product(views::iota(0, 4), sizes))
      check_all({n, 0, over, false, edge::end});
  });
}

TEST(a_chain, writes_past_the_caches_what_it_writes_through_them) {
  constexpr std::size_t sizes[] = {0, 1, 7, 64, 75, 201};
  kgtest::on_every_target([&](const char*) {
    for (const auto& [n, side] : views::cartesian_product(sizes, edges)) check_all({n, 0, -1, true, side});
    check_all({75, 0, 0, true, edge::end});
  });
}

}  // namespace
