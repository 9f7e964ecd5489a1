// SPDX-License-Identifier: Apache-2.0
// The composed functions: what programs expect next to the ops and what needs no kernels of its own. They call ops, so
// they run on every backend, and are differentiable by the rules of these.
module;
#include "kernels/common/abi.h"
export module kerngrad:composed;

export import :composed_arrays;
export import :composed_matrices;
export import :composed_losses;
export import :composed_statistics;
export import :composed_layers;
export import :composed_attention;
export import :composed_sequences;
export import :composed_warps;
export import :composed_numbers;
export import :composed_images;
export import :composed_signals;
export import :composed_draws;
export import :composed_generator;
export import :composed_batches;
export import :composed_initializers;
export import :composed_norms;
export import :composed_orders;
export import :composed_quantiles;
export import :composed_nan_statistics;
export import :composed_histograms;
export import :composed_sets;
export import :composed_samples;
export import :composed_polynomials;
export import :composed_stacking;
export import :composed_values;
export import :composed_spectra;
export import :composed_windows;
export import :composed_filters;
export import :composed_estimates;
export import :composed_special;
export import :composed_variates;
