// SPDX-License-Identifier: Apache-2.0
// Indices as they were worked out for a shape: checked, counted from the front, one entry for each axis. Known inside
// the library only.
module;
#include "kernels/common/abi.h"
module kerngrad:selection;

import :std;
import :core;
import :tensor;
import :indexing;

namespace kerngrad::detail {

/// Selection on an axis of a tensor, or on those that a mask spans.
struct selected_axis {
  enum class kind : std::uint8_t {
    single,  ///< the index `first`; the axis goes
    walk,    ///< `count` indices from `first` in steps
    fresh,   ///< an axis of size 1 that the tensor does not have
    chosen,  ///< by a tensor
  };
  kind is = kind::walk;
  bool is_mask = false;
  int axis = 0, axes = 1;
  std::int64_t first = 0, count = 1, step = 1;
  std::int64_t size = 1;  // of the axis
  const tensor* by = nullptr;

  bool is_whole() const { return is == kind::walk && first == 0 && step == 1 && count == size; }
};

/// All axes of a shape, in order, and fresh ones between them.
struct selection {
  static constexpr int most = 2 * max_rank;
  selected_axis of[most];
  int count = 0;

  std::span<const selected_axis> all() const { return {of, static_cast<std::size_t>(count)}; }
  bool is_by_tensors() const;
};

/// Works indices out. Rejected in the name of `who`: an integer that its axis does not have, more indices than axes, a
/// mask of another shape.
selection selection_of(std::string_view who, const shape& dims, std::span<const index_item> indices);
/// An index that its axis does not have.
[[noreturn]] void refuse_index_into(std::string_view who, std::int64_t at, int axis, std::int64_t size);
/// The elements of x, by the ops that differentiate; what lies together is shared.
tensor selected(const tensor& x, const selection& taken);
/// The shape of what is taken, while no tensor has a say.
shape dims_of(const selection& taken);

}  // namespace kerngrad::detail
