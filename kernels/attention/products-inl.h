// SPDX-License-Identifier: Apache-2.0
// Products of blocks of matrices for attention, on the register tile of kernels/matmul. A right matrix is packed once
// for a head, so that each block of it serves all queries. Included once per target.
#if defined(KERNGRAD_KERNELS_ATTENTION_PRODUCTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNGRAD_KERNELS_ATTENTION_PRODUCTS_INL_H_
#undef KERNGRAD_KERNELS_ATTENTION_PRODUCTS_INL_H_
#else
#define KERNGRAD_KERNELS_ATTENTION_PRODUCTS_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"
#include "kernels/common/scratch.h"
#include "kernels/common/sizes.h"
#include "kernels/matmul/gemm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// A matrix [depth, columns] in panels of tile_columns columns, the last one filled up to whole vectors.
template <class T>
class right_matrix {
 public:
  enum class layout : bool { rows, transposed };

  /// Packs `from`, which is [columns, depth] if it is transposed.
  right_matrix(const T* from, std::ptrdiff_t depth, std::ptrdiff_t columns, layout in)
      : depth_(depth), columns_(columns), packed_(product_of(whole_vectors<T>(columns), depth)) {
    for (std::ptrdiff_t j = 0; j < columns; j += tile_columns<T>()) {
      const std::ptrdiff_t width = std::min(tile_columns<T>(), columns - j), padded = whole_vectors<T>(width);
      T* const panel = packed_.data() + j * depth;
      if (in == layout::transposed) {
        pack_transposed(from + j * depth, depth, width, depth, panel, padded);
        clear_columns(panel, depth, width, padded);
      } else {
        pack_rows(from + j, columns, depth, width, panel, padded);
      }
    }
  }
  std::ptrdiff_t columns() const { return columns_; }
  /// Multiplies all elements.
  void scale(T factor) {
    const hn::ScalableTag<T> d;
    const std::ptrdiff_t count = whole_vectors<T>(columns_) * depth_;
    T* const at = packed_.data();
    for (std::ptrdiff_t i = 0; i < count; i += lanes<T>())
      hn::StoreU(hn::Mul(hn::LoadU(d, at + i), hn::Set(d, factor)), d, at + i);
  }
  /// The elements from row `depth` of the panel that begins at `column` on; `padded` is the length of its rows.
  const T* panel(std::ptrdiff_t column, std::ptrdiff_t depth, std::ptrdiff_t padded) {
    return packed_.data() + column * depth_ + depth * padded;
  }

 private:
  std::ptrdiff_t depth_, columns_;
  scratch<T> packed_;
};

/// A left matrix: element (i, p) is at i * step + p, or at i + p * step if it is transposed. A packed one consists of
/// tiles, whose columns lie together.
template <class T>
struct left_matrix {
  enum class layout : std::uint8_t { rows, transposed, packed };
  const T* at;
  std::ptrdiff_t step;
  layout in;
};

/// Packs [rows, depth] for left_matrix.
template <class T>
void pack_left_tiles(const T* from, std::ptrdiff_t rows, std::ptrdiff_t depth, T* packed) {
  for_even_parts(rows, tile_rows, [&](std::ptrdiff_t i, std::ptrdiff_t height) {
    pack_transposed(from + i * depth, depth, height, depth, packed + i * depth, height);
  });
}

/// Rows and columns of a product: `first_column`, a multiple of tile_columns, and `first_depth` are positions in the
/// right matrix.
struct product_part {
  std::ptrdiff_t rows, columns, depth, first_column, first_depth;
};

/// c = a b of a part, or c += a b. The rows of c are `ldc` apart.
template <class T>
void multiply(const product_part& part, const left_matrix<T>& a, right_matrix<T>& b, T* c, std::ptrdiff_t ldc,
              bool accumulate) {
  using layout = typename left_matrix<T>::layout;
  const std::ptrdiff_t no_offset = 0;
  const tile_kind kind{.strided = a.in == layout::rows, .narrow = false};
  tile_args<T> tile{};
  tile.ldc = ldc;
  tile.runs = 1;
  tile.run_length = part.depth;
  tile.run_offsets = &no_offset;
  tile.accumulate = accumulate;
  for (std::ptrdiff_t j = 0; j < part.columns; j += tile_columns<T>()) {
    const std::ptrdiff_t column = part.first_column + j;
    tile.columns = std::min(tile_columns<T>(), part.columns - j);
    tile.ldb = whole_vectors<T>(std::min(tile_columns<T>(), b.columns() - column));
    tile.b = b.panel(column, part.first_depth, tile.ldb);
    const int vectors = static_cast<int>(whole_vectors<T>(tile.columns) / lanes<T>());
    for_even_parts(part.rows, tile_rows, [&](std::ptrdiff_t i, std::ptrdiff_t rows) {
      tile.a_step = a.in == layout::packed ? rows : a.step;
      tile.a = a.at + (a.in == layout::packed ? i * part.depth : a.in == layout::rows ? i * a.step : i);
      tile.c = c + i * ldc + j;
      gemm_tile(static_cast<int>(rows), vectors, kind, tile);
    });
  }
}

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard that toggles per target
