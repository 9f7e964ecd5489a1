// SPDX-License-Identifier: Apache-2.0
// Functions of several ops on halves: they compute in float32 and round once. Squares of 300 have no float16.
#include "tests/sweeps/rounded_once.h"

namespace {

using namespace kgtest;
using kg::tensor;

tensor chosen(const tensor& x) { return kg::cast(x > 0, x.type()); }

const function_of_matrix functions[] = {
    {"norm", [](const tensor& x) { return kg::norm(x); }},
    {"norm, 1", [](const tensor& x) { return kg::norm(x, 1, 1); }},
    {"norm, fro", [](const tensor& x) { return kg::norm(x, "fro", {0, 1}); }},
    {"euclidean_norm", [](const tensor& x) { return kg::euclidean_norm(x, 0); }},
    {"variance", [](const tensor& x) { return kg::variance(x, 1, false, 1); }},
    {"standard_deviation", [](const tensor& x) { return kg::standard_deviation(x); }},
    {"moments, mean", [](const tensor& x) { return kg::moments(x, 0).mean; }},
    {"moments, variance", [](const tensor& x) { return kg::moments(x, 0).variance; }},
    {"median", [](const tensor& x) { return kg::median(x, 1); }},
    {"quantile", [](const tensor& x) { return kg::quantile(x, 0.3, 1); }},
    {"rms_norm", [](const tensor& x) { return kg::rms_norm(x); }},
    {"group_norm", [](const tensor& x) { return kg::group_norm(x, 2); }},
    {"instance_norm", [](const tensor& x) { return kg::instance_norm(kg::reshape(x, {2, 4, 3})); }},
    {"batch_norm_training", [](const tensor& x) { return kg::batch_norm_training(x).result; }},
    {"moving_average", [](const tensor& x) { return kg::moving_average(x, kg::flip(x), 0.9, {.step = 3.0}); }},
    {"diff", [](const tensor& x) { return kg::diff(x, 2); }},
    {"mean_squared_error", [](const tensor& x) { return kg::mean_squared_error(chosen(x), x); }},
    {"absolute_difference", [](const tensor& x) { return kg::absolute_difference(chosen(x), x); }},
    {"huber_loss", [](const tensor& x) { return kg::huber_loss(chosen(x), x); }},
    {"hinge_loss", [](const tensor& x) { return kg::hinge_loss(chosen(x), x); }},
    {"log_loss", [](const tensor& x) { return kg::log_loss(chosen(x), kg::clip(x, 0, 1)); }},
    {"cosine_distance", [](const tensor& x) { return kg::cosine_distance(chosen(x), x, 1); }},
    {"sigmoid_cross_entropy", [](const tensor& x) { return kg::sigmoid_cross_entropy(chosen(x), x); }},
    {"softmax_cross_entropy_loss", [](const tensor& x) { return kg::softmax_cross_entropy_loss(chosen(x) * 0.25, x); }},
    {"div_no_nan", [](const tensor& x) { return kg::div_no_nan(x, kg::flip(x)); }},
    {"log_add_exp", [](const tensor& x) { return kg::log_add_exp(x, kg::flip(x)); }},
};

TEST(functions_of_several_ops, round_halves_once) { expect_rounded_once(functions, {2, 300}); }

TEST(norms_of_halves, have_no_overflow_where_the_result_has_none) {
  const tensor x = kg::cast(tensor({{300.f, 400.f}}), kg::dtype::float16);
  EXPECT_EQ(kg::norm(x).item(), 500);
  EXPECT_EQ(kg::standard_deviation(x).item(), 50);
  expect_is(kg::rms_norm(x), {{1, 2}, {0.8486328125, 1.130859375}}, 1e-3);
}

}  // namespace
