// SPDX-License-Identifier: Apache-2.0
// A training that is saved, abandoned and resumed: the results are bitwise identical to those without a break.
#include <functional>
#include <memory>

#include "files.h"

namespace {

using kg::tensor;
using kg::variable;
using kg::io::named_tensors;
using kgtest::accepted;
using kgtest::refusal;
using kgtest::same;
using kgtest::says;

using optimizer_maker = std::function<std::unique_ptr<kg::optimizer>()>;
const std::vector<std::pair<std::string, optimizer_maker>> optimizers = {
    {"sgd", [] { return std::make_unique<kg::sgd>(0.1); }},
    {"momentum", [] { return std::make_unique<kg::momentum>(0.1, 0.9); }},
    {"nesterov", [] { return std::make_unique<kg::momentum>(0.1, 0.9, true); }},
    {"adam", [] { return std::make_unique<kg::adam>(); }},
    {"adam_w", [] { return std::make_unique<kg::adam_w>(); }},
    {"adagrad", [] { return std::make_unique<kg::adagrad>(0.1); }},
    {"adadelta", [] { return std::make_unique<kg::adadelta>(); }},
    {"adamax", [] { return std::make_unique<kg::adamax>(2e-3, 0.9, 0.999, 1e-7, 0.1); }},
    {"rms_prop", [] { return std::make_unique<kg::rms_prop>(0.1); }},
    {"centered", [] { return std::make_unique<kg::rms_prop>(0.1, 0.9, 0.5, 1e-7, true); }},
};

// Two variables of two dtypes, and a loss that is read by both.
struct model {
  std::vector<variable> all{variable(tensor({0.5f, -1.f, 2.f, 0.f, 1.f, -3.f}, {2, 3}), "layer/weights"),
                            variable(tensor({0.25, -0.75}), "scale")};
  tensor loss() const {
    return kg::sum(kg::square(all[0].value() - 0.3)) +
           kg::cast(kg::sum(kg::square(all[1].value())), kg::dtype::float32);
  }
  void train(kg::optimizer& by, int steps) const {
    for (int i = 0; i < steps; ++i) by.minimize([&] { return loss(); });
  }
};

TEST(training, goes_on_with_the_same_bits_whatever_the_optimizer_and_format) {
  const kgtest::folder here;
  for (const auto& [name, make] : optimizers) {
    const model whole;
    const auto by = make();
    whole.train(*by, 7);
    named_tensors state = kg::io::state_of(whole.all, *by);
    state.set("epoch", tensor(std::int64_t{7}));
    for (const std::string file : {"run.safetensors", "run.npz"}) kg::io::save(here / file, state);
    whole.train(*by, 5);
    for (const std::string file : {"run.safetensors", "run.npz"}) {
      const model again;
      const auto other = make();
      again.train(*other, 3);  // whatever it has done before
      const named_tensors saved = kg::io::load(here / file);
      kg::io::restore(saved, again.all, *other);
      EXPECT_EQ(other->steps(), saved.at("epoch").item<std::int64_t>());
      again.train(*other, 5);
      EXPECT_EQ(other->steps(), 12);
      for (std::size_t i = 0; i < whole.all.size(); ++i)
        EXPECT_TRUE(same(again.all[i].value(), whole.all[i].value())) << name << ", " << whole.all[i].name();
    }
  }
}

TEST(training, states_are_what_was_and_not_what_is) {
  const model m;
  kg::adam by;
  m.train(by, 2);
  const named_tensors state = kg::io::state_of(m.all, by);
  const std::vector<double> before = state.at("optimizer/scale.first").to_doubles();
  m.train(by, 2);
  EXPECT_EQ(state.at("optimizer/scale.first").to_doubles(), before) << "a step has changed what was taken out";
  EXPECT_EQ(state.size(), 7u);
  EXPECT_EQ(kg::io::state_of(m.all).size(), 2u);
}

TEST(training, states_are_of_variables_in_braces_too) {
  const kg::variable w(kg::tensor({1.f, 2.f}), "w"), b(kg::tensor(3.f), "b");
  kg::sgd by(0.1);
  const named_tensors state = kg::io::state_of({w, b}, by);
  EXPECT_EQ(kg::io::state_of({w, b}).size(), 2u);
  w.assign(kg::zeros({2})), b.assign(kg::tensor(0.f));
  kg::io::restore(state, {w, b}, by);
  EXPECT_EQ(w.value().to_doubles(), (std::vector<double>{1, 2}));
  b.assign(kg::tensor(0.f));
  kg::io::restore(state, {w, b});
  EXPECT_EQ(b.value().item(), 3);
}

TEST(training, is_restored_as_a_whole_or_not_at_all) {
  const model m;
  kg::adam by;
  m.train(by, 2);
  const named_tensors state = kg::io::state_of(m.all, by);
  m.train(by, 1);
  const named_tensors now = kg::io::state_of(m.all, by);
  const auto without = [&](std::string_view name) {
    std::vector<kg::io::named_tensor> list;
    for (const kg::io::named_tensor& one : state)
      if (one.name != name) list.push_back(one);
    return named_tensors(std::move(list));
  };
  const auto with = [&](std::string_view name, const tensor& x) {
    named_tensors changed = state;
    changed.set(name, x);
    return changed;
  };
  const std::vector<std::pair<named_tensors, std::vector<std::string_view>>> cases = {
      {without("scale"), {"without \"scale\""}},
      {without("optimizer/steps"), {"no entry steps"}},
      {without("optimizer/scale.second"), {"no entry scale.second"}},
      {with("scale", tensor({1.0})), {"\"scale\" as float64 [1]", "[2]"}},
      {with("scale", tensor({1.f, 2.f})), {"float32"}},
      {with("optimizer/scale.first", tensor({1.0})), {"[set_state]", "scale.first float64 [1]"}},
      {with("optimizer/scale.third", tensor({1.0, 1.0})), {"6 entries, of which 5"}},
      {with("optimizer/steps", tensor(1)), {"steps with a count"}},
      {with("optimizer/steps", tensor(std::int64_t{-1})), {"steps with a count"}},
  };
  for (const auto& [bad, parts] : cases) {
    const std::string said = refusal([&] {
      kg::io::restore(bad, m.all, by);
      return 0;
    });
    EXPECT_NE(said, accepted);
    for (const std::string_view part : parts) EXPECT_NE(said.find(part), said.npos) << said << " lacks " << part;
    const named_tensors left = kg::io::state_of(m.all, by);
    for (const kg::io::named_tensor& one : now) EXPECT_TRUE(same(left.at(one.name), one.value)) << said;
  }
  EXPECT_NE(refusal([&] { return kg::io::state_of(std::vector{variable(tensor(1.f))}); }), accepted);
  const std::vector<variable> twins{variable(tensor(1.f), "w"), variable(tensor(2.f), "w")};
  EXPECT_TRUE(says(refusal([&] { return kg::io::state_of(twins); }), {"\"w\" twice"}));
}

}  // namespace
