// SPDX-License-Identifier: Apache-2.0
// Verdicts on cases, and their counts. Include it last.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "tests/opinfo/sample.h"

namespace opinfo {

/// The part of a case that is compared.
enum class part : std::uint8_t { value, gradient, second_order, error };
inline constexpr std::string_view part_names[] = {"value", "gradient", "second order", "error"};

/// `rejected` is a call that throws kg::error, and no wrong result; `skipped` one that cannot be put to the library.
enum class verdict : std::uint8_t { equal, departs, rejected, skipped, failed };
inline constexpr std::string_view verdict_names[] = {"equal", "departs", "rejected", "skipped", "failed"};

struct finding {
  part of;
  verdict is;
  std::string why{};
};

/// Runs a case: its value, and its gradients where they were recorded; of a case with an error whether it throws.
std::vector<finding> judged(const json& line, const call_line& call);

/// Known departures from the recorded results, from a file of lines `OPS PARTS DTYPES [NUMBERS]: reason`. The
/// first three are lists with commas. `*` stands for every part or dtype; the numbers are those of samples, all where
/// there are none. No file: no departures.
class departures {
 public:
  explicit departures(const std::string& file);
  /// True if a difference is known.
  bool has(const json& line, part of);
  /// Departures that no case needed: an op, a part and a dtype each.
  std::vector<std::string> unused() const;

 private:
  struct entry {
    std::string op, part, dtype;
    std::vector<int> numbers;
    std::string reason;
    bool used = false;
  };
  std::vector<entry> entries_;
};

/// Counts of findings by family and by part.
class report {
 public:
  void add(const json& line, const call_line& call, const finding& found);
  /// A table of counts, what was skipped and rejected, and the failures: all of them, or some of each op.
  void print(bool verbose) const;
  std::int64_t failed() const { return failed_; }

 private:
  using counts = std::map<std::string, std::array<std::int64_t, std::size(verdict_names)>>;
  std::array<counts, std::size(part_names)> families_;                  ///< by part, then by family
  std::map<std::string, std::map<std::string, std::int64_t>> reasons_;  ///< of skipped and rejected ones, by op
  std::map<std::string, std::vector<std::string>> failures_;            ///< by op
  std::set<std::string> compared_;
  std::int64_t failed_ = 0;
};

}  // namespace opinfo
