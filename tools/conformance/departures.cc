// SPDX-License-Identifier: Apache-2.0
// Recorded gradients that are others here: at kinks by convention, and of sigmoid and tanh near 1 by their digits.
#include <algorithm>
#include <iterator>

#include "tools/conformance/conformance.h"

namespace conformance {

namespace {

// A case by its id and its spec: ids of other corpora may be the same.
struct departure {
  std::string_view id, spec;
  std::vector<float> gradient;  ///< of the one operand, in the order of its elements
};

// Equal extremes share the gradient here, as in PyTorch's amax and JAX: the corpus gives all of it to each. The
// gradient of Abs at 0 is 0, as in PyTorch, JAX and TensorFlow: the corpus has -dy. The corpus computes the gradients
// of sigmoid and tanh from results in float32 and has three digits of them; here they have all digits.
constexpr float third = 1.0f / 3;
const departure departures[] = {
    {"Max-2", "max max gradient: 1D, ties", {0, 0, -0.5f, -0.5f}},
    {"Max-8",
     "max max gradient: ties, 3D, axes=[1, 2], keepDims=false",
     {0, -third, -third, -third, -0.5f, 0, -0.5f, 0}},
    {"Max-10",
     "max max gradient: ties, 4D, axes=[2, 3], keepDims=true",
     {0, -third, -third, -third, -1, 0, -1, 0, -3, 0, 0, 0, 0, -2, 0, -2}},
    {"Min-3", "min min gradient: ties, 2D, axes=-1, keepDims=false", {0, -0.5f, -0.5f, -0.5f, 0, -0.5f}},
    {"Min-9",
     "min min gradient: ties, 4D, axes=[2, 3], keepDims=true",
     {0, -third, -third, -third, -1, 0, -1, 0, -3, 0, 0, 0, 0, -2, 0, -2}},
    {"Abs-7", "layers: LayersModel.fit() with classWeight Two outputs, classWeight as array", {0, 0, 0, 0, 0, 0}},
    {"Abs-10", "layers: LayersModel.fit() with classWeight Two outputs, classWeight as map", {0, 0, 0, 0, 0, 0}},
    {"Abs-11",
     "layers: LayersModel.fitDataset() with classWeight One output, binary crossentropy, acc metric",
     {0, 0, 0, 0, 0, 0, 0, 0}},
    {"Abs-14",
     "layers: LayersModel.fitDataset() with classWeight Two outputs, binary crossentropy, acc metric",
     {0, 0, 0, 0, 0, 0, 0, 0}},
    {"Sigmoid-4",
     "layers: LayersModel.fit() with classWeight Two outputs, classWeight as array",
     {0, 0.0165249091f, 0.0166693479f, 0, 0, 0}},
    {"Sigmoid-5",
     "layers: LayersModel.fit() with classWeight Two outputs, classWeight as array",
     {0, 0, 0.0165127628f, 0, 0.0166685358f, 0}},
    {"Sigmoid-6",
     "layers: LayersModel.fit() with classWeight Two outputs, classWeight as map",
     {0.0166685358f, 0, 0, 0.0165127628f, 0, 0}},
    {"Tanh-13",
     "layers: SimpleRNN Tensor BPTT",
     {0.00598929031f, 0.00598929031f, 0.00598929031f, 0.00598929031f, 0.00598929031f}},
};

}  // namespace

std::optional<kg::tensor> departing_gradient(const json& line) {
  const std::string id = line.at("id"), spec = line.value("spec", "");
  const auto* found = std::find_if(std::begin(departures), std::end(departures),
                                   [&](const departure& item) { return item.id == id && item.spec == spec; });
  if (found == std::end(departures)) return {};
  const auto dims = line.at("inputs").at("x").at("shape").get<std::vector<std::int64_t>>();
  return kg::tensor(found->gradient, kg::shape(dims));
}

}  // namespace conformance
