// SPDX-License-Identifier: Apache-2.0
// Fused functions that end with a reduction, and their gradients: the bits of the ops called one by one, without an
// array of what is reduced.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/fused/fused.h"
#include "tests/support/refusal.h"
import kerngrad;

namespace {

using kg::dtype;
using kg::shape;
using kg::tensor;
using kgtest::normal;
using kgtest::same_bits;

constexpr auto weighed = [](const auto& x, const auto& w, const auto& z) { return x * kg::sigmoid(x) * w + z; };

// The reductions by what they are written with. `Axis` 9 is all axes.
template <int Axis, bool Keep = false>
struct sum_of {
  constexpr auto operator()(const auto& x, const auto& w, const auto& z) const {
    if constexpr (Axis == 9) return kg::sum(weighed(x, w, z));
    else return kg::sum(weighed(x, w, z), Axis, Keep);
  }
};
template <int Axis, bool Keep = false>
struct mean_of {
  constexpr auto operator()(const auto& x, const auto& w, const auto& z) const {
    if constexpr (Axis == 9) return kg::mean(weighed(x, w, z));
    else return kg::mean(weighed(x, w, z), Axis, Keep);
  }
};

struct operands {
  tensor x, w, z;
  operands(const shape& dims, dtype type)
      : x(normal(dims, 1, type)), w(normal(dims, 2, type)), z(normal(dims, 3, type)) {}
};

// The value, the value with all gradients in one pass, and the same on the tape, where the result is weighed.
template <class F>
void check(F expression, const shape& dims) {
  constexpr auto fused = kg::fuse(F{});
  for (dtype type : {dtype::float32, dtype::float64}) {
    const operands in(dims, type);
    const std::string what = to_string(dims) + " of " + std::string(kg::name_of(type));
    EXPECT_TRUE(same_bits(fused(in.x, in.w, in.z), expression(in.x, in.w, in.z))) << what;
    const auto expected = kg::value_and_grads(expression)(in.x, in.w, in.z);
    const auto at_once = fused.value_and_grads(in.x, in.w, in.z);
    const auto on_tape = kg::value_and_grads(fused)(in.x, in.w, in.z);
    EXPECT_TRUE(same_bits(at_once.value, expected.value) && same_bits(on_tape.value, expected.value)) << what;
    const tensor weights = normal(expected.value.dims(), 4, type);
    const auto seeded = [&](auto f) {
      return kg::grads([&](const tensor& x, const tensor& w, const tensor& z) { return f(x, w, z) * weights; })(
          in.x, in.w, in.z);
    };
    const auto got = seeded(fused), want = seeded(expression);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_TRUE(same_bits(at_once.grads[i], expected.grads[i])) << what << ", operand " << i;
      EXPECT_TRUE(same_bits(on_tape.grads[i], expected.grads[i])) << what << " on the tape, operand " << i;
      EXPECT_TRUE(same_bits(got[i], want[i])) << what << " weighed, operand " << i;
    }
  }
}

// Around blocks, stretches and chunks; rows of which several are in a block, and which are in several blocks.
const std::vector<shape> long_ones{{}, {1}, {17}, {1024}, {1025}, {4097}, {16384}, {16385}, {40, 1250}, {3, 70001}};
const std::vector<shape> rows{{1}, {9}, {700, 3}, {7, 900}, {5, 1024}, {3, 1025}, {2, 3, 5000}, {2, 20481}};

TEST(a_fused_sum_of_all, has_the_bits_and_the_gradients_of_its_ops) {
  for (const shape& dims : long_ones) {
    check(sum_of<9>{}, dims);
    check(mean_of<9>{}, dims);
  }
}

TEST(a_fused_sum_of_rows, has_the_bits_and_the_gradients_of_its_ops) {
  for (const shape& dims : rows) {
    check(sum_of<-1>{}, dims);
    check(mean_of<-1, true>{}, dims);
  }
  check(sum_of<1, true>{}, {30, 40});
  check(mean_of<2>{}, {2, 3, 400});
}

TEST(a_fused_sum_over_other_axes, is_that_of_its_ops) {
  check(sum_of<0>{}, {30, 40});
  check(mean_of<1>{}, {3, 20, 11});
  check(sum_of<-1>{}, {0, 3});
  check(sum_of<9>{}, {0});
}

TEST(a_fused_maximum_or_product, of_long_rows_has_the_bits_of_its_ops) {
  const tensor x = normal({3, 20481}, 1), y = normal({3, 20481}, 2);
  const auto most = [](auto a, auto b) { return kg::max(a * b, -1); };
  const auto product = [](auto a, auto b) { return kg::prod(a * b * 0.01 + 1, 1, true); };
  EXPECT_TRUE(same_bits(kg::fuse(most)(x, y), most(x, y)));
  EXPECT_TRUE(same_bits(kg::fuse(product)(x, y), product(x, y)));
}

TEST(a_fused_sum, hands_every_element_the_same_where_nothing_weighs_it) {
  const tensor x = normal({3, 1100}, 1), y = normal({3, 1100}, 2);
  const auto check_pair = [&](auto expression) {
    constexpr auto fused = kg::fuse(decltype(expression){});
    const auto expected = kg::value_and_grads(expression)(x, y);
    const auto at_once = fused.value_and_grads(x, y), on_tape = kg::value_and_grads(fused)(x, y);
    EXPECT_TRUE(same_bits(at_once.value, expected.value));
    for (std::size_t i = 0; i < 2; ++i) {
      EXPECT_TRUE(same_bits(at_once.grads[i], expected.grads[i])) << i;
      EXPECT_TRUE(same_bits(on_tape.grads[i], expected.grads[i])) << i;
    }
  };
  check_pair([](auto a, auto b) { return kg::sum(a + b); });
  check_pair([](auto a, auto b) { return kg::mean(a - b, -1); });
  check_pair([](auto a, auto b) { return kg::mean(a + b); });
  check_pair([](auto a, auto b) { return kg::sum(kg::exp(a) + b * 0); });
  check_pair([](auto a, auto) { return kg::sum(kg::exp(a)); });  // the gradient is what is added up
  check_pair([](auto a, auto) { return kg::sum(a); });
}

// ------------------------------------------------------------------------------------------ some of the gradients

TEST(a_fused_gradient_of_some_operands, is_what_that_of_all_has_for_them) {
  const operands in({5000}, dtype::float32);
  constexpr auto with_sum = kg::fuse(sum_of<9>{});
  constexpr auto without = kg::fuse(weighed);
  const auto all = with_sum.value_and_grads(in.x, in.w, in.z), plain = without.value_and_grads(in.x, in.w, in.z);
  const auto two = with_sum.value_and_grads<0, 1>(in.x, in.w, in.z);
  EXPECT_TRUE(same_bits(two.value, all.value));
  EXPECT_TRUE(same_bits(two.grads[0], all.grads[0]) && same_bits(two.grads[1], all.grads[1]));
  const auto turned = without.value_and_grads<2, 0>(in.x, in.w, in.z);
  EXPECT_TRUE(same_bits(turned.value, plain.value));
  EXPECT_TRUE(same_bits(turned.grads[0], plain.grads[2]) && same_bits(turned.grads[1], plain.grads[0]));
  const auto one = without.value_and_grads<1>(in.x, in.w, in.z);
  EXPECT_TRUE(same_bits(one.grads[0], plain.grads[1]));
}

TEST(a_fused_gradient_of_some_operands, is_there_where_the_ops_run_one_by_one_and_where_operands_broadcast) {
  const operands in({40, 50}, dtype::float64);
  const tensor row = normal({50}, 4, dtype::float64);
  constexpr auto fused = kg::fuse(sum_of<9>{});
  const auto expected = kg::value_and_grads(sum_of<9>{})(in.x, row, in.z);
  const auto got = fused.value_and_grads<1, 0>(in.x, row, in.z);
  EXPECT_LT(kgtest::distance(got.grads[0], expected.grads[1]), 1e-12);
  EXPECT_LT(kgtest::distance(got.grads[1], expected.grads[0]), 1e-12);
  const auto of_all = kg::fuse(weighed).value_and_grads(in.x, row, in.z);
  const auto of_two = kg::fuse(weighed).value_and_grads<1, 0>(in.x, row, in.z);
  EXPECT_TRUE(same_bits(of_two.grads[0], of_all.grads[1]) && same_bits(of_two.grads[1], of_all.grads[0]));
  const kg::backend_scope slow("reference");
  const auto stepwise = fused.value_and_grads<1>(in.x, row, in.z);
  EXPECT_EQ(stepwise.grads.size(), 1u);
  EXPECT_LT(kgtest::distance(stepwise.grads[0], expected.grads[1]), 1e-12);
}

// ------------------------------------------------------------------------------------------ memory

// The sizes of all blocks that are taken while it lives.
class watched_memory {
 public:
  watched_memory() { kg::set_allocator({&take, &release, this}); }
  ~watched_memory() { kg::set_allocator({}); }
  std::ptrdiff_t of_at_least(std::size_t bytes) const {
    return std::count_if(taken_.begin(), taken_.end(), [=](std::size_t size) { return size >= bytes; });
  }

 private:
  static void* take(void* self, std::size_t bytes) {
    static_cast<watched_memory*>(self)->taken_.push_back(bytes);
    return std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  }
  static void release(void*, void* block, std::size_t) { std::free(block); }
  std::vector<std::size_t> taken_;
};

TEST(a_fused_sum, takes_memory_for_the_gradients_that_are_asked_for_and_no_other_array) {
  const operands in({100, 1000}, dtype::float32);
  constexpr auto all = kg::fuse(sum_of<9>{});
  constexpr auto of_rows = kg::fuse(mean_of<-1>{});
  const auto arrays_of = [](auto call) {
    const watched_memory watched;
    static_cast<void>(call());
    return watched.of_at_least(400000);
  };
  EXPECT_EQ(arrays_of([&] { return all(in.x, in.w, in.z); }), 0);
  EXPECT_EQ(arrays_of([&] { return all.value_and_grads<0, 1>(in.x, in.w, in.z).value; }), 2);
  EXPECT_EQ(arrays_of([&] { return of_rows.value_and_grads<0>(in.x, in.w, in.z).value; }), 1);
  const auto on_tape = [&](auto f) {
    return kg::grads([&](const tensor& x, const tensor& w) { return f(x, w, in.z); })(in.x, in.w)[0];
  };
  EXPECT_EQ(arrays_of([&] { return on_tape(all); }), 2);
  EXPECT_EQ(arrays_of([&] { return on_tape(of_rows); }), 2);
}

// ------------------------------------------------------------------------------------------ the tape

TEST(a_fused_sum_on_the_tape, is_differentiable_again) {
  const operands in({3, 40}, dtype::float64);
  const auto second = [&](auto f) {
    auto first = kg::grad([&](const tensor& t) { return f(t, in.w, t) * f(t, t, in.z); });
    return kg::grad([&](const tensor& t) { return kg::sum(first(t) * first(t)); })(in.x);
  };
  EXPECT_LT(kgtest::distance(second(kg::fuse(sum_of<9>{})), second(sum_of<9>{})), 1e-10);
  EXPECT_LT(kgtest::distance(second(kg::fuse(mean_of<-1>{})), second(mean_of<-1>{})), 1e-10);
}

TEST(a_fused_sum_on_the_tape, follows_the_rule_that_replaces_that_of_its_reduction) {
  const operands in({30}, dtype::float32);
  const kg::rule_scope other(kg::rule<"Sum">(
      kg::wrt(kg::keep::nothing, [](const auto& c) { return kg::broadcast_to(c.dy() * 3, c.dims(0)); })));
  const auto expected = kg::grads(sum_of<9>{})(in.x, in.w, in.z);
  const auto on_tape = kg::grads(kg::fuse(sum_of<9>{}))(in.x, in.w, in.z);
  const auto at_once = kg::fuse(sum_of<9>{}).value_and_grads(in.x, in.w, in.z);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(same_bits(on_tape[i], expected[i])) << i;
    EXPECT_TRUE(same_bits(at_once.grads[i], expected[i])) << i;
  }
}

}  // namespace
