// SPDX-License-Identifier: Apache-2.0
// Samples of the ops on sparse and ragged tensors: rows that are empty, named twice and cut off.
module;
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad.testkit;

namespace kerngrad::testkit::detail {
namespace {

tensor int32s(const std::vector<std::int32_t>& values) {
  return tensor(values, {static_cast<std::int64_t>(values.size())});
}
tensor int64s(const std::vector<std::int64_t>& values) {
  return tensor(values, {static_cast<std::int64_t>(values.size())});
}

// Fixed elements for an operand; those of a list one tensor after the other.
sample with(sample one, std::string_view name, const tensor& values) {
  for (sample_operand& o : one.operands)
    if (o.name == name) o.values = values;
  return one;
}
sample operand_shapes(const op_row& row, const shapes& single, const shapes& list, attributes attrs = {}) {
  sample one;
  for (std::size_t i = 0; i < single.size(); ++i) one.operands.emplace_back(row.operands[i].name, single[i]);
  if (!list.empty()) one.operands.emplace_back(row.operands.back().name, list);
  one.attrs = std::move(attrs);
  return one;
}

std::vector<sample> segment_rows(const op_row& row, bool long_ones) {
  struct segments {
    shape data;
    std::vector<std::int32_t> indices, ids;
  };
  std::vector<segments> cases = {{{4, 3}, {2, 0, 2}, {0, 0, 1}},
                                 {{3}, {0, 1, 1, 2}, {1, 1, 1, 3}},
                                 {{5, 2, 2}, {4, 3}, {0, 2}},
                                 {{4, 2}, {}, {}},
                                 {{2, 0}, {1}, {1}}};
  if (long_ones) cases.push_back({{4, 67}, {3, 1, 3, 0}, {0, 0, 0, 2}});
  std::vector<sample> all;
  for (const segments& c : cases) {
    const auto count = static_cast<std::int64_t>(c.ids.size());
    all.push_back(with(with(make_sample(row, {c.data, {count}, {count}}), "indices", int32s(c.indices)), "segmentIds",
                       int32s(c.ids)));
  }
  return all;
}

std::vector<sample> bags(const op_row& row, bool long_ones) {
  struct bag {
    shape params;
    std::vector<std::int32_t> indices, offsets;
  };
  std::vector<bag> cases = {
      {{4, 3}, {2, 0, 2, 3, 1}, {0, 2, 2}}, {{5}, {4, 1, 0}, {0}}, {{3, 2, 2}, {1, 0}, {0, 1, 2}}, {{2, 3}, {}, {}}};
  if (long_ones) cases.push_back({{4, 67}, {3, 1, 3, 0, 2}, {0, 3, 3}});
  std::vector<sample> all;
  for (const bag& c : cases) {
    const auto count = static_cast<std::int64_t>(c.indices.size()), bags = static_cast<std::int64_t>(c.offsets.size());
    const auto add = [&](const shapes& dims, const char* mode) {
      all.push_back(with(with(make_sample(row, dims, {{"mode", mode}}), "indices", int32s(c.indices)), "offsets",
                         int32s(c.offsets)));
    };
    for (const char* mode : {"mean", "sum", "max"}) add({c.params, {count}, {bags}}, mode);
    add({c.params, {count}, {bags}, {count}}, "sum");
  }
  return all;
}

std::vector<sample> filled_rows(const op_row& row, bool) {
  struct filling {
    std::vector<std::int32_t> indices, dims;
  };
  const std::vector<filling> cases = {
      {{0, 1, 3, 0, 1, 2, 1, 0}, {5, 3}}, {{1, 0}, {3}}, {{}, {2, 4}}, {{}, {0, 4}}, {{0, 1, 2, 1, 1, 0}, {2, 2, 3}}};
  std::vector<sample> all;
  for (const filling& c : cases) {
    const auto rank = static_cast<std::int64_t>(c.dims.size());
    const auto count = static_cast<std::int64_t>(c.indices.size()) / rank;
    all.push_back(
        with(with(make_sample(row, {{count, rank}, {count}, {rank}, {}}), "indices", tensor(c.indices, {count, rank})),
             "denseShape", int32s(c.dims)));
  }
  return all;
}

std::vector<sample> reshaped_indices(const op_row& row, bool) {
  struct reshaping {
    std::vector<std::int32_t> indices, from, to;
  };
  const std::vector<reshaping> cases = {{{0, 1, 3, 0, 1, 2}, {5, 6}, {3, -1}},
                                        {{0, 1, 1, 2}, {2, 3}, {6}},
                                        {{4, 0}, {6}, {1, 2, 3}},
                                        {{}, {0, 3}, {3, 0}},
                                        {{1, 2, 0, 0}, {2, 3}, {2, 3}}};
  std::vector<sample> all;
  for (const reshaping& c : cases) {
    const auto rank = static_cast<std::int64_t>(c.from.size());
    const auto count = static_cast<std::int64_t>(c.indices.size()) / rank;
    const sample one = make_sample(row, {{count, rank}, {rank}, {static_cast<std::int64_t>(c.to.size())}});
    all.push_back(with(with(with(one, "inputIndices", tensor(c.indices, {count, rank})), "inputShape", int32s(c.from)),
                       "newShape", int32s(c.to)));
  }
  return all;
}

// Rows whose lengths no small step changes.
std::vector<sample> ranges(const op_row& row, bool long_ones) {
  const auto of = [&](const tensor& starts, const tensor& limits, const tensor& deltas) {
    return with(
        with(with(make_sample(row, {starts.dims(), limits.dims(), deltas.dims()}), "starts", starts), "limits", limits),
        "deltas", deltas);
  };
  std::vector<sample> all = {of(tensor({0.5, 3.0, 1.0}), tensor({3.0, 0.75, 0.4}), tensor({1.0, -0.9, 1.25})),
                             of(tensor(0.25), tensor({1.6, -3.0}), tensor(0.9)),
                             of(tensor({0.2, 1.0}), tensor(3.1), tensor({1.16, 0.84})),
                             of(tensor(0.5), tensor(2.2), tensor(0.7)),
                             of(int32s({1, 5}), int32s({8, -4}), int32s({3, -2})),
                             of(int64s({9}), int64s({1}), int64s({-4}))};
  if (long_ones) all.push_back(of(tensor({0.0, 4.0}), tensor({6.65, 4.1}), tensor({0.1, 1.0})));
  return all;
}

std::vector<sample> gathered(const op_row& row, bool long_ones) {
  // Rows of 3, 0, 4 and 2 values; and rows of rows.
  const tensor one_level = int32s({0, 3, 3, 7, 9}), two_levels = int32s({0, 1, 3, 3, 5, 0, 0, 2, 3, 5, 9});
  struct gathering {
    shape values;
    tensor splits;
    shapes split_shapes;
    tensor indices;
  };
  std::vector<gathering> cases = {{{9}, one_level, {{5}}, int32s({2, 1, 0, 2})},
                                  {{9, 2}, one_level, {{5}}, tensor({3, 0, 0, 1}, {2, 2})},
                                  {{9}, one_level, {{5}}, tensor(2)},
                                  {{9, 3}, two_levels, {{5}, {6}}, int32s({3, 1, 2, 3})},
                                  {{9}, two_levels, {{5}, {6}}, tensor(1)},
                                  {{9}, one_level, {{5}}, int32s({})}};
  if (long_ones) cases.push_back({{9, 67}, one_level, {{5}}, int32s({0, 2})});
  std::vector<sample> all;
  for (const gathering& c : cases) {
    const std::int64_t rank = static_cast<std::int64_t>(c.split_shapes.size()) + c.indices.rank() - 1;
    const sample one = operand_shapes(row, {c.values, c.indices.dims()}, c.split_shapes, {{"outputRaggedRank", rank}});
    all.push_back(with(with(one, "indices", c.indices), "paramsNestedSplits", c.splits));
  }
  return all;
}

std::vector<sample> densified(const op_row& row, bool long_ones) {
  struct padding {
    tensor dims;
    shape values, fill;
    shapes partition_shapes;
    tensor partitions;
    std::string_view types;
  };
  const shapes one = {{4}}, by_ids = {{}, {6}}, two = {{4}, {6}};
  // A shape of four sizes in int64: it could not stand for the four row splits next to it.
  std::vector<padding> cases = {
      {int32s({3, 2}), {6}, {}, one, int32s({0, 3, 3, 6}), "ROW_SPLITS"},
      {tensor(-1), {6, 2}, {2}, one, int32s({0, 3, 3, 6}), "ROW_SPLITS"},
      {int32s({-1, 4, -1}), {6, 2}, {1}, by_ids, int32s({3, 0, 0, 1, 1, 1, 2}), "FIRST_DIM_SIZE|VALUE_ROWIDS"},
      {int64s({2, -1, 2, 3}), {6, 3}, {}, two, int32s({0, 2, 2, 5, 0, 1, 3, 3, 5, 6}), "ROW_SPLITS,ROW_SPLITS"},
      {int32s({4, 2}), {0}, {}, one, int32s({0, 0, 0, 0}), "ROW_SPLITS"}};
  if (long_ones) cases.push_back({int32s({-1, 4, 67}), {6, 67}, {67}, one, int32s({0, 3, 3, 6}), "ROW_SPLITS"});
  std::vector<sample> all;
  for (const padding& c : cases) {
    const sample given =
        operand_shapes(row, {c.dims.dims(), c.values, c.fill}, c.partition_shapes, {{"rowPartitionTypes", c.types}});
    all.push_back(with(with(given, "shape", c.dims), "rowPartitionTensors", c.partitions));
  }
  return all;
}

}  // namespace

std::vector<sample> sparse_samples(const op_row& row, bool long_ones) {
  static constexpr sample_maker makers[] = {
      {"segmentIds", segment_rows},      {"offsets", bags},  {"denseShape", filled_rows},
      {"newShape", reshaped_indices},    {"deltas", ranges}, {"paramsNestedSplits", gathered},
      {"rowPartitionTensors", densified}};
  return made_by(makers, row, long_ones);
}

}  // namespace kerngrad::testkit::detail
