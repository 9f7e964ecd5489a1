// SPDX-License-Identifier: Apache-2.0
// Shape rules of the ops that create or draw elements.
module;
#include "kernels/common/abi.h"
export module kerngrad:shapes_create;

import :std;
import :core;
import :op;
import :attributes;
import :shapes;
import :shapes_move;

namespace kerngrad::shapes {

/// Fill: the given shape and dtype. Tensors of text are filled with a string, where 0 stands for the empty one; others
/// are filled with a number.
export constexpr void fill(inference& call) {
  const dtype type = call.attr(place_in(attributes::fill, "dtype")).as_dtype();
  expect_element(call, place_in(attributes::fill, "value"), type);
  call.give(shape_attr(call, place_in(attributes::fill, "shape")), type);
}

/// Positions of the first element and the end in the rows of Range and LinSpace.
inline constexpr attr_place range_start = place_in(attributes::range, "start"),
                            range_stop = place_in(attributes::range, "stop");

/// Range: the step from start towards stop, which is exclusive. A positive step counts down if stop is below start.
constexpr double range_step(const inference& call) {
  const double start = call.attr(range_start).as_number(), stop = call.attr(range_stop).as_number();
  const double step = call.attr(place_in(attributes::range, "step")).as_number();
  return stop < start && step == 1 ? -1 : step;
}
/// Range: a vector with an element for each step from start to before stop.
export constexpr void range(inference& call) {
  const dtype type = call.attr(place_in(attributes::range, "dtype")).as_dtype();
  for (attr_place at : {range_start, range_stop, place_in(attributes::range, "step")}) check_fits(call, at, type);
  const double start = call.attr(range_start).as_number(), stop = call.attr(range_stop).as_number();
  const double step = range_step(call);
  if (step == 0) call.refuse("step 0", "a step that is not 0");
  // Halves, where the whole is beyond the largest double.
  const bool wide = __builtin_isinf(stop - start);
  const double exact = wide ? (stop / 2 - start / 2) / (step / 2) : (stop - start) / step;
  if (!(exact < 1e15)) call.refuse("a range of more than 1e15 elements", "finite bounds and a larger step");
  std::int64_t count = exact > 0 ? static_cast<std::int64_t>(exact) : 0;
  if (static_cast<double>(count) < exact) ++count;
  call.give({count}, type);
}

/// LinSpace: a vector of `num` elements.
export constexpr void linspace(inference& call) {
  const std::int64_t count = call.attr(place_in(attributes::linspace, "num")).as_integer();
  if (count < 0) call.refuse("num " + std::to_string(count), "0 or more");
  const dtype type = call.attr(place_in(attributes::linspace, "dtype")).as_dtype();
  for (attr_place at : {place_in(attributes::linspace, "start"), place_in(attributes::linspace, "stop")})
    check_fits(call, at, type);
  call.give({count}, type);
}

/// Positions of attributes in the rows of random ops. They do not depend on the names of the two parameters of a
/// distribution.
struct random_attrs {
  std::size_t shape, first, second, seed, dtype;
  friend constexpr bool operator==(const random_attrs& a, const random_attrs& b) {
    return a.shape == b.shape && a.first == b.first && a.second == b.second && a.seed == b.seed && a.dtype == b.dtype;
  }
};
consteval random_attrs attrs_of_random(std::span<const attr_spec> list, std::string_view first,
                                       std::string_view second) {
  return {.shape = place_in(list, "shape").index,
          .first = place_in(list, first).index,
          .second = place_in(list, second).index,
          .seed = place_in(list, "seed").index,
          .dtype = place_in(list, "dtype").index};
}
inline constexpr random_attrs drawn = attrs_of_random(attributes::uniform, "low", "high");
static_assert(drawn == attrs_of_random(attributes::normal, "mean", "stddev"));

/// The result of an op that generates random numbers.
constexpr void give_drawn(inference& call) {
  call.give(shape_attr(call, place_in(attributes::uniform, "shape")), call.attrs[drawn.dtype].as_dtype());
}

/// RandomNormal: the given shape. The dtype must hold both parameters.
export constexpr void random_normal(inference& call) {
  const dtype type = call.attr(place_in(attributes::normal, "dtype")).as_dtype();
  for (attr_place at : {place_in(attributes::normal, "mean"), place_in(attributes::normal, "stddev")})
    check_fits(call, at, type);
  give_drawn(call);
}

/// RandomUniform: the given shape. The dtype must hold the bounds, and low is at most high. Equal bounds give that
/// number.
export constexpr void random_uniform(inference& call) {
  constexpr attr_place low = place_in(attributes::uniform, "low"), high = place_in(attributes::uniform, "high");
  const dtype type = call.attr(place_in(attributes::uniform, "dtype")).as_dtype();
  for (attr_place at : {low, high}) {
    check_fits(call, at, type);
    const double value = call.attr(at).as_number();
    if (integral.has(type) && __builtin_floor(value) != value)
      call.refuse(std::string(at.name) + " = " + to_string(call.attr(at)),
                  "a whole number for " + std::string(name_of(type)));
  }
  if (call.attr(low).as_number() > call.attr(high).as_number())
    call.refuse("low = " + to_string(call.attr(low)) + " and high = " + to_string(call.attr(high)), "low <= high");
  give_drawn(call);
}

/// Multinomial: logits [rows, outcomes] give samples [rows, numSamples]. Throws unless there are 2 to 2^31 outcomes.
export constexpr void multinomial(inference& call) {
  const shape& logits = call.in[0].dims;
  if (logits.rank() != 2) call.refuse("logits of shape " + to_string(logits), "rank 2: distributions, outcomes");
  if (logits[1] < 2 || logits[1] > std::int64_t{1} << 31)
    call.refuse("logits of shape " + to_string(logits), "from 2 to 2^31 outcomes");
  call.give({logits[0], call.attr(place_in(attributes::multinomial, "numSamples")).as_integer()});
}

}  // namespace kerngrad::shapes
