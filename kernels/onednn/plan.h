// SPDX-License-Identifier: Apache-2.0
// Parts that the kernels on oneDNN share: primitives that are ready to run, kept per thread, and how they are run.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <dnnl.hpp>

#include "kernels/matmul/matmul.h"
#include "kernels/reduce/reduce.h"
#include "kernels/window/window.h"

namespace kerngrad::kernels::onednn {

/// An array that a primitive reads or writes. If oneDNN prefers another order of elements, `memory` is in that
/// order and lives in a buffer of the thread, and `reorder` converts from or to `plain`, which is the kernel's operand.
struct plan_operand {
  int argument;  ///< DNNL_ARG_...
  dnnl::memory memory;
  dnnl::memory plain;
  dnnl::primitive reorder;
};

/// A primitive for one geometry. Empty (`primitive` is null) where the SIMD kernel takes the geometry. Memory objects
/// get their addresses again with every run.
struct plan {
  dnnl::primitive primitive;
  std::string implementation;
  std::vector<plan_operand> in;
  plan_operand out;
};

/// Identifies a plan: the kind, then everything that the plan depends on; 0 beyond that.
using plan_key = std::array<std::int64_t, 16>;
enum plan_kind : std::int64_t { product_plan, output_plan, input_plan, filter_plan, classes_plan };

/// The plan for a key, from this thread's cache or by `build(geometry)`. An empty plan is remembered as well. oneDNN
/// refusing a geometry is an empty plan; std::bad_alloc for want of memory.
plan& plan_for(const plan_key& key, plan (*build)(plan_kind kind, const void* geometry), const void* geometry);

/// Runs a plan that is not empty. std::bad_alloc when oneDNN cannot: it has accepted the geometry before.
void run(plan& p, const void* const* in, void* out);

/// The plans of the families, by the geometry of their kernels. For BatchMatMul that of one step over the outer batch
/// axes.
plan& matmul_plan(const matmul_geometry& g);
plan& conv_plan(plan_kind kind, const window_geometry& g);
plan& softmax_plan(const reduce_geometry& g);

/// A plan that never runs.
plan& no_plan();

const dnnl::engine& engine();

/// float32 throughout, whatever the environment says about narrower types.
const dnnl::primitive_attr& attributes();

/// Primitive that oneDNN runs for the arguments of a description. Throws dnnl::error if it has none.
template <class Primitive, class... Arguments>
typename Primitive::primitive_desc described(const Arguments&... arguments) {
#if DNNL_VERSION_MAJOR >= 3
  return {engine(), arguments..., attributes()};
#else
  return {typename Primitive::desc(arguments...), attributes(), engine()};
#endif
}

/// The same for a backward pass, which wants to know of the forward one.
template <class Primitive, class Forward, class... Arguments>
typename Primitive::primitive_desc described_after(const Forward& forward, const Arguments&... arguments) {
#if DNNL_VERSION_MAJOR >= 3
  return {engine(), arguments..., forward, attributes()};
#else
  return {typename Primitive::desc(arguments...), attributes(), engine(), forward};
#endif
}

/// Softmax and its logarithm in one primitive, which took the name of the older one.
#if DNNL_VERSION_MAJOR >= 3
using softmax_forward = dnnl::softmax_forward;
#else
using softmax_forward = dnnl::softmax_v2_forward;
#endif

/// An operand in the order that the kernel's arrays have.
plan_operand plain_operand(int argument, const dnnl::memory::desc& layout);

/// An operand that goes through `wanted`, unless that is the kernel's order: to it before the primitive if `is_input`,
/// from it afterwards else.
plan_operand reordered_operand(int argument, const dnnl::memory::desc& plain, const dnnl::memory::desc& wanted,
                               bool is_input);

/// True if a description would run oneDNN's own reference code, which is there for completeness and slow.
bool is_reference(const dnnl::primitive_desc_base& description);

}  // namespace kerngrad::kernels::onednn
