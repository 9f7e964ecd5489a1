// SPDX-License-Identifier: Apache-2.0
// The row: one constexpr value that states everything about an op from which the rest is derived: look-up,
// validation, dtype promotion, result shapes, documents, tests.
module;
#include "kernels/common/abi.h"
#include "kernels/volume/volume.h"
#include "kernels/window/window.h"
#include "modules/ops/families.h"
export module kerngrad:op;

import :std;
import :core;

export namespace kerngrad {

/// A list with inline storage for N elements; a longer one is on the heap. Nearly all ops have one result. It is a
/// contiguous range, so it converts to std::span. Its length is only known at run time, so it has no structured
/// bindings.
template <class T, int N>
class small_list {
 public:
  constexpr small_list() = default;
  constexpr small_list(std::initializer_list<T> values) {
    for (const T& value : values) push_back(value);
  }
  inline constexpr void push_back(T value) {
    if (count_ < N) first_[count_] = std::move(value);
    else push_beyond(std::move(value));
    ++count_;
  }
  constexpr int size() const { return count_; }
  constexpr bool empty() const { return count_ == 0; }
  inline constexpr T* data() { return count_ <= N ? first_ : all_.data(); }
  inline constexpr const T* data() const { return count_ <= N ? first_ : all_.data(); }
  constexpr T* begin() { return data(); }
  constexpr const T* begin() const { return data(); }
  constexpr T* end() { return data() + count_; }
  constexpr const T* end() const { return data() + count_; }
  /// Element `i`. Throws for an index out of range.
  inline constexpr T& operator[](std::int64_t i) { return data()[checked(i)]; }
  inline constexpr const T& operator[](std::int64_t i) const { return data()[checked(i)]; }
  constexpr T& front() { return *data(); }
  constexpr const T& front() const { return *data(); }

 private:
  // Out of the way of those that stay in place.
  [[gnu::noinline]] constexpr void push_beyond(T value) {
    if (count_ == N) {
      all_.reserve(N + N + 2);  // before anything is moved: it may throw
      for (T& here : first_) all_.push_back(std::move(here));
    }
    all_.push_back(std::move(value));
  }
  inline constexpr std::int64_t checked(std::int64_t i) const {
    if (static_cast<std::uint64_t>(i) >= static_cast<std::uint64_t>(count_)) detail::refuse_index("list", i, count_);
    return i;
  }

  T first_[N]{};
  int count_ = 0;
  std::vector<T> all_;  // once there are more than N
};

/// The rule that determines the dtype of an operand in a call.
enum class role : std::uint8_t {
  value,  ///< promoted with the other values and cast to the dtype that the kernel computes in
  own,    ///< keeps its own dtype: indices, conditions
  read,   ///< as own, and the shape rule reads its elements: a shape, row splits
};

/// One operand of an op.
struct operand {
  std::string_view name;
  dtype_set types;
  role part = role::value;
  bool optional = false;
  bool list = false;  ///< the operand is a list of tensors; it is then the last one
};

/// One attribute of an op: an argument that is not a tensor.
struct attr_spec {
  std::string_view name;
  attr_kind kind;
  std::string_view doc;
  bool required = false;
  double fallback = 0;            ///< the default of bool, integer, number and dtype attributes
  std::string_view choices = {};  ///< the legal strings, separated by `|`; the first is the default
  double least = std::numeric_limits<double>::lowest(), most = std::numeric_limits<double>::max();
  bool scalar_or_list = false;  ///< a list that may also be one item, or one of the choices
  bool or_text = false;         ///< a number that may also be a string
};

/// True if an attribute accepts a value of this kind. It checks the kind alone: a number for an integer must also be
/// whole.
constexpr bool takes_kind(const attr_spec& spec, attr_kind given) {
  const bool number = given == attr_kind::integer || given == attr_kind::number;
  switch (spec.kind) {
    case attr_kind::integer: return number;
    case attr_kind::number: return number || (spec.or_text && given == attr_kind::text);
    case attr_kind::numbers:
      return given == attr_kind::numbers || given == attr_kind::list || (spec.scalar_or_list && number);
    case attr_kind::list:
      return given == attr_kind::list || (spec.scalar_or_list && number) ||
             (!spec.choices.empty() && given == attr_kind::text);
    default: return given == spec.kind;
  }
}

/// Faults of the declaration of an attribute.
enum class attr_fault : std::uint8_t {
  none,
  name,      ///< the attribute has no name
  kind,      ///< a kind that no call can give
  range,     ///< a range without numbers
  fallback,  ///< a default that no call could give
  choices,   ///< an optional string without choices, or a choice that is too long
};
/// The first fault of the declaration of an attribute.
constexpr attr_fault fault_of(const attr_spec& spec) {
  if (spec.name.empty()) return attr_fault::name;
  if (spec.kind < attr_kind::boolean || static_cast<int>(spec.kind) >= attr_kind_count) return attr_fault::kind;
  if (!(spec.least <= spec.most)) return attr_fault::range;
  for (std::string_view rest = spec.choices; !rest.empty();) {
    const std::size_t end = rest.find('|');
    if (rest.substr(0, end).size() > attr_value::max_text) return attr_fault::choices;
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  if (spec.required) return attr_fault::none;
  const double value = spec.fallback;
  const bool whole = value > -9e15 && value < 9e15 && static_cast<double>(static_cast<std::int64_t>(value)) == value;
  const bool bounded =
      spec.least > std::numeric_limits<double>::lowest() || spec.most < std::numeric_limits<double>::max();
  const bool inside = !bounded || (value >= spec.least && value <= spec.most);
  bool sound = true;
  switch (spec.kind) {
    case attr_kind::boolean: sound = value == 0 || value == 1; break;
    case attr_kind::integer: sound = whole && inside; break;
    case attr_kind::number: sound = inside; break;
    case attr_kind::dtype: sound = whole && value >= 0 && value < dtype_count; break;
    case attr_kind::text: return spec.choices.empty() ? attr_fault::choices : attr_fault::none;
    default: break;
  }
  return sound ? attr_fault::none : attr_fault::fallback;
}
/// True if no attribute has a fault, and all names are distinct.
constexpr bool attrs_are_sound(std::span<const attr_spec> all) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (fault_of(all[i]) != attr_fault::none) return false;
    for (std::size_t j = 0; j < i; ++j)
      if (all[j].name == all[i].name) return false;
  }
  return true;
}

/// Position of an attribute in the list of its op. Rules and launchers read it there without a search.
struct attr_place {
  std::size_t index;
  std::string_view name;
};

}  // namespace kerngrad

namespace kerngrad::detail {
// No constant expression calls it: its name is what the compiler says of the mistake.
void the_list_has_no_attribute_of_this_name();
}  // namespace kerngrad::detail

export namespace kerngrad {

/// The position of an attribute in an op's list. A name that the list does not have is a compile error.
consteval attr_place place_in(std::span<const attr_spec> list, std::string_view name) {
  for (std::size_t i = 0; i < list.size(); ++i)
    if (list[i].name == name) return {i, list[i].name};
  detail::the_list_has_no_attribute_of_this_name();
  return {};
}

/// Conversion of the operands' common dtype before the kernel sees it.
enum class lift : std::uint8_t {
  none,       ///< no conversion
  integers,   ///< bool becomes int32
  signs,      ///< bool and uint8 become int32
  totals,     ///< bool becomes int32, integers other than int32 become int64
  sums,       ///< the same, but uint8 stays: its kernel adds up in int64
  floats,     ///< bool and integers become float32
  quotients,  ///< to a float that holds the integers: bool and those below 32 bits become float32, the others float64
};

/// The dtype of a result.
enum class result : std::uint8_t {
  same,
  boolean,
  int32,
  int64,
  float32,
  complex64,
  part,   ///< the dtype of the parts of complex numbers: float32 or float64
  pair,   ///< the complex dtype whose parts have the float dtype
  total,  ///< int64 for uint8, else the same
  attribute,
  ruled,  ///< the shape rule gives the dtype of each result
};

/// One result of an op that has several.
struct result_spec {
  std::string_view name;
  std::string_view doc;
  result type = result::same;  ///< its dtype, from the one that the kernel computes in
};

/// Conversion of the operands' dtype to that of the kernel, and to that of the result.
struct type_rule {
  lift before = lift::none;
  result after = result::same;
};

/// Largest number of results that the entry of an op can name.
inline constexpr std::size_t max_results = 8;
/// True if the results have distinct names.
constexpr bool results_are_sound(std::span<const result_spec> all) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].name.empty()) return false;
    for (std::size_t j = 0; j < i; ++j)
      if (all[j].name == all[i].name) return false;
  }
  return true;
}
/// True if no operand comes after a list.
constexpr bool lists_are_last(std::span<const operand> all) {
  for (std::size_t i = 0; i + 1 < all.size(); ++i)
    if (all[i].list) return false;
  return true;
}

/// An operand or a result as shape rules and launchers see it. Shape rules only see elements of operands with
/// role::read; other elements may not be computed yet.
struct view {
  void* data = nullptr;
  shape dims;
  dtype type = dtype::float32;
};

/// Results of a shape rule that the launcher needs too. At most one of them is set.
struct resolved_geometry {
  enum class kind : std::uint8_t { none, window, volume, axes, axis, begin, permutation };
  /// An axis, counted from the front, and the number of leading axes that both operands of a look-up share.
  struct axis_of_call {
    int at, batch;
  };
  kind is = kind::none;
  union {
    kernels::window_geometry window;  ///< convolution and pooling
    kernels::volume_geometry volume;  ///< convolution and pooling of volumes
    std::uint32_t axes;               ///< reductions and reversals: a bit for each axis
    axis_of_call axis;                ///< ops along an axis: scans, joins, splits, look-ups
    std::array<std::int64_t, max_rank> begin;
    std::array<int, max_rank> permutation;
  };
  constexpr resolved_geometry() : axes(0) {}
  // A window has a default, so that an assignment would not make it the member that there is.
  constexpr void set_window(const kernels::window_geometry& g) { is = kind::window, std::construct_at(&window, g); }
  constexpr void set_volume(const kernels::volume_geometry& g) { is = kind::volume, volume = g; }
  constexpr void set_axes(std::uint32_t set) { is = kind::axes, axes = set; }
  constexpr void set_axis(int at, int batch = 0) { is = kind::axis, axis = {at, batch}; }
  constexpr void set_begin(const std::array<std::int64_t, max_rank>& at) { is = kind::begin, begin = at; }
  constexpr void set_permutation(const std::array<int, max_rank>& of) { is = kind::permutation, permutation = of; }
};

struct op_row;
/// Operands and results of the shape rule of an op. `in` has shapes and dtypes after promotion.
struct inference {
  const op_row& row;
  std::span<const view> in;
  std::span<const attr_value> attrs;
  dtype compute;      ///< the dtype in which the kernel computes
  dtype result_type;  ///< the dtype of the results by the type rule
  small_list<signature, 1> out{};
  std::uint32_t absent = 0;  ///< a bit for each optional operand that was omitted before one that was given
  resolved_geometry resolved{};

  /// The value of an attribute, by its index or by its name. The name is searched for.
  constexpr const attr_value& attr(attr_place at) const;
  constexpr const attr_value& attr(std::string_view name) const;
  /// True if operand `i` was given.
  constexpr bool has(std::size_t i) const { return i < in.size() && !((absent >> i) & 1); }
  /// Adds the next result, with the dtype from the type rule or with the given one.
  constexpr void give(const shape& dims);
  constexpr void give(const shape& dims, dtype type) { out.push_back({dims, type}); }
  /// The elements of operand `i`, which has role::read. T is the C++ type of its dtype.
  template <element T>
  std::span<const T> elements(std::size_t i) const {
    if (in[i].type != dtype_of<T>) refuse_element_type(i, dtype_of<T>);
    return {static_cast<const T*>(in[i].data), static_cast<std::size_t>(in[i].dims.size())};
  }
  /// Throws for operand `i`, which the message names.
  [[noreturn]] void refuse(std::string_view got, std::string_view wanted, std::string_view advice = {}) const;
  [[noreturn]] void refuse_element_type(std::size_t i, dtype wanted) const;
};

/// A constexpr shape rule: gives one shape and dtype per result, or throws.
using infer_fn = void (*)(inference&);

struct launch_call;
/// Turns shapes and attributes into the kernel's geometry and calls it.
using launch_fn = void (*)(const launch_call&);

/// The calling convention of an op's kernels, where more than the launcher follows from it: support by `fuse`, samples
/// of the test kit, or the possible kernels of custom ops. All other ops name a launcher.
enum class convention : std::uint8_t {
  custom,  ///< the entry has its own launcher
  unary,   ///< x -> y, with up to two numbers as parameters
  binary,  ///< a and b, which broadcast
  select,  ///< condition, t and e, which broadcast
  add_n,   ///< a list of equal shapes, added in order
  cast,
  convert,  ///< between complex and real numbers: a count and nothing else
  reduce,
  copy,  ///< the same elements in the same order: the result shares the operand's memory, no kernel runs
  unpack,
  split,
  zeros_like,
  ones_like,
  random,
};

/// An elementwise op on single numbers, which a fused function of numbers runs in place of the kernel. Operands that
/// the op does not have are 0; booleans are 1 and 0.
struct scalar_form {
  float (*of_floats)(float, float, float) = nullptr;
  double (*of_doubles)(double, double, double) = nullptr;
  constexpr bool exists() const { return of_floats != nullptr && of_doubles != nullptr; }
};

/// Values at which an op jumps or has no derivative. The test kit avoids them, because differences do not approximate a
/// gradient there.
enum class kink : std::uint8_t {
  none,
  ties,             ///< equal elements, for an op whose result depends on the order of the elements
  whole_quotients,  ///< operands whose quotient is an integer
};

/// The numbers from `low` to `high`.
struct interval {
  double low = -2, high = 2;
};
/// Values for which an op is defined and smooth, of its first operand and of the others.
struct domain {
  interval first{}, others{};
};

/// The families of ops. The reference groups ops by family, and the testkit makes sample calls by it. A custom op names
/// the family whose sample calls fit it.
#define KG_NAME(F) F
enum class family : std::uint8_t { KG_FAMILIES(KG_NAME) };

/// The names of all families: "elementwise", ...
#define KG_TEXT(F) #F
inline constexpr std::string_view family_names[] = {KG_FAMILIES(KG_TEXT)};
/// The name of a family, such as "elementwise".
constexpr std::string_view name_of(family group) { return family_names[static_cast<int>(group)]; }

/// The entry of an op in the op table. Everything else about the op is derived from it.
struct op_row {
  std::string_view name;
  std::string_view doc;  ///< one line: formula, NaN and edge cases, gradient at kinks
  family group;
  std::span<const operand> operands;
  std::span<const attr_spec> attrs{};
  type_rule types{};
  infer_fn infer = nullptr;
  kerngrad::convention convention = convention::custom;
  launch_fn launch = nullptr;      ///< a launcher, for convention::custom only
  bool depthwise = false;          ///< true for a convolution that filters each channel on its own
  scalar_form scalar{};            ///< the elementwise op on single numbers, if it has such a form
  std::string_view kernel{};       ///< the op whose kernel this op runs, if it has none of its own
  std::string_view forward{};      ///< the op whose backward pass runs this op: its calls determine those of this op
  std::string_view no_gradient{};  ///< the reason for having no gradient rule; empty if there is a rule
  kerngrad::domain domain{};       ///< values for which the op is defined and smooth: the test kit draws from it
  kink kinks = kink::none;         ///< values in the domain at which the op jumps or has no derivative
  bool in_place = false;           ///< the result may share the first operand's memory
  double cost = 1;  ///< arithmetic operations per element of the result, roughly; 0 if elements only move
  std::uint8_t quotients = 0, roots = 0;  ///< divisions and square roots among these operations
  int version = 1;
  /// Results of an op with several, up to 8. Empty for one result, or for a number of equal results that the shape rule
  /// decides.
  std::span<const result_spec> results{};
  bool bounded = false;  ///< the shape rule gives bounds of the sizes, and the kernel reports the sizes by `made`

  constexpr std::string_view kernel_name() const { return kernel.empty() ? name : kernel; }
  /// Index of an attribute, or -1.
  constexpr int attr_index(std::string_view wanted) const {
    for (std::size_t i = 0; i < attrs.size(); ++i)
      if (attrs[i].name == wanted) return static_cast<int>(i);
    return -1;
  }
  /// Index of an operand, or -1.
  constexpr int operand_index(std::string_view wanted) const {
    for (std::size_t i = 0; i < operands.size(); ++i)
      if (operands[i].name == wanted) return static_cast<int>(i);
    return -1;
  }
  /// True for an elementwise op of one operand.
  constexpr bool is_unary() const { return group == family::elementwise && operands.size() == 1 && !takes_list(); }
  /// True for an elementwise op of two operands or of a list.
  constexpr bool is_binary() const { return group == family::elementwise && (operands.size() == 2 || takes_list()); }
  constexpr bool takes_list() const { return !operands.empty() && operands.back().list; }
  /// The operand that the i-th tensor of a call belongs to. The last operand has all tensors of its list.
  constexpr std::size_t place_of(std::size_t i) const { return i < operands.size() ? i : operands.size() - 1; }
  constexpr const operand& operand_at(std::size_t i) const { return operands[place_of(i)]; }
  /// The name of a result; empty if the entry has none for it.
  constexpr std::string_view result_name(std::size_t k) const {
    return k < results.size() ? results[k].name : std::string_view();
  }
  /// True if the calling convention determines the launcher, or if the entry has its own.
  constexpr bool has_launcher() const { return (convention == convention::custom) == (launch != nullptr); }
};

constexpr const attr_value& inference::attr(attr_place at) const {
#ifdef NDEBUG
  constexpr bool checks = false;
#else
  constexpr bool checks = true;
#endif
  if ((checks || std::is_constant_evaluated()) && row.attrs[at.index].name != at.name)
    refuse("a rule that reads " + std::string(at.name) + " where the row has " + std::string(row.attrs[at.index].name),
           "the attributes of the rule's list");
  return attrs[at.index];
}
constexpr const attr_value& inference::attr(std::string_view name) const {
  return attrs[static_cast<std::size_t>(row.attr_index(name))];
}

/// The value of an attribute that a call does not give.
constexpr attr_value default_of(const attr_spec& spec) {
  if (spec.required) return {};
  switch (spec.kind) {
    case attr_kind::boolean: return attr_value(spec.fallback != 0);
    case attr_kind::integer: return attr_value(static_cast<std::int64_t>(spec.fallback));
    case attr_kind::number: return attr_value(spec.fallback);
    case attr_kind::dtype: return attr_value(static_cast<dtype>(static_cast<int>(spec.fallback)));
    case attr_kind::text: return attr_value(spec.choices.substr(0, spec.choices.find('|')));
    default: return {};
  }
}

/// The dtype that a kernel computes in, from the promoted dtype of its value operands.
constexpr dtype lifted(dtype type, lift before) {
  if (before == lift::none || !(integral | boolean_only).has(type)) return type;
  if (before == lift::floats) return dtype::float32;
  if (before == lift::quotients) return size_of(type) < 4 ? dtype::float32 : dtype::float64;
  if (type == dtype::boolean || (before == lift::signs && type == dtype::uint8)) return dtype::int32;
  const bool adds_up = before == lift::totals || (before == lift::sums && type != dtype::uint8);
  return adds_up && type != dtype::int32 ? dtype::int64 : type;
}

/// The dtype in which an op with kernels for `kernels` computes. Without a kernel, half precision is computed in
/// float32, int8, int16 and uint16 in int32, and uint32 in int64.
constexpr dtype computed_in(dtype type, dtype_set kernels) {
  return kernels.has(type) ? type : trait_of(type).computed;
}

/// The dtype of a result, from the one that the kernel computes in.
constexpr dtype result_of(dtype compute, result after) {
  switch (after) {
    case result::boolean: return dtype::boolean;
    case result::int32: return dtype::int32;
    case result::int64: return dtype::int64;
    case result::float32: return dtype::float32;
    case result::complex64: return dtype::complex64;
    case result::part: return compute == dtype::complex128 ? dtype::float64 : dtype::float32;
    case result::pair: return compute == dtype::float64 ? dtype::complex128 : dtype::complex64;
    case result::total: return compute == dtype::uint8 ? dtype::int64 : compute;
    default: return compute;
  }
}

constexpr void inference::give(const shape& dims) {
  const std::size_t k = static_cast<std::size_t>(out.size());
  out.push_back({dims, k < row.results.size() ? result_of(compute, row.results[k].type) : result_type});
}

/// True for a complete op: its entry has a name, a line of documentation, a shape rule and a launcher.
template <const op_row& Row>
concept op = !Row.name.empty() && !Row.doc.empty() && Row.infer != nullptr && Row.has_launcher();

}  // namespace kerngrad
