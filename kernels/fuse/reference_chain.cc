// SPDX-License-Identifier: Apache-2.0
// The chains of dtypes without SIMD kernels, element by element. Heads are the reference kernels of their ops, so that
// the bits are those of the ops one by one here, too.
#include <cmath>
#include <cstddef>
#include <utility>

#include "kernels/common/lists.h"
#include "kernels/common/reference_scalar.h"
#include "kernels/elementwise/unary.h"
#include "kernels/fuse/chain.h"

namespace kerngrad::kernels::reference {
namespace {

// One element by the kernel of its dtype.
template <class T>
T by_kernel(flat1_fn narrow, flat1_fn wide, T x) {
  T y;
  (sizeof(T) == sizeof(float) ? narrow : wide)(&x, &y, 1);
  return y;
}

// sigmoid(-|x|).
template <class T>
T sigmoid_tail(T x) {
  return by_kernel(Sigmoid_float32, Sigmoid_float64, -std::fabs(x));
}

template <class T>
T sigmoid_slope(T tail) {
  return tail * (1 - tail);
}

// The first op's result for its operands x[0], x[1], ...
template <class T>
T opened(chain_first_op first_op, const T* x) {
  switch (first_op) {
    case chain_first_op::none: return x[0];
    case chain_first_op::Sigmoid: return by_kernel(Sigmoid_float32, Sigmoid_float64, x[0]);
    case chain_first_op::Tanh: return by_kernel(Tanh_float32, Tanh_float64, x[0]);
    case chain_first_op::Exp: return by_kernel(Exp_float32, Exp_float64, x[0]);
    case chain_first_op::SigmoidTail: return sigmoid_tail(x[0]);
    case chain_first_op::SigmoidGrad: return x[0] * sigmoid_slope(x[1]);
    case chain_first_op::SwishGrad: return x[0] * (x[2] >= 0 ? 1 - x[1] : x[1]) + x[0] * x[2] * sigmoid_slope(x[1]);
  }
  __builtin_unreachable();
}

template <class T>
T next_value(chain_step step, T value, T x) {
  switch (step) {
    case chain_step::none: return value;
    case chain_step::plus: return value + x;
    case chain_step::minus: return value - x;
    case chain_step::times: return value * x;
    case chain_step::from: return x - value;
  }
  __builtin_unreachable();
}

template <class T>
void run_chain(const chain_shape& shape, const chain_geometry& g, const T* const* operands, T* y) {
  const std::size_t count = operands_of(shape);
  for (std::size_t i = 0; i < g.n; ++i) {
    T x[most_chain_operands] = {};
    for (std::size_t k = 0; k < count; ++k) x[k] = get<T>(operands[k], static_cast<std::int64_t>(g.moves[k] ? i : 0));
    T value = opened(shape.first_op, x);
    for (std::size_t k = 0, next = operands_of(shape.first_op); next < count; ++k, ++next) {
      const bool tail = k == 0 && g.keeps_sigmoid_tail;
      if (g.kept[k]) put(g.kept[k], static_cast<std::int64_t>(i), tail ? sigmoid_tail(x[0]) : value);
      value = next_value(shape.steps[k], value, x[next]);
    }
    put(y, static_cast<std::int64_t>(i), value);
  }
}

// Kernel of a chain, with a parameter for each operand.
template <class T, chain_shape Shape, class = std::make_index_sequence<operands_of(Shape)>>
struct chain_kernel;
template <class T, chain_shape Shape, std::size_t... K>
struct chain_kernel<T, Shape, std::index_sequence<K...>> {
  template <std::size_t>
  using operand_pointer = const T*;
  static void run(const chain_geometry& g, operand_pointer<K>... x, T* y) {
    const T* const operands[] = {x...};
    run_chain(Shape, g, operands, y);
  }
};

}  // namespace

KG_TYPED_CALL

#define KG_DEFINE_CHAIN(first_op, first, second, third, type)                                    \
  KG_UNLESS_SIMD(                                                                                \
      type, void KG_CHAIN_NAME(first_op, first, second, third, type) KG_RUN_PARAMETERS {         \
        constexpr chain_shape shape{chain_first_op::first_op,                                    \
                                    {chain_step::first, chain_step::second, chain_step::third}}; \
        typed_call<&chain_kernel<storage_t<dtype::type>, shape>::run>::run(in, out, geometry);   \
      })
KG_CHAINS(KG_DEFINE_CHAIN, float32)
KG_CHAINS(KG_DEFINE_CHAIN, float64)
#undef KG_DEFINE_CHAIN

}  // namespace kerngrad::kernels::reference
