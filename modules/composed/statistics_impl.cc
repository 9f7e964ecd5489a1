// SPDX-License-Identifier: Apache-2.0
module;
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include "kernels/common/abi.h"
module kerngrad;

import :composed_checks;
import :composed_scaling;

namespace kerngrad {

using detail::composed;
using detail::distances;
using detail::distances_of;
using detail::narrowed;
using detail::shaped;
using detail::square_fold;

namespace {

// Numbers whose moments are taken, as floats; half precision as float32.
tensor in_floats(const tensor& x) { return cast(x, computed_in(lifted(x.type(), lift::quotients), wide_floats)); }

// The fold of the squared distances: their mean, or their sum over the number of elements less `ddof`.
square_fold fold_for(const composed& call, const tensor& x, const axes& over, std::int64_t ddof) {
  const std::int64_t count = call.elements_of(call.axes_of(over, x.rank()), x.dims());
  if (ddof == 0) return {};
  return {std::fmax(static_cast<double>(count) - static_cast<double>(ddof), 0)};
}

// Results keep the axes; they are float32 for half precision. The distance of complex numbers is a magnitude.
distances moments_of(const tensor& x, const axes& over, const square_fold& fold) {
  if (!detail::is_complex(x)) return distances_of(in_floats(x), over, fold);
  const distances re = moments_of(real(x), over, fold), im = moments_of(imag(x), over, fold);
  return {complex(re.mean, im.mean), {}, fold_of(re) + fold_of(im), {}};
}
tensor deviation_of(const tensor& x, const axes& over, const square_fold& fold) {
  const distances from = moments_of(x, over, fold);
  if (!detail::is_complex(x)) {
    const tensor floats = in_floats(x);
    return root_of(squares_of(floats, from, over, fold));
  }
  if (detail::square_in_range(from.folded)) return detail::root_of(from.folded);
  return hypot(deviation_of(real(x), over, fold), deviation_of(imag(x), over, fold));
}

tensor without(const tensor& y, const axes& over, bool keep_dims) { return keep_dims ? y : squeeze(y, over); }

}  // namespace

moments_parts moments(const tensor& x, const axes& over, bool keep_dims) {
  constexpr composed call{"moments"};
  call.numbers("x", x);
  const distances from = moments_of(x, over, fold_for(call, x, over, 0));
  return {narrowed(without(from.mean, over, keep_dims), x.type()),
          narrowed(without(fold_of(from), over, keep_dims), x.type())};
}

tensor variance(const tensor& x, const axes& over, bool keep_dims, std::int64_t ddof) {
  constexpr composed call{"variance"};
  call.numbers("x", x);
  const distances from = moments_of(x, over, fold_for(call, x, over, ddof));
  return narrowed(without(fold_of(from), over, keep_dims), x.type());
}
tensor standard_deviation(const tensor& x, const axes& over, bool keep_dims, std::int64_t ddof) {
  constexpr composed call{"standard_deviation"};
  call.numbers("x", x);
  const tensor y = deviation_of(x, over, fold_for(call, x, over, ddof));
  return narrowed(without(y, over, keep_dims), x.type());
}

tensor moving_average(const tensor& v, const tensor& x, double decay, const moving_average_options& options) {
  constexpr composed call{"moving_average"};
  call.one_shape("v", v, "x", x);
  call.floating("v", v);
  if (v.type() != x.type())
    call.refuse(
        "operands v and x of dtypes " + std::string(name_of(v.type())) + " and " + std::string(name_of(x.type())),
        "one dtype", "cast one of them");
  if (!(decay >= 0 && decay <= 1)) call.refuse("decay " + to_string(attr_value(decay)), "a number from 0 to 1");
  if (options.step && !(*options.step >= 1)) call.refuse("step " + to_string(attr_value(*options.step)), "1 or more");
  if (options.zero_debias && !options.step)
    call.refuse("no step", "the number of the update, from 1", "pass it, or zero_debias = false");
  if (options.zero_debias && decay == 1)
    call.refuse("decay 1 with zero_debias", "a decay below 1: an average that never changes has no share to correct",
                "pass zero_debias = false");
  double share = 1 - decay;
  if (options.zero_debias) share /= 1 - std::pow(decay, *options.step);
  const tensor before = detail::widened(v), next = detail::widened(x);
  return narrowed(before + (next - before) * share, v.type());
}

tensor in_top_k(const tensor& predictions, const tensor& targets, std::int64_t k) {
  constexpr composed call{"in_top_k"};
  call.rank("predictions", predictions, 1);
  call.given("targets", targets);
  const std::span<const std::int64_t> rows =
      predictions.dims().dims().first(static_cast<std::size_t>(predictions.rank() - 1));
  if (!(targets.dims() == shape(rows)))
    call.refuse(shaped("targets", targets) + " next to " + shaped("predictions", predictions),
                "one target for each row");
  if (targets.type() != dtype::int32 && targets.type() != dtype::int64)
    call.refuse("operand targets of dtype " + std::string(name_of(targets.type())), "int32 or int64", "cast it");
  const std::int64_t length = predictions.dims()[predictions.rank() - 1];
  if (k < 1 || k > length)
    call.refuse("k " + std::to_string(k) + " for rows of " + std::to_string(length), "1 to the length of a row");
  if (targets.size() == 0) return zeros(targets.dims(), dtype::boolean);
  for (const tensor& end : {min(targets), max(targets)})
    if (end.item() < 0 || end.item() >= static_cast<double>(length))
      call.refuse("target " + to_string(attr_value(static_cast<std::int64_t>(end.item()))),
                  "0 to " + std::to_string(length - 1));
  const tensor chosen = gather(predictions, expand_dims(targets, -1), -1, targets.rank());
  const tensor above = sum(cast(predictions > chosen, dtype::int32), -1);
  return logical_and(above < k, equal(squeeze(chosen, -1), squeeze(chosen, -1)));
}

tensor count_nonzero(const tensor& x, const axes& over, bool keep_dims) {
  constexpr composed call{"count_nonzero"};
  call.numbers("x", x);
  const std::int64_t counted = call.elements_of(call.axes_of(over, x.rank()), x.dims());
  if (counted > std::numeric_limits<std::int32_t>::max())
    call.refuse(std::to_string(counted) + " elements, counted in int32", "at most 2^31 - 1", "count parts of them");
  return sum(cast(cast(x, dtype::boolean), dtype::int32), over, keep_dims);
}

}  // namespace kerngrad
