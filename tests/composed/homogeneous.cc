// SPDX-License-Identifier: Apache-2.0
// The homogeneous functions of kerngrad itself, at numbers of any size, and the functions that do not depend on a
// shift.
#include <limits>

#include "tests/support/homogeneous.h"

#include "tests/composed/support.h"

namespace {

using kg::dtype;
using kg::tensor;
using kgtest::doubles;
using kgtest::homogeneous;
using kgtest::largest_of;
using kgtest::numbers;
using kgtest::values_of;
using kgtest::weighted_gradient;

constexpr double inf = std::numeric_limits<double>::infinity();

tensor plain_batch_norm(const tensor& x) {
  return kg::batch_norm_training(x, {.scale = tensor({2.f, -1.f}), .epsilon = 0}).result;
}

// The numbers with one in each row that is none.
tensor with_nan(const tensor& x) {
  const tensor at = kg::reshape(kg::arange(0, static_cast<double>(x.size())), x.dims());
  return kg::where(kg::mod(at, 4) == 2, kg::full_like(x, std::nan("")), x);
}

// Positions of samples along the last axis, with steps of 1 and 2.
tensor positions(const tensor& y) {
  const tensor at = kg::arange(0, static_cast<double>(y.dims()[y.rank() - 1]));
  return kg::cast(at + kg::floor(at / 2), y.type());
}
// Positions of the interpolation between, on and beyond the points at positions(y).
tensor between(const tensor& y) { return kg::cast(tensor({-1., 0., 0.25, 4.5, 5.125, 11.75, 21., 22.}), y.type()); }
tensor close_interp(const tensor& y) { return kg::interp(between(y) * 0x1p-6, positions(y) * 0x1p-6, y); }
tensor cumulative(const tensor& y, double step) { return kg::cumulative_trapezoid(y, step, 0); }
tensor cumulative(const tensor& y, const tensor& at) { return kg::cumulative_trapezoid(y, at); }
constexpr kg::quantile_method midpoint = kg::quantile_method::midpoint;

tensor response_norm(const tensor& x) { return kg::local_response_normalization(x, {.depth_radius = 1, .bias = 0}); }

const homogeneous functions[] = {
    {"mean", "", {3, 5}, [](const tensor& x) { return kg::mean(x, 1); }},
    {"moments.mean", "", {3, 5}, [](const tensor& x) { return kg::moments(x, 1).mean; }},
    {"moments.variance", "", {3, 5}, [](const tensor& x) { return kg::moments(x, 0).variance; }},
    {"variance", "", {3, 5}, [](const tensor& x) { return kg::variance(x); }},
    {"variance", "of a sample", {3, 5}, [](const tensor& x) { return kg::variance(x, 1, false, 1); }},
    {"standard_deviation", "", {3, 5}, [](const tensor& x) { return kg::standard_deviation(x, 1); }},
    {"standard_deviation", "of a sample", {15}, [](const tensor& x) { return kg::standard_deviation(x, 0, false, 1); }},
    {"norm", "", {3, 5}, [](const tensor& x) { return kg::norm(x, 2, 1); }},
    {"norm", "of order 1", {3, 5}, [](const tensor& x) { return kg::norm(x, 1, 0); }, numbers, true},
    {"norm", "of order infinity", {3, 5}, [](const tensor& x) { return kg::norm(x, inf, {0, 1}); }, numbers, true},
    {"norm", "of Frobenius", {3, 5}, [](const tensor& x) { return kg::norm(x, "fro", {0, 1}); }},
    {"euclidean_norm", "", {3, 5}, [](const tensor& x) { return kg::euclidean_norm(x); }},
    {"layer_norm", "", {3, 5}, [](const tensor& x) { return kg::layer_norm(x, {.epsilon = 0}); }},
    {"layer_norm", "of long rows", {2, 150}, [](const tensor& x) { return kg::layer_norm(x, {.epsilon = 0}); }},
    {"rms_norm", "", {3, 5}, [](const tensor& x) { return kg::rms_norm(x, {.epsilon = 0}); }},
    {"group_norm", "", {2, 3, 4}, [](const tensor& x) { return kg::group_norm(x, 2, {.epsilon = 0}); }},
    {"instance_norm", "", {2, 5, 2}, [](const tensor& x) { return kg::instance_norm(x, {.epsilon = 0}); }},
    {"batch_norm_training.result", "", {7, 2}, plain_batch_norm},
    {"batch_norm_training.mean", "", {7, 2}, [](const tensor& x) { return kg::batch_norm_training(x).mean; }},
    {"batch_norm_training.variance", "", {7, 2}, [](const tensor& x) { return kg::batch_norm_training(x).variance; }},
    {"local_response_normalization", "", {1, 4, 5}, response_norm},
    {"gram_schmidt", "", {3, 5}, [](const tensor& x) { return kg::gram_schmidt(x); }},
    {"qr.q", "", {2, 4, 3}, [](const tensor& x) { return kg::qr(x).q; }},
    {"qr.r", "", {2, 4, 3}, [](const tensor& x) { return kg::qr(x).r; }},
    {"qr.r", "of large diagonals", {4, 3}, [](const tensor& x) { return kg::qr(x).r; }, kgtest::dominant},
    {"absolute_difference", "", {3, 5}, [](const tensor& x) { return kg::absolute_difference(x, kg::zeros_like(x)); }},
    {"nanmean", "", {3, 5}, [](const tensor& x) { return kg::nanmean(with_nan(x), 1); }},
    {"nanmax", "", {3, 5}, [](const tensor& x) { return kg::nanmax(with_nan(x), 1); }, numbers, true},
    {"nanmin", "", {3, 5}, [](const tensor& x) { return kg::nanmin(with_nan(x), 0); }, numbers, true},
    {"nanvar", "", {3, 5}, [](const tensor& x) { return kg::nanvar(with_nan(x), 1); }},
    {"nanvar", "of a sample", {3, 5}, [](const tensor& x) { return kg::nanvar(with_nan(x), 0, false, 1); }},
    {"nanstd", "", {3, 5}, [](const tensor& x) { return kg::nanstd(with_nan(x), 1); }},
    {"var", "", {3, 5}, [](const tensor& x) { return kg::var(x, 1); }},
    {"std", "", {3, 5}, [](const tensor& x) { return kg::std(x, 1); }},
    {"cov", "", {3, 5}, [](const tensor& x) { return kg::cov(x); }},
    {"cov", "with weights", {3, 5}, [](const tensor& x) { return kg::cov(x, {.aweights = tensor({1, 2, 1, 3, 1})}); }},
    {"corrcoef", "", {3, 5}, [](const tensor& x) { return kg::corrcoef(x); }},
    {"median", "", {3, 5}, [](const tensor& x) { return kg::median(x, 1); }},
    {"quantile", "", {3, 5}, [](const tensor& x) { return kg::quantile(x, 0.3, 1); }},
    {"quantile", "of several shares", {3, 5}, [](const tensor& x) { return kg::quantile(x, {0.1, 0.5, 0.97}); }},
    {"quantile", "by the midpoint", {15}, [](const tensor& x) { return kg::quantile(x, 0.4, 0, false, midpoint); }},
    {"percentile", "", {3, 5}, [](const tensor& x) { return kg::percentile(x, 85, 0); }},
    {"nanquantile", "", {3, 5}, [](const tensor& x) { return kg::nanquantile(with_nan(x), 0.3, 1); }},
    {"nanpercentile", "", {3, 5}, [](const tensor& x) { return kg::nanpercentile(with_nan(x), 85, 0); }},
    {"nanmedian", "", {3, 5}, [](const tensor& x) { return kg::nanmedian(with_nan(x), 1); }},
    {"trapezoid", "", {3, 5}, [](const tensor& y) { return kg::trapezoid(y); }},
    {"trapezoid", "with small steps", {3, 5}, [](const tensor& y) { return kg::trapezoid(y, 0.01, 0); }},
    {"trapezoid", "with large steps", {3, 5}, [](const tensor& y) { return kg::trapezoid(y, 100); }},
    {"trapezoid", "at positions", {15}, [](const tensor& y) { return kg::trapezoid(y, positions(y)); }},
    {"trapezoid", "at positions of rows", {3, 5}, [](const tensor& y) { return kg::trapezoid(y, positions(y)); }},
    {"cumulative_trapezoid", "", {3, 5}, [](const tensor& y) { return kg::cumulative_trapezoid(y); }},
    {"cumulative_trapezoid", "with small steps", {15}, [](const tensor& y) { return cumulative(y, 0.01); }},
    {"cumulative_trapezoid", "at positions", {3, 5}, [](const tensor& y) { return cumulative(y, positions(y)); }},
    {"gradient", "", {3, 5}, [](const tensor& y) { return kg::gradient(y); }},
    {"gradient", "with large steps", {3, 5}, [](const tensor& y) { return kg::gradient(y, 12.5); }},
    {"gradient", "of second order", {3, 5}, [](const tensor& y) { return kg::gradient(y, 4, -1, 2); }},
    {"gradient", "at positions", {3, 5}, [](const tensor& y) { return kg::gradient(y, positions(y) * 4, -1, 2); }},
    {"interp", "", {15}, [](const tensor& y) { return kg::interp(between(y), positions(y), y); }},
    {"interp", "of close points", {15}, [](const tensor& y) { return close_interp(y); }},
    {"mean_squared_error", "", {3, 5}, [](const tensor& x) { return kg::mean_squared_error(x, kg::zeros_like(x)); }},
};

// MODULES is the folder of the interfaces. tests/linalg/homogeneous.cc has the functions of kerngrad.linalg.
const kgtest::degrees_by_name& degrees() {
  static const kgtest::degrees_by_name found = kgtest::declared_degrees(MODULES, "linalg");
  return found;
}

void check_all(dtype type, int step) { kgtest::check_homogeneous(functions, degrees(), type, step); }

TEST(homogeneous, functions_are_those_whose_docstrings_declare_a_degree) {
  kgtest::expect_all_tested(functions, degrees());
}

TEST(homogeneous, functions_scale_with_their_operands_in_float32) { check_all(dtype::float32, 3); }
TEST(homogeneous, functions_scale_with_their_operands_in_float64) { check_all(dtype::float64, 29); }
TEST(homogeneous, functions_scale_with_their_operands_in_float16) { check_all(dtype::float16, 1); }
TEST(homogeneous, functions_scale_with_their_operands_in_bfloat16) { check_all(dtype::bfloat16, 11); }

// ------------------------------------------------------------------------------------------ shifts

struct shifted {
  const char* name;
  std::function<tensor(const tensor&)> f;
  bool moves = false;  // by the shift; else the result stays
};

const shifted invariant[] = {
    {"softmax", [](const tensor& x) { return kg::softmax(x); }},
    {"log_softmax", [](const tensor& x) { return kg::log_softmax(x); }},
    {"log_sum_exp", [](const tensor& x) { return kg::logsumexp(x, -1); }, true},
    {"variance", [](const tensor& x) { return kg::variance(x, 1); }},
    {"standard_deviation", [](const tensor& x) { return kg::standard_deviation(x, 1); }},
    {"layer_norm", [](const tensor& x) { return kg::layer_norm(x, {.epsilon = 0}); }},
    {"group_norm", [](const tensor& x) { return kg::group_norm(kg::reshape(x, {3, 5, 1}), 1, {.epsilon = 0}); }},
    {"batch_norm_training", [](const tensor& x) { return kg::batch_norm_training(x, {.epsilon = 0}).result; }},
};

void check_shifts(const shifted& of, dtype type, double epsilon) {
  const tensor x = kg::cast(numbers({3, 5}), type);
  const doubles wanted = values_of(of.f(x)), slopes = values_of(weighted_gradient(of.f, x));
  // Sums with the numbers, which have four bits, are exact.
  for (double shift = 1; shift * epsilon <= 0x1p-1; shift *= 2) {
    SCOPED_TRACE(std::string(of.name) + " of " + std::string(name_of(type)) + ", moved by " + std::to_string(shift));
    const tensor moved = x + shift;
    doubles got = values_of(of.f(moved));
    const double error = (largest_of(wanted) + (of.moves ? shift : 0)) * 64 * epsilon;
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_NEAR(got[i], wanted[i] + (of.moves ? shift : 0), error) << "element " << i;
    got = values_of(weighted_gradient(of.f, moved));
    for (std::size_t i = 0; i < got.size(); ++i)
      ASSERT_NEAR(got[i], slopes[i], largest_of(slopes) * 128 * epsilon) << "slope of element " << i;
  }
}

TEST(shift_invariant, functions_do_not_depend_on_what_all_elements_have_in_common) {
  for (const shifted& of : invariant) {
    check_shifts(of, dtype::float32, 0x1p-23);
    check_shifts(of, dtype::float64, 0x1p-52);
  }
}

}  // namespace
