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

/// Options of implicit, for the linear system of a gradient: it is solved until its residual is at most `tolerance` of
/// its right side (0 stands for 1e-10 in float64 and 1e-5 in other floats), by at most `products` products.
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

/// The x with residual(x, p...) = 0 as a function of p..., found by solve(p...), whatever that does: it may iterate
/// until it is content, read elements, and call code without gradients.
///   const auto root = kg::implicit([](const tensor& x, const tensor& a) { return x * x - a; },
///                                  [](const tensor& a) { return newton(a); });
///   kg::grad(root)(a);   // 1 / (2 * root(a))
/// A fixed point of g is where x - g(x, p...) is 0, a minimum of h where grad(h) is. By the implicit function theorem
/// the gradients are -(dr/dp)^T u with (dr/dx)^T u = dy, at the solution; u is found without the matrix, by GMRES (Saad
/// and Schultz 1986). They are as right as the solution is, and differentiable to any order; what solve did keeps no
/// memory. p... are tensors; what residual captures has no gradient. Throws for a solution that is not of floats, for a
/// residual of another shape or dtype than x, and where the linear system has no solution to the tolerance, as where
/// dr/dx is singular.
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
