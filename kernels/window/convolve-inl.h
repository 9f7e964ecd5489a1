// SPDX-License-Identifier: Apache-2.0
// The convolutions of images that those of volumes consist of. Private to kernels/; included once per target. conv.cc
// defines them, so that their code is compiled once.
#if defined(KERNGRAD_KERNELS_CONVOLVE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNGRAD_KERNELS_CONVOLVE_INL_H_
#undef KERNGRAD_KERNELS_CONVOLVE_INL_H_
#else
#define KERNGRAD_KERNELS_CONVOLVE_INL_H_
#endif

#include "hwy/highway.h"
#include "kernels/window/conv_plan.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {

/// Computes the job. Returns whether `after` was applied, too.
bool convolve_images(const conv_job<float>& job);
bool convolve_images(const conv_job<double>& job);

/// Computes the gradient of a filter with elements, summed over the images of the job. Padding takes no part, whatever
/// the gradients that it meets.
void sum_filter_gradient(const filter_gradient_job<float>& job, float* dw);
void sum_filter_gradient(const filter_gradient_job<double>& job, double* dw);

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // include guard per target
