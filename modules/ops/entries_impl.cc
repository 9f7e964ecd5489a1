// SPDX-License-Identifier: Apache-2.0
// The entries of the built-in ops. The linker drops those that a static program does not name, and their kernels.
module;
#include "kernels/common/abi.h"
module kerngrad;

namespace kerngrad::detail {

// The dtypes whose kernel is no SIMD code: all of the reference's table, and of the SIMD table those that have the same
// kernel, because the option simd_dtypes leaves them out.
template <int Id>
consteval std::array<dtype_set, backend_count> plain_dtypes_of() {
  constexpr std::size_t simd = static_cast<std::size_t>(backend::simd);
  constexpr std::size_t reference = static_cast<std::size_t>(backend::reference);
  std::array<dtype_set, backend_count> plain{};
  for (std::size_t t = 0; t < dtype_count; ++t) {
    const kernel_slot &one = kernels_of_op<Id>[simd][t], &other = kernels_of_op<Id>[reference][t];
    const dtype_set type = only(static_cast<dtype>(t));
    if (other.exists()) plain[reference] = plain[reference] | type;
    if (other.exists() && one.run == other.run) plain[simd] = plain[simd] | type;
  }
  return plain;
}

template <int Id>
consteval op_entry made_entry() {
  if constexpr (Id < op_count) {
    const auto& kernels = kernels_of_op<Id>;
    op_entry entry = make_entry(row_of<Id>, Id, {kernels[0].data(), kernels[1].data()}, nullptr, plain_dtypes_of<Id>());
    entry.built_in = true;
    return entry;
  } else {
    return {};
  }
}

#ifdef __clang__
template <int Id>
constinit const op_entry entry_object = made_entry<Id>();
#else
// GCC 16 takes a variable template that an imported unit declares extern for declared only, whatever follows; it does
// take a specialisation. Those beyond the last op are objects that nothing names.
#define KG_ENTRY(id) \
  template <>        \
  constinit const op_entry entry_object<(id)> = made_entry<(id)>();
#define KG_ENTRIES_4(id) KG_ENTRY(id) KG_ENTRY(id + 1) KG_ENTRY(id + 2) KG_ENTRY(id + 3)
#define KG_ENTRIES_16(id) KG_ENTRIES_4(id) KG_ENTRIES_4(id + 4) KG_ENTRIES_4(id + 8) KG_ENTRIES_4(id + 12)
#define KG_ENTRIES_64(id) KG_ENTRIES_16(id) KG_ENTRIES_16(id + 16) KG_ENTRIES_16(id + 32) KG_ENTRIES_16(id + 48)
KG_ENTRIES_64(0)
KG_ENTRIES_64(64)
KG_ENTRIES_64(128)
KG_ENTRIES_64(192)
KG_ENTRIES_64(256)
KG_ENTRIES_64(320)
static_assert(op_count <= 384, "more ops: add a line of KG_ENTRIES_64");
#endif

constinit const std::array<const op_entry*, static_cast<std::size_t>(op_count)> known_entries =
    []<std::size_t... Id>(std::index_sequence<Id...>) {
      return std::array{&entry_object<static_cast<int>(Id)>...};
    }(std::make_index_sequence<op_count>{});

}  // namespace kerngrad::detail
