// SPDX-License-Identifier: Apache-2.0
// Sparse and ragged tensors of about n elements.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>
import kerngrad;
import kerngrad.testkit;
#include "bench/calls/calls.h"

namespace kgbench {
namespace {

using int32s = std::vector<std::int32_t>;

kg::tensor list(const int32s& values) { return kg::tensor(values, {static_cast<std::int64_t>(values.size())}); }

kg::testkit::sample with(kg::testkit::sample call, std::string_view name, const kg::tensor& values) {
  for (kg::testkit::sample_operand& o : call.operands)
    if (o.name == name) o.values = values;
  return call;
}

// Splits of rows of 1 to 7 values, `count` values in all.
int32s splits_of(std::int64_t count) {
  int32s all = {0};
  for (std::int32_t row = 0; all.back() < count; ++row)
    all.push_back(std::min(static_cast<std::int32_t>(count), all.back() + 1 + row * 5 % 7));
  return all;
}

kg::testkit::sample with_list(kg::testkit::sample call, const kg::op_row& row, const kg::tensor& values) {
  call.operands.emplace_back(row.operands.back().name, values);
  return call;
}

// Every second row is empty.
geometries rows_filled(const kg::op_row& row, kg::dtype, std::int64_t n) {
  int32s indices;
  for (std::int64_t i = 0; i < n; ++i) {
    indices.push_back(static_cast<std::int32_t>(i / 4 * 2));
    indices.push_back(static_cast<std::int32_t>(i % 4));
  }
  const auto rows = static_cast<std::int32_t>(n / 2 + 2);
  kg::testkit::sample call = with(call_of(row, {{n, 2}, {n}, {2}, {}}), "denseShape", list({rows, 4}));
  return {{"", with(call, "indices", kg::tensor(indices, {n, 2})), static_cast<double>(n), {}}};
}

// From two axes to three.
geometries indices_reshaped(const kg::op_row& row, kg::dtype type, std::int64_t n) {
  std::vector<std::int32_t> indices;
  for (std::int64_t i = 0; i < n; ++i) {
    indices.push_back(static_cast<std::int32_t>(i));
    indices.push_back(static_cast<std::int32_t>(i * 7 % 60));
  }
  const auto rows = static_cast<std::int32_t>(n);
  const kg::testkit::sample call =
      with(with(call_of(row, {{n, 2}, {2}, {3}}), "inputShape", list({rows, 60})), "newShape", list({-1, 4, 5}));
  const kg::tensor all = kg::cast(kg::tensor(indices, {n, 2}), type);
  return {{"", with(call, "inputIndices", all), static_cast<double>(n), {}}};
}

// Four rows each, of 1 and of 64 elements.
geometries sparse_segments(const kg::op_row& row, kg::dtype, std::int64_t n) {
  geometries all;
  for (const std::int64_t inner : {1, 64}) {
    const std::int64_t rows = std::max<std::int64_t>(1, n / inner);
    int32s indices, ids;
    for (std::int64_t i = 0; i < rows; ++i) {
      indices.push_back(static_cast<std::int32_t>(i * 7 % rows));
      ids.push_back(static_cast<std::int32_t>(i / 4));
    }
    const kg::testkit::sample call = call_of(row, {{rows, inner}, {rows}, {rows}});
    all.push_back({"inner:" + std::to_string(inner),
                   with(with(call, "indices", list(indices)), "segmentIds", list(ids)),
                   static_cast<double>(rows * inner),
                   {}});
  }
  return all;
}

// Sums of four rows, of 1 and of 64.
geometries embedding_bags(const kg::op_row& row, kg::dtype, std::int64_t n) {
  geometries all;
  for (const std::int64_t inner : {1, 64}) {
    const std::int64_t rows = std::max<std::int64_t>(4, n / inner), bags = rows / 4;
    int32s indices, offsets;
    for (std::int64_t i = 0; i < rows; ++i) indices.push_back(static_cast<std::int32_t>(i * 7 % rows));
    for (std::int64_t bag = 0; bag < bags; ++bag) offsets.push_back(static_cast<std::int32_t>(4 * bag));
    const kg::testkit::sample call = call_of(row, {{rows, inner}, {rows}, {bags}}, {{"mode", "sum"}});
    all.push_back({"inner:" + std::to_string(inner),
                   with(with(call, "indices", list(indices)), "offsets", list(offsets)),
                   static_cast<double>(rows * inner),
                   {}});
  }
  return all;
}

// Rows of 16.
geometries ranges_of_rows(const kg::op_row& row, kg::dtype type, std::int64_t n) {
  const std::int64_t rows = std::max<std::int64_t>(1, n / 16);
  const kg::tensor starts = kg::zeros({rows}, type), limits = kg::full({rows}, 16, type);
  const kg::testkit::sample call = with(with(call_of(row, {{rows}, {rows}, {}}), "starts", starts), "limits", limits);
  return {{"", with(call, "deltas", kg::full({}, 1, type)), static_cast<double>(rows * 16), {}}};
}

// Rows of about 4 values, of 1 and of 64.
geometries ragged_rows(const kg::op_row& row, kg::dtype, std::int64_t n) {
  geometries all;
  for (const std::int64_t inner : {1, 64}) {
    const std::int64_t values = std::max<std::int64_t>(1, n / inner);
    const int32s splits = splits_of(values);
    const auto rows = static_cast<std::int64_t>(splits.size()) - 1;
    int32s indices;
    for (std::int64_t i = 0; i < rows; ++i) indices.push_back(static_cast<std::int32_t>(i * 5 % rows));
    const kg::testkit::sample call = call_of(row, {{values, inner}, {rows}}, {{"outputRaggedRank", 1}});
    all.push_back({"inner:" + std::to_string(inner),
                   with_list(with(call, "indices", list(indices)), row, list(splits)),
                   static_cast<double>(values * inner),
                   {}});
  }
  return all;
}

// Rows of about 4 values, to 8.
geometries ragged_padded(const kg::op_row& row, kg::dtype, std::int64_t n) {
  geometries all;
  for (const std::int64_t inner : {1, 64}) {
    const std::int64_t values = std::max<std::int64_t>(1, n / inner);
    const int32s splits = splits_of(values);
    const kg::testkit::sample call = call_of(row, {{3}, {values, inner}, {}}, {{"rowPartitionTypes", "ROW_SPLITS"}});
    all.push_back({"inner:" + std::to_string(inner),
                   with_list(with(call, "shape", list({-1, 8, -1})), row, list(splits)),
                   static_cast<double>(values * inner),
                   {}});
  }
  return all;
}

}  // namespace

geometries calls::sparse(const kg::op_row& row, kg::dtype type, std::int64_t n) {
  static constexpr maker makers[] = {
      {"segmentIds", sparse_segments},       {"offsets", embedding_bags}, {"denseShape", rows_filled},
      {"newShape", indices_reshaped},        {"deltas", ranges_of_rows},  {"paramsNestedSplits", ragged_rows},
      {"rowPartitionTensors", ragged_padded}};
  return made_by(makers, row, type, n);
}

}  // namespace kgbench
