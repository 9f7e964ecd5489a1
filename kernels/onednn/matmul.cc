// SPDX-License-Identifier: Apache-2.0
// BatchMatMul: the innermost batch axis is oneDNN's, the outer ones are walked here. The launchers merge what can be
// merged, so that more than one axis is left only when an operand is broadcast along some of them.
#include "kernels/matmul/matmul.h"

#include <cstddef>
#include <limits>

#include "kernels/onednn/onednn.h"
#include "kernels/onednn/plan.h"

namespace kerngrad::kernels::onednn {
namespace {

// The products of one primitive: a stack of matrices, `stride_a` and `stride_b` matrices apart in the operands, of
// which 0 repeats one. The kernel loops over the remaining batch axes.
struct product {
  std::int64_t stack = 1, m, n, k, stride_a = 0, stride_b = 0;
  bool transpose_a, transpose_b;
  int outer_rank = 0;

  explicit product(const matmul_geometry& g)
      : m(g.m), n(g.n), k(g.k), transpose_a(g.transpose_a), transpose_b(g.transpose_b) {
    if (g.batch_rank == 0) return;
    outer_rank = g.batch_rank - 1;
    stack = g.batch_dims[outer_rank];
    stride_a = g.stride_a[outer_rank];
    stride_b = g.stride_b[outer_rank];
    if (stride_b == 0 && stride_a == 1 && !transpose_a) {  // one B for a stack of A: one tall product
      m *= stack;
      stack = 1;
      stride_a = 0;
    }
  }
};

dnnl::memory::desc layout(std::int64_t stack, std::int64_t rows, std::int64_t columns, bool transposed,
                          std::int64_t stride) {
  const std::int64_t down = transposed ? 1 : columns, right = transposed ? rows : 1;
  constexpr auto type = dnnl::memory::data_type::f32;
  if (stack == 1) return {{rows, columns}, type, {down, right}};
  if (stride == 0) return {{1, rows, columns}, type, {rows * columns, down, right}};
  return {{stack, rows, columns}, type, {stride * rows * columns, down, right}};
}

plan build(plan_kind, const void* description) {
  const product& p = *static_cast<const product*>(description);
  const auto a = layout(p.stack, p.m, p.k, p.transpose_a, p.stride_a);
  const auto b = layout(p.stack, p.k, p.n, p.transpose_b, p.stride_b);
  const auto c = layout(p.stack, p.m, p.n, false, 1);
  const auto found = described<dnnl::matmul>(a, b, c);
  if (is_reference(found)) return {};
  return {dnnl::matmul(found),
          found.impl_info_str(),
          {plain_operand(DNNL_ARG_SRC, a), plain_operand(DNNL_ARG_WEIGHTS, b)},
          plain_operand(DNNL_ARG_DST, c)};
}

plan& plan_of(const product& p) {
  // oneDNN's generated code counts elements in int.
  constexpr double most = std::numeric_limits<std::int32_t>::max();
  const double stack = static_cast<double>(p.stack), m = static_cast<double>(p.m), n = static_cast<double>(p.n),
               k = static_cast<double>(p.k);
  if (stack * m * n * k == 0 || stack * m * n > most ||
      (p.stride_a ? stack * static_cast<double>(p.stride_a) : 1) * m * k > most ||
      (p.stride_b ? stack * static_cast<double>(p.stride_b) : 1) * k * n > most)
    return no_plan();
  return plan_for({product_plan, p.stack, p.m, p.n, p.k, p.transpose_a, p.transpose_b, p.stride_a, p.stride_b}, build,
                  &p);
}

}  // namespace

plan& matmul_plan(const matmul_geometry& g) { return plan_of(product(g)); }

void BatchMatMul_float32(const void* const* in, void* const* out, const void* geometry) {
  const auto& g = *static_cast<const matmul_geometry*>(geometry);
  const product p(g);
  plan& ready = plan_of(p);
  if (!ready.primitive) return kernels::BatchMatMul_float32(in, out, geometry);
  std::int64_t outer = 1;
  for (int axis = 0; axis < p.outer_rank; ++axis) outer *= g.batch_dims[axis];
  const std::int64_t step = p.stack * p.m * p.n;
  for (std::int64_t index = 0; index < outer; ++index) {
    std::int64_t rest = index, at_a = 0, at_b = 0;
    for (int axis = p.outer_rank - 1; axis >= 0; rest /= g.batch_dims[axis--]) {
      at_a += rest % g.batch_dims[axis] * g.stride_a[axis];
      at_b += rest % g.batch_dims[axis] * g.stride_b[axis];
    }
    const void* operands[] = {static_cast<const float*>(in[0]) + at_a * g.m * g.k,
                              static_cast<const float*>(in[1]) + at_b * g.k * g.n};
    run(ready, operands, static_cast<float*>(out[0]) + index * step);
  }
}

}  // namespace kerngrad::kernels::onednn
