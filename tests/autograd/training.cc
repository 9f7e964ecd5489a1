// SPDX-License-Identifier: Apache-2.0
// Parts of training next to gradients: rates that change, groups, decay, clipping, resumed state,
// generators, batches and weight initialization.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <numbers>
#include <set>
#include <string>
#include <vector>

#include "tests/support/refusal.h"

namespace {

using kg::dtype;
using kg::generator;
using kg::schedule;
using kg::tensor;
using kg::variable;
using kgtest::accepted;
using kgtest::refusal;
using kgtest::says;
using doubles = std::vector<double>;

bool same_bits(const tensor& a, const tensor& b) {
  return a.signature() == b.signature() &&
         std::memcmp(a.address(), b.address(), static_cast<std::size_t>(a.size()) * kg::size_of(a.type())) == 0;
}

std::vector<kg::variable_gradient> gradient(const variable& v, double g) {
  return {{v, kg::full(v.value().dims(), g, v.value().type())}};
}

// ------------------------------------------------------------------------------------------ schedules

TEST(schedules, are_what_their_formulas_say) {
  using std::numbers::pi;
  const struct {
    schedule rate;
    std::vector<std::int64_t> steps;
    doubles wanted;
  } cases[] = {
      {0.5, {0, 7, 1000}, {0.5, 0.5, 0.5}},
      {[](std::int64_t step) { return 1.0 / static_cast<double>(1 + step); }, {0, 3}, {1, 0.25}},
      {kg::step_schedule(0.8, 10, 0.5), {0, 9, 10, 25}, {0.8, 0.8, 0.4, 0.2}},
      {kg::exponential_schedule(1, 10, 0.01, 0.001), {0, 5, 10, 100}, {1, 0.1, 0.01, 0.001}},
      {kg::linear_schedule(1, 3, 4), {0, 1, 4, 9}, {1, 1.5, 3, 3}},
      {kg::cosine_schedule(2, 8, 1), {0, 2, 4, 8, 99}, {2, 1 + (1 + std::cos(pi / 4)) / 2, 1.5, 1, 1}},
      {kg::warm_up(4, kg::cosine_schedule(2, 8)), {0, 1, 3, 4, 8, 12, 20}, {0, 0.5, 1.5, 2, 1, 0, 0}},
      {kg::chain_schedules({{1, 2}, {kg::linear_schedule(5, 7, 2), 3}, {9, 0}}),
       {0, 1, 2, 3, 4, 5, 50},
       {1, 1, 5, 6, 7, 9, 9}},
  };
  for (const auto& c : cases)
    for (std::size_t i = 0; i < c.steps.size(); ++i)
      EXPECT_NEAR(c.rate(c.steps[i]), c.wanted[i], 1e-15) << &c - cases << " at " << c.steps[i];
}

TEST(schedules, refuse_steps_below_1) {
  EXPECT_TRUE(says(refusal([] { return kg::step_schedule(1, 0, 0.5)(0); }), {"[kg::step_schedule]", "0", "1 or more"}));
  EXPECT_TRUE(says(refusal([] { return kg::cosine_schedule(1, -1)(0); }), {"[kg::cosine_schedule]", "-1"}));
  EXPECT_TRUE(says(refusal([] { return kg::warm_up(0, 1)(0); }), {"[kg::warm_up]"}));
  EXPECT_TRUE(says(refusal([] { return kg::chain_schedules({{1, 0}, {2, 0}})(0); }), {"[kg::chain_schedules]", "0"}));
  EXPECT_TRUE(says(refusal([] { return kg::chain_schedules({})(0); }), {"[kg::chain_schedules]"}));
}

// ------------------------------------------------------------------------------------------ rates and groups

TEST(an_optimizer, takes_the_rate_that_its_schedule_has_for_the_step) {
  const variable v(tensor(0.0));
  kg::sgd by_schedule([](std::int64_t step) { return std::pow(10.0, static_cast<double>(step)); });
  for (int i = 0; i < 3; ++i) by_schedule.apply(gradient(v, -1));
  EXPECT_EQ(v.value().item(), 111);
  EXPECT_EQ(by_schedule.steps(), 3);
  EXPECT_EQ(by_schedule.learning_rate(), 1000);
  by_schedule.set_learning_rate(0.5);
  by_schedule.apply(gradient(v, 1));
  EXPECT_EQ(v.value().item(), 110.5);
  by_schedule.set_learning_rate(std::numeric_limits<double>::quiet_NaN());
  EXPECT_TRUE(says(refusal([&] { return by_schedule.apply(gradient(v, 1)), 0; }), {"[apply]", "rate", "4 steps"}));
  EXPECT_EQ(v.value().item(), 110.5);
  EXPECT_EQ(by_schedule.steps(), 4) << "a refused step is none";
}

TEST(an_optimizer, shrinks_weights_apart_from_the_gradient) {
  for (dtype type : {dtype::float32, dtype::float64}) {
    const variable v(kg::ones({5}, type)), w(kg::ones({5}, type));
    kg::sgd with_decay(0.5);
    with_decay.set_weight_decay(0.25);
    with_decay.apply(gradient(v, 2));
    EXPECT_EQ(v.value().to_doubles(), doubles(5, 1 - 0.125 - 1));
    kg::adam plain(0.125);
    plain.set_weight_decay(0.5);
    kg::adam_w fused(0.125, 0.9, 0.999, 1e-7, 0.5);
    v.assign(w.value());
    for (int i = 0; i < 3; ++i) plain.apply(gradient(v, i - 0.5)), fused.apply(gradient(w, i - 0.5));
    for (int i = 0; i < 5; ++i)
      EXPECT_NEAR(v.value().to_doubles()[0], w.value().to_doubles()[0], type == dtype::float32 ? 1e-6 : 1e-15);
  }
  kg::sgd refused(1);
  EXPECT_TRUE(says(refusal([&] { return refused.set_weight_decay(-1), 0; }), {"[set_weight_decay]", "-1"}));
}

TEST(an_optimizer, gives_groups_rates_and_decays_of_their_own) {
  const variable weight(tensor(1.0), "weight"), bias(tensor(1.0), "bias"), frozen(tensor(1.0), "frozen");
  kg::sgd by_groups(0.5);
  by_groups.set_weight_decay(0.5);
  by_groups.add_group({bias}, {.weight_decay = 0});
  by_groups.add_group({frozen}, {.learning_rate = kg::linear_schedule(0, 1, 1)});
  const std::vector<kg::variable_gradient> grads{{weight, tensor(1.0)}, {bias, tensor(1.0)}, {frozen, tensor(1.0)}};
  by_groups.apply(grads);
  EXPECT_EQ(weight.value().item(), 0.25);
  EXPECT_EQ(bias.value().item(), 0.5);
  EXPECT_EQ(frozen.value().item(), 1);
  by_groups.apply(grads);
  EXPECT_EQ(frozen.value().item(), -0.5) << "rate 1, decay 0.5";
  EXPECT_TRUE(says(refusal([&] { return by_groups.add_group({weight, bias}, {}), 0; }), {"[add_group]", "bias"}));
}

// ------------------------------------------------------------------------------------------ clipping

TEST(clip_by_global_norm, scales_all_gradients_by_one_factor) {
  std::vector<tensor> grads{tensor({3.0, 0.0}), tensor(-4.f)};
  EXPECT_EQ(kg::global_norm(grads), 5);
  EXPECT_EQ(kg::clip_by_global_norm(grads, 5), 5);
  EXPECT_EQ(grads[0].to_doubles(), (doubles{3, 0}));
  EXPECT_EQ(kg::clip_by_global_norm(grads, 2.5), 5);
  EXPECT_EQ(grads[0].to_doubles(), (doubles{1.5, 0}));
  EXPECT_EQ(grads[1].item<float>(), -2.f);
  const variable v(tensor({1.0, 1.0}));
  std::vector<kg::variable_gradient> of_variables{{v, tensor({30.0, 40.0})}};
  EXPECT_EQ(kg::clip_by_global_norm(of_variables, 1), 50);
  EXPECT_NEAR(kg::global_norm(of_variables), 1, 1e-15);
  std::vector<tensor> large{tensor({3e38f, 3e38f})}, none;
  EXPECT_NEAR(kg::clip_by_global_norm(large, 1) / 3e38, std::sqrt(2), 1e-6) << "no square overflows";
  EXPECT_EQ(kg::global_norm(none), 0);
  const double inf = std::numeric_limits<double>::infinity();
  std::vector<tensor> broken{tensor({inf, 1.0})};
  EXPECT_EQ(kg::clip_by_global_norm(broken, 1), inf);
  EXPECT_EQ(broken[0].to_doubles(), (doubles{inf, 1})) << "left for the caller to see";
  EXPECT_TRUE(
      says(refusal([&] { return kg::clip_by_global_norm(grads, 0); }), {"[kg::clip_by_global_norm]", "above 0"}));
  std::vector<tensor> integers{tensor({1, 2})};
  EXPECT_TRUE(says(refusal([&] { return kg::clip_by_global_norm(integers, 1); }), {"int32"}));
}

TEST(clip_by_global_norm, takes_numbers_whose_squares_leave_the_range_of_float64) {
  for (const double unit : {1e-300, 1e-200, 1e200, 1e306}) {
    std::vector<tensor> grads{tensor({3 * unit, 0.0}), tensor(-4 * unit), tensor(doubles{}, {0})};
    EXPECT_NEAR(kg::global_norm(grads) / unit, 5, 1e-14) << unit;
    EXPECT_NEAR(kg::clip_by_global_norm(grads, 2.5 * unit) / unit, 5, 1e-14) << unit;
    EXPECT_NEAR(grads[0].to_doubles()[0] / unit, 1.5, 1e-14) << unit;
    EXPECT_NEAR(grads[1].item() / unit, -2, 1e-14) << unit;
  }
}

TEST(clip_by_global_norm, keeps_the_digits_where_the_factor_is_below_the_normal_numbers) {
  for (const auto type : {kg::dtype::float16, kg::dtype::bfloat16, kg::dtype::float32, kg::dtype::float64}) {
    const double most = type == kg::dtype::float16 ? 0x1p15 : type == kg::dtype::float64 ? 0x1p1023 : 0x1p127;
    std::vector<tensor> grads{kg::cast(tensor(most), type)};
    EXPECT_EQ(kg::clip_by_global_norm(grads, 0.75), most) << kg::name_of(type);
    EXPECT_EQ(grads[0].item(), 0.75) << kg::name_of(type);
  }
}

TEST(clip_by_value, bounds_each_element) {
  std::vector<tensor> grads{tensor({3.0, -0.5, -9.0}), tensor(std::nanf(""))};
  kg::clip_by_value(grads, -1, 2);
  EXPECT_EQ(grads[0].to_doubles(), (doubles{2, -0.5, -1}));
  EXPECT_TRUE(std::isnan(grads[1].item<float>()));
  EXPECT_TRUE(says(refusal([&] { return kg::clip_by_value(grads, 1, 0), 0; }), {"[kg::clip_by_value]", "low"}));
}

// ------------------------------------------------------------------------------------------ state

using maker = std::function<std::unique_ptr<kg::optimizer>()>;
template <class T, class... A>
maker making(A... constants) {
  return [=] { return std::make_unique<T>(constants...); };
}

// Two variables that an optimizer has changed by some steps.
struct training {
  variable w{kg::random_normal({37}, 0, 1, 5), "w"}, b{tensor({0.5, -0.5}), "b"};
  std::vector<variable> all{w, b};
  void run(kg::optimizer& by, int steps) const {
    for (int i = 0; i < steps; ++i)
      static_cast<void>(
          by.minimize([&] { return kg::sum(kg::sin(w) * w) + kg::cast(kg::sum(b * b.value()), dtype::float32); }));
  }
};

TEST(an_optimizers_state, lets_training_go_on_with_the_same_bits) {
  const schedule rate = kg::warm_up(3, kg::cosine_schedule(0.01, 10));
  const maker all[] = {making<kg::sgd>(rate),
                       making<kg::momentum>(rate, 0.9, true),
                       making<kg::adam>(rate),
                       making<kg::adam_w>(rate),
                       making<kg::adagrad>(rate),
                       making<kg::adadelta>(rate),
                       making<kg::adamax>(rate, 0.9, 0.999, 1e-7, 0.01),
                       making<kg::rms_prop>(rate, 0.9, 0.5, 1e-7, true)};
  for (const maker& make : all) {
    const training whole, broken, resumed;
    const auto first = make();
    whole.run(*first, 9);
    const auto before = make(), after = make();
    broken.run(*before, 4);
    const kg::named_tensors saved = before->state();
    const tensor w = broken.w.value(), b = broken.b.value();
    broken.run(*before, 1);  // a snapshot does not change
    resumed.w.assign(w), resumed.b.assign(b);
    after->set_state(std::map<std::string, tensor>(saved.begin(), saved.end()), resumed.all);
    EXPECT_EQ(after->steps(), 4);
    resumed.run(*after, 5);
    EXPECT_TRUE(same_bits(resumed.w.value(), whole.w.value()) && same_bits(resumed.b.value(), whole.b.value()));
    const kg::named_tensors one = first->state(), other = after->state();
    ASSERT_EQ(one.size(), other.size());
    for (std::size_t i = 0; i < one.size(); ++i)
      EXPECT_TRUE(one[i].first == other[i].first && same_bits(one[i].second, other[i].second)) << one[i].first;
  }
}

TEST(an_optimizers_state, has_names_made_of_those_of_the_variables) {
  const training t;
  kg::adam by(0.1);
  t.run(by, 2);
  const kg::named_tensors state = by.state();
  std::vector<std::string> names;
  for (const auto& [name, value] : state) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"steps", "w.first", "w.second", "b.first", "b.second"}));
  EXPECT_EQ(state[0].second.item<std::int64_t>(), 2);
  kg::adam fresh;
  fresh.set_state(kg::named_tensors{{"steps", state[0].second}}, t.all);
  EXPECT_EQ(fresh.steps(), 2) << "variables without entries start again";
}

TEST(an_optimizers_state, refuses_wrong_entries_and_names) {
  const training t;
  kg::adam by(0.1);
  t.run(by, 2);
  const kg::named_tensors state = by.state();
  const auto refused = [&](kg::named_tensors entries, const std::vector<variable>& of) {
    kg::adam fresh;
    const std::string text = refusal([&] { return fresh.set_state(entries, of), 0; });
    EXPECT_EQ(fresh.steps(), 0) << text;
    return text;
  };
  EXPECT_TRUE(says(refused({}, t.all), {"[set_state]", "steps"}));
  EXPECT_TRUE(says(refused(state, {t.w}), {"[set_state]", "5 entries", "3"}));
  kg::named_tensors missing = state, narrow = state;
  missing.erase(missing.begin() + 2);
  EXPECT_TRUE(says(refused(missing, t.all), {"no entry w.second"}));
  narrow[1].second = tensor({1.f});
  EXPECT_TRUE(says(refused(narrow, t.all), {"w.first", "[1]", "[37]"}));
  const variable same(tensor(1.0), "w"), unnamed(tensor(1.0));
  EXPECT_TRUE(says(refused(state, {t.w, t.b, same}), {"two variables", "w"}));
  kg::momentum nameless(0.1, 0.9);
  nameless.apply(gradient(unnamed, 1));
  EXPECT_TRUE(says(refusal([&] { return nameless.state().size(); }), {"[state]", "without a name"}));
}

// ------------------------------------------------------------------------------------------ generators

TEST(a_generator, draws_what_its_key_and_its_count_say) {
  generator a(7), b(7), other(8);
  EXPECT_TRUE(same_bits(a.normal({3}), b.normal({3})));
  EXPECT_FALSE(same_bits(a.normal({3}), other.normal({3})));
  generator copy = a;
  EXPECT_TRUE(copy == a);
  EXPECT_TRUE(same_bits(a.uniform({100}), copy.uniform({100})));
  static_cast<void>(a.uniform({1}));
  static_cast<void>(copy.uniform({1000}));
  EXPECT_TRUE(same_bits(a.uniform({5}), copy.uniform({5}))) << "sizes do not matter";
  EXPECT_FALSE(same_bits(a.uniform({5}), a.uniform({5})));
  generator later(0);
  later.set_state(a.state());
  EXPECT_TRUE(same_bits(a.normal({5}), later.normal({5})));
  EXPECT_TRUE(
      says(refusal([&] { return later.set_state(tensor({1, 2})), 0; }), {"[kg::generator::set_state]", "int64 [2]"}));
}

TEST(a_generator, splits_into_generators_of_their_own) {
  generator a(7);
  const generator number = a.fold_in(3);
  std::set<std::int64_t> seeds;
  std::vector<generator> all = a.split(3);
  all.push_back(a.split()), all.push_back(a), all.push_back(a.fold_in(0)), all.push_back(number);
  for (generator& g : all)
    for (int i = 0; i < 100; ++i) seeds.insert(g.seed());
  EXPECT_EQ(seeds.size(), 700u);
  EXPECT_TRUE(number == a.fold_in(3)) << "whatever was drawn";
  EXPECT_TRUE(generator(7).split() == generator(7).split(2)[0]);
  EXPECT_TRUE(says(refusal([&] { return a.split(-1).size(); }), {"[kg::generator::split]", "-1"}));
}

// Computed from the documentation by another program. They must never change.
TEST(a_generator, draws_these_bits_on_every_platform) {
  generator g(7);
  EXPECT_EQ(g.seed(), 3167958735670406544);
  EXPECT_EQ(g.integers({5}, -100, 100).to_doubles(), (doubles{-84, 28, -21, -46, 45}));
  EXPECT_EQ(g.permutation(6).to_doubles(), (doubles{4, 0, 1, 3, 5, 2}));
  EXPECT_EQ(g.uniform({2}, 0, 1, dtype::float64).to_doubles(), (doubles{0x1.0329605bed851p-1, 0x1.ce378df863ba2p-1}));
}

TEST(integers, are_spread_evenly_over_the_whole_range) {
  generator g(1);
  doubles counts(7);
  const tensor draws = g.integers({70000}, -3, 4);
  EXPECT_EQ(draws.type(), dtype::int32);
  for (double x : draws.to_doubles()) ++counts.at(static_cast<std::size_t>(x + 3));
  for (double count : counts) EXPECT_NEAR(count, 10000, 500);
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min(),
                         most = std::numeric_limits<std::int64_t>::max();
  const tensor wide = g.integers({1000}, least, most, dtype::int64);
  double mean = 0;
  for (std::int64_t x : wide.data<std::int64_t>()) mean += static_cast<double>(x) / 1000;
  EXPECT_LT(std::fabs(mean), 0.1 * static_cast<double>(most));
  EXPECT_EQ(g.integers({1}, most - 1, most, dtype::int64).item<std::int64_t>(), most - 1);
  EXPECT_EQ(g.integers({2}, 0, 256, dtype::uint8).type(), dtype::uint8);
  EXPECT_EQ(g.integers({0}, 0, 1).dims(), (kg::shape{0}));
  EXPECT_TRUE(says(refusal([&] { return g.integers({1}, 3, 3); }), {"[kg::generator::integers]", "low 3", "high 3"}));
  EXPECT_TRUE(
      says(refusal([&] { return g.integers({1}, 0, 257, dtype::uint8); }), {"[kg::generator::integers]", "uint8"}));
  EXPECT_TRUE(
      says(refusal([&] { return g.integers({1}, 0, 2, dtype::float32); }), {"[kg::generator::integers]", "float32"}));
}

TEST(draws, are_the_same_on_any_number_of_threads) {
  const auto all = [] {
    generator g(3);
    return std::vector{g.integers({200000}, 0, 1000), g.uniform({200000}), g.normal({200000}), g.permutation(100000)};
  };
  const int before = kg::num_threads();
  kg::set_num_threads(1);
  const std::vector<tensor> alone = all();
  kg::set_num_threads(3);
  const std::vector<tensor> together = all();
  kg::set_num_threads(before);
  for (std::size_t i = 0; i < alone.size(); ++i) EXPECT_TRUE(same_bits(alone[i], together[i])) << i;
}

TEST(draws, have_their_moments) {
  generator g(11);
  EXPECT_NEAR(kg::mean(g.uniform({20000}, 2, 4)).item(), 3, 0.02);
  EXPECT_NEAR(kg::variance(g.normal({20000}, 1, 3)).item(), 9, 0.4);
  EXPECT_NEAR(kg::mean(g.gamma({20000}, 2, 4)).item(), 0.5, 0.02);
  EXPECT_NEAR(kg::mean(g.bernoulli({20000}, 0.25, dtype::float32)).item(), 0.25, 0.02);
  EXPECT_LE(kg::max(kg::abs(g.truncated_normal({20000}))).item(), 2);
}

TEST(permutation, orders_numbers_or_slices) {
  generator g(5);
  doubles sorted = g.permutation(100).to_doubles();
  EXPECT_FALSE(std::is_sorted(sorted.begin(), sorted.end()));
  std::sort(sorted.begin(), sorted.end());
  for (int i = 0; i < 100; ++i) EXPECT_EQ(sorted[static_cast<std::size_t>(i)], i);
  const tensor x = kg::reshape(kg::linspace(0, 19, 20), {2, 10});
  const doubles rows = g.permutation(x, 1).to_doubles();
  for (std::size_t j = 0; j < 10; ++j) EXPECT_EQ(rows[10 + j], rows[j] + 10) << "columns stay together";
  EXPECT_EQ(g.permutation(0).dims(), (kg::shape{0}));
  EXPECT_TRUE(says(refusal([&] { return g.permutation(tensor(1.0)); }), {"[kg::generator::permutation]", "rank 1"}));
}

TEST(choice, follows_the_weights_and_draws_none_twice_without_replacement) {
  generator g(5);
  doubles counts(3), first(3);
  const tensor weights({1.0, 0.0, 3.0});
  for (double x : g.choice(3, {100, 100}, {.weights = weights}).to_doubles()) ++counts.at(static_cast<std::size_t>(x));
  EXPECT_NEAR(counts[0], 2500, 200);
  EXPECT_EQ(counts[1], 0);
  for (int i = 0; i < 2000; ++i) {
    const doubles two = g.choice(3, {2}, {.replace = false, .weights = weights}).to_doubles();
    ASSERT_EQ(two[0] + two[1], 2) << "0 and 2";
    ++first[static_cast<std::size_t>(two[0])];
  }
  EXPECT_NEAR(first[0], 500, 100);
  const doubles all = g.choice(50, {5, 10}, {.replace = false}).to_doubles();
  EXPECT_EQ(std::set<double>(all.begin(), all.end()).size(), 50u);
  const tensor x({10.0, 20.0, 30.0, 40.0}, {2, 2});
  const tensor rows = g.choice(x, {2}, {.replace = false});
  EXPECT_EQ(rows.dims(), (kg::shape{2, 2}));
  EXPECT_EQ(kg::sum(rows).item(), 100);
  EXPECT_EQ(g.choice(1, {2}, {.weights = tensor({2.0})}).to_doubles(), (doubles{0, 0}));
  EXPECT_TRUE(
      says(refusal([&] { return g.choice(3, {3}, {.replace = false, .weights = weights}); }), {"3", "2 at most"}));
  EXPECT_TRUE(
      says(refusal([&] { return g.choice(2, {1}, {.weights = weights}); }), {"[kg::generator::choice]", "[2]"}));
  EXPECT_TRUE(
      says(refusal([&] { return g.choice(1, {1}, {.weights = tensor({-1.0})}); }), {"[kg::generator::choice]", "-1"}));
  EXPECT_TRUE(says(refusal([&] { return g.choice(1, {1}, {.weights = tensor({0.0})}); }),
                   {"[kg::generator::choice]", "above 0"}));
  EXPECT_TRUE(says(refusal([&] { return g.choice(0, {1}); }), {"[kg::generator::choice]", "0 to choose from"}));
}

// ------------------------------------------------------------------------------------------ batches

TEST(batches, hold_every_example_once_and_an_uneven_rest) {
  const tensor x = kg::reshape(kg::linspace(0, 19, 20), {10, 2}), y = kg::cast(kg::linspace(0, 9, 10), dtype::int32);
  doubles seen;
  std::vector<std::int64_t> sizes;
  for (const auto& [images, labels] : kg::batches({.size = 4}, x, y)) {
    sizes.push_back(images.dims()[0]);
    for (double label : labels.to_doubles()) seen.push_back(label);
  }
  EXPECT_EQ(sizes, (std::vector<std::int64_t>{4, 4, 2}));
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
}

TEST(batches, are_shuffled_anew_each_time) {
  const tensor x = kg::reshape(kg::linspace(0, 19, 20), {10, 2}), y = kg::cast(kg::linspace(0, 9, 10), dtype::int32);
  generator rng(3);
  const auto epoch = [&] {
    doubles order;
    for (const auto& [images, labels] : kg::batches({.size = 4, .shuffle = &rng}, x, y)) {
      const doubles pixels = images.to_doubles(), of = labels.to_doubles();
      for (std::size_t i = 0; i < of.size(); ++i) EXPECT_EQ(pixels[2 * i], 2 * of[i]) << "rows stay together";
      order.insert(order.end(), of.begin(), of.end());
    }
    return order;
  };
  const doubles one = epoch(), two = epoch();
  EXPECT_NE(one, two);
  EXPECT_EQ(std::set<double>(one.begin(), one.end()).size(), 10u);
  const auto whole = kg::batches({.size = 4, .drop_last = true}, x);
  EXPECT_EQ(whole.size(), 2);
  EXPECT_EQ(whole[1][0].to_doubles(), (doubles{8, 9, 10, 11, 12, 13, 14, 15}));
  EXPECT_EQ(kg::batches({}, kg::zeros({0, 2})).size(), 0);
  EXPECT_TRUE(says(refusal([&] { return whole[2]; }), {"[kg::batches]", "batch 2"}));
  EXPECT_TRUE(says(refusal([&] { return kg::batches({.size = 0}, x).size(); }), {"[kg::batches]", "0"}));
  EXPECT_TRUE(says(refusal([&] { return kg::batches({}, x, tensor({1})).size(); }), {"[kg::batches]", "10 and 1"}));
}

// ------------------------------------------------------------------------------------------ weight initialization

TEST(first_weights, have_the_variance_of_their_fans) {
  generator rng(9);
  using initializer = tensor (*)(generator&, const kg::shape&, dtype);
  const kg::shape filter{3, 3, 20, 50};  // fan_in 180, fan_out 450
  const struct {
    initializer make;
    double variance, limit;
  } cases[] = {
      {kg::glorot_uniform, 2.0 / 630, std::sqrt(3 * 2.0 / 630)}, {kg::glorot_normal, 2.0 / 630, 0},
      {kg::he_uniform, 2.0 / 180, std::sqrt(3 * 2.0 / 180)},     {kg::he_normal, 2.0 / 180, 0},
      {kg::lecun_uniform, 1.0 / 180, std::sqrt(3 * 1.0 / 180)},  {kg::lecun_normal, 1.0 / 180, 0},
  };
  for (const auto& c : cases) {
    const tensor w = c.make(rng, filter, dtype::float32);
    EXPECT_EQ(w.dims(), filter);
    EXPECT_NEAR(kg::variance(w).item() / c.variance, 1, 0.06);
    const double limit = c.limit > 0 ? c.limit : 2 * std::sqrt(c.variance) / 0.87962566103423978;
    EXPECT_LE(kg::max(kg::abs(w)).item(), limit * 1.0001);
    EXPECT_GE(kg::max(kg::abs(w)).item(), limit * 0.9);
    EXPECT_EQ(c.make(rng, {0, 3}, dtype::float64).dims(), (kg::shape{0, 3}));
    EXPECT_EQ(c.make(rng, {4}, dtype::float64).dims(), (kg::shape{4}));
  }
}

TEST(orthogonal, gives_orthonormal_columns_or_rows) {
  generator rng(9);
  for (const kg::shape& dims : {kg::shape{5, 3}, kg::shape{3, 5}, kg::shape{4, 4}, kg::shape{2, 3, 2}}) {
    const tensor w = kg::orthogonal(rng, dims, 2, dtype::float64);
    EXPECT_EQ(w.dims(), dims);
    const std::int64_t columns = dims[dims.rank() - 1], rows = dims.size() / columns;
    tensor m = kg::reshape(w, {rows, columns});
    if (rows < columns) m = kg::transpose(m);
    const tensor gram = kg::matmul(kg::transpose(m), m) - kg::eye(std::min(rows, columns), {}, 0, dtype::float64) * 4;
    EXPECT_LT(kg::max(kg::abs(gram)).item(), 1e-12);
  }
  EXPECT_EQ(kg::orthogonal(rng, {0, 3}).dims(), (kg::shape{0, 3}));
  EXPECT_TRUE(says(refusal([&] { return kg::orthogonal(rng, {3}); }), {"[kg::orthogonal]", "rank 2"}));
}

}  // namespace
