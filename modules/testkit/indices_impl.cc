// SPDX-License-Identifier: Apache-2.0
// Samples of ops that look up, put or add elements at indices.
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

// The reductions that the op has as choices of an attribute, or one without a name.
std::vector<std::string_view> reductions_of(const op_row& row) {
  const int at = row.attr_index("reduction");
  return at < 0 ? std::vector<std::string_view>{""} : choices_of(row.attrs[static_cast<std::size_t>(at)]);
}
bool is_extreme(std::string_view reduction) { return reduction == "max" || reduction == "min"; }

std::vector<sample> hot_samples(const op_row& row, bool) {
  return {with_fixed(make_sample(row, {{3}}, {{"depth", 4}}), 0, indices({1, 3, 0}, {3})),
          with_fixed(make_sample(row, {{2, 2}},
                                 {{"depth", 3}, {"onValue", 2.5}, {"offValue", -1.0}, {"dtype", dtype::float64}}),
                     0, indices({1, -1, 3, 0}, {2, 2}))};
}
std::vector<sample> gather_samples(const op_row& row, bool long_ones) {
  struct gathering {
    shape x;
    tensor at;
    attributes attrs;
  };
  std::vector<gathering> cases = {{{4, 3}, indices({2, 0, 2}, {3}), {}},
                                  {{2, 4, 3}, indices({3, 3, 0, 1}, {2, 2}), {{"axis", 1}}},
                                  {{2, 3}, indices({1}, {}), {{"axis", -1}}},
                                  {{2, 3, 2}, indices({0, 2, 1, 1}, {2, 2}), {{"axis", 1}, {"batchDims", 1}}},
                                  {{4, 2}, indices({}, {0}), {}}};
  if (long_ones) cases.push_back({{9, 67}, indices({8, 0, 3, 3}, {4}), {}});
  std::vector<sample> all;
  for (const gathering& c : cases) all.push_back(with_fixed(make_sample(row, {c.x, c.at.dims()}, c.attrs), 1, c.at));
  return all;
}

// Values between those that are drawn, and apart from each other.
tensor apart(const shape& dims) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < dims.size(); ++i) values.push_back(0.5 * static_cast<double>(i * 3 % 8) - 1.7);
  return tensor(values, dims);
}

// Extremes of no rows are infinite, of which there are no differences.
std::vector<sample> segment_samples(const op_row& row, bool long_ones) {
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
    for (const std::string_view reduction : reductions_of(row)) {
      const bool extreme = is_extreme(reduction);
      if (extreme && c.without_rows) continue;
      const shape ids(c.x.dims().first(c.x.rank() == 3 ? 2 : 1));
      sample one = make_sample(row, {c.x, ids}, {{"numSegments", c.count}});
      if (!reduction.empty()) one.attrs.push_back({"reduction", reduction});
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
  std::vector<sample> all;
  for (const along& c : cases)
    for (const std::string_view reduction : reductions_of(row)) {
      const bool extreme = is_extreme(reduction);
      sample one = make_sample(row, {c.x, c.at}, {{"axis", c.axis}});
      if (!reduction.empty()) one.attrs.push_back({"reduction", reduction});
      if (row.operands.size() == 3) one.operands.emplace_back("updates", extreme ? c.taken : c.updates);
      if (extreme) one.operands[2].values = apart(c.taken);
      all.push_back(with_fixed(std::move(one), 1, indices(c.indices, c.at)));
    }
  return all;
}

// Slices of x that rows of indices name, and updates for them. Ops differ in the meaning of a single list of indices.
std::vector<sample> row_samples(const op_row& row, bool long_ones) {
  struct named_rows {
    shape x;
    tensor at;
    shape updates;
  };
  const tensor pairs = indices({0, 2, 1, 1, 0, 2}, {3, 2});
  std::vector<named_rows> cases = {
      {{4, 3}, indices({3, 0, 3}, {3, 1}), {3, 3}},      {{2, 3}, pairs, {3}},
      {{2, 3, 2}, reshape(pairs, {1, 3, 2}), {1, 3, 2}}, {{2, 3, 2}, indices({1, 2}, {2}), {2}},
      {{2, 2, 2}, indices({1, 1, 0}, {3}), {3, 2, 2}},   {{4}, indices({2, 0}, {2}), {2}},
      {{4}, indices({2, 0, 2, 2, 3}, {5}), {5}},         {{4, 3}, indices({}, {0, 1}), {0, 3}}};
  if (long_ones) cases.push_back({{2, 3, 67}, pairs, {3, 67}});
  std::vector<sample> all;
  for (const named_rows& c : cases)
    for (const std::string_view reduction : reductions_of(row)) {
      sample one;
      for (const operand& o : row.operands) {
        if (o.name == "indices") one.operands.emplace_back(o.name, c.at);
        else one.operands.emplace_back(o.name, o.name == "updates" ? c.updates : c.x);
      }
      if (row.attr_index("shape") >= 0) one.attrs.push_back({"shape", c.x});
      if (!reduction.empty()) one.attrs.push_back({"reduction", reduction});
      if (!reduction.empty()) one.operands.back().values = apart(c.updates);
      all.push_back(std::move(one));
    }
  return legal_ones(row, std::move(all));
}

std::vector<sample> dense_samples(const op_row& row, bool) {
  struct placing {
    tensor at;
    shape values, y;
  };
  std::vector<sample> all;
  for (const placing& c : {placing{indices({2, 0, 2}, {3}), {3}, {4}},
                           {indices({0, 2, 1, 1, 0, 2}, {3, 2}), {}, {2, 3}},
                           {indices({1}, {}), {}, {3}}})
    all.push_back(with_fixed(make_sample(row, {c.at.dims(), c.values, {}}, {{"outputShape", c.y}}), 0, c.at));
  return all;
}

std::vector<sample> along_or_row_samples(const op_row& row, bool long_ones) {
  return row.operand_index("x") >= 0 ? along_samples(row, long_ones) : row_samples(row, long_ones);
}

}  // namespace

std::vector<sample> index_samples(const op_row& row, bool long_ones) {
  static constexpr sample_maker makers[] = {{"depth", hot_samples},
                                            {"batchDims", gather_samples},
                                            {"segmentIds", segment_samples},
                                            {"sparseIndices", dense_samples},
                                            {"indices", along_or_row_samples}};
  return made_by(makers, row, long_ones);
}

}  // namespace kerngrad::testkit::detail
