// SPDX-License-Identifier: Apache-2.0
// Small tables of a user-defined op that are complete: the audit's cases take one thing away. To be included after the
// import.
#pragma once

using kernel_entry = kg::kernels::entry;

inline void launch_own(const kg::launch_call&) {}
inline void run_own(const void* const*, void* const*, const void*) {}

inline constexpr kg::operand own_operand[] = {{"x", kg::only(kg::dtype::float32)}};
inline constexpr kg::op_row own_row{.name = "Own",
                                    .doc = "A user-defined op.",
                                    .group = kg::family::elementwise,
                                    .operands = own_operand,
                                    .infer = kg::shapes::same,
                                    .launch = launch_own};
inline constexpr kernel_entry own_kernel{"Own", kg::dtype::float32, run_own, nullptr, nullptr};
inline constexpr kernel_entry lost_kernel{"Lost", kg::dtype::float32, run_own, nullptr, nullptr};

inline constexpr std::array<kg::op_row, 1> own_rows{own_row};
inline constexpr std::array<kernel_entry, 1> own_kernels{own_kernel};
inline constexpr std::array<std::string_view, 1> own_rules{"Own"};

/// The same row with one field changed by `change`.
template <class F>
consteval std::array<kg::op_row, 1> rows_with(F change) {
  kg::op_row row = own_row;
  change(row);
  return {row};
}
