// SPDX-License-Identifier: Apache-2.0
// Samples of the fused layers: every activation, biases and weights of every shape, on top of their products' samples.
module;
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/cartesian_product.hpp>
#include <range/v3/view/cycle.hpp>
#include <range/v3/view/take_exactly.hpp>
#include "kernels/common/abi.h"
module kerngrad.testkit;

namespace kerngrad::testkit::detail {
namespace {

namespace views = ranges::views;

// Biases between the activations' kinks, which are at 0 and 6, and far enough from them for small products.
tensor bias_of(const shape& dims) {
  constexpr float between[] = {1.5f, -1.5f, 4.5f, 7.5f};
  return tensor(between | views::cycle | views::take_exactly(dims.size()) | ranges::to<std::vector<float>>(), dims);
}

struct layer {
  shapes product;
  attributes attrs;
  shape bias{}, weights{};  // weights are for prelu
};

sample sample_of(const op_row& row, const layer& l, std::string_view activation) {
  sample s = make_sample(row, l.product, l.attrs);
  s.operands.emplace_back(row.operands[2].name, bias_of(l.bias));
  if (activation == "prelu") s.operands.emplace_back(row.operands[3].name, l.weights);
  s.attrs.push_back({"activation", attr_value(activation)});
  return s;
}

std::vector<layer> matrix_layers(bool long_ones) {
  const attributes both = {{"transposeA", true}, {"transposeB", true}};
  std::vector<layer> all = {{{{2, 4}, {4, 3}}, {}, {3}, {3}},
                            {{{4, 2}, {3, 4}}, both, {2, 1}, {}},
                            {{{2, 1, 2, 4}, {3, 4, 3}}, {}, {3, 1, 3}, {2, 1, 1, 3}},
                            {{{2, 4}, {4, 3}}, {}, {2, 3}, {2, 1}},
                            {{{2, 4}, {4, 1}}, {}, {}, {1}},
                            {{{0, 3}, {3, 2}}, {}, {2}, {2}},
                            {{{2, 0}, {0, 3}}, {}, {3}, {3}}};
  if (long_ones) all.push_back({{{13, 37}, {37, 35}}, {}, {35}, {35}});
  return all;
}

std::vector<layer> image_layers(bool depthwise, bool long_ones) {
  const shape filter{3, 2, 2, depthwise ? 2 : 4}, nhwc{2, 5, 4, 2}, nchw{2, 2, 5, 4};
  const attributes same = {{"pad", "same"}}, first = {{"pad", "same"}, {"dataFormat", "NCHW"}};
  std::vector<layer> all = {{{nhwc, filter}, same, {4}, {4}},
                            {{nhwc, filter}, {{"pad", 1}, {"strides", 2}, {"dilations", 1}}, {}, {1}},
                            {{nhwc, filter}, {{"pad", "valid"}}, {3, 3, 4}, {3, 1, 4}},
                            {{nchw, filter}, first, {4}, {4}},
                            {{nchw, filter}, first, {4, 1, 1}, {2, 1, 5, 4}}};
  if (long_ones) {
    const shape wide{3, 3, 19, depthwise ? 2 : 38};
    all.push_back({{{2, 9, 11, 19}, wide}, same, {38}, {38}});
  }
  return all;
}

}  // namespace

std::vector<sample> fused_samples(const op_row& row, bool long_ones) {
  const bool of_matrices = row.operand_index("filter") < 0;
  std::vector<sample> all = of_matrices ? matrix_samples(row, long_ones) : window_samples(row, long_ones);
  const std::vector<layer> layers = of_matrices ? matrix_layers(long_ones) : image_layers(row.depthwise, long_ones);
  const auto at = static_cast<std::size_t>(row.attr_index("activation"));
  const std::vector<std::string_view> activations = choices_of(row.attrs[at]);
  for (const auto& [activation, l] : views::cartesian_product(activations, layers))
    all.push_back(sample_of(row, l, activation));
  for (double slope : {-0.5, 0.0}) {
    sample leaky = sample_of(row, layers[0], "leakyrelu");
    leaky.attrs.push_back({"leakyreluAlpha", slope});
    all.push_back(std::move(leaky));
  }
  sample smooth = all[0];  // no bias, and nowhere a kink
  smooth.attrs.push_back({"activation", "sigmoid"});
  all.push_back(std::move(smooth));
  return all;
}

}  // namespace kerngrad::testkit::detail
