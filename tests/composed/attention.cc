// SPDX-License-Identifier: Apache-2.0
// Attention next to its definition, one number after another in double precision.
#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/composed/support.h"

namespace {

using kg::tensor;
using kgtest::check_gradients;
using kgtest::doubles;
using kgtest::expect_refused;
using kgtest::expect_values;
using kgtest::uniform;

constexpr double infinity = std::numeric_limits<double>::infinity();

struct head {
  std::size_t length, keys, numbers, out;
  doubles query, key, value;
};
head head_of(std::size_t length, std::size_t keys, std::size_t numbers, std::size_t out) {
  const auto drawn = [](std::size_t rows, std::size_t columns, int seed) {
    return uniform({static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns)}, seed, -2, 2).to_doubles();
  };
  return {length, keys, numbers, out, drawn(length, numbers, 1), drawn(keys, numbers, 2), drawn(keys, out, 3)};
}

// `bias` has a number for each query and key, -infinity where the key is not seen.
doubles attended(const head& of, double scale, const doubles& bias) {
  doubles y(of.length * of.out, 0);
  for (std::size_t i = 0; i < of.length; ++i) {
    double total = 0;
    doubles sums(of.out, 0);
    for (std::size_t j = 0; j < of.keys; ++j) {
      double score = bias[i * of.keys + j];
      for (std::size_t e = 0; e < of.numbers; ++e)
        score += scale * of.query[i * of.numbers + e] * of.key[j * of.numbers + e];
      total += std::exp(score);
      for (std::size_t c = 0; c < of.out; ++c) sums[c] += std::exp(score) * of.value[j * of.out + c];
    }
    for (std::size_t c = 0; c < of.out; ++c) y[i * of.out + c] = total == 0 ? 0 : sums[c] / total;
  }
  return y;
}

tensor matrix(const doubles& values, std::size_t rows) {
  return {values, {static_cast<std::int64_t>(rows), static_cast<std::int64_t>(values.size() / rows)}};
}
tensor attention(const head& of, const kg::attention_options& how = {}) {
  return kg::scaled_dot_product_attention(matrix(of.query, of.length), matrix(of.key, of.keys),
                                          matrix(of.value, of.keys), how);
}

TEST(attention, is_the_mean_of_values_weighted_by_the_softmax_of_scores) {
  for (const auto& [length, keys, numbers, out] :
       {std::array<std::size_t, 4>{5, 7, 3, 2}, {1, 1, 1, 1}, {4, 9, 8, 6}}) {
    const head of = head_of(length, keys, numbers, out);
    const doubles none(length * keys, 0);
    const kg::shape dims{static_cast<std::int64_t>(length), static_cast<std::int64_t>(out)};
    expect_values(attention(of), dims, attended(of, 1 / std::sqrt(static_cast<double>(numbers)), none));
    expect_values(attention(of, {.scale = -0.3}), dims, attended(of, -0.3, none));
  }
}

TEST(attention, sees_the_keys_up_to_its_own_place_if_it_is_causal) {
  for (const auto& [length, keys] : {std::pair<std::size_t, std::size_t>{6, 6}, {3, 8}, {8, 3}}) {
    const head of = head_of(length, keys, 4, 2);
    doubles bias(length * keys, 0);
    for (std::size_t i = 0; i < length; ++i)
      for (std::size_t j = i + 1; j < keys; ++j) bias[i * keys + j] = -infinity;
    expect_values(attention(of, {.causal = true}), {static_cast<std::int64_t>(length), 2}, attended(of, 0.5, bias));
  }
}

TEST(attention, adds_a_mask_of_floats_and_leaves_out_what_a_mask_of_bools_does_not_see) {
  const head of = head_of(3, 4, 4, 2);
  const doubles added = {0.5, -1, 2, 0, 0, -infinity, 1, -3, 4, 0, 0, -0.25};
  expect_values(attention(of, {.mask = matrix(added, 3)}), {3, 2}, attended(of, 0.5, added));
  const doubles seen = {1, 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 0};  // the last query sees no key
  doubles bias;
  for (const double one : seen) bias.push_back(one != 0 ? 0 : -infinity);
  const tensor bools = matrix(seen, 3) != 0;
  expect_values(attention(of, {.mask = bools}), {3, 2}, attended(of, 0.5, bias));
  expect_values(attention(of, {.mask = bools(1)}), {3, 2},
                attended(of, 0.5,
                         {bias[4], bias[5], bias[6], bias[7], bias[4], bias[5], bias[6], bias[7], bias[4], bias[5],
                          bias[6], bias[7]}));
}

TEST(attention, reads_nothing_of_keys_that_no_query_sees) {
  head of = head_of(2, 3, 2, 2);
  const tensor wanted = attention(of, {.mask = tensor{true, true, false}});
  of.key[4] = of.key[5] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(attention(of, {.mask = tensor{true, true, false}}).to_doubles(), wanted.to_doubles());
}

TEST(attention, broadcasts_batches_and_heads) {
  const tensor query = uniform({2, 3, 5, 4}, 1), key = uniform({2, 1, 6, 4}, 2), value = uniform({3, 6, 2}, 3);
  const tensor y = kg::scaled_dot_product_attention(query, key, value, {.causal = true});
  ASSERT_EQ(y.dims(), (kg::shape{2, 3, 5, 2}));
  for (int b = 0; b < 2; ++b)
    for (int h = 0; h < 3; ++h) {
      const tensor one = kg::scaled_dot_product_attention(query(b, h), key(b, 0), value(h), {.causal = true});
      expect_values(y(b, h), {5, 2}, one.to_doubles());
    }
}

TEST(attention, rounds_half_precision_once) {
  const tensor query = uniform({5, 8}, 1, -3, 3), key = uniform({40, 8}, 2, -3, 3), value = uniform({40, 2}, 3);
  for (const kg::dtype type : {kg::dtype::float16, kg::dtype::bfloat16}) {
    const auto rounded = [&](const tensor& x) { return kg::cast(x, type); };
    const auto wide = [&](const tensor& x) { return kg::cast(rounded(x), kg::dtype::float64); };
    const tensor y = kg::scaled_dot_product_attention(rounded(query), rounded(key), rounded(value));
    EXPECT_EQ(y.type(), type);
    const doubles got = y.to_doubles(),
                  wanted = kg::scaled_dot_product_attention(wide(query), wide(key), wide(value)).to_doubles();
    const double unit = type == kg::dtype::float16 ? 0x1p-11 : 0x1p-8;
    for (std::size_t i = 0; i < got.size(); ++i)
      EXPECT_NEAR(got[i], wanted[i], 1.01 * unit * std::max(std::fabs(wanted[i]), 0x1p-6)) << i;
  }
}

TEST(attention, of_no_keys_and_of_no_queries_is_zeros_and_empty) {
  const tensor y = kg::scaled_dot_product_attention(kg::ones({2, 3}), kg::zeros({0, 3}), kg::zeros({0, 4}));
  EXPECT_EQ(y.to_doubles(), doubles(8, 0));
  EXPECT_EQ(kg::scaled_dot_product_attention(kg::zeros({0, 3}), kg::ones({2, 3}), kg::ones({2, 4})).dims(),
            (kg::shape{0, 4}));
}

TEST(attention, is_differentiable_in_its_operands_and_in_a_mask_of_floats) {
  const std::vector<tensor> in = {uniform({2, 3, 4}, 1), uniform({2, 5, 4}, 2), uniform({2, 5, 3}, 3),
                                  uniform({3, 5}, 4)};
  check_gradients(
      "attention",
      [](std::span<const tensor> x) {
        return kg::scaled_dot_product_attention(x[0], x[1], x[2], {.mask = x[3], .causal = true});
      },
      in);
  const tensor seen = kg::reshape(
      tensor{true, false, true, true, false, false, false, false, false, false, true, true, true, true, true}, {3, 5});
  check_gradients(
      "attention of what a mask sees",
      [&](std::span<const tensor> x) { return kg::scaled_dot_product_attention(x[0], x[1], x[2], {.mask = seen}); },
      {in[0], in[1], in[2]});
}

TEST(attention, refuses_operands_that_do_not_fit) {
  const std::string name = "scaled_dot_product_attention";
  const tensor q = kg::ones({2, 3}), k = kg::ones({4, 3}), v = kg::ones({4, 5});
  expect_refused(name, [&] { return kg::scaled_dot_product_attention(kg::ones({3}), k, v); }, {"query", "rank 2"});
  expect_refused(name, [&] { return kg::scaled_dot_product_attention(q, kg::ones({4, 2}), v); }, {"key", "numbers"});
  expect_refused(name, [&] { return kg::scaled_dot_product_attention(q, k, kg::ones({3, 5})); }, {"value", "keys"});
  expect_refused(name, [&] { return kg::scaled_dot_product_attention(q, k, v, {.scale = infinity}); }, {"finite"});
  expect_refused(name, [&] { return kg::scaled_dot_product_attention(q, k, v, {.scale = 1e39}); },
                 {"scale 1e+39", "3.4028"});
  expect_refused(name, [&] { return kg::scaled_dot_product_attention(q, k, v, {.mask = kg::ones({3, 4})}); }, {"mask"});
  expect_refused(name, [&] { return kg::scaled_dot_product_attention(tensor{{1}}, k, v); }, {"query"});
}

}  // namespace
