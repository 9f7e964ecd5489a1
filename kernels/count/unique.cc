// SPDX-License-Identifier: Apache-2.0
// Distinct rows by a hash table of open addresses, which is at most half full. Rows are hashed in blocks whose slots
// in the table are fetched ahead, so that a table that no cache holds is read by many loads at once. Who chooses the
// elements can choose them so that all want one slot: after too many probes the rows are sorted instead. Each row
// looks up an address in memory of its own, so that vectors have nothing to do here: one function serves every target.
#include "kernels/count/unique.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <type_traits>

#include "kernels/common/scratch.h"
#include "kernels/common/sizes.h"
#include "kernels/text/hash.h"

namespace kerngrad::kernels {
namespace {

// ------------------------------------------------------------------------------------------ keys

// A text by its bytes.
struct text_key {
  text of;
  bool operator==(const text_key& other) const { return of == other.of; }
  bool operator<(const text_key& other) const { return compare(of, other.of) < 0; }
};

// The bits of an element, the same for elements that are equal.
template <class T, bool kBoolean>
auto key_of(T x) {
  if constexpr (std::is_same_v<T, text>) {
    return text_key{x};
  } else if constexpr (kBoolean) {
    return static_cast<std::uint8_t>(x != 0);
  } else if constexpr (std::is_floating_point_v<T>) {
    using bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    if (x != x) return static_cast<bits>(~bits{0});  // one NaN for all
    return std::bit_cast<bits>(x == 0 ? T{0} : x);
  } else {
    return static_cast<std::make_unsigned_t<T>>(x);
  }
}

// The low bits of the result depend on every bit of x: floats differ in their high bits, integers in their low ones.
inline std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 32)) * 0x9e3779b97f4a7c15u;
  return x ^ (x >> 32);
}

inline std::uint64_t bits_of(std::uint64_t key) { return key; }
inline std::uint64_t bits_of(text_key key) { return fingerprint64(key.of); }

// Rows of one element: the table keeps its key, and no row is read again.
template <class T, bool kBoolean>
struct single_rows {
  const T* x;
  using key = decltype(key_of<T, kBoolean>(T{}));
  struct slot {
    key of;
    std::int32_t number;  // -1: free
  };
  key at(std::int64_t i) const { return key_of<T, kBoolean>(x[i]); }
  static std::uint64_t hash(key k) { return mixed(k); }
  static slot filled(key k, std::uint64_t, std::int32_t number) { return {k, number}; }
  bool same(const slot& s, key k, std::uint64_t, const std::int32_t*) const { return s.of == k; }
  bool before(std::int64_t a, std::int64_t b) const { return at(a) < at(b); }
};

// Rows of any number: the table keeps a part of the hash, and rows with the same part are compared.
template <class T, bool kBoolean>
struct wide_rows {
  const T* x;
  std::int64_t width;
  using key = const T*;
  struct slot {
    std::uint32_t part;
    std::int32_t number;
  };
  key at(std::int64_t i) const { return x + i * width; }
  std::uint64_t hash(key row) const {
    std::uint64_t h = 0;
    for (std::int64_t i = 0; i < width; ++i)
      h = (std::rotl(h, 23) ^ bits_of(key_of<T, kBoolean>(row[i]))) * 0x9e3779b97f4a7c15u;
    return mixed(h);
  }
  static slot filled(key, std::uint64_t h, std::int32_t number) {
    return {static_cast<std::uint32_t>(h >> 32), number};
  }
  bool same(const slot& s, key row, std::uint64_t h, const std::int32_t* firsts) const {
    return s.part == static_cast<std::uint32_t>(h >> 32) &&
           std::equal(row, row + width, at(firsts[s.number]),
                      [](T a, T b) { return key_of<T, kBoolean>(a) == key_of<T, kBoolean>(b); });
  }
  bool before(std::int64_t a, std::int64_t b) const {
    return std::lexicographical_compare(at(a), at(a) + width, at(b), at(b) + width,
                                        [](T l, T r) { return key_of<T, kBoolean>(l) < key_of<T, kBoolean>(r); });
  }
};

// ------------------------------------------------------------------------------------------ ways

struct found_rows {
  std::int32_t* numbers;
  std::int32_t* firsts;
  std::int32_t count = 0;
};

// By sorting, n log n whatever the elements are.
template <class Rows>
void sort_rows(const Rows& rows, std::int64_t count, found_rows& found) {
  scratch<std::int32_t> room(count);
  std::int32_t* const indices = room.data();
  std::iota(indices, indices + count, 0);
  std::sort(indices, indices + count,
            [&](std::int32_t a, std::int32_t b) { return rows.before(a, b) || (!rows.before(b, a) && a < b); });
  std::int32_t first = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    if (i == 0 || rows.before(indices[i - 1], indices[i])) first = indices[i];
    found.numbers[indices[i]] = first;
  }
  found.count = 0;
  for (std::int32_t i = 0; i < count; ++i) {
    const std::int32_t stands = found.numbers[i];
    if (stands == i) found.firsts[found.count] = i, found.numbers[i] = found.count++;
    else found.numbers[i] = found.numbers[stands];
  }
}

template <class Rows>
class row_table {
 public:
  row_table(const Rows& rows, std::int64_t count)
      : rows_(rows), most_(std::bit_ceil(2 * static_cast<std::uint64_t>(count))) {
    make(std::min(first_slots, most_));
  }

  /// False when it gave up.
  bool number_all(std::int64_t count, found_rows& found) {
    std::uint64_t hashes[block];
    for (std::int64_t begin = 0; begin < count; begin += block) {
      const std::int64_t size = std::min(block, count - begin);
      fetch(begin, size, hashes, [](std::int64_t i) { return i; });
      for (std::int64_t i = 0; i < size; ++i) {
        const auto key = rows_.at(begin + i);
        slot& here = find(key, hashes[i], found.firsts);
        if (here.number >= 0) {
          found.numbers[begin + i] = here.number;
          continue;
        }
        here = rows_.filled(key, hashes[i], found.count);
        found.numbers[begin + i] = found.count;
        found.firsts[found.count++] = static_cast<std::int32_t>(begin + i);
        if (static_cast<std::uint64_t>(found.count) * 2 > mask_ && mask_ + 1 < most_) grow(found);
      }
      // Rows take two probes or less on average if their hashes are even.
      if (probes_ > 16 * (begin + 4096)) return false;
    }
    return true;
  }

 private:
  static constexpr std::int64_t block = 64;
  static constexpr std::uint64_t first_slots = 4096, many_slots = 1 << 16;
  using slot = typename Rows::slot;

  void make(std::uint64_t slots) {
    mask_ = slots - 1;
    slots_ = room_.reach(static_cast<std::int64_t>(slots));
    std::memset(static_cast<void*>(slots_), 0xff, extent(static_cast<std::int64_t>(slots), sizeof(slot)));
  }
  // The hashes of rows index(begin), ..., whose slots are on their way then.
  template <class Index>
  void fetch(std::int64_t begin, std::int64_t size, std::uint64_t* hashes, Index index) const {
    for (std::int64_t i = 0; i < size; ++i) hashes[i] = rows_.hash(rows_.at(index(begin + i)));
    for (std::int64_t i = 0; i < size; ++i) __builtin_prefetch(slots_ + (hashes[i] & mask_), 1);
  }
  // The slot of a row, or the free one where it belongs.
  slot& find(typename Rows::key key, std::uint64_t hash, const std::int32_t* firsts) {
    std::uint64_t at = hash & mask_;
    while (slots_[at].number >= 0 && !rows_.same(slots_[at], key, hash, firsts)) at = (at + 1) & mask_, ++probes_;
    return slots_[at];
  }
  // Many distinct rows promise more of them: then there is one step to the largest table.
  [[gnu::noinline]] void grow(const found_rows& found) {
    make(mask_ + 1 >= many_slots ? most_ : std::min(most_, 4 * (mask_ + 1)));
    std::uint64_t hashes[block];
    for (std::int64_t begin = 0; begin < found.count; begin += block) {
      const std::int64_t size = std::min(block, found.count - begin);
      fetch(begin, size, hashes, [&](std::int64_t k) { return found.firsts[k]; });
      for (std::int64_t k = 0; k < size; ++k) {
        std::uint64_t at = hashes[k] & mask_;
        while (slots_[at].number >= 0) at = (at + 1) & mask_, ++probes_;  // all are different
        slots_[at] = rows_.filled(rows_.at(found.firsts[begin + k]), hashes[k], static_cast<std::int32_t>(begin + k));
      }
    }
  }

  const Rows rows_;
  scratch<slot> room_;
  slot* slots_ = nullptr;
  std::uint64_t mask_ = 0, most_;
  std::int64_t probes_ = 0;  // beyond the first of each row
};

template <class Rows>
void number_rows(const Rows& rows, std::int64_t count, found_rows& found) {
  row_table<Rows> table(rows, count);
  if (!table.number_all(count, found)) sort_rows(rows, count, found);
}

// Ascending: booleans as 0 and 1, NaN after all numbers, texts by their bytes.
template <class T, bool kBoolean>
bool comes_before(T a, T b) {
  if constexpr (std::is_same_v<T, text>) return compare(a, b) < 0;
  else if constexpr (kBoolean) return (a != 0) < (b != 0);
  else return a < b || (b != b && a == a);
}

// The distinct rows in ascending order, and new numbers for all rows. Distinct elements decide at once, so the order
// has no equal rows.
template <class T, bool kBoolean>
void sort_found(const T* x, std::int64_t width, std::int64_t count, found_rows& found) {
  scratch<std::int32_t> orders(found.count), numbers(found.count), first_rows(found.count);
  std::int32_t *const order = orders.data(), *const number = numbers.data(), *const firsts = first_rows.data();
  std::iota(order, order + found.count, 0);
  std::sort(order, order + found.count, [&](std::int32_t a, std::int32_t b) {
    const T *const left = x + found.firsts[a] * width, *const right = x + found.firsts[b] * width;
    return std::lexicographical_compare(left, left + width, right, right + width, comes_before<T, kBoolean>);
  });
  for (std::int32_t k = 0; k < found.count; ++k) number[order[k]] = k, firsts[k] = found.firsts[order[k]];
  std::copy_n(firsts, found.count, found.firsts);
  for (std::int64_t i = 0; i < count; ++i) found.numbers[i] = number[found.numbers[i]];
}

// Elements of a byte have a table of their own.
template <class T, bool kBoolean>
void number_bytes(const T* x, std::int64_t count, found_rows& found) {
  std::int32_t number[256];
  std::fill_n(number, 256, -1);
  for (std::int64_t i = 0; i < count; ++i) {
    std::int32_t& here = number[key_of<T, kBoolean>(x[i])];
    if (here < 0) here = found.count, found.firsts[found.count++] = static_cast<std::int32_t>(i);
    found.numbers[i] = here;
  }
}

/// Unique. Exact. Reference: kernels/count/reference_unique.cc.
template <dtype Type, class T = storage_t<Type>>
void Unique(const unique_geometry& g, const T* x, std::int32_t* numbers, std::int32_t* firsts, std::int64_t* distinct) {
  constexpr bool kBoolean = Type == dtype::boolean;
  found_rows found{numbers, firsts};
  if (g.count > 0) {
    if (g.width != 1 || std::is_same_v<T, text>) number_rows(wide_rows<T, kBoolean>{x, g.width}, g.count, found);
    else if constexpr (sizeof(T) == 1) number_bytes<T, kBoolean>(x, g.count, found);
    else if constexpr (std::is_arithmetic_v<T>) number_rows(single_rows<T, kBoolean>{x}, g.count, found);
  }
  if (g.sorted) sort_found<T, kBoolean>(x, g.width, g.count, found);
  *distinct = found.count;
}

}  // namespace

KG_DEFINE_PLAIN_KERNELS(KG_UNIQUE_KERNELS)

}  // namespace kerngrad::kernels
