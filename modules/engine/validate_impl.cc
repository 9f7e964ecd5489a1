// SPDX-License-Identifier: Apache-2.0
// Operands and attributes against the row: counts, dtypes, kinds, ranges, defaults. And the row itself, where it comes
// from outside.
module;
#include <algorithm>
#include <cmath>
#include <string>
#include <range/v3/algorithm/contains.hpp>
#include <range/v3/view/enumerate.hpp>
#include <range/v3/view/take.hpp>
#include "kernels/common/abi.h"
#include "kernels/text/utf8.h"
#include "modules/typed_names.h"
module kerngrad;

import :live;
import :run;
import :snapshot;

namespace kerngrad::detail {
namespace {

// The operand's name and index, for errors.
std::string operand_text(const op_row& row, int i) {
  const std::size_t at = row.place_of(static_cast<std::size_t>(i));
  const operand& spec = row.operands[at];
  return std::string(spec.name) + (spec.list ? "[" + std::to_string(static_cast<std::size_t>(i) - at) + "]" : "");
}

// A number stands for an integer where it is whole.
bool attr_fits(const attr_spec& spec, const attr_value& value) {
  if (!takes_kind(spec, value.kind())) return false;
  const bool of_numbers = spec.kind == attr_kind::number || spec.kind == attr_kind::numbers;
  return of_numbers || value.kind() != attr_kind::number ||
         (std::floor(value.as_number()) == value.as_number() && std::fabs(value.as_number()) < 9e15);
}

bool is_choice(std::string_view choices, std::string_view text) {
  while (!choices.empty()) {
    const std::size_t end = choices.find('|');
    if (choices.substr(0, end) == text) return true;
    if (end == std::string_view::npos) return false;
    choices.remove_prefix(end + 1);
  }
  return false;
}

// Choices are ASCII.
bool is_legal_text(const attr_spec& spec, std::string_view text) {
  return spec.choices.empty() ? kernels::utf8_prefix(text) == static_cast<std::int64_t>(text.size())
                              : is_choice(spec.choices, text);
}

}  // namespace

void check_operands(const op_row& row, std::span<const tensor* const> in) {
  const std::size_t most = row.operands.size();
  if (row.takes_list() ? in.size() < most : in.size() > most)
    fail(row.name, std::to_string(in.size()) + " operands",
         row.takes_list() ? "at least " + std::to_string(most) : std::to_string(most));
  for (std::size_t i = 0; i < (row.takes_list() ? in.size() : most); ++i) {
    const operand& spec = row.operand_at(i);
    if (i >= in.size() || !in[i]->defined()) {
      if (!spec.optional)
        fail(row.name, "no operand " + operand_text(row, static_cast<int>(i)), "a tensor", "pass one");
      continue;
    }
    if (!spec.types.has(in[i]->type()))
      fail(row.name,
           "operand " + operand_text(row, static_cast<int>(i)) + " of dtype " + std::string(name_of(in[i]->type())),
           to_string(spec.types), "cast it");
  }
}

bool attrs_as_declared(const op_row& row, std::span<const attr_value> given) {
  if (given.size() != row.attrs.size()) return false;
  for (std::size_t i = 0; i < given.size(); ++i) {
    const attr_spec& spec = row.attrs[i];
    const attr_value& value = given[i];
    if (value.kind() != spec.kind) {
      const bool list = spec.kind == attr_kind::list || spec.kind == attr_kind::numbers;
      if (value.given() || spec.required || !list) return false;
      continue;  // the default of a list is none
    }
    const auto within = [&](double number) { return number >= spec.least && number <= spec.most; };
    if (value.kind() == attr_kind::text && !is_legal_text(spec, value.as_text())) return false;
    if ((value.kind() == attr_kind::integer || value.kind() == attr_kind::number) && !within(value.as_number()))
      return false;
    for (std::int64_t item : value.as_list())
      if (!within(static_cast<double>(item))) return false;
    for (double item : value.as_numbers())
      if (!within(item)) return false;
  }
  return true;
}

attr_value check_attr(const op_row& row, const attr_spec& spec, const attr_value& value) {
  const auto said = [&] { return "attribute " + std::string(spec.name) + " = " + to_string(value); };
  if (!attr_fits(spec, value)) fail(row.name, said(), std::string(name_of(spec.kind)) + ": " + std::string(spec.doc));
  if (value.kind() == attr_kind::text && !is_legal_text(spec, value.as_text()))
    fail(row.name, said(), spec.choices.empty() ? "text in UTF-8" : "one of " + std::string(spec.choices));
  const bool bounded =
      spec.least > std::numeric_limits<double>::lowest() || spec.most < std::numeric_limits<double>::max();
  const auto within = [&](double number) {
    if (bounded && !(number >= spec.least && number <= spec.most))
      fail(row.name, said(),
           "values from " + to_string(attr_value(spec.least)) + " to " + to_string(attr_value(spec.most)));
  };
  if (value.kind() == attr_kind::integer || value.kind() == attr_kind::number) within(value.as_number());
  for (std::int64_t item : value.as_list()) within(static_cast<double>(item));
  for (double item : value.as_numbers()) within(item);
  if (spec.kind == attr_kind::numbers) {
    if (value.kind() == attr_kind::numbers) return value;
    if (value.kind() == attr_kind::list) return std::vector<double>(value.as_list().begin(), value.as_list().end());
    return std::vector<double>{value.as_number()};
  }
  const bool to_integer = value.kind() == attr_kind::number && spec.kind != attr_kind::number;
  return to_integer ? attr_value(value.as_integer()) : value;
}

void check_attrs(const op_row& row, std::span<const attr_value> given, std::span<attr_value> out) {
  for (std::size_t i = 0; i < row.attrs.size(); ++i) {
    const attr_spec& spec = row.attrs[i];
    const bool is_given = i < given.size() && given[i].given();
    if (!is_given && spec.required)
      fail(row.name, "no attribute " + std::string(spec.name),
           std::string(name_of(spec.kind)) + ": " + std::string(spec.doc));
    out[i] = is_given ? check_attr(row, spec, given[i]) : default_of(spec);
  }
}

void check_schema(const kernel_schema& schema) {
  if (schema.attrs.size() > attr_list::capacity)
    fail("register_kernel", std::to_string(schema.attrs.size()) + " attributes", "at most 16");
  if (schema.operands.size() > op_gradient::max_operands)
    fail("register_kernel", std::to_string(schema.operands.size()) + " operands", "at most 8");
  const auto twice = [](const auto& list, std::size_t i) {
    const auto name = [](const auto& item) { return item.name; };
    return ranges::contains(list | ranges::views::take(i), list[i].name, name);
  };
  for (const auto& [i, o] : ranges::views::enumerate(schema.operands)) {
    const auto refuse = [&](const std::string& what, const std::string& wanted) {
      fail("register_kernel", "operand " + std::string(o.name) + what, wanted);
    };
    if (o.name.empty()) fail("register_kernel", "an operand without a name", "a name");
    if (twice(schema.operands, i)) refuse(" twice", "different names");
    if (o.types.bits == 0 || o.types.bits >> dtype_count)
      refuse(o.types.bits ? " with dtypes that do not exist" : " without dtypes",
             "dtypes such as " + to_string(any_dtype));
    if (o.part > role::read) refuse(" of an unknown role", "role::value, role::own or role::read");
    if (o.list && i + 1 < schema.operands.size()) refuse(", a list, before others", "a list as the last operand");
  }
  for (const auto& [i, a] : ranges::views::enumerate(schema.attrs)) {
    const std::string name = "attribute " + std::string(a.name);
    if (twice(schema.attrs, i)) fail("register_kernel", name + " twice", "different names");
    switch (fault_of(a)) {
      case attr_fault::none: break;
      case attr_fault::name: fail("register_kernel", "an attribute without a name", "a name");
      case attr_fault::kind:
        fail("register_kernel", name + " of kind " + std::to_string(static_cast<int>(a.kind)),
             "a kind that a call can give");
      case attr_fault::range:
        fail("register_kernel", name + " with an empty range", "a least that is not above the most");
      case attr_fault::fallback:
        fail("register_kernel",
             name + " of kind " + std::string(name_of(a.kind)) + " with the default " +
                 to_string(attr_value(a.fallback)),
             "a value that a call could give");
      case attr_fault::choices:
        fail("register_kernel", name + " with neither choices nor `required`, or a choice of more than 127 bytes",
             "texts that a call could give");
    }
  }
}

dtype common_dtype(const op_row& row, std::span<const tensor* const> in, std::span<const attr_value> attrs) {
  dtype common = in.empty() || !in[0]->defined() ? dtype::float32 : in[0]->type();
  bool any = false;
  for (std::size_t i = 0; i < in.size(); ++i) {
    if (!in[i]->defined() || row.operand_at(i).part != role::value) continue;
    if (any && (in[i]->type() == dtype::text) != (common == dtype::text))
      fail(row.name,
           "operands of dtypes " + std::string(name_of(common)) + " and " + std::string(name_of(in[i]->type())),
           "texts or numbers, not both");
    common = any ? promote(common, in[i]->type()) : in[i]->type();
    any = true;
  }
  if (!any && row.types.after == result::attribute) {
    const int at = row.attr_index("dtype");
    return at >= 0 ? attrs[static_cast<std::size_t>(at)].as_dtype() : dtype::float32;
  }
  return lifted(common, row.types.before);
}

dtype computed_here(const op_entry& op, dtype common, const registered_kernel* instead) {
  // Ops that convert elements, or have no kernel, take every dtype as it is.
  const convention called = op.row->convention;
  const dtype otherwise = computed_in(common, {});
  if (common == otherwise || called == convention::cast || called == convention::copy) return common;
  if (instead && instead->config.dtypes.has(common)) return common;
  if (const int table = fast_table(); table >= 0) return op.kernel(table, common).exists() ? common : otherwise;
  const std::shared_ptr<const live_backend> on = backend_here();
  if (on->slot(op, common)) return common;
  const kernel_ptr registered = on->table < 0 ? registered_for(op.row->name, on->name) : nullptr;
  return registered && registered->config.dtypes.has(common) ? common : otherwise;
}

error missing_kernel(const op_entry& op, const live_backend& on, dtype type) {
  const std::string_view name = spelled(op.row->name);
  const std::string others = backends_with(op);
  dtype_set types{};
  for (int t = 0; t < dtype_count; ++t)
    if (on.slot(op, static_cast<dtype>(t))) types = types | only(static_cast<dtype>(t));
  return error(
      name, "no kernel for " + std::string(name_of(type)) + " on backend " + on.name,
      types.bits ? "one of " + to_string(types) : "a backend that has it: " + (others.empty() ? "none" : others),
      types.bits ? "cast the operands, or register a kernel and call it by name"
                 : "register a kernel for it, or allow set_fallback(fallback::by_priority)");
}

}  // namespace kerngrad::detail
