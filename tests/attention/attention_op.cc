// SPDX-License-Identifier: Apache-2.0
// The op of attention next to a composition of products and softmax. tests/composed/attention.cc has the function.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "tests/support/refusal.h"

import kerngrad;
import kerngrad.testkit;

namespace {

using kg::attr;
using kg::tensor;

tensor uniform(const kg::shape& dims, int seed, kg::dtype type = kg::dtype::float64) {
  return kg::random_uniform(dims, -1, 1, seed, type);
}
std::array<tensor, 2> attended(const tensor& q, const tensor& k, const tensor& v, bool causal = false) {
  return kg::call<"ScaledDotProductAttention">(q, k, v, attr<"causal">(causal), attr<"scale">(0.5));
}

TEST(attention_op, gives_the_logarithms_of_sums) {
  const tensor q = uniform({2, 3, 4}, 1), k = uniform({2, 5, 4}, 2), v = uniform({2, 5, 2}, 3);
  const std::vector<double> got = attended(q, k, v)[1].to_doubles();
  const std::vector<double> wanted = kg::logsumexp(kg::matmul(q, k, false, true) * 0.5).to_doubles();
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 1e-14) << i;
}

TEST(attention_op, keeps_logarithms_of_half_precision_in_float32) {
  for (const kg::dtype type : {kg::dtype::float16, kg::dtype::bfloat16}) {
    const tensor x = uniform({4, 8}, 1, type);
    const auto [y, log_sum] = attended(x, x, x);
    EXPECT_EQ(y.type(), type);
    EXPECT_EQ(log_sum.type(), kg::dtype::float32);
  }
}

// The scores of one head would take 64 MiB.
TEST(attention_op, takes_memory_that_is_linear_in_length_forward_and_backward) {
  constexpr std::int64_t length = 4096, numbers = 8;
  const tensor q = uniform({length, numbers}, 1, kg::dtype::float32), k = uniform({length, numbers}, 2, q.type()),
               v = uniform({length, numbers}, 3, q.type());
  const kg::memory_budget budget(40 * length * numbers * 4 + (std::int64_t{1} << 20));
  const auto all = kg::value_and_grads([](const tensor& a, const tensor& b, const tensor& c) {
    return kg::sum(kg::square(kg::scaled_dot_product_attention(a, b, c, {.causal = true})));
  })(q, k, v);
  EXPECT_TRUE(std::isfinite(all.value.item()));
  for (const tensor& grad : all.grads) EXPECT_TRUE(std::isfinite(kg::sum(grad).item()));
}

TEST(attention_op, gives_the_same_bits_on_any_number_of_threads) {
  const tensor q = uniform({2, 700, 16}, 1, kg::dtype::float32), k = uniform({2, 300, 16}, 2, q.type()),
               v = uniform({2, 300, 24}, 3, q.type());
  const auto results = [&](int threads) {
    kg::set_num_threads(threads);
    const auto all = kg::value_and_grads([](const tensor& a, const tensor& b, const tensor& c) {
      return kg::sum(kg::square(attended(a, b, c)[0]));
    })(q, k, v);
    const kg::tensor_list both = {attended(q, k, v)[0], all.grads[0], all.grads[1], all.grads[2]};
    kg::set_num_threads(1);
    return both;
  };
  const kg::tensor_list one = results(1), four = results(4);
  for (int i = 0; i < one.size(); ++i) EXPECT_EQ(one[i].to_doubles(), four[i].to_doubles()) << i;
}

TEST(attention_op, has_gradients_of_both_results_to_the_second_order) {
  const std::vector<tensor> xs = {uniform({2, 3, 4}, 1), uniform({5, 4}, 2), uniform({2, 5, 2}, 3), uniform({3, 5}, 4)};
  const tensor seen = uniform({2, 1, 5}, 5) > -0.5;
  for (const bool causal : {false, true}) {
    const kg::testkit::report found = kg::testkit::check_function(
        "attention",
        [&](std::span<const tensor> x) {
          const auto [y, log_sum] = kg::call<"ScaledDotProductAttention">(x[0], x[1], x[2], x[3], seen,
                                                                          attr<"causal">(causal), attr<"scale">(0.5));
          return kg::tensor_list{y, log_sum};
        },
        xs);
    EXPECT_TRUE(found) << found;
  }
}

// Pairs of keys with scores of hundreds that differ by less than one, which half precision does not tell apart.
TEST(attention_op, computes_gradients_of_half_precision_in_float32) {
  const tensor keys = uniform({20, 16}, 2) * 3;
  const std::vector<tensor> drawn = {uniform({6, 16}, 1) * 3, kg::concat({keys, keys + uniform({20, 16}, 7) * 0.02}, 0),
                                     uniform({40, 4}, 3), uniform({6, 40}, 4)};
  const tensor weights = uniform({6, 4}, 5), directions = uniform({6, 16}, 6);
  const auto value = [&](std::span<const tensor> x) {
    const auto both = kg::call<"ScaledDotProductAttention">(x[0], x[1], x[2], x[3], tensor(), attr<"causal">(false),
                                                            attr<"scale">(8.));
    return kg::sum(kg::cast(both[0], kg::dtype::float64) * weights);
  };
  for (const auto& [type, unit] : {std::pair{kg::dtype::float16, 0x1p-11}, {kg::dtype::bfloat16, 0x1p-8}}) {
    std::vector<tensor> narrow, wide;
    for (const tensor& one : drawn) {
      narrow.push_back(kg::cast(one, type));
      wide.push_back(kg::cast(narrow.back(), kg::dtype::float64));
    }
    const auto to_bias = [&](const std::vector<tensor>& x) {
      return kg::grad([&](const tensor& bias) { return value(std::array{x[0], x[1], x[2], bias}); })(x[3]);
    };
    const auto to_key_of_query = [&](const std::vector<tensor>& x) {
      return kg::grad([&](const tensor& key) {
        const tensor to_query =
            kg::grad([&](const tensor& query) { return value(std::array{query, key, x[2], x[3]}); })(x[0]);
        return kg::sum(kg::cast(to_query, kg::dtype::float64) * directions);
      })(x[1]);
    };
    const auto expect_near = [&](const char* order, const tensor& got, const tensor& wanted, double units) {
      EXPECT_EQ(got.type(), type) << order;
      const double most = kg::max(kg::abs(wanted)).item(),
                   error = kg::max(kg::abs(kg::cast(got, kg::dtype::float64) - wanted)).item();
      EXPECT_LE(error, units * unit * most) << order << " in " << type << ": " << error / unit / most << " units";
    };
    expect_near("first order", to_bias(narrow), to_bias(wide), 4);
    expect_near("second order", to_key_of_query(narrow), to_key_of_query(wide), 8);
  }
}

// exp(score) overflows and log_sum has an error of eps * 3000.
TEST(attention_op, has_gradients_at_scores_of_thousands) {
  const tensor q = uniform({6, 4}, 1) * 60, k = uniform({9, 4}, 2) * 100, v = uniform({9, 3}, 3),
               w = uniform({6, 3}, 4);
  const tensor ends = kg::matmul(q, k, false, true) * 0.5;
  ASSERT_GT(kg::max(ends).item(), 3000);
  ASSERT_LT(kg::min(ends).item(), -3000);
  const auto gradients = [&](const auto& attention, kg::dtype type, kg::dtype computed) {
    const auto rounded = [&](const tensor& x) { return kg::cast(kg::cast(x, type), computed); };
    return kg::value_and_grads([&](const tensor& a, const tensor& b, const tensor& c) {
             return kg::sum(attention(a, b, c) * kg::cast(w, computed));
           })(rounded(q), rounded(k), rounded(v))
        .grads;
  };
  const auto composed = [](const tensor& a, const tensor& b, const tensor& c) {
    return kg::matmul(kg::softmax(kg::matmul(a, b, false, true) * 0.5), c);
  };
  const auto op = [](const tensor& a, const tensor& b, const tensor& c) { return attended(a, b, c)[0]; };
  for (const auto& [type, eps] : {std::pair{kg::dtype::float32, 0x1p-23}, {kg::dtype::float64, 0x1p-52}}) {
    const auto got = gradients(op, type, type), wanted = gradients(composed, type, kg::dtype::float64);
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_TRUE(kg::all(kg::is_finite(got[i])).item()) << i;
      const double most = kg::max(kg::abs(wanted[i])).item(),
                   error = kg::max(kg::abs(kg::cast(got[i], kg::dtype::float64) - wanted[i])).item();
      EXPECT_LE(error, 16 * eps * 6000 * std::max(most, 1.0)) << i << " of " << type;
    }
  }
}

TEST(attention_op, rejects_operands_that_do_not_fit) {
  const tensor q = kg::ones({2, 3}), k = kg::ones({4, 3}), v = kg::ones({4, 5});
  const auto text = [](const tensor& a, const tensor& b, const tensor& c) {
    return kgtest::refusal([&] { attended(a, b, c); });
  };
  EXPECT_TRUE(kgtest::says(text(kg::ones({3}), k, v), {"query", "rank 2"}));
  EXPECT_TRUE(kgtest::says(text(q, kg::ones({4, 2}), v), {"key", "as many numbers"}));
  EXPECT_TRUE(kgtest::says(text(kg::ones({2, 0}), kg::ones({4, 0}), v), {"query", "at least one number"}));
  EXPECT_TRUE(kgtest::says(text(q, k, kg::ones({3, 5})), {"value", "as many keys"}));
  EXPECT_TRUE(kgtest::says(text(kg::ones({2, 2, 3}), kg::ones({3, 4, 3}), v), {"broadcast"}));
}

}  // namespace
