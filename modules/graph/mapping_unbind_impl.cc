// SPDX-License-Identifier: Apache-2.0
// The table of graph ops read the other way: calls of rows as nodes, for recording. Attributes that the graph op takes
// as elements become constants.
module;
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad.graph;

namespace kerngrad::graph::detail {

namespace {

using kind = attribute::kind;

// The call that is to be said, and the node as far as it has been made.
struct reversal {
  const op_mapping& m;
  const op_row& row;
  std::span<const operand_ref> operands;
  std::span<const attribute_ref> attrs;
  std::vector<std::pair<int, graph_call::input>> inputs{};  // with their positions; negative: from the back
  std::vector<attribute> made{};

  attr_value attr(std::string_view name) const {
    for (const attribute_ref& item : attrs)
      if (item.name == name && item.value.given()) return item.value;
    return default_of(row.attrs[static_cast<std::size_t>(row.attr_index(name))]);
  }
  const tensor* first() const {
    for (const operand_ref& item : operands)
      if (!item.tensors.empty()) return &item.tensors[0];
    return nullptr;
  }
};

// ------------------------------------------------------------------------------------------ attributes of nodes

attribute named(std::string_view name, kind holds) {
  attribute a;
  a.name = name, a.holds = holds;
  return a;
}
attribute text_attribute(std::string_view name, std::string_view text) {
  attribute a = named(name, kind::text);
  a.text = text;
  return a;
}
attribute type_attribute(std::string_view name, dtype type) {
  attribute a = named(name, kind::type);
  a.type = type;
  return a;
}
attribute integer_attribute(std::string_view name, std::int64_t value) {
  attribute a = named(name, kind::integer);
  a.integer = value;
  return a;
}
attribute integers_attribute(std::string_view name, std::vector<std::int64_t> values) {
  attribute a = named(name, kind::integers);
  a.integers = std::move(values);
  return a;
}

std::string upper_case(std::string_view text) {
  std::string result;
  for (const char letter : text) result += static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  return result;
}

bool is_channels_first(const reversal& r) {
  return r.row.attr_index("dataFormat") >= 0 && r.attr("dataFormat").as_text().starts_with("NC");
}

// Height and width, and depth where the row has volumes, with 1 for batch and channels.
attribute of_all_axes(const reversal& r, std::string_view name, const attr_value& value) {
  const std::size_t axes = r.row.group == family::volume ? 3 : 2;
  std::vector<std::int64_t> all(value.as_list().begin(), value.as_list().end());
  if (value.kind() != attr_kind::list) all.assign(axes, value.given() ? value.as_integer() : 1);
  all.insert(all.begin(), is_channels_first(r) ? 2 : 1, 1);
  if (!is_channels_first(r)) all.push_back(1);
  return integers_attribute(name, std::move(all));
}

// "SAME" and "VALID"; pixels as a pair for each axis of the image.
void pad_attributes(reversal& r, std::string_view name, const attr_value& value) {
  if (value.kind() == attr_kind::text) {
    r.made.push_back(text_attribute(name, upper_case(value.as_text())));
    return;
  }
  const std::size_t axes = r.row.group == family::volume ? 3 : 2;
  std::vector<std::int64_t> pairs(value.as_list().begin(), value.as_list().end());
  if (value.kind() != attr_kind::list) pairs.assign(2 * axes, value.as_integer());
  if (pairs.size() == 2 * axes) {
    pairs.insert(pairs.begin(), is_channels_first(r) ? 4 : 2, 0);
    if (!is_channels_first(r)) pairs.insert(pairs.end(), 2, 0);
  }
  r.made.push_back(text_attribute(name, "EXPLICIT"));
  r.made.push_back(integers_attribute("explicit_paddings", std::move(pairs)));
}

attribute as_it_is(std::string_view name, const attr_value& value) {
  switch (value.kind()) {
    case attr_kind::boolean: {
      attribute a = named(name, kind::boolean);
      a.flag = value.as_bool();
      return a;
    }
    case attr_kind::integer: return integer_attribute(name, value.as_integer());
    case attr_kind::dtype: return type_attribute(name, value.as_dtype());
    case attr_kind::text: return text_attribute(name, value.as_text());
    case attr_kind::list: return integers_attribute(name, {value.as_list().begin(), value.as_list().end()});
    case attr_kind::numbers: {
      attribute a = named(name, kind::numbers);
      a.numbers.assign(value.as_numbers().begin(), value.as_numbers().end());
      return a;
    }
    default: {
      attribute a = named(name, kind::number);
      a.number = value.as_number();
      return a;
    }
  }
}

attribute cut_at_bars(std::string_view name, std::string_view text) {
  attribute a = named(name, kind::texts);
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find_first_of("|,", at), text.size());
    a.texts.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return a;
}

// ------------------------------------------------------------------------------------------ elements

std::vector<std::int64_t> counted(int from, int step, int count) {
  std::vector<std::int64_t> all;
  for (int i = 0; i < count; ++i) all.push_back(from + i * step);
  return all;
}

// Value of an omitted list of the row for its operand; nothing if a graph op cannot express it.
std::optional<std::vector<std::int64_t>> meant_by_omission(const reversal& r, std::string_view name) {
  const tensor* x = r.first();
  if (x == nullptr) return {};
  if (name == "axis" || name == "reductionIndices" || name == "dims") return counted(0, 1, x->rank());
  if (name == "perm") return counted(x->rank() - 1, -1, x->rank());
  if (name == "size") return counted(-1, 0, x->rank());
  if (name == "strides") return counted(1, 0, static_cast<int>(r.attr("begin").as_list().size()));
  if (name == "outputShape" && x->rank() == 4) return std::vector{x->dims()[1], x->dims()[2]};
  return {};
}

std::optional<std::vector<std::int64_t>> list_of(const reversal& r, const mapped_attribute& item) {
  const attr_value value = r.attr(item.to);
  if (!value.given()) return meant_by_omission(r, item.to);
  if (value.kind() == attr_kind::list) return std::vector<std::int64_t>(value.as_list().begin(), value.as_list().end());
  if (item.to == "numOrSizeSplits") return {};  // a number of parts is another graph op's
  const attr_spec& spec = r.row.attrs[static_cast<std::size_t>(r.row.attr_index(item.to))];
  const bool is_pixels = spec.least == 1 && spec.scalar_or_list;  // one number for height and width
  return std::vector<std::int64_t>(is_pixels ? 2 : 1, value.as_integer());
}

std::vector<std::int32_t> narrowed(std::span<const std::int64_t> all) {
  std::vector<std::int32_t> result;
  for (const std::int64_t item : all)
    result.push_back(static_cast<std::int32_t>(std::clamp<std::int64_t>(item, std::numeric_limits<std::int32_t>::min(),
                                                                        std::numeric_limits<std::int32_t>::max())));
  return result;
}

// The dtype of a value among the results: that of the attribute or of the operand.
dtype type_of_value(const reversal& r) {
  for (const mapped_attribute& item : r.m.attrs)
    if (item.by == made_of::type) return r.attr(item.to).as_dtype();
  return r.first() != nullptr && r.m.op != "NonMaxSuppressionV5" ? r.first()->type() : dtype::float32;
}

tensor scalar_of(const reversal& r, const mapped_attribute& item, const attr_value& value) {
  if (value.kind() == attr_kind::text) return tensor(value.as_text());
  if (item.by == made_of::integer) return tensor(narrowed(std::vector{value.as_integer()}), shape{});
  return cast(tensor(value.as_number()), r.m.op == "OneHot" ? r.attr("dtype").as_dtype() : type_of_value(r));
}

// ------------------------------------------------------------------------------------------ one attribute

bool elements_from(reversal& r, const mapped_attribute& item) {
  if (item.by == made_of::integers) {
    const std::optional<std::vector<std::int64_t>> list = list_of(r, item);
    if (!list) return false;
    tensor constant(narrowed(*list));
    // A pair for each axis, as the graph has paddings and crops.
    if (item.to == "paddings" || item.to == "crops") constant = reshape(constant, {-1, 2});
    r.inputs.push_back({item.input, {.tensor = -1, .constant = std::move(constant)}});
    return true;
  }
  const attr_value value = r.attr(item.to);
  if (value.kind() == attr_kind::list) return false;
  if (value.given()) r.inputs.push_back({item.input, {.tensor = -1, .constant = scalar_of(r, item, value)}});
  return true;
}

// True if the mapping can say what the call's attribute says; then it has.
bool attribute_from(reversal& r, const mapped_attribute& item) {
  const attr_value value = r.attr(item.to);
  switch (item.by) {
    case made_of::fixed: return false;  // Fill says it as well
    case made_of::type: return true;    // of the constant
    case made_of::integers:
    case made_of::integer:
    case made_of::number:
    case made_of::value: return elements_from(r, item);
    case made_of::window: r.made.push_back(of_all_axes(r, item.from, value)); return true;
    case made_of::padding: pad_attributes(r, item.from, value); return true;
    case made_of::joined: r.made.push_back(cut_at_bars(item.from, value.as_text())); return true;
    case made_of::lower:
    case made_of::upper:
      r.made.push_back(text_attribute(
          item.from, item.from == "method" ? std::string(value.as_text()) : upper_case(value.as_text())));
      return true;
    default:
      if (item.from == "num_split" && value.kind() == attr_kind::list) return false;
      if (value.given()) r.made.push_back(as_it_is(item.from, value));
      return true;
  }
}

bool equal_values(const attr_value& a, const attr_value& b) { return to_string(a) == to_string(b); }

// The call gives nothing that the mapping has no word for.
bool all_are_said(const reversal& r) {
  for (const attribute_ref& given : r.attrs) {
    const int at = r.row.attr_index(given.name);
    const bool mapped = std::any_of(r.m.attrs.begin(), r.m.attrs.end(),
                                    [&](const mapped_attribute& item) { return item.to == given.name; });
    if (mapped || at < 0 || !given.value.given()) continue;
    if (given.name == "activation") continue;
    if (!equal_values(given.value, default_of(r.row.attrs[static_cast<std::size_t>(at)]))) return false;
  }
  return true;
}

// ------------------------------------------------------------------------------------------ operands

// Index of the first input of operand `name`.
std::optional<int> first_input_of(const op_mapping& m, const op_row& row, std::string_view name) {
  for (const mapped_operand& item : m.operands)
    if (item.to == name) return item.input;
  if (!m.operands.empty()) return {};
  int next = 0;
  for (const operand& item : row.operands) {
    if (item.optional) continue;
    if (item.name == name) return next;
    ++next;
  }
  return {};
}

// Adds inputs that the graph op always has: offset and scale, 0 and 1 of the moments' shape; weights, empty for none.
void add_required(reversal& r) {
  const auto has = [&](int position) {
    return std::any_of(r.inputs.begin(), r.inputs.end(), [&](const auto& item) { return item.first == position; });
  };
  if (r.m.operands.data() != nullptr && r.row.group == family::count && !has(2))
    r.inputs.push_back({2, {.tensor = -1, .constant = zeros(shape{0})}});
  for (const operand_ref& item : r.operands) {
    if (r.row.name != "FusedBatchNorm" || item.name != "mean") continue;
    if (!has(1)) r.inputs.push_back({1, {.tensor = -1, .constant = ones_like(item.tensors[0])}});
    if (!has(2)) r.inputs.push_back({2, {.tensor = -1, .constant = zeros_like(item.tensors[0])}});
  }
}

// Bias and activation as fused_ops. TensorFlow.js takes an activation only after a bias: without one it is 0.
bool add_fused(reversal& r) {
  if (r.row.attr_index("activation") < 0) return true;
  const std::string wanted(r.attr("activation").as_text());
  attribute ops = named("fused_ops", kind::texts);
  std::int32_t tensors = 0, bias = -1, slopes = -1;
  for (const operand_ref& item : r.operands) {
    if (item.name == "bias" && !item.tensors.empty() && item.tensors[0].defined()) bias = tensors;
    if (item.name == "preluActivationWeights" && !item.tensors.empty()) slopes = tensors;
    tensors += static_cast<std::int32_t>(item.tensors.size());
  }
  const tensor& filter = r.operands[1].tensors[0];
  const bool depthwise = r.row.name == "FusedDepthwiseConv2D";
  if (bias < 0 && wanted != "linear") {
    const std::int64_t channels = filter.dims()[filter.rank() - 1] * (depthwise ? filter.dims()[2] : 1);
    r.inputs.push_back({2, {.tensor = -1, .constant = zeros(shape{channels}, filter.type())}});
  } else if (bias >= 0) {
    r.inputs.push_back({2, {.tensor = bias, .constant = {}}});
  }
  if (bias >= 0 || wanted != "linear") ops.texts.emplace_back("BiasAdd");
  constexpr std::string_view names[] = {"Relu", "Relu6", "Elu", "Sigmoid", "LeakyRelu", "Prelu"};
  for (const std::string_view name : names)
    if (upper_case(name) == upper_case(wanted)) ops.texts.emplace_back(name);
  if (slopes >= 0) r.inputs.push_back({3, {.tensor = slopes, .constant = {}}});
  r.made.push_back(integer_attribute("num_args", static_cast<std::int64_t>(slopes >= 0) + !ops.texts.empty()));
  r.made.push_back(std::move(ops));
  return true;
}

bool operands_from(reversal& r) {
  std::int32_t next = 0;
  for (const operand_ref& item : r.operands) {
    const int index = r.row.operand_index(item.name);
    const std::string_view name = index >= 0 ? item.name : r.row.operands[0].name;  // the name may be omitted
    std::optional<int> position = first_input_of(r.m, r.row, name);
    const bool is_fused = r.row.attr_index("activation") >= 0 && r.row.operands[0].name != name && index >= 2;
    if (!position && !is_fused && !item.tensors.empty()) return false;
    for (std::size_t i = 0; i < item.tensors.size(); ++i, ++next)
      if (position) r.inputs.push_back({(*position)++, {.tensor = next, .constant = {}}});
    if (r.row.takes_list() && name == r.row.operands.back().name)
      r.made.push_back(integer_attribute("N", static_cast<std::int64_t>(item.tensors.size())));
  }
  return true;
}

// The inputs in the order of their positions: those from the back come last.
std::optional<std::vector<graph_call::input>> in_order(reversal& r) {
  std::sort(r.inputs.begin(), r.inputs.end(), [](const auto& a, const auto& b) {
    return (a.first < 0) != (b.first < 0) ? b.first < 0 : a.first < b.first;
  });
  std::vector<graph_call::input> all;
  for (const auto& [position, item] : r.inputs) {
    if (position >= 0 && position != static_cast<int>(all.size())) return {};
    all.push_back(item);
  }
  return all;
}

std::optional<graph_call> reversed(reversal r) {
  if (!all_are_said(r)) return {};
  for (const mapped_attribute& item : r.m.attrs)
    if (!attribute_from(r, item)) return {};
  if (!operands_from(r) || !add_fused(r)) return {};
  add_required(r);
  std::optional<std::vector<graph_call::input>> inputs = in_order(r);
  if (!inputs) return {};
  const bool has_type = std::any_of(r.made.begin(), r.made.end(), [](const attribute& a) { return a.name == "T"; });
  if (!has_type && r.first() != nullptr) r.made.push_back(type_attribute("T", r.first()->type()));
  return graph_call{.op = r.m.op, .inputs = std::move(*inputs), .attrs = std::move(r.made)};
}

bool all_are(std::span<const operand_ref> operands, dtype_set types) {
  return std::all_of(operands.begin(), operands.end(), [types](const operand_ref& item) {
    return !item.tensors.empty() && types.has(item.tensors[0].type());
  });
}
// Quotients that the graph's op has otherwise: it floors those of integers, and of floats it floors the rounded one.
bool divides_otherwise(std::string_view kernel, std::span<const operand_ref> operands) {
  return (kernel == "RealDiv" && all_are(operands, only(dtype::int32))) ||
         (kernel == "FloorDiv" && all_are(operands, floating));
}

}  // namespace

graph_call unbind(std::string_view kernel, std::span<const operand_ref> operands,
                  std::span<const attribute_ref> attrs) {
  const op_row* row = row_named(kernel);
  for (const op_mapping& m : all_mappings()) {
    if (row == nullptr || m.row != kernel || divides_otherwise(kernel, operands)) continue;
    if (std::optional<graph_call> call = reversed({.m = m, .row = *row, .operands = operands, .attrs = attrs}))
      return std::move(*call);
  }
  fail("record", "a call of " + std::string(kernel) + " with these operands and attributes",
       "calls that an op of TensorFlow.js's graphs makes",
       kernel == "FloorDiv" ? "write floor(a / b), which floors the rounded quotient" : "");
}

}  // namespace kerngrad::graph::detail
