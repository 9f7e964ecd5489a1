// SPDX-License-Identifier: Apache-2.0
// The two networks, as a user of the library writes them. Include last: this header imports the module.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "options.h"
#include "safetensors.h"
import kerngrad;

namespace demo {

/// Registers SquaredRelu, max(x, 0)^2 (So et al. 2021): an op that the library does not know, with its own kernel and
/// gradient. The networks use it on the dense layer of 128 units.
void register_squared_relu();

/// A number that is as good as random in (seed, stream), the same everywhere.
std::uint64_t mixed(std::uint64_t seed, std::uint64_t stream);

class network {
 public:
  /// Kaiming initialisation: normal weights of variance 2 / inputs, biases 0.
  network(model kind, std::uint64_t seed);

  /// Images [n, 784], from 0 to 1, to the scores of the ten classes [n, 10].
  kg::tensor operator()(const kg::tensor& images) const { return scores(images, activation::own); }
  /// Writes it as a graph model, model.json and its weights: in ops that every reader of such models knows. Its results
  /// are bitwise identical. Throws bad_input in a build without kerngrad.graph.
  void export_to(const std::string& folder) const;

  std::int64_t parameter_count() const;
  std::string describe() const;
  weight_map weights() const;
  std::vector<kg::variable> variables() const;
  /// Weights by which each channel or unit of the first layer multiplies pixels: [count, side, side].
  kg::tensor filters() const;
  /// Takes the weights of a file. Names and shapes must be this network's; else bad_input, and nothing has changed.
  void take(const weight_map& weights, const std::string& path) const;

 private:
  struct layer {
    kg::variable weights, bias;
  };
  enum class activation { own, composed };  // SquaredRelu by its name, or in the library's ops
  kg::tensor scores(const kg::tensor& images, activation hidden) const;
  void add_layer(const std::string& name, const kg::shape& dims, std::uint64_t seed);
  kg::tensor convolved(const kg::tensor& images, const layer& with) const;

  model kind_;
  std::vector<layer> layers_;
};

}  // namespace demo
