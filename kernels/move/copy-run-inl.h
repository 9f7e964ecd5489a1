// SPDX-License-Identifier: Apache-2.0
// Loops that move runs of elements, once per target: copied, repeated, backwards, interleaved, taken apart. Elements
// are integers of their size, those of 16 bytes a pair of them. Nothing outside the runs is read or written.
#if defined(KERNGRAD_KERNELS_COPY_RUN_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNGRAD_KERNELS_COPY_RUN_INL_H_
#undef KERNGRAD_KERNELS_COPY_RUN_INL_H_
#else
#define KERNGRAD_KERNELS_COPY_RUN_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "hwy/highway.h"
#include "kernels/common/abi.h"
#include "kernels/common/vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

template <std::size_t Size> struct cell;
template <> struct cell<1> {
  using type = std::uint8_t;
};
template <> struct cell<2> {
  using type = std::uint16_t;
};
template <> struct cell<4> {
  using type = std::uint32_t;
};
template <> struct cell<8> {
  using type = std::uint64_t;
};
struct cell_pair {
  std::uint64_t first, second;
};
template <> struct cell<16> {
  using type = cell_pair;
};

// The element seen as bytes. Complex numbers are aligned like their parts only, hence get and put.
template <dtype K> using cell_t = typename cell<sizeof(storage_t<K>)>::type;

template <class T>
HWY_INLINE T get(const T* p) {
  T v;
  std::memcpy(&v, static_cast<const void*>(p), sizeof v);
  return v;
}
template <class T>
HWY_INLINE void put(T v, T* p) {
  std::memcpy(static_cast<void*>(p), &v, sizeof v);
}

// Copies n elements. Short runs without a call: two overlapping pieces of a fixed size.
template <class T>
HWY_INLINE void copy_run(const T* in, T* out, std::size_t n) {
  const std::size_t bytes = n * sizeof(T);
  const char* from = reinterpret_cast<const char*>(in);
  char* to = reinterpret_cast<char*>(out);
  const auto twice = [&](auto piece) {
    constexpr std::size_t size = sizeof piece;
    auto last = piece;
    std::memcpy(&piece, from, size);
    std::memcpy(&last, from + bytes - size, size);
    std::memcpy(to, &piece, size);
    std::memcpy(to + bytes - size, &last, size);
  };
  struct bytes16 {
    char data[16];
  };
  struct bytes32 {
    char data[32];
  };
  if (bytes > 64) {
    std::memcpy(to, from, bytes);
  } else if (bytes >= 32) {
    twice(bytes32{});
  } else if (bytes >= 16) {
    twice(bytes16{});
  } else if (bytes >= 8) {
    twice(std::uint64_t{});
  } else if (bytes >= 4) {
    twice(std::uint32_t{});
  } else {
    for (std::size_t i = 0; i < bytes; ++i) to[i] = from[i];
  }
}

template <class T>
HWY_INLINE void fill_run(T value, T* out, std::size_t n) {
  const hn::ScalableTag<T> d;
  const std::size_t L = hn::Lanes(d);
  if (n < L) {
    for (std::size_t i = 0; i < n; ++i) put(value, out + i);
    return;
  }
  const auto v = hn::Set(d, value);
  for (std::size_t i = 0; i + L <= n; i += L) hn::StoreU(v, d, out + i);
  hn::StoreU(v, d, out + n - L);
}
// A store of a pair is one of 16 bytes.
HWY_INLINE void fill_run(cell_pair value, cell_pair* out, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) put(value, out + i);
}

// out[i] = last[-i]
template <class T>
HWY_INLINE void reverse_run(const T* last, T* out, std::size_t n) {
  const hn::ScalableTag<T> d;
  const std::size_t L = hn::Lanes(d);
  const T* first = last - static_cast<std::ptrdiff_t>(n - 1);
  std::size_t i = 0;
  if constexpr (sizeof(T) != 1) {
    for (; i + L <= n; i += L) hn::StoreU(hn::Reverse(d, hn::LoadU(d, first + (n - i - L))), d, out + i);
  } else {
    // Highway reverses no bytes: eight of them as one number with its bytes swapped.
    for (; i + 8 <= n; i += 8) {
      std::uint64_t eight;
      std::memcpy(&eight, first + (n - i - 8), 8);
      eight = __builtin_bswap64(eight);
      std::memcpy(out + i, &eight, 8);
    }
  }
  for (; i < n; ++i) put(get(first + (n - 1 - i)), out + i);
}

// Rows of between one and two pieces: two pieces that overlap where the row is shorter. One loop without a call.
template <class Piece>
HWY_INLINE void copy_pieces(const char* in, std::ptrdiff_t in_step, char* out, std::ptrdiff_t out_step,
                            std::ptrdiff_t rows, std::size_t bytes) {
  const std::size_t second = bytes - sizeof(Piece);
  for (std::ptrdiff_t r = 0; r < rows; ++r, in += in_step, out += out_step) {
    Piece first, last;
    std::memcpy(&first, in, sizeof first);
    std::memcpy(&last, in + second, sizeof last);
    std::memcpy(out, &first, sizeof first);
    std::memcpy(out + second, &last, sizeof last);
  }
}

// `rows` runs of `bytes` bytes, whose starts are in_step and out_step bytes apart: one function for elements of all
// sizes.
HWY_NOINLINE inline void copy_rows_of_bytes(const char* in, std::ptrdiff_t in_step, char* out, std::ptrdiff_t out_step,
                                            std::ptrdiff_t rows, std::size_t bytes) {
  struct bytes16 {
    char data[16];
  };
  struct bytes32 {
    char data[32];
  };
  if (bytes > 64) {
    for (std::ptrdiff_t r = 0; r < rows; ++r) std::memcpy(out + r * out_step, in + r * in_step, bytes);
  } else if (bytes >= 32) {
    copy_pieces<bytes32>(in, in_step, out, out_step, rows, bytes);
  } else if (bytes >= 16) {
    copy_pieces<bytes16>(in, in_step, out, out_step, rows, bytes);
  } else if (bytes >= 8) {
    copy_pieces<std::uint64_t>(in, in_step, out, out_step, rows, bytes);
  } else if (bytes >= 4) {
    copy_pieces<std::uint32_t>(in, in_step, out, out_step, rows, bytes);
  } else if (bytes >= 2) {
    copy_pieces<std::uint16_t>(in, in_step, out, out_step, rows, bytes);
  } else {
    for (std::ptrdiff_t r = 0; r < rows; ++r) out[r * out_step] = in[r * in_step];
  }
}

// `rows` runs of n elements.
template <class T>
HWY_INLINE void copy_rows(const T* in, std::ptrdiff_t in_stride, T* out, std::ptrdiff_t out_stride, std::ptrdiff_t rows,
                          std::size_t n) {
  constexpr std::ptrdiff_t size = sizeof(T);
  copy_rows_of_bytes(reinterpret_cast<const char*>(in), in_stride * size, reinterpret_cast<char*>(out),
                     out_stride * size, rows, n * sizeof(T));
}

// The same n elements `rows` times, one after the other: what is there already is copied, up to 4 KiB at once.
template <class T>
void repeat_run(const T* in, T* out, std::ptrdiff_t rows, std::size_t n) {
  const std::size_t total = static_cast<std::size_t>(rows) * n;
  std::size_t piece = n;
  copy_run(in, out, n);
  for (std::size_t done = n; done < total;) {
    const std::size_t now = std::min(piece, total - done);
    copy_run(out, out + done, now);
    done += now;
    if (2 * piece * sizeof(T) <= 4096 && done >= 2 * piece) piece *= 2;
  }
}

// `k` vectors to or from k * Lanes(d) elements, the j-th of which belongs to vector j % k.
template <int k, class D, class T, class V>
HWY_INLINE void store_interleaved(D d, vectors<V, k> v, T* out) {
  if constexpr (k == 2) hn::StoreInterleaved2(v[0], v[1], d, out);
  if constexpr (k == 3) hn::StoreInterleaved3(v[0], v[1], v[2], d, out);
  if constexpr (k == 4) hn::StoreInterleaved4(v[0], v[1], v[2], v[3], d, out);
}
template <int k, class D, class T, class V>
HWY_INLINE void load_interleaved(D d, const T* in, vectors<V, k> v) {
  if constexpr (k == 2) hn::LoadInterleaved2(d, in, v[0], v[1]);
  if constexpr (k == 3) hn::LoadInterleaved3(d, in, v[0], v[1], v[2]);
  if constexpr (k == 4) hn::LoadInterleaved4(d, in, v[0], v[1], v[2], v[3]);
}

// out[i * k + j] = in[i + j * in_stride] for j < k
template <int k, class T>
void interleave(const T* in, std::ptrdiff_t in_stride, T* out, std::ptrdiff_t n) {
  const hn::ScalableTag<T> d;
  const std::ptrdiff_t L = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  std::ptrdiff_t i = 0;
  with_vectors<k>(d, [&](auto v) KG_INLINED {
    for (; i + L <= n; i += L) {
      for (int j = 0; j < k; ++j) v[j] = hn::LoadU(d, in + i + j * in_stride);
      store_interleaved(d, v, out + i * k);
    }
  });
  for (; i < n; ++i) {
    for (int j = 0; j < k; ++j) put(get(in + i + j * in_stride), out + i * k + j);
  }
}

// out[i + j * out_stride] = in[i * k + j] for j < k
template <int k, class T>
void deinterleave(const T* in, T* out, std::ptrdiff_t out_stride, std::ptrdiff_t n) {
  const hn::ScalableTag<T> d;
  const std::ptrdiff_t L = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  std::ptrdiff_t i = 0;
  with_vectors<k>(d, [&](auto v) KG_INLINED {
    for (; i + L <= n; i += L) {
      load_interleaved(d, in + i * k, v);
      for (int j = 0; j < k; ++j) hn::StoreU(v[j], d, out + i + j * out_stride);
    }
  });
  for (; i < n; ++i) {
    for (int j = 0; j < k; ++j) put(get(in + i * k + j), out + i + j * out_stride);
  }
}

// out[i * k + j] = in[i * k + k - 1 - j] for j < k
template <int k, class T>
void reverse_parts(const T* in, T* out, std::ptrdiff_t n) {
  const hn::ScalableTag<T> d;
  const std::ptrdiff_t L = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  std::ptrdiff_t i = 0;
  with_vectors<k>(d, [&](auto v) KG_INLINED {
    auto backwards = v;
    std::reverse(backwards.at, backwards.at + k);
    for (; i + L <= n; i += L, in += L * k, out += L * k) {
      load_interleaved(d, in, v);
      store_interleaved(d, backwards, out);
    }
  });
  for (; i < n; ++i, in += k, out += k) {
    for (int j = 0; j < k; ++j) put(get(in + k - 1 - j), out + j);
  }
}

// out[i] = in[i * k]. The vectors end before the last element, after which nothing may be read.
template <int k, class T>
HWY_INLINE void every(const T* in, T* out, std::ptrdiff_t n) {
  const hn::ScalableTag<T> d;
  const std::ptrdiff_t L = static_cast<std::ptrdiff_t>(hn::Lanes(d));
  std::ptrdiff_t i = 0;
  with_vectors<k>(d, [&](auto v) KG_INLINED {
    for (; i + L < n; i += L, in += L * k) {
      if constexpr (k == 2) {
        hn::StoreU(hn::ConcatEven(d, hn::LoadU(d, in + L), hn::LoadU(d, in)), d, out + i);
      } else {
        load_interleaved(d, in, v);
        hn::StoreU(v[0], d, out + i);
      }
    }
  });
  for (; i < n; ++i, in += k) put(get(in), out + i);
}

// Calls f with k as a constant; 2 <= k <= 4.
template <class F>
HWY_INLINE void with_count(std::ptrdiff_t k, F f) {
  if (k == 2) return f(std::integral_constant<int, 2>{});
  if (k == 3) return f(std::integral_constant<int, 3>{});
  f(std::integral_constant<int, 4>{});
}

// out[i * out_stride] = in[i * in_stride]
template <class T>
HWY_NOINLINE void strided_run(const T* in, std::ptrdiff_t in_stride, T* out, std::ptrdiff_t out_stride,
                              std::ptrdiff_t n) {
  if (out_stride == 1 && in_stride >= 2 && in_stride <= 4) {
    with_count(in_stride, [&](auto k) HWY_ATTR { every<decltype(k)::value>(in, out, n); });
  } else if (out_stride == 1) {
    for (std::ptrdiff_t i = 0; i < n; ++i) put(get(in + i * in_stride), out + i);
  } else {
    for (std::ptrdiff_t i = 0; i < n; ++i) put(get(in + i * in_stride), out + i * out_stride);
  }
}

}  // namespace
}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard that toggles per target
