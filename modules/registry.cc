// SPDX-License-Identifier: Apache-2.0
// The by-name door: known ops by their names, and kernels and gradients that exist at run time only.
module;
#include "kernels/abi.h"
export module kerngrad:registry;

import :std;
import :core;
import :op;
import :tensor;
import :engine;

export namespace kerngrad {

/// An operand by name; a list operand holds several tensors. The name may be left out where an op has one operand.
struct named_operand {
  std::string name;
  std::vector<tensor> tensors;
  named_operand(std::string_view name, tensor x) : name(name), tensors{std::move(x)} {}
  named_operand(std::string_view name, std::vector<tensor> list) : name(name), tensors(std::move(list)) {}
  named_operand(tensor x) : tensors{std::move(x)} {}
};
/// An attribute by name.
struct named_attribute {
  std::string name;
  attr_value value;
};

/// What a kernel of the registry gets.
class kernel_call {
 public:
  kernel_call(std::string_view kernel, std::string_view backend, std::span<const named_operand> operands,
              std::span<const named_attribute> attrs)
      : kernel_(kernel), backend_(backend), operands_(operands), attrs_(attrs) {}
  std::string_view kernel() const { return kernel_; }
  std::string_view backend() const { return backend_; }
  bool has(std::string_view operand) const;
  /// Throws when the operand was not given or is a list of several.
  const tensor& input(std::string_view operand) const;
  /// All tensors of a list operand.
  std::span<const tensor> inputs(std::string_view operand) const;
  bool has_attr(std::string_view name) const;
  /// Throws when the attribute was not given.
  const attr_value& attr(std::string_view name) const;
  /// The attribute, or a default.
  attr_value attr(std::string_view name, const attr_value& fallback) const;
  std::span<const named_operand> operands() const { return operands_; }
  std::span<const named_attribute> attrs() const { return attrs_; }

 private:
  std::string_view kernel_, backend_;
  std::span<const named_operand> operands_;
  std::span<const named_attribute> attrs_;
};

/// A kernel that is registered at run time.
struct kernel_config {
  std::string name;
  std::string backend = "simd";
  /// Computes the results; what it calls is not recorded. It may throw: nothing has changed then.
  std::function<tensor_list(const kernel_call&)> run{};
  /// Dtypes that operands may have; all by default.
  dtype_set dtypes = any_dtype;
  /// Run once when the kernel is registered, and when it leaves.
  std::function<void()> setup{}, dispose{};
};

/// What a gradient of the registry gets.
class gradient_call {
 public:
  gradient_call(const kernel_call& forward, std::span<const tensor> dy, std::span<const tensor> results,
                std::vector<bool> wanted)
      : forward_(forward), dy_(dy), results_(results), wanted_(std::move(wanted)) {}
  /// The gradient of result k.
  const tensor& dy(int k = 0) const { return dy_[static_cast<std::size_t>(k)]; }
  /// An operand that `saves_inputs` names; throws for others.
  const tensor& input(std::string_view operand) const;
  /// A result, if `saves_outputs`.
  const tensor& output(int k = 0) const;
  const attr_value& attr(std::string_view name) const { return forward_.attr(name); }
  attr_value attr(std::string_view name, const attr_value& fallback) const { return forward_.attr(name, fallback); }
  /// Whether the gradient of that operand will be used.
  bool wants(std::string_view operand) const;

 private:
  const kernel_call& forward_;
  std::span<const tensor> dy_, results_;
  std::vector<bool> wanted_;
};

/// A gradient that is registered at run time: for a kernel of the registry, or in place of a known op's rule.
struct gradient_config {
  std::string name;
  std::vector<std::string> saves_inputs{};
  bool saves_outputs = false;
  /// Gives the gradients by operand name; an operand that is left out has none.
  std::function<std::vector<named_operand>(const gradient_call&)> run{};
};

/// What to do when the name is taken.
enum class existing : std::uint8_t { refuse, replace };

/// Adds a kernel. Throws when (name, backend) has one already, known or registered, unless it is to be replaced; a
/// known op's kernel is then replaced for calls by name.
void register_kernel(kernel_config config, existing taken = existing::refuse);
/// Adds a gradient. Throws when the name has one already, unless it is to be replaced. A known op's new gradient
/// holds for every recording from now on, through whichever door the op is called.
void register_gradient(gradient_config config, existing taken = existing::refuse);
/// Throws when there is none that was registered; runs its `dispose`.
void unregister_kernel(std::string_view name, std::string_view backend = "simd");
/// Throws when there is none that was registered. A known op has its own rule again from the next recording on.
void unregister_gradient(std::string_view name);

/// A kernel as a listing shows it.
struct kernel_info {
  std::string name, backend;
  dtype_set dtypes;
  bool known = false;  ///< a built-in kernel, not a registered one
  bool has_gradient = false;
};
/// The kernel that a call by name would run, or nothing.
std::optional<kernel_info> get_kernel(std::string_view name, std::string_view backend = "simd");
/// Whether a call by name would be differentiable.
bool has_gradient(std::string_view name);
/// All kernels of a backend, known and registered, by name.
std::vector<kernel_info> kernels_for_backend(std::string_view backend);

/// Runs a kernel by name on the active backend and gives all its results. Throws for unknown names (naming what there
/// is), operands and attributes, and for whatever the kernel refuses.
tensor_list run_kernel_list(std::string_view name, std::span<const named_operand> operands,
                            std::span<const named_attribute> attrs = {});
/// The same for kernels with one result: `run_kernel("LeakyRelu", {{"x", x}}, {{"alpha", 0.1}})`.
tensor run_kernel(std::string_view name, std::initializer_list<named_operand> operands,
                  std::initializer_list<named_attribute> attrs = {});

}  // namespace kerngrad
