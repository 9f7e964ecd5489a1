// SPDX-License-Identifier: Apache-2.0
// Dtypes: their names, kinds, sets, C++ types and promotion.
module;
#include "kernels/common/abi.h"
export module kerngrad:dtypes;

import :std;

export namespace kerngrad {

using kerngrad::bfloat16;        ///< an element of dtype::bfloat16: converts to and from C++ numbers, with rounding
using kerngrad::complex128;      ///< an element of dtype::complex128: real, imag
using kerngrad::complex64;       ///< an element of dtype::complex64: real, imag
using kerngrad::dtype;           ///< element types: float32, float64, int32, ...; kernels/common/abi.h lists all
using kerngrad::dtype_constant;  ///< a dtype as a type, with the members `value` and `element`, its C++ type
using kerngrad::dtype_count;     ///< number of dtypes
using kerngrad::dtype_kind;      ///< kinds of dtypes: boolean, integer, half, real, complex, text
using kerngrad::float16;         ///< an element of dtype::float16: converts to and from C++ numbers, with rounding
using kerngrad::text;            ///< an element of dtype::text: refers to its bytes, converts to std::string_view
using kerngrad::visit;           ///< visit(type, f) returns f(dtype_constant<type>{})
using kerngrad::visit_number;    ///< `visit` for a dtype that is known not to be text: f need not compile for text

/// True if the value is one of the dtypes: the enumeration can hold other numbers as well.
constexpr bool is_dtype(dtype type) { return static_cast<int>(type) < dtype_count; }

/// The name of a dtype in the by-name API: "float32", "bool" and so on.
constexpr std::string_view name_of(dtype type) { return is_dtype(type) ? trait_of(type).name : "no dtype"; }

/// The dtype of that name; empty for other names.
constexpr std::optional<dtype> dtype_named(std::string_view name) {
  for (int i = 0; i < dtype_count; ++i)
    if (name_of(static_cast<dtype>(i)) == name) return static_cast<dtype>(i);
  return {};
}

/// Number of bytes of one element of the dtype.
constexpr std::size_t size_of(dtype type) { return trait_of(type).size; }
/// The kind of a dtype's elements: boolean, integer, half, real, complex or text.
constexpr dtype_kind kind_of(dtype type) { return trait_of(type).kind; }
/// True for integer dtypes with negative numbers.
constexpr bool is_signed_integer(dtype type) {
  return kind_of(type) == dtype_kind::integer && trait_of(type).is_signed;
}
/// Numbers per element: 2 for complex numbers, 1 for others.
constexpr int parts_of(dtype type) { return kind_of(type) == dtype_kind::complex ? 2 : 1; }

/// The dtype that stores a C++ type; a compile error for types that no dtype stores.
template <class T>
struct dtype_of_type;
#define KG_OF_TYPE(type, element, ...)          \
  template <> struct dtype_of_type<element> {   \
    static constexpr dtype value = dtype::type; \
  };
KG_DTYPES(KG_OF_TYPE)
#undef KG_OF_TYPE
template <> struct dtype_of_type<long long> {
  static constexpr dtype value = dtype::int64;
};

}  // namespace kerngrad

namespace kerngrad::detail {
// std::complex<float> and std::complex<double>, known by what they have: their header would be a burden to every
// importer. The standard says that one lies in memory as its real part and its imaginary part.
template <class T, class Part = typename T::value_type>
concept complex_of = (std::same_as<Part, float> || std::same_as<Part, double>) && requires(const T& z) {
  { z.real() } -> std::same_as<Part>;
  { z.imag() } -> std::same_as<Part>;
  T(Part{}, Part{});
} && sizeof(T) == 2 * sizeof(Part) && __is_trivially_copyable(T);
template <class T>
concept complex_class = requires { typename T::value_type; } && complex_of<T>;
}  // namespace kerngrad::detail

export namespace kerngrad {

template <detail::complex_class T>
struct dtype_of_type<T> {
  static constexpr dtype value = sizeof(T) == sizeof(complex64) ? dtype::complex64 : dtype::complex128;
};

/// A C++ type that reads and writes elements: the type of a dtype, or std::complex<float> and std::complex<double> for
/// complex64 and complex128.
template <class T>
concept element = requires { dtype_of_type<std::remove_cv_t<T>>::value; };

/// The dtype of a C++ type.
template <element T>
inline constexpr dtype dtype_of = dtype_of_type<std::remove_cv_t<T>>::value;

static_assert(dtype_count <= 16, "a set has 16 bits");
/// A set of dtypes, one bit each.
struct dtype_set {
  std::uint16_t bits = 0;
  constexpr bool has(dtype type) const { return (bits >> static_cast<int>(type)) & 1; }
  friend constexpr dtype_set operator|(dtype_set a, dtype_set b) {
    return {static_cast<std::uint16_t>(a.bits | b.bits)};
  }
  friend constexpr dtype_set operator&(dtype_set a, dtype_set b) {
    return {static_cast<std::uint16_t>(a.bits & b.bits)};
  }
  /// The dtypes of the first set that the second one does not have.
  friend constexpr dtype_set operator-(dtype_set a, dtype_set b) {
    return {static_cast<std::uint16_t>(a.bits & ~b.bits)};
  }
  constexpr bool operator==(const dtype_set&) const = default;
};

/// The set with this dtype alone.
constexpr dtype_set only(dtype type) { return {static_cast<std::uint16_t>(1u << static_cast<int>(type))}; }

}  // namespace kerngrad

namespace kerngrad::detail {
// The dtypes of a kind; those that a gradient flows through.
consteval dtype_set all_of(dtype_kind kind) {
  dtype_set set{};
  for (int i = 0; i < dtype_count; ++i)
    if (dtype_traits[i].kind == kind) set = set | only(static_cast<dtype>(i));
  return set;
}
consteval dtype_set all_differentiable() {
  dtype_set set{};
  for (int i = 0; i < dtype_count; ++i)
    if (dtype_traits[i].differentiable) set = set | only(static_cast<dtype>(i));
  return set;
}
}  // namespace kerngrad::detail

export namespace kerngrad {

// The sets that rows are written with.
/// float16 and bfloat16. An op without a kernel for one of them computes in float32 and rounds its result.
inline constexpr dtype_set halves = detail::all_of(dtype_kind::half);
/// float32 and float64. Every op on floats has kernels for both.
inline constexpr dtype_set wide_floats = detail::all_of(dtype_kind::real);
/// All floats, also those of 16 bits.
inline constexpr dtype_set floating = wide_floats | halves;
/// All integers: int32, int64, uint8, and int8, int16, uint16 and uint32. An op without a kernel for one of the last
/// four computes in int32, and in int64 for uint32.
inline constexpr dtype_set integral = detail::all_of(dtype_kind::integer);
/// Floats and integers.
inline constexpr dtype_set numeric = floating | integral;
/// bool alone.
inline constexpr dtype_set boolean_only = detail::all_of(dtype_kind::boolean);
/// complex64 and complex128.
inline constexpr dtype_set complex_only = detail::all_of(dtype_kind::complex);
/// Floats, integers and bool: all dtypes but complex numbers and text.
inline constexpr dtype_set real_or_bool = numeric | boolean_only;
/// All dtypes but text.
inline constexpr dtype_set any_dtype = real_or_bool | complex_only;
/// text alone.
inline constexpr dtype_set text_only = detail::all_of(dtype_kind::text);
/// All dtypes, for ops that move elements.
inline constexpr dtype_set any_element = any_dtype | text_only;
/// Dtypes that a gradient flows through: floats and complex numbers.
inline constexpr dtype_set differentiable = detail::all_differentiable();

/// The names of the dtypes in the set, as in "float32, float64", for error messages and documents.
std::string to_string(dtype_set set);

}  // namespace kerngrad

namespace kerngrad::detail {
// True if an integer dtype holds all values of another one.
constexpr bool holds_all(dtype wide, dtype type) {
  const dtype_trait &to = trait_of(wide), &from = trait_of(type);
  const auto digits = [](const dtype_trait& of) { return 8 * static_cast<int>(of.size) - (of.is_signed ? 1 : 0); };
  return (to.is_signed || !from.is_signed) && digits(to) >= digits(from);
}
// The first integer dtype in the order of promotion that holds all values of both.
constexpr dtype smallest_integer(dtype a, dtype b) {
  dtype smallest = dtype::int64;
  for (int i = 0; i < dtype_count; ++i) {
    const dtype type = static_cast<dtype>(i);
    if (integral.has(type) && holds_all(type, a) && holds_all(type, b) &&
        trait_of(type).order < trait_of(smallest).order)
      smallest = type;
  }
  return smallest;
}
}  // namespace kerngrad::detail

export namespace kerngrad {

/// Returns the common dtype of two operands: the later one in the order bool, integers, float16 and bfloat16, float32,
/// float64, complex64, complex128. Two integers give the smallest integer dtype that holds the values of both: uint8
/// with int8 gives int16, and uint32 with int32 gives int64. There are two exceptions: complex64 with float64 gives
/// complex128, and float16 with bfloat16 gives float32. An integer with a float gives that float: int64 with float32 is
/// float32. NumPy would widen to float64; other libraries with float32 defaults do the same as this one. Text and
/// numbers have no common dtype, so ops throw for them.
constexpr dtype promote(dtype a, dtype b) {
  if (a == b) return a;
  if (integral.has(a) && integral.has(b)) return detail::smallest_integer(a, b);
  const int of_a = trait_of(a).order, of_b = trait_of(b).order;
  if (of_a == of_b) return dtype::float32;
  if ((a == dtype::float64 && b == dtype::complex64) || (a == dtype::complex64 && b == dtype::float64))
    return dtype::complex128;
  return of_a >= of_b ? a : b;
}

}  // namespace kerngrad
