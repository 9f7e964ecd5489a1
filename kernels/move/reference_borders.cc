// SPDX-License-Identifier: Apache-2.0
// Borders that repeat elements, from the definition: the index in x of each element of y.
#include "kernels/move/borders.h"

#include <algorithm>
#include <cstdint>

namespace kerngrad::kernels::reference {
namespace {

template <dtype Type, class T = storage_t<Type>>
void RepeatPad(const repeat_geometry& g, const T* x, T* y) {
  std::int64_t count = 1;
  for (int axis = 0; axis < g.rank; ++axis) count *= g.before[axis] + g.dims[axis] + g.after[axis];
  for (std::int64_t n = 0; n < count; ++n) {
    std::int64_t from = 0, step = 1, rest = n;
    for (int axis = g.rank - 1; axis >= 0; --axis) {
      const std::int64_t size = g.before[axis] + g.dims[axis] + g.after[axis];
      std::int64_t at = rest % size - g.before[axis];
      if (g.wrap) at = (at % g.dims[axis] + g.dims[axis]) % g.dims[axis];
      else at = std::clamp(at, std::int64_t{0}, g.dims[axis] - 1);
      from += at * step;
      step *= g.dims[axis];
      rest /= size;
    }
    y[n] = x[from];
  }
}

}  // namespace

KG_DEFINE_PLAIN_KERNELS(KG_BORDER_KERNELS)

}  // namespace kerngrad::kernels::reference
