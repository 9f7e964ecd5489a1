// SPDX-License-Identifier: Apache-2.0
#include "tools/accuracy/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string_view>

#include "kernels/common/accuracy.h"
#include "kernels/common/accuracy_worst.h"

namespace kgaccuracy {
namespace {

using kerngrad::dtype;
using kerngrad::kernels::accuracy_worst;

constexpr std::string_view head =
    "// SPDX-License-Identifier: Apache-2.0\n"
    "// The largest error of every math function and where it is, on the best target of the machine that measured it.\n"
    "// Made by `./dev accuracy --rows kernels/common/accuracy_worst.h`; tests/elementwise/math.cc measures each "
    "again.\n"
    "#pragma once\n"
    "#include \"kernels/common/accuracy.h\"\n\n"
    "namespace kerngrad::kernels {\n\n"
    "// clang-format off\n"
    "inline constexpr accuracy_worst accuracy_measured[] = {\n";
constexpr std::string_view tail =
    "};\n"
    "// clang-format on\n\n"
    "}  // namespace kerngrad::kernels\n";

// Exactly.
std::string number(double x) { return x == 0 ? "0" : fmt::format("{:a}", x); }

std::string line(const accuracy_worst& row) {
  return fmt::format("    {{\"{}\", dtype::{}, {:.4f}, {}, {}, \"{}\", {}}},\n", row.op,
                     row.type == dtype::float32 ? "float32" : "float64", row.ulp, number(row.a), number(row.b),
                     row.target, row.all);
}

}  // namespace

std::string rows_text(const std::vector<measured>& found) {
  std::string text(head);
  for (const auto& bound : kerngrad::kernels::accuracy) {
    const std::string_view op = bound.op;
    for (const dtype type : {dtype::float32, dtype::float64}) {
      const auto fresh = std::ranges::find_if(found, [&](const measured& m) { return m.op == op && m.type == type; });
      if (fresh != found.end()) {
        const double error = fresh->worst.error > 0.5 ? fresh->worst.error : 0;
        text += line({bound.op, type, error, fresh->worst.a, fresh->worst.b, fresh->target.c_str(), fresh->all});
        continue;
      }
      for (const accuracy_worst& kept : kerngrad::kernels::accuracy_measured)
        if (kept.op == op && kept.type == type) text += line(kept);
    }
  }
  return text += tail;
}

void write_rows(const std::string& file, const std::vector<measured>& found) {
  std::ofstream out(file, std::ios::binary);
  out << rows_text(found);
  out.close();
  if (!out) throw std::runtime_error("cannot write " + file);
}

void check_rows(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string found((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (found != rows_text({})) throw std::runtime_error(file + " was changed by hand: ./dev accuracy --rows writes it");
}

}  // namespace kgaccuracy
