// SPDX-License-Identifier: Apache-2.0
// Samples of ops that move, choose, join and make elements.
module;
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad.testkit;

namespace kerngrad::testkit::detail {
namespace {

tensor indices(std::vector<std::int32_t> values, const shape& dims) { return tensor(values, dims); }

sample with_fixed(sample s, std::size_t operand, tensor value) {
  s.operands[operand].values = std::move(value);
  return s;
}

}  // namespace

std::vector<sample> select_samples(const op_row& row, bool long_ones) {
  const tensor six({true, false, true, true, false, false}, {2, 3}), two({false, true}, {2}), one({true}, {});
  std::vector<sample> all = {
      with_fixed(make_sample(row, {{2, 3}, {2, 3}, {2, 3}}), 0, six),
      with_fixed(make_sample(row, {{2, 3}, {3}, {}}), 0, six),
      with_fixed(make_sample(row, {{2}, {3, 2}, {3, 2}}), 0, two),
      with_fixed(make_sample(row, {{}, {2, 2}, {2}}), 0, one),
      with_fixed(make_sample(row, {{0, 3}, {3}, {1, 3}}), 0, tensor(std::vector<bool>{}, {0, 3}))};
  if (long_ones) {
    std::vector<bool> many;
    for (int i = 0; i < 67; ++i) many.push_back(i % 3 == 0);
    all.push_back(with_fixed(make_sample(row, {{67}, {67}, {67}}), 0, tensor(many, {67})));
  }
  return all;
}

std::vector<sample> gather_samples(const op_row& row, bool long_ones) {
  struct gathering {
    shape x;
    tensor at;
    attributes attrs;
    shape y;
  };
  std::vector<gathering> cases = {
      {{4, 3}, indices({2, 0, 2}, {3}), {}, {3, 3}},
      {{2, 4, 3}, indices({3, 3, 0, 1}, {2, 2}), {{"axis", 1}}, {2, 2, 2, 3}},
      {{2, 3}, indices({1}, {}), {{"axis", -1}}, {2}},
      {{2, 3, 2}, indices({0, 2, 1, 1}, {2, 2}), {{"axis", 1}, {"batchDims", 1}}, {2, 2, 2}},
      {{4, 2}, indices({}, {0}), {}, {0, 2}}};
  if (long_ones) cases.push_back({{9, 67}, indices({8, 0, 3, 3}, {4}), {}, {4, 67}});
  std::vector<sample> all;
  for (gathering& c : cases) {
    const bool back = row.name == "GatherGrad";
    if (back) c.attrs.push_back({"inputShape", c.x});
    all.push_back(with_fixed(make_sample(row, {back ? c.y : c.x, c.at.dims()}, c.attrs), 1, c.at));
  }
  return all;
}

std::vector<sample> segment_samples(const op_row& row) {
  return {with_fixed(make_sample(row, {{4, 2}, {4}}, {{"numSegments", 3}}), 1, indices({2, 0, 2, 1}, {4})),
          with_fixed(make_sample(row, {{4}, {4}}, {{"numSegments", 2}}), 1, indices({-1, 5, 1, 1}, {4})),
          with_fixed(make_sample(row, {{2, 2, 3}, {2, 2}}, {{"numSegments", 4}}), 1, indices({3, 0, 0, 3}, {2, 2})),
          with_fixed(make_sample(row, {{0, 2}, {0}}, {{"numSegments", 2}}), 1, indices({}, {0}))};
}

std::vector<sample> move_samples(const op_row& row, bool long_ones) {
  const shape long_one = long_ones ? shape{5, 67} : shape{2, 3};
  const auto of = [&](const shape& dims, attributes attrs) { return make_sample(row, {dims}, std::move(attrs)); };
  static const std::vector<std::pair<std::string_view, std::vector<std::pair<shape, attributes>>>> calls = {
      {"Reshape",
       {{{2, 3}, {{"shape", integers{3, 2}}}},
        {{2, 3}, {{"shape", integers{-1}}}},
        {{}, {{"shape", integers{1, 1}}}},
        {{0, 3}, {{"shape", integers{3, 0}}}}}},
      {"ExpandDims", {{{2, 3}, {}}, {{2, 3}, {{"dim", 1}}}, {{2, 3}, {{"dim", -1}}}, {{}, {}}}},
      {"Transpose",
       {{{2, 3}, {}},
        {{2, 3, 4}, {{"perm", integers{1, 2, 0}}}},
        {{2, 3, 4}, {{"perm", integers{-1, 0, 1}}}},
        {{}, {}},
        {{0, 2}, {}}}},
      {"Slice",
       {{{4, 3}, {{"begin", integers{1, 0}}, {"size", integers{2, 3}}}},
        {{4, 3}, {{"begin", 2}}},
        {{4, 3}, {{"begin", integers{1, 1}}, {"size", integers{-1, 1}}}},
        {{4, 3}, {{"begin", integers{4}}, {"size", integers{0}}}}}},
      {"Unpack", {{{3, 2}, {}}, {{2, 3, 2}, {{"axis", 1}}}, {{2, 5}, {{"axis", -1}}}}},
      {"SplitV",
       {{{4, 3}, {{"numOrSizeSplits", 2}}},
        {{2, 6}, {{"numOrSizeSplits", integers{1, 2, -1}}, {"axis", 1}}},
        {{2, 6}, {{"numOrSizeSplits", 6}, {"axis", -1}}}}},
      {"PadV2",
       {{{2, 3}, {{"paddings", integers{1, 0, 0, 2}}, {"constantValue", 1.5}}},
        {{2}, {{"paddings", integers{1, 1}}}},
        {{}, {{"paddings", integers{}}}},
        {{0, 2}, {{"paddings", integers{1, 0, 0, 1}}}}}},
      {"Tile",
       {{{2, 3}, {{"reps", integers{2, 1}}}},
        {{2, 3}, {{"reps", integers{1, 3}}}},
        {{2, 1, 2}, {{"reps", integers{2, 3, 2}}}},
        {{2}, {{"reps", integers{0}}}},
        {{}, {{"reps", integers{}}}}}},
      {"BroadcastTo",
       {{{3}, {{"shape", integers{2, 3}}}},
        {{2, 1}, {{"shape", integers{4, 2, 3}}}},
        {{}, {{"shape", integers{2}}}},
        {{1, 2}, {{"shape", integers{0, 2}}}}}},
      {"Reverse", {{{2, 3}, {}}, {{2, 3}, {{"dims", 1}}}, {{2, 3, 2}, {{"dims", integers{0, -1}}}}, {{0, 2}, {}}}},
      {"Cast",
       {{{2, 3}, {{"dtype", dtype::float64}}},
        {{3}, {{"dtype", dtype::float32}}},
        {{2}, {{"dtype", dtype::int32}}},
        {{}, {{"dtype", dtype::boolean}}}}}};
  std::vector<sample> all;
  for (const auto& [op, of_op] : calls)
    for (const auto& [dims, attrs] : of_op)
      if (op == row.name) all.push_back(of(dims, attrs));
  if (!all.empty()) return all;
  if (row.attrs.empty() && row.operands.size() == 1) {  // Identity, ZerosLike, Real, ComplexAbs, ...
    all = {of({2, 3}, {}), of({}, {}), of({0, 2}, {}), of(long_one, {})};
  } else if (row.name == "Complex") {
    all = {make_sample(row, {{2, 3}, {2, 3}}), make_sample(row, {{}, {}}), make_sample(row, {long_one, long_one})};
  }
  return all;
}

namespace {

sample list_sample(const op_row& row, const shapes& dims, attributes attrs = {}) {
  return {{{row.operands[0].name, dims}}, std::move(attrs)};
}

}  // namespace

std::vector<sample> list_samples(const op_row& row, bool long_ones) {
  if (row.name == "AddN")
    return {list_sample(row, {{2, 3}}), list_sample(row, {{2, 3}, {2, 3}, {2, 3}}), list_sample(row, {{}, {}}),
            list_sample(row, {{long_ones ? 67 : 0}, {long_ones ? 67 : 0}})};
  if (row.name == "Pack")
    return {list_sample(row, {{2}, {2}}), list_sample(row, {{2, 3}, {2, 3}, {2, 3}}, {{"axis", 1}}),
            list_sample(row, {{}, {}}, {{"axis", -1}})};
  if (row.name == "Concat")
    return {list_sample(row, {{2, 3}, {1, 3}}), list_sample(row, {{2, 3}, {2, 1}, {2, 0}}, {{"axis", -1}}),
            list_sample(row, {{4}}), list_sample(row, {{2, 1, 2}, {2, 5, 2}}, {{"axis", 1}})};
  return {};
}

std::vector<sample> create_samples(const op_row& row) {
  static const std::vector<std::pair<std::string_view, std::vector<attributes>>> calls = {
      {"Fill",
       {{{"shape", integers{2, 3}}, {"value", 2.5}}, {{"shape", integers{67}}, {"value", 7}, {"dtype", dtype::int32}}}},
      {"Range",
       {{{"start", 0}, {"stop", 5}},
        {{"start", 5}, {"stop", 0.5}, {"step", -0.5}},
        {{"start", 3}, {"stop", -70}, {"dtype", dtype::int64}}}},
      {"LinSpace",
       {{{"start", -1.0}, {"stop", 2.0}, {"num", 67}},
        {{"start", 1.0}, {"stop", 1.0}, {"num", 1}},
        {{"start", -1e308}, {"stop", 1e308}, {"num", 3}, {"dtype", dtype::float64}}}},
      {"RandomUniform",
       {{{"shape", integers{67}}, {"seed", 3}},
        {{"shape", integers{2, 3}}, {"low", -1.0}, {"high", 4.0}, {"dtype", dtype::float64}}}},
      {"RandomNormal",
       {{{"shape", integers{67}}, {"seed", 3}},
        {{"shape", integers{2, 3}}, {"stddev", 0.5}, {"dtype", dtype::float64}}}}};
  std::vector<sample> all;
  if (row.name == "OneHot")
    return {with_fixed(make_sample(row, {{3}}, {{"depth", 4}}), 0, indices({1, 3, 0}, {3})),
            with_fixed(make_sample(row, {{2, 2}},
                                   {{"depth", 3}, {"onValue", 2.5}, {"offValue", -1.0}, {"dtype", dtype::float64}}),
                       0, indices({1, -1, 3, 0}, {2, 2}))};
  for (const auto& [op, of_op] : calls)
    for (const attributes& attrs : of_op)
      if (op == row.name) all.push_back(make_sample(row, {}, attrs));
  return all;
}

}  // namespace kerngrad::testkit::detail
