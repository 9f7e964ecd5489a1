// SPDX-License-Identifier: Apache-2.0
// The entries of the known ops. The linker drops those that a static program does not name, and their kernels.
module;
#include "kernels/common/abi.h"
module kerngrad;

namespace kerngrad::detail {

template <int Id>
constinit const op_entry entry_object = [] {
  const auto& kernels = kernels_of_op<Id>;
  op_entry entry = make_entry(row_of<Id>, Id, {kernels[0].data(), kernels[1].data()}, nullptr);
  entry.built_in = true;
  return entry;
}();

constinit const std::array<const op_entry*, static_cast<std::size_t>(op_count)> known_entries =
    []<std::size_t... Id>(std::index_sequence<Id...>) {
      return std::array{&entry_object<static_cast<int>(Id)>...};
    }(std::make_index_sequence<op_count>{});

}  // namespace kerngrad::detail
