// SPDX-License-Identifier: Apache-2.0
// The text of the error that a call is refused with.
#pragma once
#include <string>

import kerngrad;

namespace kgtest {

inline const std::string accepted = "accepted";

/// What the error says, or `accepted` when there is none. Exceptions of other types go on.
template <class F>
std::string refusal(F call) {
  try {
    static_cast<void>(call());
  } catch (const kg::error& e) {
    return e.what();
  }
  return accepted;
}

}  // namespace kgtest
