// SPDX-License-Identifier: Apache-2.0
// Names in errors of calls by name: those that are like an unknown one, and the op's in place of its function's.
module;
#include <algorithm>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/iota.hpp>
#include <range/v3/view/join.hpp>
#include <string>
#include <tuple>
#include <typeinfo>
#include <utility>
#include <vector>
#include "kernels/common/abi.h"
#include "modules/typed_names.h"
module kerngrad;

import :by_name;
import :live;

namespace kerngrad::detail {
namespace {

// The number of letters to insert, delete or exchange between two names (Levenshtein 1966).
std::size_t edits_between(std::string_view a, std::string_view b) {
  std::vector<std::size_t> line = ranges::views::iota(std::size_t{0}, b.size() + 1) | ranges::to<std::vector>();
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t corner = line[0]++;
    for (std::size_t j = 0; j < b.size(); ++j)
      corner = std::exchange(line[j + 1], std::min({line[j + 1] + 1, line[j] + 1, corner + (a[i] != b[j])}));
  }
  return line.back();
}

}  // namespace

// The nearest name comes first; of equally near ones that which begins like `wanted`, then the first in the alphabet.
std::vector<std::string> similar_names(std::string_view wanted) {
  using ranked = std::tuple<std::size_t, bool, std::string>;
  std::vector<ranked> near;
  for (std::string& name : op_names()) {
    const std::size_t edits = edits_between(wanted, name);
    const bool begins_otherwise = !name.starts_with(wanted);
    if (edits <= 2) near.emplace_back(edits, begins_otherwise, std::move(name));
  }
  std::sort(near.begin(), near.end());
  std::vector<std::string> names;
  for (ranked& one : near) names.push_back(std::get<std::string>(std::move(one)));
  return names;
}

error as_spelled_by_name(const error& e, std::string_view name) {
  return e.op() == spelled(name) ? error(name, e.got(), e.wanted(), e.advice()) : e;
}

void rethrow_spelled(const error& e, std::string_view name) {
  if (typeid(e) != typeid(error) || e.op() != spelled(name)) throw;
  throw as_spelled_by_name(e, name);
}

error missing_name(std::string_view name, const live_backend& on) {
  const std::string others = backends_with(name);
  const std::vector<std::string> names = similar_names(name);
  const auto similar = names | ranges::views::join(std::string_view(", ")) | ranges::to<std::string>();
  return error("run_kernel", "kernel \"" + std::string(name) + "\" on backend " + on.name,
               others.empty()
                   ? similar.empty() ? "a known or registered name" : "a known or registered name, such as " + similar
                   : "a backend that has it: " + others,
               others.empty() ? "register it with register_kernel"
                              : "register it with register_kernel, or allow set_fallback(fallback::by_priority)");
}

}  // namespace kerngrad::detail
