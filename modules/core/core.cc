// SPDX-License-Identifier: Apache-2.0
// The words that everything else is said in, next to dtypes: shape, error, attribute value, compile-time name.
module;
#include "kernels/common/abi.h"
#include "modules/core/deleted.h"
export module kerngrad:core;

export import :dtypes;
import :std;

export namespace kerngrad {

using kerngrad::max_rank;  ///< the largest rank of a shape: 8

/// A string literal as a template argument: `call<"Conv2D">(...)`.
template <std::size_t N>
struct fixed_string {
  char text[N]{};
  consteval fixed_string(const char (&literal)[N]) {
    for (std::size_t i = 0; i < N; ++i) text[i] = literal[i];
  }
  constexpr operator std::string_view() const { return {text, N - 1}; }
  constexpr std::string_view view() const { return {text, N - 1}; }
};

// ---------------------------------------------------------------------------------------------------- error

/// The one exception type of the library. The message has the form `[function] got X; wanted Y; advice`. It is one line
/// of UTF-8 that is safe to print: control sequences and other bytes are escaped, such as \n and \x1b.
class error : public std::runtime_error {
 public:
  error(std::string_view op, std::string_view got, std::string_view wanted, std::string_view advice = {});
  /// The function that threw, as the caller spelled it.
  const std::string& op() const noexcept { return op_; }
  const std::string& got() const noexcept { return got_; }
  const std::string& wanted() const noexcept { return wanted_; }
  const std::string& advice() const noexcept { return advice_; }

 private:
  std::string op_, got_, wanted_, advice_;
};

/// Throws an `error` with these parts of its message. `op` is the name of the function that fails. Never returns.
[[noreturn]] void fail(std::string_view op, std::string_view got, std::string_view wanted,
                       std::string_view advice = {});

}  // namespace kerngrad

namespace kerngrad::detail {
// These ask for a class first: a trait of the standard library for a class of this one makes the compiler read each
// specialisation of that trait in any unit, a quarter of the time that a small file takes.
template <class T>
concept class_type = requires { static_cast<int T::*>(nullptr); };
template <class T>
concept integer_type = !class_type<T> && std::is_integral_v<T>;
template <class T>
concept float_type = !class_type<T> && std::is_floating_point_v<T>;
/// True if a parameter of type To accepts a From: std::convertible_to without an instance of a trait for the two types.
template <class From, class To>
concept taken_for = requires(void (&take)(To), From&& from) { take(static_cast<From&&>(from)); };
}  // namespace kerngrad::detail

export namespace kerngrad {

/// A C++ number as an operand: an integer, a floating-point number or a bool. It takes the dtype of the tensor next to
/// it. A fraction, such as 0.5, next to an integer tensor makes both float32, or the dtype in which the op computes
/// integers. Arithmetic with an integer tensor throws for a whole number that its dtype does not hold.
template <class T>
concept number = detail::integer_type<T> || detail::float_type<T>;

}  // namespace kerngrad

namespace kerngrad::detail {
// `fail` with numbers in place of each # in `got`. The text is put together elsewhere, so that importers of shapes and
// attribute values compile none of it.
[[noreturn]] void fail_with(std::string_view op, std::string_view got, std::initializer_list<std::int64_t> numbers,
                            std::string_view wanted, std::string_view advice = {});
// Index `i` of something that has `count`.
[[noreturn]] void refuse_index(std::string_view what, std::int64_t i, std::int64_t count);
}  // namespace kerngrad::detail

export namespace kerngrad {

// ---------------------------------------------------------------------------------------------------- shape

/// Sizes of the axes of a tensor, outermost first; rank 0 is a scalar. The constructor throws for negative sizes, a
/// rank above 8, and more than 2^58 elements.
class shape {
 public:
  constexpr shape() = default;
  constexpr shape(std::initializer_list<std::int64_t> dims) { assign(dims.begin(), dims.size()); }
  template <class T>
    requires detail::integer_type<T>
  constexpr shape(T) = KG_DELETED("sizes are a list in braces: zeros({2, 3}), reshape(x, {-1})");
  constexpr explicit shape(std::span<const std::int64_t> dims) { assign(dims.data(), dims.size()); }
  constexpr explicit shape(const std::vector<std::int64_t>& dims) { assign(dims.data(), dims.size()); }

  constexpr int rank() const { return rank_; }
  /// Number of elements, the product of the sizes.
  constexpr std::int64_t size() const { return size_; }
  /// The size of an axis, counted from the front. Throws for an axis that does not exist.
  inline constexpr std::int64_t operator[](std::int64_t axis) const {
    if (static_cast<std::uint64_t>(axis) >= static_cast<std::uint64_t>(rank_))
      detail::refuse_index("shape", axis, rank_);
    return dims_[axis];
  }
  constexpr const std::int64_t* begin() const { return dims_; }
  constexpr const std::int64_t* end() const { return dims_ + rank_; }
  constexpr std::span<const std::int64_t> dims() const { return {dims_, static_cast<std::size_t>(rank_)}; }

  friend constexpr bool operator==(const shape& a, const shape& b) {
    if (a.rank_ != b.rank_) return false;
    for (int i = 0; i < a.rank_; ++i)
      if (a.dims_[i] != b.dims_[i]) return false;
    return true;
  }

 private:
  constexpr void assign(const std::int64_t* dims, std::size_t rank);

  std::int64_t dims_[max_rank]{};
  std::int64_t size_ = 1;
  int rank_ = 0;
  // Without padding at the end, copies are whole blocks of 16 bytes. Others overlap, and a copy of a copy then waits
  // for the first one to reach the cache.
  [[maybe_unused]] int unused_ = 0;
};

/// The shape as in "[2, 3]".
std::string to_string(const shape& dims);

constexpr void shape::assign(const std::int64_t* dims, std::size_t rank) {
  if (rank > static_cast<std::size_t>(max_rank))
    detail::fail_with("shape", "rank #", {static_cast<std::int64_t>(rank)}, "a rank of at most 8",
                      "merge axes with reshape");
  // The bound holds for the sizes with every 0 taken as 1, so that no sum or product of an empty tensor's sizes
  // overflows elsewhere. Times 8 bytes an element still fits in 62 bits.
  constexpr std::int64_t limit = std::int64_t{1} << 58;
  std::int64_t size = 1;
  bool empty = false;
  for (std::size_t i = 0; i < rank; ++i) {
    if (dims[i] < 0)
      detail::fail_with("shape", "axis # of size #", {static_cast<std::int64_t>(i), dims[i]}, "sizes of 0 or more");
    empty = empty || dims[i] == 0;
    if (__builtin_mul_overflow(size, dims[i] == 0 ? 1 : dims[i], &size) || size > limit)
      fail("shape", "sizes whose product overflows", "at most 2^58 elements", "split the tensor");
    dims_[i] = dims[i];
  }
  rank_ = static_cast<int>(rank);
  size_ = empty ? 0 : size;
}

/// The shape that two shapes broadcast to by NumPy's rules; empty if they do not broadcast. Throws if that shape has
/// more than 2^58 elements.
constexpr std::optional<shape> broadcast(const shape& a, const shape& b) {
  const int rank = a.rank() > b.rank() ? a.rank() : b.rank();
  std::int64_t dims[max_rank]{};
  for (int i = 0; i < rank; ++i) {
    const int ia = a.rank() - 1 - i, ib = b.rank() - 1 - i;
    const std::int64_t da = ia >= 0 ? a.begin()[ia] : 1, db = ib >= 0 ? b.begin()[ib] : 1;
    if (da != db && da != 1 && db != 1) return {};
    dims[rank - 1 - i] = da == 1 ? db : da;
  }
  return shape(std::span<const std::int64_t>(dims, static_cast<std::size_t>(rank)));
}

/// True if the shape has the rank of the bound, and no axis is larger than that of the bound.
constexpr bool is_within(const shape& dims, const shape& bound) {
  if (dims.rank() != bound.rank()) return false;
  for (int i = 0; i < dims.rank(); ++i)
    if (dims.begin()[i] > bound.begin()[i]) return false;
  return true;
}

/// The shape and the dtype of a tensor.
struct signature {
  shape dims;
  dtype type = dtype::float32;
  constexpr bool operator==(const signature&) const = default;
};

// ---------------------------------------------------------------------------------------------------- attributes

/// The kinds of attribute values. `absent` is the kind of an attribute that a call does not give.
enum class attr_kind : std::uint8_t { absent, boolean, integer, number, dtype, text, list, numbers };
/// Number of kinds of attribute values, `absent` included.
inline constexpr int attr_kind_count = 8;

/// The name of a kind: "bool", "integer", ...
constexpr std::string_view name_of(attr_kind kind) {
  if (static_cast<int>(kind) >= attr_kind_count) return "no kind";
  constexpr std::string_view names[] = {"absent", "bool", "integer", "number", "dtype", "text", "list", "numbers"};
  return names[static_cast<int>(kind)];
}

}  // namespace kerngrad

namespace kerngrad::detail {
/// Counts an axis from the front, or returns nothing if an operand of that rank lacks it. A negative axis counts from
/// the back. A scalar has one axis, 0 or -1, so that functions along an axis take it for its one element.
constexpr std::optional<int> axis_from_front(std::int64_t axis, int rank) {
  const int count = rank == 0 ? 1 : rank;
  if (axis < -count || axis >= count) return std::nullopt;
  return static_cast<int>(axis < 0 ? axis + count : axis);
}

// The items of a long list, eight bytes each, which copies of an attribute value share.
struct shared_items;
shared_items* share_items(const void* items, std::size_t count);
void hold(shared_items* items) noexcept;
void let_go(shared_items* items) noexcept;
const void* items_of(const shared_items* items) noexcept;
}  // namespace kerngrad::detail

export namespace kerngrad {

/// The value of an attribute: a bool, an integer, a number, a dtype, a short string, a list of integers or a list of
/// numbers. Lists may have any length; copies share those of more than `near_items`. A string of more than `max_text`
/// bytes throws.
class attr_value {
 public:
  static constexpr std::size_t near_items = 16;
  static constexpr int max_text = 127;

  constexpr attr_value() = default;
  constexpr attr_value(const attr_value& other) { take(other); }
  constexpr attr_value& operator=(const attr_value& other) {
    if (this == &other) return *this;
    if (far_) detail::let_go(payload_.far);
    take(other);
    return *this;
  }
  inline constexpr ~attr_value() {
    if (far_) detail::let_go(payload_.far);
  }
  constexpr attr_value(bool value) : kind_(attr_kind::boolean), integer_(value) {}
  template <class T>
    requires(detail::integer_type<T> && !std::is_same_v<T, bool>)
  constexpr attr_value(T value) : kind_(attr_kind::integer), integer_(static_cast<std::int64_t>(value)) {}
  template <class T>
    requires detail::float_type<T>
  constexpr attr_value(T value) : kind_(attr_kind::number), number_(static_cast<double>(value)) {}
  /// Throws for a value that is no dtype, so that code that gets an attribute can look the dtype up.
  constexpr attr_value(dtype value) : kind_(attr_kind::dtype), integer_(static_cast<std::int64_t>(value)) {
    if (!is_dtype(value)) detail::fail_with("attribute", "dtype #", {integer_}, "one of those of kg::dtype");
  }
  constexpr attr_value(std::string_view value) : kind_(attr_kind::text) {
    if (value.size() > max_text)
      detail::fail_with("attribute", "a text of # bytes", {static_cast<std::int64_t>(value.size())}, "at most 127");
    count_ = value.size();
    for (std::size_t i = 0; i < filled_text(); ++i) payload_.text[i] = i < count_ ? value[i] : '\0';
  }
  constexpr attr_value(const char* value) : attr_value(std::string_view(value)) {}
  constexpr attr_value(std::span<const std::int64_t> values) : kind_(attr_kind::list) {
    if (is_far(values.data(), values.size())) return;
    for (std::size_t i = 0; i < count_; ++i) payload_.list[i] = values[i];
    for (std::size_t i = count_; i < filled(); ++i) payload_.list[i] = 0;
  }
  constexpr attr_value(std::initializer_list<std::int64_t> values)
      : attr_value(std::span<const std::int64_t>(values.begin(), values.size())) {}
  attr_value(const std::vector<std::int64_t>& values) : attr_value(std::span<const std::int64_t>(values)) {}
  constexpr attr_value(const shape& dims) : attr_value(dims.dims()) {}
  /// A list of numbers: `{0.5, 0.5}`. If an attribute wants numbers, a list of integers is accepted.
  constexpr attr_value(std::span<const double> values) : kind_(attr_kind::numbers) {
    if (is_far(values.data(), values.size())) return;
    for (std::size_t i = 0; i < count_; ++i) payload_.numbers[i] = values[i];
    for (std::size_t i = count_; i < filled(); ++i) payload_.numbers[i] = 0;
  }
  template <std::same_as<double> T>
  constexpr attr_value(std::initializer_list<T> values)
      : attr_value(std::span<const double>(values.begin(), values.size())) {}
  attr_value(const std::vector<double>& values) : attr_value(std::span<const double>(values)) {}

  constexpr attr_kind kind() const { return kind_; }
  constexpr bool given() const { return kind_ != attr_kind::absent; }
  constexpr bool as_bool() const { return integer_ != 0; }
  /// The value as an integer; a number is truncated. A number beyond int64 gives the nearest int64, NaN gives 0.
  constexpr std::int64_t as_integer() const {
    if (kind_ != attr_kind::number) return integer_;
    if (number_ >= 0x1p63) return std::numeric_limits<std::int64_t>::max();
    if (number_ < -0x1p63) return std::numeric_limits<std::int64_t>::lowest();
    return number_ == number_ ? static_cast<std::int64_t>(number_) : 0;
  }
  constexpr double as_number() const { return kind_ == attr_kind::number ? number_ : static_cast<double>(integer_); }
  constexpr dtype as_dtype() const { return static_cast<dtype>(integer_); }
  constexpr std::string_view as_text() const {
    return kind_ == attr_kind::text ? std::string_view(payload_.text, count_) : std::string_view();
  }
  /// The integers of a list; empty for any other kind.
  constexpr std::span<const std::int64_t> as_list() const {
    return kind_ == attr_kind::list ? items(payload_.list) : std::span<const std::int64_t>();
  }
  /// The numbers of a list; empty for any other kind.
  constexpr std::span<const double> as_numbers() const {
    return kind_ == attr_kind::numbers ? items(payload_.numbers) : std::span<const double>();
  }

 private:
  // Left alone unless there is a text or a list: most values are numbers, and calls copy them.
  union payload {
    std::int64_t list[near_items];
    double numbers[near_items];
    char text[max_text + 1];
    detail::shared_items* far;
    constexpr payload() {}
  };
  // A constant has no elements that were left alone.
  constexpr std::size_t filled() const { return std::is_constant_evaluated() ? near_items : count_; }
  constexpr std::size_t filled_text() const { return (std::is_constant_evaluated() ? max_text : count_) + 1; }
  // Takes the items of a long list.
  constexpr bool is_far(const void* items, std::size_t count) {
    count_ = count;
    if (count > near_items) payload_.far = detail::share_items(items, count), far_ = true;
    return far_;
  }
  template <class T>
  constexpr std::span<const T> items(const T (&near)[near_items]) const {
    return {far_ ? static_cast<const T*>(detail::items_of(payload_.far)) : near, count_};
  }
  constexpr void take(const attr_value& other) {
    kind_ = other.kind_, far_ = other.far_, count_ = other.count_;
    integer_ = other.integer_, number_ = other.number_;
    if (far_) detail::hold(payload_.far = other.payload_.far);
    else if (kind_ == attr_kind::text)
      for (std::size_t i = 0; i < filled_text(); ++i) payload_.text[i] = other.payload_.text[i];
    else if (kind_ == attr_kind::list)
      for (std::size_t i = 0; i < filled(); ++i) payload_.list[i] = other.payload_.list[i];
    else if (kind_ == attr_kind::numbers)
      for (std::size_t i = 0; i < filled(); ++i) payload_.numbers[i] = other.payload_.numbers[i];
  }
  attr_kind kind_ = attr_kind::absent;
  bool far_ = false;
  std::size_t count_ = 0;
  std::int64_t integer_ = 0;
  double number_ = 0;
  payload payload_;
};

/// The value as in `7`, `"same"` or `[1, 2]`, for error messages.
std::string to_string(const attr_value& value);

}  // namespace kerngrad
