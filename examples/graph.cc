// SPDX-License-Identifier: Apache-2.0
// A network recorded as a graph model, saved, loaded, run and differentiated: docs/graph.md.
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <iostream>
import kerngrad;
import kerngrad.graph;

int main(int, char** argv) {
  std::filesystem::current_path(argv[1]);
  // A function of tensors as a graph of the same calls.
  const kg::variable w(kg::tensor({1.f, -1.f, 0.5f, 2.f, 0.f, 1.f}, {3, 2}), "w"), b(kg::tensor({0.1f, -0.2f}), "b");
  const auto net = [&](const kg::tensor& x) { return kg::softmax(kg::relu(kg::matmul(x, w) + b)); };
  const kg::tensor x({{1.f, 2.f, 3.f}});
  const kg::graph::model recorded = kg::graph::record(net, x, {.named = {w, b}, .any_batch = true});
  kg::graph::save("model.json", recorded);

  const kg::graph::model m = kg::graph::load("model.json");
  for (const kg::graph::port& p : m.inputs()) std::cout << p.key << " " << kg::name_of(p.type) << "\n";
  const kg::tensor y = m({{"input", x}});
  std::cout << y << " " << kg::all_close(y, net(x)) << "\n";

  for (const kg::graph::needed_op& op : m.needs())
    if (op.by.empty()) std::cout << op.name << " is missing: " << op.reason << "\n";

  // A model is a function of tensors: gradients to its inputs, and to its weights as variables.
  auto loss = [&](const kg::tensor& t) { return kg::sum(kg::square(kg::tensor(m({{"input", t}})))); };
  std::cout << kg::grad(loss)(x).dims()[1] << " slopes\n";
  kg::sgd by(0.1);
  const std::vector<kg::variable> weights = m.variables();
  for (int step = 0; step < 3; ++step) by.minimize([&] { return loss(x); });
  kg::graph::save("tuned.json", m);
  std::cout << weights.size() << " weights, step " << by.steps() << "\n";
  const kg::tensor tuned = kg::graph::load("tuned.json")({{"input", x}});

  // A model from a stranger: limits for its file, its time and its memory.
  const kg::graph::load_options limits{.most_bytes = 64 << 20, .most_iterations = 100'000};
  const kg::stop_scope stop(std::chrono::seconds(5));
  const kg::memory_budget budget(std::int64_t{256} << 20);
  const kg::tensor checked = kg::graph::load("tuned.json", limits)({{"input", x}});
  std::cout << kg::all_close(checked, tuned) << "\n";
  return kg::all_close(tuned, m({{"input", x}})) && kg::all_close(y, net(x)) ? 0 : 1;
}
