// SPDX-License-Identifier: Apache-2.0
// The recorded peak memory of ops in the words of docs/ops.
#include "tools/kerngrad/op_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tools/kerngrad/tool.h"

namespace tool {
namespace {

std::string bytes_text(int bytes) {
  return bytes < 1 << 20 ? fmt::format("{}&nbsp;KiB", bytes >> 10) : fmt::format("{:.3g}&nbsp;MiB", bytes / 0x1p20);
}

// "0", "1", "64 KiB", "0.5 + 64 KiB".
std::string peak_text(const memory_peak& peak) {
  if (peak.bytes < 0) return fmt::format("{:g}, grows", peak.copies);
  if (peak.bytes == 0) return fmt::format("{:g}", peak.copies);
  if (peak.copies == 0) return bytes_text(peak.bytes);
  return fmt::format("{:g}&nbsp;+&nbsp;{}", peak.copies, bytes_text(peak.bytes));
}

std::string both_text(const op_memory& known) {
  const std::string value = peak_text(known.value);
  return known.gradient.copies < 0 ? value : fmt::format("{} / {}", value, peak_text(known.gradient));
}

}  // namespace

std::string memory_text(std::string_view op) {
  std::vector<const op_memory*> calls;
  for (const op_memory& known : op_memory_recorded)
    if (known.op == op) calls.push_back(&known);
  if (calls.empty()) return "";
  const std::string first = both_text(*calls[0]);
  if (std::ranges::all_of(calls, [&](const op_memory* known) { return both_text(*known) == first; })) return first;
  std::string text;
  for (const op_memory* known : calls)
    text += fmt::format("{}{}: {}", text.empty() ? "" : "<br>", known->variant, both_text(*known));
  return text;
}

}  // namespace tool
