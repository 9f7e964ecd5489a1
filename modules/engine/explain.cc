// SPDX-License-Identifier: Apache-2.0
// Explains a call by name without doing it: dtypes, casts and results, which kernels there are and which of
// them would run, where the gradient comes from and what it would save.
module;
#include "kernels/common/abi.h"
export module kerngrad:explain;

import :std;
import :core;
import :op;
import :tensor;
import :registry;

export namespace kerngrad {

/// Shapes and dtypes of an operand, in place of tensors: a call can be explained without elements.
struct operand_signature {
  std::string_view name;
  std::vector<signature> tensors;
};

/// The origin of a kernel in an explanation.
enum class kernel_origin : std::uint8_t {
  none,          ///< there is no kernel
  built_in,      ///< a table of the library's, or the one that the backend was registered with
  user_defined,  ///< the op itself, which was registered with register_op
  registered,    ///< register_kernel
};
/// The name of an origin: "none", "built-in", "user-defined", "registered".
std::string_view name_of(kernel_origin origin);

/// The origin of the gradient of an op in an explanation.
enum class gradient_origin : std::uint8_t {
  none,
  rule,          ///< the built-in op's rule in grads/
  user_defined,  ///< the rule of an op registered with register_op
  rule_scope,    ///< a rule_scope of this thread
  registered,    ///< register_gradient
};
/// The name of an origin: "none", "rule", "user-defined", "rule scope", "registered".
std::string_view name_of(gradient_origin origin);

/// The part of a value that a recording of the call keeps, if all operands that can have a gradient are tracked.
enum class keeping : std::uint8_t { nothing, shape, whole };
/// The name of a value of `keeping`: "nothing", "shape" or "whole".
std::string_view name_of(keeping kept);

/// A tensor that was given as an operand of an explained call.
struct explained_tensor {
  signature given;
  std::optional<dtype> cast{};  ///< the dtype that it would be cast to first
  keeping kept = keeping::nothing;
};
/// An operand of an explained op: its entry in the op table, and the tensors that were given.
struct explained_operand {
  std::string name;
  dtype_set types;
  role part = role::value;
  bool optional = false, list = false;
  std::vector<explained_tensor> given{};
  bool has_gradient = false;
  std::string constant_because{};  ///< the reason why it has no gradient
};
/// An attribute of an explained op. `value` is the one that the kernel would see: the given value or the default. It is
/// absent if no value was given and there is no default.
struct explained_attribute {
  std::string name, doc;
  attr_kind kind = attr_kind::absent;
  attr_value value{};
  bool given = false, required = false;
};
/// A result of an explained call.
struct explained_result {
  std::string name;  ///< as the op table names it; empty if there is one result
  signature made;
  bool at_most = false;              ///< the sizes are upper bounds: elements decide
  std::optional<dtype> cast_from{};  ///< the dtype that the kernel computes, if it is then rounded to half precision
  keeping kept = keeping::nothing;
};
/// A backend's kernel for the explained op, and if it would run.
struct explained_kernel {
  std::string backend;
  int priority = 0;
  bool active = false, alive = false;
  kernel_origin origin = kernel_origin::none;
  dtype_set dtypes{};
  dtype_set reference{};  ///< of `dtypes`: the build has no SIMD kernel, and the backend runs the reference kernel
  std::string where{};    ///< file and line of the registration; empty for built-in kernels
  bool runs = false;
  std::string why_not{};
};
/// The kernel that the explained call would run.
struct explained_run {
  std::string backend, kernel;
  kernel_origin origin = kernel_origin::none;
  /// The SIMD target, `plain C++ (baseline)`, or `registered function`. For explained_kernel::reference it is
  /// `reference kernel, plain C++ (baseline)` with the reason.
  std::string code;
};
/// The gradient of an explained op: its origin, and the memory that a recording would keep.
struct explained_gradient {
  gradient_origin origin = gradient_origin::none;
  std::string where{};  ///< file and line of a registration
  std::string why_none{};
  std::int64_t saved_bytes = 0;  ///< bytes of elements that a recording would keep
};
/// A SIMD target that this build contains.
struct compiled_target {
  std::string name;
  bool supported = false;  ///< true if this CPU can run it
  bool active = false;     ///< true if kernels run on it now
};
/// All SIMD targets of this build, best first.
std::vector<compiled_target> compiled_simd_targets();

/// A call as it would run now, on this thread.
struct explanation {
  std::string op, doc{};
  bool found = false;                  ///< an op or a kernel has the name
  bool known = false;                  ///< it is a built-in op
  std::optional<family> group{};       ///< the op's family; empty for a registered kernel without one
  std::vector<std::string> similar{};  ///< names that are near an unknown one
  bool of_call = false;                ///< arguments were given
  std::string refusal{};               ///< the message of the error that the call would throw, or empty
  std::vector<explained_operand> operands{};
  std::vector<explained_attribute> attributes{};
  std::optional<dtype> compute{};           ///< the dtype that the kernel is chosen by
  std::vector<explained_result> results{};  ///< empty for a registered kernel whose name no op has
  std::string decided_by{};                 ///< operand whose elements set the result shapes, if you gave no elements
  bool shares_elements = false;             ///< no kernel runs: the result is its operand with another shape
  std::vector<explained_kernel> candidates{};  ///< one per backend, by priority
  std::optional<explained_run> runs{};
  explained_gradient gradient{};
  std::vector<compiled_target> targets{};
};

/// Explains `run_kernel_list` with these arguments. Runs no kernel and initializes no backend. A call that would throw
/// is explained too: the error is part of the answer. Errors that depend on elements (an index out of range), on a
/// registered kernel's own checks, or on free memory only show in the call itself.
explanation explain(std::string_view op, std::span<const operand_ref> operands,
                    std::span<const attribute_ref> attrs = {});
explanation explain(std::string_view op, std::initializer_list<operand_ref> operands,
                    std::initializer_list<attribute_ref> attrs = {});
/// Explains a call from the shapes and dtypes of its operands alone.
explanation explain(std::string_view op, std::span<const operand_signature> operands,
                    std::span<const attribute_ref> attrs = {});
/// Explains the op without arguments.
explanation explain(std::string_view op);

/// Returns the explanation as a page of plain text.
std::string to_string(const explanation& told);
/// Writes the explanation as a page of plain text.
std::ostream& operator<<(std::ostream& out, const explanation& told);

}  // namespace kerngrad
