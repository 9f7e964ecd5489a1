// SPDX-License-Identifier: Apache-2.0
// JSON from files of unknown origin.
#pragma once
#include <nlohmann/json.hpp>

#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace kgtools {

/// Fault of a text, as the end of a sentence: "not JSON (at byte 7)".
struct malformed_json : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The value that [first, last) writes down, with objects and lists at most `deepest` inside each other: code that
/// walks or prints it recurses no deeper. Throws malformed_json for deeper ones, for an object that has a key twice,
/// where the last would win without a word, for numbers beyond a double, and for what is no JSON.
template <class Iterator>
nlohmann::json parse_strictly(Iterator first, Iterator last, int deepest) {
  using json = nlohmann::json;
  using event = json::parse_event_t;
  std::vector<std::set<std::string>> keys(static_cast<std::size_t>(deepest) + 1);  // of the open objects, by depth
  const auto check = [&](int depth, event what, json& value) {
    const auto at = static_cast<std::size_t>(depth);
    if (what == event::object_start || what == event::array_start) {
      if (depth >= deepest) throw malformed_json("nested more than " + std::to_string(deepest) + " deep");
      keys[at + 1].clear();
    } else if (what == event::key && !keys[at].insert(value.get<std::string>()).second) {
      throw malformed_json("an object with the key " + value.get<std::string>().substr(0, 80) + " twice");
    }
    return true;
  };
  try {
    return json::parse(first, last, check);
  } catch (const json::parse_error& e) {
    throw malformed_json("not JSON (at byte " + std::to_string(e.byte) + ")");
  } catch (const json::out_of_range&) {
    throw malformed_json("JSON with a number that no double holds");
  }
}

}  // namespace kgtools
