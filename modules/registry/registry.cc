// SPDX-License-Identifier: Apache-2.0
// The by-name API: built-in ops by their names, and kernels and gradients that exist at run time only.
module;
#include "kernels/common/abi.h"
export module kerngrad:registry;

import :std;
import :core;
import :op;
import :launch;
import :table;
import :storage;
import :tensor;
import :entry;
import :engine;

export namespace kerngrad {

// ------------------------------------------------------------------------------------------ operands by name

/// An operand by name; a list operand holds several tensors. The name may be omitted if the op has one operand.
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

/// An operand of a call, borrowed for the duration of the call.
struct operand_ref {
  std::string_view name;
  std::span<const tensor> tensors;
  inline operand_ref(std::string_view name, const tensor& x) : name(name), tensors(&x, 1) {}
  inline operand_ref(std::string_view name, std::span<const tensor> list) : name(name), tensors(list) {}
  operand_ref(std::string_view name, const std::vector<tensor>& list) : name(name), tensors(list) {}
  inline operand_ref(const tensor& x) : tensors(&x, 1) {}
  operand_ref(const named_operand& x) : name(x.name), tensors(x.tensors) {}
};
/// An attribute of a call. Its name is borrowed for the duration of the call.
struct attribute_ref {
  std::string_view name;
  attr_value value;
  inline attribute_ref(std::string_view name, const attr_value& value) : name(name), value(value) {}
  attribute_ref(const named_attribute& a) : name(a.name), value(a.value) {}
};

// ------------------------------------------------------------------------------------------ kernels

/// The argument of a registered kernel: the call that it runs. With a schema, or for a built-in op's name, operands and
/// attributes are checked, and attributes that were not given have their defaults.
class kernel_call {
 public:
  kernel_call(std::string_view kernel, std::string_view backend, std::span<const operand_ref> operands,
              std::span<const attribute_ref> attrs, std::span<const signature> results = {},
              const std::shared_ptr<storage>* memory = nullptr)
      : kernel_(kernel), backend_(backend), operands_(operands), attrs_(attrs), results_(results), memory_(memory) {}
  std::string_view kernel() const { return kernel_; }
  std::string_view backend() const { return backend_; }
  /// True if the operand was given.
  bool has(std::string_view operand) const;
  /// The tensor of an operand. Throws if the operand was not given or is a list of several.
  const tensor& input(std::string_view operand) const;
  /// All tensors of a list operand. Throws if the operand was not given.
  std::span<const tensor> inputs(std::string_view operand) const;
  /// True if the attribute was given or has a default.
  bool has_attr(std::string_view name) const;
  /// The value of an attribute. Throws if the attribute was not given.
  const attr_value& attr(std::string_view name) const;
  /// The value of an attribute, or a default.
  attr_value attr(std::string_view name, const attr_value& fallback) const;
  std::span<const operand_ref> operands() const { return operands_; }
  std::span<const attribute_ref> attrs() const { return attrs_; }
  /// For a built-in op, the shapes and dtypes that the results must have; empty for others.
  std::span<const signature> results() const { return results_; }

  /// A result, and the address to which the kernel writes its elements: on the host, or in the storage of its backend.
  struct writable {
    tensor result;
    void* elements;
  };
  /// Allocates a result, uninitialized. Throws for text.
  writable make(dtype type, const shape& dims) const;
  /// Address of a tensor's elements for this kernel: on the host, or a block in the storage of its backend.
  const void* elements(const tensor& x) const;

 private:
  std::string_view kernel_, backend_;
  std::span<const operand_ref> operands_;
  std::span<const attribute_ref> attrs_;
  std::span<const signature> results_;
  const std::shared_ptr<storage>* memory_;
};

/// Operands and attributes of a registered kernel. With a schema, calls by name are checked before the kernel gets
/// them. Strings are copied at registration. For a built-in op's name the op's entry in the op table serves as the
/// schema.
struct kernel_schema {
  std::string doc{};
  std::vector<operand> operands{};
  std::vector<attr_spec> attrs{};
};

/// A kernel that is registered at run time.
struct kernel_config {
  std::string name;
  std::string backend = "simd";
  /// Computes the results. Ops that it calls are not recorded. If it throws, nothing has changed.
  std::function<tensor_list(const kernel_call&)> run{};
  /// Dtypes that operands may have; all but text by default.
  dtype_set dtypes = any_dtype;
  /// `setup` runs when the kernel is registered for an initialized backend, or when its backend is initialized.
  /// `dispose` runs when the kernel is unregistered, or when the backend is removed. Each runs once in the life of the
  /// backend.
  std::function<void()> setup{}, dispose{};
  std::optional<kernel_schema> schema{};
};

// ------------------------------------------------------------------------------------------ gradients

/// The argument of a registered gradient: a recorded call, and the gradients of its results.
class gradient_call {
 public:
  gradient_call(const kernel_call& forward, std::span<const signature> signatures, std::span<const tensor> dy,
                std::span<const tensor> results, const std::vector<bool>& wanted)
      : forward_(forward), signatures_(signatures), dy_(dy), results_(results), wanted_(wanted) {}
  /// The gradient dy of result k of the call. Throws if there is no such result.
  const tensor& dy(int k = 0) const;
  /// Number of results that the call had.
  int results() const { return static_cast<int>(dy_.size()); }
  /// An operand that `saves_inputs` names; throws for others.
  const tensor& input(std::string_view operand) const;
  /// All tensors of a list operand that `saves_inputs` names.
  std::span<const tensor> inputs(std::string_view operand) const;
  /// Shape and dtype of an operand, saved or not; `index` counts within a list operand.
  const signature& of(std::string_view operand, int index = 0) const;
  /// Number of tensors that were given as an operand.
  int count(std::string_view operand) const;
  /// Result k of the call. Throws unless `saves_outputs` is set.
  const tensor& output(int k = 0) const;
  const attr_value& attr(std::string_view name) const { return forward_.attr(name); }
  attr_value attr(std::string_view name, const attr_value& fallback) const { return forward_.attr(name, fallback); }
  /// True if the gradient of that operand will be used.
  bool wants(std::string_view operand) const;

 private:
  const operand_ref& operand_named(std::string_view operand) const;
  const kernel_call& forward_;
  std::span<const signature> signatures_;
  std::span<const tensor> dy_, results_;
  const std::vector<bool>& wanted_;
};

/// The gradient of one operand, for `gradient_config::of`. The function returns one tensor per tensor of the operand,
/// or an undefined one if there is no gradient.
struct operand_gradient {
  std::string operand;
  std::function<std::vector<tensor>(const gradient_call&)> run;
};

/// A gradient that is registered at run time: for a kernel of the registry, or in place of a built-in op's rule.
struct gradient_config {
  std::string name;
  std::vector<std::string> saves_inputs{};
  bool saves_outputs = false;
  /// Returns the gradients by operand name. An operand that it leaves out gets no gradient.
  std::function<std::vector<named_operand>(const gradient_call&)> run{};
  /// One function per operand, in place of `run`. Each is called only if that operand's gradient is needed.
  std::vector<operand_gradient> of{};
};

/// Behaviour of a registration if the name is taken: `refuse` throws, `replace` puts the new one in place of the old
/// one.
enum class existing : std::uint8_t { refuse, replace };

// ------------------------------------------------------------------------------------------ registering

class registration;

/// Adds a kernel. Throws if (name, backend) has a kernel already, built in or registered, unless `taken` is `replace`.
/// For a built-in op's name it then replaces the kernel for calls by name. The backend need not exist yet.
void register_kernel(kernel_config config, existing taken = existing::refuse,
                     std::source_location where = std::source_location::current());
/// Adds a gradient. Throws if the name has one already, unless `taken` is `replace`. A built-in op's new gradient is
/// used by every later recording, whichever API calls the op.
void register_gradient(gradient_config config, existing taken = existing::refuse,
                       std::source_location where = std::source_location::current());
/// Removes a registered kernel and runs its `dispose`. Recordings that used it keep working. Throws if there is no
/// registered kernel of that name.
void unregister_kernel(std::string_view name, std::string_view backend = "simd");
/// Removes a registered gradient. A built-in op uses its own rule again from the next recording on. Throws if there is
/// no registered gradient of that name.
void unregister_gradient(std::string_view name);
/// Removes a custom op that register_op added from the by-name API. Typed calls still work. Throws if no custom op of
/// that name is registered.
void unregister_op(std::string_view name);
/// Registers every registered kernel of a backend for another one as well, except those that it has already, built in
/// or registered. Returns their number. Hooks run for the copies too.
int copy_registered_kernels(std::string_view from, std::string_view to);

}  // namespace kerngrad

namespace kerngrad::detail {
// A user-defined op: see register_op and scoped_op.
void register_entry(const op_entry& op, std::source_location where);
registration scoped_entry(const op_entry& op, std::source_location where);
}  // namespace kerngrad::detail

export namespace kerngrad {

/// A registration that ends with this object: the kernel, gradient or op is then unregistered. Move-only. If another
/// registration has replaced it meanwhile, that one stays.
class registration {
 public:
  registration() = default;
  registration(registration&& other) noexcept : end_(std::exchange(other.end_, nullptr)) {}
  registration& operator=(registration&& other) noexcept {
    std::swap(end_, other.end_);
    return *this;
  }
  /// Ignores exceptions of a `dispose` hook; release() does not.
  ~registration();
  /// Ends the registration now.
  void release();

 private:
  friend registration scoped_kernel(kernel_config, existing, std::source_location);
  friend registration scoped_gradient(gradient_config, existing, std::source_location);
  friend registration detail::scoped_entry(const detail::op_entry&, std::source_location);
  std::function<void()> end_;
};
/// Adds a kernel as `register_kernel` does, for as long as the result lives.
[[nodiscard]] registration scoped_kernel(kernel_config config, existing taken = existing::refuse,
                                         std::source_location where = std::source_location::current());
/// Adds a gradient as `register_gradient` does, for as long as the result lives.
[[nodiscard]] registration scoped_gradient(gradient_config config, existing taken = existing::refuse,
                                           std::source_location where = std::source_location::current());

// ------------------------------------------------------------------------------------------ listing

/// Description of a kernel, as get_kernel and kernels_for_backend return it.
struct kernel_info {
  std::string name, backend;
  dtype_set dtypes;
  bool known = false;  ///< a built-in kernel, not a registered one
  bool has_gradient = false;
  std::string where{};  ///< file and line of the registration; empty for built-in ones
};
/// The kernel that a call by name would run; empty if there is none.
std::optional<kernel_info> get_kernel(std::string_view name, std::string_view backend = "simd");
/// Description of a registered gradient, as get_gradient returns it.
struct gradient_info {
  std::string name;
  std::vector<std::string> saves_inputs;
  bool saves_outputs = false;
  bool replaces = false;  ///< true if it replaces a built-in op's own rule
  std::string where{};
};
/// The registered gradient of a name; empty if there is none.
std::optional<gradient_info> get_gradient(std::string_view name);
/// True if a call by name is differentiable.
bool has_gradient(std::string_view name);
/// All kernels of a backend, built in and registered, sorted by name.
std::vector<kernel_info> kernels_for_backend(std::string_view backend);
/// The op's entry in the op table: operands, attributes and rules of a built-in op or of one registered with
/// register_op. Null if no op has the name.
const op_row* row_named(std::string_view name);
/// The names of all ops that a call by name can use, built in and registered, sorted.
std::vector<std::string> op_names();

// ------------------------------------------------------------------------------------------ running

/// Runs a kernel by name on the active backend and returns all its results. Throws for unknown names, operands and
/// attributes, and lists the known ones. Throws if the kernel rejects the call.
tensor_list run_kernel_list(std::string_view name, std::span<const operand_ref> operands,
                            std::span<const attribute_ref> attrs = {});
tensor_list run_kernel_list(std::string_view name, std::span<const named_operand> operands,
                            std::span<const named_attribute> attrs = {});
/// Runs a kernel by name and returns its only result: `run_kernel("LeakyRelu", {{"x", x}}, {{"alpha", 0.1}})`. Throws
/// as run_kernel_list, and for a kernel with several results.
tensor run_kernel(std::string_view name, std::initializer_list<operand_ref> operands,
                  std::initializer_list<attribute_ref> attrs = {});

}  // namespace kerngrad

namespace kerngrad::detail {

struct found_kernel;
/// The elementwise functions of a kernel for one dtype; null if there is none.
struct flat_kernel {
  kernels::flat1_fn one = nullptr;
  kernels::run_fn parametric = nullptr;  // with attributes, as kernels/elementwise/unary.h takes them
  kernels::flat2_fn two = nullptr;
  double params[2] = {};
};
void run_parametric(const flat_kernel& k, const void* x, void* y, std::size_t n);

}  // namespace kerngrad::detail

export namespace kerngrad {

/// A kernel that find_kernel looked up once. A call on tensors skips the look-up. A call on spans runs the kernel's
/// function directly, for elementwise kernels of the built-in backends. Then only sizes are checked, and there is no
/// recording and no hook.
class kernel_handle {
 public:
  const std::string& name() const;
  /// Runs the kernel on tensors and returns its only result, as run_kernel.
  tensor operator()(std::initializer_list<operand_ref> operands, std::initializer_list<attribute_ref> attrs = {}) const;
  /// Runs the kernel on tensors and returns all its results, as run_kernel_list.
  tensor_list list(std::span<const operand_ref> operands, std::span<const attribute_ref> attrs = {}) const;

  /// Runs the kernel on one operand, element by element. Both spans must have one size. Throws if the kernel has no
  /// elementwise form for the dtype.
  template <element T>
  inline void operator()(std::span<const T> x, std::span<std::type_identity_t<T>> y) const {
    const detail::flat_kernel& k = flat_[static_cast<std::size_t>(dtype_of<T>)];
    if (x.size() == y.size() && k.one) k.one(x.data(), y.data(), x.size());
    else if (x.size() == y.size() && k.parametric) detail::run_parametric(k, x.data(), y.data(), x.size());
    else refuse(1, dtype_of<T>, x.size(), x.size(), y.size());
  }
  /// Runs the kernel on two operands, element by element. The three spans must have one size. Throws if the kernel has
  /// no elementwise form for the dtype.
  template <element T>
  inline void operator()(std::span<const T> a, std::span<const std::type_identity_t<T>> b,
                         std::span<std::type_identity_t<T>> y) const {
    const detail::flat_kernel& k = flat_[static_cast<std::size_t>(dtype_of<T>)];
    if (a.size() != y.size() || b.size() != y.size() || !k.two) refuse(2, dtype_of<T>, a.size(), b.size(), y.size());
    k.two(a.data(), b.data(), y.data(), y.size());
  }

 private:
  friend kernel_handle find_kernel(std::string_view, std::initializer_list<attribute_ref>);
  [[noreturn]] void refuse(int operands, dtype type, std::size_t a, std::size_t b, std::size_t y) const;
  std::array<detail::flat_kernel, dtype_count> flat_{};
  std::shared_ptr<const detail::found_kernel> found_;
};
/// Looks a kernel up by name on the active backend, with attributes for its calls. Calls on tensors may give other
/// attributes; calls on spans cannot. Throws for names and attributes as run_kernel does. The handle keeps its kernel
/// even if the kernel is replaced or unregistered.
kernel_handle find_kernel(std::string_view name, std::initializer_list<attribute_ref> attrs = {});

}  // namespace kerngrad
