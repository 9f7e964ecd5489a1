// SPDX-License-Identifier: Apache-2.0
// Elements as unsigned numbers in the same order, which is how rows are sorted: numbers have no NaN, compare in one
// instruction, and leave room for an index below them. Plain C++; loops over these functions become vectors.
#pragma once
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "kernels/common/abi.h"

namespace kerngrad::kernels {

/// How far apart keys are: -0 before 0, or both one key, so that they keep their order.
enum class zeros : std::uint8_t { apart, equal };

/// The keys of a dtype: 32 bits of elements of up to four bytes, else 64.
template <dtype Type>
struct key_order {
  using element = storage_t<Type>;
  using key = std::conditional_t<sizeof(element) == 8, std::uint64_t, std::uint32_t>;
  static constexpr key sign = key{1} << (8 * sizeof(key) - 1);

  /// Every NaN has one key, the largest that there is.
  template <zeros Zeros>
  static constexpr key of(element x) {
    if constexpr (Type == dtype::boolean) {
      return x != 0 ? 1 : 0;
    } else if constexpr (std::is_floating_point_v<element>) {
      key bits = std::bit_cast<key>(x);
      if constexpr (Zeros == zeros::equal) bits = bits == sign ? 0 : bits;
      // The bits of floats are in order by magnitude, which negative numbers turn round.
      const key ordered = bits & sign ? ~bits : bits | sign;
      return (bits & ~sign) > infinity ? nan : ordered;
    } else if constexpr (std::is_signed_v<element>) {
      return static_cast<key>(x) ^ sign;
    } else {
      return x;
    }
  }
  /// The element of a key: a NaN is the quiet one without sign.
  static constexpr element to(key k) {
    if constexpr (std::is_floating_point_v<element>) return std::bit_cast<element>(k & sign ? k ^ sign : ~k);
    else if constexpr (std::is_signed_v<element>) return static_cast<element>(k ^ sign);
    else return static_cast<element>(k);
  }

 private:
  static constexpr key bits_of_float(element x) {
    if constexpr (std::is_floating_point_v<element>) return std::bit_cast<key>(x);
    else return 0;
  }
  static constexpr key infinity = bits_of_float(std::numeric_limits<element>::infinity());
  static constexpr key nan = bits_of_float(std::numeric_limits<element>::quiet_NaN()) | sign;
};

/// A key of 64 bits and the index of its element.
struct wide_pair {
  std::uint64_t key, index;
};

/// A pair of a key and the index of its element: a key of 32 bits above its index in one number.
template <class Key> using index_pair = std::conditional_t<sizeof(Key) == 8, wide_pair, std::uint64_t>;

constexpr std::uint64_t paired(std::uint32_t key, std::size_t index) { return std::uint64_t{key} << 32 | index; }
constexpr wide_pair paired(std::uint64_t key, std::size_t index) { return {key, index}; }
constexpr std::uint32_t index_of(std::uint64_t pair) { return static_cast<std::uint32_t>(pair); }
constexpr std::uint32_t index_of(const wide_pair& pair) { return static_cast<std::uint32_t>(pair.index); }

/// Sorts `count` signed numbers in ascending order and writes nothing outside of them. They are unsigned keys whose
/// sign bits were inverted: x86 compares signed numbers in one instruction, unsigned ones only from AVX-512 on.
void sort_keys(std::int32_t* keys, std::size_t count);
void sort_keys(std::int64_t* keys, std::size_t count);

/// Sorts pairs by keys, equal keys by index; they come in the order of their indices. `spare` has room for as many
/// pairs. Returns the array of the two that the sorted pairs are in.
std::uint64_t* sort_key_pairs(std::uint64_t* pairs, std::uint64_t* spare, std::size_t count);
wide_pair* sort_key_pairs(wide_pair* pairs, wide_pair* spare, std::size_t count);

}  // namespace kerngrad::kernels
