// SPDX-License-Identifier: Apache-2.0
// Squares of numbers of any size. A square leaves the range of its type long before its number does. A function of
// squares whose result stays in range takes its numbers in units: powers of two, so that products with them are exact.
// Internal.
module;
#include "kernels/common/abi.h"
module kerngrad:composed_scaling;

import :std;
import :core;
import :tensor;
import :axes;

namespace kerngrad::detail {

// Operands are float32 or float64. A group is the elements that a reduction over axes brings together. Results of
// groups keep the reduced axes, with size 1. A unit is a power of two for each group, and a constant: no gradient flows
// through it. An undefined unit is 1 for all groups.

/// Numbers that are divided by a unit: the numbers are x * unit.
struct in_units {
  tensor x, unit;
};
/// Divides x by units in which its squares are in range. Groups that are in range have the unit 1, so that no group
/// changes the results of another.
in_units in_square_units(const tensor& x, const axes& over);
/// Divides x by units in which sums of its products with numbers up to 1 are in range. Far fewer groups need another
/// unit than 1.
in_units in_product_units(const tensor& x, const axes& over);
/// True if squares, or folds of them, are in range, with epsilon added.
bool square_in_range(const tensor& square, double epsilon = 0);
/// True if the means of groups are at most 32 times the root of their `fold`, the mean of the squared distances, which
/// is then exact enough.
bool centred(const tensor& mean, const tensor& fold);
/// The product y * unit, or y for an undefined unit.
tensor times_unit(const tensor& y, const tensor& unit);
/// True if no element is infinite or NaN.
bool all_finite(const tensor& x);

/// How the squares of a group become one number: their sum divided by a divisor, or without one their mean.
struct square_fold {
  std::optional<double> divisor{};
  tensor operator()(const tensor& squares, const axes& over) const;
};
inline constexpr square_fold sum_of_squares{1};

/// The numbers x * unit, and the fold of the squares of x.
struct folded_squares {
  tensor x, folded, unit;
};
/// Folds the squares of x, in units in which the fold, or its sum with epsilon, is in range.
folded_squares squares_of(const tensor& x, const axes& over, const square_fold& fold, double epsilon = 0);
/// The root of the fold, in units of 1. Its gradient at 0 is 0.
tensor root_of(const folded_squares& squares);
/// The numbers divided by the root of fold plus epsilon.
tensor over_root(const folded_squares& squares, double epsilon);

/// The means of groups, and the folds of the squared distances from them. The fold has an error of some units in its
/// last place, even if a mean is many deviations from 0. `from_mean`, the distances in units, is undefined if they are
/// x - mean.
struct distances {
  tensor mean, from_mean, folded, unit;
  tensor first_fold{};  ///< fold of x - mean, whose gradient is correct where `folded` is infinite
  /// True if x - mean and the fold need no other units.
  bool plain() const { return !from_mean.defined(); }
};
distances distances_of(const tensor& x, const axes& over, const square_fold& fold = {});
/// The fold in units of 1; infinite if it overflows.
tensor fold_of(const distances& from);
/// The distances, and the fold of their squares in units in which the fold, or its sum with epsilon, is in range. The
/// distances are undefined if they are x - mean.
folded_squares squares_of(const tensor& x, const distances& from, const axes& over, const square_fold& fold = {},
                          double epsilon = 0);

}  // namespace kerngrad::detail
