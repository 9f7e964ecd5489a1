// SPDX-License-Identifier: Apache-2.0
// Gradient rules of the fused layers, put together from those of their parts: the activation's rule turns dy into the
// gradient of the sum, which is the bias's and, through the product's rule, that of the product's operands.
module;
#include "kernels/common/abi.h"
module kerngrad:grads_fused;

import :std;
import :core;
import :shapes;
import :op;
import :table;
import :tensor;
import :rule;
import :like;
import :call;
import :ops;
import :grads_elementwise;
import :grads_matmul;
import :grads_window;

namespace kerngrad::rules {

/// The index of an op's rule in its family.
template <fixed_string Op, class... Rules>
consteval std::size_t rule_index(const rule_list<Rules...>&) {
  std::size_t at = 0;
  const bool found = ((Rules::name == Op || (++at, false)) || ...);
  return found ? at : throw "a fused layer of an op without a rule in this family";
}

/// The gradient of operand I by the rule of `Op`, in a context that stands for the part's own.
template <const auto& Family, fixed_string Op, std::size_t I, class Context>
auto part_rule(const Context& c) {
  return Family.template at<rule_index<Op>(Family)>().parts.of.template at<I>().gradient(c);
}

/// True if a layer's result has its channels in front.
template <fixed_string Op, class C>
bool has_channels_first(const C& c) {
  if constexpr (Op.view() == "_FusedMatMul") return false;
  else return c.template attr<"dataFormat">().as_text() == "NCHW";
}
/// The bias or prelu's weights, operand i, are one value per channel of a result with its channels in front: they do
/// not broadcast by themselves.
template <fixed_string Op, class C>
bool is_per_leading_channel(const C& c, int i) {
  return has_channels_first<Op>(c) && c.dims(i).rank() == 1;
}

/// g, which has the result's shape, summed to that of operand i.
template <fixed_string Op, class C, class V>
auto to_finish_operand(const C& c, int i, const V& g) {
  if (is_per_leading_channel<Op>(c, i) && c.dims(i)[0] != 1) return sum(g, {0, 2, 3});
  return c.reduced(i, g);
}

/// The operand of the activation, computed once more: the layer without activation.
template <fixed_string Op, class C>
auto sum_again(const C& c) {
  return c.template once<1>([&] { return call_like<Op>(c, c.in(0), c.in(1), c.in(2), attr<"activation">("linear")); });
}

/// The context of the activation's rule: that of an elementwise op from the sum (and the weights) to the result.
template <fixed_string Op, class C>
struct activation_context {
  const C& c;

  auto dy() const { return c.dy(); }
  auto out() const { return c.out(); }
  auto in(int i) const {
    if (i == 1) return is_per_leading_channel<Op>(c, 3) ? reshape(c.in(3), {c.dims(3)[0], 1, 1}) : c.in(3);
    // The rule of LeakyRelu asks whether the sum is above 0. With a slope of 0 or more, the result says it, too.
    const bool leaky = c.template attr<"activation">().as_text() == "leakyrelu";
    return leaky && c.template attr<"leakyreluAlpha">().as_number() >= 0 ? c.out() : sum_again<Op>(c);
  }
  template <class V>
  auto reduced(int i, const V& g) const {
    return i == 0 ? g : to_finish_operand<Op>(c, 3, g);
  }
  template <fixed_string Name>
  const attr_value& attr() const {
    static_assert(Name.view() == "alpha", "the activations' only attribute");
    return c.template attr<"leakyreluAlpha">();
  }
};

/// The gradient of the sum of product and bias.
template <fixed_string Op, class C>
auto before_activation(const C& c) {
  return c.template once<0>([&] {
    const activation_context<Op, C> part{c};
    const std::string_view activation = c.template attr<"activation">().as_text();
    if (activation == "relu") return part_rule<elementwise_rules, "Relu", 0>(part);
    if (activation == "relu6") return part_rule<elementwise_rules, "Relu6", 0>(part);
    // From the result: computing the sum again costs as much as the layer. A result of sigmoid that rounds to 1 gives
    // 0, and from 1/2 on the error is up to 2^-24 / (1 - y) of the gradient in float32. So it is for elu near -1.
    if (activation == "elu") return elu_grad(c.dy(), c.out());
    if (activation == "sigmoid") return c.dy() * (c.out() * (1 - c.out()));
    if (activation == "leakyrelu") return part_rule<elementwise_rules, "LeakyRelu", 0>(part);
    if (activation == "prelu") return part_rule<elementwise_rules, "Prelu", 0>(part);
    return c.dy();
  });
}

/// The context of the product's rule: its dy is the gradient of the sum, the rest is the layer's.
template <fixed_string Op, class C>
struct product_context {
  const C& c;

  auto dy() const { return before_activation<Op>(c); }
  const auto& in(int i) const { return c.in(i); }
  const shape& dims(int i) const { return c.dims(i); }
  template <class V>
  auto reduced(int i, const V& g) const {
    return c.reduced(i, g);
  }
  template <fixed_string Name>
  const attr_value& attr() const {
    return c.template attr<Name>();
  }
};

}  // namespace kerngrad::rules

namespace kerngrad::detail {

template <fixed_string Op, class C>
struct row_of_context<rules::product_context<Op, C>> : row_of_context<C> {};

}  // namespace kerngrad::detail

namespace kerngrad::rules {

/// The rules of a fused layer of `Product`, an op of `Family`. Everything is kept: most activations take their gradient
/// from the result, relu6, prelu and leakyrelu with a negative slope from the sum, which is computed again.
template <fixed_string Op, const auto& Family, fixed_string Product>
constexpr auto fused_rule() {
  constexpr kept all = keep::all_in | keep::out0;
  return rule<Op>(
      wrt(all, []<class C>(const C& c) { return part_rule<Family, Product, 0>(product_context<Op, C>{c}); }),
      wrt(all, []<class C>(const C& c) { return part_rule<Family, Product, 1>(product_context<Op, C>{c}); }),
      wrt(all, [](const auto& c) { return to_finish_operand<Op>(c, 2, before_activation<Op>(c)); }),
      wrt(all,
          []<class C>(const C& c) { return part_rule<elementwise_rules, "Prelu", 1>(activation_context<Op, C>{c}); }));
}

inline constexpr auto fused_rules = family_rules(rule_list{
    fused_rule<"_FusedMatMul", matmul_rules, "BatchMatMul">(),
    fused_rule<"FusedConv2D", window_rules, "Conv2D">(),
    fused_rule<"FusedDepthwiseConv2D", window_rules, "DepthwiseConv2dNative">(),
});

}  // namespace kerngrad::rules
