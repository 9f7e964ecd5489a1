// SPDX-License-Identifier: Apache-2.0
// From names to the order of a row. Known inside the library only.
module;
#include "kernels/common/abi.h"
module kerngrad:by_name;

import :std;
import :core;
import :op;
import :tensor;
import :registry;
import :live;
import :run;

namespace kerngrad::detail {

/// Names within two edits of an unknown one, the nearest first.
std::vector<std::string> similar_names(std::string_view wanted);
/// An error of a call by name: it names the op as the caller did, where it named the typed function.
error as_spelled_by_name(const error& e, std::string_view name);
/// Throws the exception that is being handled, named as above.
[[noreturn]] void rethrow_spelled(const error& e, std::string_view name);
/// Runs a call by name; its errors name the op as the caller did.
template <class Run>
auto run_spelled(std::string_view name, const Run& run) {
  try {
    return run();
  } catch (const error& e) {
    rethrow_spelled(e, name);
  }
}
/// The refusal of a name that means nothing on a backend.
error missing_name(std::string_view name, const live_backend& on);
/// The operands of a call in the order of the row, undefined tensors where they were omitted.
std::vector<const tensor*> operands_in_order(const op_row& row, std::span<const operand_ref> operands);
/// The attributes of a row in its order, absent where they are not given.
void order_attrs(const op_row& row, std::span<const attribute_ref> given, attr_list& attrs);

}  // namespace kerngrad::detail
