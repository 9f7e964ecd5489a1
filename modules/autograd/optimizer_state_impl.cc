// SPDX-License-Identifier: Apache-2.0
// Settings of an optimizer next to gradients: groups of variables, and the state that an earlier one left.
module;
#include <algorithm>
#include <string>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad;

namespace kerngrad {

namespace {

constexpr std::string_view slot_names[] = {".first", ".second", ".third"};

void check_weight_decay(std::string_view name, double decay) {
  if (!(decay >= 0 && decay <= std::numeric_limits<double>::max()))
    fail(name, "weight decay " + to_string(attr_value(decay)), "a finite number of 0 or more");
}

// A variable whose name tells it from the others.
void check_own_name(std::string_view function, const variable& v, std::span<const variable> all) {
  if (v.name().empty()) fail(function, "a variable without a name", "variables with names", "name it where it is made");
  for (const variable& other : all)
    if (!(other == v) && other.name() == v.name())
      fail(function, "two variables with the name " + v.name(), "a name for each");
}

const tensor* entry_named(std::span<const std::pair<std::string, tensor>> state, std::string_view name) {
  for (const auto& [of, value] : state)
    if (of == name) return &value;
  return nullptr;
}

std::int64_t steps_in(std::span<const std::pair<std::string, tensor>> state) {
  const tensor* steps = entry_named(state, "steps");
  if (!steps || !steps->defined() || steps->type() != dtype::int64 || steps->size() != 1 ||
      steps->item<std::int64_t>() < 0)
    fail("set_state", "no entry steps with a count", "the entries that state() gave");
  return steps->item<std::int64_t>();
}

}  // namespace

void optimizer::set_weight_decay(double weight_decay) {
  check_weight_decay("set_weight_decay", weight_decay);
  weight_decay_ = weight_decay;
}

void optimizer::add_group(std::span<const variable> variables, group_options options) {
  if (options.weight_decay) check_weight_decay("add_group", *options.weight_decay);
  for (const variable& v : variables)
    if (group_of(v))
      fail("add_group", "variable " + v.name() + ", which is in a group already", "variables of no group");
  groups_.push_back({{variables.begin(), variables.end()}, std::move(options)});
}

named_tensors optimizer::state() const {
  std::vector<variable> variables;
  for (const slots& state : states_) variables.push_back(state.of);
  named_tensors all{{"steps", tensor(steps_)}};
  for (const slots& state : states_) {
    check_own_name("state", state.of, variables);
    const tensor* const parts[] = {&state.first, &state.second, &state.third};
    for (int k = 0; k < slot_count_; ++k) all.emplace_back(state.of.name() + std::string(slot_names[k]), *parts[k]);
  }
  return all;
}

void optimizer::set_state(std::span<const std::pair<std::string, tensor>> state, std::span<const variable> variables) {
  const std::int64_t steps = steps_in(state);
  std::size_t used = 1;
  std::vector<slots> states;
  for (const variable& v : variables) {
    if (slot_count_ == 0 || !entry_named(state, v.name() + std::string(slot_names[0]))) continue;
    check_own_name("set_state", v, variables);
    const tensor now = v.value();
    slots& made = states.emplace_back(slots{v, {}, {}, {}});
    tensor* const parts[] = {&made.first, &made.second, &made.third};
    for (int k = 0; k < slot_count_; ++k, ++used) {
      const std::string name = v.name() + std::string(slot_names[k]);
      const tensor* entry = entry_named(state, name);
      if (!entry || !entry->defined() || !(entry->signature() == now.signature()))
        fail("set_state",
             !entry || !entry->defined()
                 ? "no entry " + name
                 : "entry " + name + " " + std::string(name_of(entry->type())) + " " + to_string(entry->dims()),
             std::string(name_of(now.type())) + " " + to_string(now.dims()) + " like the variable");
      *parts[k] = stop_gradient(*entry);
    }
  }
  if (used != state.size())
    fail("set_state",
         std::to_string(state.size()) + " entries, of which " + std::to_string(used) + " are of these variables",
         "entries that the same kind of optimizer gave for them", "pass all of the variables");
  states_ = std::move(states);
  steps_ = steps;
}

}  // namespace kerngrad
