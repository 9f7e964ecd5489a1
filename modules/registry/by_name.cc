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

/// Names within two edits of an unknown one.
std::vector<std::string> similar_names(std::string_view wanted);
/// The refusal of a name that means nothing on a backend.
error missing_name(std::string_view name, const live_backend& on);
/// The operands of a call in the order of the row, empty handles where they were omitted.
std::vector<const tensor*> operands_in_order(const op_row& row, std::span<const operand_ref> operands);
/// The attributes of a row in its order, absent where they are not given.
void order_attrs(const op_row& row, std::span<const attribute_ref> given, attr_list& attrs);

}  // namespace kerngrad::detail
