// SPDX-License-Identifier: Apache-2.0
// Rows of the softmax family.
module;
#include "kernels/common/abi.h"
export module kerngrad:rows_softmax;

import :std;
import :core;
import :op;
import :attributes;
import :shapes;
import :rows;

namespace kerngrad::launch {
void along_axis(const launch_call&);
void cross_entropy(const launch_call&);
}  // namespace kerngrad::launch

namespace kerngrad::rows {

inline constexpr operand logits_real[] = {{"logits", real_or_bool}};
inline constexpr operand logits_labels[] = {{"logits", numeric}, {"labels", numeric}};

consteval op_row softmax_row(std::string_view name, std::string_view doc, std::span<const attr_spec> attrs) {
  return {.name = name,
          .doc = doc,
          .group = family::softmax,
          .operands = logits_real,
          .attrs = attrs,
          .types = floats,
          .infer = shapes::along_axis,
          .launch = launch::along_axis,
          .in_place = true,
          .cost = 16};
}

inline constexpr op_row softmax_rows[] = {
    softmax_row("Softmax", "exp(x) over its sum along an axis, shifted by the maximum.", attributes::along_dim),
    softmax_row("LogSoftmax", "The logarithm of softmax, without its underflow.", attributes::along_axis),
    {.name = "LogSumExp",
     .doc = "log(sum(exp(x))) along an axis, without overflow.",
     .group = family::softmax,
     .operands = logits_real,
     .attrs = attributes::along_axis,
     .types = floats,
     .infer = shapes::fold_along_axis,
     .launch = launch::along_axis,
     .cost = 16},
    {.name = "SoftmaxCrossEntropy",
     .doc = "-sum(labels * log_softmax(logits)) over the last axis.",
     .group = family::softmax,
     .operands = logits_labels,
     .types = floats,
     .infer = shapes::cross_entropy,
     .launch = launch::cross_entropy,
     .cost = 20},
};

}  // namespace kerngrad::rows
