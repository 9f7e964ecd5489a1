// SPDX-License-Identifier: Apache-2.0
// A complex product as one real product. Read as reals, a row of A is [re, im, re, im, ...]. Each element b of B
// becomes the 2 x 2 block
//
//   [ re(b)  im(b) ]
//   [-im(b)  re(b) ]
//
// so that A times the blocks has the parts of C at their positions. These are the four real products of the definition,
// so that a part of C has the error bound of a sum of 2 k real products. A is read and C written in place; B is
// copied, and A where it is transposed.
#include "kernels/matmul/complex.h"

#include <algorithm>
#include <cstddef>

#include "kernels/common/scratch.h"

namespace kerngrad::kernels {
namespace {

void real_product(const matmul_geometry& g, const float* a, const float* b, float* c) {
  const void* in[] = {a, b};
  void* out[] = {c};
  BatchMatMul_float32(in, out, &g);
}
void real_product(const matmul_geometry& g, const double* a, const double* b, double* c) {
  const void* in[] = {a, b};
  void* out[] = {c};
  BatchMatMul_float64(in, out, &g);
}

/// The blocks of `rows` rows of numbers, or the transposed blocks. The first row of a pair has the first row of the
/// blocks.
template <class T>
void write_blocks(const T* b, std::int64_t rows, std::int64_t columns, bool transposed, T* blocks) {
  const T first = transposed ? T{-1} : T{1};
  for (std::int64_t i = 0; i < rows; ++i, b += 2 * columns, blocks += 4 * columns) {
    T* upper = blocks;
    T* lower = blocks + 2 * columns;
    for (std::int64_t j = 0; j < columns; ++j) {
      const T re = b[2 * j], im = b[2 * j + 1];
      upper[2 * j] = re, upper[2 * j + 1] = first * im;
      lower[2 * j] = -first * im, lower[2 * j + 1] = re;
    }
  }
}

/// y = x^T of a [rows, columns] matrix of numbers, in squares that stay in the first-level cache.
template <class T>
void transpose_numbers(const T* x, std::int64_t rows, std::int64_t columns, T* y) {
  constexpr std::int64_t side = 16;
  for (std::int64_t i0 = 0; i0 < rows; i0 += side)
    for (std::int64_t j0 = 0; j0 < columns; j0 += side)
      for (std::int64_t i = i0; i < std::min(rows, i0 + side); ++i)
        for (std::int64_t j = j0; j < std::min(columns, j0 + side); ++j) {
          y[2 * (j * rows + i)] = x[2 * (i * columns + j)];
          y[2 * (j * rows + i) + 1] = x[2 * (i * columns + j) + 1];
        }
}

/// The matrices of a call one after another. The parts of a matrix serve while the next product has the same one.
template <class T>
class products {
 public:
  explicit products(const matmul_geometry& g) : g_(g) {}

  void run(const T* a, const T* b, T* c, std::int64_t m) {
    // One row times a transposed B: B is the large one, and is read in place.
    if (m == 1 && g_.transpose_b && g_.n > 1)
      return real_product(real(g_.n, 1, false), b, blocks_of(a, g_.k, 1, false), c);
    const T* rows = a;
    if (g_.transpose_a) rows = transposed(a, m);
    const T* blocks = g_.transpose_b ? blocks_of(b, g_.n, g_.k, true) : blocks_of(b, g_.k, g_.n, false);
    real_product(real(m, g_.n, g_.transpose_b), rows, blocks, c);
  }

 private:
  matmul_geometry real(std::int64_t m, std::int64_t n, bool transpose_b) const {
    matmul_geometry g{};
    g.m = m, g.n = 2 * n, g.k = 2 * g_.k;
    g.transpose_b = transpose_b;
    return g;
  }
  const T* blocks_of(const T* x, std::int64_t rows, std::int64_t columns, bool transposed) {
    if (x != blocks_from_) {
      T* room = blocks_.reach(product_of(product_of(4, rows), columns));
      write_blocks(x, rows, columns, transposed, room);
      blocks_from_ = x;
    }
    return blocks_.data();
  }
  const T* transposed(const T* a, std::int64_t m) {
    if (a != rows_from_) {
      T* room = rows_.reach(product_of(product_of(2, m), g_.k));
      transpose_numbers(a, g_.k, m, room);
      rows_from_ = a;
    }
    return rows_.data();
  }

  const matmul_geometry& g_;
  scratch<T> blocks_, rows_;
  const T *blocks_from_ = nullptr, *rows_from_ = nullptr;
};

template <dtype Type, class T = part_t<Type>>
void BatchMatMul(const matmul_geometry& g, const T* a, const T* b, T* c) {
  std::int64_t batch = 1, m = g.m;
  bool one_product = !g.transpose_a;  // A stacked without gaps times one B
  for (int axis = g.batch_rank - 1; axis >= 0; --axis) {
    one_product = one_product && (g.batch_dims[axis] == 1 || (g.stride_b[axis] == 0 && g.stride_a[axis] == batch));
    batch *= g.batch_dims[axis];
  }
  if (batch == 0 || m == 0 || g.n == 0) return;
  if (g.k == 0) {
    std::fill_n(c, 2 * batch * m * g.n, T{0});
    return;
  }
  products<T> each(g);
  if (one_product) return each.run(a, b, c, m * batch);
  for (std::int64_t i = 0; i < batch; ++i) {
    std::int64_t at_a = 0, at_b = 0, rest = i;
    for (int axis = g.batch_rank - 1; axis >= 0; rest /= g.batch_dims[axis--]) {
      at_a += rest % g.batch_dims[axis] * g.stride_a[axis];
      at_b += rest % g.batch_dims[axis] * g.stride_b[axis];
    }
    each.run(a + 2 * at_a * m * g.k, b + 2 * at_b * g.k * g.n, c + 2 * i * m * g.n, m);
  }
}

}  // namespace

KG_DEFINE_PLAIN_KERNELS(KG_COMPLEX_MATMUL_KERNELS)

}  // namespace kerngrad::kernels
