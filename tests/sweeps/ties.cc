// SPDX-License-Identifier: Apache-2.0
// Gradients at ties and kinks: ties share the gradient, as torch's amax and JAX have it, and roots of 0 have slope 0.
#include <limits>

#include "tests/sweeps/drawn.h"

namespace {

using namespace kgtest;
using kg::dtype;
using kg::shape;
using kg::tensor;

constexpr double infinity = std::numeric_limits<double>::infinity();
using unary = std::function<tensor(const tensor&)>;

// The gradient of a function of a list of numbers, and its derivative along ones.
struct kink {
  std::string name;
  unary of;
  doubles x, gradient;
};

tensor twice_in_a_bag(const tensor& x) {
  return kg::embedding_bag(kg::reshape(x, {-1, 1}), tensor({0, 1, 0}), tensor({0}), {.mode = kg::bag_mode::max});
}
tensor pair_distances(const tensor& x) {
  const tensor rows = kg::reshape(x, {-1, 2});
  return kg::sum(kg::euclidean_norm(kg::expand_dims(rows, 0) - kg::expand_dims(rows, 1), -1));
}

const kink kinks[] = {
    {"abs", [](const tensor& x) { return kg::abs(x); }, {0, -2, 3}, {0, -1, 1}},
    {"max", [](const tensor& x) { return kg::max(x); }, {2, 2}, {0.5, 0.5}},
    {"max", [](const tensor& x) { return kg::max(x); }, {3, 1, 3, 3}, {1.0 / 3, 0, 1.0 / 3, 1.0 / 3}},
    {"min", [](const tensor& x) { return kg::min(x); }, {-1, -1, 0}, {0.5, 0.5, 0}},
    {"max of rows", [](const tensor& x) { return kg::max(kg::reshape(x, {2, 2}), 1); }, {1, 1, 4, 5}, {0.5, 0.5, 0, 1}},
    {"norm of order infinity", [](const tensor& x) { return kg::norm(x, infinity); }, {2, -2, 1}, {0.5, -0.5, 0}},
    {"norm of order -infinity", [](const tensor& x) { return kg::norm(x, -infinity); }, {2, -2, 3}, {0.5, -0.5, 0}},
    {"segment_max", [](const tensor& x) { return kg::segment_max(x, tensor({0, 0, 1}), 2); }, {1, 1, 7}, {0.5, 0.5, 1}},
    {"segment_min",
     [](const tensor& x) { return kg::segment_min(x, tensor({0, 0, 0}), 1); },
     {1, 1, 1},
     {1.0 / 3, 1.0 / 3, 1.0 / 3}},
    {"scatter_max, x",
     [](const tensor& x) { return kg::scatter_max(x, tensor({{0}}), tensor({2.0})); },
     {2, 5},
     {0.5, 1}},
    {"scatter_min, updates",
     [](const tensor& x) {
       return kg::scatter_min(kg::zeros({1}, dtype::float64), kg::zeros({2, 1}, dtype::int32), x);
     },
     {-3, -3},
     {0.5, 0.5}},
    {"a row twice in a bag", twice_in_a_bag, {4, 1}, {1, 0}},
    {"norm", [](const tensor& x) { return kg::norm(x); }, {0, 0}, {0, 0}},
    {"euclidean_norm of rows",
     [](const tensor& x) { return kg::euclidean_norm(kg::reshape(x, {2, 2}), 1); },
     {0, 0, 3, 4},
     {0, 0, 0.6, 0.8}},
    {"standard_deviation", [](const tensor& x) { return kg::standard_deviation(x); }, {5, 5, 5}, {0, 0, 0}},
    {"pair distances", pair_distances, {0, 0, 3, 4}, {-1.2, -1.6, 1.2, 1.6}},
    {"log_add_exp of equals",
     [](const tensor& x) { return kg::log_add_exp(x, kg::stop_gradient(x)); },
     {1, -4},
     {0.5, 0.5}},
};

TEST(gradients, are_shared_by_ties_and_0_at_kinks) {
  for (const kink& k : kinks) {
    SCOPED_TRACE(k.name);
    const tensor x(k.x);
    const unary total = [&](const tensor& t) { return kg::sum(k.of(t)); };
    expect_is(kg::grad(total)(x), {x.dims(), k.gradient}, 1e-15);
    double along = 0;
    for (const double slope : k.gradient) along += slope;
    EXPECT_NEAR(kg::jvp(total)(x, kg::ones_like(x)).tangent.item(), along, 1e-14);
  }
}

TEST(gradients, of_an_element_that_an_update_names_twice_count_it_once) {
  const auto f = [](const tensor& x, const tensor& v) { return kg::sum(x.at(tensor({0, 0})).max(v)); };
  const auto grads = kg::grads(f)(tensor({0.0, 1.0}), tensor({3.0, 3.0}));
  expect_is(grads[0], {{2}, {0, 1}});
  expect_is(grads[1], {{2}, {0.5, 0.5}});
}

struct second_order {
  std::string name;
  unary of;
  doubles x, hessian;
};
const second_order curves[] = {
    {"log_add_exp(a, a)",
     [](const tensor& x) { return kg::log_add_exp(kg::slice(x, {0}, {1}), kg::slice(x, {1}, {1})); },
     {1, 1},
     {0.25, -0.25, -0.25, 0.25}},
    {"x^y at (23, 0)",
     [](const tensor& x) { return kg::pow(kg::slice(x, {0}, {1}), kg::slice(x, {1}, {1})); },
     {23, 0},
     {0, 1.0 / 23, 1.0 / 23, std::log(23.0) * std::log(23.0)}},
};

TEST(hessians, are_symmetric_and_right_where_terms_vanish) {
  for (const second_order& c : curves) {
    SCOPED_TRACE(c.name);
    const tensor h = kg::hessian([&](const tensor& t) { return kg::sum(c.of(t)); })(tensor(c.x));
    expect_is(h, {{2, 2}, c.hessian}, 1e-14);
  }
}

}  // namespace
