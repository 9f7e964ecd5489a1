// SPDX-License-Identifier: Apache-2.0
// Facts of built-in ops that the checks need, and tables from the name of an op to the maker of its samples. It has no
// type of kerngrad, so that units of the kit include it before their module.
#pragma once
#include <cstddef>
#include <string_view>

namespace kerngrad::testkit::detail {

/// Values with which differences say nothing of an op's gradient, and how its results are rounded.
struct op_facts {
  std::string_view op;
  bool orders = false;              ///< the order of the elements decides: ties have no gradient
  bool divides = false;             ///< jumps where the quotient of the operands is whole
  bool breaks_at_equals = false;    ///< jumps or has a kink where the operands are equal
  bool adds = false;                ///< adds the elements that come to one position
  std::string_view output_of = {};  ///< the op whose result is the operand `output`
};
inline constexpr op_facts known_facts[] = {
    {.op = "Max", .orders = true},
    {.op = "Min", .orders = true},
    {.op = "NanMax", .orders = true},
    {.op = "NanMin", .orders = true},
    {.op = "CumMax", .orders = true},
    {.op = "CumMin", .orders = true},
    {.op = "ArgMax", .orders = true},
    {.op = "ArgMin", .orders = true},
    {.op = "EmbeddingBag", .orders = true},
    {.op = "Mod", .divides = true, .breaks_at_equals = true},
    {.op = "Fmod", .divides = true, .breaks_at_equals = true},
    {.op = "FloorDiv", .divides = true, .breaks_at_equals = true},
    {.op = "Maximum", .breaks_at_equals = true},
    {.op = "Minimum", .breaks_at_equals = true},
    {.op = "MaxPoolGrad", .breaks_at_equals = true, .output_of = "MaxPool"},
    {.op = "MaxPool3DGrad", .output_of = "MaxPool3D"},
    {.op = "GatherGrad", .adds = true},
    {.op = "UnsortedSegmentSum", .adds = true},
};
/// Those of an op; none for one that is not in the table.
constexpr op_facts facts_of(std::string_view op) {
  for (const op_facts& known : known_facts)
    if (known.op == op) return known;
  return {};
}

/// Makes the samples of an op.
template <class Row, class Samples>
struct sample_maker {
  std::string_view op;
  Samples (*make)(const Row& row, bool long_ones);
};
/// The samples by the maker that a table has for the op; nothing if it has none.
template <class Row, class Samples, std::size_t N>
Samples made_by(const sample_maker<Row, Samples> (&makers)[N], const Row& row, bool long_ones) {
  for (const sample_maker<Row, Samples>& one : makers)
    if (one.op == row.name) return one.make(row, long_ones);
  return {};
}

}  // namespace kerngrad::testkit::detail
