// SPDX-License-Identifier: Apache-2.0
// Data-parallel training on 1 to 4 ranks, compared with an ordinary loop on the whole batch, which every rank runs too.
#include <cstring>

#include "tests/mpi/ranks.h"

namespace {

using namespace kgtest;

struct network {
  kg::variable w1, b1, w2, b2, unused;
  explicit network(int seed)
      : w1(kg::random_normal({6, 8}, 0, 0.5, seed), "w1"),
        b1(kg::zeros({8}), "b1"),
        w2(kg::random_normal({8, 3}, 0, 0.5, seed + 1), "w2"),
        b2(kg::zeros({3}), "b2"),
        unused(kg::ones({5}), "unused") {}
  std::vector<kg::variable> variables() const { return {w1, b1, w2, b2, unused}; }
  tensor operator()(const tensor& x) const { return kg::matmul(kg::tanh(kg::matmul(x, w1) + b1), w2) + b2; }
};

tensor loss_of(const network& net, const tensor& x, const tensor& y) { return kg::mean_squared_error(y, net(x)); }

struct batch {
  tensor x, y;
  tensor x_part(std::int64_t begin, std::int64_t count) const { return kg::slice(x, {begin, 0}, {count, 6}); }
  tensor y_part(std::int64_t begin, std::int64_t count) const { return kg::slice(y, {begin, 0}, {count, 3}); }
};
batch batch_of(int step, std::int64_t size) {
  const tensor x = kg::random_normal({size, 6}, 0, 1, 100 + step);
  return {x, kg::sin(kg::slice(x, {0, 0}, {size, 3}) * 2)};
}

// Sizes of the batches: equal parts, uneven ones, and one with fewer examples than ranks.
constexpr std::int64_t sizes[] = {24, 24, 13, 24, 3, 24};

std::vector<double> alone(double clip) {
  const network net(5);
  kg::adam optimizer(0.02);
  std::vector<double> curve;
  for (int step = 0; step < 6; ++step) {
    const batch all = batch_of(step, sizes[step]);
    auto [value, grads] = kg::variable_grads([&] { return loss_of(net, all.x, all.y); });
    if (clip > 0) kg::clip_by_global_norm(grads, clip);
    optimizer.apply(grads);
    curve.push_back(value.item());
  }
  for (double each : values(net.w1.value())) curve.push_back(each);
  return curve;
}

// Parts of a batch, for one rank more than there are: uneven where the sizes do not divide.
std::vector<double> together(const mpi::data_parallel_options& how, int pieces = 1) {
  const network net(5 + rank());  // rank 0's weights win
  kg::adam optimizer(0.02);
  mpi::data_parallel training(optimizer, {}, net.variables(), how);
  std::vector<double> curve;
  for (int step = 0; step < 6; ++step) {
    const batch all = batch_of(step, sizes[step]);
    const std::int64_t begin = sizes[step] * rank() / ranks(), end = sizes[step] * (rank() + 1) / ranks();
    const auto part = [&](std::int64_t from, std::int64_t to) {
      return [=, &all, &net] { return loss_of(net, all.x_part(from, to - from), all.y_part(from, to - from)); };
    };
    std::int64_t at = begin;
    for (int p = 0; p + 1 < pieces; ++p) {
      const std::int64_t next = begin + (end - begin) * (p + 1) / pieces;
      training.accumulate(part(at, next), next - at);
      at = next;
    }
    curve.push_back(training.minimize(part(at, end), end - at));
  }
  training.check_weights();
  EXPECT_EQ(values(net.unused.value()), doubles(5, 1.0));
  for (double each : values(net.w1.value())) curve.push_back(each);
  return curve;
}

void expect_near(const std::vector<double>& got, const std::vector<double>& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 2e-5 * (1 + std::fabs(wanted[i]))) << i;
}

TEST(data_parallel, has_the_loss_curve_of_one_rank) { expect_near(together({}), alone(0)); }
TEST(data_parallel, clips_by_the_norm_of_all_gradients) { expect_near(together({.clip_norm = 0.05}), alone(0.05)); }
TEST(data_parallel, accumulates_gradients) {
  expect_near(together({}, 3), alone(0));
  expect_near(together({.overlap = false}, 2), alone(0));
}

TEST(data_parallel, repeats_bitwise_whatever_the_buckets_and_the_thread) {
  const std::vector<double> first = together({});
  EXPECT_EQ(together({}), first);
  EXPECT_EQ(together({.overlap = false}), first);
  EXPECT_EQ(together({.first_bucket = 40, .bucket = 200}), first);
  EXPECT_EQ(together({.first_bucket = 1, .bucket = 1, .overlap = false}), first);
}

TEST(data_parallel, cuts_gradients_into_buckets_of_the_sizes_asked_for) {
  const network net(1);
  kg::sgd optimizer(0.1);
  EXPECT_EQ(mpi::data_parallel(optimizer, {}, net.variables()).buckets(), 1);
  // unused, b2: 32 bytes; w2, b1: 128 bytes; w1: 192.
  EXPECT_EQ(mpi::data_parallel(optimizer, {}, net.variables(), {.first_bucket = 40, .bucket = 130}).buckets(), 3);
}

TEST(data_parallel, finds_weights_and_networks_that_differ) {
  const network net(1);
  kg::sgd optimizer(0.1);
  mpi::data_parallel training(optimizer, {}, net.variables());
  if (ranks() == 1) return;
  if (rank() == 1) net.b2.assign(kg::ones({3}));
  EXPECT_TRUE(says(refusal([&] { return training.check_weights(), 0; }), {"other weights on rank 1 than"}));
  std::vector<kg::variable> fewer = net.variables();
  if (rank() == 1) fewer.pop_back();
  EXPECT_TRUE(says(refusal([&] { return mpi::data_parallel(optimizer, {}, fewer), 0; }),
                   {"another network", "rank 1 (4 variables)", "rank 0 (5 variables)"}));
  const std::int64_t size = rank() == 1 ? 80 : 40;
  const mpi::data_parallel_options alike{.first_bucket = size, .bucket = size};
  const mpi::data_parallel_options turned{.first_bucket = size, .bucket = 120 - size};
  for (const mpi::data_parallel_options& how : {alike, turned})
    EXPECT_TRUE(says(refusal([&] { return mpi::data_parallel(optimizer, {}, net.variables(), how), 0; }),
                     {"other options on rank 1"}));
}

TEST(data_parallel, makes_the_error_of_one_rank_an_error_on_every_rank) {
  const network net(1);
  kg::sgd optimizer(0.1);
  const std::vector<kg::variable> good = net.variables(), none, twice{net.w1, net.w1};
  const std::vector<kg::variable> integers{kg::variable(tensor({1}), "n")};
  struct fault {
    std::vector<kg::variable> of;
    mpi::data_parallel_options how;
    const char* text;
  };
  const fault all[] = {{none, {}, "no variables"},
                       {twice, {}, "variable w1 twice"},
                       {integers, {}, "variable n of int32"},
                       {good, {.bucket = 0}, "buckets without bytes"},
                       {good, {.clip_norm = -1}, "largest norm"}};
  const int last = ranks() - 1;
  for (const fault& one : all) {
    const bool here = rank() == last;
    const std::string said = refusal([&] {
      return mpi::data_parallel(optimizer, {}, here ? one.of : good, here ? one.how : mpi::data_parallel_options{}), 0;
    });
    EXPECT_TRUE(says(said, {here ? one.text : "an error on rank " + std::to_string(last)})) << said;
  }
}

TEST(data_parallel, takes_no_step_after_one_that_threw) {
  const network net(1);
  kg::sgd optimizer(0.1);
  const auto throws = []() -> tensor { kg::fail("loss", "a fault", "none"); };
  for (const bool last : {false, true}) {
    mpi::data_parallel training(optimizer, {}, net.variables());
    EXPECT_TRUE(says(refusal([&] { return training.accumulate({}, -1), 0; }), {"-1 examples"}));
    EXPECT_TRUE(says(refusal([&] { return last ? training.minimize(throws) : (training.accumulate(throws), 0); }),
                     {"[loss] got a fault"}));
    EXPECT_TRUE(says(refusal([&] { return training.accumulate(throws), 0; }), {"a call after one that threw"}));
    EXPECT_TRUE(says(refusal([&] { return training.minimize(throws); }), {"a call after one that threw"}));
  }
}

TEST(data_parallel, rejects_settings_that_make_no_sense) {
  const network net(1);
  kg::sgd optimizer(0.1);
  const auto made = [&](std::vector<kg::variable> of, mpi::data_parallel_options how) {
    return refusal([&] { return mpi::data_parallel(optimizer, {}, of, how), 0; });
  };
  EXPECT_TRUE(says(made({}, {}), {"no variables"}));
  EXPECT_TRUE(says(made({net.w1, net.w1}, {}), {"variable w1 twice"}));
  EXPECT_TRUE(says(made({net.w1}, {.bucket = 0}), {"buckets without bytes"}));
  EXPECT_TRUE(says(made({net.w1}, {.clip_norm = -1}), {"largest norm"}));
  EXPECT_TRUE(says(made({kg::variable(tensor({1}), "n")}, {}), {"variable n of int32"}));
  mpi::data_parallel training(optimizer, {}, net.variables());
  EXPECT_TRUE(says(refusal([&] { return training.accumulate({}, -1), 0; }), {"-1 examples"}));
}

}  // namespace
