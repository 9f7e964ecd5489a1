// SPDX-License-Identifier: Apache-2.0
// One list of several of kernels, without the standard library, as in abi.h.
#pragma once
#include "kernels/common/abi.h"

namespace kerngrad::kernels {

template <std::size_t Count>
struct entry_list {
  entry items[Count];
};

/// The items of all lists, in their order.
template <std::size_t... Counts>
consteval entry_list<(Counts + ...)> list_of(const entry (&... lists)[Counts]) {
  entry_list<(Counts + ...)> all{};
  std::size_t at = 0;
  const auto append = [&](const auto& list) {
    for (const entry& item : list) all.items[at++] = item;
  };
  (append(lists), ...);
  return all;
}

}  // namespace kerngrad::kernels
