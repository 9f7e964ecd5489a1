// SPDX-License-Identifier: Apache-2.0
// Gradients of elementwise ops, from their rules.
#pragma once
#include <cstddef>

namespace kgaccuracy {

/// dx[i] is the derivative of an op of one operand at x[i], as its rule gives it for a dy of 1. Attributes have their
/// defaults. T is float or double.
template <class T>
void gradient_of_one(const char* op, const T* x, T* dx, std::size_t n);

/// The same of an op of two operands, for operand 0 or 1.
template <class T>
void gradient_of_two(const char* op, int operand, const T* a, const T* b, T* dx, std::size_t n);

}  // namespace kgaccuracy
