// SPDX-License-Identifier: Apache-2.0
// Functions that are said by an equation: their gradients need the solution alone, not the way to it.
module;
#include "kernels/common/abi.h"
export module kerngrad:implicit;

import :std;
import :core;
import :tensor;
import :grad;
import :transform;

export namespace kerngrad {

/// Options of implicit, for the linear system of a gradient. The solver stops when the residual is at most `tolerance`
/// times the right side. It takes at most `products` matrix-vector products. A tolerance of 0 stands for 1e-10 in
/// float64 and 1e-5 in other floats.
struct implicit_options {
  double tolerance = 0;
  std::int64_t products = 1000;
};

}  // namespace kerngrad

namespace kerngrad::detail {

tensor run_implicit(const list_function& residual, const list_function& solve, std::span<const tensor> parameters,
                    const implicit_options& options);

}  // namespace kerngrad::detail

export namespace kerngrad {

/// Makes a function of p... that returns the x with residual(x, p...) = 0, which solve(p...) finds. The solver may do
/// anything: iterate, read elements, call code without gradients.
///   const auto root = kg::implicit([](const tensor& x, const tensor& a) { return x * x - a; },
///                                  [](const tensor& a) { return newton(a); });
///   kg::grad(root)(a);   // 1 / (2 * root(a))
/// Use the residual x - g(x, p...) for a fixed point of g, and grad(h) for a minimum of h. By the implicit function
/// theorem the gradients are -(dr/dp)^T u with (dr/dx)^T u = dy, at the solution. GMRES (Saad and Schultz 1986) finds u
/// without the matrix. The gradients are as accurate as the solution, and differentiable to any order. Steps of the
/// solver take no memory afterwards. p... are tensors; values that the residual captures have no gradient. Throws if
/// the solution is not floating, and if the residual has another shape or dtype than x. Throws if the linear system has
/// no solution within the tolerance, for example because dr/dx is singular.
template <class R, class S>
auto implicit(R residual, S solve, implicit_options options = {}) {
  return [residual = std::move(residual), solve = std::move(solve), options]<class... P>(const P&... p) -> tensor
           requires detail::tensor_function<const S, P...> && detail::tensor_function<const R, tensor, P...>
  {
    const detail::list_function at = [residual](std::span<const tensor> xs) -> tensor {
      return detail::spread(residual, xs, std::make_index_sequence<sizeof...(P) + 1>{});
    };
    const detail::list_function by = [&solve](std::span<const tensor> xs) -> tensor {
      return detail::spread(solve, xs, std::make_index_sequence<sizeof...(P)>{});
    };
    return detail::run_implicit(at, by, std::array<tensor, sizeof...(P)>{p...}, options);
  };
}

}  // namespace kerngrad
