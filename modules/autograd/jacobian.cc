// SPDX-License-Identifier: Apache-2.0
// Whole matrices of first and second derivatives, and products with the second.
module;
#include "kernels/common/abi.h"
export module kerngrad:jacobian;

import :std;
import :core;
import :tensor;
import :grad;

export namespace kerngrad {

/// The products that make a Jacobian: a vector-Jacobian product for each row, or a Jacobian-vector product for each
/// column.
enum class jacobian_by : std::uint8_t {
  fewer,  ///< columns if there are fewer of them, else rows
  rows,   ///< also works with custom rules that are not written in ops
  columns,
};

}  // namespace kerngrad

namespace kerngrad::detail {

/// A borrowed callable of several results.
struct borrowed_results {
  void* function;
  void (*run)(void* function, std::span<const tensor> xs, std::span<tensor> ys);
};
// Each writes the blocks of the matrix in row-major order: a row of blocks for each result, one for each operand.
void jacobian_blocks(std::string_view name, borrowed_results f, std::span<const tensor> xs, jacobian_by by,
                     std::span<tensor> blocks);
void hessian_blocks(std::string_view name, borrowed f, std::span<const tensor> xs, std::span<tensor> blocks);
// For one operand each.
void hessian_products(borrowed f, std::span<const tensor> xs, std::span<const tensor> vs, std::span<tensor> products);

// How many results a function returns: 1 for a tensor, whose entry in what is returned is then no array.
template <class R>
struct results_in {
  static constexpr std::size_t count = 1;
  template <class T>
  using of = T;
};
template <std::size_t M>
struct results_in<std::array<tensor, M>> {
  static constexpr std::size_t count = M;
  template <class T>
  using of = std::array<T, M>;
};

template <std::size_t Count, class F>
borrowed_results borrow_results(F& f) {
  return {const_cast<void*>(static_cast<const void*>(&f)),
          [](void* function, std::span<const tensor> xs, std::span<tensor> ys) {
            [&]<std::size_t... I>(std::index_sequence<I...>) {
              auto made = (*static_cast<F*>(function))(xs[I]...);
              if constexpr (taken_for<decltype(made), tensor>) {
                ys[0] = std::move(made);
              } else {
                for (std::size_t k = 0; k < made.size(); ++k) ys[k] = std::move(made[k]);
              }
            }(std::make_index_sequence<Count>{});
          }};
}

/// The result of jacobian.
template <class F>
class jacobian_function {
 public:
  jacobian_function(F f, jacobian_by by) : f_(std::move(f)), by_(by) {}
  auto operator()(const tensor& x) { return of(f_, x, by_); }
  auto operator()(const tensor& x) const
    requires callable_as_const<F, tensor>
  {
    return of(f_, x, by_);
  }

 private:
  template <class G>
  static auto of(G& f, const tensor& x, jacobian_by by) {
    using results = results_in<std::remove_cvref_t<std::invoke_result_t<G&, const tensor&>>>;
    std::array<tensor, results::count> blocks;
    jacobian_blocks("kg::jacobian", borrow_results<1>(f), {&x, 1}, by, blocks);
    if constexpr (std::is_same_v<typename results::template of<tensor>, tensor>) return std::move(blocks[0]);
    else return blocks;
  }
  F f_;
  jacobian_by by_;
};

/// The result of jacobians.
template <class F>
class jacobians_function {
 public:
  jacobians_function(F f, jacobian_by by) : f_(std::move(f)), by_(by) {}
  template <class... T>
  auto operator()(const T&... x) {
    return of(f_, std::array<tensor, sizeof...(T)>{x...}, by_);
  }
  template <class... T>
    requires callable_as_const<F, T...>
  auto operator()(const T&... x) const {
    return of(f_, std::array<tensor, sizeof...(T)>{x...}, by_);
  }

 private:
  template <class G, std::size_t N>
  static auto of(G& f, const std::array<tensor, N>& xs, jacobian_by by) {
    using results = results_in<std::remove_cvref_t<decltype(called(f, xs, std::make_index_sequence<N>{}))>>;
    std::array<tensor, results::count * N> blocks;
    jacobian_blocks("kg::jacobians", borrow_results<N>(f), xs, by, blocks);
    if constexpr (std::is_same_v<typename results::template of<tensor>, tensor>) {
      return blocks;
    } else {
      std::array<std::array<tensor, N>, results::count> rows;
      for (std::size_t i = 0; i < blocks.size(); ++i) rows[i / N][i % N] = std::move(blocks[i]);
      return rows;
    }
  }
  template <class G, std::size_t N, std::size_t... I>
  static auto called(G& f, const std::array<tensor, N>& xs, std::index_sequence<I...>) -> decltype(f(xs[I]...));
  F f_;
  jacobian_by by_;
};

/// The result of hessian.
template <class F>
class hessian_function {
 public:
  explicit hessian_function(F f) : f_(std::move(f)) {}
  tensor operator()(const tensor& x) { return of(f_, x); }
  tensor operator()(const tensor& x) const
    requires callable_as_const<F, tensor>
  {
    return of(f_, x);
  }

 private:
  template <class G>
  static tensor of(G& f, const tensor& x) {
    tensor block;
    hessian_blocks("kg::hessian", borrow<1>(f), {&x, 1}, {&block, 1});
    return block;
  }
  F f_;
};

/// The result of hessians.
template <class F>
class hessians_function {
 public:
  explicit hessians_function(F f) : f_(std::move(f)) {}
  template <class... T>
  auto operator()(const T&... x) {
    return of(f_, std::array<tensor, sizeof...(T)>{x...});
  }
  template <class... T>
    requires callable_as_const<F, T...>
  auto operator()(const T&... x) const {
    return of(f_, std::array<tensor, sizeof...(T)>{x...});
  }

 private:
  template <class G, std::size_t N>
  static auto of(G& f, const std::array<tensor, N>& xs) {
    std::array<tensor, N * N> blocks;
    hessian_blocks("kg::hessians", borrow<N>(f), xs, blocks);
    std::array<std::array<tensor, N>, N> rows;
    for (std::size_t i = 0; i < blocks.size(); ++i) rows[i / N][i % N] = std::move(blocks[i]);
    return rows;
  }
  F f_;
};

/// The result of hvp.
template <class F>
class hessian_product {
 public:
  explicit hessian_product(F f) : f_(std::move(f)) {}
  /// For a function of one tensor: at x, with the vector v.
  tensor operator()(const tensor& x, const tensor& v) { return of(f_, x, v); }
  tensor operator()(const tensor& x, const tensor& v) const
    requires callable_as_const<F, tensor>
  {
    return of(f_, x, v);
  }
  /// For a function of several tensors: `hvp(f)({a, b}, {va, vb})`. An undefined tensor stands for a vector of zeros.
  template <std::size_t N>
  std::array<tensor, N> operator()(const tensor (&xs)[N], const tensor (&vs)[N]) {
    return of(f_, xs, vs);
  }
  template <std::size_t N>
  std::array<tensor, N> operator()(const tensor (&xs)[N], const tensor (&vs)[N]) const {
    return of(f_, xs, vs);
  }

 private:
  template <class G>
  static tensor of(G& f, const tensor& x, const tensor& v) {
    tensor product;
    hessian_products(borrow<1>(f), {&x, 1}, {&v, 1}, {&product, 1});
    return product;
  }
  template <class G, std::size_t N>
  static std::array<tensor, N> of(G& f, const tensor (&xs)[N], const tensor (&vs)[N]) {
    std::array<tensor, N> products;
    hessian_products(borrow<N>(f), xs, vs, products);
    return products;
  }
  F f_;
};

}  // namespace kerngrad::detail

export namespace kerngrad {

/// The Jacobian of f: `jacobian(f)(x)` has the shape [axes of f(x)..., axes of x...] and x's dtype. Element [i...,
/// j...] is the derivative of element i of the result with respect to element j of x. It is 0 if the result does not
/// depend on x. If f returns a std::array of tensors, the result is an array of Jacobians. f runs once. Then one
/// product is computed per row or per column, whichever are fewer. A product by row costs about one gradient, a product
/// by column about two. Throws if x or a result is not floating, and if both together have more than 8 axes. Nests with
/// all other transforms. Differentiable to any order.
template <class F>
detail::jacobian_function<F> jacobian(F f, jacobian_by by = jacobian_by::fewer) {
  return {std::move(f), by};
}

/// The Jacobians of f with respect to every operand, as a std::array: `jacobians(f)(a, b)`. If f returns a std::array
/// of tensors, the result is an array of such arrays, one per tensor. Shapes and errors are as in `jacobian`.
template <class F>
detail::jacobians_function<F> jacobians(F f, jacobian_by by = jacobian_by::fewer) {
  return {std::move(f), by};
}

/// The Jacobians of a function of a list of operands, one per operand. The length of the list is only known at run
/// time. Shapes and errors are as in `jacobian`.
std::vector<tensor> jacobian_of(const std::function<tensor(std::span<const tensor>)>& f, std::span<const tensor> xs,
                                jacobian_by by = jacobian_by::fewer);

/// The matrix of second derivatives of f, whose result has one element. `hessian(f)(x)` has the shape [axes of x...,
/// axes of x...] and x's dtype. f runs once; then each element of x costs one gradient of the gradient. Throws as
/// jacobian does, and if the result of f has more than one element. Nests with all other transforms.
template <class F>
detail::hessian_function<F> hessian(F f) {
  return detail::hessian_function<F>(std::move(f));
}

/// The second derivatives of f with respect to every pair of operands: `hessians(f)(a, b)[0][1]` has the shape [axes of
/// a..., axes of b...]. Throws as `hessian`.
template <class F>
detail::hessians_function<F> hessians(F f) {
  return detail::hessians_function<F>(std::move(f));
}

/// The product of the Hessian of f with a vector v of x's shape and dtype, without the matrix: `hvp(f)(x, v)` costs
/// about two gradients (Pearlmutter 1994). The result of f has one element. The product is computed as the gradient of
/// sum(grad(f)(x) * v), which relies on symmetric second derivatives. With a custom rule that breaks the symmetry, it
/// is the product with the transposed matrix. Throws if v has another shape or dtype than x, and as `hessian`.
/// Differentiable, in v as well. Nests with all other transforms.
template <class F>
detail::hessian_product<F> hvp(F f) {
  return detail::hessian_product<F>(std::move(f));
}

}  // namespace kerngrad
