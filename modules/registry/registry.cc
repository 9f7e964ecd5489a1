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

/// An operand by name; a list operand holds several tensors. The name may be omitted where an op has one operand.
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

/// An operand of a call, borrowed for as long as the call takes.
struct operand_ref {
  std::string_view name;
  std::span<const tensor> tensors;
  inline operand_ref(std::string_view name, const tensor& x) : name(name), tensors(&x, 1) {}
  inline operand_ref(std::string_view name, std::span<const tensor> list) : name(name), tensors(list) {}
  operand_ref(std::string_view name, const std::vector<tensor>& list) : name(name), tensors(list) {}
  inline operand_ref(const tensor& x) : tensors(&x, 1) {}
  operand_ref(const named_operand& x) : name(x.name), tensors(x.tensors) {}
};
/// An attribute of a call, whose name is borrowed.
struct attribute_ref {
  std::string_view name;
  attr_value value;
  inline attribute_ref(std::string_view name, const attr_value& value) : name(name), value(value) {}
  attribute_ref(const named_attribute& a) : name(a.name), value(a.value) {}
};

// ------------------------------------------------------------------------------------------ kernels

/// Call that a kernel of the registry gets. With a schema, or for a built-in op's name, operands and attributes have
/// been checked and attributes that were not given have their defaults.
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
  /// Throws when the operand was not given or is a list of several.
  const tensor& input(std::string_view operand) const;
  /// All tensors of a list operand.
  std::span<const tensor> inputs(std::string_view operand) const;
  bool has_attr(std::string_view name) const;
  /// Throws when the attribute was not given.
  const attr_value& attr(std::string_view name) const;
  /// The attribute, or a default.
  attr_value attr(std::string_view name, const attr_value& fallback) const;
  std::span<const operand_ref> operands() const { return operands_; }
  std::span<const attribute_ref> attrs() const { return attrs_; }
  /// Shapes and dtypes that the results must have: built-in ops' only, by their row; empty for others.
  std::span<const signature> results() const { return results_; }

  /// A tensor of the results, and where the kernel writes its elements: the host, or the storage of its backend.
  struct writable {
    tensor result;
    void* elements;
  };
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

/// Operands and attributes that a kernel takes: with it, calls by name are checked before the kernel sees them. Texts
/// are copied at registration. For a built-in op's name the op's row stands in.
struct kernel_schema {
  std::string doc{};
  std::vector<operand> operands{};
  std::vector<attr_spec> attrs{};
};

/// A kernel that is registered at run time.
struct kernel_config {
  std::string name;
  std::string backend = "simd";
  /// Computes the results; what it calls is not recorded. It may throw: nothing has changed then.
  std::function<tensor_list(const kernel_call&)> run{};
  /// Dtypes that operands may have; all by default.
  dtype_set dtypes = any_dtype;
  /// Run once in the life of the backend: when the kernel joins a live backend, or the backend is initialized; and when
  /// the kernel leaves, or the backend is removed.
  std::function<void()> setup{}, dispose{};
  std::optional<kernel_schema> schema{};
};

// ------------------------------------------------------------------------------------------ gradients

/// Argument of a gradient of the registry.
class gradient_call {
 public:
  gradient_call(const kernel_call& forward, std::span<const signature> signatures, std::span<const tensor> dy,
                std::span<const tensor> results, const std::vector<bool>& wanted)
      : forward_(forward), signatures_(signatures), dy_(dy), results_(results), wanted_(wanted) {}
  /// The gradient of result k. Throws when there is no such result.
  const tensor& dy(int k = 0) const;
  /// How many results the call had.
  int results() const { return static_cast<int>(dy_.size()); }
  /// An operand that `saves_inputs` names; throws for others.
  const tensor& input(std::string_view operand) const;
  /// All tensors of a list operand that `saves_inputs` names.
  std::span<const tensor> inputs(std::string_view operand) const;
  /// Shape and dtype of an operand, saved or not; `index` counts within a list operand.
  const signature& of(std::string_view operand, int index = 0) const;
  /// How many tensors were given as an operand.
  int count(std::string_view operand) const;
  /// A result, if `saves_outputs`.
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

/// The gradient of one operand: a tensor for each that was given, or an empty one where there is none.
struct operand_gradient {
  std::string operand;
  std::function<std::vector<tensor>(const gradient_call&)> run;
};

/// A gradient that is registered at run time: for a kernel of the registry, or in place of a built-in op's rule.
struct gradient_config {
  std::string name;
  std::vector<std::string> saves_inputs{};
  bool saves_outputs = false;
  /// Gives the gradients by operand name; an operand that is omitted has none.
  std::function<std::vector<named_operand>(const gradient_call&)> run{};
  /// In place of `run`: one function an operand, called only if that operand's gradient will be used.
  std::vector<operand_gradient> of{};
};

/// Behaviour if the name is taken.
enum class existing : std::uint8_t { refuse, replace };

// ------------------------------------------------------------------------------------------ registering

class registration;

/// Adds a kernel. Throws when (name, backend) has one already, known or registered, unless it is to be replaced; a
/// built-in op's kernel is then replaced for calls by name. The backend need not exist yet.
void register_kernel(kernel_config config, existing taken = existing::refuse,
                     std::source_location where = std::source_location::current());
/// Adds a gradient. Throws when the name has one already, unless it is to be replaced. A built-in op's new gradient
/// holds for every recording from now on, through whichever door the op is called.
void register_gradient(gradient_config config, existing taken = existing::refuse,
                       std::source_location where = std::source_location::current());
/// Throws when there is none that was registered; runs its `dispose`. Recordings that used it keep what they need.
void unregister_kernel(std::string_view name, std::string_view backend = "simd");
/// Throws when there is none that was registered. A built-in op has its own rule again from the next recording on.
void unregister_gradient(std::string_view name);
/// Takes a user-defined op (register_op) out of the by-name API. Typed calls of it go on working.
void unregister_op(std::string_view name);
/// Registers every registered kernel of a backend for another one as well, except those that it has already, built in
/// or registered; returns how many. Hooks run for the copies too.
int copy_registered_kernels(std::string_view from, std::string_view to);

}  // namespace kerngrad

namespace kerngrad::detail {
// A user-defined op: see register_op and scoped_op.
void register_entry(const op_entry& op, std::source_location where);
registration scoped_entry(const op_entry& op, std::source_location where);
}  // namespace kerngrad::detail

export namespace kerngrad {

/// A registration that ends with this object. Move-only. A registration that has replaced it meanwhile stays.
class registration {
 public:
  registration() = default;
  registration(registration&& other) noexcept : end_(std::exchange(other.end_, nullptr)) {}
  registration& operator=(registration&& other) noexcept {
    std::swap(end_, other.end_);
    return *this;
  }
  /// Swallows what a `dispose` hook throws; release() does not.
  ~registration();
  /// Ends it now.
  void release();

 private:
  friend registration scoped_kernel(kernel_config, existing, std::source_location);
  friend registration scoped_gradient(gradient_config, existing, std::source_location);
  friend registration detail::scoped_entry(const detail::op_entry&, std::source_location);
  std::function<void()> end_;
};
/// register_kernel, undone when the result goes out of scope.
[[nodiscard]] registration scoped_kernel(kernel_config config, existing taken = existing::refuse,
                                         std::source_location where = std::source_location::current());
/// register_gradient, undone when the result goes out of scope.
[[nodiscard]] registration scoped_gradient(gradient_config config, existing taken = existing::refuse,
                                           std::source_location where = std::source_location::current());

// ------------------------------------------------------------------------------------------ listing

/// A kernel as a listing shows it.
struct kernel_info {
  std::string name, backend;
  dtype_set dtypes;
  bool known = false;  ///< a built-in kernel, not a registered one
  bool has_gradient = false;
  std::string where{};  ///< file and line of the registration; empty for built-in ones
};
/// The kernel that a call by name would run, or nothing.
std::optional<kernel_info> get_kernel(std::string_view name, std::string_view backend = "simd");
/// A gradient of the registry.
struct gradient_info {
  std::string name;
  std::vector<std::string> saves_inputs;
  bool saves_outputs = false;
  bool replaces = false;  ///< a built-in op's own rule
  std::string where{};
};
/// The registered gradient of a name, or nothing.
std::optional<gradient_info> get_gradient(std::string_view name);
/// True if a call by name would be differentiable.
bool has_gradient(std::string_view name);
/// All kernels of a backend, known and registered, by name.
std::vector<kernel_info> kernels_for_backend(std::string_view backend);
/// The row of a built-in op or of one registered with register_op, by name; null when there is none.
const op_row* row_named(std::string_view name);
/// The names of all ops that a call by name may use, known and registered, in order.
std::vector<std::string> op_names();

// ------------------------------------------------------------------------------------------ running

/// Runs a kernel by name on the active backend and gives all its results. Throws for unknown names (naming what there
/// is), operands and attributes, and for whatever the kernel rejects.
tensor_list run_kernel_list(std::string_view name, std::span<const operand_ref> operands,
                            std::span<const attribute_ref> attrs = {});
tensor_list run_kernel_list(std::string_view name, std::span<const named_operand> operands,
                            std::span<const named_attribute> attrs = {});
/// Runs a kernel with one result by name: `run_kernel("LeakyRelu", {{"x", x}}, {{"alpha", 0.1}})`.
tensor run_kernel(std::string_view name, std::initializer_list<operand_ref> operands,
                  std::initializer_list<attribute_ref> attrs = {});

}  // namespace kerngrad

namespace kerngrad::detail {

struct found_kernel;
/// The elementwise forms of a kernel for one dtype; null where there is none.
struct flat_kernel {
  kernels::flat1_fn one = nullptr;
  kernels::run_fn parametric = nullptr;  // with attributes, as kernels/elementwise/unary.h takes them
  kernels::flat2_fn two = nullptr;
  double params[2] = {};
};
void run_parametric(const flat_kernel& k, const void* x, void* y, std::size_t n);

}  // namespace kerngrad::detail

export namespace kerngrad {

/// A kernel that was looked up once. On tensors a call skips the look-up. On spans, for elementwise kernels of the
/// built-in backends, it is the kernel's own function: no validation but of the sizes, no tape, no hook.
class kernel_handle {
 public:
  const std::string& name() const;
  /// One result, as run_kernel gives it.
  tensor operator()(std::initializer_list<operand_ref> operands, std::initializer_list<attribute_ref> attrs = {}) const;
  /// All results.
  tensor_list list(std::span<const operand_ref> operands, std::span<const attribute_ref> attrs = {}) const;

  /// One operand; sizes must match. Throws when the kernel has no elementwise form for the dtype.
  template <element T>
  inline void operator()(std::span<const T> x, std::span<std::type_identity_t<T>> y) const {
    const detail::flat_kernel& k = flat_[static_cast<std::size_t>(dtype_of<T>)];
    if (x.size() == y.size() && k.one) k.one(x.data(), y.data(), x.size());
    else if (x.size() == y.size() && k.parametric) detail::run_parametric(k, x.data(), y.data(), x.size());
    else refuse(1, dtype_of<T>, x.size(), x.size(), y.size());
  }
  /// Two operands.
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
/// Looks a name up on the active backend, with attributes for the calls: on spans they are all that there is, on
/// tensors a call may give others. Throws as run_kernel does for names and attributes. The handle goes on working, with
/// the same kernel, when that is replaced or unregistered.
kernel_handle find_kernel(std::string_view name, std::initializer_list<attribute_ref> attrs = {});

}  // namespace kerngrad
