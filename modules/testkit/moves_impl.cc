// SPDX-License-Identifier: Apache-2.0
// Samples of ops that move, choose, join and make elements.
module;
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include "kernels/common/abi.h"
#include "modules/testkit/facts.h"
module kerngrad.testkit;

namespace kerngrad::testkit::detail {
namespace {

using maker = sample_maker<op_row, std::vector<sample>>;

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
    const bool back = row.attr_index("inputShape") >= 0;
    if (back) c.attrs.push_back({"inputShape", c.x});
    all.push_back(with_fixed(make_sample(row, {back ? c.y : c.x, c.at.dims()}, c.attrs), 1, c.at));
  }
  return all;
}

// Values between those that are drawn, and apart from each other.
tensor apart(const shape& dims) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < dims.size(); ++i) values.push_back(0.5 * static_cast<double>(i * 3 % 8) - 1.7);
  return tensor(values, dims);
}

// Extremes of no rows are infinite, of which there are no differences.
std::vector<sample> reduced_segment_samples(const op_row& row, bool long_ones) {
  struct segments {
    shape x;
    std::vector<std::int32_t> ids;
    std::int64_t count;
    bool without_rows = false;
  };
  std::vector<segments> cases = {{{4, 2}, {2, 0, 2, 1}, 3},
                                 {{4}, {-1, 0, 1, 1}, 2},
                                 {{2, 2, 3}, {1, 0, 0, 1}, 2},
                                 {{5}, {0, 3, 0, 0, 9}, 4, true},
                                 {{0, 2}, {}, 2, true}};
  if (long_ones) cases.push_back({{9, 67}, {1, 0, 1, 1, 2, 0, 7, 2, 1}, 3});
  std::vector<sample> all;
  for (const segments& c : cases)
    for (const char* reduction : {"mean", "prod", "max", "min"}) {
      const bool extreme = reduction == std::string_view("max") || reduction == std::string_view("min");
      if (extreme && c.without_rows) continue;
      const shape ids(c.x.dims().first(c.x.rank() == 3 ? 2 : 1));
      sample one = make_sample(row, {c.x, ids}, {{"numSegments", c.count}, {"reduction", reduction}});
      if (extreme) one = with_fixed(std::move(one), 0, apart(c.x));
      all.push_back(with_fixed(std::move(one), 1, indices(c.ids, ids)));
    }
  return all;
}

// For every reduction where there is one. The updates of extremes are none of x, and none goes twice to an element,
// where all that equal an extreme would get its gradient.
std::vector<sample> along_samples(const op_row& row, bool long_ones) {
  struct along {
    shape x, at;
    std::vector<std::int32_t> indices;
    std::int64_t axis;
    shape taken, updates;
  };
  std::vector<along> cases = {{{5}, {3}, {4, 0, -1}, 0, {3}, {3}},
                              {{2, 4}, {2, 3}, {3, 3, 0, 1, 0, -4}, -1, {2, 3}, {2, 3}},
                              {{3, 4}, {2, 4}, {0, 2, 1, 1, 2, 2, 0, -1}, 0, {2, 4}, {4}},
                              {{2, 3, 4}, {2, 2, 1}, {2, 0, 1, 1}, 1, {2, 2, 4}, {2, 2, 4}},
                              {{2, 1, 3}, {1, 4, 2}, {0, 2, 1, 1, -1, 0, 2, 2}, 2, {2, 4, 2}, {1}},
                              {{3, 2}, {0, 2}, {}, 0, {0, 2}, {0, 2}}};
  if (long_ones) cases.push_back({{3, 67}, {5, 67}, std::vector<std::int32_t>(5 * 67, 1), 0, {5, 67}, {5, 1}});
  std::vector<std::string_view> reductions = {""};
  if (row.attr_index("reduction") >= 0) reductions = {"add", "mul", "max", "min"};
  std::vector<sample> all;
  for (const along& c : cases)
    for (const std::string_view reduction : reductions) {
      const bool extreme = reduction == "max" || reduction == "min";
      sample one = make_sample(row, {c.x, c.at}, {{"axis", c.axis}});
      if (!reduction.empty()) one.attrs.push_back({"reduction", reduction});
      if (row.operands.size() == 3) one.operands.emplace_back("updates", extreme ? c.taken : c.updates);
      if (extreme) one.operands[2].values = apart(c.taken);
      all.push_back(with_fixed(std::move(one), 1, indices(c.indices, c.at)));
    }
  return all;
}

std::vector<sample> segment_samples(const op_row& row) {
  return {with_fixed(make_sample(row, {{4, 2}, {4}}, {{"numSegments", 3}}), 1, indices({2, 0, 2, 1}, {4})),
          with_fixed(make_sample(row, {{4}, {4}}, {{"numSegments", 2}}), 1, indices({-1, 5, 1, 1}, {4})),
          with_fixed(make_sample(row, {{2, 2, 3}, {2, 2}}, {{"numSegments", 4}}), 1, indices({3, 0, 0, 3}, {2, 2})),
          with_fixed(make_sample(row, {{0, 2}, {0}}, {{"numSegments", 2}}), 1, indices({}, {0}))};
}

std::vector<sample> row_samples(const op_row& row, bool long_ones) {
  struct call {
    std::string_view op;
    std::vector<shape> operands;
    std::size_t fixed;  // the operand of these indices
    tensor indices;
    attributes attrs;
  };
  const tensor pairs = indices({0, 2, 1, 1, 0, 2}, {3, 2}), singles = indices({3, 0, 3}, {3, 1});
  std::vector<call> calls = {
      {"GatherNd", {{4, 3}, {3, 1}}, 1, singles, {}},
      {"GatherNd", {{2, 3}, {3, 2}}, 1, pairs, {}},
      {"GatherNd", {{2, 3, 2}, {1, 3, 2}}, 1, indices({0, 2, 1, 1, 0, 2}, {1, 3, 2}), {}},
      {"GatherNd", {{2, 3, 2}, {2}}, 1, indices({1, 2}, {2}), {}},
      {"GatherNd", {{4, 3}, {0, 1}}, 1, indices({}, {0, 1}), {}},
      {"ScatterNd", {{3, 1}, {3, 3}}, 0, singles, {{"shape", integers{4, 3}}}},
      {"ScatterNd", {{3, 2}, {3}}, 0, pairs, {{"shape", integers{2, 3}}}},
      {"ScatterNd", {{3}, {3, 2, 2}}, 0, indices({1, 1, 0}, {3}), {{"shape", integers{2, 2, 2}}}},
      {"ScatterNd", {{1, 3, 2}, {1, 3, 2}}, 0, indices({0, 2, 1, 1, 0, 2}, {1, 3, 2}), {{"shape", integers{2, 3, 2}}}},
      {"ScatterNd", {{0, 1}, {0, 3}}, 0, indices({}, {0, 1}), {{"shape", integers{2, 3}}}},
      {"TensorScatterUpdate", {{4, 3}, {3, 1}, {3, 3}}, 1, singles, {}},
      {"TensorScatterUpdate", {{2, 3}, {3, 2}, {3}}, 1, pairs, {}},
      {"TensorScatterUpdate", {{4}, {2}, {2}}, 1, indices({2, 0}, {2}), {}},
      {"SparseToDense", {{3}, {3}, {}}, 0, indices({2, 0, 2}, {3}), {{"outputShape", integers{4}}}},
      {"SparseToDense", {{3, 2}, {}, {}}, 0, pairs, {{"outputShape", integers{2, 3}}}},
      {"SparseToDense", {{}, {}, {}}, 0, indices({1}, {}), {{"outputShape", integers{3}}}}};
  for (const char* reduction : {"add", "mul", "max", "min"}) {
    calls.push_back({"TensorScatterReduce", {{4, 3}, {3, 1}, {3, 3}}, 1, singles, {{"reduction", reduction}}});
    calls.push_back({"TensorScatterReduce", {{2, 3}, {3, 2}, {3}}, 1, pairs, {{"reduction", reduction}}});
    calls.push_back(
        {"TensorScatterReduce", {{4}, {5}, {5}}, 1, indices({2, 0, 2, 2, 3}, {5}), {{"reduction", reduction}}});
    if (long_ones)
      calls.push_back({"TensorScatterReduce", {{2, 3, 67}, {3, 2}, {3, 67}}, 1, pairs, {{"reduction", reduction}}});
  }
  if (long_ones) {
    calls.push_back({"GatherNd", {{3, 3, 67}, {3, 2}}, 1, pairs, {}});
    calls.push_back({"ScatterNd", {{3, 2}, {3, 67}}, 0, pairs, {{"shape", integers{2, 3, 67}}}});
    calls.push_back({"TensorScatterUpdate", {{2, 3, 67}, {3, 2}, {3, 67}}, 1, pairs, {}});
  }
  std::vector<sample> all;
  for (const call& c : calls)
    if (c.op == row.name) all.push_back(with_fixed(make_sample(row, c.operands, c.attrs), c.fixed, c.indices));
  if (row.attr_index("reduction") >= 0)
    for (sample& one : all) one.operands[2].values = apart(one.operands[2].dims[0]);
  return all;
}

namespace {

std::vector<sample> band_samples(const op_row& row, bool long_ones) {
  struct band {
    shape x;
    std::int32_t lower, upper;
  };
  std::vector<band> bands = {{{3, 4}, 1, 0},  {{4, 3}, 0, 2}, {{2, 3, 3}, -1, 1},
                             {{2, 3}, 2, -1}, {{1, 1}, 0, 0}, {{0, 3}, 0, 0}};
  if (long_ones) bands.push_back({{5, 67}, 2, 40});
  std::vector<sample> all;
  for (const band& b : bands)
    all.push_back(
        with_fixed(with_fixed(make_sample(row, {b.x, {}, {}}), 1, indices({b.lower}, {})), 2, indices({b.upper}, {})));
  return all;
}

std::vector<sample> nonzero_samples(const op_row& row, bool long_ones) {
  shapes dims = {{7}, {2, 3}, {2, 1, 4}, {1, 2, 2, 3}, {2, 1, 2, 1, 3}, {0, 2}};
  if (long_ones) dims.insert(dims.end(), {{300}, {5, 67}, {3, 2, 41}, {2, 1500}});
  std::vector<sample> all;
  for (const shape& d : dims) {
    std::vector<float> values;
    for (std::int64_t i = 0; i < d.size(); ++i) values.push_back(i * i % 7 % 3 == 1 ? 0.f : static_cast<float>(i % 5));
    all.push_back(with_fixed(make_sample(row, {d}), 0, tensor(values, d)));
  }
  return all;
}

std::vector<sample> shape_pair_samples(const op_row& row, bool) {
  const auto with = [&](const tensor& a, const tensor& b) {
    return with_fixed(with_fixed(make_sample(row, {a.dims(), b.dims()}), 0, a), 1, b);
  };
  return {with(indices({2, 1, 3}, {3}), indices({4, 1}, {2})), with(indices({1}, {1}), indices({1, 6, -1}, {3})),
          with(indices({}, {0}), indices({5}, {1}))};
}

std::vector<sample> complex_samples(const op_row& row, bool long_ones) {
  const shape long_one = long_ones ? shape{5, 67} : shape{2, 3};
  return {make_sample(row, {{2, 3}, {2, 3}}), make_sample(row, {{}, {}}), make_sample(row, {long_one, long_one})};
}

}  // namespace

std::vector<sample> move_samples(const op_row& row, bool long_ones) {
  static constexpr maker makers[] = {{"MatrixBandPart", band_samples},
                                     {"BroadcastArgs", shape_pair_samples},
                                     {"NonZero", nonzero_samples},
                                     {"Complex", complex_samples}};
  if (std::vector<sample> made = made_by(makers, row, long_ones); !made.empty()) return made;
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
      {"StridedSlice",
       {{{7}, {{"begin", integers{1}}, {"end", integers{6}}, {"strides", integers{2}}}},
        {{5, 4}, {{"begin", integers{-1, 0}}, {"end", integers{-9, 3}}, {"strides", integers{-2, 1}}}},
        {{3, 4, 2}, {{"begin", integers{0, 1}}, {"end", integers{0, 2}}, {"ellipsisMask", 1}}},
        {{3, 4}, {{"begin", integers{0, 2, 1}}, {"end", integers{0, 0, 3}}, {"newAxisMask", 1}, {"shrinkAxisMask", 2}}},
        {{4, 3}, {{"begin", integers{3, 1}}, {"end", integers{1, 0}}, {"beginMask", 1}, {"endMask", 2}}},
        {{4}, {{"begin", integers{3}}, {"end", integers{1}}}},
        {{}, {{"begin", integers{}}, {"end", integers{}}}}}},
      {"StridedSliceGrad",
       {{{3}, {{"begin", integers{1}}, {"end", integers{6}}, {"strides", integers{2}}, {"inputShape", integers{7}}}},
        {{3, 3},
         {{"begin", integers{-1, 0}},
          {"end", integers{-9, 3}},
          {"strides", integers{-2, 1}},
          {"inputShape", integers{5, 4}}}},
        {{3, 4, 1},
         {{"begin", integers{0, 1}}, {"end", integers{0, 2}}, {"ellipsisMask", 1}, {"inputShape", integers{3, 4, 2}}}},
        {{1, 2},
         {{"begin", integers{0, 2, 1}},
          {"end", integers{0, 0, 3}},
          {"newAxisMask", 1},
          {"shrinkAxisMask", 2},
          {"inputShape", integers{3, 4}}}},
        {{1, 2},
         {{"begin", integers{3, 1}},
          {"end", integers{1, 0}},
          {"beginMask", 1},
          {"endMask", 2},
          {"inputShape", integers{4, 3}}}}}},
      {"MirrorPad",
       {{{4}, {{"paddings", integers{2, 3}}, {"mode", "reflect"}}},
        {{4}, {{"paddings", integers{3, 4}}, {"mode", "symmetric"}}},
        {{2, 3}, {{"paddings", integers{1, 0, 2, 1}}, {"mode", "reflect"}}},
        {{2, 3, 2}, {{"paddings", integers{0, 2, 0, 0, 1, 1}}, {"mode", "symmetric"}}}}},
      {"RepeatPad",
       {{{4}, {{"paddings", integers{2, 3}}, {"mode", "edge"}}},
        {{3}, {{"paddings", integers{4, 8}}, {"mode", "wrap"}}},
        {{2, 3}, {{"paddings", integers{3, 0, 2, 5}}, {"mode", "wrap"}}},
        {{2, 1, 2}, {{"paddings", integers{0, 2, 3, 0, 1, 1}}, {"mode", "edge"}}},
        {{}, {{"paddings", integers{}}, {"mode", "edge"}}},
        {{0, 2}, {{"paddings", integers{0, 0, 1, 1}}, {"mode", "wrap"}}}}},
      {"SpaceToBatchND",
       {{{2, 4, 3}, {{"blockShape", integers{2}}, {"paddings", integers{0, 0}}}},
        {{1, 3, 5, 2}, {{"blockShape", integers{2, 3}}, {"paddings", integers{1, 0, 0, 1}}}},
        {{1, 2}, {{"blockShape", integers{3}}, {"paddings", integers{4, 0}}}}}},
      {"BatchToSpaceND",
       {{{4, 3, 2}, {{"blockShape", integers{2}}, {"crops", integers{0, 0}}}},
        {{6, 2, 2, 3}, {{"blockShape", integers{2, 3}}, {"crops", integers{1, 0, 0, 2}}}}}},
      {"DepthToSpace",
       {{{1, 2, 3, 8}, {{"blockSize", 2}}}, {{2, 9, 1, 2}, {{"blockSize", 3}, {"dataFormat", "NCHW"}}}}},
      {"Diag", {{{3}, {}}, {{2, 3}, {}}, {{}, {}}, {{0}, {}}}},
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
  if (row.attrs.empty() && row.operands.size() == 1)  // Identity, ZerosLike, Real, ComplexAbs, ...
    all = {of({2, 3}, {}), of({}, {}), of({0, 2}, {}), of(long_one, {})};
  return all;
}

namespace {

sample list_sample(const op_row& row, const shapes& dims, attributes attrs = {}) {
  return {{{row.operands[0].name, dims}}, std::move(attrs)};
}

}  // namespace

namespace {

std::vector<sample> einsum_samples(const op_row& row, bool long_ones) {
  std::vector<std::pair<const char*, shapes>> calls = {{"ij,jk->ik", {{2, 3}, {3, 4}}},
                                                       {"bij,bkj->kbi", {{2, 3, 4}, {2, 2, 4}}},
                                                       {"ij->ji", {{2, 3}}},
                                                       {"ijk->j", {{2, 3, 2}}},
                                                       {"iij,j->ji", {{3, 3, 2}, {2}}},
                                                       {"ii", {{3, 3}}},
                                                       {"b a", {{2, 3}}},
                                                       {"i,j->ij", {{2}, {3}}},
                                                       {"i,i->i", {{4}, {4}}},
                                                       {"...ij,...j->...i", {{2, 1, 2, 3}, {4, 3}}},
                                                       {"ij,jk,kl,m->il", {{2, 3}, {3, 2}, {2, 2}, {2}}},
                                                       {",ij->ij", {{}, {2, 2}}},
                                                       {"ij,jk->ik", {{2, 0}, {0, 3}}},
                                                       {"ij,j->i", {{0, 3}, {3}}}};
  if (long_ones) calls.push_back({"abc,cde->abde", {{2, 5, 37}, {37, 2, 19}}});
  std::vector<sample> all;
  for (const auto& [equation, dims] : calls) all.push_back(list_sample(row, dims, {{"equation", equation}}));
  return all;
}

std::vector<sample> added_samples(const op_row& row, bool long_ones) {
  return {list_sample(row, {{2, 3}}), list_sample(row, {{2, 3}, {2, 3}, {2, 3}}), list_sample(row, {{}, {}}),
          list_sample(row, {{long_ones ? 67 : 0}, {long_ones ? 67 : 0}})};
}
std::vector<sample> packed_samples(const op_row& row, bool) {
  return {list_sample(row, {{2}, {2}}), list_sample(row, {{2, 3}, {2, 3}, {2, 3}}, {{"axis", 1}}),
          list_sample(row, {{}, {}}, {{"axis", -1}})};
}
std::vector<sample> joined_samples(const op_row& row, bool) {
  return {list_sample(row, {{2, 3}, {1, 3}}), list_sample(row, {{2, 3}, {2, 1}, {2, 0}}, {{"axis", -1}}),
          list_sample(row, {{4}}), list_sample(row, {{2, 1, 2}, {2, 5, 2}}, {{"axis", 1}})};
}

std::vector<sample> hot_samples(const op_row& row, bool) {
  return {with_fixed(make_sample(row, {{3}}, {{"depth", 4}}), 0, indices({1, 3, 0}, {3})),
          with_fixed(make_sample(row, {{2, 2}},
                                 {{"depth", 3}, {"onValue", 2.5}, {"offValue", -1.0}, {"dtype", dtype::float64}}),
                     0, indices({1, -1, 3, 0}, {2, 2}))};
}
std::vector<sample> outcome_samples(const op_row& row, bool) {
  return {make_sample(row, {{2, 3}}, {{"numSamples", 5}, {"seed", 3.14}}),
          make_sample(row, {{3, 4}}, {{"numSamples", 67}, {"seed", -2}}),
          with_fixed(make_sample(row, {{1, 3}}, {{"numSamples", 9}, {"normalized", true}}), 0,
                     tensor({0.25f, 0.f, 0.5f}, {1, 3})),
          make_sample(row, {{0, 3}}, {{"numSamples", 2}}), make_sample(row, {{2, 3}}, {{"numSamples", 0}})};
}

}  // namespace

std::vector<sample> list_samples(const op_row& row, bool long_ones) {
  static constexpr maker makers[] = {
      {"AddN", added_samples}, {"Pack", packed_samples}, {"Concat", joined_samples}, {"Einsum", einsum_samples}};
  return made_by(makers, row, long_ones);
}

std::vector<sample> create_samples(const op_row& row) {
  static const std::vector<std::pair<std::string_view, std::vector<attributes>>> calls = {
      {"Fill",
       {{{"shape", integers{2, 3}}, {"value", 2.5}},
        {{"shape", integers{67}}, {"value", 7}, {"dtype", dtype::int32}},
        {{"shape", integers{5}}, {"value", "word"}, {"dtype", dtype::text}}}},
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
        {{"shape", integers{2, 3}}, {"mean", 1.5}, {"stddev", 0.5}, {"dtype", dtype::float64}}}}};
  static constexpr maker makers[] = {{"OneHot", hot_samples}, {"Multinomial", outcome_samples}};
  std::vector<sample> all = made_by(makers, row, false);
  for (const auto& [op, of_op] : calls)
    for (const attributes& attrs : of_op)
      if (op == row.name) all.push_back(make_sample(row, {}, attrs));
  return all;
}

}  // namespace kerngrad::testkit::detail
