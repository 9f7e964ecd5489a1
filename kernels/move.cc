// SPDX-License-Identifier: Apache-2.0
// Moving elements: strided copies, gathers and their adjoints, one-hot, scans. See move.h for the geometries.
//
// Elements are moved as bytes of their size, so NaN payloads and the sign of zero survive. Sums of GatherGrad and
// UnsortedSegmentSum are added in the order of the indices, one rounding each; integers wrap. Cumsum and Cumprod of
// floats carry a double and round every result once; of doubles they are sequential; integers wrap. The results are
// the same on every target. Reference: kernels/reference/move.cc.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/move.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels/move.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

template <std::size_t Size> struct cell;
template <> struct cell<1> {
  using type = std::uint8_t;
};
template <> struct cell<4> {
  using type = std::uint32_t;
};
template <> struct cell<8> {
  using type = std::uint64_t;
};

// The element seen as bytes: an integer of its size. complex64 is aligned like a float only, hence get and put.
template <dtype K> struct element {
  using type = typename cell<sizeof(storage_t<K>)>::type;
};
template <> struct element<dtype::complex64> {
  using type = std::uint64_t;
};
template <dtype K> using element_t = typename element<K>::type;

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

// Transposes a square of side 16 / sizeof(T) (twice that where vectors have 32 bytes) in registers: interleaving the
// first half of the rows with the second half, log2(side) times. Rows r and r + side share a vector in the wide form.
template <class T, bool Wide>
HWY_INLINE void transpose_square(const T* in, std::ptrdiff_t in_stride, T* out, std::ptrdiff_t out_stride) {
#if !HWY_HAVE_SCALABLE
  constexpr std::size_t side = 16 / sizeof(T);
  const hn::CappedTag<T, side> part;
  const hn::CappedTag<T, Wide ? 2 * side : side> d;
  using V = hn::Vec<decltype(d)>;
  for (std::size_t half = 0; half < (Wide ? 2 : 1); ++half) {
    V row[side];
    for (std::size_t r = 0; r < side; ++r) {
      const T* p = in + static_cast<std::ptrdiff_t>(r) * in_stride + half * side;
      if constexpr (Wide) {
        row[r] = hn::Combine(d, hn::LoadU(part, p + static_cast<std::ptrdiff_t>(side) * in_stride), hn::LoadU(part, p));
      } else {
        row[r] = hn::LoadU(d, p);
      }
    }
    for (std::size_t done = 1; done < side; done *= 2) {
      V next[side];
      for (std::size_t r = 0; r < side / 2; ++r) {
        next[2 * r] = hn::InterleaveLower(d, row[r], row[r + side / 2]);
        next[2 * r + 1] = hn::InterleaveUpper(d, row[r], row[r + side / 2]);
      }
      for (std::size_t r = 0; r < side; ++r) row[r] = next[r];
    }
    for (std::size_t r = 0; r < side; ++r) {
      hn::StoreU(row[r], d, out + static_cast<std::ptrdiff_t>(half * side + r) * out_stride);
    }
  }
#else
  constexpr std::size_t side = (Wide ? 32 : 16) / sizeof(T);
  for (std::size_t r = 0; r < side; ++r) {
    for (std::size_t c = 0; c < side; ++c) {
      const T* from = in + static_cast<std::ptrdiff_t>(r) * in_stride + c;
      put(get(from), out + static_cast<std::ptrdiff_t>(c) * out_stride + r);
    }
  }
#endif
}

// out[c * out_stride + r] = in[r * in_stride + c], in tiles. A tile is transposed into a small buffer and its lines are
// copied from there, so that whole cache lines of the output are written at once: rows at a stride of a power of two
// share the sets of the first cache and would evict half-written lines.
template <class T>
void transpose_plane(const T* in, std::ptrdiff_t in_stride, T* out, std::ptrdiff_t out_stride, std::ptrdiff_t rows,
                     std::ptrdiff_t columns) {
  constexpr bool wide = HWY_MAX_BYTES >= 32 && sizeof(T) != 1 && !HWY_HAVE_SCALABLE;
  constexpr std::ptrdiff_t side = (wide ? 32 : 16) / sizeof(T);
  constexpr std::ptrdiff_t tile_rows = sizeof(T) == 8 ? 32 : 256;  // measured
  constexpr std::ptrdiff_t tile_columns = std::max<std::ptrdiff_t>(side, 64 / sizeof(T));
  HWY_ALIGN T buffer[tile_columns * tile_rows];
  for (std::ptrdiff_t r0 = 0; r0 < rows; r0 += tile_rows) {
    const std::ptrdiff_t height = std::min(rows - r0, tile_rows), whole_r = height / side * side;
    for (std::ptrdiff_t c0 = 0; c0 < columns; c0 += tile_columns) {
      const std::ptrdiff_t width = std::min(columns - c0, tile_columns), whole_c = width / side * side;
      const T* from = in + r0 * in_stride + c0;
      T* to = out + c0 * out_stride + r0;
      for (std::ptrdiff_t r = 0; r < whole_r; r += side) {
        for (std::ptrdiff_t c = 0; c < whole_c; c += side) {
          transpose_square<T, wide>(from + r * in_stride + c, in_stride, buffer + c * tile_rows + r, tile_rows);
        }
      }
      for (std::ptrdiff_t c = 0; c < width; ++c) {
        for (std::ptrdiff_t r = c < whole_c ? whole_r : 0; r < height; ++r) {
          buffer[c * tile_rows + r] = get(from + r * in_stride + c);
        }
        copy_run(buffer + c * tile_rows, to + c * out_stride, static_cast<std::size_t>(height));
      }
    }
  }
}

struct axis {
  std::ptrdiff_t n, in, out;
};

// Axes without length 1, outermost output stride first, neighbours merged where both sides allow it. Returns how many
// are left, at least two (the missing ones have length 1), or 0 when there is nothing to copy.
int normal_form(const copy_geometry& g, axis* axes) {
  const auto size = [](std::ptrdiff_t stride) { return stride < 0 ? -stride : stride; };
  int rank = 0;
  for (int i = 0; i < g.rank; ++i) {
    if (g.dims[i] == 0) return 0;
    if (g.dims[i] == 1) continue;
    int at = rank++;
    for (; at > 0 && size(axes[at - 1].out) < size(g.out_strides[i]); --at) axes[at] = axes[at - 1];
    axes[at] = {g.dims[i], g.in_strides[i], g.out_strides[i]};
  }
  int kept = 0;
  for (int i = 0; i < rank; ++i) {
    if (kept > 0 && axes[kept - 1].in == axes[i].n * axes[i].in && axes[kept - 1].out == axes[i].n * axes[i].out) {
      axes[kept - 1] = {axes[kept - 1].n * axes[i].n, axes[i].in, axes[i].out};
    } else {
      axes[kept++] = axes[i];
    }
  }
  while (kept < 2) {
    for (int i = kept++; i > 0; --i) axes[i] = axes[i - 1];
    axes[0] = {1, 0, 0};
  }
  return kept;
}

enum class run { plane, copy, fill, reverse, strided };

// A plane of two axes; `b` is the inner one.
template <class T>
void copy_plane(const T* in, T* out, const axis& a, const axis& b, run way) {
  const std::size_t n = static_cast<std::size_t>(b.n);
  if (way == run::plane) return transpose_plane(in, b.in, out, a.out, b.n, a.n);
  for (std::ptrdiff_t i = 0; i < a.n; ++i) {
    const T* from = in + i * a.in;
    T* to = out + i * a.out;
    switch (way) {
      case run::copy: copy_run(from, to, n); break;
      case run::fill: fill_run(get(from), to, n); break;
      case run::reverse: reverse_run(from, to, n); break;
      default:
        for (std::ptrdiff_t j = 0; j < b.n; ++j) put(get(from + j * b.in), to + j * b.out);
    }
  }
}

template <class T>
void strided_copy(const T* in, T* out, const copy_geometry& g) {
  axis axes[max_rank + 2];
  int rank = normal_form(g, axes);
  if (rank == 0) return;
  axis inner = axes[--rank];
  run way = run::strided;
  if (inner.out == 1) {
    way = inner.in == 1 ? run::copy : inner.in == 0 ? run::fill : inner.in == -1 ? run::reverse : run::strided;
  }
  if (way == run::strided && inner.out == 1) {
    // An axis that is contiguous in the input makes a plane to transpose.
    for (int i = rank - 1; i >= 0; --i) {
      if (axes[i].in != 1 || axes[i].n < 4 || inner.n < 4) continue;
      std::rotate(axes + i, axes + i + 1, axes + rank);
      way = run::plane;
      break;
    }
  }
  const axis outer = axes[--rank];
  in += g.in_offset;
  out += g.out_offset;
  std::ptrdiff_t index[max_rank] = {};
  for (;;) {
    copy_plane(in, out, outer, inner, way);
    int i = rank - 1;
    for (; i >= 0; --i) {
      in += axes[i].in;
      out += axes[i].out;
      if (++index[i] < axes[i].n) break;
      in -= axes[i].n * axes[i].in;
      out -= axes[i].n * axes[i].out;
      index[i] = 0;
    }
    if (i < 0) return;
  }
}

template <dtype K>
void StridedCopy(const void* const* in, void* const* out, const void* geometry) {
  using T = element_t<K>;
  strided_copy(static_cast<const T*>(in[0]), static_cast<T*>(out[0]), *static_cast<const copy_geometry*>(geometry));
}

template <dtype K>
void GatherV2(const void* const* in, void* const* out, const void* geometry) {
  using T = element_t<K>;
  const gather_geometry& g = *static_cast<const gather_geometry*>(geometry);
  const T* x = static_cast<const T*>(in[0]);
  const std::int32_t* indices = static_cast<const std::int32_t*>(in[1]);
  T* y = static_cast<T*>(out[0]);
  if (g.inner == 0) return;
  for (std::int64_t b = 0; b < g.batch; ++b, indices += g.count) {
    for (std::int64_t o = 0; o < g.outer; ++o, x += g.axis * g.inner) {
      if (g.inner == 1) {
        for (std::int64_t j = 0; j < g.count; ++j) put(get(x + indices[j]), y++);
        continue;
      }
      for (std::int64_t j = 0; j < g.count; ++j, y += g.inner) {
        copy_run(x + indices[j] * g.inner, y, static_cast<std::size_t>(g.inner));
      }
    }
  }
}

// Wrapping arithmetic needs unsigned lanes.
template <class T> struct wrapping {
  using type = std::make_unsigned_t<T>;
};
template <> struct wrapping<float> {
  using type = float;
};
template <> struct wrapping<double> {
  using type = double;
};
template <dtype K> using wrapping_t = typename wrapping<storage_t<K>>::type;

// y[i] += x[i]
template <class T>
HWY_INLINE void add_row(const T* HWY_RESTRICT x, T* HWY_RESTRICT y, std::int64_t n) {
  const hn::ScalableTag<T> d;
  const std::int64_t L = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + L <= n; i += L) hn::StoreU(hn::Add(hn::LoadU(d, y + i), hn::LoadU(d, x + i)), d, y + i);
  for (; i < n; ++i) y[i] += x[i];
}

template <dtype K>
void GatherGrad(const void* const* in, void* const* out, const void* geometry) {
  using T = storage_t<K>;
  const gather_geometry& g = *static_cast<const gather_geometry*>(geometry);
  const T* dy = static_cast<const T*>(in[0]);
  const std::int32_t* indices = static_cast<const std::int32_t*>(in[1]);
  T* dx = static_cast<T*>(out[0]);
  std::fill_n(dx, g.batch * g.outer * g.axis * g.inner, T{0});
  for (std::int64_t b = 0; b < g.batch; ++b, indices += g.count) {
    for (std::int64_t o = 0; o < g.outer; ++o, dx += g.axis * g.inner) {
      for (std::int64_t j = 0; j < g.count; ++j, dy += g.inner) add_row(dy, dx + indices[j] * g.inner, g.inner);
    }
  }
}

template <dtype K>
void UnsortedSegmentSum(const void* const* in, void* const* out, const void* geometry) {
  using T = wrapping_t<K>;
  const segment_geometry& g = *static_cast<const segment_geometry*>(geometry);
  const T* x = static_cast<const T*>(in[0]);
  const std::int32_t* ids = static_cast<const std::int32_t*>(in[1]);
  T* y = static_cast<T*>(out[0]);
  std::fill_n(y, g.segments * g.inner, T{0});
  for (std::int64_t r = 0; r < g.rows; ++r) {
    if (ids[r] >= 0 && ids[r] < g.segments) add_row(x + r * g.inner, y + ids[r] * g.inner, g.inner);
  }
}

template <dtype K>
void OneHot(const void* const* in, void* const* out, const void* geometry) {
  using T = storage_t<K>;
  const one_hot_geometry& g = *static_cast<const one_hot_geometry*>(geometry);
  const std::int32_t* indices = static_cast<const std::int32_t*>(in[0]);
  T* y = static_cast<T*>(out[0]);
  const T on = static_cast<T>(g.on), off = static_cast<T>(g.off);
  std::fill_n(y, g.outer * g.depth * g.inner, off);
  for (std::int64_t o = 0; o < g.outer; ++o, y += g.depth * g.inner, indices += g.inner) {
    for (std::int64_t i = 0; i < g.inner; ++i) {
      if (indices[i] >= 0 && indices[i] < g.depth) y[indices[i] * g.inner + i] = on;
    }
  }
}

// What a scan carries from row to row.
template <class T> struct carried {
  using type = T;
};
template <> struct carried<float> {
  using type = double;
};

template <class T, bool Product>
void scan(const T* x, T* y, const scan_geometry& g) {
  using A = typename carried<T>::type;
  const auto next = [](A a, T v) HWY_ATTR {
    const A b = static_cast<A>(v);
    return static_cast<A>(Product ? a * b : a + b);
  };
  constexpr std::int64_t strip = 256;
  const std::int64_t step = g.reverse ? -g.inner : g.inner;
  const std::int64_t start = g.reverse ? (g.count - 1) * g.inner : 0;
  if (g.count == 0 || g.inner == 0) return;
  for (std::int64_t o = 0; o < g.outer; ++o, x += g.count * g.inner, y += g.count * g.inner) {
    for (std::int64_t j = 0; j < g.inner; j += strip) {
      const std::int64_t width = std::min(strip, g.inner - j);
      A carry[strip];
      std::fill_n(carry, width, static_cast<A>(Product ? 1 : 0));
      for (std::int64_t r = 0, at = start + j; r < g.count; ++r, at += step) {
        const T* HWY_RESTRICT from = x + at;
        T* HWY_RESTRICT to = y + at;
        if (g.exclusive) {
          for (std::int64_t i = 0; i < width; ++i) {
            to[i] = static_cast<T>(carry[i]);
            carry[i] = next(carry[i], from[i]);
          }
        } else {
          for (std::int64_t i = 0; i < width; ++i) to[i] = static_cast<T>(carry[i] = next(carry[i], from[i]));
        }
      }
    }
  }
}

template <dtype K>
void Cumsum(const void* const* in, void* const* out, const void* geometry) {
  using T = wrapping_t<K>;
  scan<T, false>(static_cast<const T*>(in[0]), static_cast<T*>(out[0]), *static_cast<const scan_geometry*>(geometry));
}

template <dtype K>
void Cumprod(const void* const* in, void* const* out, const void* geometry) {
  using T = wrapping_t<K>;
  scan<T, true>(static_cast<const T*>(in[0]), static_cast<T*>(out[0]), *static_cast<const scan_geometry*>(geometry));
}
}  // namespace

#define KG_MOVE(Name, types) types(KG_BODY, Name)
#define KG_BODY(Name, type)                                                           \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry) { \
    Name<dtype::type>(in, out, geometry);                                             \
  }
#include "kernels/move.inc"
#undef KG_MOVE
#undef KG_BODY

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kerngrad::kernels {

#define KG_MOVE(Name, types) types(KG_DISPATCH, Name)
#define KG_DISPATCH(Name, type)                                                       \
  HWY_EXPORT(Name##_##type);                                                          \
  void Name##_##type(const void* const* in, void* const* out, const void* geometry) { \
    HWY_DYNAMIC_DISPATCH(Name##_##type)(in, out, geometry);                           \
  }
#include "kernels/move.inc"
#undef KG_MOVE
#undef KG_DISPATCH

}  // namespace kerngrad::kernels
#endif
