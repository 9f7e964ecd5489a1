// SPDX-License-Identifier: Apache-2.0
// Calls of every op: those of its family, or those that follow from its forward op.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>
import kerngrad;
import kerngrad.testkit;
#include "bench/calls/calls.h"

namespace kgbench {
namespace {

#define KG_CALLS_OF(F) calls::F
constexpr geometry_fn families[] = {KG_FAMILIES(KG_CALLS_OF)};

// Operands of a backward op of which the kernel needs only the shape: the result, which it finds again
// (kernels/window/pool.h), or the only operand of a linear op.
std::vector<std::string> unread_of(const kg::op_row& row, const kg::op_row& forward) {
  if (row.operand_index("output") >= 0) return {"output"};
  const bool is_linear = forward.operands.size() == 1 && row.operands.size() == 2 && row.operand_index("dy") == 0;
  return is_linear ? std::vector<std::string>{std::string(row.operands[1].name)} : std::vector<std::string>();
}

}  // namespace

geometries made_by(std::span<const maker> makers, const kg::op_row& row, kg::dtype type, std::int64_t n) {
  for (const maker& one : makers)
    if (row.attr_index(one.part) >= 0 || row.operand_index(one.part) >= 0) return one.make(row, type, n);
  kg::fail("calls_of", "the op " + std::string(row.name),
           "an op with an attribute or operand that bench/calls/" + std::string(kg::name_of(row.group)) + ".cc knows");
}

geometries calls_of(const kg::op_row& row, kg::dtype type, std::int64_t n) {
  if (row.forward.empty()) return families[static_cast<std::size_t>(row.group)](row, type, n);
  const kg::op_row& forward = *kg::row_named(row.forward);
  geometries all = calls_of(forward, type, n);
  for (geometry& one : all) {
    one.call = kg::testkit::backward_sample(row, one.call);
    one.unread = unread_of(row, forward);
  }
  return all;
}

}  // namespace kgbench
