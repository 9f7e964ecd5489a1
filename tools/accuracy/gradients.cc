// SPDX-License-Identifier: Apache-2.0
#include "tools/accuracy/gradients.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

import kerngrad;

namespace kgaccuracy {
namespace {

template <class T>
kg::tensor tensor_of(const T* x, std::size_t n) {
  return kg::tensor(std::span<const T>(x, n), {static_cast<std::int64_t>(n)});
}
std::string operand_name(const char* op, std::size_t operand) {
  return std::string(kg::row_named(op)->operands[operand].name);
}

}  // namespace

template <class T>
void gradient_of_one(const char* op, const T* x, T* dx, std::size_t n) {
  const std::string name = operand_name(op, 0);
  // Bounds of an op with an order hold for the first one.
  std::vector<kg::attribute_ref> attrs;
  for (const kg::attr_spec& spec : kg::row_named(op)->attrs)
    if (spec.required) attrs.emplace_back(spec.name, kg::attr_value(std::int64_t{1}));
  const auto f = [&](const kg::tensor& t) {
    const kg::operand_ref operands[] = {{name, t}};
    return kg::run_kernel_list(op, operands, attrs)[0];
  };
  const kg::tensor g = kg::grad(f)(tensor_of(x, n));
  std::ranges::copy(g.data<T>(), dx);
}

template <class T>
void gradient_of_two(const char* op, int operand, const T* a, const T* b, T* dx, std::size_t n) {
  const std::string first = operand_name(op, 0), second = operand_name(op, 1);
  const auto f = [&](const kg::tensor& s, const kg::tensor& t) {
    return kg::run_kernel(op, {{first, s}, {second, t}});
  };
  const auto g = kg::grads(f)(tensor_of(a, n), tensor_of(b, n));
  std::ranges::copy(g[static_cast<std::size_t>(operand)].template data<T>(), dx);
}

template void gradient_of_one(const char*, const float*, float*, std::size_t);
template void gradient_of_one(const char*, const double*, double*, std::size_t);
template void gradient_of_two(const char*, int, const float*, const float*, float*, std::size_t);
template void gradient_of_two(const char*, int, const double*, const double*, double*, std::size_t);

}  // namespace kgaccuracy
