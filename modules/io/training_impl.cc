// SPDX-License-Identifier: Apache-2.0
// State of a training, as tensors by name.
module;
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad.io;

namespace kerngrad::io {

namespace {

// Before the names that an optimizer gives what it carries.
constexpr std::string_view carried_prefix = "optimizer/";

void append_values(std::vector<named_tensor>& list, std::span<const variable> variables) {
  for (const variable& v : variables) {
    if (v.name().empty())
      fail("state_of", "a variable without a name", "names", "give each one: kg::variable(initial, \"weights\")");
    list.push_back({v.name(), v.value()});
  }
}

// The values that the variables will have.
std::vector<tensor> values_for(const named_tensors& state, std::span<const variable> variables) {
  std::vector<tensor> values;
  for (const variable& v : variables) {
    const tensor now = v.value();
    if (!state.contains(v.name()))
      fail("restore", "a state without " + detail::in_quotes(v.name()), "one with a value for each variable");
    tensor& value = values.emplace_back(state.at(v.name()));
    if (!(value.signature() == now.signature()))
      fail("restore",
           detail::in_quotes(v.name()) + " as " + std::string(name_of(value.type())) + " " + to_string(value.dims()),
           "the variable's " + std::string(name_of(now.type())) + " " + to_string(now.dims()));
  }
  return values;
}

void assign_all(std::span<const variable> variables, const std::vector<tensor>& values) {
  for (std::size_t i = 0; i < variables.size(); ++i) variables[i].assign(values[i]);
}

}  // namespace

named_tensors state_of(std::span<const variable> variables) {
  std::vector<named_tensor> list;
  append_values(list, variables);
  return named_tensors(std::move(list));
}

named_tensors state_of(std::span<const variable> variables, const optimizer& by) {
  std::vector<named_tensor> list;
  append_values(list, variables);
  for (const auto& [name, value] : by.state()) list.push_back({std::string(carried_prefix) + name, value});
  return named_tensors(std::move(list));
}

void restore(const named_tensors& state, std::span<const variable> variables) {
  assign_all(variables, values_for(state, variables));
}

void restore(const named_tensors& state, std::span<const variable> variables, optimizer& by) {
  const std::vector<tensor> values = values_for(state, variables);
  kerngrad::named_tensors carried;
  for (const auto& [name, value] : state)
    if (name.starts_with(carried_prefix)) carried.emplace_back(name.substr(carried_prefix.size()), value);
  by.set_state(std::span<const std::pair<std::string, tensor>>(carried), variables);
  assign_all(variables, values);
}

}  // namespace kerngrad::io
