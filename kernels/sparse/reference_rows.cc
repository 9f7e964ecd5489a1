// SPDX-License-Identifier: Apache-2.0
#include "kernels/sparse/reference_rows.h"

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
void fill_empty_rows(const void* const* in, void* const* out, const fill_rows_geometry& g) {
  std::int64_t made = 0;
  const auto append = [&](const Index* index, std::int64_t row, const void* value) {
    for (std::int64_t axis = 0; axis < g.rank; ++axis)
      static_cast<Index*>(out[0])[made * g.rank + axis] = index       ? index[axis]
                                                          : axis == 0 ? static_cast<Index>(row)
                                                                      : Index{0};
    put(out[1], made, get<bytes_of<T>>(value, 0));
    return made++;
  };
  for (std::int64_t row = 0; row < g.rows; ++row) {
    bool empty = true;
    for (std::int64_t i = 0; i < g.count; ++i) {
      const Index* index = static_cast<const Index*>(in[0]) + i * g.rank;
      if (index[0] != row) continue;
      empty = false;
      const auto* value = static_cast<const char*>(in[1]) + i * static_cast<std::int64_t>(sizeof(T));
      static_cast<Index*>(out[3])[i] = static_cast<Index>(append(index, row, value));
    }
    if (empty) append(nullptr, row, in[3]);
    static_cast<std::uint8_t*>(out[2])[row] = empty;
  }
  *g.made = made;
}

template <dtype K>
void SparseFillEmptyRows(const void* const* in, void* const* out, const void* geometry) {
  const auto& g = *static_cast<const fill_rows_geometry*>(geometry);
  if (g.wide) fill_empty_rows<storage_t<K>, std::int64_t>(in, out, g);
  else fill_empty_rows<storage_t<K>, std::int32_t>(in, out, g);
}

/// Row by row of the result, each of which is looked for in all runs.
template <dtype K>
void CopyRuns(const void* const* in, void* const* out, const void* geometry) {
  const auto& g = *static_cast<const row_runs_geometry*>(geometry);
  const std::int64_t bytes = g.inner * static_cast<std::int64_t>(sizeof(storage_t<K>));
  for (std::int64_t row = 0; row < g.rows; ++row) {
    const void* from = g.fill;
    for (std::int64_t r = 0; r < g.count; ++r)
      if (row >= g.runs[r].to && row - g.runs[r].to < g.runs[r].count)
        from = static_cast<const char*>(in[0]) + (g.runs[r].from + row - g.runs[r].to) * bytes;
    std::memcpy(static_cast<char*>(out[0]) + row * bytes, from, static_cast<std::size_t>(bytes));
  }
}

}  // namespace

#define KG_DEFINE_ROWS(Name, type)                                                    \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry) { \
    Name<dtype::type>(in, out, geometry);                                             \
  }
KG_SPARSE_ROWS_KERNELS(KG_DEFINE_ROWS)
#undef KG_DEFINE_ROWS

}  // namespace kerngrad::kernels::reference
