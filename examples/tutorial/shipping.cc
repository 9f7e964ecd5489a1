// SPDX-License-Identifier: Apache-2.0
// The program of docs/tutorial/7-shipping.md.
#include <iostream>
#include <vector>

import kerngrad;
import kerngrad.io;

namespace {

class model {
 public:
  explicit model(const kg::io::named_tensors& saved) : weight_(saved.at("weight")), bias_(saved.at("bias")) {}
  kg::tensor operator()(const kg::tensor& x) const { return kg::softmax(kg::matmul(x, weight_) + bias_); }

 private:
  kg::tensor weight_, bias_;
};

}  // namespace

int main() {
  const std::vector<kg::variable> trained{kg::variable(kg::tensor{{1.f, -2.f}, {0.5f, 3.f}}, "weight"),
                                          kg::variable(kg::tensor({0.25f, -0.25f}), "bias")};
  kg::io::save("model.safetensors", kg::io::state_of(trained));

  const model ready(kg::io::load("model.safetensors"));
  std::cout << ready(kg::tensor{{1.f, 0.f}, {0.f, 1.f}}) << "\n";

  kg::set_num_threads(2);
  kg::set_memory_limit(64 << 20);
  try {
    kg::zeros({100, 1000, 1000});
  } catch (const kg::error& e) {
    std::cout << e.op() << " threw an error\n";
  }
  kg::set_memory_limit(kg::unlimited);

  try {
    ready(kg::tensor({1.f, 2.f, 3.f}));
  } catch (const kg::error& e) {
    std::cout << e.what() << "\n";
  }
}
