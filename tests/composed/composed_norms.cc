// SPDX-License-Identifier: Apache-2.0
// Normalizations against their definitions, element by element.
#include "tests/composed/support.h"

namespace {

using kg::tensor;
using kgtest::check_gradients;
using kgtest::doubles;
using kgtest::expect_refused;
using kgtest::expect_values;
using kgtest::uniform;

// x [batch, places, channels] by the moments of its samples and groups, one number after the other.
doubles normalized_by_groups(const doubles& x, int batch, int places, int channels, int groups, double epsilon) {
  doubles y(x.size());
  const int width = channels / groups;
  for (int b = 0; b < batch; ++b)
    for (int g = 0; g < groups; ++g) {
      const auto each = [&](auto visit) {
        for (int p = 0; p < places; ++p)
          for (int c = g * width; c < (g + 1) * width; ++c)
            visit(static_cast<std::size_t>((b * places + p) * channels + c));
      };
      double mean = 0, variance = 0;
      each([&](std::size_t i) { mean += x[i] / (places * width); });
      each([&](std::size_t i) { variance += (x[i] - mean) * (x[i] - mean) / (places * width); });
      each([&](std::size_t i) { y[i] = (x[i] - mean) / std::sqrt(variance + epsilon); });
    }
  return y;
}

TEST(group_norm, has_the_moments_of_each_sample_and_group) {
  const tensor x = uniform({2, 3, 5, 6}, 1, -3, 7);
  for (const int groups : {1, 2, 3, 6})
    expect_values(kg::group_norm(x, groups, {.epsilon = 0.25}), x.dims(),
                  normalized_by_groups(x.to_doubles(), 2, 15, 6, groups, 0.25));
  expect_values(kg::instance_norm(x, {.epsilon = 0.25}), x.dims(),
                normalized_by_groups(x.to_doubles(), 2, 15, 6, 6, 0.25));
  EXPECT_EQ(kg::group_norm(kg::zeros({0, 2, 4}), 2).dims(), (kg::shape{0, 2, 4}));
}

TEST(group_norm, scales_and_moves_each_channel) {
  const tensor x = uniform({2, 3, 4}, 2), scale = uniform({4}, 3), offset = uniform({4}, 4);
  const tensor plain = kg::group_norm(x, 2);
  expect_values(kg::group_norm(x, 2, {.scale = scale, .offset = offset}), x.dims(),
                (plain * scale + offset).to_doubles());
}

TEST(rms_norm, divides_by_the_root_of_the_mean_square) {
  expect_values(kg::rms_norm(tensor{{3., 4.}, {0., 2.}}, {.epsilon = 0}), {2, 2},
                {3 / std::sqrt(12.5), 4 / std::sqrt(12.5), 0, 2 / std::sqrt(2.)});
  expect_values(kg::rms_norm(tensor({3., 4.}), {.scale = tensor({1., 10.}), .epsilon = 12.5}), {2}, {0.6, 8});
}

TEST(batch_norm_training, gives_the_moments_that_batch_norm_takes) {
  const tensor x = uniform({4, 3, 2}, 5, 1, 9), scale = uniform({2}, 6), offset = uniform({2}, 7);
  const auto [y, mean, variance] = kg::batch_norm_training(x, {.scale = scale, .offset = offset, .epsilon = 0.1});
  const auto known = kg::moments(x, {0, 1});
  expect_values(mean, {2}, known.mean.to_doubles());
  expect_values(variance, {2}, known.variance.to_doubles());
  expect_values(y, x.dims(), ((x - mean) / kg::sqrt(variance + 0.1) * scale + offset).to_doubles());
}

TEST(composed_norms, are_differentiable) {
  const std::vector<tensor> in = {uniform({2, 3, 4}, 8), uniform({4}, 9), uniform({4}, 10)};
  check_gradients(
      "group_norm",
      [](std::span<const tensor> xs) { return kg::group_norm(xs[0], 2, {.scale = xs[1], .offset = xs[2]}); }, in);
  check_gradients(
      "batch_norm_training",
      [](std::span<const tensor> xs) {
        return kg::batch_norm_training(xs[0], {.scale = xs[1], .offset = xs[2], .epsilon = 0.1}).result;
      },
      in);
  check_gradients("rms_norm", [](std::span<const tensor> xs) { return kg::rms_norm(xs[0], {.scale = xs[1]}); },
                  {in[0], in[1]});
}

TEST(composed_norms, refuse_channels_and_groups_that_do_not_fit) {
  const tensor x = kg::zeros({2, 3, 4});
  expect_refused("group_norm", [&] { return kg::group_norm(x, 3); }, {"3 groups of 4 channels"});
  expect_refused("group_norm", [&] { return kg::group_norm(x, 2, {.scale = kg::zeros({3})}); }, {"scale", "[3]"});
  expect_refused("instance_norm", [] { return kg::instance_norm(kg::zeros({2, 3})); }, {"[2, 3]"});
  expect_refused("rms_norm", [&] { return kg::rms_norm(x, {.epsilon = -1}); }, {"epsilon -1"});
  expect_refused("batch_norm_training", [] { return kg::batch_norm_training(kg::zeros({2})).result; }, {"[2]"});
  expect_refused("rms_norm", [] { return kg::rms_norm(tensor({1, 2})); }, {"int32"});
}

}  // namespace
