// SPDX-License-Identifier: Apache-2.0
// The tensor: a value that shares a reference-counted, 64-byte-aligned, contiguous buffer. Elements never change once
// a tensor is built, so copies are free and what a tape saved stays what it was.
module;
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define KG_ONE_THREAD __libc_single_threaded
#else
#define KG_ONE_THREAD false
#endif
#include <version>
#ifdef __cpp_lib_format
#include <algorithm>
#include <format>
#endif
#include "kernels/common/abi.h"
#include "modules/core/deleted.h"
export module kerngrad:tensor;

import :std;
import :core;
import :storage;

namespace kerngrad::detail {

/// A copy of a buffer's elements in the storage of a backend.
struct mirror;

/// Header of a buffer; the elements follow it in the same block, or belong to `base` (a view: the same elements under
/// another shape, or a part of them that lies together), or are so far in the storage of a backend only.
struct buffer {
  std::atomic<std::int32_t> references{1};
  dtype type{};
  std::uint8_t size_class = 0;  // of its block
  std::uint32_t form = 0;       // dtype, rank and the size class that such elements need: compared as one word
  std::int64_t bytes = 0;       // of the elements
  shape dims;
  std::byte* data = nullptr;  // on the host; read it through host_data, which fetches what is not there
  buffer* base = nullptr;
  std::atomic<mirror*> mirrors{nullptr};
  buffer* next = nullptr;  // in a list of blocks that are kept for reuse
};

buffer* allocate(dtype type, const shape& dims);   // elements are not initialised
buffer* share(buffer* source, const shape& dims);  // same elements, other shape
// Some of the elements, which are on the host: those from that byte on.
buffer* share_part(buffer* source, const shape& dims, std::int64_t first_byte);
void release(buffer* last) noexcept;                              // the count has reached zero
std::byte* fetch(const buffer* b);                                // the elements are in a storage: copies them
[[noreturn]] void refuse_element(const buffer* b, dtype wanted);  // wrong C++ type asked for

// Another thread may be fetching them.
inline std::byte* host_data(const buffer* b) {
  std::byte* data = __atomic_load_n(&b->data, __ATOMIC_ACQUIRE);
  return data ? data : fetch(b);
}

// True if it is a view of a part of its base's elements; such a one has its address from the start.
inline bool is_part(const buffer* b) { return b->base && b->bytes != b->base->bytes; }
// True if two buffers have memory in common.
bool share_elements(const buffer* a, const buffer* b) noexcept;

// The counts need atomic instructions only while the process has a second thread. glibc knows; elsewhere they are
// atomic always.
inline void hold(buffer* b) noexcept {
  if (KG_ONE_THREAD) b->references.store(b->references.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  else b->references.fetch_add(1);
}
// True when it has no owner any more. A count of one needs no decrement: there is no other reference to copy from.
inline bool let_go(buffer* b) noexcept {
  const std::int32_t count = b->references.load();
  if (count == 1) return true;
  if (!KG_ONE_THREAD) return b->references.fetch_sub(1) == 1;
  b->references.store(count - 1, std::memory_order_relaxed);
  return false;
}

/// Ranges that convert to texts of a tensor.
template <class T>
concept gives_text = taken_for<const T&, std::string_view>;

// Any number: elements of different types meet in a list of them, which no tensor takes.
struct any_number {
  template <class T>
    requires number<T>
  constexpr any_number(T) {}
};
#define KG_MIXED_NUMBERS \
  KG_DELETED("elements of one C++ type that a dtype has, such as float, double or int: write {-2., 0., 0.5}")

/// Braces inside of braces: the rows of a matrix, the matrices of a stack. It refers to the elements, which live as
/// long as the expression that writes them.
class nested_values {
 public:
  template <class T>
    requires(element<T> || gives_text<T>)
  constexpr nested_values(std::initializer_list<T> values) : elements_(values.begin()), count_(values.size()) {
    if constexpr (gives_text<T>) {
      type_ = dtype::text;
      text_at_ = [](const void* elements, std::size_t i) -> std::string_view {
        return static_cast<const T*>(elements)[i];
      };
    } else {
      type_ = dtype_of<T>;
    }
  }
  // A template, so that it is no choice for empty braces.
  template <int = 0>
  nested_values(std::initializer_list<any_number> values) = KG_MIXED_NUMBERS;
  constexpr nested_values(std::initializer_list<nested_values> rows) : rows_(std::data(rows)), count_(rows.size()) {}

  /// Their tensor. Rejects rows of different shapes or dtypes, and braces without elements.
  buffer* make() const;

 private:
  std::pair<shape, dtype> measured() const;
  std::byte* copy_to(std::byte* to) const;
  void add_texts(std::vector<std::string_view>& all) const;

  const nested_values* rows_ = nullptr;  // either rows or elements
  const void* elements_ = nullptr;
  std::string_view (*text_at_)(const void* elements, std::size_t i) = nullptr;
  std::size_t count_ = 0;
  dtype type_{};
};

// The part of a tensor that names its position on a tape: which recording, which value. 0 is "on none".
struct tape_position {
  std::uint64_t tape = 0;
  std::uint32_t value = 0;
};

}  // namespace kerngrad::detail

export namespace kerngrad {

/// A C++ type whose values become elements of a tensor of text: std::string, std::string_view or a string literal.
template <class T>
concept text_like = !element<T> && detail::gives_text<T>;

class tensor;
class tensor_part;
class row_iterator;
/// A tensor as text: "tensor float32 [2, 2]\n[[1, 2],\n [3, 4]]". It has dtype, shape, and the elements with six
/// significant digits. From rank 2 on, the elements are in columns of one width, with aligned decimal points. If there
/// are more than `printed_whole` elements, `...` stands for the middle of each axis that is longer than six. Then the
/// first three and the last three indices are shown, or fewer if more than `printed_most` elements would be shown.
std::string to_string(const tensor& x);
/// The largest number of elements that `to_string` shows without `...`.
inline constexpr std::int64_t printed_whole = 200;
/// The largest number of elements that `to_string` shows of a tensor with more than `printed_whole` elements.
inline constexpr std::int64_t printed_most = 1000;

/// A multi-dimensional array. Copies share the elements. A tensor never changes: functions return new tensors.
class tensor {
 public:
  /// An undefined tensor, without shape or elements. Ops throw for it, but it may stand for an optional operand.
  // `inline` is said where it matters: in a module, members defined in their class are not inline by themselves.
  tensor() noexcept = default;
  /// A scalar.
  template <element T>
  explicit tensor(T value) : tensor(raw(&value, 1, dtype_of<T>, shape{})) {}
  /// A copy of the values in row-major order. Throws unless their number is the product of the sizes.
  template <element T>
  tensor(std::span<const T> values, const shape& dims) : tensor(raw(values.data(), values.size(), dtype_of<T>, dims)) {}
  template <element T>
  tensor(std::initializer_list<T> values, const shape& dims)
      : tensor(from_list<T>(values.begin(), values.size(), dims)) {}
  template <element T>
  tensor(const std::vector<T>& values, const shape& dims) : tensor(from_vector(values, dims)) {}
  /// A tensor of rank 1 with the values.
  template <element T>
  tensor(std::initializer_list<T> values) : tensor(values, shape{static_cast<std::int64_t>(values.size())}) {}
  /// The rows of a matrix: `tensor{{1, 2}, {3, 4}}` is 2 x 2; deeper braces give higher ranks. Values with a shape are
  /// written in parentheses, `tensor({1, 2, 3, 4}, {2, 2})`. Strings work alike: `tensor{{"a", "b"}, {"c", "d"}}`.
  /// Throws for rows of different shapes or dtypes.
  tensor(std::initializer_list<detail::nested_values> rows) : tensor(detail::nested_values(rows).make()) {}
  template <element T>
  explicit tensor(const std::vector<T>& values) : tensor(values, shape{static_cast<std::int64_t>(values.size())}) {}
  template <int = 0>
  tensor(std::initializer_list<detail::any_number> values) = KG_MIXED_NUMBERS;
  template <int = 0>
  tensor(std::initializer_list<detail::any_number> values, const shape& dims) = KG_MIXED_NUMBERS;
  template <class T>
    requires(number<T> && !element<T>)
  explicit tensor(T) = KG_DELETED("no dtype stores this C++ type: cast it, to std::int64_t, float or another one");
  template <class T, class... Shape>
    requires(!element<T> && !text_like<T>)
  explicit tensor(const std::vector<T>&, const Shape&...) = KG_DELETED(
      "no dtype stores this C++ type: copy it into a vector of float, int or another one; kg::stack joins tensors");
  /// A tensor of text with copies of the strings. Throws for strings that are not UTF-8.
  template <text_like T>
  explicit tensor(const T& value) : tensor(from_texts(texts_of(&value, 1), shape{})) {}
  template <text_like T>
  tensor(std::initializer_list<T> values) : tensor(values, shape{static_cast<std::int64_t>(values.size())}) {}
  template <text_like T>
  tensor(std::initializer_list<T> values, const shape& dims)
      : tensor(from_texts(texts_of(values.begin(), values.size()), dims)) {}
  template <text_like T>
  tensor(std::span<const T> values, const shape& dims)
      : tensor(from_texts(texts_of(values.data(), values.size()), dims)) {}
  template <text_like T>
  tensor(const std::vector<T>& values, const shape& dims)
      : tensor(from_texts(texts_of(values.data(), values.size()), dims)) {}
  template <text_like T>
  explicit tensor(const std::vector<T>& values) : tensor(values, shape{static_cast<std::int64_t>(values.size())}) {}

  /// Makes a tensor whose elements `fill` writes. `fill` gets all of them as one uninitialized `std::span<T>`, in
  /// row-major order. For custom kernels; exceptions of `fill` reach the caller. Tensors of text are made from strings
  /// instead.
  template <element T, class F>
    requires(!std::same_as<T, text>)
  static tensor build(const shape& dims, F fill) {
    tensor x(detail::allocate(dtype_of<T>, dims));
    fill(std::span<T>(reinterpret_cast<T*>(x.buffer_->data), static_cast<std::size_t>(dims.size())));
    return x;
  }

  inline tensor(const tensor& other) noexcept : buffer_(other.buffer_), position_(other.position_) {
    if (buffer_) detail::hold(buffer_);
  }
  inline tensor(tensor&& other) noexcept : buffer_(std::exchange(other.buffer_, nullptr)), position_(other.position_) {}
  inline tensor& operator=(const tensor& other) & noexcept { return *this = tensor(other); }
  inline tensor& operator=(tensor&& other) & noexcept {
    std::swap(buffer_, other.buffer_);
    position_ = other.position_;
    return *this;
  }
  template <class T>
  void operator=(const T&) && =
      KG_DELETED("this is a new tensor, not a part of another: y = x.at(0).set(1) changes one");
  inline ~tensor() {
    if (buffer_ && detail::let_go(buffer_)) detail::release(buffer_);
  }

  /// Deleted: a tensor does not convert to bool or to a number, because `if (a == b)` would be ambiguous.
  template <class T>
    requires number<T>
  explicit(std::is_same_v<T, bool>) operator T() const = KG_DELETED(
      "a tensor is no number: x.item() reads its only element, kg::all(a == b).item() compares, & and | join masks");

  /// False for an undefined tensor only.
  inline bool defined() const noexcept { return buffer_ != nullptr; }
  inline const shape& dims() const { return checked()->dims; }
  inline int rank() const { return dims().rank(); }
  /// Number of elements.
  inline std::int64_t size() const { return dims().size(); }
  inline dtype type() const { return checked()->type; }
  inline kerngrad::signature signature() const { return {dims(), type()}; }

  /// The elements in row-major order. T must be the dtype's C++ type, or it throws. They live as long as a tensor that
  /// holds them, so it cannot be called on a temporary: name the tensor first, or use item() or to_doubles().
  template <element T>
  std::span<const T> data() const& {
    const detail::buffer* b = checked();
    if (b->type != dtype_of<T>) detail::refuse_element(b, dtype_of<T>);
    return {reinterpret_cast<const T*>(detail::host_data(b)), static_cast<std::size_t>(b->dims.size())};
  }
  template <element T>
  std::span<const T> data() && = KG_DELETED("a temporary's elements die with it: name the tensor, or take item()");
  /// The only element of a tensor of size 1. T must be the dtype's C++ type, or it throws.
  template <element T>
    requires(!std::same_as<T, text>)
  T item() const {
    if (size() != 1) fail("item", "a tensor of shape " + to_string(dims()), "exactly one element");
    return data<T>()[0];
  }
  template <class T>
    requires(!element<T>)
  std::span<const T> data() const {
    static_assert(element<T>, "[data] no dtype has elements of this C++ type: see kg::dtype, or take to_doubles()");
    return {};
  }
  template <class T>
    requires(!element<T> && !std::same_as<T, std::string>)
  T item() const {
    static_assert(element<T>, "[item] no dtype has elements of this C++ type: item() gives a double");
    return T();
  }
  /// A copy of the only string of a tensor of text. Throws for another dtype, and unless the tensor has one element.
  template <std::same_as<std::string> T>
  T item() const {
    if (size() != 1) fail("item", "a tensor of shape " + to_string(dims()), "exactly one element");
    return to_texts()[0];
  }
  /// The only element as double, for any real dtype and bool. Throws for other dtypes and unless the tensor has one
  /// element.
  double item() const;
  /// The element at one integer for each axis, negative ones from the back. T must be the dtype's C++ type. Throws for
  /// another number of indices and for one outside of its axis.
  template <element T, class... Index>
    requires(sizeof...(Index) > 0)
  T item(Index... indices) const;
  /// All elements as double in row-major order, for any real dtype and bool. Throws for complex numbers and text.
  std::vector<double> to_doubles() const;

  /// Copies of all strings of a tensor of text, in row-major order. Throws for another dtype.
  std::vector<std::string> to_texts() const;

  /// The elements' address, for kernels and hooks; 64-byte aligned unless it is a view.
  inline const void* address() const { return detail::host_data(checked()); }
  /// True if two tensors share elements: a copy or reshape shares all of them, a slice without a copy its part.
  inline bool shares_with(const tensor& other) const {
    return buffer_ && other.buffer_ && detail::share_elements(buffer_, other.buffer_);
  }

  // Indices, by NumPy's rules; modules/tensor/indexing.cc says what they mean.

  /// The elements at indices, one index per axis. An index is an integer, a `range`, `all`, `newaxis`, `ellipsis`, a
  /// tensor of integers or a mask. A negative integer counts from the back, and the result lacks the axis of an
  /// integer. A result that is contiguous in memory, such as x(1) or x(range(0, 3)), shares its elements with x; a
  /// scalar and all others are copied. Any dtype. Throws for an integer out of range, more indices than axes, and a
  /// mask of another shape. Gradient: dy at the selected positions, added up if an element is selected twice.
  template <class... Index>
  tensor operator()(const Index&... indices) const;
#ifdef __cpp_multidimensional_subscript
  /// The same as x(indices...).
  template <class... Index>
  tensor operator[](const Index&... indices) const;
#else
  template <class Index>
  tensor operator[](const Index&) const = KG_DELETED("write x(0), x(0, 1): C++20 has no operator[] of several indices");
#endif
  /// Selects elements to change: `x.at(1).add(100)` returns a changed tensor. x itself does not change. Indices are as
  /// in x(indices...).
  template <class... Index>
  tensor_part at(const Index&... indices) const&;
  /// For a tensor that is moved from, `x = std::move(x).at(1).add(100)`: it is changed in place if no other tensor
  /// shares its elements and no gradient is recorded.
  template <class... Index>
  tensor_part at(const Index&... indices) &&;

  /// The slices along the first axis, x(0), x(1), ...: `for (const kg::tensor& row : x)`. Throws for a scalar.
  row_iterator begin() const;
  row_iterator end() const;

 private:
  friend struct tensor_access;
  inline explicit tensor(detail::buffer* adopted) noexcept : buffer_(adopted) {}
  using text_views = std::vector<std::string_view>;
  template <text_like T>
  static text_views texts_of(const T* values, std::size_t count) {
    return text_views(values, values + count);
  }
  static tensor from_texts(std::span<const std::string_view> values, const shape& dims);
  static tensor raw(const void* values, std::size_t count, dtype type, const shape& dims);
  template <element T>
  static tensor from_list(const T* values, std::size_t count, const shape& dims) {
    return raw(values, count, dtype_of<T>, dims);
  }
  template <element T>
  static tensor from_vector(const std::vector<T>& values, const shape& dims) {
    if constexpr (std::is_same_v<T, bool>) {  // std::vector<bool> has no array to point at
      std::vector<std::uint8_t> bytes(values.begin(), values.end());
      return raw(bytes.data(), bytes.size(), dtype::boolean, dims);
    } else {
      return raw(values.data(), values.size(), dtype_of<T>, dims);
    }
  }
  inline const detail::buffer* checked() const {
    if (!buffer_) fail("tensor", "an undefined tensor", "a tensor", "give it a value first, or ask defined()");
    return buffer_;
  }

  detail::buffer* buffer_ = nullptr;
  detail::tape_position position_;
};

/// Writes the text of to_string, with each element in the stream's number format: its precision, std::fixed,
/// std::showpos, std::hex, its locale. A width is the minimum of every element; std::left aligns elements to the left.
std::ostream& operator<<(std::ostream& out, const tensor& x);
/// Writes the shape as in "[2, 3]".
std::ostream& operator<<(std::ostream& out, const shape& dims);
/// Writes the name of a dtype, such as float32.
std::ostream& operator<<(std::ostream& out, dtype type);

/// Memory of tensors, over all threads, as `memory()` returns it.
struct memory_info {
  std::int64_t live_buffers = 0;  ///< blocks in use by tensors
  std::int64_t live_bytes = 0;    ///< bytes of their elements
  std::int64_t cached_bytes = 0;  ///< bytes of freed blocks that are kept for reuse
  std::int64_t live_tensors = 0;  ///< buffers, views of them, borrowed elements; copies of a handle are one tensor
  std::int64_t peak_bytes = 0;    ///< the most that live_bytes has been since the start or reset_peak_memory()
};
/// Returns the memory that tensors use now. The peak is exact while one thread allocates; it may be too low if several
/// do so at the same moment.
memory_info memory();
/// The counts as in "3 tensors, 2 buffers, 64 bytes, peak 128 bytes, cached 0 bytes".
std::string to_string(const memory_info& info);
/// Restarts peak_bytes from the bytes that are live now.
void reset_peak_memory();
/// Returns the cached blocks of the calling thread, and the shared ones, to the system.
void release_cached_memory();

}  // namespace kerngrad

namespace kerngrad::detail {

/// How std::format writes each element.
struct element_format {
  int precision = 6, width = 0;
  char type = 'g';  // what printf calls it: f, e, g, a of floats, d, x, o of integers, and their capitals
  bool sign = false, left = false, alternate = false;
};
/// Reads `[<|>][+][#][width][.precision][type]` up to the brace that ends it, or what is none of that.
template <class Char>
constexpr Char read_format(Char at, Char end, element_format& to) {
  const auto is = [&](char c) { return at != end && *at == c; };
  const auto number = [&](int& value) {
    for (value = 0; at != end && *at >= '0' && *at <= '9' && value < 1000; ++at) value = value * 10 + (*at - '0');
  };
  if (is('<') || is('>')) to.left = *at++ == '<';
  if (is('+')) to.sign = true, ++at;
  if (is('#')) to.alternate = true, ++at;
  number(to.width);
  if (is('.')) ++at, number(to.precision);
  for (const char type : {'f', 'F', 'e', 'E', 'g', 'G', 'a', 'A', 'd', 'x', 'X', 'o'})
    if (is(type)) {
      to.type = type, ++at;
      break;
    }
  return at;
}
std::string formatted(const tensor& x, const element_format& how);

}  // namespace kerngrad::detail

#ifdef __cpp_lib_format
/// The result of to_string, with the format options of strings: `std::format("{:>8}", x.dims())`.
template <>
struct std::formatter<kerngrad::shape> : std::formatter<std::string> {
  template <class Context>
  auto format(const kerngrad::shape& dims, Context& to) const {
    return std::formatter<std::string>::format(to_string(dims), to);
  }
};
/// The dtype's name, with the format options of strings.
template <>
struct std::formatter<kerngrad::dtype> : std::formatter<std::string_view> {
  template <class Context>
  auto format(kerngrad::dtype type, Context& to) const {
    return std::formatter<std::string_view>::format(name_of(type), to);
  }
};
/// Formats as to_string, with a format for each element: `std::format("{:+8.3f}", x)`. `<` aligns elements to the left;
/// a width is the minimum of each.
template <>
struct std::formatter<kerngrad::tensor> {
  constexpr auto parse(std::format_parse_context& text) {
    const auto end = kerngrad::detail::read_format(text.begin(), text.end(), how_);
    if (end != text.end() && *end != '}')
      throw std::format_error("a tensor's format is [<>][+][#][width][.digits][type]");
    return end;
  }
  template <class Context>
  auto format(const kerngrad::tensor& x, Context& to) const {
    return std::ranges::copy(kerngrad::detail::formatted(x, how_), to.out()).out;
  }

 private:
  kerngrad::detail::element_format how_;
};
#endif

namespace kerngrad {

// The engine's way into a tensor.
struct tensor_access {
  static inline tensor adopt(detail::buffer* b) noexcept { return tensor(b); }
  // Gives elements to an undefined tensor that is on no tape.
  static inline void fill(tensor& x, detail::buffer* b) noexcept { x.buffer_ = b; }
  static inline detail::buffer* buffer(const tensor& x) noexcept { return x.buffer_; }
  static inline detail::tape_position& position(tensor& x) noexcept { return x.position_; }
  static inline const detail::tape_position& position(const tensor& x) noexcept { return x.position_; }
  static inline bool unique(const tensor& x) noexcept {
    const detail::buffer* b = x.buffer_;
    // Elements that a backend's storage has a copy of may not change under it, and borrowed ones never.
    return b && b->references.load() == 1 && !b->mirrors.load() &&
           (!b->base || (b->base->references.load() == 1 && !b->base->mirrors.load()));
  }
};

}  // namespace kerngrad
