// SPDX-License-Identifier: Apache-2.0
// The conformance runner: cases of a corpus as JSON lines, run through the by-name API and judged one by one.
// Include it last: the standard and other headers go before its import.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

import kerngrad;

namespace conformance {

using json = nlohmann::json;

/// The corpus itself is at fault: it cannot be read, or a line is not what the format says. Ends the run.
struct corpus_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The case cannot be put to this library; the reason is counted.
struct skip_case {
  std::string reason;
};

enum class verdict { passed, failed, skipped };

/// The result of a case. `why` is the difference, the reason for skipping, or a remark on a passed case.
struct outcome {
  verdict is = verdict::passed;
  std::string why{};
};

// ------------------------------------------------------------------------------------------ corpus

/// Calls `run` with each line of a JSON Lines file. A line that is no JSON, or that `run` finds malformed, becomes a
/// corpus_error which names file and line.
void for_each_line(const std::filesystem::path& file, const std::function<void(const json&)>& run);

/// A number; "NaN", "Infinity" and "-Infinity" are numbers too.
double number_of(const json& value);

/// A tensor of the corpus. Throws skip_case for strings and for elements that were not recorded.
kg::tensor tensor_of(const json& value);

/// A call by name.
struct kernel_call {
  std::string kernel;
  std::vector<kg::named_operand> operands{};
  std::vector<kg::named_attribute> attrs{};

  kg::tensor_list run() const { return kg::run_kernel_list(kernel, operands, attrs); }
};

/// Adds an attribute unless it is null, in the kind that the kernel's row gives it. Throws skip_case for a value
/// that no attribute can hold.
void add_attribute(kernel_call& call, const std::string& name, const json& value);

/// The call of a line with "kernel", "attrs" and "inputs".
kernel_call call_of(const json& line);

/// The kernel's row, or null for a kernel that is registered at run time or absent.
const kg::op_row* row_of(std::string_view kernel);

/// Throws skip_case when the active backend has no kernel of that name.
void require_kernel(std::string_view kernel);

// ------------------------------------------------------------------------------------------ comparison

/// |actual - expected| <= max(absolute, relative * |expected|).
struct tolerance {
  double absolute, relative;
};
inline constexpr tolerance by_element{1e-6, 1e-4};
inline constexpr tolerance by_sum{1e-5, 1e-3};  ///< where the result depends on the order of a summation

/// By the family of the kernel's row.
tolerance tolerance_of(std::string_view kernel);

/// The first difference in a few words; empty when dtype, shape and elements agree.
std::string difference(const kg::tensor& actual, const kg::tensor& expected, tolerance within);

/// True if a sum in float32 is as near to the recorded one as float32 can tell: within eps * sum |term| for each
/// element, which `sums` holds. If terms cancel, that is more than a tolerance allows.
bool cancels(const kg::tensor& actual, const kg::tensor& expected, const kg::tensor& sums);

/// "float32 [2, 3]".
std::string text_of(const kg::tensor& x);

// ------------------------------------------------------------------------------------------ cases

/// The gradient that a recorded gradient case has here, of its operand x, where the convention at a kink is another
/// one.
std::optional<kg::tensor> departing_gradient(const json& line);

outcome run_forward(const json& line);
outcome run_gradient(const json& line);
outcome run_optimizer(const json& line);
outcome run_error(const json& line);

/// An argument of an op of the reference: a recorded tensor, or a nested list of numbers. Throws skip_case for others.
kg::tensor tensor_argument(const json& value);
/// Throws skip_case: no call here could have this argument.
[[noreturn]] void no_equivalent();
/// A call of a composed function, and the name that its errors bear.
struct composed_call {
  std::string function;
  std::function<void()> run;
};
/// The call of an error case whose op is a composed function here, or nothing. It refers to the line.
std::optional<composed_call> composed_call_of(const json& line);

/// The parameter whose dtype a recorded text rejects; empty where it is about something else.
std::string_view refused_argument(std::string_view recorded);
/// True if a refusal names the kernel and what the recorded text is about: the operand that `refused_argument` stands
/// for and its dtype, an attribute, a quantity.
outcome judge_refusal(const kg::error& refusal, std::string_view kernel, std::string_view operand,
                      std::string_view recorded);

/// The name that an error case is listed and filtered under: its kernel, or its op where no kernel belongs to it.
std::string error_subject(const json& line);

// ------------------------------------------------------------------------------------------ report

/// Collects what became of the cases and prints it.
class report {
 public:
  explicit report(bool verbose) : verbose_(verbose) {}
  void add(const std::string& section, const std::string& subject, const std::string& id, const outcome& result);
  /// A line per kernel with failures, what was skipped and why, and the closing line of counts.
  void print() const;
  json summary() const;
  std::int64_t cases() const { return passed_ + skipped_ + failed_; }
  std::int64_t failed() const { return failed_; }

 private:
  struct failure {
    std::string id, why;
  };
  struct group {
    std::int64_t judged = 0;  ///< cases that passed or failed
    std::vector<failure> failures;
  };
  using counts = std::map<std::string, std::int64_t>;  // by subject

  bool verbose_;
  std::int64_t passed_ = 0, failed_ = 0, skipped_ = 0;
  std::map<std::string, group> groups_;    // by section and subject
  std::map<std::string, counts> skips_;    // by reason
  std::map<std::string, counts> remarks_;  // on passed cases
};

}  // namespace conformance
