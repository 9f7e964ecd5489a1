// SPDX-License-Identifier: Apache-2.0
// Messages of the test kit.
module;
#include <algorithm>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad.testkit;

namespace kerngrad::testkit {

namespace {
constexpr std::int64_t shown_failures = 4;  // a wrong kernel is wrong nearly everywhere
}  // namespace

std::string_view name_of(check which) {
  constexpr std::string_view names[check_count] = {"samples",        "results",      "targets",     "oracle",
                                                   "special values", "aliasing",     "determinism", "bad calls",
                                                   "gradient",       "second order", "forward",     "memory"};
  return names[static_cast<int>(which)];
}

std::string to_string(const sample& call) {
  std::string text;
  const auto append = [&](const std::string& part) { text += (text.empty() ? "" : " ") + part; };
  for (const sample_operand& operand : call.operands) {
    append(operand.name);
    for (const shape& dims : operand.dims) append(kerngrad::to_string(dims));
  }
  for (const named_attribute& a : call.attrs) append(a.name + "=" + kerngrad::to_string(a.value));
  return text.empty() ? "no operands" : text;
}

std::string to_string(const failure& what) {
  return "[" + what.op + "] " + std::string(name_of(what.by)) + ": " + what.call + ": got " + what.got + "; wanted " +
         what.wanted;
}

void report::add(check by, std::string call, std::string got, std::string wanted) {
  if (std::ranges::any_of(excluded_, [&](const exclusion& e) { return e.which == by; })) return;
  if (++failed_[static_cast<std::size_t>(by)] > shown_failures) return;
  const auto at = std::find_if(failures_.begin(), failures_.end(), [&](const failure& f) { return f.by > by; });
  failures_.insert(at, {op_, by, std::move(call), std::move(got), std::move(wanted)});
}

std::string to_string(const report& all) {
  std::string text;
  for (const failure& f : all.failures()) text += to_string(f) + "\n";
  for (int c = 0; c < check_count; ++c)
    if (const check by = static_cast<check>(c); all.failed(by) > shown_failures)
      text += "[" + all.op() + "] " + std::string(name_of(by)) + ": and " +
              std::to_string(all.failed(by) - shown_failures) + " more\n";
  text += "[" + all.op() + "] " + (all.ok() ? "right" : "wrong") + "; calls judged:";
  for (int c = 0; c < check_count; ++c)
    text += (c ? ", " : " ") + std::string(name_of(static_cast<check>(c))) + " " +
            std::to_string(all.count(static_cast<check>(c)));
  for (const exclusion& e : all.excluded())
    text += "\n[" + all.op() + "] without " + std::string(name_of(e.which)) + ": " + e.reason;
  for (const std::string& attribute : all.unset_attributes())
    text += "\n[" + all.op() + "] no call sets " + attribute + ": give some that do in the option samples";
  return text;
}

std::ostream& operator<<(std::ostream& out, const report& all) { return out << to_string(all); }

}  // namespace kerngrad::testkit
