// SPDX-License-Identifier: Apache-2.0
#include "kernels/sparse/rows.h"

#include <cstring>

#include "kernels/common/reference_scalar.h"

namespace kerngrad::kernels::reference {
namespace {

template <class T>
struct bytes_of {
  char bytes[sizeof(T)];
};

/// Row by row of the result, each of which looks at all indices.
template <class T, class Index>
void fill_empty_rows(const fill_rows_geometry& g, const Index* indices, const bytes_of<T>* values,
                     const bytes_of<T>* missing, Index* to_indices, bytes_of<T>* to_values, std::uint8_t* was_empty,
                     Index* positions) {
  std::int64_t made = 0;
  const auto append = [&](const Index* index, std::int64_t row, bytes_of<T> value) {
    for (std::int64_t axis = 0; axis < g.rank; ++axis)
      to_indices[made * g.rank + axis] = index ? index[axis] : axis == 0 ? static_cast<Index>(row) : Index{0};
    to_values[made] = value;
    return made++;
  };
  for (std::int64_t row = 0; row < g.rows; ++row) {
    bool empty = true;
    for (std::int64_t i = 0; i < g.count; ++i) {
      const Index* index = indices + i * g.rank;
      if (index[0] != row) continue;
      empty = false;
      positions[i] = static_cast<Index>(append(index, row, values[i]));
    }
    if (empty) append(nullptr, row, *missing);
    was_empty[row] = empty;
  }
  *g.made = made;
}

template <dtype Type, class T = bytes_of<storage_t<Type>>>
void SparseFillEmptyRows(const fill_rows_geometry& g, const void* indices, const T* values, const void*,
                         const T* missing, void* to_indices, T* to_values, std::uint8_t* was_empty, void* positions) {
  const auto fill = [&]<class Index>(Index) {
    fill_empty_rows<storage_t<Type>>(g, static_cast<const Index*>(indices), values, missing,
                                     static_cast<Index*>(to_indices), to_values, was_empty,
                                     static_cast<Index*>(positions));
  };
  if (g.wide) fill(std::int64_t{});
  else fill(std::int32_t{});
}

/// Row by row of the result, each of which is looked for in all runs.
template <dtype Type>
void CopyRuns(const row_runs_geometry& g, const char* x, char* y) {
  const std::int64_t bytes = g.inner * static_cast<std::int64_t>(sizeof(storage_t<Type>));
  for (std::int64_t row = 0; row < g.rows; ++row) {
    const void* from = g.fill;
    for (std::int64_t r = 0; r < g.count; ++r)
      if (row >= g.runs[r].to && row - g.runs[r].to < g.runs[r].count)
        from = x + (g.runs[r].from + row - g.runs[r].to) * bytes;
    std::memcpy(y + row * bytes, from, static_cast<std::size_t>(bytes));
  }
}

}  // namespace

KG_DEFINE_PLAIN_KERNELS(KG_SPARSE_ROWS_KERNELS)

}  // namespace kerngrad::kernels::reference
