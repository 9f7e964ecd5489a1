// SPDX-License-Identifier: Apache-2.0
// Composed functions of halves: the result of float32, rounded once.
#include <limits>

#include "tests/sweeps/rounded_once.h"

namespace {

using namespace kgtest;
using kg::tensor;

tensor row(const tensor& x, std::int64_t i) { return kg::reshape(kg::slice(x, {i, 0}, {1, 6}), {6}); }

const function_of_matrix functions[] = {
    {"mean", [](const tensor& x) { return kg::mean(x, 0); }},
    {"sum", [](const tensor& x) { return kg::sum(x, 1); }},
    {"softmax", [](const tensor& x) { return kg::softmax(x); }},
    {"logsumexp", [](const tensor& x) { return kg::logsumexp(x); }},
    {"roll", [](const tensor& x) { return kg::roll(x, 2, 1); }},
    {"diff", [](const tensor& x) { return kg::diff(x); }},
    {"trace", [](const tensor& x) { return kg::trace(x); }},
    {"tril", [](const tensor& x) { return kg::tril(x); }},
    {"norm, inf", [](const tensor& x) { return kg::norm(x, std::numeric_limits<double>::infinity(), 1); }},
    {"log_sigmoid", [](const tensor& x) { return kg::log_sigmoid(x); }},
    {"outer_product", [](const tensor& x) { return kg::outer_product(row(x, 0), row(x, 1)); }},
    {"dot", [](const tensor& x) { return kg::dot(row(x, 0), row(x, 1)); }},
};

TEST(functions_of_halves, are_those_of_float32_rounded_once) { expect_rounded_once(functions, {2, 300}); }

}  // namespace
