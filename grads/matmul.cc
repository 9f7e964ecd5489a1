// SPDX-License-Identifier: Apache-2.0
// Gradient rules of the products of matrices and of any tensors.
module;
#include "kernels/common/abi.h"
module kerngrad:grads_matmul;

import :std;
import :core;
import :op;
import :rule;
import :call;
import :ops;
import :shapes_matmul;

namespace kerngrad::rules {

// ------------------------------------------------------------------------------------------ Einsum

/// Puts each slice of an axis on the diagonal of `times` axes of its size, with zeros next to it.
inline tensor on_diagonal(const tensor& x, int axis, int times) {
  if (times == 1) return x;
  std::vector<std::int64_t> sizes(x.dims().begin(), x.dims().end());
  const std::size_t at = static_cast<std::size_t>(axis);
  const std::int64_t size = sizes[at];
  std::int64_t all = 1, step = 0;  // of the axes as one: from each element of the diagonal to the next
  for (int i = 0; i < times; ++i) step += all, all *= size;
  std::vector<std::int64_t> begin(sizes.size()), steps(sizes.size(), 1), whole = sizes;
  whole[at] = all, steps[at] = step;
  const tensor placed = call<"StridedSliceGrad">(x, attr<"begin">(begin), attr<"end">(whole), attr<"strides">(steps),
                                                 attr<"inputShape">(whole));
  sizes.insert(sizes.begin() + axis, static_cast<std::size_t>(times - 1), size);
  return reshape(placed, shape(sizes));
}

/// Position of an index in a list; the list's size if it has none.
inline std::size_t position_of(const std::vector<int>& list, int index) {
  std::size_t i = 0;
  while (i < list.size() && list[i] != index) ++i;
  return i;
}

/// The gradient of one tensor of Einsum: dy and the other tensors multiplied, with that tensor's term as the result.
template <class C>
struct einsum_gradient {
  const C& c;
  const int at = c.index();
  const shapes::einsum_equation equation = read();
  std::vector<bool> available = std::vector<bool>(shapes::einsum_equation::indices);  // in dy or another tensor

  shapes::einsum_equation read() const {
    const std::string_view text = c.template attr<"equation">().as_text();
    std::vector<shape> dims;
    for (std::size_t i = 0; i < shapes::terms_of(text); ++i) dims.push_back(c.dims(static_cast<int>(i)));
    const auto refuse = [](const std::string& got, const std::string& wanted, std::string_view advice) {
      fail("Einsum", got, wanted, advice);
    };
    return shapes::einsum_reader(text, dims, refuse).read();
  }

  /// Every index has a letter; those of "..." get ones that do not occur.
  char letter(int index) const {
    if (index < shapes::einsum_equation::letters) return shapes::letter_of_index(index);
    int wanted = index - shapes::einsum_equation::letters, free = 0;
    for (;; ++free)
      if (!equation.occurs[free] && wanted-- == 0) return shapes::letter_of_index(free);
  }

  /// An axis of size 1 that others broadcast is left out.
  bool has_axis(int index, std::int64_t size) const { return size == equation.sizes[index]; }

  /// A factor without those, and its term.
  tensor factor(const tensor& x, const shapes::einsum_term& term, std::string& text) {
    std::vector<std::int64_t> sizes;
    for (int i = 0; i < term.rank; ++i) {
      if (!has_axis(term.index[i], x.dims()[i])) continue;
      sizes.push_back(x.dims()[i]);
      text += letter(term.index[i]);
      available[static_cast<std::size_t>(term.index[i])] = true;
    }
    return sizes.size() == static_cast<std::size_t>(term.rank) ? x : reshape(x, shape(sizes));
  }

  tensor operator()() {
    const shape& dims = c.dims(at);
    if (dims.size() == 0) return c.zeros(at);
    std::string text;
    std::vector<tensor> factors = {factor(c.dy(), equation.result, text)};
    for (std::size_t i = 0; i < equation.operands.size(); ++i)
      if (static_cast<int>(i) != at)
        text += ',', factors.push_back(factor(conj(c.in(static_cast<int>(i))), equation.operands[i], text));
    text += "->";
    // Each index of the tensor once; those of it alone broadcast, those that come again lead to a diagonal.
    const shapes::einsum_term& term = equation.operands[static_cast<std::size_t>(at)];
    std::vector<int> distinct, times;
    std::vector<std::int64_t> made, wanted;
    for (int i = 0; i < term.rank; ++i) {
      const int index = term.index[i];
      if (const std::size_t before = position_of(distinct, index); before < distinct.size()) {
        ++times[before];
        continue;
      }
      distinct.push_back(index), times.push_back(1), wanted.push_back(dims[i]);
      const bool there = has_axis(index, dims[i]) && available[static_cast<std::size_t>(index)];
      if (there) text += letter(index);
      made.push_back(there ? dims[i] : 1);
    }
    tensor g = reshape(einsum(text, std::span<const tensor>(factors)), shape(made));
    if (made != wanted) g = broadcast_to(g, shape(wanted));
    return in_term_order(std::move(g), term, distinct, times);
  }

  /// From one axis for each index to the axes of the term.
  static tensor in_term_order(tensor g, const shapes::einsum_term& term, const std::vector<int>& distinct,
                              const std::vector<int>& times) {
    std::vector<int> axes;  // the index of each axis of g
    for (std::size_t k = 0; k < distinct.size(); ++k) {
      g = on_diagonal(g, static_cast<int>(axes.size()), times[k]);
      axes.insert(axes.end(), static_cast<std::size_t>(times[k]), distinct[k]);
    }
    std::vector<std::int64_t> perm;
    bool same = true;
    for (int i = 0; i < term.rank; ++i) {
      const std::size_t from = position_of(axes, term.index[i]);
      axes[from] = -1;  // taken
      perm.push_back(static_cast<std::int64_t>(from));
      same = same && perm.back() == i;
    }
    return same ? g : transpose(g, perm);
  }
};

// ------------------------------------------------------------------------------------------ the rules

// With C = A B: dA = dC B^H and dB = A^H dC, each with the transpositions of the call undone.
inline constexpr auto matmul_rules = family_rules(rule_list{
    rule<"BatchMatMul">(wrt(keep::in1,
                            [](const auto& c) {
                              const bool ta = c.template attr<"transposeA">().as_bool(),
                                         tb = c.template attr<"transposeB">().as_bool();
                              const auto b = conj(c.in(1));
                              return c.reduced(0, ta ? matmul(b, c.dy(), tb, true) : matmul(c.dy(), b, false, !tb));
                            }),
                        wrt(keep::in0,
                            [](const auto& c) {
                              const bool ta = c.template attr<"transposeA">().as_bool(),
                                         tb = c.template attr<"transposeB">().as_bool();
                              const auto a = conj(c.in(0));
                              return c.reduced(1, tb ? matmul(c.dy(), a, true, ta) : matmul(a, c.dy(), !ta, false));
                            })),
    rule<"Einsum">(wrt(keep::in0, [](const auto& c) { return einsum_gradient<std::decay_t<decltype(c)>>{c}(); })),
});

}  // namespace kerngrad::rules
