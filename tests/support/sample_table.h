// SPDX-License-Identifier: Apache-2.0
// The samples themselves: by family where the row says enough, by name where operands depend on each other.
// Included by samples.h.
#pragma once

namespace kgtest {
namespace table {

using shapes = std::vector<kg::shape>;
using attributes = std::vector<kg::named_attribute>;
using list = std::vector<std::int64_t>;

inline kg::tensor indices(std::vector<std::int32_t> values, const kg::shape& dims) { return kg::tensor(values, dims); }

inline sample make(const kg::op_row& row, const shapes& dims, attributes attrs = {}) {
  sample s;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    s.slots.push_back({std::string(row.operands[i].name), {dims[i]}});
    s.label += (i ? " " : "") + to_string(dims[i]);
  }
  s.label += text_of(attrs);
  s.attrs = std::move(attrs);
  return s;
}

// Attributes that a row asks for, and others than the defaults where that is another branch.
inline std::vector<attributes> unary_attributes(const kg::op_row& row) {
  if (row.name == "ClipByValue") return {{{"clipValueMin", -1.0}, {"clipValueMax", 1.5}}};
  if (row.name == "Step") return {{}, {{"alpha", -0.5}}};
  if (row.name == "LeakyRelu") return {{}, {{"alpha", 0.3}}};
  if (row.attrs.empty()) return {{}};
  return {};
}

inline std::vector<sample> unary(const kg::op_row& row, bool large) {
  std::vector<sample> all;
  shapes dims = {{7}, {}, {2, 3}, {0}, {2, 1, 3, 2}};
  if (large) dims.insert(dims.end(), {{67}, {5, 33}});
  for (const attributes& attrs : unary_attributes(row))
    for (const kg::shape& d : dims) all.push_back(make(row, {d}, attrs));
  return all;
}

inline std::vector<sample> binary(const kg::op_row& row, bool large) {
  if (!row.attrs.empty()) return {};
  std::vector<shapes> dims = {{{2, 3}, {2, 3}}, {{2, 3}, {3}},    {{2, 1, 3}, {4, 1}},
                              {{}, {2}},        {{3, 1}, {}},     {{}, {}},
                              {{0, 3}, {1, 3}}, {{1, 4}, {3, 1}}, {{2, 2, 2, 2}, {2, 1, 2}}};
  if (large) dims.insert(dims.end(), {{{67}, {67}}, {{5, 33}, {33}}, {{5, 33}, {5, 1}}, {{}, {67}}});
  std::vector<sample> all;
  for (const shapes& d : dims) all.push_back(make(row, d));
  return all;
}

inline sample of_list(const kg::op_row& row, const shapes& dims, attributes attrs = {}) {
  sample s{"", {{std::string(row.operands[0].name), dims}}, std::move(attrs)};
  for (const kg::shape& d : dims) s.label += to_string(d) + " ";
  s.label += text_of(s.attrs);
  return s;
}

inline std::vector<sample> reductions(const kg::op_row& row, bool large) {
  const std::string axis(row.attrs[0].name);
  const bool one_axis = row.attrs[0].kind == kg::attr_kind::integer;
  std::vector<sample> all;
  if (one_axis) {
    all = {make(row, {{5}}), make(row, {{2, 3, 4}}, {{axis, 1}}), make(row, {{2, 3, 4}}, {{axis, -1}}),
           make(row, {{3, 0}})};
    if (large) all.push_back(make(row, {{3, 67}}, {{axis, -1}}));
    return all;
  }
  all = {make(row, {{2, 3, 4}}),
         make(row, {{2, 3, 4}}, {{axis, 1}}),
         make(row, {{2, 3, 4}}, {{axis, -1}, {"keepDims", true}}),
         make(row, {{2, 3, 4}}, {{axis, list{0, -1}}}),
         make(row, {{2, 3, 4}}, {{axis, list{0, 1, 2}}, {"keepDims", true}}),
         make(row, {{2, 3}}, {{axis, list{}}}),
         make(row, {{}}),
         make(row, {{0, 3}}, {{axis, 1}}),
         make(row, {{2, 1, 3, 1}}, {{axis, list{1, 3}}})};
  if (large)
    all.insert(all.end(), {make(row, {{67, 5}}, {{axis, 0}}), make(row, {{5, 67}}, {{axis, 1}}), make(row, {{300}})});
  return all;
}

inline std::vector<sample> scans(const kg::op_row& row, bool large) {
  std::vector<sample> all;
  for (bool exclusive : {false, true})
    for (bool reverse : {false, true})
      for (int axis : {0, -1})
        all.push_back(make(row, {{2, 4}}, {{"axis", axis}, {"exclusive", exclusive}, {"reverse", reverse}}));
  all.push_back(make(row, {{2, 3, 2}}, {{"axis", 1}}));
  all.push_back(make(row, {{}}));
  all.push_back(make(row, {{0, 2}}));
  if (large) all.push_back(make(row, {{3, 67}}, {{"axis", 1}}));
  return all;
}

inline std::vector<sample> softmaxes(const kg::op_row& row, bool large) {
  if (row.operands.size() == 2) {
    std::vector<sample> all = {make(row, {{3, 4}, {3, 4}}), make(row, {{5}, {5}}), make(row, {{2, 2, 3}, {2, 2, 3}}),
                               make(row, {{0, 3}, {0, 3}})};
    if (large) all.push_back(make(row, {{3, 67}, {3, 67}}));
    return all;
  }
  const std::string axis(row.attrs[0].name);
  std::vector<sample> all = {make(row, {{3, 4}}),
                             make(row, {{3, 4}}, {{axis, 0}}),
                             make(row, {{2, 3, 2}}, {{axis, 1}}),
                             make(row, {{2, 3, 2}}, {{axis, -3}}),
                             make(row, {{5}}),
                             make(row, {{}}),
                             make(row, {{0, 3}})};
  if (large) all.push_back(make(row, {{3, 67}}));
  return all;
}

inline std::vector<sample> matrices(const kg::op_row& row, bool large) {
  std::vector<sample> all;
  for (bool ta : {false, true})
    for (bool tb : {false, true}) {
      const kg::shape a = ta ? kg::shape{4, 2} : kg::shape{2, 4}, b = tb ? kg::shape{3, 4} : kg::shape{4, 3};
      const attributes attrs = {{"transposeA", ta}, {"transposeB", tb}};
      all.push_back(make(row, {a, b}, attrs));
      all.push_back(make(row, {{2, 1, a[0], a[1]}, {3, b[0], b[1]}}, attrs));
    }
  all.push_back(make(row, {{3, 2, 4}, {4, 2}}));
  all.push_back(make(row, {{0, 3}, {3, 2}}));
  all.push_back(make(row, {{2, 0}, {0, 3}}));
  if (large) all.push_back(make(row, {{13, 37}, {37, 35}}));
  return all;
}

// ------------------------------------------------------------------------------------------ windows

struct window {
  kg::shape x, filter;
  attributes attrs;
};

// Padding has no default.
inline void give_padding(window& w) {
  for (const kg::named_attribute& a : w.attrs)
    if (a.name == "pad") return;
  w.attrs.push_back({"pad", "valid"});
}

inline std::vector<window> convolutions(bool depthwise, bool large) {
  const auto filter = [&](std::int64_t h, std::int64_t w, std::int64_t in, std::int64_t out) {
    return kg::shape{h, w, in, depthwise ? 2 : out};
  };
  std::vector<window> all = {
      {{2, 5, 4, 3}, filter(3, 2, 3, 2), {}},
      {{1, 5, 4, 2}, filter(3, 3, 2, 3), {{"strides", list{2, 1}}, {"pad", "same"}}},
      {{1, 6, 5, 2}, filter(2, 3, 2, 2), {{"pad", 1}, {"dilations", list{2, 1}}}},
      {{1, 5, 6, 1}, filter(3, 2, 1, 2), {{"strides", 2}, {"pad", list{1, 0, 2, 1}}}},
      {{1, 5, 4, 2}, filter(2, 2, 2, 1), {{"pad", list{0, 0, 1, 2, 0, 1, 0, 0}}}},
      {{1, 2, 5, 4}, filter(3, 2, 2, 2), {{"strides", 2}, {"pad", "same"}, {"dataFormat", "NCHW"}}},
      {{1, 2, 5, 4}, filter(2, 2, 2, 3), {{"pad", list{0, 0, 0, 0, 1, 2, 0, 1}}, {"dataFormat", "NCHW"}}},
      {{1, 6, 6, 1}, filter(3, 3, 1, 2), {{"strides", 2}, {"pad", 1}, {"dimRoundingMode", "ceil"}}},
      {{1, 5, 7, 1}, filter(2, 2, 1, 2), {{"strides", 2}, {"pad", 1}, {"dimRoundingMode", "round"}}},
      {{1, 5, 4, 3}, filter(1, 1, 3, 2), {{"strides", 2}}},
      {{1, 7, 7, 1}, filter(2, 2, 1, 1), {{"strides", 3}, {"pad", "same"}}},
      {{1, 6, 6, 1}, filter(2, 2, 1, 1), {{"pad", "same"}, {"dilations", 2}}},
      {{0, 4, 4, 2}, filter(2, 2, 2, 2), {}}};
  if (large) all.push_back({{2, 9, 11, 19}, filter(3, 3, 19, 37), {{"pad", "same"}}});
  return all;
}

inline std::vector<sample> convolution_samples(const kg::op_row& row, bool large) {
  const bool depthwise = row.name.starts_with("Depthwise");
  const std::string forward = depthwise ? "DepthwiseConv2dNative" : "Conv2D";
  std::vector<sample> all;
  for (window& w : convolutions(depthwise, large)) {
    give_padding(w);
    const std::vector<kg::named_operand> operands = {{"x", kg::zeros(w.x)}, {"filter", kg::zeros(w.filter)}};
    const kg::shape dy = kg::run_kernel_list(forward, operands, w.attrs).front().dims();
    const bool to_input = row.name.ends_with("Input"), to_filter = row.name.ends_with("Filter");
    if (to_input) w.attrs.push_back({"inputShape", w.x});
    if (to_filter) w.attrs.push_back({"filterShape", w.filter});
    all.push_back(make(row,
                       to_input    ? shapes{dy, w.filter}
                       : to_filter ? shapes{w.x, dy}
                                   : shapes{w.x, w.filter},
                       w.attrs));
  }
  return all;
}

inline std::vector<sample> pools(const kg::op_row& row, bool large) {
  std::vector<window> windows = {
      {{1, 4, 4, 2}, {}, {{"filterSize", list{2, 2}}, {"strides", list{2, 2}}}},
      {{1, 5, 4, 1}, {}, {{"filterSize", list{3, 2}}, {"strides", 1}, {"pad", "same"}}},
      {{2, 5, 5, 1}, {}, {{"filterSize", 3}, {"strides", 2}, {"pad", "same"}}},
      {{1, 5, 5, 1}, {}, {{"filterSize", 2}, {"strides", 2}, {"pad", 1}}},
      {{1, 5, 4, 1}, {}, {{"filterSize", list{2, 3}}, {"pad", list{1, 0, 0, 2}}}},
      {{1, 5, 4, 1}, {}, {{"filterSize", 2}, {"pad", list{0, 0, 1, 0, 0, 1, 0, 0}}}},
      {{1, 6, 6, 1}, {}, {{"filterSize", 3}, {"strides", 2}, {"pad", 1}, {"dimRoundingMode", "round"}}},
      {{1, 4, 4, 1}, {}, {{"filterSize", 1}, {"strides", 2}}},
      {{0, 4, 4, 2}, {}, {{"filterSize", 2}}}};
  if (large) windows.push_back({{2, 9, 11, 37}, {}, {{"filterSize", 3}, {"strides", 2}, {"pad", "same"}}});
  std::vector<sample> all;
  for (window& w : windows) {
    give_padding(w);
    const std::vector<kg::named_operand> operands = {{"x", kg::zeros(w.x)}};
    const kg::shape y = kg::run_kernel_list("AvgPool", operands, w.attrs).front().dims();
    shapes dims;
    for (const kg::operand& o : row.operands) dims.push_back(o.name == "dy" || o.name == "output" ? y : w.x);
    all.push_back(make(row, dims, w.attrs));
  }
  return all;
}

// ------------------------------------------------------------------------------------------ by name

inline sample with_fixed(sample s, std::size_t operand, kg::tensor value) {
  s.slots[operand].fixed = std::move(value);
  return s;
}

inline std::vector<sample> selects(const kg::op_row& row, bool large) {
  const kg::tensor six({true, false, true, true, false, false}, {2, 3}), two({false, true}, {2}), one({true}, {});
  std::vector<sample> all = {
      with_fixed(make(row, {{2, 3}, {2, 3}, {2, 3}}), 0, six), with_fixed(make(row, {{2, 3}, {3}, {}}), 0, six),
      with_fixed(make(row, {{2}, {2, 3}, {2, 3}}), 0, two), with_fixed(make(row, {{}, {2, 2}, {2}}), 0, one),
      with_fixed(make(row, {{0, 3}, {3}, {1, 3}}), 0, kg::tensor(std::vector<bool>{}, {0, 3}))};
  if (large) {
    std::vector<bool> many;
    for (int i = 0; i < 67; ++i) many.push_back(i % 3 == 0);
    all.push_back(with_fixed(make(row, {{67}, {67}, {67}}), 0, kg::tensor(many, {67})));
  }
  return all;
}

inline std::vector<sample> gathers(const kg::op_row& row, bool large) {
  struct gathering {
    kg::shape x;
    kg::tensor at;
    attributes attrs;
    kg::shape y;
  };
  std::vector<gathering> cases = {
      {{4, 3}, indices({2, 0, 2}, {3}), {}, {3, 3}},
      {{2, 4, 3}, indices({3, 3, 0, 1}, {2, 2}), {{"axis", 1}}, {2, 2, 2, 3}},
      {{2, 3}, indices({1}, {}), {{"axis", -1}}, {2}},
      {{2, 3, 2}, indices({0, 2, 1, 1}, {2, 2}), {{"axis", 1}, {"batchDims", 1}}, {2, 2, 2}},
      {{4, 2}, indices({}, {0}), {}, {0, 2}}};
  if (large) cases.push_back({{9, 67}, indices({8, 0, 3, 3}, {4}), {}, {4, 67}});
  std::vector<sample> all;
  for (gathering& c : cases) {
    const bool back = row.name == "GatherGrad";
    if (back) c.attrs.push_back({"inputShape", c.x});
    all.push_back(with_fixed(make(row, {back ? c.y : c.x, c.at.dims()}, c.attrs), 1, c.at));
  }
  return all;
}

inline std::vector<sample> segments(const kg::op_row& row, bool) {
  return {with_fixed(make(row, {{4, 2}, {4}}, {{"numSegments", 3}}), 1, indices({2, 0, 2, 1}, {4})),
          with_fixed(make(row, {{4}, {4}}, {{"numSegments", 2}}), 1, indices({-1, 5, 1, 1}, {4})),
          with_fixed(make(row, {{2, 2, 3}, {2, 2}}, {{"numSegments", 4}}), 1, indices({3, 0, 0, 3}, {2, 2})),
          with_fixed(make(row, {{0, 2}, {0}}, {{"numSegments", 2}}), 1, indices({}, {0}))};
}

inline std::vector<sample> convolution_free(const kg::op_row& row, bool large) {
  const kg::shape long_one = large ? kg::shape{5, 67} : kg::shape{2, 3};
  const auto of = [&](const kg::shape& dims, attributes attrs) { return make(row, {dims}, std::move(attrs)); };
  static const std::map<std::string_view, std::vector<std::pair<kg::shape, attributes>>> calls = {
      {"Reshape",
       {{{2, 3}, {{"shape", list{3, 2}}}},
        {{2, 3}, {{"shape", list{-1}}}},
        {{}, {{"shape", list{1, 1}}}},
        {{0, 3}, {{"shape", list{3, 0}}}}}},
      {"ExpandDims", {{{2, 3}, {}}, {{2, 3}, {{"dim", 1}}}, {{2, 3}, {{"dim", -1}}}, {{}, {}}}},
      {"Transpose",
       {{{2, 3}, {}},
        {{2, 3, 4}, {{"perm", list{1, 2, 0}}}},
        {{2, 3, 4}, {{"perm", list{-1, 0, 1}}}},
        {{}, {}},
        {{0, 2}, {}}}},
      {"Slice",
       {{{4, 3}, {{"begin", list{1, 0}}, {"size", list{2, 3}}}},
        {{4, 3}, {{"begin", 2}}},
        {{4, 3}, {{"begin", list{1, 1}}, {"size", list{-1, 1}}}},
        {{4, 3}, {{"begin", list{4}}, {"size", list{0}}}}}},
      {"Unpack", {{{3, 2}, {}}, {{2, 3, 2}, {{"axis", 1}}}, {{2, 5}, {{"axis", -1}}}}},
      {"SplitV",
       {{{4, 3}, {{"numOrSizeSplits", 2}}},
        {{2, 6}, {{"numOrSizeSplits", list{1, 2, -1}}, {"axis", 1}}},
        {{2, 6}, {{"numOrSizeSplits", 6}, {"axis", -1}}}}},
      {"PadV2",
       {{{2, 3}, {{"paddings", list{1, 0, 0, 2}}, {"constantValue", 1.5}}},
        {{2}, {{"paddings", list{1, 1}}}},
        {{}, {{"paddings", list{}}}},
        {{0, 2}, {{"paddings", list{1, 0, 0, 1}}}}}},
      {"Tile",
       {{{2, 3}, {{"reps", list{2, 1}}}},
        {{2, 3}, {{"reps", list{1, 3}}}},
        {{2, 1, 2}, {{"reps", list{2, 3, 2}}}},
        {{2}, {{"reps", list{0}}}},
        {{}, {{"reps", list{}}}}}},
      {"BroadcastTo",
       {{{3}, {{"shape", list{2, 3}}}},
        {{2, 1}, {{"shape", list{4, 2, 3}}}},
        {{}, {{"shape", list{2}}}},
        {{1, 2}, {{"shape", list{0, 2}}}}}},
      {"Reverse", {{{2, 3}, {}}, {{2, 3}, {{"dims", 1}}}, {{2, 3, 2}, {{"dims", list{0, -1}}}}, {{0, 2}, {}}}},
      {"Cast",
       {{{2, 3}, {{"dtype", kg::dtype::float64}}},
        {{3}, {{"dtype", kg::dtype::float32}}},
        {{2}, {{"dtype", kg::dtype::int32}}},
        {{}, {{"dtype", kg::dtype::boolean}}}}}};
  std::vector<sample> all;
  if (const auto at = calls.find(row.name); at != calls.end()) {
    for (const auto& [dims, attrs] : at->second) all.push_back(of(dims, attrs));
  } else if (row.attrs.empty() && row.operands.size() == 1) {  // Identity, ZerosLike, Real, ComplexAbs, ...
    all = {of({2, 3}, {}), of({}, {}), of({0, 2}, {}), of(long_one, {})};
  } else if (row.name == "Complex") {
    all = {make(row, {{2, 3}, {2, 3}}), make(row, {{}, {}}), make(row, {long_one, long_one})};
  }
  return all;
}

inline std::vector<sample> lists(const kg::op_row& row, bool large) {
  if (row.name == "AddN")
    return {of_list(row, {{2, 3}}), of_list(row, {{2, 3}, {2, 3}, {2, 3}}), of_list(row, {{}, {}}),
            of_list(row, {{large ? 67 : 0}, {large ? 67 : 0}})};
  if (row.name == "Pack")
    return {of_list(row, {{2}, {2}}), of_list(row, {{2, 3}, {2, 3}, {2, 3}}, {{"axis", 1}}),
            of_list(row, {{}, {}}, {{"axis", -1}})};
  if (row.name == "Concat")
    return {of_list(row, {{2, 3}, {1, 3}}), of_list(row, {{2, 3}, {2, 1}, {2, 0}}, {{"axis", -1}}), of_list(row, {{4}}),
            of_list(row, {{2, 1, 2}, {2, 5, 2}}, {{"axis", 1}})};
  return {};
}

inline std::vector<sample> creations(const kg::op_row& row, bool) {
  static const std::map<std::string_view, std::vector<attributes>> calls = {
      {"Fill",
       {{{"shape", list{2, 3}}, {"value", 2.5}}, {{"shape", list{67}}, {"value", 7}, {"dtype", kg::dtype::int32}}}},
      {"Range",
       {{{"start", 0}, {"stop", 5}},
        {{"start", 5}, {"stop", 0.5}, {"step", -0.5}},
        {{"start", 3}, {"stop", -70}, {"dtype", kg::dtype::int64}}}},
      {"LinSpace", {{{"start", -1.0}, {"stop", 2.0}, {"num", 67}}, {{"start", 1.0}, {"stop", 1.0}, {"num", 1}}}},
      {"RandomUniform",
       {{{"shape", list{67}}, {"seed", 3}},
        {{"shape", list{2, 3}}, {"low", -1.0}, {"high", 4.0}, {"dtype", kg::dtype::float64}}}},
      {"RandomNormal",
       {{{"shape", list{67}}, {"seed", 3}}, {{"shape", list{2, 3}}, {"stddev", 0.5}, {"dtype", kg::dtype::float64}}}}};
  std::vector<sample> all;
  if (row.name == "OneHot")
    return {with_fixed(make(row, {{3}}, {{"depth", 4}}), 0, indices({1, 3, 0}, {3})),
            with_fixed(make(row, {{2, 2}},
                            {{"depth", 3}, {"onValue", 2.5}, {"offValue", -1.0}, {"dtype", kg::dtype::float64}}),
                       0, indices({1, -1, 3, 0}, {2, 2}))};
  if (const auto at = calls.find(row.name); at != calls.end())
    for (const attributes& attrs : at->second) all.push_back(make(row, {}, attrs));
  return all;
}

}  // namespace table

inline std::vector<sample> samples_of(const kg::op_row& row, bool large) {
  using kg::family;
  if (row.takes_list()) return table::lists(row, large);
  if (row.name.starts_with("Gather")) return table::gathers(row, large);
  if (row.name == "UnsortedSegmentSum") return table::segments(row, large);
  if (row.operands.empty() || row.name == "OneHot") return table::creations(row, large);
  switch (row.group) {
    case family::unary: return table::unary(row, large);
    case family::binary: return table::binary(row, large);
    case family::select: return table::selects(row, large);
    case family::reduce:
      return row.attr_index("exclusive") >= 0 ? table::scans(row, large) : table::reductions(row, large);
    case family::softmax: return table::softmaxes(row, large);
    case family::matmul: return table::matrices(row, large);
    case family::conv: return table::convolution_samples(row, large);
    case family::pool: return table::pools(row, large);
    default: return table::convolution_free(row, large);
  }
}

}  // namespace kgtest
