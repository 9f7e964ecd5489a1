// SPDX-License-Identifier: Apache-2.0
// Samples of the families whose rows say enough: elementwise, reductions, scans, softmax, products. Calls of backward
// ops, which follow from those of their forward ops.
module;
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include <range/v3/view/cartesian_product.hpp>
#include <range/v3/view/drop.hpp>
#include <range/v3/view/zip.hpp>
#include "kernels/common/abi.h"
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

std::vector<sample> unary(const op_row& row, bool long_ones) {
  std::vector<sample> all;
  shapes dims = {{7}, {}, {2, 3}, {0}, {1}, {2, 1, 3, 2}, {3, 1, 2}};
  if (long_ones) dims.insert(dims.end(), {{67}, {5, 33}});
  const std::vector<attributes> choices = attribute_choices(row);
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
attr_value number_for(const attr_spec& spec, double avoided, double wanted = std::nan("")) {
  for (double v : {wanted, 0.25, 0.75, 1.25, spec.least, spec.most})
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

// Values for an attribute. A required number is 1 above `before`, the number of the last attribute: there is an integer
// between two bounds.
std::vector<attr_value> values_for(const attr_spec& spec, double before = std::nan("")) {
  switch (spec.kind) {
    case attr_kind::list:
    case attr_kind::numbers: return spec.required ? std::vector<attr_value>() : lists_for(spec);
    case attr_kind::boolean: return {attr_value(spec.required || spec.fallback == 0)};
    case attr_kind::integer: return {integer_for(spec, spec.required ? std::nan("") : spec.fallback)};
    case attr_kind::number:
      return {spec.required ? number_for(spec, before, before + 1) : number_for(spec, spec.fallback)};
    case attr_kind::text: break;
    default: return {};
  }
  std::vector<attr_value> all;
  for (const std::string_view choice : choices_of(spec)) all.emplace_back(choice);
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

// The kit does not know the op: calls of its family and plain ones, as far as the row's own rule takes them.
std::vector<sample> foreign_samples(const op_row& row, bool long_ones) {
  std::vector<sample> candidates;
  if (row.group == family::move) candidates = moved_samples(row, long_ones);
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
  return legal_ones(row, std::move(candidates));
}

std::vector<sample> known_samples(const op_row& row, bool long_ones) {
  switch (row.group) {
    case family::elementwise:
      return row.is_unary()     ? unary(row, long_ones)
             : row.takes_list() ? list_samples(row, long_ones)
             : row.is_binary()  ? binary(row, long_ones)
                                : select_samples(row, long_ones);
    case family::reduce: return row.attr_index("exclusive") >= 0 ? scans(row, long_ones) : reductions(row, long_ones);
    case family::softmax: return softmaxes(row, long_ones);
    case family::matmul: return row.takes_list() ? list_samples(row, long_ones) : matrix_samples(row, long_ones);
    case family::window: return window_samples(row, long_ones);
    case family::fused: return fused_samples(row, long_ones);
    case family::norm: return norm_samples(row, long_ones);
    case family::attention: return attention_samples(row, long_ones);
    case family::convert:
    case family::move:
    case family::create: return move_samples(row, long_ones);
    case family::image: return image_samples(row, long_ones);
    case family::sort: return sort_samples(row, long_ones);
    case family::fft: return fft_samples(row, long_ones);
    case family::volume: return volume_samples(row, long_ones);
    case family::sparse: return sparse_samples(row, long_ones);
    case family::count: return count_samples(row, long_ones);
    case family::text: return text_samples(row, long_ones);
    default: return foreign_samples(row, long_ones);
  }
}

// ------------------------------------------------------------------------------------------ backward ops

// Shape for an attribute such as `filterShape`: of the forward op's operand of this name, or of its first one.
shape shape_for(const sample& forward, std::string_view attribute) {
  const std::string_view name = attribute.substr(0, attribute.rfind("Shape"));
  const auto found = std::ranges::find(forward.operands, name, &sample_operand::name);
  return found == forward.operands.end() ? forward.operands.front().dims[0] : found->dims[0];
}

// Shape of an operand of a backward op whose name says which result of the forward op it is like.
std::optional<shape> shape_of_result(const op_row& forward, std::span<const signature> results,
                                     std::string_view operand) {
  if (operand == "dy" || operand == "output") return results[0].dims;
  for (const auto& [spec, result] : views::zip(forward.results, results))
    if (spec.name == operand) return result.dims;
  return {};
}

// The results of a sample by the row's rule. Values are drawn only if the rule reads some: a sample may be large.
std::vector<signature> results_of_sample(const op_row& row, const sample& call) {
  const dtype precise = precise_dtype(row, any_dtype);
  if (std::ranges::count(row.operands, role::read, &operand::part) > 0)
    return results_by_rule(row, operands_for(row, call, precise), call.attrs);
  std::vector<named_operand> operands;
  for (const sample_operand& given : call.operands) {
    const int at = row.operand_index(given.name);
    if (at < 0) return {};
    const dtype type = accepted_dtype(row.operands[static_cast<std::size_t>(at)], precise);
    std::vector<tensor> list;
    if (given.values.defined()) list = fixed_tensors(given);
    else
      for (const shape& dims : given.dims) list.push_back(zeros(dims, type));
    operands.emplace_back(given.name, std::move(list));
  }
  return results_by_rule(row, operands, call.attrs);
}
bool is_legal(const op_row& row, const sample& call) { return !results_of_sample(row, call).empty(); }

bool gives(const sample& call, std::string_view attribute) {
  return std::ranges::count(call.attrs, attribute, &named_attribute::name) > 0;
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

std::vector<std::string_view> choices_of(const attr_spec& spec) {
  std::vector<std::string_view> all;
  for (std::string_view rest = spec.choices; !rest.empty();) {
    const std::size_t end = rest.find('|');
    all.push_back(rest.substr(0, end));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  return all;
}

std::vector<sample> made_by(std::span<const sample_maker> makers, const op_row& row, bool long_ones) {
  for (const sample_maker& one : makers)
    if (row.attr_index(one.part) >= 0 || row.operand_index(one.part) >= 0) return one.make(row, long_ones);
  return {};
}

std::vector<sample> legal_ones(const op_row& row, std::vector<sample> candidates) {
  std::erase_if(candidates, [&](const sample& call) {
    const auto lacks = [&](const named_attribute& a) { return row.attr_index(a.name) < 0; };
    return std::ranges::any_of(call.attrs, lacks) || !is_legal(row, call);
  });
  return candidates;
}

std::vector<attributes> attribute_choices(const op_row& row) {
  attributes least;
  double before = std::nan("");
  for (const attr_spec& spec : row.attrs) {
    if (!spec.required) continue;
    const std::vector<attr_value> values = values_for(spec, before);
    if (values.empty()) return {};
    if (spec.kind == attr_kind::number) before = values[0].as_number();
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
  const op_row* forward = row_named(row.forward);
  if (!forward || !forward->forward.empty())
    return detail::is_known(row) ? detail::known_samples(row, long_ones) : detail::foreign_samples(row, long_ones);
  std::vector<sample> all;
  for (const sample& call : samples_of(*forward, long_ones)) all.push_back(backward_sample(row, call));
  return all;
}

sample backward_sample(const op_row& row, const sample& forward) {
  const op_row* of = row_named(row.forward);
  if (!of) fail("backward_sample", "the op " + std::string(row.name), "an op whose row names a forward op");
  const std::vector<signature> results = detail::results_of_sample(*of, forward);
  if (results.empty()) fail("backward_sample", to_string(forward), "a legal call of " + std::string(of->name));
  sample call;
  for (const named_attribute& a : forward.attrs)
    if (row.attr_index(a.name) >= 0) call.attrs.push_back(a);
  for (const attr_spec& spec : row.attrs)
    if (spec.required && !detail::gives(call, spec.name))
      call.attrs.push_back({std::string(spec.name), detail::shape_for(forward, spec.name)});
  std::vector<std::size_t> open;  // operands of which only the shape rule knows the shape
  for (const operand& spec : row.operands) {
    const auto same = std::ranges::find(forward.operands, spec.name, &sample_operand::name);
    const std::optional<shape> dims = detail::shape_of_result(*of, results, spec.name);
    if (same == forward.operands.end() && !dims && spec.optional) continue;
    if (same == forward.operands.end() && !dims) open.push_back(call.operands.size());
    if (same != forward.operands.end()) call.operands.push_back(*same);
    else call.operands.emplace_back(spec.name, dims.value_or(forward.operands[0].dims[0]));
  }
  std::vector<shape> like;
  for (const sample_operand& o : forward.operands) like.push_back(o.dims[0]);
  for (const signature& y : results) like.push_back(y.dims);
  for (const std::size_t i : open)
    for (std::size_t k = 0; k < like.size() && !detail::is_legal(row, call); ++k) call.operands[i].dims = {like[k]};
  return call;
}

}  // namespace kerngrad::testkit
