// SPDX-License-Identifier: Apache-2.0
module;
#include <initializer_list>
#include <optional>
#include <string>
#include "kernels/common/abi.h"
module kerngrad;

import :composed_checks;

namespace kerngrad::detail {

std::string shaped(std::string_view operand, const tensor& x) {
  return "operand " + std::string(operand) + " of shape " + to_string(x.dims());
}

tensor widened(const tensor& x) { return x.defined() && halves.has(x.type()) ? cast(x, dtype::float32) : x; }

dtype promoted(std::initializer_list<const tensor*> xs) {
  std::optional<dtype> type;
  for (const tensor* x : xs)
    if (x->defined()) type = type ? promote(*type, x->type()) : x->type();
  return type.value_or(dtype::float32);
}

tensor narrowed(const tensor& y, dtype type) { return halves.has(type) ? cast(y, type) : y; }

// The root is taken of 1 where there is nothing, so that no infinite derivative is multiplied by 0.
tensor root_of(const tensor& squares) {
  const tensor nothing = squares == 0;
  return where(nothing, zeros_like(squares), sqrt(where(nothing, ones_like(squares), squares)));
}

void composed::refuse(std::string_view got, std::string_view wanted, std::string_view advice) const {
  fail("kg::" + std::string(name), got, wanted, advice);
}

void composed::given(std::string_view operand, const tensor& x) const {
  if (!x.defined()) refuse("no operand " + std::string(operand), "a tensor", "pass one");
}

void composed::rank(std::string_view operand, const tensor& x, int least, int most) const {
  given(operand, x);
  if (x.rank() >= least && x.rank() <= most) return;
  std::string wanted = "rank " + std::to_string(least);
  if (most == max_rank && least < most) wanted += " or more";
  else if (most == least + 1) wanted += " or " + std::to_string(most);
  else if (most > least) wanted += " to " + std::to_string(most);
  refuse(shaped(operand, x), wanted);
}

void composed::numbers(std::string_view operand, const tensor& x) const {
  given(operand, x);
  if (!any_dtype.has(x.type()))
    refuse("operand " + std::string(operand) + " of dtype " + std::string(name_of(x.type())), to_string(any_dtype));
}

void composed::real(std::string_view operand, const tensor& x) const {
  given(operand, x);
  if (!real_or_bool.has(x.type()))
    refuse("operand " + std::string(operand) + " of dtype " + std::string(name_of(x.type())), to_string(real_or_bool));
}

void composed::floating(std::string_view operand, const tensor& x) const {
  given(operand, x);
  if (!kerngrad::floating.has(x.type()))
    refuse("operand " + std::string(operand) + " of dtype " + std::string(name_of(x.type())),
           to_string(kerngrad::floating), "cast it");
}

void composed::one_shape(std::string_view a_name, const tensor& a, std::string_view b_name, const tensor& b) const {
  given(a_name, a);
  given(b_name, b);
  if (!(a.dims() == b.dims())) refuse(shaped(a_name, a) + " and " + shaped(b_name, b), "operands of one shape");
}

void composed::broadcasts_to(std::string_view b_name, const tensor& b, std::string_view a_name, const tensor& a) const {
  given(b_name, b);
  const std::optional<shape> both = broadcast(a.dims(), b.dims());
  if (!both || !(*both == a.dims()))
    refuse(shaped(b_name, b) + " next to " + shaped(a_name, a),
           "a shape that broadcasts to that of " + std::string(a_name));
}

int composed::axis(std::int64_t axis, int rank) const {
  const std::optional<int> counted = axis_from_front(axis, rank);
  const int count = rank == 0 ? 1 : rank;
  if (!counted)
    refuse("axis " + std::to_string(axis) + " of an operand of rank " + std::to_string(rank),
           "an axis from " + std::to_string(-count) + " to " + std::to_string(count - 1));
  return *counted;
}

axis_bits composed::axes_of(const axes& over, int rank) const {
  const attr_value& value = over.value();
  const axis_bits all = (axis_bits{1} << rank) - 1;
  if (!value.given()) return all;
  if (value.kind() == attr_kind::integer) return all & (axis_bits{1} << axis(value.as_integer(), rank));
  axis_bits bits = 0;
  for (std::int64_t item : value.as_list()) {
    const axis_bits bit = axis_bits{1} << axis(item, rank);
    if (bits & bit) refuse("axis " + std::to_string(item) + " twice", "distinct axes");
    bits |= bit;
  }
  return all & bits;
}

std::int64_t composed::elements_of(axis_bits reduced, const shape& dims) const {
  std::int64_t count = 1;
  for (int i = 0; i < dims.rank(); ++i)
    if ((reduced >> i) & 1) count *= dims[i];
  return count;
}

}  // namespace kerngrad::detail
