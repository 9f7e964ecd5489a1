// SPDX-License-Identifier: Apache-2.0
// Error cases of the reference's ops that are composed functions here: no kernel belongs to them.
#include <algorithm>
#include <cmath>

#include "tools/conformance/conformance.h"

namespace conformance {

namespace {

// The arguments of an op by their names. An attribute that is missing or null has the default.
class arguments {
 public:
  explicit arguments(const json& all) : all_(all) {}

  bool given(const char* name) const { return all_.contains(name) && !all_.at(name).is_null(); }
  kg::tensor tensor(const char* name) const { return given(name) ? tensor_argument(all_.at(name)) : kg::tensor(); }
  std::vector<kg::tensor> tensors(const char* name) const {
    std::vector<kg::tensor> list;
    for (const json& item : all_.at(name)) list.push_back(tensor_argument(item));
    return list;
  }
  double number(const char* name, double otherwise) const { return given(name) ? number_of(all_.at(name)) : otherwise; }
  std::int64_t whole(const char* name, std::int64_t otherwise) const {
    return given(name) ? whole_of(all_.at(name)) : otherwise;
  }
  std::vector<std::int64_t> list(const char* name) const {
    std::vector<std::int64_t> items;
    for (const json& item : all_.at(name)) items.push_back(whole_of(item));
    return items;
  }
  kg::axes axes(const char* name) const {
    if (!given(name)) return kg::all_axes;
    return all_.at(name).is_array() ? kg::axes(list(name)) : kg::axes(whole(name, 0));
  }
  kg::extent extent(const char* name) const {
    if (given(name) && all_.at(name).is_array()) return {list(name).at(0), list(name).at(1)};
    return whole(name, 1);
  }
  kg::padding padding(const char* name) const {
    if (all_.at(name).is_string()) return kg::padding(all_.at(name).get_ref<const std::string&>());
    return static_cast<int>(whole(name, 0));
  }
  bool says(const char* name, std::string_view text) const { return given(name) && all_.at(name) == text; }

 private:
  static std::int64_t whole_of(const json& value) {
    if (!value.is_number() || std::trunc(value.get<double>()) != value.get<double>()) no_equivalent();
    return static_cast<std::int64_t>(value.get<double>());
  }
  const json& all_;
};

struct composed_op {
  std::string_view op, function;
  void (*run)(const arguments&);
};
constexpr composed_op composed_ops[] = {
    {"confusionMatrix", "confusion_matrix",
     [](const arguments& a) {
       kg::confusion_matrix(a.tensor("labels"), a.tensor("predictions"), a.whole("numClasses", 1));
     }},
    {"conv1d", "conv1d",
     [](const arguments& a) {
       if (a.given("dimRoundingMode")) no_equivalent();  // widths are rounded down
       kg::conv1d(a.tensor("x"), a.tensor("filter"),
                  {.stride = a.whole("stride", 1), .pad = a.padding("pad"), .dilation = a.whole("dilation", 1)});
     }},
    {"dot", "dot", [](const arguments& a) { kg::dot(a.tensor("t1"), a.tensor("t2")); }},
    {"dropout", "dropout", [](const arguments& a) { kg::dropout(a.tensor("x"), a.number("rate", 0), 1); }},
    {"ensureShape", "ensure_shape", [](const arguments& a) { kg::ensure_shape(a.tensor("x"), a.list("shape")); }},
    {"gramSchmidt", "gram_schmidt", [](const arguments& a) { kg::gram_schmidt(a.tensors("xs")); }},
    {"grayscaleToRGB", "grayscale_to_rgb", [](const arguments& a) { kg::grayscale_to_rgb(a.tensor("image")); }},
    {"logSigmoid", "log_sigmoid", [](const arguments& a) { kg::log_sigmoid(a.tensor("x")); }},
    {"movingAverage", "moving_average",
     [](const arguments& a) {
       kg::moving_average_options how;
       if (a.given("step")) how.step = a.number("step", 1);
       kg::moving_average(a.tensor("v"), a.tensor("x"), a.tensor("decay").item(), how);
     }},
    {"norm", "norm",
     [](const arguments& a) { kg::norm(a.tensor("x"), kg::norm_order(a.number("ord", 2)), a.axes("axis")); }},
    {"pool", "pool",
     [](const arguments& a) {
       kg::pool(a.tensor("input"), a.extent("windowShape"),
                a.says("poolingType", "max") ? kg::pooling::max : kg::pooling::avg,
                {.pad = a.padding("pad"), .dilations = a.extent("dilations"), .strides = a.extent("strides")});
     }},
    {"qr", "qr", [](const arguments& a) { kg::qr(a.tensor("x")); }},
    {"rand", "rand", [](const arguments& a) { kg::rand(kg::shape(a.list("shape")), [] { return 0.0; }); }},
    {"randomGamma", "random_gamma",
     [](const arguments& a) {
       kg::random_gamma(kg::shape(a.list("shape")), a.number("alpha", 1), a.number("beta", 1), 1);
     }},
    {"randomUniformInt", "random_uniform_int",
     [](const arguments& a) {
       kg::random_uniform_int(kg::shape(a.list("shape")), a.whole("minval", 0), a.whole("maxval", 1), 1);
     }},
    {"separableConv2d", "separable_conv2d",
     [](const arguments& a) {
       kg::separable_conv2d(a.tensor("x"), a.tensor("depthwiseFilter"), a.tensor("pointwiseFilter"),
                            {.strides = a.extent("strides"), .pad = a.padding("pad")});
     }},
    {"squeeze", "squeeze", [](const arguments& a) { kg::squeeze(a.tensor("x"), a.axes("axis")); }},
};

}  // namespace

std::optional<composed_call> composed_call_of(const json& line) {
  const std::string& op = line.at("op").get_ref<const std::string&>();
  const auto* found = std::find_if(std::begin(composed_ops), std::end(composed_ops),
                                   [&](const composed_op& item) { return item.op == op; });
  if (found == std::end(composed_ops)) return {};
  return composed_call{std::string(found->function), [found, &line] { found->run(arguments(line.at("args"))); }};
}

}  // namespace conformance
