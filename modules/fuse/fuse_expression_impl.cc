// SPDX-License-Identifier: Apache-2.0
// Expressions that are put together while the program runs: their steps, checked as they come, and the programs that
// the compiler makes of an expression that it reads.
module;
#include <algorithm>
#include <memory>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/join.hpp>
#include <string>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad;

import :by_name;
import :fuse_plan;
import :fuse_stored;
import :run;

namespace kerngrad::detail {

namespace {

// The attributes of a step: numbers in the order of the row, or a Cast's dtype.
void set_attributes(const op_row& row, std::span<const attribute_ref> attrs, fused_step& step) {
  attr_list given(row.attrs.size()), all(row.attrs.size());
  order_attrs(row, attrs, given);
  check_attrs(row, given.all(), all.all());
  for (std::size_t i = 0; i < row.attrs.size(); ++i) {
    if (all.all()[i].kind() == attr_kind::dtype) step.to = all.all()[i].as_dtype();
    else step.numbers[i] = all.all()[i].as_number();
  }
}

const op_entry& entry_named(std::string_view op) {
  const int id = find_op(op);
  if (id >= 0) return *known_entries[static_cast<std::size_t>(id)];
  const std::vector<std::string> names = similar_names(op);
  const auto similar = names | ranges::views::join(std::string_view(", ")) | ranges::to<std::string>();
  fail(op, "no op of this name", similar.empty() ? "an op of the library" : "an op of the library, such as " + similar,
       "`kerngrad list` has all names");
}

// The operands of a step as symbols of one expression.
std::vector<symbol> symbols_of(std::string_view op, std::span<const fuse_operand> operands) {
  const auto first = std::ranges::find(operands, false, &fuse_operand::is_number);
  if (first == operands.end()) fail(op, "numbers alone", "a symbol next to them");
  const symbol like = first->as_symbol();
  std::vector<symbol> all;
  for (const fuse_operand& x : operands) {
    if (!x.is_number() && (!like.in || x.as_symbol().in != like.in))
      fail(op, "a symbol that is not of this expression",
           "what the function that is fused was called with, or computed from that");
    all.push_back(x.is_number() ? literal_step(x.as_number(), like) : x.as_symbol());
  }
  return all;
}

}  // namespace

struct stored_expression {
  stored_expression(int operands, const step_list& list, symbol root, const fused_reduction& reduction)
      : value(program_of_steps(list, root, reduction, static_cast<std::size_t>(operands), fused_kind::value, {}),
              static_cast<std::size_t>(operands)),
        gradient(program_of_steps(list, root, reduction, static_cast<std::size_t>(operands), fused_kind::gradient, {}),
                 static_cast<std::size_t>(operands)) {}

  stored_program value, gradient;
};

// In an expression that is read by the compiler its name is the error.
void a_fused_reduction_is_over_all_axes_or_one() {
  fail("kg::fuse", "a reduction over several axes, or none", "all axes, or one", "call it outside of the expression");
}

void an_attribute_of_a_fused_op_is_out_of_range(const op_row& row, const attr_spec& spec, const attr_value& value) {
  check_attr(row, spec, value);
}

std::vector<symbol> operand_steps(step_list& list, int operands) {
  if (operands < 1 || operands > most_operands)
    fail("kg::fuse", std::to_string(operands) + " operands", "1 to " + std::to_string(most_operands));
  std::vector<symbol> all;
  for (int i = 0; i < operands; ++i)
    all.push_back({&list, list.add({.kind = step_kind::operand, .operand = static_cast<std::int8_t>(i)})});
  return all;
}

std::shared_ptr<const stored_expression> stored(int operands, step_list list, symbol root,
                                                const fused_reduction& reduction) {
  if (root.at < 0) fail("kg::fuse", "an empty symbol as the result", "what the expression computed from its operands");
  if (list.steps.size() >= most_fused_steps)
    fail("kg::fuse", std::to_string(list.steps.size()) + " steps", "fewer than " + std::to_string(most_fused_steps),
         "split the expression");
  const auto made = std::make_shared<const stored_expression>(operands, list, root, reduction);
  for (const stored_program* p : {&made->value, &made->gradient})
    if (p->builder.steps.size() >= most_fused_steps || p->builder.buffers >= most_fused_buffers)
      fail("kg::fuse", "an expression that is too long",
           "a derivative of less than a thousand steps, and a hundred values", "split the expression");
  return made;
}

tensor run_stored(const stored_expression* program, std::span<const tensor* const> in) {
  if (!program) fail("kg::fuse", "an empty fused_expression", "one that kg::fuse made");
  if (static_cast<int>(in.size()) != program->value.program.operands)
    fail("kg::fuse", std::to_string(in.size()) + " operands", std::to_string(program->value.program.operands));
  const stored_program& gradient = program->gradient;
  return run_following_rules({&program->value.program, gradient.builder.has_gradient ? &gradient.program : nullptr},
                             in);
}

}  // namespace kerngrad::detail

namespace kerngrad {

bool can_be_fused(std::string_view op) {
  const int id = find_op(op);
  return id >= 0 && detail::can_be_step(*detail::known_entries[static_cast<std::size_t>(id)]->row);
}

namespace {
symbol step_by_name(std::string_view op, std::span<const fuse_operand> operands, std::span<const attribute_ref> attrs) {
  const detail::op_entry& entry = detail::entry_named(op);
  const op_row& row = *entry.row;
  if (!detail::can_be_step(row))
    fail(op, "a step of a fused expression", "an op that works element by element",
         "call it outside of the expression");
  if (operands.size() != row.operands.size())
    fail(op, std::to_string(operands.size()) + " operands", std::to_string(row.operands.size()));
  const std::vector<symbol> in = detail::symbols_of(op, operands);
  detail::fused_step step;
  detail::set_attributes(row, attrs, step);
  return detail::op_step(&entry, row, nullptr, in, step.numbers, step.to);
}
}  // namespace

symbol call(std::string_view op, std::span<const fuse_operand> operands, std::span<const attribute_ref> attrs) {
  return detail::run_spelled(op, [&] { return step_by_name(op, operands, attrs); });
}

}  // namespace kerngrad
