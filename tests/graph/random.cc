// SPDX-License-Identifier: Apache-2.0
// Random valid networks: a plan that joins steps gives what one does that joins none, and what the library's functions
// give; so do gradients and models that were saved and loaded. KERNGRAD_NETWORKS says how many, KERNGRAD_SEED where to
// begin; a failure names the seed of its network, from which the next one counts up.
#include <algorithm>
#include <cstdint>
#include <iostream>
#include <limits>

#include "tests/graph/sweep.h"
#include "tests/support/full.h"

#include "tests/graph/networks.h"
#include "tests/graph/own_models.h"

namespace {

using namespace kgtest;
using kg::tensor;
using kg::graph::model;

// The largest difference, compared with the largest element.
double distance(const tensor& a, const tensor& b) {
  if (!(a.signature() == b.signature())) return std::numeric_limits<double>::infinity();
  const double scale = std::max(1e-3, kg::max(kg::abs(b)).item());
  return kg::max(kg::abs(a - b)).item() / scale;
}

// Rounding of some twenty ops of at most 2,000 elements. Gradients add up over all of them.
constexpr double near = 1e-4, near_gradient = 2e-3;

std::vector<tensor> run(const model& m, const tensor& x, const std::vector<std::string>& wanted) {
  const kg::named_operand in{"x", x};
  const kg::graph::results all = m({&in, 1}, wanted);
  return {all.begin(), all.end()};
}

// One network, its model and what the library's functions give.
struct trial {
  explicit trial(std::uint64_t seed) : net(random_network(seed)), m(net.model()), names(net.computed()) {
    for (const weight& w : net.weights)
      if (w.value.type() == kg::dtype::float32) floats.push_back(w.value);
    const std::vector<tensor> all = net.values(net.example, floats);
    for (std::size_t i = 0; i < net.items.size(); ++i)
      if (net.items[i].f) expected.push_back(all[i]);
    kg::testkit::stream random(seed ^ 0x5eed);
    std::vector<std::size_t> some{names.size() - 1};
    while (random.below(3) == 0) some.push_back(random.below(names.size()));
    for (const std::size_t i : some) {
      if (std::ranges::find(wanted, names[i]) != wanted.end()) continue;
      wanted.push_back(names[i]);
      places.push_back(i);
    }
  }

  bool depends_on(bool weights) const;
  void check_results() const;
  void check_saved() const;
  void check_gradients() const;

  network net;
  model m;
  std::vector<std::string> names;  // of all nodes that compute something
  std::vector<tensor> floats, expected;
  std::vector<std::string> wanted;  // some of the names, the last one among them
  std::vector<std::size_t> places;  // where they are among the names
};

// Returns true if gradients reach the weights, or the input.
bool trial::depends_on(bool weights) const {
  std::vector<bool> reached;
  bool any = false;
  for (const network::item& i : net.items) {
    bool here = !i.f && reached.empty() != weights;
    for (const std::size_t k : i.in) here = here || reached[k];
    reached.push_back(here && !i.name.starts_with("StopGradient"));
    any = any || (reached.back() && std::ranges::find(wanted, i.name) != wanted.end());
  }
  return any;
}

void trial::check_results() const {
  const std::vector<tensor> all = run(m, net.example, names), some = run(m, net.example, wanted);
  for (std::size_t i = 0; i < names.size(); ++i) EXPECT_LE(distance(all[i], expected[i]), near) << names[i];
  for (std::size_t k = 0; k < wanted.size(); ++k)
    EXPECT_LE(distance(some[k], all[places[k]]), near) << wanted[k] << " with others joined to it";
}

void trial::check_saved() const {
  const folder there;
  kg::graph::save(there / "saved.json", m);
  const model again = kg::graph::load(there / "saved.json");
  const std::vector<tensor> before = run(m, net.example, wanted), after = run(again, net.example, wanted);
  for (std::size_t k = 0; k < wanted.size(); ++k) EXPECT_TRUE(same(before[k], after[k])) << wanted[k];
}

// The sum of what is wanted, each with weights of its own.
tensor loss_of(std::span<const tensor> ys) {
  tensor loss = kg::zeros({});
  std::uint32_t seed = 0;
  for (const tensor& y : ys) loss = loss + kg::sum(y * hashed(y.dims(), ++seed));
  return loss;
}

void trial::check_gradients() const {
  const auto loss_by_hand = [&](const tensor& x, std::span<const tensor> given) {
    const std::vector<tensor> all = net.values(x, given);
    std::vector<tensor> some;
    for (const std::string& name : wanted)
      some.push_back(
          all[static_cast<std::size_t>(std::ranges::find(net.items, name, &network::item::name) - net.items.begin())]);
    return loss_of(some);
  };
  const tensor by_hand = kg::grad([&](const tensor& x) { return loss_by_hand(x, floats); })(net.example);
  const auto by_model = [&] {
    return kg::grad([&](const tensor& x) { return loss_of(run(m, x, wanted)); })(net.example);
  };
  EXPECT_LE(distance(by_model(), by_hand), near_gradient) << "with constants";

  std::vector<kg::variable> own;
  for (const tensor& w : floats) own.emplace_back(w, "w");
  const kg::variable_gradients expected_grads = kg::variable_grads(
      [&] {
        std::vector<tensor> now;
        for (const kg::variable& v : own) now.push_back(v.value());
        return loss_by_hand(net.example, now);
      },
      own);
  const std::vector<kg::variable> weights = m.variables();
  ASSERT_EQ(weights.size(), own.size());
  const kg::variable_gradients grads =
      kg::variable_grads([&] { return loss_of(run(m, net.example, wanted)); }, weights);
  EXPECT_LE(distance(grads.value, expected_grads.value), near_gradient);
  ASSERT_EQ(grads.grads.size(), expected_grads.grads.size());
  for (std::size_t i = 0; i < grads.grads.size(); ++i)
    EXPECT_LE(distance(grads.grads[i].grad, expected_grads.grads[i].grad), near_gradient) << grads.grads[i].of.name();
  EXPECT_LE(distance(by_model(), by_hand), near_gradient) << "with variables";
}

TEST(random_networks, give_what_their_functions_give_joined_or_not) {
  const auto [first, count] = wanted_sweep("KERNGRAD_NETWORKS", 300, 2'000);
  for (std::int64_t i = 0; i < count && !testing::Test::HasFailure(); ++i) {
    const std::uint64_t seed = first + static_cast<std::uint64_t>(i);
    SCOPED_TRACE("KERNGRAD_SEED=" + std::to_string(seed) + " KERNGRAD_NETWORKS=1");
    try {
      const trial one(seed);
      one.check_results();
      one.check_saved();
      if (!one.net.has_kinks && one.depends_on(true) && one.depends_on(false)) one.check_gradients();
      if (testing::Test::HasFailure()) std::cout << nlohmann::json(one.net.nodes).dump(1) << "\n";
    } catch (const std::exception& e) {
      ADD_FAILURE() << e.what();
    }
  }
}

}  // namespace
