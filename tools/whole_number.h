// SPDX-License-Identifier: Apache-2.0
// Whole numbers on the command lines of the tools.
#pragma once
#include <CLI/CLI.hpp>

#include <charconv>
#include <cstdint>
#include <string>

namespace kgtools {

/// Takes decimal whole numbers from `least` to `most`, to be given to an option's `transform`. CLI11's own conversion
/// takes what is beyond 64 bits for the largest number, -1 for an unsigned type's largest, and 010 for 8.
inline CLI::Validator whole_number(std::uint64_t least, std::uint64_t most) {
  return {[least, most](std::string& text) {
            std::uint64_t value = 0;
            const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
            if (fault == std::errc() && end == text.data() + text.size() && least <= value && value <= most) {
              text = std::to_string(value);
              return std::string();
            }
            const std::string shown = text.size() > 40 ? text.substr(0, 40) + "..." : text;
            return "a whole number from " + std::to_string(least) + " to " + std::to_string(most) + " is wanted, got " +
                   shown;
          },
          ""};
}

}  // namespace kgtools
