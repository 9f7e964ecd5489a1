// SPDX-License-Identifier: Apache-2.0
// Known departures, and what the run prints.
#include <algorithm>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <sstream>

#include "tests/opinfo/judge.h"

namespace opinfo {

// ------------------------------------------------------------------------------------------ departures

namespace {

std::vector<std::string> listed(const std::string& text) {
  std::vector<std::string> all;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) all.push_back(word);
  return all;
}

}  // namespace

departures::departures(const std::string& file) {
  if (file.empty()) return;
  std::ifstream in(file);
  if (!in) throw std::runtime_error(file + ": cannot be read");
  for (std::string text; std::getline(in, text);) {
    if (text.empty() || text[0] == '#') continue;
    const std::size_t colon = text.find(": ");
    if (colon == std::string::npos) throw std::runtime_error(file + ": no reason in `" + text + "`");
    std::istringstream words(text.substr(0, colon));
    entry one;
    std::string ops, parts, dtypes;
    words >> ops >> parts >> dtypes;
    for (int number = 0; words >> number;) one.numbers.push_back(number);
    one.reason = text.substr(colon + 2);
    for (const std::string& op : listed(ops))
      for (const std::string& part : listed(parts))
        for (const std::string& dtype : listed(dtypes)) {
          one.op = op, one.part = part, one.dtype = dtype;
          entries_.push_back(one);
        }
  }
}

bool departures::has(const json& line, part of) {
  std::string name(part_names[static_cast<std::size_t>(of)]);
  std::ranges::replace(name, ' ', '-');
  const std::string op = line.at("op"), type = line.at("t");
  bool found = false;
  for (entry& one : entries_) {
    if (one.op != op || (one.part != "*" && one.part != name)) continue;
    if (one.dtype != "*" && one.dtype != type) continue;
    if (!one.numbers.empty() && std::ranges::find(one.numbers, line.at("n").get<int>()) == one.numbers.end()) continue;
    one.used = found = true;
  }
  return found;
}

std::vector<std::string> departures::unused() const {
  std::vector<std::string> all;
  for (const entry& one : entries_)
    if (!one.used) all.push_back(one.op + " " + one.part + " " + one.dtype + ": " + one.reason);
  return all;
}

// ------------------------------------------------------------------------------------------ report

namespace {

constexpr std::size_t shown = 3;

std::string shortened(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text.size() > 200 ? text.substr(0, 197) + "..." : text;
}

}  // namespace

void report::add(const json& line, const call_line& call, const finding& found) {
  const std::string op = line.at("op"), family(call.family);
  ++families_[static_cast<std::size_t>(found.of)][family][static_cast<std::size_t>(found.is)];
  if (found.is == verdict::equal || found.is == verdict::departs) compared_.insert(op);
  if (found.is == verdict::skipped) ++reasons_["skipped: " + found.why][op];
  if (found.is == verdict::rejected) ++reasons_["rejected"][op];
  if (found.is != verdict::failed) return;
  ++failed_;
  failures_[op].push_back(line.at("t").get<std::string>() + " " + std::to_string(line.at("n").get<int>()) + ", " +
                          std::string(part_names[static_cast<std::size_t>(found.of)]) + ": " + shortened(found.why));
}

void report::print(bool verbose) const {
  for (const auto& [op, texts] : failures_) {
    std::cout << op << ": " << texts.size() << " failed\n";
    const std::size_t count = verbose ? texts.size() : std::min(shown, texts.size());
    for (std::size_t i = 0; i < count; ++i) std::cout << "  " << texts[i] << "\n";
  }
  for (const auto& [reason, ops] : reasons_) {
    std::int64_t sum = 0;
    for (const auto& [op, count] : ops) sum += count;
    std::cout << std::setw(6) << sum << "  " << reason;
    if (verbose)
      for (const auto& [op, count] : ops) std::cout << " " << op << " " << count << ",";
    std::cout << "\n";
  }
  std::cout << std::left << std::setw(14) << "family" << std::setw(14) << "class" << std::right;
  for (const std::string_view name : verdict_names) std::cout << std::setw(10) << name;
  std::cout << "\n";
  for (std::size_t of = 0; of < families_.size(); ++of)
    for (const auto& [family, numbers] : families_[of]) {
      std::cout << std::left << std::setw(14) << family << std::setw(14) << part_names[of] << std::right;
      for (const std::int64_t number : numbers) std::cout << std::setw(10) << number;
      std::cout << "\n";
    }
  std::cout << compared_.size() << " ops compared, " << failed_ << " differences\n";
}

}  // namespace opinfo
