// SPDX-License-Identifier: Apache-2.0
// Samples of ops that move, join and make elements.
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

std::vector<sample> outcome_samples(const op_row& row, bool) {
  return {make_sample(row, {{2, 3}}, {{"numSamples", 5}, {"seed", 3.14}}),
          make_sample(row, {{3, 4}}, {{"numSamples", 67}, {"seed", -2}}),
          with_fixed(make_sample(row, {{1, 3}}, {{"numSamples", 9}, {"normalized", true}}), 0,
                     tensor({0.25f, 0.f, 0.5f}, {1, 3})),
          make_sample(row, {{0, 3}}, {{"numSamples", 2}}), make_sample(row, {{2, 3}}, {{"numSamples", 0}})};
}

// Operands and attributes of ops of one operand. An op takes the cases whose attributes it has, as far as its shape
// rule accepts them.
const std::vector<std::pair<shape, attributes>>& moved() {
  static const std::vector<std::pair<shape, attributes>> cases = {
      {{2, 3}, {{"shape", integers{3, 2}}}},
      {{2, 3}, {{"shape", integers{-1}}}},
      {{}, {{"shape", integers{1, 1}}}},
      {{0, 3}, {{"shape", integers{3, 0}}}},
      {{2, 3}, {{"dim", 1}}},
      {{2, 3}, {{"dim", -1}}},
      {{2, 3, 4}, {{"perm", integers{1, 2, 0}}}},
      {{2, 3, 4}, {{"perm", integers{-1, 0, 1}}}},
      {{4, 3}, {{"begin", integers{1, 0}}, {"size", integers{2, 3}}}},
      {{4, 3}, {{"begin", 2}}},
      {{4, 3}, {{"begin", integers{1, 1}}, {"size", integers{-1, 1}}}},
      {{4, 3}, {{"begin", integers{4}}, {"size", integers{0}}}},
      {{2, 3, 2}, {{"axis", 1}}},
      {{2, 5}, {{"axis", -1}}},
      {{4, 3}, {{"numOrSizeSplits", 2}}},
      {{2, 6}, {{"numOrSizeSplits", integers{1, 2, -1}}, {"axis", 1}}},
      {{2, 6}, {{"numOrSizeSplits", 6}, {"axis", -1}}},
      {{2, 3}, {{"paddings", integers{1, 0, 0, 2}}, {"constantValue", 1.5}}},
      {{2}, {{"paddings", integers{1, 1}}}},
      {{}, {{"paddings", integers{}}}},
      {{0, 2}, {{"paddings", integers{1, 0, 0, 1}}}},
      {{2, 3}, {{"reps", integers{2, 1}}}},
      {{2, 3}, {{"reps", integers{1, 3}}}},
      {{2, 1, 2}, {{"reps", integers{2, 3, 2}}}},
      {{2}, {{"reps", integers{0}}}},
      {{}, {{"reps", integers{}}}},
      {{3}, {{"shape", integers{2, 3}}}},
      {{2, 1}, {{"shape", integers{4, 2, 3}}}},
      {{}, {{"shape", integers{2}}}},
      {{1, 2}, {{"shape", integers{0, 2}}}},
      {{2, 3}, {{"dims", 1}}},
      {{2, 3, 2}, {{"dims", integers{0, -1}}}},
      {{7}, {{"begin", integers{1}}, {"end", integers{6}}, {"strides", integers{2}}}},
      {{5, 4}, {{"begin", integers{-1, 0}}, {"end", integers{-9, 3}}, {"strides", integers{-2, 1}}}},
      {{3, 4, 2}, {{"begin", integers{0, 1}}, {"end", integers{0, 2}}, {"ellipsisMask", 1}}},
      {{3, 4}, {{"begin", integers{0, 2, 1}}, {"end", integers{0, 0, 3}}, {"newAxisMask", 1}, {"shrinkAxisMask", 2}}},
      {{4, 3}, {{"begin", integers{3, 1}}, {"end", integers{1, 0}}, {"beginMask", 1}, {"endMask", 2}}},
      {{4}, {{"begin", integers{3}}, {"end", integers{1}}}},
      {{}, {{"begin", integers{}}, {"end", integers{}}}},
      {{4}, {{"paddings", integers{2, 3}}, {"mode", "reflect"}}},
      {{4}, {{"paddings", integers{3, 4}}, {"mode", "symmetric"}}},
      {{2, 3}, {{"paddings", integers{1, 0, 2, 1}}, {"mode", "reflect"}}},
      {{2, 3, 2}, {{"paddings", integers{0, 2, 0, 0, 1, 1}}, {"mode", "symmetric"}}},
      {{4}, {{"paddings", integers{2, 3}}, {"mode", "edge"}}},
      {{3}, {{"paddings", integers{4, 8}}, {"mode", "wrap"}}},
      {{2, 3}, {{"paddings", integers{3, 0, 2, 5}}, {"mode", "wrap"}}},
      {{2, 1, 2}, {{"paddings", integers{0, 2, 3, 0, 1, 1}}, {"mode", "edge"}}},
      {{}, {{"paddings", integers{}}, {"mode", "edge"}}},
      {{0, 2}, {{"paddings", integers{0, 0, 1, 1}}, {"mode", "wrap"}}},
      {{2, 4, 3}, {{"blockShape", integers{2}}, {"paddings", integers{0, 0}}}},
      {{1, 3, 5, 2}, {{"blockShape", integers{2, 3}}, {"paddings", integers{1, 0, 0, 1}}}},
      {{1, 2}, {{"blockShape", integers{3}}, {"paddings", integers{4, 0}}}},
      {{4, 3, 2}, {{"blockShape", integers{2}}, {"crops", integers{0, 0}}}},
      {{6, 2, 2, 3}, {{"blockShape", integers{2, 3}}, {"crops", integers{1, 0, 0, 2}}}},
      {{1, 2, 3, 8}, {{"blockSize", 2}}},
      {{2, 9, 1, 2}, {{"blockSize", 3}, {"dataFormat", "NCHW"}}},
      {{2, 3}, {{"dtype", dtype::float64}}},
      {{3}, {{"dtype", dtype::float32}}},
      {{2}, {{"dtype", dtype::int32}}},
      {{}, {{"dtype", dtype::boolean}}},
  };
  return cases;
}

// Attributes of ops without operands.
const std::vector<attributes>& created() {
  static const std::vector<attributes> cases = {
      {{"shape", integers{2, 3}}, {"value", 2.5}},
      {{"shape", integers{67}}, {"value", 7}, {"dtype", dtype::int32}},
      {{"shape", integers{5}}, {"value", "word"}, {"dtype", dtype::text}},
      {{"start", 0}, {"stop", 5}},
      {{"start", 5}, {"stop", 0.5}, {"step", -0.5}},
      {{"start", 3}, {"stop", -70}, {"dtype", dtype::int64}},
      {{"start", -1.0}, {"stop", 2.0}, {"num", 67}},
      {{"start", 1.0}, {"stop", 1.0}, {"num", 1}},
      {{"start", -1e308}, {"stop", 1e308}, {"num", 3}, {"dtype", dtype::float64}},
      {{"shape", integers{67}}, {"seed", 3}},
      {{"shape", integers{2, 3}}, {"low", -1.0}, {"high", 4.0}, {"dtype", dtype::float64}},
      {{"shape", integers{2, 3}}, {"mean", 1.5}, {"stddev", 0.5}, {"dtype", dtype::float64}},
  };
  return cases;
}

sample list_sample(const op_row& row, const shapes& dims, attributes attrs = {}) {
  return {{{row.operands[0].name, dims}}, std::move(attrs)};
}

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
// Lists that are joined along an axis, or along a new one.
std::vector<sample> joined_samples(const op_row& row, bool) {
  return legal_ones(row, {list_sample(row, {{2}, {2}}), list_sample(row, {{2, 3}, {2, 3}, {2, 3}}, {{"axis", 1}}),
                          list_sample(row, {{}, {}}, {{"axis", -1}}), list_sample(row, {{2, 3}, {1, 3}}),
                          list_sample(row, {{2, 3}, {2, 1}, {2, 0}}, {{"axis", -1}}), list_sample(row, {{4}}),
                          list_sample(row, {{2, 1, 2}, {2, 5, 2}}, {{"axis", 1}})});
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

std::vector<sample> list_samples(const op_row& row, bool long_ones) {
  static constexpr sample_maker makers[] = {{"equation", einsum_samples}, {"axis", joined_samples}};
  std::vector<sample> all = made_by(makers, row, long_ones);
  return all.empty() ? added_samples(row, long_ones) : all;
}

std::vector<sample> moved_samples(const op_row& row, bool long_ones) {
  std::vector<sample> all;
  if (row.operands.empty())
    for (const attributes& attrs : created()) all.push_back(make_sample(row, {}, attrs));
  if (row.operands.size() == 1) {
    for (const shape& dims : shapes{{2, 3}, {}, {0, 2}}) all.push_back(make_sample(row, {dims}));
    if (long_ones) all.push_back(make_sample(row, {{5, 67}}));
    for (const auto& [dims, attrs] : moved()) all.push_back(make_sample(row, {dims}, attrs));
  }
  return legal_ones(row, std::move(all));
}

std::vector<sample> move_samples(const op_row& row, bool long_ones) {
  if (row.takes_list()) return list_samples(row, long_ones);
  if (row.bounded) return nonzero_samples(row, long_ones);
  static constexpr sample_maker makers[] = {{"indices", index_samples},       {"segmentIds", index_samples},
                                            {"sparseIndices", index_samples}, {"numLower", band_samples},
                                            {"s0", shape_pair_samples},       {"imag", complex_samples},
                                            {"numSamples", outcome_samples}};
  std::vector<sample> all = made_by(makers, row, long_ones);
  return all.empty() ? moved_samples(row, long_ones) : all;
}

}  // namespace kerngrad::testkit::detail
