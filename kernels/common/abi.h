// SPDX-License-Identifier: Apache-2.0
// Plain types that cross the border between the module and its kernels: dtypes, pointers, sizes.
// No templates over vectors, no Highway, no standard containers: this header sits in the global module
// fragment of interface units.
#pragma once
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernels/common/half.h"
#include "kernels/common/simd_dtypes.h"
#include "kernels/common/text.h"

namespace kerngrad {

/// Two float32, laid out as complex64 stores them.
struct complex64 {
  float real = 0;
  float imag = 0;
  constexpr bool operator==(const complex64&) const = default;
};

/// Two float64, laid out as complex128 stores them.
struct complex128 {
  double real = 0;
  double imag = 0;
  constexpr bool operator==(const complex128&) const = default;
};

/// Kinds of elements. `half`: floats that are stored, and computed in float32 where there is no kernel.
/// `text`: no numbers.
enum class dtype_kind : std::uint8_t { boolean, integer, half, real, complex, text };

// All that is known of the dtypes, one line each:
//   X(dtype, C++ type of an element, name, kind, a gradient flows through it, rank in the order of promotion,
//     dtype in which an op without a kernel for it computes)
// The position of a line is the dtype's number, which programs and packs were compiled with: a new one goes to the end,
// and into include/kerngrad/pack.h.
#define KG_DTYPES(X)                                                                 \
  X(float32, float, "float32", real, true, 9, float32)                               \
  X(float64, double, "float64", real, true, 10, float64)                             \
  X(int32, std::int32_t, "int32", integer, false, 6, int32)                          \
  X(int64, std::int64_t, "int64", integer, false, 7, int64)                          \
  X(uint8, std::uint8_t, "uint8", integer, false, 1, uint8)                          \
  X(boolean, bool, "bool", boolean, false, 0, boolean)                               \
  X(complex64, ::kerngrad::complex64, "complex64", complex, true, 11, complex64)     \
  X(float16, ::kerngrad::float16, "float16", half, true, 8, float32)                 \
  X(bfloat16, ::kerngrad::bfloat16, "bfloat16", half, true, 8, float32)              \
  X(complex128, ::kerngrad::complex128, "complex128", complex, true, 12, complex128) \
  X(text, ::kerngrad::text, "text", text, false, 13, text)                           \
  X(int8, std::int8_t, "int8", integer, false, 2, int32)                             \
  X(int16, std::int16_t, "int16", integer, false, 4, int32)                          \
  X(uint16, std::uint16_t, "uint16", integer, false, 3, int32)                       \
  X(uint32, std::uint32_t, "uint32", integer, false, 5, int64)

/// Element type of a tensor. `boolean` is stored as one byte, 0 or 1.
enum class dtype : std::uint8_t {
#define KG_ENUMERATOR(dtype, ...) dtype,
  KG_DTYPES(KG_ENUMERATOR)
#undef KG_ENUMERATOR
};

/// A line of KG_DTYPES.
struct dtype_trait {
  const char* name;
  std::size_t size;  ///< bytes of an element
  dtype_kind kind;
  bool differentiable;
  int order;
  dtype computed;  ///< the dtype that an op without a kernel computes in: this one, or one that holds all its values
  bool is_signed;
};
inline constexpr dtype_trait dtype_traits[] = {
#define KG_TRAIT(type, element, name, kind, differentiable, order, computed) \
  {name, sizeof(element), dtype_kind::kind, differentiable, order, dtype::computed, std::is_signed_v<element>},
    KG_DTYPES(KG_TRAIT)
#undef KG_TRAIT
};
constexpr const dtype_trait& trait_of(dtype type) { return dtype_traits[static_cast<int>(type)]; }

inline constexpr int dtype_count = sizeof(dtype_traits) / sizeof(dtype_traits[0]);
inline constexpr int max_rank = 8;

/// A dtype as a type, with the C++ type of its elements.
template <dtype Type> struct dtype_constant;
#define KG_CONSTANT(type, cpp_type, ...)           \
  template <> struct dtype_constant<dtype::type> { \
    static constexpr dtype value = dtype::type;    \
    using element = cpp_type;                      \
  };
KG_DTYPES(KG_CONSTANT)
#undef KG_CONSTANT

/// f(dtype_constant<type>{}), for a dtype that is known when the program runs. Every call gives a result of one type.
template <class F>
constexpr decltype(auto) visit(dtype type, F&& f) {
  switch (type) {
#define KG_VISIT(type, ...) \
  case dtype::type: return f(dtype_constant<dtype::type>{});
    KG_DTYPES(KG_VISIT)
#undef KG_VISIT
  }
  __builtin_unreachable();
}

/// As visit, of a dtype whose elements are numbers: the caller knows that it is not text.
template <class F>
constexpr decltype(auto) visit_number(dtype type, F&& f) {
  return visit(type, [&]<dtype Type>(dtype_constant<Type> is) -> decltype(auto) {
    if constexpr (trait_of(Type).kind != dtype_kind::text) return f(is);
    else return f(dtype_constant<dtype::float32>{});
  });
}

namespace kernels {

/// The general entry of a kernel. `geometry` points to the family's plain struct (see the family's header).
using run_fn = void (*)(const void* const* in, void* const* out, const void* geometry);
/// Contiguous elementwise entries, one and two operands: what the span API calls. n = 0 is allowed.
using flat1_fn = void (*)(const void* x, void* y, std::size_t n);
using flat2_fn = void (*)(const void* a, const void* b, void* y, std::size_t n);

/// One row of a kernel table: which op, which dtype it computes in, and where its code is.
struct entry {
  const char* op;
  dtype type;
  run_fn run;
  flat1_fn flat1;
  flat2_fn flat2;
};

/// An op and the kernel that serves it.
struct served_op {
  const char* op;
  const char* kernel;
};
/// Declared only: a list that would call it, at compile time, has no kernel for elements of some size.
entry no_kernel_of_that_size();
/// The kernel of a list that serves an op for a dtype: that of the dtype, or, of those that move bytes and are listed
/// for one dtype of each size (KG_SIZES), that of its size.
template <std::size_t N>
consteval entry serving(const entry (&list)[N], served_op names, dtype type) {
  const entry* found = nullptr;
  for (const entry& item : list) {
    if (__builtin_strcmp(item.op, names.kernel) != 0 || trait_of(item.type).size != trait_of(type).size) continue;
    if (!found || item.type == type) found = &item;
  }
  entry one = found ? *found : no_kernel_of_that_size();
  one.op = names.op;
  one.type = type;
  return one;
}

/// The C++ type that kernels store one element of a dtype in: booleans are bytes, which may hold more than 0 and 1.
template <dtype T>
using storage_t = std::conditional_t<T == dtype::boolean, std::uint8_t, typename dtype_constant<T>::element>;

/// The numbers that an element consists of: itself, or two parts of this type.
template <class T> struct parts_of {
  using type = T;
  static constexpr int count = 1;
};
template <class T>
  requires requires(T z) { z.imag; }
struct parts_of<T> {
  using type = decltype(T::imag);
  static constexpr int count = 2;
};
template <dtype T> using part_t = typename parts_of<storage_t<T>>::type;

}  // namespace kernels
}  // namespace kerngrad

// Which dtypes have SIMD kernels: KG_SIMD_dtype of simd_dtypes.h is 1 for these, and 0 for the others, whose kernels
// are the reference's. Private to kernels/, as all below.
#define KG_CHOSEN_1(...) __VA_ARGS__
#define KG_CHOSEN_0(...)
#define KG_OTHER_1(...)
#define KG_OTHER_0(...) __VA_ARGS__
#define KG_PASTED(a, b) a##b
#define KG_EVALUATED_PASTED(a, b) KG_PASTED(a, b)
// The arguments after a dtype where it has SIMD kernels, else nothing; and the other way round.
#define KG_IF_SIMD(type, ...) KG_EVALUATED_PASTED(KG_CHOSEN_, KG_SIMD_##type)(__VA_ARGS__)
#define KG_UNLESS_SIMD(type, ...) KG_EVALUATED_PASTED(KG_OTHER_, KG_SIMD_##type)(__VA_ARGS__)

namespace kerngrad::kernels {
/// True if the build has SIMD kernels of a dtype.
constexpr bool has_simd_kernels(dtype type) {
#define KG_HAS_SIMD(type, ...) KG_SIMD_##type != 0,
  constexpr bool has[] = {KG_DTYPES(KG_HAS_SIMD)};
#undef KG_HAS_SIMD
  return has[static_cast<int>(type)];
}
}  // namespace kerngrad::kernels

// How kernels are declared and defined. Each has a scalar definition in `reference`. Without SIMD kernels of the dtype
// the name is that of the reference kernel, so that tables, launchers and kernels that call this one run the reference.
#define KG_DECLARE_FUNCTION(type, name, parameters) \
  namespace reference {                             \
  void name parameters;                             \
  }                                                 \
  KG_IF_SIMD(type, void name parameters;)           \
  KG_UNLESS_SIMD(type, using reference::name;)
#define KG_DEFINE_FUNCTION(type, name, parameters, ...) KG_IF_SIMD(type, void name parameters { __VA_ARGS__; })
// Parameters of the general entry, a run_fn.
#define KG_RUN_PARAMETERS ([[maybe_unused]] const void* const* in, void* const* out, const void* geometry)

// Lists of kernels apply X(Name, dtype), or X(Name, dtype, any) to a kernel that has SIMD code whichever dtypes the
// build has it for: one that moves bytes. KG_SIMD_FOR gives the dtype that decides, or `any`.
#define KG_SIMD_any 1
#define KG_FIRST(first, ...) first
#define KG_SIMD_FOR(type, ...) KG_FIRST(__VA_ARGS__ __VA_OPT__(, ) type)

// Sets of dtypes for the kernel lists: each applies X(Name, dtype) to its members.
#define KG_FLOATS(X, Name) X(Name, float32) X(Name, float64)
#define KG_INTS(X, Name) X(Name, int32) X(Name, int64)
#define KG_BITS(X, Name) KG_INTS(X, Name) X(Name, uint8)
#define KG_SIGNED(X, Name) KG_FLOATS(X, Name) KG_INTS(X, Name)
#define KG_NUMERIC(X, Name) KG_SIGNED(X, Name) X(Name, uint8)
#define KG_ORDERED(X, Name) KG_NUMERIC(X, Name) X(Name, boolean)
#define KG_BOOLEAN(X, Name) X(Name, boolean)
#define KG_COMPLEX(X, Name) X(Name, complex64)
#define KG_PAIRS(X, Name) KG_COMPLEX(X, Name) X(Name, complex128)
#define KG_ALL(X, Name) \
  KG_ORDERED(X, Name)   \
  KG_PAIRS(X, Name) X(Name, float16) X(Name, bfloat16) X(Name, int8) X(Name, int16) X(Name, uint16) X(Name, uint32)
#define KG_MOVED(X, Name) KG_ALL(X, Name) X(Name, text)
// One dtype of each size, for kernels that move bytes: `serving` finds it for the others.
#define KG_SIZES(X, Name) \
  X(Name, uint8, any) X(Name, float16, any) X(Name, float32, any) X(Name, float64, any) X(Name, complex128, any)
