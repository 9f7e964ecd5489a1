// SPDX-License-Identifier: Apache-2.0
#include "tools/accuracy/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string_view>

#include "kernels/common/accuracy.h"
#include "kernels/common/accuracy_gradients.h"
#include "kernels/common/accuracy_worst.h"

namespace kgaccuracy {
namespace {

using kerngrad::dtype;
using kerngrad::kernels::accuracy_worst;

constexpr std::string_view head_of_values =
    "// SPDX-License-Identifier: Apache-2.0\n"
    "// The largest error of every math function and where it is, on the best target of the machine that measured it.\n"
    "// Made by `./dev accuracy --rows kernels/common/accuracy_worst.h`; tests/elementwise/math.cc measures each "
    "again.\n"
    "#pragma once\n"
    "#include \"kernels/common/accuracy.h\"\n\n"
    "namespace kerngrad::kernels {\n\n"
    "// clang-format off\n"
    "inline constexpr accuracy_worst accuracy_measured[] = {\n";
constexpr std::string_view head_of_gradients =
    "// SPDX-License-Identifier: Apache-2.0\n"
    "// The largest error of the gradient of every elementwise op and where it is, on the best target of the machine "
    "that\n"
    "// measured it. Made by `./dev accuracy --gradients --rows kernels/common/accuracy_gradients.h`.\n"
    "#pragma once\n"
    "#include \"kernels/common/accuracy.h\"\n\n"
    "namespace kerngrad::kernels {\n\n"
    "// clang-format off\n"
    "inline constexpr accuracy_worst gradients_measured[] = {\n";
constexpr std::string_view tail =
    "};\n"
    "// clang-format on\n\n"
    "}  // namespace kerngrad::kernels\n";

// Exactly.
std::string exactly(double x) { return x == 0 ? "0" : fmt::format("{:a}", x); }

std::string line(const accuracy_worst& row) {
  return fmt::format("    {{\"{}\", dtype::{}, {:.4f}, {}, {}, \"{}\", {}{}}},\n", row.op,
                     row.type == dtype::float32 ? "float32" : "float64", row.ulp, exactly(row.a), exactly(row.b),
                     row.target, row.all, row.operand < 0 ? "" : fmt::format(", {}", row.operand));
}

// The rows of one bound in both dtypes.
std::string lines(const char* op, int operand, std::span<const accuracy_worst> rows,
                  const std::vector<measured>& found) {
  std::string text;
  for (const dtype type : {dtype::float32, dtype::float64}) {
    const auto fresh = std::ranges::find_if(
        found, [&](const measured& m) { return m.op == op && m.operand == operand && m.type == type; });
    if (fresh != found.end()) {
      const double error = fresh->worst.error > 0.5 ? fresh->worst.error : 0;
      text += line({op, type, error, fresh->worst.a, fresh->worst.b, fresh->target.c_str(), fresh->all, operand});
      continue;
    }
    for (const accuracy_worst& kept : rows)
      if (std::string_view(kept.op) == op && kept.operand == operand && kept.type == type) text += line(kept);
  }
  return text;
}

}  // namespace

std::string rows_text(bool gradients, const std::vector<measured>& found) {
  using namespace kerngrad::kernels;
  std::string text(gradients ? head_of_gradients : head_of_values);
  if (gradients)
    for (const gradient_bound& bound : gradient_accuracy)
      text += lines(bound.op, bound.operand, gradients_measured, found);
  else
    for (const accuracy_bound& bound : accuracy) text += lines(bound.op, -1, accuracy_measured, found);
  return text += tail;
}

void write_rows(const std::string& file, bool gradients, const std::vector<measured>& found) {
  std::ofstream out(file, std::ios::binary);
  out << rows_text(gradients, found);
  out.close();
  if (!out) throw std::runtime_error("cannot write " + file);
}

void check_rows(const std::string& file, bool gradients) {
  std::ifstream in(file, std::ios::binary);
  const std::string found((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (found != rows_text(gradients, {}))
    throw std::runtime_error(file + " was changed by hand: ./dev accuracy --rows writes it");
}

}  // namespace kgaccuracy
