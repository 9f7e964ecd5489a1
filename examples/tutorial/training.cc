// SPDX-License-Identifier: Apache-2.0
// The program of docs/tutorial/6-training.md.
#include <iostream>

import kerngrad;

namespace {

struct network {
  kg::variable hidden, bias, last;
  explicit network(kg::generator& rng)
      : hidden(kg::he_normal(rng, {2, 16}), "hidden"),
        bias(kg::zeros({16}), "bias"),
        last(kg::glorot_uniform(rng, {16, 2}), "last") {}
  kg::tensor operator()(const kg::tensor& x) const { return kg::matmul(kg::tanh(kg::matmul(x, hidden) + bias), last); }
};

}  // namespace

int main() {
  kg::generator rng(7);
  const kg::tensor points = rng.uniform({512, 2}, -1, 1);
  const kg::tensor labels = kg::cast(kg::sum(kg::square(points), 1) > 0.6, kg::dtype::int32);
  std::cout << kg::sum(labels) << "\n";

  const network net(rng);
  kg::adam_w optimizer(kg::cosine_schedule(0.05, 8 * 30));
  for (int epoch = 0; epoch < 30; ++epoch)
    for (const auto& [x, y] : kg::batches({.size = 64, .shuffle = &rng}, points, labels))
      optimizer.minimize([&] { return kg::softmax_cross_entropy_loss(y, net(x)); });
  std::cout << optimizer.steps() << " steps\n";

  auto [value, grads] = kg::variable_grads([&] { return kg::softmax_cross_entropy_loss(labels, net(points)); });
  kg::clip_by_global_norm(grads, 1);
  optimizer.apply(grads);
  std::cout << grads.size() << " gradients, the first of " << grads[0].of.name() << "\n";

  const kg::tensor right = kg::argmax(net(points), 1) == labels;
  const double accuracy = kg::mean(kg::cast(right, kg::dtype::float32)).item();
  std::cout << (accuracy > 0.95 ? "more" : "not more") << " than 95 % right, a loss "
            << (value.item() < 0.15 ? "below" : "not below") << " 0.15\n"
            << kg::argmax(net(kg::tensor{{0.f, 0.f}, {0.9f, -0.9f}}), 1) << "\n";
}
