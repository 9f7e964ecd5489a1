// SPDX-License-Identifier: Apache-2.0
// A module of the consumer's own, on top of kerngrad.
module;
#include <vector>
export module model;
export import kerngrad;

/// A linear layer.
export class layer {
 public:
  layer(int in, int out)
      : weights_(kg::random_normal({in, out}, 0, 0.1, 5), "weights"), bias_(kg::zeros({out}), "bias") {}
  kg::tensor operator()(const kg::tensor& x) const { return kg::relu(kg::matmul(x, weights_) + bias_); }
  std::vector<kg::variable> variables() const { return {weights_, bias_}; }

 private:
  kg::variable weights_, bias_;
};
