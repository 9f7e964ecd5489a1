// SPDX-License-Identifier: Apache-2.0
// Products with what follows them: `fused_ops` of _FusedConv2D, FusedDepthwiseConv2dNative and _FusedMatMul. A bias and
// an activation that the rows know are one call, all else is several.
module;
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad.graph;

namespace kerngrad::graph::detail {

namespace {

std::string lower_case(std::string_view text) {
  std::string result;
  for (const char letter : text) result += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return result;
}

// The rows' activations by TensorFlow's names.
constexpr std::string_view activations[] = {"Relu", "Relu6", "Elu", "Sigmoid", "LeakyRelu", "Prelu"};
bool is_activation(std::string_view name) {
  return std::find(std::begin(activations), std::end(activations), name) != std::end(activations);
}

}  // namespace

// Anything but [BiasAdd], then an activation.
bool has_more_than_one_call(const node& at) {
  const std::span<const std::string> ops = texts_of(at, "fused_ops");
  std::size_t next = !ops.empty() && ops[0] == "BiasAdd" ? 1 : 0;
  if (next < ops.size() && is_activation(ops[next])) ++next;
  return next < ops.size();
}

void take_fused(bound_call& call, const node& at, std::span<const tensor> in) {
  std::int32_t next = 2;
  const auto take = [&](std::string_view name) {
    if (next >= static_cast<std::int32_t>(in.size()))
      fail(at.op, std::to_string(in.size()) + " inputs", "one for each of fused_ops that takes one");
    call.operands.push_back({.name = name, .inputs = {next++}, .list = false});
  };
  for (const std::string& op : texts_of(at, "fused_ops")) {
    if (op == "BiasAdd") {
      take("bias");
      continue;
    }
    if (op == "Prelu") take("preluActivationWeights");
    call.attrs.push_back({"activation", std::string_view(lower_case(op))});
  }
}

namespace {

// A node of the op, with the attributes of the fused one.
tensor run_step(const node& fused, std::string_view op, std::vector<tensor> in) {
  node step = fused;
  step.op = op;
  const op_mapping* m = mapping_of(op);
  if (m == nullptr || m->how != runs_by::row)
    fail(fused.op, "\"" + std::string(op) + "\" in fused_ops", "BiasAdd, FusedBatchNorm or an activation");
  if (how_of(*m, step) == runs_by::function) return run_function(*m, step, in)[0];
  bound_call bound = detail::bind(*m, step, in);  // and not std::bind, which a vector would find
  if (op == "LeakyRelu") bound.attrs.push_back({"alpha", number_of(fused, "leakyrelu_alpha", 0.2)});
  return run_bound(bound, in)[0];
}

tensor_list run_fused(const node& at, std::string_view product, std::span<const tensor> in) {
  if (in.size() < 2) fail(at.op, std::to_string(in.size()) + " inputs", "at least 2");
  const op_mapping& first = *mapping_of(product);
  tensor y = run_bound(bind(first, at, in.first(2)), in)[0];
  std::size_t next = 2;
  for (const std::string& op : texts_of(at, "fused_ops")) {
    const std::size_t more = op == "BiasAdd" || op == "Prelu" ? 1 : op == "FusedBatchNorm" ? 4 : 0;
    if (in.size() < next + more) fail(at.op, std::to_string(in.size()) + " inputs", "those of each of fused_ops");
    std::vector<tensor> operands{y};
    for (std::size_t i = 0; i < more; ++i) operands.push_back(in[next++]);
    y = run_step(at, op, std::move(operands));
  }
  return {y};
}

}  // namespace

tensor_list run_fused_conv(const node& at, std::span<const tensor> in) { return run_fused(at, "Conv2D", in); }

tensor_list run_fused_depthwise(const node& at, std::span<const tensor> in) {
  return run_fused(at, "DepthwiseConv2dNative", in);
}

tensor_list run_fused_matmul(const node& at, std::span<const tensor> in) { return run_fused(at, "MatMul", in); }

}  // namespace kerngrad::graph::detail
