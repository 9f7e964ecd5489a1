// SPDX-License-Identifier: Apache-2.0
// Gradients that are too large made smaller, between variable_grads and a step.
module;
#include "kernels/common/abi.h"
export module kerngrad:clipping;

import :std;
import :core;
import :tensor;
import :grad;

export namespace kerngrad {

/// The root of the sum of the squares of all elements of all tensors, in float64; 0 of none. Floats of any kind.
double global_norm(std::span<const tensor> xs);
double global_norm(std::span<const variable_gradient> grads);

/// Scales all of them by one factor, so that their global norm is at most `most`, above 0, and gives the norm that it
/// was. If that is at most `most` nothing changes, and neither where it is infinite or NaN: the caller sees it, and
/// leaves out the step. The elements are computed by ops: new tensors, differentiable but for the factor.
double clip_by_global_norm(std::span<tensor> grads, double most);
double clip_by_global_norm(std::span<variable_gradient> grads, double most);

/// Each element at least `low` and at most `high`; NaN stays.
void clip_by_value(std::span<tensor> grads, double low, double high);
void clip_by_value(std::span<variable_gradient> grads, double low, double high);

}  // namespace kerngrad
