// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "failure.h"
#include "network.h"

namespace demo {

void register_squared_relu() {
  kg::register_kernel({.name = "SquaredRelu",
                       .run = [](const kg::kernel_call& call) -> kg::tensor_list {
                         const kg::tensor& x = call.input("x");
                         std::vector<float> y;
                         y.reserve(static_cast<std::size_t>(x.size()));
                         for (const float value : x.data<float>()) y.push_back(value > 0 ? value * value : 0);
                         return {kg::tensor(y, x.dims())};
                       },
                       .dtypes = kg::only(kg::dtype::float32)});
  kg::register_gradient({.name = "SquaredRelu", .saves_inputs = {"x"}, .run = [](const kg::gradient_call& call) {
                           const kg::tensor slope = kg::relu(call.input("x")) * 2;
                           return std::vector<kg::named_operand>{{"x", call.dy() * slope}};
                         }});
}

std::uint64_t mixed(std::uint64_t seed, std::uint64_t stream) {  // SplitMix64
  std::uint64_t z = seed * 0x9e3779b97f4a7c15 + (stream + 1) * 0xd1342543de82ef95;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

network::network(model kind, std::uint64_t seed) : kind_(kind) {
  if (kind == model::cnn) {
    add_layer("conv1", {3, 3, 1, 32}, seed);
    add_layer("conv2", {3, 3, 32, 64}, seed);
    add_layer("dense1", {7 * 7 * 64, 128}, seed);
  } else {
    add_layer("dense1", {28 * 28, 128}, seed);
  }
  add_layer("dense2", {128, 10}, seed);
}

void network::add_layer(const std::string& name, const kg::shape& dims, std::uint64_t seed) {
  const std::int64_t outputs = dims[dims.rank() - 1];
  const double inputs = static_cast<double>(dims.size() / outputs);
  const auto stream = static_cast<std::int64_t>(mixed(seed, layers_.size()) >> 12);
  layers_.push_back({kg::variable(kg::random_normal(dims, 0, std::sqrt(2 / inputs), stream), name + ".weight"),
                     kg::variable(kg::zeros({outputs}), name + ".bias")});
}

// Convolution, bias, relu, pooling. To pool first would be the same network on paper only: where rounding makes equal
// what the bias is added to, or a window holds NaN, another pixel would get the gradient.
kg::tensor network::convolved(const kg::tensor& images, const layer& with) const {
  return kg::max_pool(
      kg::fused_conv2d(images, with.weights, {.bias = with.bias, .activation = kg::activation::relu, .pad = kg::same}),
      2);
}

kg::tensor network::scores(const kg::tensor& images, activation hidden_by) const {
  kg::tensor x = images;
  if (kind_ == model::cnn) {
    x = convolved(kg::reshape(x, {-1, 28, 28, 1}), layers_[0]);
    x = kg::reshape(convolved(x, layers_[1]), {-1, 7 * 7 * 64});
  }
  const layer &hidden = layers_[layers_.size() - 2], &last = layers_.back();
  x = kg::matmul(x, hidden.weights) + hidden.bias;
  x = hidden_by == activation::own ? kg::run_kernel("SquaredRelu", {{"x", x}}) : kg::square(kg::relu(x));
  return kg::matmul(x, last.weights) + last.bias;
}

std::int64_t network::parameter_count() const {
  std::int64_t count = 0;
  for (const layer& l : layers_) count += l.weights.value().size() + l.bias.value().size();
  return count;
}

std::string network::describe() const {
  return kind_ == model::cnn
             ? "cnn: conv 3x3 32, relu, pool 2x2, conv 3x3 64, relu, pool 2x2, dense 128, SquaredRelu, dense 10"
             : "mlp: dense 128, SquaredRelu, dense 10";
}

weight_map network::weights() const {
  weight_map all;
  for (const layer& l : layers_)
    for (const kg::variable& v : {l.weights, l.bias}) {
      const kg::tensor now = v.value();
      const std::span<const std::int64_t> dims = now.dims().dims();
      const std::span<const float> values = now.data<float>();
      all[v.name()] = {{dims.begin(), dims.end()}, {values.begin(), values.end()}};
    }
  return all;
}

std::vector<kg::variable> network::variables() const {
  std::vector<kg::variable> all;
  for (const layer& l : layers_) all.insert(all.end(), {l.weights, l.bias});
  return all;
}

kg::tensor network::filters() const {
  const std::int64_t side = kind_ == model::cnn ? 3 : 28;
  const kg::tensor columns = kg::reshape(layers_.front().weights, {side * side, -1});
  return kg::reshape(kg::transpose(columns), {-1, side, side});
}

void network::take(const weight_map& weights, const std::string& path) const {
  const weight_map own = this->weights();
  for (const auto& [name, w] : weights)
    if (!own.contains(name)) throw bad_input(fmt::format("{}: {} is no weight of this model", path, name));
  for (const auto& [name, w] : own) {
    const auto given = weights.find(name);
    if (given == weights.end()) throw bad_input(fmt::format("{}: no weight {}, which this model has", path, name));
    if (given->second.dims != w.dims)
      throw bad_input(fmt::format("{}: {} has shape {}; this model needs {}", path, name, given->second.dims, w.dims));
  }
  for (const layer& l : layers_)
    for (const kg::variable& v : {l.weights, l.bias})
      v.assign(kg::tensor(weights.at(v.name()).values, v.value().dims()));
}

}  // namespace demo
