// SPDX-License-Identifier: Apache-2.0
// Matrix products after Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication" (2008): blocks of B
// and A are packed into panels for the caches and a register tile runs over them.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/matmul/matmul.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"
#include <algorithm>
#include <type_traits>

#include "kernels/common/chunks.h"
#include "kernels/matmul/gemm-inl.h"
#include "kernels/matmul/matmul.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {

void gemm_tile(int rows, int vectors, tile_kind kind, const tile_args<float>& args) {
  tile_dispatch(rows, vectors, kind, args);
}
void gemm_tile(int rows, int vectors, tile_kind kind, const tile_args<double>& args) {
  tile_dispatch(rows, vectors, kind, args);
}

namespace {

// Cache blocks: a panel of B of most_depth rows stays in the first-level cache, a packed block of most_rows rows of A
// and the panels of most_columns columns of B in the second-level cache.
inline constexpr std::ptrdiff_t most_depth = 256;
inline constexpr std::ptrdiff_t most_rows = 6 * tile_rows;
inline constexpr std::ptrdiff_t most_columns = 1024;

// Integers are summed up as unsigned ones, whose overflow is defined.
template <class T>
using summed_t = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>, std::type_identity<T>>::type;

template <class T>
struct product {
  std::ptrdiff_t m, n, k;
  const T* a;
  std::ptrdiff_t lda;
  bool transpose_a;
  const T* b;
  std::ptrdiff_t ldb;
  bool transpose_b;
  T* c;
  bool pack_a, pack_b;
  bool symmetric;  ///< op(B) is the transpose of op(A), so that tiles below the diagonal of C need not be computed

  tile_kind kind() const { return {.strided = !pack_a && !transpose_a, .narrow = !pack_b && n % lanes<T>() != 0}; }
};

/// Packs rows [depth, depth + kc) and columns [column, column + nc) of op(B) into panels of tile_columns.
template <class T>
void pack_right(const product<T>& g, std::ptrdiff_t depth, std::ptrdiff_t kc, std::ptrdiff_t column, std::ptrdiff_t nc,
                T* packed) {
  for (std::ptrdiff_t j = 0; j < nc; j += tile_columns<T>()) {
    const std::ptrdiff_t width = std::min(tile_columns<T>(), nc - j), padded = whole_vectors<T>(width);
    T* panel = packed + j * kc;
    if (g.transpose_b) {
      pack_transposed(g.b + (column + j) * g.ldb + depth, g.ldb, width, kc, panel, padded);
      clear_columns(panel, kc, width, padded);
    } else {
      pack_rows(g.b + depth * g.ldb + column + j, g.ldb, kc, width, panel, padded);
    }
  }
}

/// Packs rows [row, row + rows) of op(A) as one tile: the `rows` elements of a column of op(A) lie together.
template <class T>
void pack_left(const product<T>& g, std::ptrdiff_t row, std::ptrdiff_t rows, std::ptrdiff_t depth, std::ptrdiff_t kc,
               T* tile) {
  if (g.transpose_a) {
    pack_rows(g.a + depth * g.lda + row, g.lda, kc, rows, tile, rows);
  } else {
    pack_transposed(g.a + row * g.lda + depth, g.lda, rows, kc, tile, rows);
  }
}

/// One block of rows against the packed or plain columns [column, column + nc).
template <class T>
void multiply_rows(const product<T>& g, std::ptrdiff_t row, std::ptrdiff_t mc, std::ptrdiff_t depth, std::ptrdiff_t kc,
                   std::ptrdiff_t column, std::ptrdiff_t nc, const T* packed_b) {
  scratch<T> room;
  T* packed_a = nullptr;
  if (g.pack_a) {
    packed_a = room.reach(product_of(mc, kc));
    for_even_parts(mc, tile_rows, [&](std::ptrdiff_t i, std::ptrdiff_t rows) {
      pack_left(g, row + i, rows, depth, kc, packed_a + i * kc);
    });
  }
  const std::ptrdiff_t no_offset = 0;
  const tile_kind kind = g.kind();
  tile_args<T> tile{};
  tile.ldc = g.n;
  tile.runs = 1;
  tile.run_length = kc;
  tile.run_offsets = &no_offset;
  tile.accumulate = depth > 0;
  for (std::ptrdiff_t j = 0; j < nc; j += tile_columns<T>()) {
    tile.columns = std::min(tile_columns<T>(), nc - j);
    const int vectors = static_cast<int>(whole_vectors<T>(tile.columns) / lanes<T>());
    tile.ldb = g.pack_b ? vectors * lanes<T>() : g.ldb;
    tile.b = g.pack_b ? packed_b + j * kc : g.b + depth * g.ldb + column + j;
    for_even_parts(mc, g.pack_a ? tile_rows : most_tile_rows(vectors), [&](std::ptrdiff_t i, std::ptrdiff_t rows) {
      if (g.symmetric && column + j + tile.columns <= row + i) return;  // below the diagonal
      if (g.pack_a) {
        tile.a = packed_a + i * kc;
        tile.a_step = rows;
      } else {
        tile.a = g.transpose_a ? g.a + depth * g.lda + row + i : g.a + (row + i) * g.lda + depth;
        tile.a_step = g.lda;
      }
      tile.c = g.c + (row + i) * g.n + column + j;
      tile_dispatch(static_cast<int>(rows), vectors, kind, tile);
    });
  }
}

/// Columns [column, column + nc) of the product. With `threads` chunks of packing and blocks of rows may run on
/// several.
template <class T>
void multiply_columns(const product<T>& g, std::ptrdiff_t column, std::ptrdiff_t nc, bool threads) {
  const even_parts depths(g.k, most_depth), rows(g.m, most_rows);
  const std::int64_t products = threads ? g.m * nc * depths.longest() : 0;
  const auto blocks = [&](std::ptrdiff_t depth, std::ptrdiff_t kc, const T* packed_b) {
    run_in_chunks(rows.count, products, [&](std::ptrdiff_t i) {
      multiply_rows(g, rows.begin(i), rows.size(i), depth, kc, column, nc, packed_b);
    });
  };
  if (!g.pack_b) {
    for (std::ptrdiff_t p = 0; p < depths.count; ++p) blocks(depths.begin(p), depths.size(p), nullptr);
    return;
  }
  scratch<T> room(product_of(whole_vectors<T>(nc), depths.longest()));
  T* const packed_b = room.data();
  const even_parts packs(nc / tile_columns<T>() + 1, 8);
  for (std::ptrdiff_t p = 0; p < depths.count; ++p) {
    const std::ptrdiff_t depth = depths.begin(p), kc = depths.size(p);
    run_in_chunks(packs.count, products, [&](std::ptrdiff_t i) HWY_ATTR {
      const std::ptrdiff_t low = packs.begin(i) * tile_columns<T>();
      const std::ptrdiff_t high = std::min(nc, low + packs.size(i) * tile_columns<T>());
      pack_right(g, depth, kc, column + low, high - low, packed_b + low * kc);
    });
    blocks(depth, kc, packed_b);
  }
}

/// Many rows are shared out in blocks, which all use one packed B; of few rows, blocks of columns, which pack their
/// own.
template <class T>
void blocked_product(const product<T>& g) {
  const bool few_rows = g.m <= most_rows;
  const std::ptrdiff_t width = !few_rows ? most_columns : g.pack_a ? most_columns / 2 : 2 * tile_columns<T>();
  run_in_chunks((g.n + width - 1) / width, few_rows ? g.m * g.n * g.k : 0,
                [&](std::ptrdiff_t i) { multiply_columns(g, i * width, std::min(width, g.n - i * width), !few_rows); });
}

/// y[0, n) = sum over p of x[p] * b[p, 0..n): rows of b are read once and in order, y stays in the first-level cache.
template <class T>
void row_combination(std::ptrdiff_t n, std::ptrdiff_t k, const T* x, const T* b, T* y) {
  constexpr std::ptrdiff_t block = 1024, together = 8;
  run_in_chunks((n + block - 1) / block, n * k, [&](std::ptrdiff_t chunk) HWY_ATTR {
    const std::ptrdiff_t begin = chunk * block, end = std::min(n, begin + block);
    for (std::ptrdiff_t p = 0; p < k; p += together) {
      const std::ptrdiff_t count = std::min(together, k - p);
      const auto columns = [&](auto d, std::ptrdiff_t j) HWY_ATTR {
        auto sum = p == 0 ? hn::Zero(d) : hn::LoadU(d, y + j);
        if (count == together) {
#pragma clang loop unroll(full)
          for (std::ptrdiff_t q = 0; q < together; ++q) {
            sum = multiply_accumulate(d, hn::Set(d, x[p + q]), hn::LoadU(d, b + (p + q) * n + j), sum);
          }
        } else {
          for (std::ptrdiff_t q = 0; q < count; ++q) {
            sum = multiply_accumulate(d, hn::Set(d, x[p + q]), hn::LoadU(d, b + (p + q) * n + j), sum);
          }
        }
        hn::StoreU(sum, d, y + j);
      };
      std::ptrdiff_t j = begin;
      for (; j + lanes<T>() <= end; j += lanes<T>()) columns(hn::ScalableTag<T>(), j);
      for (; j < end; ++j) columns(hn::CappedTag<T, 1>(), j);
    }
  });
}

/// y[i] = sum over p of a[i, p] * x[p] for kRows rows, one accumulator each.
template <class T, int kRows>
void row_dots(std::ptrdiff_t k, const T* a, const T* x, T* y) {
  const hn::ScalableTag<T> d;
  with_vectors<kRows>(d, [&](auto sum) KG_INLINED {
    std::ptrdiff_t p = 0;
    for (; p + lanes<T>() <= k; p += lanes<T>()) {
      const auto right = hn::LoadU(d, x + p);
#pragma clang loop unroll(full)
      for (int i = 0; i < kRows; ++i) sum[i] = multiply_accumulate(d, hn::LoadU(d, a + i * k + p), right, sum[i]);
    }
    if (p < k) {
      const auto right = load_part(d, x + p, k - p);
#pragma clang loop unroll(full)
      for (int i = 0; i < kRows; ++i)
        sum[i] = multiply_accumulate(d, load_part(d, a + i * k + p, k - p), right, sum[i]);
    }
#pragma clang loop unroll(full)
    for (int i = 0; i < kRows; ++i) y[i] = hn::GetLane(hn::SumOfLanes(d, sum[i]));
  });
}

template <class T>
void matrix_times_vector(std::ptrdiff_t rows, std::ptrdiff_t k, const T* a, const T* x, T* y) {
  constexpr std::ptrdiff_t block = 128;
  run_in_chunks((rows + block - 1) / block, rows * k, [&](std::ptrdiff_t chunk) {
    std::ptrdiff_t i = chunk * block;
    const std::ptrdiff_t end = std::min(rows, i + block);
    for (; i + 8 <= end; i += 8) row_dots<T, 8>(k, a + i * k, x, y + i);
    for (; i < end; ++i) row_dots<T, 1>(k, a + i * k, x, y + i);
  });
}

/// Copies what is above the diagonal of an n x n matrix below it, by blocks that stay in the first-level cache.
template <class T>
void mirror(std::ptrdiff_t n, T* c) {
  constexpr std::ptrdiff_t block = 32;
  for (std::ptrdiff_t row = 0; row < n; row += block)
    for (std::ptrdiff_t column = 0; column <= row; column += block)
      for (std::ptrdiff_t i = row; i < std::min(n, row + block); ++i)
        for (std::ptrdiff_t j = column; j < std::min(i, column + block); ++j) c[i * n + j] = c[j * n + i];
}

/// One product, by the way that suits its shape. Each choice depends on the shape only. A matrix times its own
/// transpose takes half the products: the other half is bitwise identical.
template <class T>
void matrix_product(std::ptrdiff_t m, std::ptrdiff_t n, std::ptrdiff_t k, const T* a, bool ta, const T* b, bool tb,
                    T* c) {
  if (m == 0 || n == 0) return;
  if (k == 0) {
    std::fill_n(c, m * n, T{0});
  } else if (m == 1 && tb) {
    matrix_times_vector(n, k, b, a, c);
  } else if (n == 1 && !ta) {
    matrix_times_vector(m, k, a, b, c);
  } else if (m == 1 && n >= lanes<T>()) {
    row_combination(n, k, a, b, c);
  } else if (n == 1 && m >= lanes<T>()) {
    row_combination(m, k, b, a, c);
  } else {
    product<T> g{.m = m,
                 .n = n,
                 .k = k,
                 .a = a,
                 .lda = ta ? m : k,
                 .transpose_a = ta,
                 .b = b,
                 .ldb = tb ? k : n,
                 .transpose_b = tb,
                 .c = c,
                 .pack_a = false,
                 .pack_b = false,
                 .symmetric = a == b && ta != tb && m == n};
    // Plain rows of B serve when few tiles of rows share them.
    g.pack_b = always_packed<T> || tb || (!loads_parts && n % lanes<T>() != 0) || m > 5 * tile_rows;
    // Plain A serves few panels. Rows at a distance of many half pages fall into the same cache set: pack those.
    const bool collides = !ta && m > 4 && k >= 64 && static_cast<std::size_t>(g.lda) * sizeof(T) % 2048 == 0;
    g.pack_a = always_packed<T> || (n > 4 * tile_columns<T>() && m * k > 64 * 64) || collides;
    if (g.pack_a || g.pack_b || k > most_depth || m > most_rows) {
      blocked_product(g);
    } else {
      multiply_rows<T>(g, 0, m, 0, k, 0, n, nullptr);
    }
    if (g.symmetric) mirror(n, c);
  }
}

/// BatchMatMul. Floats: sums in the type itself by fused multiply-add where the target has it, in an order given by
/// the shape and the target alone; |error| <= k * eps * sum |a * b|. int32 and int64: modulo 2^32 and 2^64.
/// Reference: kernels/matmul/reference_matmul.cc.
template <dtype Type, class T = summed_t<storage_t<Type>>>
void BatchMatMul(const matmul_geometry& g, const T* a, const T* b, T* c) {
  std::int64_t batch = 1, m = g.m;
  bool one_product = !g.transpose_a;  // A stacked without gaps times one B
  for (int axis = g.batch_rank - 1; axis >= 0; --axis) {
    one_product = one_product && (g.batch_dims[axis] == 1 || (g.stride_b[axis] == 0 && g.stride_a[axis] == batch));
    batch *= g.batch_dims[axis];
  }
  if (batch == 0) return;
  if (one_product) {
    m *= batch;
    batch = 1;
  }
  if (batch == 1) {
    matrix_product<T>(m, g.n, g.k, a, g.transpose_a, b, g.transpose_b, c);
    return;
  }
  // Small products share a chunk; large ones follow each other and bring several threads to work themselves.
  const std::int64_t products = m * g.n * g.k;
  const std::int64_t together = std::max<std::int64_t>(1, products_worth_threads / std::max<std::int64_t>(products, 1));
  run_in_chunks((batch + together - 1) / together, products < products_worth_threads ? batch * products : 0,
                [&](std::ptrdiff_t chunk) {
                  for (std::int64_t i = chunk * together; i < std::min(batch, (chunk + 1) * together); ++i) {
                    std::int64_t at_a = 0, at_b = 0, rest = i;
                    for (int axis = g.batch_rank - 1; axis >= 0; rest /= g.batch_dims[axis--]) {
                      at_a += rest % g.batch_dims[axis] * g.stride_a[axis];
                      at_b += rest % g.batch_dims[axis] * g.stride_b[axis];
                    }
                    matrix_product<T>(m, g.n, g.k, a + at_a * g.m * g.k, g.transpose_a, b + at_b * g.k * g.n,
                                      g.transpose_b, c + i * m * g.n);
                  }
                });
}

}  // namespace

KG_DEFINE_KERNELS(KG_MATMUL_KERNELS)

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/common/dispatch.h"

namespace kerngrad::kernels {
KG_DISPATCH_KERNELS(KG_MATMUL_KERNELS)
}  // namespace kerngrad::kernels
#endif
