// SPDX-License-Identifier: Apache-2.0
// Running a call that has been found: checks by the row, the dtype that it computes in, registered kernels. Known
// inside the library only.
module;
#include "kernels/common/abi.h"
module kerngrad:run;

import :std;
import :core;
import :op;
import :launch;
import :tensor;
import :entry;
import :engine;
import :registry;
import :live;
import :snapshot;

namespace kerngrad::detail {

/// A built-in op's call, with a registered kernel in place of its own if there is one.
tensor_list run_list(const op_entry& op, std::span<const tensor* const> in, std::span<const attr_value> attrs,
                     const registered_kernel* instead);
/// The attributes of a call as its kernel sees them: defaults filled in, kinds and ranges checked, integers where
/// whole numbers were given for them.
void check_attrs(const op_row& row, std::span<const attr_value> given, std::span<attr_value> out);
/// One attribute of a call, given, as its kernel sees it.
attr_value check_attr(const op_row& row, const attr_spec& spec, const attr_value& value);
/// True if they are that already: all given, of the row's kinds, in range.
bool attrs_as_declared(const op_row& row, std::span<const attr_value> given);
void check_operands(const op_row& row, std::span<const tensor* const> in);
/// Rejects a declaration that no call could satisfy, or that would get past the checks of calls.
void check_schema(const kernel_schema& schema);
/// Requirements for results of a registered kernel: none, the signatures of a row, or those as upper bounds.
struct expected_results {
  std::span<const signature> signatures{};
  bool bounded = false;
};
/// Runs a registered kernel on checked operands, and checks what it gives.
tensor_list run_registered(const registered_kernel& kernel, const live_backend& on, dtype compute,
                           std::span<const operand_ref> operands, std::span<const attribute_ref> attrs,
                           const expected_results& expected);
/// "simd, reference, mine": the backends that have a kernel of that name, or of that op, or empty.
std::string backends_with(std::string_view name);
std::string backends_with(const op_entry& op);
/// The rule of the innermost rule_scope of this thread that has one for an op, built-in or user-defined; null when
/// there is none.
const op_gradient* rule_of_scope(const op_entry& op);

/// Operands and attributes that are in a row's order, under the names of the row; what was omitted is omitted.
class named_by_row {
 public:
  named_by_row(const op_row& row, std::span<const tensor* const> in, std::span<const attr_value> attrs);
  named_by_row(const named_by_row&) = delete;
  named_by_row& operator=(const named_by_row&) = delete;
  std::span<const operand_ref> operands() const { return operands_; }
  std::span<const attribute_ref> attrs() const { return attrs_; }

 private:
  std::vector<tensor> list_;
  std::vector<operand_ref> operands_;
  std::vector<attribute_ref> attrs_;
};

/// The dtype that a call's kernel computes in: the common one of its value operands, lifted; without them the one that
/// an attribute says. Attributes are as check_attrs gives them.
dtype common_dtype(const op_row& row, std::span<const tensor* const> in, std::span<const attr_value> attrs);
/// The dtype that a call computes in on the active backend: the common one, or that of `computed_in` where neither the
/// backend nor the registered kernel that stands in for it has a kernel for the common one.
dtype computed_here(const op_entry& op, dtype common, const registered_kernel* instead);
/// True if an op that computes in another dtype than the common one has results of the common dtype all the same: of
/// half precision, and where the caller asks for the dtype. Integers stay in the wider dtype.
constexpr bool keeps_dtype(const op_row& row, dtype common, dtype compute) {
  return common != compute && (halves.has(common) || row.types.after == result::attribute);
}

/// The refusal of a call that no kernel takes.
error missing_kernel(const op_entry& op, const live_backend& on, dtype type);

/// Attribute values of a call; room for as many as a row has, none of them touched before it is used.
class attr_list {
 public:
  static constexpr std::size_t capacity = 16;
  explicit attr_list(std::size_t count) : count_(count) {
    for (std::size_t i = 0; i < count; ++i) std::construct_at(values() + i);
  }
  ~attr_list() {
    for (attr_value& value : all()) std::destroy_at(&value);
  }
  attr_list(const attr_list&) = delete;
  attr_list& operator=(const attr_list&) = delete;
  std::span<attr_value> all() { return {values(), count_}; }
  attr_value& operator[](std::size_t i) { return values()[i]; }

 private:
  attr_value* values() { return reinterpret_cast<attr_value*>(room_); }
  std::size_t count_;
  alignas(attr_value) std::byte room_[capacity * sizeof(attr_value)];
};

}  // namespace kerngrad::detail
