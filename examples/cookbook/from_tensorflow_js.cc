// SPDX-License-Identifier: Apache-2.0
// The program of docs/from_tensorflow_js.md.
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <span>
#include <vector>

import kerngrad;
import kerngrad.io;

namespace {

struct dense {
  kg::variable weight, bias;
  dense(kg::generator& rng, std::int64_t in, std::int64_t units)
      : weight(kg::glorot_uniform(rng, {in, units}), "weight"), bias(kg::zeros({units}), "bias") {}
  kg::tensor operator()(const kg::tensor& x) const { return kg::matmul(x, weight) + bias; }
};

void tensors() {
  const kg::tensor a{{1.f, 2.f}, {3.f, 4.f}};
  std::cout << a << "\n" << kg::to_string(a.dims()) << " " << kg::name_of(a.type()) << "\n";
  for (const float element : a.data<float>()) std::cout << element << " ";
  std::cout << "\n";
}

void operations() {
  const kg::tensor x({1.f, 2.f, 3.f, 6.f});
  const auto [mean, variance] = kg::moments(x);
  std::cout << (x - mean) / kg::sqrt(variance) << "\n";
}

void variables() {
  const kg::variable w(kg::zeros({2}), "w");
  w.assign(kg::ones({2}));
  std::cout << w.name() << ": " << w.value() << "\n";
}

void memory() {
  const kg::memory_scope scope;
  {
    const kg::tensor large = kg::ones({1000});
    kg::sum(large * 2);
  }
  std::cout << kg::to_string(scope.leaked()) << "\n";
}

void models_and_layers() {
  kg::generator rng(1);
  const dense layer(rng, 2, 3);
  const kg::tensor xs = rng.uniform({64, 2}, -1, 1);
  const kg::tensor ys = kg::matmul(xs, kg::tensor{{1.f, 2.f, 3.f}, {-1.f, 0.f, 1.f}}) + 0.5;
  kg::sgd optimizer(0.1);
  for (int epoch = 0; epoch < 100; ++epoch)
    for (const auto& [x, y] : kg::batches({.size = 8, .shuffle = &rng}, xs, ys))
      optimizer.minimize([&] { return kg::mean_squared_error(y, layer(x)); });
  std::cout << kg::round(layer.weight * 100) / 100 << "\n" << kg::round(layer.bias * 100) / 100 << "\n";
}

void custom_ops_kernels_and_gradients() {
  kg::register_kernel({.name = "Twice", .run = [](const kg::kernel_call& call) {
                         const kg::tensor& x = call.input("x");
                         return kg::tensor_list{kg::tensor::build<float>(x.dims(), [&](std::span<float> y) {
                           for (std::size_t i = 0; const float v : x.data<float>()) y[i++] = 2 * v;
                         })};
                       }});
  kg::register_gradient({.name = "Twice", .run = [](const kg::gradient_call& call) {
                           return std::vector<kg::named_operand>{{"x", call.dy() * 2}};
                         }});
  const auto twice = [](const kg::tensor& x) { return kg::run_kernel("Twice", {{"x", x}}); };
  std::cout << twice(kg::tensor({1.f, 2.f})) << "\n" << kg::grad(twice)(kg::tensor({1.f, 2.f})) << "\n";
}

void saving_and_loading() {
  const std::vector<kg::variable> variables{kg::variable(kg::ones({2, 3}), "weight"),
                                            kg::variable(kg::zeros({3}), "bias")};
  kg::io::save("model.safetensors", kg::io::state_of(variables));
  kg::io::restore(kg::io::load("model.safetensors"), variables);
  for (const auto& [name, value] : kg::io::load("model.safetensors"))
    std::cout << name << " " << kg::to_string(value.dims()) << "\n";
}

void platform_and_environment() {
  const kg::profile_result seen = kg::profile([] { kg::sum(kg::exp(kg::ones({10}))); });
  for (const kg::kernel_run& run : seen.runs) std::cout << run.op << " of " << run.bytes << " bytes\n";
}

}  // namespace

int main() {
  tensors();
  operations();
  variables();
  memory();
  models_and_layers();
  custom_ops_kernels_and_gradients();
  saving_and_loading();
  platform_and_environment();
}
