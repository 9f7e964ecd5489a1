// SPDX-License-Identifier: Apache-2.0
module;
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include "kernels/common/abi.h"
module kerngrad;

import :composed_checks;
import :composed_scaling;
import :deviation;
import :tape;

namespace kerngrad::detail {

namespace {

// Exponents of numbers whose squares are in range, and products of five of them, as second derivatives of roots have.
template <class T> constexpr int near = sizeof(T) == 4 ? 20 : 200;
// Exponent of the least unit: products of units and gradients are normal numbers.
template <class T> constexpr int least_unit = sizeof(T) == 4 ? -100 : -900;

template <class F>
auto with_type(const tensor& x, F f) {
  return x.type() == dtype::float64 ? f(double{}) : f(float{});
}

// A unit for each group, by unit(i); undefined if all are 1.
template <class F>
tensor units(const tensor& like, F unit) {
  bool all_one = true;
  const tensor y = with_type(like, [&](auto zero) {
    using T = decltype(zero);
    return tensor::build<T>(like.dims(), [&](std::span<T> to) {
      for (std::size_t i = 0; i < to.size(); ++i) {
        to[i] = static_cast<T>(unit(i));
        all_one = all_one && to[i] == 1;
      }
    });
  });
  return all_one ? tensor() : y;
}

template <class F>
bool all_of_elements(const tensor& x, F holds) {
  return with_type(x, [&](auto zero) {
    using T = decltype(zero);
    const std::span<const T> all = x.data<T>();
    bool every = true;  // without an early end, so that the compiler can use vectors
    for (std::size_t i = 0; i < all.size(); ++i) every &= holds(static_cast<double>(all[i]), i);
    return every;
  });
}

// The unit nearest to 1 in which a number lies from 2^-reach to 2^(reach + 1); 1 for 0, infinity and NaN.
template <class T>
double unit_within(double number, int reach) {
  if (!(number > 0) || number > std::numeric_limits<double>::max()) return 1;
  const int exponent = std::ilogb(number);
  return std::ldexp(1.0, std::max(exponent - std::clamp(exponent, -reach, reach), least_unit<T>));
}

// The largest magnitudes of groups, of which no gradient is wanted.
tensor largest(const tensor& x, const axes& over) {
  const unrecorded pause;
  return max(abs(x), over, true);
}

// Units in which the largest of a group or, where that is larger, `least` is near, or `times` as near. The unit of x is
// `so_far`, that of `least` 1.
tensor units_near(const tensor& x, const axes& over, int times, double least = 0, const tensor& so_far = {}) {
  const tensor most = largest(x, over);
  return with_type(x, [&](auto zero) {
    using T = decltype(zero);
    const std::span<const T> numbers = most.data<T>();
    const T* const units_so_far = so_far.defined() ? so_far.data<T>().data() : nullptr;
    return units(most, [&](std::size_t i) {
      const double floor = units_so_far ? least / static_cast<double>(units_so_far[i]) : least;
      const double number = static_cast<double>(numbers[i]);
      return unit_within<T>(number < floor ? floor : number, times * near<T>);
    });
  });
}

in_units scaled(const tensor& x, const axes& over, int times) {
  if (x.size() == 0) return {x, {}};
  const tensor unit = units_near(x, over, times);
  return {unit.defined() ? x / unit : x, unit};
}

// Units in which sums of numbers, and sums of their squares whose mean is in range, are in range.
tensor sum_units(const tensor& x, const axes& over) {
  const tensor most = largest(x, over);
  const int bits = static_cast<int>(std::ceil(std::log2(static_cast<double>(x.size() / most.size()))));
  return with_type(x, [&](auto zero) {
    using T = decltype(zero);
    const std::span<const T> numbers = most.data<T>();
    const double limit = std::ldexp(1.0, (std::numeric_limits<T>::max_exponent - bits) / 2 - 3);
    return units(most, [&](std::size_t i) {
      const double number = static_cast<double>(numbers[i]);
      return number > limit && number <= std::numeric_limits<double>::max() ? std::ldexp(1.0, bits + 2) : 1.0;
    });
  });
}

bool in_range(const folded_squares& squares, double epsilon) {
  return square_in_range(squares.folded, squares.unit.defined() ? 0 : epsilon);
}

folded_squares rescaled(const folded_squares& squares, const axes& over, const square_fold& fold, double epsilon) {
  const tensor unit = units_near(squares.x, over, 1, std::sqrt(epsilon), squares.unit);
  if (!unit.defined()) return squares;
  const tensor x = squares.x / unit;
  return {x, fold(square(x), over), times_unit(unit, squares.unit)};
}

}  // namespace

tensor square_fold::operator()(const tensor& squares, const axes& over) const {
  if (!divisor) return mean(squares, over, true);
  const tensor total = sum(squares, over, true);
  return *divisor == 1 ? total : total / *divisor;
}

in_units in_square_units(const tensor& x, const axes& over) { return scaled(x, over, 1); }
in_units in_product_units(const tensor& x, const axes& over) { return scaled(x, over, 5); }

bool square_in_range(const tensor& square, double epsilon) {
  const int bits = with_type(square, [](auto zero) { return near<decltype(zero)>; });
  const double least = std::ldexp(1.0, -2 * bits), most = std::ldexp(1.0, 3 * bits);  // sums of 2^near squares
  return all_of_elements(square, [=](double value, std::size_t) { return value + epsilon >= least && value <= most; });
}

// An error of some units in the last place of such a mean is less than a part of 2^-13 of the deviation, and its square
// less than one of 2^-26.
bool centred(const tensor& mean, const tensor& fold) {
  return with_type(mean, [&](auto zero) {
    const auto means = mean.data<decltype(zero)>();
    return all_of_elements(fold, [&](double square, std::size_t i) {
      const double part = static_cast<double>(means[i]) / 32;
      return part * part <= square && square <= std::numeric_limits<double>::max();
    });
  });
}

tensor times_unit(const tensor& y, const tensor& unit) { return unit.defined() ? y * unit : y; }

bool all_finite(const tensor& x) {
  return all_of_elements(
      x, [](double value, std::size_t) { return std::fabs(value) <= std::numeric_limits<double>::max(); });
}

folded_squares squares_of(const tensor& x, const axes& over, const square_fold& fold, double epsilon) {
  const folded_squares plain{x, fold(square(x), over), {}};
  return x.size() == 0 || in_range(plain, epsilon) ? plain : rescaled(plain, over, fold, epsilon);
}

tensor root_of(const folded_squares& squares) { return times_unit(root_of(squares.folded), squares.unit); }

tensor over_root(const folded_squares& squares, double epsilon) {
  if (!squares.unit.defined()) return squares.x * rsqrt(squares.folded + epsilon);
  return squares.x * rsqrt(squares.folded + square(std::sqrt(epsilon) / squares.unit));
}

distances distances_of(const tensor& x, const axes& over, const square_fold& fold) {
  const tensor middle = mean(x, over, true);
  // One pass for the result, or one difference for both gradients.
  const tensor folded = fold(concerns_a_tape(x) ? square(x - middle) : squared_difference(x, middle), over);
  if (x.size() == 0 || centred(middle, folded)) return {middle, {}, folded, {}};
  const tensor unit = sum_units(x, over), y = unit.defined() ? x / unit : x;
  // The first mean is a constant: any point near the mean would do, the second one makes up for its error.
  const tensor shifted = y - stop_gradient(mean(y, over, true)), apart = shifted - mean(shifted, over, true);
  const tensor means = unit.defined() ? times_unit(mean(y, over, true), unit) : middle;
  return {means, apart, fold(square(apart), over), unit, folded};
}

tensor fold_of(const distances& from) {
  if (!from.unit.defined()) return from.folded;
  const tensor y = from.folded * from.unit * from.unit;
  return all_finite(y) ? y : where(is_finite(y), y, from.first_fold);
}

folded_squares squares_of(const tensor& x, const distances& from, const axes& over, const square_fold& fold,
                          double epsilon) {
  folded_squares squares{from.from_mean, from.folded, from.unit};
  if (x.size() == 0 || in_range(squares, epsilon)) return squares;
  if (from.plain()) squares.x = x - from.mean;
  return rescaled(squares, over, fold, epsilon);
}

tensor over_deviation(const tensor& y, const tensor& x, double epsilon) {
  const folded_squares squares = squares_of(x, distances_of(x, -1), -1, {}, epsilon);
  const tensor quotient = over_root({y, squares.folded, squares.unit}, epsilon);
  return squares.unit.defined() ? quotient / squares.unit : quotient;
}

}  // namespace kerngrad::detail
