// SPDX-License-Identifier: Apache-2.0
// Ops on sparse and ragged tensors by their typed names: examples that can be worked out by hand, gradients, and what
// is rejected before anything is written.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/refusal.h"

import kerngrad;

namespace {

using kg::tensor;
using kgtest::refusal;
using kgtest::says;
using list = std::vector<double>;
using tensors = std::vector<tensor>;

tensor int64s(const tensor& x) { return kg::cast(x, kg::dtype::int64); }

// ------------------------------------------------------------------------------------------ sparse tensors

const tensor places({2, 1, 0, 3, 2, 0}, {3, 2});

TEST(empty_rows, are_filled_and_told_and_the_others_sorted) {
  for (const bool wide : {false, true}) {
    const tensor indices = wide ? int64s(places) : places;
    const auto [to, values, empty, went] =
        kg::sparse_fill_empty_rows(indices, tensor({5.f, 6.f, 7.f}), tensor({4, 4}), tensor(-1.f));
    EXPECT_EQ(to.to_doubles(), (list{0, 3, 1, 0, 2, 1, 2, 0, 3, 0}));
    EXPECT_EQ(values.to_doubles(), (list{6, -1, 5, 7, -1}));
    EXPECT_EQ(empty.to_doubles(), (list{0, 1, 0, 1}));
    EXPECT_EQ(went.to_doubles(), (list{2, 0, 3}));
    EXPECT_EQ(empty.type(), kg::dtype::boolean);
    EXPECT_EQ(to.type(), indices.type());
    EXPECT_EQ(went.type(), indices.type());
  }
  const auto none =
      kg::sparse_fill_empty_rows(kg::zeros({0, 2}, kg::dtype::int32), kg::zeros({0}), tensor({0, 4}), tensor(1.f));
  EXPECT_EQ(none[0].dims(), (kg::shape{0, 2}));
}

TEST(empty_rows, give_gradients_of_values_and_of_what_fills_them) {
  const auto f = [](const tensor& values, const tensor& fill) {
    const tensor y = kg::sparse_fill_empty_rows(places, values, tensor({4, 4}), fill)[1];
    return kg::sum(kg::square(y));
  };
  const auto [of_values, of_fill] = kg::grads(f)(tensor({5.0, 6.0, 7.0}), tensor(-1.0));
  EXPECT_EQ(of_values.to_doubles(), (list{10, 12, 14}));
  EXPECT_EQ(of_fill.to_doubles(), (list{-4}));
}

TEST(indices, of_another_shape_are_those_of_the_same_elements) {
  const auto [to, dims] = kg::sparse_reshape(places, tensor({3, 4}), tensor({2, -1}));
  EXPECT_EQ(to.to_doubles(), (list{1, 3, 0, 3, 1, 2}));
  EXPECT_EQ(dims.to_doubles(), (list{2, 6}));
  const auto [all, scalar] =
      kg::sparse_reshape(kg::zeros({2, 0}, kg::dtype::int64), kg::zeros({0}, kg::dtype::int32), tensor({1, 1}));
  EXPECT_EQ(all.to_doubles(), (list{0, 0, 0, 0}));
  EXPECT_EQ(scalar.type(), kg::dtype::int64);
}

const tensor rows({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}, {3, 2});

TEST(segments, are_summed_and_averaged_with_zeros_where_there_is_none) {
  const tensor at({0, 2, 2}), ids({1, 1, 3});
  EXPECT_EQ(kg::sparse_segment_sum(rows, at, ids).to_doubles(), (list{0, 0, 6, 8, 0, 0, 5, 6}));
  EXPECT_EQ(kg::sparse_segment_mean(rows, int64s(at), int64s(ids)).to_doubles(), (list{0, 0, 3, 4, 0, 0, 5, 6}));
  EXPECT_EQ(kg::sparse_segment_mean(tensor({-3, 2}), tensor({0, 1}), tensor({0, 0})).to_doubles(), (list{0}));
  const tensor nothing = kg::zeros({0}, kg::dtype::int32);
  EXPECT_EQ(kg::sparse_segment_sum(rows, nothing, nothing).dims(), (kg::shape{0, 2}));
  EXPECT_EQ(kg::sparse_segment_sum(kg::cast(rows, kg::dtype::bfloat16), at, ids).type(), kg::dtype::bfloat16);
}

TEST(segments, have_the_same_bits_however_many_threads_add) {
  const std::int64_t count = 40000;
  const tensor x = kg::random_normal({1000, 33}, 0, 1, 5);
  const tensor at = kg::cast(kg::random_uniform({count}, 0, 1000, 6), kg::dtype::int32);
  const tensor ids = kg::cast(kg::floor(kg::arange(0, count, 1, kg::dtype::float64) / 7), kg::dtype::int32);
  const list alone = kg::sparse_segment_sum(x, at, ids).to_doubles();
  kg::set_num_threads(3);
  const list together = kg::sparse_segment_sum(x, at, ids).to_doubles();
  kg::set_num_threads(1);
  EXPECT_EQ(alone, together);
}

const tensor named({2, 0, 2, 1}), begins({0, 2, 2});

TEST(embedding_bags, are_means_sums_and_greatest_elements_and_0_where_empty) {
  for (const bool wide : {false, true}) {
    const tensor at = wide ? int64s(named) : named, from = wide ? int64s(begins) : begins;
    EXPECT_EQ(kg::embedding_bag(rows, at, from).to_doubles(), (list{3, 4, 0, 0, 4, 5}));
    EXPECT_EQ(kg::embedding_bag(rows, at, from, {.mode = kg::bag_mode::sum}).to_doubles(), (list{6, 8, 0, 0, 8, 10}));
    EXPECT_EQ(kg::embedding_bag(-rows, at, from, {.mode = kg::bag_mode::max}).to_doubles(),
              (list{-1, -2, 0, 0, -3, -4}));
    EXPECT_EQ(kg::embedding_bag(rows, at, from, {kg::bag_mode::sum, tensor({1.f, -1.f, 2.f, 0.f})}).to_doubles(),
              (list{4, 4, 0, 0, 10, 12}));
  }
  const tensor pairs({2, 0, 2, 1}, {2, 2}), weights({1.f, -1.f, 2.f, 0.f}, {2, 2});
  EXPECT_EQ(kg::embedding_bag(rows, pairs).to_doubles(), (list{3, 4, 4, 5}));
  EXPECT_EQ(kg::embedding_bag(rows, pairs, {kg::bag_mode::sum, weights}).to_doubles(), (list{4, 4, 10, 12}));
  EXPECT_EQ(kg::embedding_bag(rows, tensor(std::vector<std::int32_t>{}, {2, 0})).to_doubles(), (list{0, 0, 0, 0}));
  EXPECT_EQ(kg::embedding_bag(kg::cast(rows, kg::dtype::float16), named, begins).type(), kg::dtype::float16);
}

TEST(embedding_bags, give_gradients_of_rows_and_weights) {
  const auto squares = [](const kg::embedding_bag_options& options) {
    return [options](const tensor& x) { return kg::sum(kg::square(kg::embedding_bag(x, named, begins, options))); };
  };
  EXPECT_EQ(kg::grad(squares({}))(rows).to_doubles(), (list{3, 4, 4, 5, 7, 9}));
  EXPECT_EQ(kg::grad(squares({.mode = kg::bag_mode::sum}))(rows).to_doubles(), (list{12, 16, 16, 20, 28, 36}));
  EXPECT_EQ(kg::grad(squares({.mode = kg::bag_mode::max}))(rows).to_doubles(), (list{0, 0, 0, 0, 20, 24}));
  const auto f = [](const tensor& x, const tensor& weights) {
    return kg::sum(kg::embedding_bag(x, named, begins, {kg::bag_mode::sum, weights}));
  };
  const auto [of_rows, of_weights] = kg::grads(f)(rows, tensor({1.f, -1.f, 2.f, 0.f}));
  EXPECT_EQ(of_rows.to_doubles(), (list{-1, -1, 0, 0, 3, 3}));
  EXPECT_EQ(of_weights.to_doubles(), (list{11, 3, 11, 7}));
}

TEST(embedding_bags, are_refused_where_offsets_or_indices_are_none) {
  const auto bag = [](const tensor& at, const tensor& from, const kg::embedding_bag_options& options = {}) {
    return refusal([&] { return kg::embedding_bag(rows, at, from, options); });
  };
  EXPECT_TRUE(says(bag(tensor({0, 3}), tensor({0})), {"kg::embedding_bag", "indices with 3 at 1", "from 0 to 2"}));
  EXPECT_TRUE(says(bag(named, tensor({1, 2})), {"offsets with 1 at 0", "begin with 0"}));
  EXPECT_TRUE(says(bag(named, tensor({0, 3, 2})), {"offsets with 2 at 2", "never decrease"}));
  EXPECT_TRUE(says(bag(named, tensor({0, 5})), {"offsets with 5 at 1", "the 4 indices"}));
  EXPECT_TRUE(says(bag(named, kg::zeros({0}, kg::dtype::int32)), {"no offsets of 4 indices"}));
  EXPECT_TRUE(says(bag(named, begins, {.weights = kg::ones({4})}), {"perSampleWeights with mode mean", "mode sum"}));
  EXPECT_TRUE(says(bag(named, begins, {kg::bag_mode::sum, kg::ones({3})}), {"perSampleWeights of shape [3]"}));
  EXPECT_TRUE(says(refusal([] { return kg::embedding_bag(rows, named); }), {"indices of shape [4]", "[bags, size]"}));
}

TEST(embedding_bags, have_the_same_bits_however_many_threads_add) {
  const tensor x = kg::random_normal({1000, 33}, 0, 1, 5),
               at = kg::cast(kg::random_uniform({5000, 8}, 0, 1000, 6), kg::dtype::int32);
  const list alone = kg::embedding_bag(x, at).to_doubles();
  kg::set_num_threads(3);
  const list together = kg::embedding_bag(x, at).to_doubles();
  kg::set_num_threads(1);
  EXPECT_EQ(alone, together);
}

// ------------------------------------------------------------------------------------------ ragged tensors

TEST(ranges, have_rows_of_their_lengths) {
  const auto [splits, values] =
      kg::ragged_range(tensor({0.f, 5.f, 8.f, 5.f}), tensor({8.f, 7.f, 8.f, 1.f}), tensor({2.f, 1.f, 1.f, -1.f}));
  EXPECT_EQ(splits.to_doubles(), (list{0, 4, 6, 6, 10}));
  EXPECT_EQ(values.to_doubles(), (list{0, 2, 4, 6, 5, 6, 5, 4, 3, 2}));
  const std::int64_t most = std::numeric_limits<std::int64_t>::max(), least = std::numeric_limits<std::int64_t>::min();
  const auto far = kg::ragged_range(tensor(least), tensor(most), tensor(most));
  EXPECT_EQ(far[0].to_doubles(), (list{0, 3})) << "a distance that no int64 holds";
  EXPECT_EQ(far[1].data<std::int64_t>()[2], most - 1);
  const auto none = kg::ragged_range(kg::zeros({0}), tensor(1.f), tensor(1.f));
  EXPECT_EQ(none[0].to_doubles(), (list{0}));
}

TEST(ranges, give_gradients_of_starts_and_deltas_and_none_of_limits) {
  const auto f = [](const tensor& starts, const tensor& limits, const tensor& deltas) {
    return kg::sum(kg::square(kg::ragged_range(starts, limits, deltas)[1]));
  };
  // Rows 1, 3, 5 and 2, 4.
  const auto [start, limit, delta] = kg::grads(f)(tensor({1.0, 2.0}), tensor({5.5, 5.0}), tensor(2.0));
  EXPECT_EQ(start.to_doubles(), (list{18, 12}));
  EXPECT_EQ(limit.to_doubles(), (list{0, 0}));
  EXPECT_EQ(delta.to_doubles(), (list{2 * 3 + 4 * 5 + 2 * 4}));
}

const tensors splits = {tensor({0, 3, 3, 7, 9})};
const tensor values({0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9});

TEST(ragged_rows, are_gathered_with_their_splits) {
  const kg::tensor_list y = kg::ragged_gather(splits, values, tensor({2, 1, 0, 3}));
  ASSERT_EQ(y.size(), 2);
  EXPECT_EQ(y[0].to_doubles(), (list{0, 4, 4, 7, 9}));
  EXPECT_EQ(y[1].to_doubles(), (list{0.4, 0.5, 0.6, 0.7, 0.1, 0.2, 0.3, 0.8, 0.9}));
  const kg::tensor_list one = kg::ragged_gather(splits, values, tensor(3));
  ASSERT_EQ(one.size(), 1);
  EXPECT_EQ(one[0].to_doubles(), (list{0.8, 0.9}));
  const kg::tensor_list square = kg::ragged_gather(splits, values, tensor({3, 1, 1, 3}, {2, 2}));
  ASSERT_EQ(square.size(), 3);
  EXPECT_EQ(square[0].to_doubles(), (list{0, 2, 4}));
  EXPECT_EQ(square[1].to_doubles(), (list{0, 2, 2, 2, 4}));
}

TEST(ragged_rows, give_gradients_back_to_values_that_were_taken_twice) {
  const auto f = [](const tensor& x) {
    return kg::sum(kg::square(kg::ragged_gather(splits, x, tensor({3, 3, 1}))[1]));
  };
  EXPECT_EQ(kg::grad(f)(kg::ones({9}, kg::dtype::float64)).to_doubles(), (list{0, 0, 0, 0, 0, 0, 0, 4, 4}));
}

TEST(ragged_rows, become_dense_ones_cut_off_and_filled_up) {
  const tensor fill(9.0);
  const auto dense = [&](const tensor& dims) {
    return kg::ragged_tensor_to_tensor(dims, values, fill, splits, "ROW_SPLITS");
  };
  EXPECT_EQ(dense(tensor({4, 2})).to_doubles(), (list{0.1, 0.2, 9, 9, 0.4, 0.5, 0.8, 0.9}));
  EXPECT_EQ(dense(tensor(-1)).dims(), (kg::shape{4, 4}));
  EXPECT_EQ(dense(tensor({1, 4})).to_doubles(), (list{0.1, 0.2, 0.3, 9}));
  EXPECT_EQ(dense(tensor({5, -1})).dims(), (kg::shape{5, 4}));
  const tensors by_ids = {tensor(4), tensor({0, 0, 0, 2, 2, 2, 2, 3, 3})};
  EXPECT_EQ(
      kg::ragged_tensor_to_tensor(tensor({3, 3}), values, fill, by_ids, "FIRST_DIM_SIZE|VALUE_ROWIDS").to_doubles(),
      (list{0.1, 0.2, 0.3, 9, 9, 9, 0.4, 0.5, 0.6}));
}

TEST(ragged_rows, give_gradients_of_values_and_of_what_fills_them_up) {
  const auto f = [](const tensor& x, const tensor& fill) {
    return kg::sum(kg::square(kg::ragged_tensor_to_tensor(tensor({4, 2}), x, fill, splits, "ROW_SPLITS")));
  };
  const auto [of_values, of_fill] = kg::grads(f)(kg::ones({9}, kg::dtype::float64), tensor(3.0));
  EXPECT_EQ(of_values.to_doubles(), (list{2, 2, 0, 2, 2, 0, 0, 2, 2}));
  EXPECT_EQ(of_fill.to_doubles(), (list{12}));
}

// ------------------------------------------------------------------------------------------ refusals

TEST(wrong_elements, are_refused_by_their_operand_and_place) {
  struct wrong {
    std::string text;
    std::vector<std::string_view> parts;
  };
  const tensor one(1.f), three({0, 1, 2});
  const wrong all[] = {
      {refusal([&] { return kg::sparse_segment_sum(rows, tensor({0, 3}), tensor({0, 0})); }),
       {"kg::sparse_segment_sum", "indices with 3 at 1", "0 to 2"}},
      {refusal([&] { return kg::sparse_segment_sum(rows, tensor({-1}), tensor({0})); }), {"indices with -1 at 0"}},
      {refusal([&] { return kg::sparse_segment_mean(rows, three, tensor({0, 2, 1})); }),
       {"kg::sparse_segment_mean", "segmentIds with 1 at 2"}},
      {refusal([&] { return kg::sparse_segment_mean(rows, three, tensor({-1, 0, 0})); }), {"segmentIds with -1 at 0"}},
      {refusal([&] { return kg::sparse_segment_sum(rows, three, tensor({0})); }), {"segmentIds of shape [1]"}},
      {refusal([&] { return kg::sparse_segment_sum(one, three, three); }), {"data of rank 0"}},
      {refusal([&] { return kg::sparse_fill_empty_rows(places, rows, tensor({4, 4}), one)[0]; }),
       {"kg::sparse_fill_empty_rows", "values of shape [3, 2]"}},
      {refusal([&] { return kg::sparse_fill_empty_rows(places, kg::zeros({3}), tensor({2, 4}), one)[0]; }),
       {"index 2 in row 0", "axis 0"}},
      {refusal([&] { return kg::sparse_fill_empty_rows(places, kg::zeros({3}), tensor({0, 4}), one)[0]; }), {"0 rows"}},
      {refusal([&] { return kg::sparse_reshape(places, tensor({3, 4}), tensor({5, -1}))[0]; }),
       {"kg::sparse_reshape", "5", "12 elements"}},
      {refusal([&] { return kg::sparse_reshape(places, tensor({3, 4}), tensor({4, 4}))[0]; }),
       {"newShape of 16 elements"}},
      {refusal([&] { return kg::sparse_reshape(places, tensor({3, 4}), tensor({-1, -1}))[0]; }), {"the size -1"}},
      {refusal([&] { return kg::sparse_reshape(places, tensor({3, 3}), tensor({9}))[0]; }),
       {"index 3 in row 1", "axis 1"}},
      {refusal([&] { return kg::ragged_range(one, one, tensor(0.f))[1]; }),
       {"kg::ragged_range", "deltas other than 0"}},
      {refusal([&] { return kg::ragged_range(one, kg::log(tensor(-1.f)), one)[1]; }), {"finite numbers"}},
      {refusal([&] { return kg::ragged_range(one, tensor(2), one)[1]; }), {"limits of dtype int32", "float32"}},
      {refusal([&] { return kg::ragged_range(tensor(0.f), tensor(1e20f), one)[1]; }), {"at most 2^31 - 1 elements"}},
      {refusal([&] { return kg::ragged_range(kg::zeros({2}), kg::zeros({3}), one)[1]; }), {"limits of shape [3]"}},
      {refusal([&] { return kg::ragged_gather(splits, values, tensor({4}))[0]; }),
       {"kg::ragged_gather", "indices with 4 at 0"}},
      {refusal([&] { return kg::ragged_gather(tensors{tensor({0, 5, 4, 9})}, values, three)[0]; }),
       {"paramsNestedSplits[0] with 4 at 2"}},
      {refusal([&] { return kg::ragged_gather(tensors{tensor({0, 5, 10})}, values, three)[0]; }),
       {"with 10 at 2", "0 to 9"}},
      {refusal([&] { return kg::ragged_tensor_to_tensor(tensor({4}), values, one, splits, "ROW_SPLITS"); }),
       {"kg::ragged_tensor_to_tensor", "shape of 1 sizes"}},
      {refusal([&] { return kg::ragged_tensor_to_tensor(tensor(-1), values, one, splits, "ROWS"); }),
       {"rowPartitionTypes ROWS"}},
      {refusal([&] { return kg::ragged_tensor_to_tensor(tensor(-1), values, one, splits, "ROW_SPLITS|ROW_SPLITS"); }),
       {"a type for each of the 1 partitions"}},
      {refusal([&] { return kg::ragged_tensor_to_tensor(tensor(-1), kg::zeros({8}), one, splits, "ROW_SPLITS"); }),
       {"values of shape [8]", "9 rows"}},
      {refusal([&] { return kg::ragged_tensor_to_tensor(tensor(-1), values, kg::zeros({2}), splits, "ROW_SPLITS"); }),
       {"defaultValue of shape [2]"}}};
  for (const wrong& w : all)
    for (const std::string_view part : w.parts) EXPECT_TRUE(says(w.text, {part})) << w.text << "\nhas no " << part;
}

}  // namespace
