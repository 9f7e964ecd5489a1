// SPDX-License-Identifier: Apache-2.0
// fine_tune MODEL.json OUT.json: the last layer of a classifier that was saved as a graph model, trained on labels of
// our own and saved again; what comes out is a graph model for TensorFlow.js, too.
#include <cstdint>
#include <iostream>
#include <vector>

import kerngrad;
import kerngrad.graph;

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "fine_tune MODEL.json OUT.json\n";
    return 2;
  }
  const kg::graph::model net = kg::graph::load(argv[1]);
  const std::vector<kg::variable> all = net.variables(), last{all.back()};
  std::cout << all.size() << " weights, " << last[0].name() << " is trained\n";

  // The class is the largest of the first three features.
  const kg::tensor x = kg::random_uniform({256, net.inputs()[0].dims[1]}, -1, 1, 7);
  const kg::tensor classes = kg::argmax(kg::slice(x, {0, 0}, {256, 3}), 1), labels = kg::one_hot(classes, 3);
  const auto loss = [&] {
    const kg::tensor p = net({{"input", x}});
    return kg::mean(kg::sum(labels * kg::log(p + 1e-6), 1)) * -1;
  };
  const double before = loss().item();
  kg::adam optimizer(0.05);
  for (int step = 0; step < 200; ++step) optimizer.minimize(loss, last);
  kg::graph::save(argv[2], net);

  const kg::tensor again = kg::graph::load(argv[2])({{"input", x}}), now = net({{"input", x}});
  const bool same = kg::all(again == now).item() != 0;
  std::cout << "loss " << before << " before, " << loss().item() << " after; saved and loaded " << (same ? "" : "not ")
            << "the same\n";
  return loss().item() < 0.9 * before && same ? 0 : 1;
}
