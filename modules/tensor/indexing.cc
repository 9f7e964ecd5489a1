// SPDX-License-Identifier: Apache-2.0
// Indices: what x(1, all), x.at(0).set(v) and a loop over rows mean. The rules are NumPy's.
module;
#include "kernels/common/abi.h"
export module kerngrad:indexing;

import :std;
import :core;
import :op;
import :tensor;
import :engine;
import :axes;

namespace kerngrad::detail {

/// Base of `all`, which modules/ops/reduce/names.cc declares: it is a function, too.
struct whole_axis {};

template <class...>
inline constexpr bool is_range_of_indices = false;
template <class...>
inline constexpr bool is_index = false;

// True if a T is taken as the other: by a call, because the traits of the standard library make the compiler read all
// that the modules know of them, for every file that uses indices.
template <class T, class Other>
concept passes_for = requires(T given, void (*take)(Other)) { take(given); };

// Unsigned numbers that do not fit are outside of every axis.
template <axis_number T>
constexpr std::int64_t as_index(T at) {
  constexpr std::uint64_t most = ~std::uint64_t{} >> 1;
  if constexpr (T(-1) > T(0)) return static_cast<std::int64_t>(at > most ? most : at);
  else return static_cast<std::int64_t>(at);
}

}  // namespace kerngrad::detail

export namespace kerngrad {

/// The type of `end`, the stop of a range that goes to the end of its axis: `range(2, end)`.
struct axis_end {};
/// The stop of a range that goes to the end of its axis, in the direction of its step: `x(kg::range(2, kg::end))`.
inline constexpr axis_end end;
/// The type of `newaxis`, an index that inserts an axis of size 1.
struct new_axis {};
/// An index that inserts an axis of size 1: `x(kg::newaxis)`.
inline constexpr new_axis newaxis;
/// The type of `ellipsis`, an index that stands for all axes without another index.
struct other_axes {};
/// An index that stands for all axes without another index: `x(kg::ellipsis, 0)`. It can occur once.
inline constexpr other_axes ellipsis;

/// A range of indices: start, start + step, ... before stop, as Python's start:stop:step. Negative bounds count from
/// the back. Bounds outside of an axis are replaced by its ends. A negative step goes backwards: `range(-1, end, -1)`
/// is the axis in reverse. A step of 0 throws when the range is used. For a tensor of numbers use `arange`.
class range {
 public:
  template <detail::axis_number A, detail::axis_number B, detail::axis_number S = int>
  constexpr range(A start, B stop, S step = 1)
      : start_(detail::as_index(start)), stop_(detail::as_index(stop)), step_(detail::as_index(step)) {}
  template <detail::axis_number A, detail::axis_number S = int>
  constexpr range(A start, axis_end, S step = 1)
      : start_(detail::as_index(start)), step_(detail::as_index(step)), to_end_(true) {}
  template <class... T>
  explicit range(T...) {
    static_assert(detail::is_range_of_indices<T...>,
                  "kg::range(start, stop, step) is a range of indices, of integers: numbers from start to stop are "
                  "made by kg::arange");
  }
  /// Deleted: a range is no tensor. It is not constexpr, so that testing for the conversion is no error.
  template <std::same_as<tensor> T>
  operator T() const {
    static_assert(detail::is_range_of_indices<T>,
                  "kg::range is a range of indices and no tensor: numbers from start to stop are made by kg::arange");
    return T();
  }

  constexpr std::int64_t start() const { return start_; }
  constexpr std::int64_t stop() const { return stop_; }  ///< not used if to_end()
  constexpr std::int64_t step() const { return step_; }
  constexpr bool to_end() const { return to_end_; }

 private:
  std::int64_t start_ = 0, stop_ = 0, step_ = 1;
  bool to_end_ = false;
};

}  // namespace kerngrad

namespace kerngrad::detail {

/// One index of a list, as the bodies see it.
struct index_item {
  enum class kind : std::uint8_t { integer, range, new_axis, ellipsis, elements };

  index_item() = default;
  template <class T>
  explicit index_item(const T& index) {
    if constexpr (axis_number<T>) {
      start = as_index(index);
    } else if constexpr (std::is_same_v<T, kerngrad::range>) {
      is = kind::range, start = index.start(), stop = index.stop(), step = index.step(), to_end = index.to_end();
    } else if constexpr (passes_for<const T*, const whole_axis*>) {
      is = kind::range, to_end = true;
    } else if constexpr (std::is_same_v<T, kerngrad::new_axis>) {
      is = kind::new_axis;
    } else if constexpr (std::is_same_v<T, other_axes>) {
      is = kind::ellipsis;
    } else if constexpr (passes_for<const T&, const tensor&>) {
      is = kind::elements, by = index;
    } else {
      static_assert(is_index<T>,
                    "an index is an integer, kg::range, kg::all, kg::newaxis, kg::ellipsis, or a tensor of integers "
                    "or booleans");
    }
  }

  std::int64_t start = 0, stop = 0, step = 1;
  tensor by;
  kind is = kind::integer;
  bool to_end = false;
};
using index_items = small_list<index_item, 4>;

// Lists go to the bodies in braces: making a std::span, or a list that allocates, would take a file that uses indices
// longer to compile than all else in it.

/// x(indices...).
tensor elements_at(const tensor& x, std::initializer_list<index_item> indices);
/// The index of an element in row-major order.
std::int64_t row_major_index(const shape& dims, std::initializer_list<std::int64_t> at);

/// Combination of an element with the value that is given for it.
enum class part_update : std::uint8_t { set, add, multiply, max, min };
/// x.at(indices...).set(values), ...
tensor updated_at(tensor x, const index_items& indices, part_update how, const tensor& values);
tensor updated_at(tensor x, const index_items& indices, part_update how, const plain_number& value);

}  // namespace kerngrad::detail

export namespace kerngrad {

/// A part of a tensor, `x.at(indices...)`. Each function returns the tensor with these elements changed. Values
/// broadcast to the shape of x(indices...), and their dtype must promote to x's. A number that x's dtype does not hold
/// throws. If index tensors select an element twice, `set` uses the last value; the other functions apply all of them.
/// Gradient for x: dy at the elements that stayed, and the derivative of the operation at the others. Gradient for the
/// values: that of the elements that they changed. For `max` and `min` of an element selected twice, each value that
/// equals the result gets it.
class tensor_part {
 public:
  ~tensor_part();
  /// Replaces the elements by the values.
  tensor set(const tensor& values) && { return change(detail::part_update::set, values); }
  /// Adds the values to the elements; integers wrap.
  tensor add(const tensor& values) && { return change(detail::part_update::add, values); }
  /// Multiplies the elements by the values; integers wrap.
  tensor multiply(const tensor& values) && { return change(detail::part_update::multiply, values); }
  /// Keeps the larger of element and value; NaN if either is NaN.
  tensor max(const tensor& values) && { return change(detail::part_update::max, values); }
  /// Keeps the smaller of element and value; NaN if either is NaN.
  tensor min(const tensor& values) && { return change(detail::part_update::min, values); }

  // The same for one number.
  template <class T>
    requires number<T>
  tensor set(T value) && {
    return change(detail::part_update::set, detail::number_of(value));
  }
  template <class T>
    requires number<T>
  tensor add(T value) && {
    return change(detail::part_update::add, detail::number_of(value));
  }
  template <class T>
    requires number<T>
  tensor multiply(T value) && {
    return change(detail::part_update::multiply, detail::number_of(value));
  }
  template <class T>
    requires number<T>
  tensor max(T value) && {
    return change(detail::part_update::max, detail::number_of(value));
  }
  template <class T>
    requires number<T>
  tensor min(T value) && {
    return change(detail::part_update::min, detail::number_of(value));
  }

 private:
  friend class tensor;
  template <class... Index>
  explicit tensor_part(tensor x, const Index&... indices)
      : tensor_part(std::move(x), std::initializer_list<detail::index_item>{detail::index_item(indices)...}) {}
  tensor_part(tensor x, std::initializer_list<detail::index_item> indices);
  template <class Value>
  tensor change(detail::part_update how, const Value& value) {
    return detail::updated_at(std::move(x_), indices_, how, value);
  }

  tensor x_;
  detail::index_items indices_;
};

/// Iterates over the slices of a tensor along axis 0: x(0), x(1), and so on. The tensor must outlive the iterator.
class row_iterator {
 public:
  using value_type = tensor;
  using difference_type = std::int64_t;

  row_iterator() = default;
  tensor operator*() const { return (*of_)(at_); }
  inline row_iterator& operator++() {
    ++at_;
    return *this;
  }
  inline row_iterator operator++(int) { return {of_, at_++}; }
  friend bool operator==(const row_iterator& a, const row_iterator& b) { return a.at_ == b.at_; }

 private:
  friend class tensor;
  inline row_iterator(const tensor* of, std::int64_t at) : of_(of), at_(at) {}
  const tensor* of_ = nullptr;
  std::int64_t at_ = 0;
};

template <class... Index>
tensor tensor::operator()(const Index&... indices) const {
  return detail::elements_at(*this, {detail::index_item(indices)...});
}
#ifdef __cpp_multidimensional_subscript
template <class... Index>
tensor tensor::operator[](const Index&... indices) const {
  return (*this)(indices...);
}
#endif
template <class... Index>
tensor_part tensor::at(const Index&... indices) const& {
  return tensor_part(*this, indices...);
}
template <class... Index>
tensor_part tensor::at(const Index&... indices) && {
  return tensor_part(std::move(*this), indices...);
}
template <element T, class... Index>
  requires(sizeof...(Index) > 0)
T tensor::item(Index... indices) const {
  static_assert((detail::axis_number<Index> && ...), "item takes an integer for each axis");
  return data<T>()[static_cast<std::size_t>(detail::row_major_index(dims(), {detail::as_index(indices)...}))];
}
inline row_iterator tensor::begin() const {
  if (rank() == 0) fail("tensor", "a loop over the rows of a scalar", "rank 1 or more", "take its element with item()");
  return {this, 0};
}
inline row_iterator tensor::end() const { return {this, dims()[0]}; }

}  // namespace kerngrad
