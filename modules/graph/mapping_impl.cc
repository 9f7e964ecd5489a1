// SPDX-License-Identifier: Apache-2.0
// Nodes as calls of rows, by what the table says of their ops.
module;
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad.graph;

namespace kerngrad::graph::detail {

namespace {

using kind = attribute::kind;

[[noreturn]] void refuse_kind(const node& at, std::string_view name, std::string_view wanted) {
  fail(at.op, "attribute " + std::string(name) + " of another kind", wanted);
}

// The attribute if it is given and no empty list, whose kind files do not tell.
const attribute* given(const node& at, std::string_view name) {
  const attribute* found = at.attr(name);
  return found == nullptr || found->holds == kind::nothing ? nullptr : found;
}

bool is_list(kind k) { return k >= kind::booleans; }
bool is_empty_list(const attribute& a) {
  return is_list(a.holds) && a.integers.empty() && a.numbers.empty() && a.texts.empty() && a.shapes.empty();
}

}  // namespace

// ------------------------------------------------------------------------------------------ attributes of nodes

bool flag_of(const node& at, std::string_view name, bool fallback) {
  const attribute* found = given(at, name);
  if (found == nullptr) return fallback;
  if (found->holds != kind::boolean) refuse_kind(at, name, "true or false");
  return found->flag;
}

std::int64_t integer_of(const node& at, std::string_view name, std::int64_t fallback) {
  const attribute* found = given(at, name);
  if (found == nullptr) return fallback;
  if (found->holds == kind::number) return attr_value(found->number).as_integer();
  if (found->holds != kind::integer) refuse_kind(at, name, "an integer");
  return found->integer;
}

double number_of(const node& at, std::string_view name, double fallback) {
  const attribute* found = given(at, name);
  if (found == nullptr) return fallback;
  if (found->holds == kind::integer) return static_cast<double>(found->integer);
  if (found->holds != kind::number) refuse_kind(at, name, "a number");
  return found->number;
}

std::string_view text_of(const node& at, std::string_view name, std::string_view fallback) {
  const attribute* found = given(at, name);
  if (found == nullptr) return fallback;
  if (found->holds != kind::text) refuse_kind(at, name, "a text");
  return found->text;
}

std::span<const std::int64_t> integers_of(const node& at, std::string_view name) {
  const attribute* found = given(at, name);
  if (found == nullptr || is_empty_list(*found)) return {};
  if (found->holds != kind::integers) refuse_kind(at, name, "a list of integers");
  return found->integers;
}

std::span<const std::string> texts_of(const node& at, std::string_view name) {
  const attribute* found = given(at, name);
  if (found == nullptr || is_empty_list(*found)) return {};
  if (found->holds != kind::texts) refuse_kind(at, name, "a list of texts");
  return found->texts;
}

std::vector<std::int64_t> elements_of(const tensor& x) {
  constexpr std::int64_t most = 1 << 20;  // what they become are sizes, axes and the like, in lists of their own
  if (x.size() > most)
    fail("graph", std::to_string(x.size()) + " elements that say what to do", "at most " + std::to_string(most));
  if (x.type() == dtype::int32) {
    const std::span<const std::int32_t> all = x.data<std::int32_t>();
    return {all.begin(), all.end()};
  }
  if (x.type() == dtype::int64) {
    const std::span<const std::int64_t> all = x.data<std::int64_t>();
    return {all.begin(), all.end()};
  }
  std::vector<std::int64_t> all;
  for (const double item : x.to_doubles()) all.push_back(attr_value(item).as_integer());
  return all;
}

// ------------------------------------------------------------------------------------------ attributes of calls

namespace {

std::string changed(std::string_view text, int (*change)(int)) {
  std::string result;
  for (const char letter : text) result += static_cast<char>(change(static_cast<unsigned char>(letter)));
  return result;
}

attr_value as_it_is(const node& at, const attribute& a) {
  switch (a.holds) {
    case kind::boolean: return a.flag;
    case kind::integer: return a.integer;
    case kind::number: return a.number;
    case kind::text:
      if (a.text.size() > attr_value::max_text)
        fail(at.op, "a text of " + std::to_string(a.text.size()) + " bytes as attribute " + a.name, "at most 127");
      return std::string_view(a.text);
    case kind::type: return a.type;
    case kind::shape: return a.dims.dims;
    case kind::numbers: return a.numbers;
    case kind::booleans:
    case kind::integers:
    case kind::types: return a.integers;
    default: refuse_kind(at, a.name, "a number, a text, a dtype or a list of numbers");
  }
}

// From a list with a value for each axis, those of the axes between batch and channels. The two have to be 1: no kernel
// steps or looks beyond them.
attr_value between_batch_and_channels(const node& at, std::string_view name) {
  const std::span<const std::int64_t> all = integers_of(at, name);
  if (all.empty()) return {};
  if (all.size() < 3)
    fail(at.op, std::string(name) + " for " + std::to_string(all.size()) + " axes", "one for each axis");
  const bool first = text_of(at, "data_format", "").starts_with("NC");
  if (all.front() != 1 || (first ? all[1] : all.back()) != 1)
    fail(at.op, std::string(name) + " other than 1 of batch or channels", "1 for both");
  return all.subspan(first ? 2 : 1, all.size() - 2);
}

attr_value padding_of(const node& at, std::string_view name) {
  const std::string_view text = text_of(at, name, "");
  if (text != "EXPLICIT") return std::string_view(changed(text, std::tolower));
  return integers_of(at, "explicit_paddings");
}

attr_value joined_texts(const node& at, std::string_view name) {
  std::string all;
  for (const std::string& text : texts_of(at, name)) all += (all.empty() ? "" : "|") + text;
  if (all.size() > attr_value::max_text)
    fail(at.op, "a long list as attribute " + std::string(name), "at most 127 bytes");
  return std::string_view(all);
}

// The only element, or the first one, as TensorFlow.js takes it.
attr_value element_of(const tensor& x, made_of by) {
  if (x.size() == 0) return {};
  if (x.type() == dtype::text) return std::string_view(x.to_texts()[0]);
  if (by == made_of::integer) return elements_of(x)[0];
  return x.to_doubles()[0];
}

// Index of an input that may be counted from the back; -1 where there is none.
std::int32_t index_of_input(int input, std::size_t count) {
  const std::int64_t at = input < 0 ? static_cast<std::int64_t>(count) + input : input;
  return at >= 0 && at < static_cast<std::int64_t>(count) ? static_cast<std::int32_t>(at) : -1;
}

bool reads_elements(made_of by) {
  return by == made_of::integers || by == made_of::integer || by == made_of::number || by == made_of::value;
}

attr_value from_input(const mapped_attribute& item, std::span<const tensor> in) {
  const std::int32_t index = index_of_input(item.input, in.size());
  if (index < 0) return {};
  const tensor& x = in[static_cast<std::size_t>(index)];
  if (item.by == made_of::type) return x.type();
  if (item.by == made_of::integers) return elements_of(x);
  return element_of(x, item.by);
}

attr_value value_of(const mapped_attribute& item, const node& at, std::span<const tensor> in) {
  if (item.by == made_of::fixed) return item.fallback;
  if (item.by == made_of::type || reads_elements(item.by)) return from_input(item, in);
  if (given(at, item.from) == nullptr) return {};
  switch (item.by) {
    case made_of::lower: return std::string_view(changed(text_of(at, item.from, ""), std::tolower));
    case made_of::upper: return std::string_view(changed(text_of(at, item.from, ""), std::toupper));
    case made_of::window: return between_batch_and_channels(at, item.from);
    case made_of::padding: return padding_of(at, item.from);
    case made_of::joined: return joined_texts(at, item.from);
    default: return as_it_is(at, *given(at, item.from));
  }
}

// ------------------------------------------------------------------------------------------ operands of calls

void check_count(const op_mapping& m, std::size_t wanted, std::size_t got) {
  if (got < wanted) fail(m.op, std::to_string(got) + " inputs", "at least " + std::to_string(wanted));
}

// The row's operands from the first input on.
void take_in_order(const op_mapping& m, const op_row& row, bound_call& call, std::size_t count) {
  std::int32_t next = 0;
  for (const operand& item : row.operands) {
    if (item.optional) continue;
    bound_call::operand taken{.name = item.name, .inputs = {}, .list = item.list};
    if (!item.list) check_count(m, static_cast<std::size_t>(next) + 1, count);
    const std::int32_t end = item.list ? static_cast<std::int32_t>(count) : next + 1;
    while (next < end) taken.inputs.push_back(next++);
    call.operands.push_back(std::move(taken));
  }
}

void take_as_said(const op_mapping& m, const op_row& row, bound_call& call, std::size_t count) {
  for (const mapped_operand& item : m.operands) {
    const operand& of_row = row.operands[static_cast<std::size_t>(row.operand_index(item.to))];
    bound_call::operand taken{.name = item.to, .inputs = {}, .list = of_row.list};
    const std::int32_t first = index_of_input(item.input, count);
    if (first < 0 && of_row.optional) continue;
    if (first < 0 && !of_row.list) check_count(m, count + 1, count);
    const std::int64_t end = item.end == one_input ? first + 1
                             : item.end <= 0       ? static_cast<std::int64_t>(count) + item.end
                                                   : item.end;
    for (std::int32_t i = std::max(first, 0); i < end; ++i) taken.inputs.push_back(i);
    call.operands.push_back(std::move(taken));
  }
}

}  // namespace

// ------------------------------------------------------------------------------------------ nodes

runs_by how_of(const op_mapping& m, const node& at) {
  if (m.registered) return row_named(m.row) ? runs_by::row : runs_by::nothing;
  return m.is_more != nullptr && m.is_more(at) ? runs_by::function : m.how;
}

std::vector<std::int32_t> read_inputs(const op_mapping& m, const node& at) {
  std::vector<std::int32_t> read;
  for (std::int32_t i = 0; i < 32; ++i)
    if (((m.reads >> i) & 1) != 0 && i < static_cast<std::int32_t>(at.inputs.size())) read.push_back(i);
  for (const mapped_attribute& item : m.attrs)
    if (const std::int32_t index = index_of_input(item.input, at.inputs.size()); reads_elements(item.by) && index >= 0)
      read.push_back(index);
  return read;
}

bound_call bind(const op_mapping& m, const node& at, std::span<const tensor> in) {
  const op_row* row = row_named(m.row);
  if (row == nullptr) fail(m.op, "no kernel", "one that is registered", m.reason);
  bound_call call{.kernel = m.row, .operands = {}, .attrs = {}};
  if (m.operands.empty()) take_in_order(m, *row, call, in.size());
  else take_as_said(m, *row, call, in.size());
  for (const mapped_attribute& item : m.attrs)
    if (attr_value value = value_of(item, at, in); value.given())
      call.attrs.push_back({std::string(item.to), std::move(value)});
  if (m.adjust != nullptr) m.adjust(call, at, in);
  return call;
}

tensor_list run_bound(const bound_call& call, std::span<const tensor> in) {
  std::vector<std::vector<tensor>> lists;  // keeps what operands refer to
  lists.reserve(call.operands.size());
  std::vector<operand_ref> operands;
  for (const bound_call::operand& item : call.operands) {
    std::vector<tensor>& list = lists.emplace_back();
    for (const std::int32_t i : item.inputs) list.push_back(in[static_cast<std::size_t>(i)]);
    operands.emplace_back(item.name, list);
  }
  const std::vector<attribute_ref> attrs(call.attrs.begin(), call.attrs.end());
  return run_kernel_list(call.kernel, operands, attrs);
}

tensor_list run_function(const op_mapping& m, const node& at, std::span<const tensor> in) {
  if (m.run == nullptr) fail(m.op, "no function", "an op that a function runs");
  return m.run(at, in);
}

needed_op need_of(std::string_view graph_op) {
  needed_op need{.name = std::string(graph_op), .nodes = 0, .by = {}, .reason = {}};
  const op_mapping* m = mapping_of(graph_op);
  if (m != nullptr && m->how == runs_by::row && (!m->registered || row_named(m->row))) need.by = m->row;
  else if (m != nullptr && m->how == runs_by::function) need.by = "composed";
  else if (m != nullptr && m->how == runs_by::graph) need.by = "graph";
  else if (get_kernel(graph_op)) need.by = "registry";
  else need.reason = m != nullptr ? m->reason : "no op of TensorFlow.js: register a kernel of this name";
  return need;
}

}  // namespace kerngrad::graph::detail

namespace kerngrad::graph {

std::vector<needed_op> known_ops() {
  std::vector<needed_op> all;
  for (const detail::op_mapping& m : detail::all_mappings()) all.push_back(detail::need_of(m.op));
  return all;
}

}  // namespace kerngrad::graph
