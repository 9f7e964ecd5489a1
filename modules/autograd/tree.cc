// SPDX-License-Identifier: Apache-2.0
// Trees: containers and structs of tensors, as functions of many parameters take them.
module;
#include "kernels/common/abi.h"
export module kerngrad:tree;

import :std;
import :core;
import :tensor;

export namespace kerngrad {

/// Makes your own struct a tree: `of` returns references to its members in a tuple. `template <> struct
/// kg::tree_members<dense> { static auto of(auto& d) { return std::tie(d.weight, d.bias); } };`
template <class T>
struct tree_members;

}  // namespace kerngrad

namespace kerngrad::detail {

template <class T>
concept struct_tree = requires(T& x) { tree_members<std::remove_cvref_t<T>>::of(x); };
template <class T>
concept range_tree = !taken_for<const T&, std::string_view> && requires(T& x) {
  x.begin();
  x.end();
};
template <class T>
concept map_tree = range_tree<T> && requires { typename std::remove_cvref_t<T>::mapped_type; };
template <class T>
concept optional_tree = requires(T& x) {
  x.has_value();
  *x;
};
template <class T>
concept tuple_tree = requires { std::tuple_size<std::remove_cvref_t<T>>::value; };

// Calls visit with each tensor of a tree, in the order of its members, items or keys; undefined tensors and what is no
// tensor, such as numbers and texts, are passed by.
template <class T, class Visit>
void each_tensor(T& tree, Visit& visit) {
  using type = std::remove_cvref_t<T>;
  if constexpr (std::same_as<type, tensor>) {
    if (tree.defined()) visit(tree);
  } else if constexpr (struct_tree<T>) {
    std::apply([&](auto&... members) { (each_tensor(members, visit), ...); }, tree_members<type>::of(tree));
  } else if constexpr (map_tree<T>) {
    for (auto& [key, value] : tree) each_tensor(value, visit);
  } else if constexpr (range_tree<T>) {
    for (auto& item : tree) each_tensor(item, visit);
  } else if constexpr (optional_tree<T>) {
    if (tree.has_value()) each_tensor(*tree, visit);
  } else if constexpr (tuple_tree<T>) {
    std::apply([&](auto&... items) { (each_tensor(items, visit), ...); }, tree);
  } else {
    static_assert(number<type> || __is_enum(type) || taken_for<const type&, std::string_view>,
                  "a tree is a tensor, a container, a tuple or an optional of trees, or a struct whose members a "
                  "specialisation of kg::tree_members shows");
  }
}

[[noreturn]] void refuse_other_tree(std::string_view name, std::size_t got, std::size_t wanted);

template <class T>
void replace_leaves(T& tree, std::span<const tensor> by) {
  std::size_t at = 0;
  const auto put = [&](tensor& x) { x = by[at++]; };
  each_tensor(tree, put);
}

}  // namespace kerngrad::detail

export namespace kerngrad {

/// A container or struct of tensors: std::vector, std::array and other ranges, std::tuple, std::pair, std::optional, or
/// a struct with `tree_members`. A map is a tree of its values. Trees may be nested.
template <class T>
concept tree = !detail::taken_for<const T&, tensor> &&
               (detail::struct_tree<T> || detail::range_tree<T> || detail::optional_tree<T> || detail::tuple_tree<T>);

/// The tensors of a tree in the order of its members, items and keys, without undefined tensors.
template <tree T>
std::vector<tensor> tree_leaves(const T& from) {
  std::vector<tensor> leaves;
  const auto take = [&](const tensor& x) { leaves.push_back(x); };
  detail::each_tensor(from, take);
  return leaves;
}

/// Returns the tree with f(leaf, the leaves of the other trees at the same position...) in place of each tensor:
/// `params = tree_map([](const tensor& p, const tensor& g) { return p - g * 0.1; }, params, grads)`. Throws if another
/// tree has another number of tensors.
template <class F, tree T, tree... Others>
T tree_map(F f, const T& first, const Others&... others) {
  const std::vector<tensor> leaves = tree_leaves(first);
  const std::array<std::vector<tensor>, sizeof...(Others)> beside{tree_leaves(others)...};
  for (const std::vector<tensor>& other : beside)
    if (other.size() != leaves.size()) detail::refuse_other_tree("kg::tree_map", other.size(), leaves.size());
  std::vector<tensor> mapped;
  for (std::size_t i = 0; i < leaves.size(); ++i)
    mapped.push_back([&]<std::size_t... K>(std::index_sequence<K...>) {
      return tensor(f(leaves[i], beside[K][i]...));
    }(std::index_sequence_for<Others...>{}));
  T result = first;
  detail::replace_leaves(result, mapped);
  return result;
}

}  // namespace kerngrad
