// SPDX-License-Identifier: Apache-2.0
// Samples of the families whose rows say enough: elementwise, reductions, scans, softmax, products.
module;
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include <range/v3/view/cartesian_product.hpp>
#include <range/v3/view/drop.hpp>
#include <range/v3/view/zip.hpp>
#include "kernels/common/abi.h"
#include "modules/testkit/facts.h"
module kerngrad.testkit;

namespace kerngrad::testkit::detail {

namespace views = ranges::views;

sample make_sample(const op_row& row, const shapes& dims, attributes attrs) {
  sample s;
  for (const auto& [spec, d] : views::zip(row.operands, dims)) s.operands.emplace_back(spec.name, d);
  s.attrs = std::move(attrs);
  return s;
}

namespace {

constexpr bool either[] = {false, true};

// Attributes that a row asks for, and others than the defaults where that is another branch.
std::vector<attributes> unary_attributes(const op_row& row) {
  const std::pair<std::string_view, std::vector<attributes>> known[] = {
      {"ClipByValue", {{{"clipValueMin", -1.0}, {"clipValueMax", 1.5}}}},
      {"Step", {{}, {{"alpha", -0.5}}}},
      {"LeakyRelu", {{}, {{"alpha", 0.3}}}}};
  for (const auto& [op, choices] : known)
    if (op == row.name) return choices;
  return {{}};
}

std::vector<sample> unary(const op_row& row, bool long_ones) {
  std::vector<sample> all;
  shapes dims = {{7}, {}, {2, 3}, {0}, {1}, {2, 1, 3, 2}, {3, 1, 2}};
  if (long_ones) dims.insert(dims.end(), {{67}, {5, 33}});
  const std::vector<attributes> choices = unary_attributes(row);
  for (const auto& [attrs, d] : views::cartesian_product(choices, dims)) all.push_back(make_sample(row, {d}, attrs));
  return all;
}

std::vector<sample> binary(const op_row& row, bool long_ones) {
  std::vector<shapes> dims = {{{2, 3}, {2, 3}}, {{2, 3}, {3}},    {{2, 1, 3}, {4, 1}},
                              {{}, {2}},        {{3, 1}, {}},     {{}, {}},
                              {{0, 3}, {1, 3}}, {{1, 4}, {3, 1}}, {{2, 2, 2, 2}, {2, 1, 2}}};
  if (long_ones) dims.insert(dims.end(), {{{67}, {67}}, {{5, 33}, {33}}, {{5, 33}, {5, 1}}, {{}, {67}}});
  std::vector<sample> all;
  for (const shapes& d : dims) all.push_back(make_sample(row, d));
  return all;
}

std::vector<sample> reductions(const op_row& row, bool long_ones) {
  const std::string axis(row.attrs[0].name);
  const bool one_axis = row.attrs[0].kind == attr_kind::integer;
  std::vector<sample> all;
  if (one_axis) {
    all = {make_sample(row, {{5}}), make_sample(row, {{2, 3, 4}}, {{axis, 1}}),
           make_sample(row, {{2, 3, 4}}, {{axis, -1}}), make_sample(row, {{3, 0}}),
           make_sample(row, {{}}, {{axis, -1}})};
    if (long_ones) all.push_back(make_sample(row, {{3, 67}}, {{axis, -1}}));
    return all;
  }
  all = {make_sample(row, {{2, 3, 4}}),
         make_sample(row, {{2, 3, 4}}, {{axis, 1}}),
         make_sample(row, {{2, 3, 4}}, {{axis, -1}, {"keepDims", true}}),
         make_sample(row, {{2, 3, 4}}, {{axis, integers{0, -1}}}),
         make_sample(row, {{2, 3, 4}}, {{axis, integers{0, 1, 2}}, {"keepDims", true}}),
         make_sample(row, {{2, 3}}, {{axis, integers{}}}),
         make_sample(row, {{}}),
         make_sample(row, {{}}, {{axis, -1}}),
         make_sample(row, {{}}, {{axis, integers{0}}, {"keepDims", true}}),
         make_sample(row, {{0, 3}}, {{axis, 1}}),
         make_sample(row, {{2, 1, 3, 1}}, {{axis, integers{1, 3}}})};
  if (long_ones)
    all.insert(all.end(), {make_sample(row, {{67, 5}}, {{axis, 0}}), make_sample(row, {{5, 67}}, {{axis, 1}}),
                           make_sample(row, {{300}})});
  return all;
}

std::vector<sample> scans(const op_row& row, bool long_ones) {
  constexpr int axes[] = {0, -1};
  std::vector<sample> all;
  // An exclusive running extreme starts with an infinity, which has no differences.
  const bool extremes = row.kinks == kink::ties;
  for (const auto& [exclusive, reverse, axis] : views::cartesian_product(either, either, axes)) {
    if (exclusive && extremes) continue;
    all.push_back(make_sample(row, {{2, 4}}, {{"axis", axis}, {"exclusive", exclusive}, {"reverse", reverse}}));
  }
  all.push_back(make_sample(row, {{2, 3, 2}}, {{"axis", 1}}));
  all.push_back(make_sample(row, {{}}));
  all.push_back(make_sample(row, {{}}, {{"axis", -1}}));
  all.push_back(make_sample(row, {{0, 2}}));
  if (long_ones) all.push_back(make_sample(row, {{3, 67}}, {{"axis", 1}}));
  return all;
}

std::vector<sample> softmaxes(const op_row& row, bool long_ones) {
  if (row.operands.size() == 2) {
    std::vector<sample> all = {make_sample(row, {{3, 4}, {3, 4}}), make_sample(row, {{5}, {5}}),
                               make_sample(row, {{2, 2, 3}, {2, 2, 3}}), make_sample(row, {{0, 3}, {0, 3}})};
    if (long_ones) all.push_back(make_sample(row, {{3, 67}, {3, 67}}));
    return all;
  }
  const std::string axis(row.attrs[0].name);
  std::vector<sample> all = {make_sample(row, {{3, 4}}),
                             make_sample(row, {{3, 4}}, {{axis, 0}}),
                             make_sample(row, {{2, 3, 2}}, {{axis, 1}}),
                             make_sample(row, {{2, 3, 2}}, {{axis, -3}}),
                             make_sample(row, {{5}}),
                             make_sample(row, {{}}),
                             make_sample(row, {{}}, {{axis, 0}}),
                             make_sample(row, {{0, 3}})};
  if (long_ones) all.push_back(make_sample(row, {{3, 67}}));
  return all;
}

// ------------------------------------------------------------------------------------------ user-defined ops

// A value for a numeric attribute other than `avoided`, inside its bounds. Quarters are no kinks of the values drawn.
attr_value number_for(const attr_spec& spec, double avoided) {
  for (double v : {0.25, 0.75, 1.25, spec.least, spec.most})
    if (v >= spec.least && v <= spec.most && v != avoided) return attr_value(v);
  return attr_value(spec.least);
}
attr_value integer_for(const attr_spec& spec, double avoided) {
  for (double v : {0.0, 1.0, 2.0, std::ceil(spec.least), std::floor(spec.most)})
    if (v >= spec.least && v <= spec.most && v != avoided) return attr_value(static_cast<std::int64_t>(v));
  return attr_value(static_cast<std::int64_t>(spec.fallback));
}

bool is_within(const attr_spec& spec, const attr_value& value) {
  const auto fits = [&](double v) { return v >= spec.least && v <= spec.most; };
  if (value.kind() == attr_kind::list) return std::ranges::all_of(value.as_list(), fits);
  if (value.kind() == attr_kind::numbers) return std::ranges::all_of(value.as_numbers(), fits);
  return fits(value.as_number());
}

// Lists for an optional attribute: axes from either end, alone and together, or a few numbers.
std::vector<attr_value> lists_for(const attr_spec& spec) {
  std::vector<attr_value> all;
  if (spec.kind == attr_kind::numbers)
    all = {attr_value(std::vector<double>{0.25}), attr_value(std::vector<double>{0.25, 0.75})};
  else
    all = {attr_value(integers{0}), attr_value(integers{1}),     attr_value(integers{-1}),
           attr_value(integers{2}), attr_value(integers{0, -1}), attr_value(integers{1, 2})};
  if (spec.scalar_or_list)
    for (const int axis : {0, 1, -1}) all.emplace_back(axis);
  std::erase_if(all, [&](const attr_value& value) { return !is_within(spec, value); });
  return all;
}

std::vector<attr_value> values_for(const attr_spec& spec) {
  switch (spec.kind) {
    case attr_kind::list:
    case attr_kind::numbers: return spec.required ? std::vector<attr_value>() : lists_for(spec);
    case attr_kind::boolean: return {attr_value(spec.required || spec.fallback == 0)};
    case attr_kind::integer: return {integer_for(spec, spec.required ? std::nan("") : spec.fallback)};
    case attr_kind::number: return {number_for(spec, spec.required ? std::nan("") : spec.fallback)};
    case attr_kind::text: break;
    default: return {};
  }
  std::vector<attr_value> all;
  std::string_view rest = spec.choices;
  while (!rest.empty()) {
    const std::size_t end = rest.find('|');
    all.emplace_back(rest.substr(0, end));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  return all;
}

// Shapes of all operands of a call.
std::vector<shapes> shapes_for(const op_row& row, bool long_ones) {
  const std::size_t count = row.operands.size();
  if (count == 0) return {{}};
  std::vector<shapes> all;
  if (count == 2 && row.is_binary())
    for (const sample& s : binary(row, long_ones)) all.push_back({s.operands[0].dims[0], s.operands[1].dims[0]});
  shapes each = {{7}, {}, {2, 3}, {0}, {1}, {2, 1, 3, 2}, {3, 1, 2}};
  if (long_ones) each.insert(each.end(), {{67}, {5, 33}});
  for (const shape& dims : each) all.emplace_back(count, dims);
  return all;
}

bool has_attributes(const op_row& row, const sample& call) {
  for (const named_attribute& a : call.attrs)
    if (row.attr_index(a.name) < 0) return false;
  return true;
}

// The kit does not know the op: calls of its family and plain ones, as far as the row's own rule takes them.
std::vector<sample> foreign_samples(const op_row& row, bool long_ones) {
  std::vector<sample> candidates;
  if (row.group == family::matmul && row.operands.size() == 2) candidates = matrix_samples(row, long_ones);
  const bool of_image = row.operands.size() == 1 || (row.operands.size() == 2 && row.operands[1].name == "filter");
  if (row.group == family::window && of_image) candidates = window_samples(row, long_ones);
  const std::vector<attributes> choices = attribute_choices(row);
  const std::vector<shapes> all_dims = shapes_for(row, long_ones);
  for (const auto& [attrs, dims] : views::cartesian_product(choices, all_dims)) {
    candidates.push_back(make_sample(row, dims, attrs));
    if (!row.takes_list()) continue;
    for (std::size_t count : {2, 3}) {
      candidates.push_back(candidates.back());
      candidates.back().operands.back().dims = shapes(count, dims.back());
    }
  }
  std::vector<sample> legal;
  for (sample& call : candidates)
    if (has_attributes(row, call) &&
        result_bytes(row, operands_for(row, call, precise_dtype(row, any_dtype)), call.attrs))
      legal.push_back(std::move(call));
  return legal;
}

std::vector<sample> created(const op_row& row, bool) { return create_samples(row); }
constexpr sample_maker<op_row, std::vector<sample>> makers[] = {
    {"GatherV2", gather_samples},
    {"GatherGrad", gather_samples},
    {"UnsortedSegmentSum", [](const op_row& row, bool) { return segment_samples(row); }},
    {"UnsortedSegmentReduce", reduced_segment_samples},
    {"TakeAlongAxis", along_samples},
    {"PutAlongAxis", along_samples},
    {"ScatterAlongAxis", along_samples},
    {"OneHot", created},
    {"Multinomial", created}};

std::vector<sample> known_samples(const op_row& row, bool long_ones) {
  if (row.group == family::sparse) return sparse_samples(row, long_ones);
  if (row.group == family::text) return text_samples(row, long_ones);
  if (row.takes_list()) return list_samples(row, long_ones);
  if (std::vector<sample> all = row_samples(row, long_ones); !all.empty()) return all;
  if (std::vector<sample> all = made_by(makers, row, long_ones); !all.empty()) return all;
  if (row.operands.empty()) return create_samples(row);
  if (row.attr_index("activation") >= 0) return fused_samples(row, long_ones);
  switch (row.group) {
    case family::elementwise:
      return row.is_unary()    ? unary(row, long_ones)
             : row.is_binary() ? binary(row, long_ones)
                               : select_samples(row, long_ones);
    case family::reduce: return row.attr_index("exclusive") >= 0 ? scans(row, long_ones) : reductions(row, long_ones);
    case family::softmax: return softmaxes(row, long_ones);
    case family::matmul: return matrix_samples(row, long_ones);
    case family::window: return window_samples(row, long_ones);
    case family::norm: return norm_samples(row, long_ones);
    case family::attention: return attention_samples(row, long_ones);
    case family::convert:
    case family::move:
    case family::create: return move_samples(row, long_ones);
    case family::image: return image_samples(row, long_ones);
    case family::sort: return sort_samples(row, long_ones);
    case family::fft: return fft_samples(row, long_ones);
    case family::volume: return volume_samples(row, long_ones);
    case family::count: return count_samples(row, long_ones);
    default: return foreign_samples(row, long_ones);
  }
}

}  // namespace

std::vector<sample> matrix_samples(const op_row& row, bool long_ones) {
  std::vector<sample> all;
  for (const auto& [ta, tb] : views::cartesian_product(either, either)) {
    const shape a = ta ? shape{4, 2} : shape{2, 4}, b = tb ? shape{3, 4} : shape{4, 3};
    const attributes attrs = {{"transposeA", ta}, {"transposeB", tb}};
    all.push_back(make_sample(row, {a, b}, attrs));
    all.push_back(make_sample(row, {{2, 1, a[0], a[1]}, {3, b[0], b[1]}}, attrs));
  }
  all.push_back(make_sample(row, {{3, 2, 4}, {4, 2}}));
  all.push_back(make_sample(row, {{0, 3}, {3, 2}}));
  all.push_back(make_sample(row, {{2, 0}, {0, 3}}));
  if (long_ones) all.push_back(make_sample(row, {{13, 37}, {37, 35}}));
  return all;
}

std::vector<attributes> attribute_choices(const op_row& row) {
  attributes least;
  for (const attr_spec& spec : row.attrs) {
    if (!spec.required) continue;
    const std::vector<attr_value> values = values_for(spec);
    if (values.empty()) return {};
    least.push_back({std::string(spec.name), values[0]});
  }
  std::vector<attributes> all = {least};
  for (const attr_spec& spec : row.attrs) {
    if (spec.required && spec.kind != attr_kind::text) continue;
    const std::vector<attr_value> values = values_for(spec);
    for (const attr_value& value : values | views::drop(spec.kind == attr_kind::text ? 1 : 0)) {
      attributes changed = least;
      std::erase_if(changed, [&](const named_attribute& a) { return a.name == spec.name; });
      changed.push_back({std::string(spec.name), value});
      all.push_back(std::move(changed));
    }
  }
  return all;
}

}  // namespace kerngrad::testkit::detail

namespace kerngrad::testkit {

std::vector<sample> samples_of(const op_row& row, bool long_ones) {
  return detail::is_known(row) ? detail::known_samples(row, long_ones) : detail::foreign_samples(row, long_ones);
}

}  // namespace kerngrad::testkit
