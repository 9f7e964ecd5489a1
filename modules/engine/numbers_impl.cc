// SPDX-License-Identifier: Apache-2.0
// Numbers next to tensors. Next to floats a number is rounded to their dtype. Next to integers nothing is rounded: a
// comparison is that of the exact values, a bound may lie outside the dtype, and other ops take what the dtype holds,
// or a fraction, which makes both float32.
module;
#include <cmath>
#include <optional>
#include <string>
#include "kernels/common/abi.h"
module kerngrad;

import :tape;

namespace kerngrad::detail {
namespace {

struct integer_range {
  std::int64_t least, most;
};
// Range of an integer dtype; other dtypes count as int32, as bool does.
integer_range range_of(dtype type) {
  return visit(type, []<dtype Type>(dtype_constant<Type> is) -> integer_range {
    using T = std::conditional_t<integral.has(Type), typename decltype(is)::element, std::int32_t>;
    return {std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max()};
  });
}

bool is_whole_dtype(dtype type) { return (integral | boolean_only).has(type); }
// Dtype that integers next to a tensor are computed in: bool counts as int32.
dtype integers_beside(dtype like) { return like == dtype::boolean ? dtype::int32 : computed_in(like, {}); }

bool holds(dtype type, const plain_number& n) {
  const auto [least, most] = range_of(type);
  return n.is_integer && n.integer >= least && n.integer <= most;
}
// The dtype of a number next to integers: theirs if it holds the number, or else the one that they are computed in.
std::optional<dtype> integer_for(const plain_number& n, dtype like) {
  const dtype computed = integers_beside(like);
  if (like != dtype::boolean && holds(like, n)) return like;
  return holds(computed, n) ? std::optional(computed) : std::nullopt;
}
// A fraction, an infinity or NaN: what no integer dtype has.
bool makes_floats(const plain_number& n) {
  return !n.is_integer && !(std::isfinite(n.value) && std::floor(n.value) == n.value);
}

bool compares(const op_row& row) { return row.is_binary() && row.types.after == result::boolean; }
bool bounds(const op_row& row) { return row.name == "Maximum" || row.name == "Minimum"; }

tensor scalar_of(const plain_number& n, dtype type) {
  if (type == dtype::float32) return tensor(static_cast<float>(n.value));
  if (type == dtype::float64) return tensor(n.value);
  if (type == dtype::int64) return tensor(n.integer);
  const unrecorded pause;
  return full({}, n.value, type);
}
tensor scalar_of(std::int64_t value, dtype type) { return scalar_of(number_of(value), type); }

[[noreturn]] void refuse_number(std::string_view who, const plain_number& n, dtype type) {
  const auto [least, most] = range_of(integers_beside(type));
  fail(who,
       "the number " + to_string(n.is_integer ? attr_value(n.integer) : attr_value(n.value)) + " next to a tensor of " +
           std::string(name_of(type)),
       "a number from " + std::to_string(least) + " to " + std::to_string(most),
       "cast the tensor to a dtype that holds it");
}

// Position of a number that an integer dtype does not hold.
struct position_among_integers {
  bool below = false;    // of the least, which is then `floor`
  std::int64_t floor{};  // else the largest integer of the dtype that is less
};
position_among_integers position_of(const plain_number& n, dtype type) {
  const auto [least, most] = range_of(type);
  if (n.is_integer) return {n.integer < least, n.integer < least ? least : most};
  const double floor = std::floor(n.value);
  if (floor >= static_cast<double>(most)) return {false, most};
  if (floor < static_cast<double>(least)) return {true, least};
  return {false, static_cast<std::int64_t>(floor)};
}

tensor run_on(const op_entry& op, const tensor& x, const tensor& scalar, number_is side) {
  return side == number_is::right ? run_binary(op, x, scalar) : run_binary(op, scalar, x);
}

// x against a number that its dtype does not hold, by an integer that says the same: x < 2.5 is x <= 2, and nothing is
// below the least.
tensor compared(const op_entry& op, const tensor& x, const plain_number& n, number_is side) {
  const dtype type = integers_beside(x.type());
  const std::int64_t least = range_of(type).least;
  const auto run = [&]<fixed_string Op>(std::int64_t k) {
    return run_binary(known_entry<op_id<Op>>(), x, scalar_of(k, type));
  };
  const auto never = [&] { return run.operator()<"Less">(least); };
  const auto always = [&] { return run.operator()<"GreaterEqual">(least); };
  if (op.id == op_id<"NotEqual">) return always();
  if (op.id == op_id<"Equal"> || std::isnan(n.value)) return never();
  const bool written_less = op.id == op_id<"Less"> || op.id == op_id<"LessEqual">;
  const bool less = written_less == (side == number_is::right);
  const auto [below, floor] = position_of(n, type);
  if (below) return less ? never() : always();
  return less ? run.operator()<"LessEqual">(floor) : run.operator()<"Greater">(floor);
}

}  // namespace

dtype dtype_beside(const plain_number& n, dtype like) {
  if (!is_whole_dtype(like)) return like;
  if (like == dtype::boolean && !n.of_whole_type) return dtype::float32;
  return integer_for(n, like).value_or(dtype::float32);
}

std::optional<dtype> dtype_beside(const op_row& row, const plain_number& n, dtype like) {
  if (!is_whole_dtype(like)) return like;
  const bool exact = compares(row);
  if (exact || like != dtype::boolean || n.of_whole_type)
    if (const std::optional<dtype> type = integer_for(n, like)) return type;
  if (exact) return {};
  const dtype lifts_to = lifted(like, row.types.before);
  if (!is_whole_dtype(lifts_to)) return lifts_to;
  if (makes_floats(n) || (like == dtype::boolean && !n.of_whole_type)) {
    if (bounds(row) && std::isinf(n.value)) return {};
    return dtype::float32;
  }
  return {};
}

tensor number_like(std::string_view who, const plain_number& n, const tensor& like) {
  const dtype type = dtype_beside(n, like.type());
  const bool counts = integral.has(like.type()) || (like.type() == dtype::boolean && n.of_whole_type);
  if (counts && type == dtype::float32 && !makes_floats(n)) refuse_number(who, n, like.type());
  return scalar_of(n, type);
}

tensor run_beside(const op_entry& op, const tensor& x, const plain_number& n, number_is side) {
  const op_row& row = *op.row;
  const dtype like = x.type();
  if (const std::optional<dtype> type = dtype_beside(row, n, like)) return run_on(op, x, scalar_of(n, *type), side);
  const dtype type = integers_beside(like);
  // Whatever the number is, an op that does not take the tensor says so.
  if (!row.operands[side == number_is::right ? 0 : 1].types.has(like)) return run_on(op, x, scalar_of(0, type), side);
  if (compares(row)) return compared(op, x, n, side);
  const auto [below, nearest] = position_of(n, type);
  if (bounds(row) && below == (row.name == "Maximum")) return run_on(op, x, scalar_of(nearest, type), side);
  refuse_number(row.name, n, like);
}

}  // namespace kerngrad::detail
