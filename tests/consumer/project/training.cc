// SPDX-License-Identifier: Apache-2.0
// A second module of the consumer's own, which imports the first.
export module training;
export import model;

/// How many variables get a gradient of the sum of the layer's results.
export int trained(const layer& hidden, const kg::tensor& x) {
  return static_cast<int>(kg::variable_grads([&] { return kg::sum(hidden(x)); }).grads.size());
}
