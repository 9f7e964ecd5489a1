// SPDX-License-Identifier: Apache-2.0
// The parts of the tool `kerngrad`. Each gives text; main.cc writes it.
#pragma once
#include <nlohmann/json.hpp>

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

import kerngrad;

namespace tool {

using json = nlohmann::ordered_json;

/// Exit codes of the program.
enum : int { done = 0, refused = 1, usage = 2 };

/// The command line is at fault: exit code 2.
struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// The requested name does not exist, or the call throws: exit code 1.
struct refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class format { text, json, markdown };

// ------------------------------------------------------------------------------------------ list

/// Restriction of `list`; empty: none.
struct selection {
  std::string op;  ///< a pattern with * and ?, letters of either case
  std::string backend, dtype, target, family;
  std::optional<bool> gradient;
};

/// A kernel: one op for one dtype on one backend, and, where kernels have them, one SIMD target.
struct coverage_row {
  std::string op, family, backend, target;
  kg::dtype type;
  bool supported = true;  ///< this CPU runs the target
  bool registered = false;
  bool gradient = false;
  std::string reason{};              ///< why there is none
  std::optional<double> accuracy{};  ///< in units in the last place
};

/// All kernels of the library and its registry that a selection lets through.
std::vector<coverage_row> coverage(const selection& wanted);
/// The same as text of a line per op, as a JSON array, or as a Markdown table.
std::string list_page(const selection& wanted, format as);

// ------------------------------------------------------------------------------------------ explain, targets, docs

/// A call on the command line: `x=float32[2,3]`, `strides=[2,2]`.
struct call_text {
  std::string op;
  std::vector<std::string> operands, attrs;
};

kg::explanation explained(const call_text& call);
json json_of(const kg::explanation& told);

std::string targets_page(bool as_json);
/// Names of the pages in docs/ops: the families, and `bounds`.
std::vector<std::string> ops_pages();
/// A page of docs/ops by its name, or docs/ops.md for an empty name.
std::string ops_page(std::string_view name);
/// The peak memory of an op beyond its operands and results, and that of its gradient; empty if it is not recorded.
std::string memory_text(std::string_view op);
/// The tables of docs/ops, with the ranges of attributes, as a JSON array.
std::string rows_page();
/// A page, docs/dtypes.md, with its table of the results' dtypes made again.
std::string dtypes_page(const std::string& page);

// ------------------------------------------------------------------------------------------ find

/// Match of a name: one of ours, or an expression of several, or why there is none.
struct found_name {
  std::string name{};  ///< kg::top_k, kg::tensor::item; empty where an expression stands for it, x.dims()
  std::string doc{}, signatures{};
  std::string page{};                    ///< of the reference
  std::string op{};                      ///< that it calls
  std::string example{};                 ///< an expression of C++
  std::string note{};                    ///< what differs from what was looked for
  std::vector<std::string> elsewhere{};  ///< what other libraries call it
  bool offered = true;                   ///< false: the note says what to do instead
  std::vector<found_name> members{};     ///< of a type or a namespace: constructors, enumerators, functions, data
};

struct answer {
  std::string wanted;
  std::vector<found_name> names{};
  std::vector<found_name> near{};  ///< where nothing has the name
  bool is_offered = false;
};

/// Looks a name up among ours (functions, types and their members, ops) and those of other libraries in
/// tools/dictionary.
answer found(const std::string& wanted);
std::string find_page(const answer& a, bool as_json);

// ------------------------------------------------------------------------------------------ output

/// The text with escapes in place of control sequences and of bytes that are not UTF-8: for names that a model or a
/// command line gives.
std::string shown(std::string_view text);
/// JSON in ASCII: escapes stand for characters that a terminal might obey.
std::string text_of(const json& value);
/// Writes to the standard output. A reader that has gone away is no error; a full disk is one.
void write_out(const std::string& text);

}  // namespace tool
