// SPDX-License-Identifier: Apache-2.0
// Calls to measure kernels with, by family and by the names of attributes and operands. The benchmarks measure the time
// of these calls, and bench/recorded/op_memory.cc measures their memory.
// To be included after `import kerngrad; import kerngrad.testkit;`.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "modules/ops/families.h"

namespace kgbench {

/// A call that has a kernel work on about n elements.
struct geometry {
  std::string variant;  ///< tells calls of one op apart: "rows", "to:f32"; empty where there is one
  kg::testkit::sample call;
  double work = 0;                  ///< how many times the operations are done that the row states as its cost
  std::vector<std::string> unread;  ///< operands of which only the shape counts
};
using geometries = std::vector<geometry>;
/// Makes the calls for an op, the dtype that its kernel computes in, and n.
using geometry_fn = geometries (*)(const kg::op_row& row, kg::dtype type, std::int64_t n);

/// "f32", "i64", ...: as the names of the benchmarks have them.
inline std::string short_name(kg::dtype type) {
  constexpr const char* kinds[] = {"bool", "i", "f", "f", "c", "text"};  // in the order of dtype_kind
  const kg::dtype_kind kind = kg::kind_of(type);
  if (kind == kg::dtype_kind::boolean || kind == kg::dtype_kind::text) return std::string(kg::name_of(type));
  const bool counts = kind == kg::dtype_kind::integer && !kg::is_signed_integer(type);
  const std::string letter = type == kg::dtype::bfloat16 ? "bf" : counts ? "u" : kinds[static_cast<int>(kind)];
  return letter + std::to_string(8 * kg::size_of(type));
}

/// A matrix of about n elements, with rows of 1024 where there are that many.
struct matrix {
  std::int64_t rows, columns;
  explicit matrix(std::int64_t n) : rows(n > 1024 ? n / 1024 : 1), columns(n > 1024 ? 1024 : n) {}
  kg::shape dims() const { return {rows, columns}; }
};

/// The operands of a row with these shapes, by position.
inline kg::testkit::sample call_of(const kg::op_row& row, const std::vector<kg::shape>& dims,
                                   std::vector<kg::named_attribute> attrs = {}) {
  kg::testkit::sample call;
  for (std::size_t i = 0; i < dims.size(); ++i) call.operands.emplace_back(row.operands[i].name, dims[i]);
  call.attrs = std::move(attrs);
  return call;
}

/// Makes the calls of the ops that have an attribute or an operand of this name.
struct maker {
  std::string_view part;
  geometry_fn make;
};
/// Calls by the first maker whose part the row has. Throws if there is none.
geometries made_by(std::span<const maker> makers, const kg::op_row& row, kg::dtype type, std::int64_t n);

/// Calls of an op by its family. Those of a backward op follow from the calls of its forward op. An op that shares the
/// elements of its operand runs no kernel and has no calls.
geometries calls_of(const kg::op_row& row, kg::dtype type, std::int64_t n);

namespace calls {
/// The calls of each family, in bench/calls/FAMILY.cc.
#define KG_CALLS(F) F(const kg::op_row& row, kg::dtype type, std::int64_t n)
geometries KG_FAMILIES(KG_CALLS);
}  // namespace calls

}  // namespace kgbench
