// SPDX-License-Identifier: Apache-2.0
// Runs of sums, differences and products inside fused functions, which one kernel computes: expressions of every shape
// in the list of kernels, against their ops one by one.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <range/v3/view/cartesian_product.hpp>

#include "kernels/fuse/chain.h"
#include "kernels/common/stream.h"
#include "tests/fused/fused.h"
import kerngrad;

namespace {

namespace views = ranges::views;

using kerngrad::kernels::chain_first_op;
using kerngrad::kernels::chain_shape;
using kerngrad::kernels::chain_shapes;
using kerngrad::kernels::chain_step;
using kerngrad::kernels::operands_of;
using kg::dtype;
using kg::tensor;
using kgtest::normal;
using kgtest::same_bits;

// `Swapped` writes the operands of sums and products the other way round.
template <bool Swapped>
constexpr auto product(const auto& a, const auto& b) {
  if constexpr (Swapped) return b * a;
  else return a * b;
}
template <chain_first_op FirstOp, bool Swapped>
constexpr auto first_op_of(const auto& x, [[maybe_unused]] const auto& y) {
  if constexpr (FirstOp == chain_first_op::Sigmoid) return kg::sigmoid(x);
  else if constexpr (FirstOp == chain_first_op::Tanh) return kg::tanh(x);
  else if constexpr (FirstOp == chain_first_op::Exp) return kg::exp(x);
  else if constexpr (FirstOp == chain_first_op::SigmoidGrad) return kg::sigmoid_grad(x, y);
  else if constexpr (FirstOp == chain_first_op::SwishGrad || FirstOp == chain_first_op::SigmoidTail)
    return product<Swapped>(x, kg::sigmoid(y)) + kg::sigmoid_grad(product<!Swapped>(x, y), y);
  else return x;
}
template <chain_step Step, bool Swapped>
constexpr auto after(const auto& value, const auto& x) {
  if constexpr (Step == chain_step::plus) {
    if constexpr (Swapped) return x + value;
    else return value + x;
  } else if constexpr (Step == chain_step::times) {
    if constexpr (Swapped) return x * value;
    else return value * x;
  } else if constexpr (Step == chain_step::minus) {
    return value - x;
  } else if constexpr (Step == chain_step::from) {
    return x - value;
  } else {
    return value;
  }
}

template <std::size_t Which, bool Swapped>
struct chained {
  static constexpr chain_shape shape = chain_shapes[Which];
  constexpr auto operator()(const auto& a, const auto& b, const auto& c, const auto& d) const {
    constexpr std::size_t taken = operands_of(shape.first_op);
    [[maybe_unused]] const auto gate = kg::sigmoid(b) * d;  // whose tail a first op of two operands takes
    const auto first_op = first_op_of<shape.first_op, Swapped>(a, b);
    if constexpr (taken == 3) {
      return after<shape.steps[0], Swapped>(first_op, d);
    } else if constexpr (taken == 2) {
      return after<shape.steps[0], Swapped>(first_op, c) - gate;
    } else {
      const auto first = after<shape.steps[0], Swapped>(first_op, b);
      return after<shape.steps[2], Swapped>(after<shape.steps[1], Swapped>(first, c), d);
    }
  }
};
// The same with numbers in the expression, and in the middle of others.
template <std::size_t Which, bool Swapped>
struct chained_with_numbers {
  static constexpr chain_shape shape = chain_shapes[Which];
  constexpr auto operator()(const auto& a, const auto& b, const auto& c, const auto& d) const {
    const auto first = after<shape.steps[0], Swapped>(first_op_of<shape.first_op, Swapped>(kg::abs(a), c), 1.5);
    const auto second = after<shape.steps[1], Swapped>(first, c);
    return kg::sqrt(kg::abs(after<shape.steps[2], Swapped>(second, 3))) / (b - d);
  }
};

template <class F>
void expect_same(const std::string& what, const tensor (&x)[4]) {
  constexpr auto fused = kg::fuse(F{});
  for (const kg::simd_target& target : kg::simd_targets()) {
    kg::set_simd_target(target.name);
    EXPECT_TRUE(same_bits(fused(x[0], x[1], x[2], x[3]), F{}(x[0], x[1], x[2], x[3]))) << what << target.name;
  }
  kg::set_simd_target("");
}

template <std::size_t Which, bool Swapped>
void check_shape() {
  constexpr dtype types[] = {dtype::float32, dtype::float64};
  constexpr std::int64_t sizes[] = {1, 37, 1500};
  for (const auto& [type, n] : views::cartesian_product(types, sizes)) {
    const tensor x[] = {normal({n}, 1, type), normal({n}, 2, type), normal({n}, 3, type), normal({n}, 4, type)};
    const std::string what = "chain " + std::to_string(Which) + " of " + std::to_string(n) + " on ";
    expect_same<chained<Which, Swapped>>(what, x);
    expect_same<chained_with_numbers<Which, Swapped>>(what + "numbers, ", x);
  }
}

TEST(a_fused_chain, gives_the_bits_of_its_ops_called_one_by_one) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (check_shape<I, false>(), ...);
    (check_shape<I, true>(), ...);
  }(std::make_index_sequence<std::size(chain_shapes)>{});
}

TEST(a_fused_chain, takes_rows_columns_and_numbers_of_all_shapes) {
  const auto of = [](const kg::shape& a, const kg::shape& b, const kg::shape& c, const kg::shape& d) {
    const tensor x[] = {normal(a, 1), normal(b, 2), normal(c, 3), normal(d, 4)};
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (expect_same<chained<I, false>>("chain " + std::to_string(I) + " of " + to_string(b) + " on ", x), ...);
    }(std::make_index_sequence<std::size(chain_shapes)>{});
  };
  of({5, 300}, {300}, {5, 1}, {5, 300});       // several rows a block
  of({3, 2000}, {2000}, {3, 1}, {});           // a block is a part of a row
  of({1, 70}, {3, 2, 70}, {2, 1}, {3, 1, 1});  // several axes in a block
  of({40, 3}, {3}, {40, 1}, {40, 3});          // rows too short for a kernel's call
  of({300}, {5, 1}, {5, 300}, {1});
}

TEST(a_fused_chain, passes_on_infinities_zeros_and_denormals) {
  for (dtype type : {dtype::float32, dtype::float64}) {
    const tensor a = kgtest::values_of(type, {99}, 1), one = normal({99}, 2, type);
    const tensor x[] = {a, one, one + 1, one * 3};
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (expect_same<chained<I, false>>("chain " + std::to_string(I) + " on ", x), ...);
    }(std::make_index_sequence<std::size(chain_shapes)>{});
  }
}

// A value that is read twice, or is a result, is not computed inside a chain only.
constexpr auto reads_twice = [](const auto& a, const auto& b, const auto& c, const auto& d) {
  const auto product = a * b, difference = 1 - product;
  return product * difference * c + (d - product * c) * (difference + difference);
};

TEST(a_value_that_is_read_twice, is_there_for_both_readers) {
  const tensor x[] = {normal({2500}, 1), normal({2500}, 2), normal({2500}, 3), normal({2500}, 4)};
  expect_same<decltype(reads_twice)>("", x);
  const auto got = kg::fuse(reads_twice).value_and_grads(x[0], x[1], x[2], x[3]);
  const auto expected = kg::value_and_grads(reads_twice)(x[0], x[1], x[2], x[3]);
  EXPECT_TRUE(same_bits(got.value, expected.value));
  for (std::size_t i = 0; i < 4; ++i) EXPECT_LT(kgtest::distance(got.grads[i], expected.grads[i]), 1e-5);
}

// A value inside a chain is a result itself, is read again, and is read before the chain has ended.
TEST(a_value_inside_of_a_chain, is_kept_for_those_who_read_it_later) {
  const auto check = [](auto expression) {
    constexpr auto fused = kg::fuse(decltype(expression){});
    const auto same = [&](const tensor& x, const tensor& y) {
      EXPECT_TRUE(same_bits(fused(x, y), expression(x, y)));
      const auto got = fused.value_and_grads(x, y), expected = kg::value_and_grads(expression)(x, y);
      EXPECT_TRUE(same_bits(got.value, expected.value));
      for (std::size_t i = 0; i < 2; ++i) EXPECT_LT(kgtest::distance(got.grads[i], expected.grads[i]), 1e-5);
      const auto of_x = [&](auto f) { return kg::grad([&](const tensor& t) { return f(t, y) * 3; })(x); };
      EXPECT_LT(kgtest::distance(of_x(fused), of_x(expression)), 1e-5);
    };
    same(normal({2500}, 1), normal({2500}, 2));
    same(normal({25, 100}, 1), normal({25, 100}, 2));
    same(normal({25, 100}, 1), normal({100}, 2));
    same(normal({25, 1}, 1), normal({2, 1, 100}, 2));
  };
  check([](const auto& x, const auto& y) { return kg::tanh(x) * y; });  // the gradient of x needs what that of y keeps
  check([](const auto& x, const auto& y) { return (kg::sigmoid(x) * y + x) * kg::sigmoid(x); });
  check([](const auto& x, const auto& y) {
    const auto weighed = kg::tanh(x) * y;
    return (weighed * x + y) / (weighed * weighed + 1);
  });
  check([](const auto& x, const auto& y) {
    const auto e = kg::exp(-x), product = e * y;
    return product * kg::sqrt(kg::abs(e)) + kg::square(product) * y;
  });
  check([](const auto& x, const auto& y) { return kg::sigmoid(x) * kg::sigmoid(x) * y + kg::sigmoid(x); });
}

// The gradient of a sigmoid reads its tail, which stands in place of the sigmoid unless something else reads that.
TEST(a_tail_in_place_of_a_sigmoid, gives_the_bits_of_the_ops_called_one_by_one) {
  const auto check = [](auto expression) {
    constexpr auto fused = kg::fuse(decltype(expression){});
    for (const kg::simd_target& target : kg::simd_targets()) {
      kg::set_simd_target(target.name);
      for (dtype type : {dtype::float32, dtype::float64})
        for (const kg::shape& second : {kg::shape{25, 100}, kg::shape{100}, kg::shape{25, 1}}) {
          const tensor x = normal({25, 100}, 1, type) * 30, y = normal(second, 2, type);
          const auto got = fused.value_and_grads(x, y), expected = kg::value_and_grads(expression)(x, y);
          EXPECT_TRUE(same_bits(got.value, expected.value)) << target.name;
          EXPECT_TRUE(same_bits(got.grads[0], expected.grads[0])) << target.name << to_string(second);
          const auto of_x = [&](const auto& f) { return kg::grad([&](const tensor& t) { return f(t, y); })(x); };
          EXPECT_TRUE(same_bits(of_x(fused), of_x(expression))) << target.name << to_string(second);
        }
    }
    kg::set_simd_target("");
  };
  check([](const auto& x, const auto& y) { return kg::sigmoid(x) * y; });
  check([](const auto& x, const auto& y) { return kg::sigmoid(x) * y + y; });
  check([](const auto& x, const auto& y) { return kg::sigmoid(x) - y; });
  check([](const auto& x, const auto& y) { return kg::silu(x) * y; });
  check([](const auto& x, const auto& y) { return kg::exp(kg::sigmoid(x)) * y; });
  check([](const auto& x, const auto& y) { return kg::tanh(kg::sigmoid(-x)) * y; });
  // The number takes its dtype from the sigmoid, and no step of the gradient reads the sigmoid's value.
  check([](const auto& x, const auto& y) { return kg::sigmoid(x) * 0.09 + y; });
  check([](const auto& x, const auto& y) { return 2 * kg::sigmoid(x) - y; });
  check([](const auto& x, const auto& y) { return kg::sigmoid(kg::sigmoid(x) * 3) * 0.5 - y; });
}

TEST(a_large_result_of_a_fused_function, has_the_same_bits_past_the_caches) {
  struct restored {
    std::size_t before = kerngrad::kernels::stream_least;
    ~restored() { kerngrad::kernels::stream_least = before; }
  } restore;
  const tensor x[] = {normal({5003}, 1), normal({5003}, 2), normal({5003}, 3), normal({5003}, 4)};
  const auto all = [&] { return kg::fuse(reads_twice).value_and_grads(x[0], x[1], x[2], x[3]); };
  const auto expected = all();
  kerngrad::kernels::stream_least = 1;
  const auto got = all();
  EXPECT_TRUE(same_bits(got.value, expected.value));
  for (std::size_t i = 0; i < 4; ++i) EXPECT_TRUE(same_bits(got.grads[i], expected.grads[i]));
}

}  // namespace
