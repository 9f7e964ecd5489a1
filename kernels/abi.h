// SPDX-License-Identifier: Apache-2.0
// Plain types that cross the border between the module and its kernels: dtypes, pointers, sizes.
// No templates over vectors, no Highway, no standard containers: this header sits in the global module
// fragment of interface units.
#pragma once
#include <cstddef>
#include <cstdint>

namespace kerngrad {

/// Element type of a tensor. `boolean` is stored as one byte, 0 or 1; `complex64` as two float32 (real, imaginary).
/// float16 and bfloat16 have a place in every table and no kernels yet.
enum class dtype : std::uint8_t { float32, float64, int32, int64, uint8, boolean, complex64, float16, bfloat16 };

inline constexpr int dtype_count = 9;
inline constexpr int max_rank = 8;

namespace kernels {

/// The general entry of a kernel. `geometry` points to the family's plain struct (see the family's header).
using run_fn = void (*)(const void* const* in, void* const* out, const void* geometry);
/// Contiguous elementwise entries, one and two operands: what the raw door calls. n = 0 is allowed.
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

// The C++ type that stores one element of a dtype.
template <dtype T> struct storage;
template <> struct storage<dtype::float32> {
  using type = float;
};
template <> struct storage<dtype::float64> {
  using type = double;
};
template <> struct storage<dtype::int32> {
  using type = std::int32_t;
};
template <> struct storage<dtype::int64> {
  using type = std::int64_t;
};
template <> struct storage<dtype::uint8> {
  using type = std::uint8_t;
};
template <> struct storage<dtype::boolean> {
  using type = std::uint8_t;
};
template <dtype T> using storage_t = typename storage<T>::type;

}  // namespace kernels
}  // namespace kerngrad

// Sets of dtypes for the kernel lists (*.inc): each applies X(Name, dtype) to its members. Private to kernels/.
#define KG_FLOATS(X, Name) X(Name, float32) X(Name, float64)
#define KG_INTS(X, Name) X(Name, int32) X(Name, int64)
#define KG_SIGNED(X, Name) KG_FLOATS(X, Name) KG_INTS(X, Name)
#define KG_NUMERIC(X, Name) KG_SIGNED(X, Name) X(Name, uint8)
#define KG_ORDERED(X, Name) KG_NUMERIC(X, Name) X(Name, boolean)
#define KG_BOOLEAN(X, Name) X(Name, boolean)
#define KG_COMPLEX(X, Name) X(Name, complex64)
#define KG_ALL(X, Name) KG_ORDERED(X, Name) X(Name, complex64)
