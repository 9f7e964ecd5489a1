// SPDX-License-Identifier: Apache-2.0
// Tables from the name of an op to the maker of its samples. The header has no type of kerngrad, so that units of the
// kit include it before their module.
#pragma once
#include <cstddef>
#include <string_view>

namespace kerngrad::testkit::detail {

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
