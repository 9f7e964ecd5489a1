// SPDX-License-Identifier: Apache-2.0
// Losses against their definitions element by element, with weights and reductions of every kind.
#include <limits>

#include "tests/composed/support.h"

namespace {

using kg::loss_reduction;
using kg::tensor;
using kgtest::check_gradients;
using kgtest::doubles;
using kgtest::expect_refused;
using kgtest::expect_values;
using kgtest::uniform;

constexpr loss_reduction every_reduction[] = {loss_reduction::none, loss_reduction::mean, loss_reduction::sum,
                                              loss_reduction::sum_by_nonzero_weights};

// Reduction of the losses by the definition; `weights` has one for each.
double reduced(const doubles& losses, const doubles& weights, loss_reduction how) {
  double total = 0, weight = 0, count = 0;
  for (std::size_t i = 0; i < losses.size(); ++i)
    total += losses[i] * weights[i], weight += weights[i], count += weights[i] != 0;
  return how == loss_reduction::sum ? total : total / (how == loss_reduction::mean ? weight : count);
}

TEST(compute_weighted_loss, reduces_as_the_definition_says_for_weights_of_every_shape) {
  const tensor losses({1.0, 2.0, 3.0, 4.0, 5.0, 6.0}, {2, 3});
  const struct {
    tensor weights;
    doubles spread;
  } cases[] = {{tensor(), {1, 1, 1, 1, 1, 1}},
               {tensor(0.5), {0.5, 0.5, 0.5, 0.5, 0.5, 0.5}},
               {tensor({0.0, 2.0, 1.0}), {0, 2, 1, 0, 2, 1}},
               {tensor({3.0, 0.0}, {2, 1}), {3, 3, 3, 0, 0, 0}},
               {tensor({1.0, 0.0, 2.0, -5.0, 0.0, 6.0}, {2, 3}), {1, 0, 2, -5, 0, 6}}};
  for (const auto& [weights, spread] : cases)
    for (loss_reduction how : every_reduction) {
      const tensor got = kg::compute_weighted_loss(losses, {.weights = weights, .reduction = how});
      doubles all = losses.to_doubles();
      if (how == loss_reduction::none) {
        for (std::size_t i = 0; i < 6; ++i) all[i] *= spread[i];
        expect_values(got, {2, 3}, all);
      } else {
        expect_values(got, {}, {reduced(all, spread, how)});
      }
    }
  EXPECT_TRUE(std::isnan(kg::compute_weighted_loss(losses, {.weights = tensor(0.0)}).item()));
  EXPECT_EQ(kg::compute_weighted_loss(tensor({1.f, 3.f})).type(), kg::dtype::float32);
  EXPECT_EQ(kg::compute_weighted_loss(tensor({1, 2})).item<float>(), 1.5f);
  const tensor bytes = kg::cast(tensor({0, 1}), kg::dtype::uint8), more = kg::cast(tensor({200, 3}), kg::dtype::uint8);
  expect_values(kg::absolute_difference(bytes, more, {.reduction = loss_reduction::none}), {2}, {200, 2});
  expect_values(kg::hinge_loss(bytes, bytes, {.reduction = loss_reduction::none}), {2}, {1, 0});
}

TEST(losses, are_what_their_definitions_say) {
  const tensor labels({0.0, 1.0, 1.0, 0.0}), near({0.2, 0.9, 0.4, 0.7}), far({-3.0, 0.5, 2.5, 700.0});
  const auto compare = [](const tensor& got, const tensor& a, const tensor& b, auto each) {
    doubles wanted, first = a.to_doubles(), second = b.to_doubles();
    for (std::size_t i = 0; i < first.size(); ++i) wanted.push_back(each(first[i], second[i]));
    expect_values(got, a.dims(), wanted, 1e-9);
  };
  constexpr loss_reduction none = loss_reduction::none;
  compare(kg::absolute_difference(labels, far, {.reduction = none}), labels, far,
          [](double y, double p) { return std::fabs(y - p); });
  compare(kg::mean_squared_error(labels, far, {.reduction = none}), labels, far,
          [](double y, double p) { return (y - p) * (y - p); });
  compare(kg::hinge_loss(labels, far, {.reduction = none}), labels, far,
          [](double y, double p) { return std::fmax(0, 1 - (y > 0 ? p : -p)); });
  for (double delta : {0.5, 2.0})
    compare(kg::huber_loss(labels, far, {.delta = delta, .reduction = none}), labels, far, [&](double y, double p) {
      const double e = std::fabs(y - p);
      return e <= delta ? e * e / 2 : delta * e - delta * delta / 2;
    });
  for (double epsilon : {1e-7, 0.5})
    compare(kg::log_loss(labels, near, {.epsilon = epsilon, .reduction = none}), labels, near,
            [&](double y, double p) { return -std::log((y > 0 ? p : 1 - p) + epsilon); });
  for (double smoothing : {0.0, 0.25})
    compare(kg::sigmoid_cross_entropy(labels, far, {.label_smoothing = smoothing, .reduction = none}), labels, far,
            [&](double y, double x) {
              const double wanted = y * (1 - smoothing) + smoothing / 2;
              const double here = x < 0 ? x - std::log1p(std::exp(x)) : -std::log1p(std::exp(-x));
              return -wanted * here - (1 - wanted) * (here - x);
            });
}

TEST(huber_loss, has_the_gradients_of_its_definition_up_to_infinity) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  const doubles errors{-inf, -3, -0.5, 0, 1e-30, 0.5, 2, inf};
  for (const kg::dtype type : {kg::dtype::float64, kg::dtype::float32})
    for (const double delta : {0.25, 2.0, 1e30, 1e300, inf}) {
      const tensor x = kg::cast(tensor(errors), type), zeros = kg::zeros_like(x);
      const auto loss = [&](const tensor& t) {
        return kg::huber_loss(zeros, t, {.delta = delta, .reduction = loss_reduction::none});
      };
      const doubles values = loss(x).to_doubles();
      const doubles slopes = kg::grad([&](const tensor& t) { return kg::sum(loss(t)); })(x).to_doubles();
      for (std::size_t i = 0; i < errors.size(); ++i) {
        const double e = errors[i], size = std::fabs(e), wanted = size <= delta ? e : std::copysign(delta, e);
        const double value = size <= delta ? e * e / 2 : delta * (size - delta / 2);
        const bool is_squared = std::isinf(delta) || (type == kg::dtype::float32 && delta > 1e38);
        if (std::isfinite(e)) EXPECT_NEAR(values[i], value, 1e-6) << e << " with delta " << delta;
        else EXPECT_EQ(values[i], inf);
        if (is_squared || wanted == 0) EXPECT_EQ(static_cast<float>(slopes[i]), static_cast<float>(e)) << delta;
        else EXPECT_NEAR(slopes[i] / wanted, 1, 1e-6) << e << " with delta " << delta;
      }
    }
}

TEST(sigmoid_cross_entropy, is_accurate_where_the_logits_are_large) {
  const auto of = [](double label, double logit) {
    return kg::sigmoid_cross_entropy(tensor({label}), tensor({logit})).item();
  };
  EXPECT_NEAR(of(1, 40) / std::exp(-40), 1, 1e-12);
  EXPECT_NEAR(of(0, -40) / std::exp(-40), 1, 1e-12);
  EXPECT_EQ(of(0, 1e300), 1e300);
}

TEST(cosine_distance, takes_the_product_along_an_axis) {
  const tensor a({1.0, 0.0, 0.6, 0.8}, {2, 2}), b({1.0, 0.0, -0.8, 0.6}, {2, 2});
  expect_values(kg::cosine_distance(a, b, 1, {.reduction = loss_reduction::none}), {2, 1}, {0, 1});
  expect_values(kg::cosine_distance(a, b, -1), {}, {0.5});
  expect_refused("cosine_distance", [&] { return kg::cosine_distance(a, b, 2); }, {"axis 2"});
}

TEST(softmax_cross_entropy_loss, has_a_loss_for_each_row) {
  const tensor labels({1.0, 0.0, 0.0, 0.0, 0.5, 0.5}, {2, 3}), logits({2.0, 1.0, -1.0, 0.0, 0.0, 3.0}, {2, 3});
  for (double smoothing : {0.0, 0.3}) {
    doubles rows;
    for (std::size_t row = 0; row < 2; ++row) {
      const doubles y = labels.to_doubles(), x = logits.to_doubles();
      double sum = 0, loss = 0;
      for (std::size_t i = 3 * row; i < 3 * row + 3; ++i) sum += std::exp(x[i]);
      for (std::size_t i = 3 * row; i < 3 * row + 3; ++i)
        loss -= (y[i] * (1 - smoothing) + smoothing / 3) * (x[i] - std::log(sum));
      rows.push_back(loss);
    }
    expect_values(kg::softmax_cross_entropy_loss(labels, logits,
                                                 {.label_smoothing = smoothing, .reduction = loss_reduction::none}),
                  {2}, rows);
    expect_values(
        kg::softmax_cross_entropy_loss(labels, logits, {.weights = tensor({2.0, 0.0}), .label_smoothing = smoothing}),
        {}, {2 * rows[0]});
  }
}

TEST(softmax_cross_entropy_loss, of_numbers_of_classes_is_that_of_their_shares) {
  const tensor logits = uniform({2, 3, 4}, 5, -3, 3), numbers({3, 0, 1, 2, 2, 0}, {2, 3});
  const tensor shares = kg::cast(kg::one_hot(numbers, 4), kg::dtype::float64);
  for (kg::dtype type : {kg::dtype::int32, kg::dtype::int64, kg::dtype::uint8})
    for (double smoothing : {0.0, 0.3})
      for (loss_reduction how : every_reduction) {
        const kg::cross_entropy_options options{
            .weights = uniform({3}, 6, 0, 1), .label_smoothing = smoothing, .reduction = how};
        const tensor wanted = kg::softmax_cross_entropy_loss(shares, logits, options);
        expect_values(kg::softmax_cross_entropy_loss(kg::cast(numbers, type), logits, options), wanted.dims(),
                      wanted.to_doubles());
      }
  check_gradients("of logits",
                  [&](std::span<const tensor> in) {
                    return kg::softmax_cross_entropy_loss(numbers, in[0], {.label_smoothing = 0.1});
                  },
                  {logits});
  expect_values(kg::softmax_cross_entropy_loss(tensor(1), tensor({0.0, 0.0})), {}, {std::log(2)});
  EXPECT_EQ(kg::softmax_cross_entropy_loss(kg::zeros({0}, kg::dtype::int32), kg::zeros({0, 3}),
                                           {.reduction = loss_reduction::none})
                .dims(),
            (kg::shape{0}));
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_EQ(kg::softmax_cross_entropy_loss(tensor(0), tensor({1.0, -inf})).item(), 0) << "a class that is ruled out";
  for (int wrong : {-1, 4})
    expect_refused("softmax_cross_entropy_loss",
                   [&] { return kg::softmax_cross_entropy_loss(tensor({0, wrong}), kg::zeros({2, 4})); },
                   {wrong < 0 ? "label -1" : "label 4", "0 to 3"});
  expect_refused("softmax_cross_entropy_loss",
                 [&] { return kg::softmax_cross_entropy_loss(tensor({0, 1}), kg::zeros({3, 4})); },
                 {"labels of shape [2]", "logits of shape [3, 4]"});
}

TEST(losses, refuse_other_shapes_weights_and_options) {
  const tensor a = kg::ones({2, 3}), b = kg::ones({3, 2});
  expect_refused("absolute_difference", [&] { return kg::absolute_difference(a, b); }, {"operand labels", "one shape"});
  expect_refused("mean_squared_error", [&] { return kg::mean_squared_error(a, b); }, {"predictions", "one shape"});
  expect_refused("hinge_loss", [&] { return kg::hinge_loss(a, tensor()); }, {"operand predictions"});
  expect_refused("huber_loss", [&] { return kg::huber_loss(a, a, {.delta = 0}); }, {"delta 0"});
  expect_refused("log_loss", [&] { return kg::log_loss(tensor(), a); }, {"operand labels"});
  expect_refused("log_loss", [&] { return kg::log_loss(a, a, {.weights = b}); }, {"operand weights", "broadcasts"});
  expect_refused("compute_weighted_loss",
                 [&] { return kg::compute_weighted_loss(a, {.weights = kg::ones({2, 2, 3})}); }, {"operand weights"});
  expect_refused("sigmoid_cross_entropy", [&] { return kg::sigmoid_cross_entropy(a, a, {.label_smoothing = 2}); },
                 {"label_smoothing 2"});
  expect_refused("softmax_cross_entropy_loss", [&] { return kg::softmax_cross_entropy_loss(a, b); },
                 {"operand logits", "one shape"});
  expect_refused("softmax_cross_entropy_loss", [&] { return kg::softmax_cross_entropy_loss(tensor(1.0), tensor(1.0)); },
                 {"operand labels", "rank"});
}

TEST(losses, are_differentiable_in_labels_predictions_and_weights) {
  // Away from the kinks: labels below the predictions by less than delta, predictions inside of (0, 1).
  const tensor labels = uniform({2, 3}, 1, 0.1, 0.3), predictions = uniform({2, 3}, 2, 0.5, 0.8);
  const tensor weights = uniform({2, 1}, 3, 0.5, 2), rows = uniform({2}, 4, 0.5, 2);
  using in = std::span<const tensor>;
  const auto check = [&](const char* name, auto loss, const tensor& w) {
    for (loss_reduction how : every_reduction)
      check_gradients(name, [&](in x) { return loss(x, how); }, {labels, predictions, w});
  };
  check(
      "absolute_difference",
      [](in x, auto how) { return kg::absolute_difference(x[0], x[1], {.weights = x[2], .reduction = how}); }, weights);
  check(
      "mean_squared_error",
      [](in x, auto how) { return kg::mean_squared_error(x[0], x[1], {.weights = x[2], .reduction = how}); }, weights);
  check(
      "hinge_loss", [](in x, auto how) { return kg::hinge_loss(x[0], x[1], {.weights = x[2], .reduction = how}); },
      weights);
  check(
      "huber_loss",
      [](in x, auto how) { return kg::huber_loss(x[0], x[1], {.weights = x[2], .delta = 0.1, .reduction = how}); },
      weights);
  check(
      "log_loss", [](in x, auto how) { return kg::log_loss(x[0], x[1], {.weights = x[2], .reduction = how}); },
      weights);
  check(
      "sigmoid_cross_entropy",
      [](in x, auto how) {
        return kg::sigmoid_cross_entropy(x[0], x[1], {.weights = x[2], .label_smoothing = 0.1, .reduction = how});
      },
      weights);
  check(
      "cosine_distance",
      [](in x, auto how) { return kg::cosine_distance(x[0], x[1], 1, {.weights = x[2], .reduction = how}); }, weights);
  check(
      "softmax_cross_entropy_loss",
      [](in x, auto how) {
        return kg::softmax_cross_entropy_loss(x[0], x[1], {.weights = x[2], .label_smoothing = 0.1, .reduction = how});
      },
      rows);
}

}  // namespace
