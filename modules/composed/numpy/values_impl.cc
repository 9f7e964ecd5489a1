// SPDX-License-Identifier: Apache-2.0
module;
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <string>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad;

import :composed_checks;
import :tape;

namespace kerngrad {

using detail::composed;
using detail::narrowed;
using detail::shaped;

namespace {

// Operands of elementwise functions: half precision and integers as float32.
tensor in_floats(const tensor& x) { return cast(x, computed_in(lifted(x.type(), lift::floats), wide_floats)); }

// The greatest finite number of a float.
double greatest_of(dtype type) {
  switch (type) {
    case dtype::float64: return std::numeric_limits<double>::max();
    case dtype::float16: return 65504;
    case dtype::bfloat16: return std::ldexp(255.0, 120);
    default: return std::numeric_limits<float>::max();
  }
}

}  // namespace

tensor eye(std::int64_t rows, dtype type) { return eye(rows, {}, 0, type); }

namespace {

// Each is one pass: the steps run on blocks that stay in the cache.
constexpr auto with_numbers = fuse([](auto x, auto nan, auto above, auto below) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  return where(is_nan(x), nan, where(x == infinite, above, where(x == -infinite, below, x)));
});
constexpr auto round_below_one = fuse([](auto x, auto scale) { return round(x * scale) / scale; });
constexpr auto round_above_one = fuse([](auto x, auto scale) { return round(x / scale) * scale; });
// The least distance from 0 that is no 0 keeps the quotient at 1 there.
constexpr auto sine_quotient = fuse([](auto x) {
  const auto angle = maximum(abs(x) * std::numbers::pi, 1e-30);
  return sin(angle) / angle;
});

}  // namespace

tensor nan_to_num(const tensor& x, const nan_to_num_options& options) {
  constexpr composed call{"nan_to_num"};
  call.real("x", x);
  if (!floating.has(x.type())) return x;
  const double greatest = greatest_of(x.type());
  return with_numbers(x, options.nan, options.posinf.value_or(greatest), options.neginf.value_or(-greatest));
}

tensor round(const tensor& x, int decimals) {
  constexpr composed call{"round"};
  call.real("x", x);
  const bool whole = (integral | boolean_only).has(x.type());
  if (whole && decimals >= 0) return x;
  if (decimals == 0) return round(x);
  const tensor wide = whole ? cast(x, dtype::float64) : detail::widened(x);
  const double scale = std::pow(10.0, std::abs(decimals));
  return cast(decimals > 0 ? round_below_one(wide, scale) : round_above_one(wide, scale), x.type());
}

tensor deg2rad(const tensor& x) {
  composed{"deg2rad"}.real("x", x);
  return narrowed(in_floats(x) * (std::numbers::pi / 180), x.type());
}
tensor rad2deg(const tensor& x) {
  composed{"rad2deg"}.real("x", x);
  return narrowed(in_floats(x) * (180 / std::numbers::pi), x.type());
}

tensor sinc(const tensor& x) {
  composed{"sinc"}.numbers("x", x);
  const tensor floats = in_floats(x);
  const bool has_order = real_or_bool.has(x.type());
  const tensor value = has_order ? sine_quotient(detach(floats)) : tensor();
  if (has_order && !detail::recording_now()) return narrowed(value, x.type());
  const tensor angle = floats * std::numbers::pi;
  // Near 0 the quotient has no accurate derivative. The first term left out is below 3e-18 there.
  const tensor near = abs(angle) < 0.1, square_of = square(where(near, angle, zeros_like(angle)));
  const tensor series = 1 - square_of / 6 * (1 - square_of / 20 * (1 - square_of / 42 * (1 - square_of / 72)));
  const tensor far = where(near, ones_like(angle), angle);
  const tensor smooth = where(near, series, sin(far) / far);
  return narrowed(has_order ? value + (smooth - detach(smooth)) : smooth, x.type());
}

tensor heaviside(const tensor& x, const tensor& middle) {
  constexpr composed call{"heaviside"};
  call.real("x", x);
  call.real("middle", middle);
  if (!broadcast(x.dims(), middle.dims()))
    call.refuse(shaped("x", x) + " and " + shaped("middle", middle), "shapes that broadcast");
  const dtype type = lifted(promote(x.type(), middle.type()), lift::integers);
  const tensor at = cast(x, type), side = where(is_nan(at), at, cast(at > 0, type));
  return where(at == 0, cast(middle, type), detach(side));
}

// ------------------------------------------------------------------------------------------ spaced numbers

namespace {

// base to the powers of evenly spaced exponents, float64. If there are many, those of each 512th and of the steps
// between are multiplied.
tensor powers(double base, double start, double stop, std::int64_t count) {
  constexpr std::int64_t together = 512;
  const tensor of = full({}, base, dtype::float64);
  if (count <= 2 * together) return pow(of, linspace(start, stop, count, dtype::float64));
  const double step = (stop - start) / static_cast<double>(count - 1);
  const std::int64_t rows = (count + together - 1) / together;
  const double last_row = start + step * static_cast<double>((rows - 1) * together);
  const tensor firsts = pow(of, linspace(start, last_row, rows, dtype::float64));
  const tensor steps = pow(of, linspace(0, step * static_cast<double>(together - 1), together, dtype::float64));
  return slice(flatten(expand_dims(firsts, 1) * steps), {0}, {count});
}

}  // namespace

tensor logspace(double start, double stop, std::int64_t count, double base, dtype type) {
  constexpr composed call{"logspace"};
  if (count < 0) call.refuse("count " + std::to_string(count), "0 or more");
  if (count == 0) return zeros({0}, type);
  return cast(powers(base, start, stop, count), type);
}

tensor geomspace(double start, double stop, std::int64_t count, dtype type) {
  constexpr composed call{"geomspace"};
  if (count < 0) call.refuse("count " + std::to_string(count), "0 or more");
  if (!(std::isfinite(start) && std::isfinite(stop) && start != 0 && stop != 0 && (start < 0) == (stop < 0)))
    call.refuse("ends " + to_string(attr_value(start)) + " and " + to_string(attr_value(stop)),
                "finite numbers of one sign, not 0");
  if (count == 0) return zeros({0}, type);
  const double sign = start < 0 ? -1 : 1;
  const tensor inner = powers(10, std::log10(std::fabs(start)), std::log10(std::fabs(stop)), count) * sign;
  // The ends are exact.
  const tensor first = full({1}, start, dtype::float64), last = full({1}, stop, dtype::float64);
  if (count == 1) return cast(first, type);
  return cast(concat({first, slice(inner, {1}, {count - 2}), last}, 0), type);
}

// ------------------------------------------------------------------------------------------ choices

namespace {

void check_condition(const composed& call, const tensor& condition) {
  call.given("conditions", condition);
  if (condition.type() != dtype::boolean)
    call.refuse("a condition of dtype " + std::string(name_of(condition.type())), "bool", "compare it with 0");
}

}  // namespace

tensor select(std::span<const tensor> conditions, std::span<const tensor> choices, const tensor& otherwise) {
  constexpr composed call{"select"};
  if (conditions.empty() || conditions.size() != choices.size())
    call.refuse(std::to_string(conditions.size()) + " conditions and " + std::to_string(choices.size()) + " choices",
                "one choice for each, and one or more");
  call.numbers("otherwise", otherwise);
  dtype type = otherwise.type();
  std::optional<shape> dims = otherwise.dims();
  for (std::size_t i = 0; i < choices.size(); ++i) {
    check_condition(call, conditions[i]);
    call.numbers("choices", choices[i]);
    type = promote(type, choices[i].type());
    for (const tensor* operand : {&conditions[i], &choices[i]})
      if (dims) dims = broadcast(*dims, operand->dims());
  }
  if (!dims) call.refuse("conditions and choices of different shapes", "shapes that broadcast");
  tensor y = cast(otherwise, type);
  for (std::size_t i = choices.size(); i-- > 0;) y = where(conditions[i], cast(choices[i], type), y);
  return broadcast_to(y, *dims);
}

tensor select(std::span<const tensor> conditions, std::span<const tensor> choices, double otherwise) {
  constexpr composed call{"select"};
  if (choices.empty()) call.refuse("no choices", "one or more");
  call.given("choices[0]", choices[0]);
  return select(conditions, choices, detail::number_like("kg::select", detail::number_of(otherwise), choices[0]));
}

tensor piecewise(const tensor& x, std::span<const tensor> conditions,
                 std::span<const std::function<tensor(const tensor&)>> functions) {
  constexpr composed call{"piecewise"};
  call.numbers("x", x);
  if (functions.size() != conditions.size() && functions.size() != conditions.size() + 1)
    call.refuse(
        std::to_string(functions.size()) + " functions for " + std::to_string(conditions.size()) + " conditions",
        "one for each, and at most one more");
  for (const tensor& condition : conditions) {
    check_condition(call, condition);
    call.one_shape("conditions", condition, "x", x);
  }
  for (const auto& function : functions)
    if (!function) call.refuse("an empty function", "functions that can be called");
  const auto value = [&](std::size_t i) {
    const tensor y = functions[i](x);
    call.broadcasts_to("a function's result", y, "x", x);
    return broadcast_to(cast(y, x.type()), x.dims());
  };
  tensor y = functions.size() > conditions.size() ? value(conditions.size()) : zeros_like(x);
  for (std::size_t i = 0; i < conditions.size(); ++i) y = where(conditions[i], value(i), y);
  return y;
}

// ------------------------------------------------------------------------------------------ flat indices

namespace {

void check_indices(const composed& call, const tensor& indices, std::int64_t size) {
  call.given("indices", indices);
  if (indices.type() != dtype::int32 && indices.type() != dtype::int64)
    call.refuse("operand indices of dtype " + std::string(name_of(indices.type())), "int32 or int64", "cast it");
  if (indices.size() == 0) return;
  for (const tensor& end : {min(indices), max(indices)})
    if (end.item() < 0 || end.item() >= static_cast<double>(size))
      call.refuse("index " + to_string(attr_value(static_cast<std::int64_t>(end.item()))),
                  "0 to " + std::to_string(size - 1));
}

}  // namespace

tensor_list unravel_index(const tensor& indices, const shape& dims) {
  constexpr composed call{"unravel_index"};
  check_indices(call, indices, dims.size());
  std::vector<tensor> back;
  tensor rest = cast(indices, dtype::int64);
  for (int axis = dims.rank() - 1; axis > 0; --axis) {
    const tensor size = full({}, dims[axis], dtype::int64), before = floor_div(rest, size);
    back.push_back(cast(rest - before * size, indices.type()));
    rest = before;
  }
  if (dims.rank() > 0) back.push_back(cast(rest, indices.type()));
  tensor_list all;
  for (std::size_t i = back.size(); i-- > 0;) all.push_back(back[i]);
  return all;
}

tensor ravel_multi_index(std::span<const tensor> indices, const shape& dims) {
  constexpr composed call{"ravel_multi_index"};
  if (indices.size() != static_cast<std::size_t>(dims.rank()))
    call.refuse(std::to_string(indices.size()) + " lists of indices for shape " + to_string(dims), "one for each axis");
  tensor flat = zeros({}, dtype::int64);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const std::int64_t size = dims[static_cast<int>(i)];
    check_indices(call, indices[i], size);
    if (!broadcast(flat.dims(), indices[i].dims()))
      call.refuse(shaped("indices[" + std::to_string(i) + "]", indices[i]), "shapes that broadcast");
    flat = flat * full({}, size, dtype::int64) + cast(indices[i], dtype::int64);
  }
  return flat;
}

}  // namespace kerngrad
