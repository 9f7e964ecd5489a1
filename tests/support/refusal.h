// SPDX-License-Identifier: Apache-2.0
// The text of the error that a call is rejected with.
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>

import kerngrad;

namespace kgtest {

inline const std::string accepted = "accepted";

/// Message of the error, or `accepted` if there is none. Exceptions of other types pass through.
template <class F>
std::string refusal(F call) {
  try {
    static_cast<void>(call());
  } catch (const kg::error& e) {
    return e.what();
  }
  return accepted;
}

/// True if a text has all the parts.
inline bool says(std::string_view text, std::initializer_list<std::string_view> parts) {
  for (std::string_view part : parts)
    if (text.find(part) == text.npos) return false;
  return true;
}

}  // namespace kgtest
