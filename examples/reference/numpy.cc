// SPDX-License-Identifier: Apache-2.0
// NumPy's functions: statistics next to NaN, histograms, samples, sets, joined tensors and choices.
#include <iostream>
#include <limits>

#include "example.h"

import kerngrad;

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();

void beside_nan() {
  const kg::tensor x({{nan, 1., 4.}, {2., nan, 6.}});
  std::cout << kg::nansum(x, 1) << "\n" << kg::nanmean(x, 1) << "\n" << kg::nanmax(x, 1) << "\n";
  std::cout << kg::nanmin(x, 1) << "\n" << kg::nanprod(x, 1) << "\n" << kg::nanmedian(x, 1) << "\n";
  std::cout << kg::nanvar(x, 1) << "\n" << kg::nanstd(x, 1) << "\n";
}
const example for_beside_nan{
    "kg::nansum kg::nanmean kg::nanmax kg::nanmin kg::nanprod kg::nanmedian kg::nanvar kg::nanstd", beside_nan};

void places_and_scans_beside_nan() {
  const kg::tensor x({2., nan, 5., 3.});
  std::cout << kg::nanargmax(x) << " " << kg::nanargmin(x) << "\n";
  std::cout << kg::nancumsum(x) << "\n" << kg::nancumprod(x) << "\n";
}
const example for_places_and_scans{"kg::nanargmax kg::nanargmin kg::nancumsum kg::nancumprod",
                                   places_and_scans_beside_nan};

void several_quantiles() {
  const kg::tensor x({7., 1., 3., 5.});
  std::cout << kg::quantile(x, {0.25, 0.5, 1.0}) << "\n" << kg::percentile(x, 25) << "\n";
  std::cout << kg::quantile(x, 0.25, 0, false, kg::quantile_method::hazen) << "\n";
  const kg::tensor gaps({7., nan, 3., 5.});
  std::cout << kg::nanquantile(gaps, 0.25) << " " << kg::nanpercentile(gaps, 25) << "\n";
}
const example for_several_quantiles{"kg::quantile kg::percentile kg::quantile_method kg::nanquantile kg::nanpercentile",
                                    several_quantiles};

void weights_and_deviations() {
  const kg::tensor x({1., 2., 6.});
  std::cout << kg::average(x, kg::tensor({3., 0., 1.})) << "\n";
  std::cout << kg::var(x, 0, false, /*ddof=*/1) << " " << kg::std(x, 0, false, 1) << "\n";
}
const example for_weights_and_deviations{"kg::average kg::var kg::std", weights_and_deviations};

void two_variables() {
  const kg::tensor x({{1., 2., 3.}, {1., 3., 2.}});
  std::cout << kg::cov(x) << "\n" << kg::corrcoef(x) << "\n" << kg::cov(x, {.bias = true}) << "\n";
}
const example for_two_variables{"kg::cov kg::corrcoef", two_variables};

void areas_and_slopes() {
  const kg::tensor y({1., 2., 4.}), x({0., 1., 3.});
  std::cout << kg::trapezoid(y, x) << "\n" << kg::cumulative_trapezoid(y, x) << "\n" << kg::gradient(y, x) << "\n";
}
const example for_areas_and_slopes{"kg::trapezoid kg::cumulative_trapezoid kg::gradient", areas_and_slopes};

void lines_through_points() {
  const kg::tensor xp({0., 1., 3.}), fp({2., 4., 0.});
  std::cout << kg::interp(kg::tensor({0.5, 2., 9.}), xp, fp) << "\n";
  std::cout << kg::interp(kg::tensor({0.5, 2., 9.}), xp, fp, {.right = nan}) << "\n";
}
const example for_lines_through_points{"kg::interp", lines_through_points};

void a_fitted_line() {
  const kg::tensor line = kg::polyfit(kg::tensor({0., 1., 2.}), kg::tensor({1., 3., 5.}), 1);
  std::cout << line << "\n" << kg::polyval(line, kg::tensor({10.})) << "\n";
}
const example for_a_fitted_line{"kg::polyfit kg::polyval", a_fitted_line};

void counts_between_edges() {
  const kg::tensor x({0., 0.5, 1., 2.5, 3.});
  const auto [counts, edges] = kg::histogram(x, 3);
  std::cout << counts << "\n" << edges << "\n";
  std::cout << kg::histogram(x, kg::tensor({0., 1., 3.}), {.density = true}).counts << "\n";
  std::cout << kg::digitize(x, kg::tensor({0., 1., 3.})) << "\n";
}
const example for_counts_between_edges{"kg::histogram kg::digitize", counts_between_edges};

void counts_in_boxes() {
  const kg::tensor x({0., 0.5, 2.}), y({0., 1., 2.});
  std::cout << kg::histogram2d(x, y, {2, 2}).counts << "\n";
  const kg::histogramdd_parts boxes = kg::histogramdd(kg::stack({x, y}, 1), {2, 2});
  std::cout << boxes.counts << "\n" << boxes.edges[0] << "\n";
}
const example for_counts_in_boxes{"kg::histogram2d kg::histogramdd kg::histogramdd_parts", counts_in_boxes};

void counts_of_numbers() {
  std::cout << kg::bincount(kg::tensor({1, 3, 1})) << "\n";
  std::cout << kg::bincount(kg::tensor({1, 0}), {.minlength = 4}) << "\n";
}
const example for_counts_of_numbers{"kg::bincount", counts_of_numbers};

void sorted_and_distinct() {
  const kg::tensor x({5, 2, 5, 3});
  const kg::unique_parts all = kg::unique_all(x);
  std::cout << all.values << "\n" << all.indices << "\n" << all.inverse_indices << "\n" << all.counts << "\n";
}
const example for_sorted_and_distinct{"kg::unique_all kg::unique_parts", sorted_and_distinct};

void parts_of_sets() {
  const kg::tensor x({5, 2, 5, 3});
  const auto [values, counts] = kg::unique_counts(x);
  std::cout << kg::unique_values(x) << " " << counts << " " << kg::unique_inverse(x).inverse_indices << "\n";
}
const example for_parts_of_sets{"kg::unique_values kg::unique_counts kg::unique_inverse", parts_of_sets};

void two_sets() {
  const kg::tensor a({3, 1, 3}), b({3, 4});
  std::cout << kg::isin(a, b) << "\n" << kg::intersect1d(a, b) << "\n" << kg::union1d(a, b) << "\n";
  std::cout << kg::setdiff1d(a, b) << "\n" << kg::setxor1d(a, b) << "\n";
}
const example for_two_sets{"kg::isin kg::intersect1d kg::union1d kg::setdiff1d kg::setxor1d", two_sets};

void orders() {
  const kg::tensor first({1, 0, 1}), second({5, 9, 3});
  std::cout << kg::lexsort({second, first}) << "\n";
  std::cout << kg::partition(second, 1) << " " << kg::argpartition(second, 1) << "\n";
}
const example for_orders{"kg::lexsort kg::partition kg::argpartition", orders};

void stacks() {
  const kg::tensor v({1, 2}), w({3, 4});
  std::cout << kg::vstack({v, w}) << "\n" << kg::hstack({v, w}) << "\n" << kg::column_stack({v, w}) << "\n";
  std::cout << kg::dstack({v, w}) << "\n" << kg::concatenate({v, w}) << "\n";
}
const example for_stacks{"kg::vstack kg::hstack kg::column_stack kg::dstack kg::concatenate", stacks};

void products_of_tensors() {
  const kg::tensor a({{1., 2.}, {3., 4.}}), b({{0., 1.}, {1., 0.}});
  std::cout << kg::tensordot(a, b, 1) << "\n" << kg::tensordot(a, b, {0}, {1}) << "\n" << kg::kron(a, b) << "\n";
  std::cout << kg::cross(kg::tensor({1, 0, 0}), kg::tensor({0, 1, 0})) << "\n";
}
const example for_products_of_tensors{"kg::tensordot kg::kron kg::cross", products_of_tensors};

void numbers_in_place_of_nan() {
  const kg::tensor x({nan, inf, 2.});
  std::cout << kg::nan_to_num(x, {.nan = -1, .posinf = 9}) << "\n";
  std::cout << kg::heaviside(kg::tensor({-2., 0., 3.}), kg::tensor(0.5)) << "\n";
}
const example for_numbers_in_place{"kg::nan_to_num kg::heaviside", numbers_in_place_of_nan};

void angles_and_decimals() {
  std::cout << kg::deg2rad(kg::tensor({180.})) << kg::radians(kg::tensor({90.})) << "\n";
  std::cout << kg::rad2deg(kg::tensor({1.})) << kg::degrees(kg::tensor({2.})) << "\n";
  std::cout << kg::sinc(kg::tensor({0., 0.5})) << "\n" << kg::round(kg::tensor({1.25, 2.71}), 1) << "\n";
}
const example for_angles_and_decimals{"kg::deg2rad kg::radians kg::rad2deg kg::degrees kg::sinc kg::round",
                                      angles_and_decimals};

void spaced_by_factors() { std::cout << kg::logspace(0, 2, 3) << "\n" << kg::geomspace(1, 8, 4) << "\n"; }
const example for_spaced_by_factors{"kg::logspace kg::geomspace", spaced_by_factors};

void choices() {
  const kg::tensor x({-1., 0.5, 3.});
  std::cout << kg::select({x < 0, x < 1}, {x * 0, x}, kg::tensor(1.)) << "\n";
  const auto negated = [](const kg::tensor& t) { return -t; };
  std::cout << kg::piecewise(x, {x < 0}, {negated, [](const kg::tensor& t) { return t * t; }}) << "\n";
}
const example for_choices{"kg::select kg::piecewise", choices};

void flat_indices() {
  const kg::tensor_list at = kg::unravel_index(kg::tensor({4, 5}), {2, 3});
  std::cout << at[0] << " " << at[1] << "\n" << kg::ravel_multi_index(at, {2, 3}) << "\n";
}
const example for_flat_indices{"kg::unravel_index kg::ravel_multi_index", flat_indices};

}  // namespace
