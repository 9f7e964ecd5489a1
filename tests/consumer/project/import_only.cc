// SPDX-License-Identifier: Apache-2.0
// Nothing but the import: what the functions return can be used without an include.
import kerngrad;

int main() {
  const kg::tensor x({1.0f, -2.0f, 3.0f}, {3});
  const kg::tensor y = kg::relu(x) * 2 + 1;
  float sum = 0;
  for (float value : y.data<float>()) sum += value;
  const auto [value, gradients] =
      kg::value_and_grads([](const kg::tensor& a, const kg::tensor& b) { return kg::sum(a * b); })(x, y);
  const std::string text = to_string(gradients[0]);
  bool refused = false;
  try {
    kg::run_kernel("Relo", {{"x", x}});
  } catch (const kg::error& e) {
    refused = e.op() == "run_kernel";
  }
  int names = 0;
  for (const kg::simd_target& target : kg::simd_targets()) names += target.name.empty() ? 0 : 1;
  return sum == 11 && value.item() == 22 && !text.empty() && refused && names > 0 ? 0 : 1;
}
