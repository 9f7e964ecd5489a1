// SPDX-License-Identifier: Apache-2.0
// Axes as arguments of the typed names. A number of any other kind than integers converts to int in C++, and would mean
// an unintended axis: it does not compile.
module;
#include "kernels/common/abi.h"
export module kerngrad:axes;

import :std;
import :core;

namespace kerngrad::detail {
template <class T>
concept axis_number = integer_type<T> && !std::is_same_v<T, bool>;
template <class T>
concept no_axis_number = (number<T> && !axis_number<T>) || taken_for<T, std::string_view>;
template <class T>
inline constexpr bool is_axis = axis_number<T>;
}  // namespace kerngrad::detail

export namespace kerngrad {

/// The index of an axis; a negative one counts from the back. Functions along an axis take a scalar as one element on
/// axis 0 or -1. Functions that join, cut or index an axis throw for a scalar.
class axis_index {
 public:
  template <detail::axis_number T>
  constexpr axis_index(T axis) : value_(static_cast<std::int64_t>(axis)) {}
  template <detail::no_axis_number T>
  constexpr axis_index(T) {
    static_assert(detail::is_axis<T>, "an axis is an integer: 0 for the first, -1 for the last");
  }
  constexpr std::int64_t value() const { return value_; }

 private:
  std::int64_t value_ = 0;
};

/// Axes of a reduction: one, or a list of them; negative ones count from the back. `{}` is no axis, and nothing is
/// reduced. Without axes, and for `all_axes`, all axes are reduced. A scalar has one axis, 0 or -1: `sum(x, {0})` of a
/// scalar is x.
class axes {
 public:
  constexpr axes() : value_(std::span<const std::int64_t>()) {}
  template <detail::axis_number T>
  constexpr axes(T axis) : value_(static_cast<std::int64_t>(axis)) {}
  template <detail::no_axis_number T>
  constexpr axes(T) {
    static_assert(detail::is_axis<T>, "axes are integers: sum(x, 0), sum(x, {0, 1})");
  }
  constexpr axes(axis_index axis) : value_(axis.value()) {}
  constexpr axes(std::initializer_list<std::int64_t> list) : value_(list) {}
  template <detail::no_axis_number T>
  constexpr axes(std::initializer_list<T>) {
    static_assert(detail::is_axis<T>, "axes are integers: sum(x, 0), sum(x, {0, 1})");
  }
  axes(const std::vector<std::int64_t>& list) : value_(list) {}

  static constexpr axes all() {
    axes every;
    every.value_ = {};
    return every;
  }
  constexpr const attr_value& value() const { return value_; }

 private:
  attr_value value_;
};
/// Stands for every axis: `sum(x, all_axes, true)` reduces all of them and keeps them with size 1.
inline constexpr axes all_axes = axes::all();

}  // namespace kerngrad
