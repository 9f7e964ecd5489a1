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

/// Returns the norm of all elements of all tensors together, sqrt(sum(x^2)), computed in float64. It is 0 for an empty
/// list. Throws for dtypes that are no floats and for undefined tensors.
double global_norm(std::span<const tensor> xs);
double global_norm(std::span<const variable_gradient> grads);

/// Scales all gradients in place by one factor, so that their global norm is at most `most`. Returns the norm before
/// that. Nothing changes if that norm is at most `most`, infinite or NaN: check it, and skip the step if it is not
/// finite. The new tensors are differentiable, but the factor counts as a constant. Throws unless `most` is above 0,
/// and as `global_norm`.
double clip_by_global_norm(std::span<tensor> grads, double most);
double clip_by_global_norm(std::span<variable_gradient> grads, double most);

/// Limits each element of the gradients to [low, high], in place. NaN stays NaN. Throws unless low is at most high, and
/// for undefined tensors; nothing has changed then.
void clip_by_value(std::span<tensor> grads, double low, double high);
void clip_by_value(std::span<variable_gradient> grads, double low, double high);

}  // namespace kerngrad
