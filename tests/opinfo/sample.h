// SPDX-License-Identifier: Apache-2.0
// A recorded call of a function of PyTorch or NumPy: its arguments, for lines that make a call of this library of them.
// Include it last: the standard and other headers go before its import.
#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <numbers>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

import kerngrad;

namespace opinfo {

using json = nlohmann::json;
using results = std::vector<kg::tensor>;

/// The case cannot be put to this library; the reason is counted.
struct skip {
  std::string reason;
};

// ---- results of any kind as a list

template <class T>
results list_of(const T& value) {
  if constexpr (std::is_same_v<T, kg::tensor>) return {value};
  else if constexpr (std::is_same_v<T, bool>) return {kg::tensor(value)};
  else if constexpr (std::is_integral_v<T>) return {kg::tensor(static_cast<std::int64_t>(value))};
  else if constexpr (std::is_arithmetic_v<T>) return {kg::tensor(static_cast<double>(value))};
  else return results(value.begin(), value.end());
}

/// A number; "NaN", "Infinity" and "-Infinity" are numbers too.
double number_of(const json& value);

/// The arguments of a call. Those that a line does not read make the case one that cannot be put to the library.
class sample {
 public:
  explicit sample(const json& line);

  // Arguments are named as PyTorch names them, and have a place among the positional ones, or -1.
  bool has(const char* name, int place = -1) const;
  kg::tensor tensor(const char* name, int place = -1) const;  ///< undefined where it is not given
  std::vector<kg::tensor> tensors(int place = 0) const;       ///< of a list
  std::vector<kg::tensor> all_tensors() const;                ///< of all arguments, lists too
  kg::tensor x(int place = 0) const;                          ///< a positional one
  double number(const char* name, int place, std::optional<double> otherwise = {}) const;
  std::int64_t whole(const char* name, int place, std::optional<std::int64_t> otherwise = {}) const;
  bool truth(const char* name, int place, bool otherwise = false) const;
  std::string text(const char* name, int place, std::string_view otherwise) const;
  kg::dtype type(const char* name, int place, kg::dtype otherwise) const;
  std::vector<std::int64_t> list(const char* name, int place) const;  ///< of one number a list of one
  /// The integers from a place on, or those of the list there.
  std::vector<std::int64_t> rest(int place) const;
  kg::axes axes(const char* name, int place) const;  ///< all where none are given
  const json& raw(const char* name, int place) const;
  /// The tensor that a part of `raw` is.
  kg::tensor at(const json& value) const;
  bool is_number(int place) const;
  int count() const { return static_cast<int>(args_.size()); }
  kg::dtype own_type() const { return own_type_; }
  /// x in the dtype that the keyword dtype asks for.
  kg::tensor typed(const kg::tensor& x, int place = -1) const { return kg::cast(x, type("dtype", place, x.type())); }

  /// f on so many tensors, of which one of two may be a number.
  template <int Count, class F>
  results on_operands(F f) const {
    if (count() != Count) throw skip{"another number of operands"};
    if constexpr (Count == 1) {
      return list_of(f(x(0)));
    } else if constexpr (Count == 2) {
      return pair(f);
    } else if constexpr (Count == 3) {
      return list_of(f(x(0), x(1), x(2)));
    } else {
      static_assert(Count == 4);
      return list_of(f(x(0), x(1), x(2), x(3)));
    }
  }

  /// The tensors that a gradient is asked for, and the same call on others in their places.
  std::vector<kg::tensor> leaves() const;
  sample with(std::span<const kg::tensor> leaves) const;
  /// Throws skip for an argument that nobody has read.
  void check_all_read() const;

 private:
  json parsed(const json& value);
  const json* find(const char* name, int place) const;

  template <class F>
  results pair(F f) const {
    if (!is_number(0) && !is_number(1)) return list_of(f(x(0), x(1)));
    const int at = is_number(0) ? 0 : 1;
    const kg::tensor other = x(1 - at);
    const auto with_number = [&](auto value) -> results {
      if constexpr (std::is_invocable_v<F, kg::tensor, decltype(value)> &&
                    std::is_invocable_v<F, decltype(value), kg::tensor>) {
        return at == 1 ? list_of(f(other, value)) : list_of(f(value, other));
      } else {
        throw skip{"a number where tensors are taken"};
      }
    };
    const json& value = raw("", at);
    if (value.is_boolean()) return with_number(value.get<bool>());
    return value.is_number_integer() ? with_number(value.get<std::int64_t>()) : with_number(number_of(value));
  }

  kg::dtype own_type_;
  std::vector<json> args_;
  std::map<std::string, json, std::less<>> kwargs_;
  std::vector<kg::tensor> tensors_;
  std::vector<std::size_t> leaves_;
  mutable std::set<const json*> read_;
};

/// How an op of PyTorch or NumPy is spelt here.
struct call_line {
  std::string_view family, op;
  results (*run)(const sample&);
};

/// Calls that follow from the dictionary, and calls that are written out, by topics of the dictionary.
std::span<const call_line> derived_calls();
std::span<const call_line> making_calls();
std::span<const call_line> shapes_calls();
std::span<const call_line> elements_calls();
std::span<const call_line> elementwise_calls();
std::span<const call_line> reductions_calls();
std::span<const call_line> order_calls();
std::span<const call_line> matrices_calls();
std::span<const call_line> networks_calls();
std::span<const call_line> losses_calls();
std::span<const call_line> windows_calls();
std::span<const call_line> signals_calls();
std::span<const call_line> numpy_calls();

/// The line of an op, by its name with the variant or without; null where there is none.
const call_line* line_of(std::string_view op);
/// All of them, each op once.
std::vector<const call_line*> all_lines();

/// (sum of |x|^p)^(1/p) over axes, for any order but 0 and the infinities.
kg::tensor norm_of_order(const kg::tensor& x, double p, const kg::axes& over, bool keep);
/// A tensor of JSON, whose dtype is `type` where it names none.
kg::tensor tensor_of(const json& value, kg::dtype type);
/// The dtype of a name. Throws skip for one that the library lacks.
kg::dtype dtype_of_name(std::string_view name);

}  // namespace opinfo
