// SPDX-License-Identifier: Apache-2.0
// Batch normalization with given moments. Subtraction, product and sum are rounded one by one, square roots and
// quotients as IEEE 754 says, so that every target gives bitwise identical results. The difference is taken first: a
// mean that is large next to the deviation costs no digits, as it would in x * factor + (offset - mean * factor).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/norm/batch.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernels/elementwise/elementwise-inl.h"
#include "kernels/norm/batch.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {

struct normalize : short_map {
  template <class D, class V>
  HWY_INLINE V operator()(D, V x, V mean, V factor, V offset) const {
    return hn::Add(hn::Mul(hn::Sub(x, mean), factor), offset);
  }
};

template <class T>
struct factor_of : long_map {
  T epsilon;
  explicit factor_of(T added) : epsilon(added) {}
  template <class D, class V>
  HWY_INLINE V operator()(D d, V variance, V scale) const {
    return hn::Div(scale, hn::Sqrt(hn::Add(variance, hn::Set(d, epsilon))));
  }
};

// Maps one element of x, or each of a row. Adding -0 changes nothing, not even a zero's sign.
template <class T>
struct moments {
  const T *mean, *variance, *offset, *scale;  // null: no offset, a scale of 1
  HWY_INLINE moments at(std::int64_t i) const {
    return {mean + i, variance + i, offset ? offset + i : offset, scale ? scale + i : scale};
  }
  static constexpr T no_offset = T{-0.0}, no_scale = T{1};
};

// Rows of x that share their moments. The factors of a strip of channels are computed once; short rows cost more to
// begin than to run, so several are taken at once, with the moments laid out as often.
template <class T>
class strips {
 public:
  explicit strips(double epsilon) : factor_of_(static_cast<T>(epsilon)) {}

  // `rows` rows of n elements, each with moments of its own.
  void by_column(const T* x, T* y, std::int64_t rows, std::int64_t n, const moments<T>& m) {
    if (rows > 1 && 2 * n <= room) return repeated(x, y, rows, n, m);
    for (std::int64_t begin = 0; begin < n; begin += room) {
      const std::int64_t width = std::min(room, n - begin);
      const moments<T> here = m.at(begin);
      find_factors(here, width);
      for (std::int64_t at = begin; at < rows * n; at += n)
        run(x + at, y + at, width, array(here.mean), array<T>(factors_), row_of(here.offset, offset_value_));
    }
  }
  // A row of n elements with the same moments.
  void by_row(const T* x, T* y, std::int64_t n, const moments<T>& m) {
    find_factors(m, 1);
    run(x, y, n, mean_value_.row(m.mean, false), factor_value_.row(factors_, false),
        offset_value_.row(m.offset ? m.offset : &m.no_offset, false));
  }

 private:
  static constexpr std::int64_t room = 4096 / sizeof(T);  // three strips stay in a first-level cache

  static void run(const T* x, T* y, std::int64_t n, operand<T> mean, operand<T> factor, operand<T> offset) {
    map_array<T>(normalize{}, y, static_cast<std::size_t>(n), array(x), mean, factor, offset);
  }
  static operand<T> row_of(const T* offset, spread<T>& value) {
    return offset ? array(offset) : value.row(&moments<T>::no_offset, false);
  }
  void find_factors(const moments<T>& m, std::int64_t n) {
    map_array<T>(factor_of_, factors_, static_cast<std::size_t>(n), array(m.variance),
                 m.scale ? array(m.scale) : factor_value_.row(&m.no_scale, false));
  }

  // The n elements at `from` over and over, `size` in all; a copy of few elements costs as much as one of many.
  static void lay_out(const T* from, T* to, std::int64_t n, std::int64_t size) {
    if (from != to) std::copy_n(from, n, to);
    for (std::int64_t done = n; done < size; done *= 2) std::copy_n(to, std::min(done, size - done), to + done);
  }
  void repeated(const T* x, T* y, std::int64_t rows, std::int64_t n, const moments<T>& m) {
    const std::int64_t together = std::min(rows, room / n);
    find_factors(m, n);
    lay_out(factors_, factors_, n, together * n);
    lay_out(m.mean, means_, n, together * n);
    if (m.offset) lay_out(m.offset, offsets_, n, together * n);
    const operand<T> offset = row_of(m.offset ? offsets_ : nullptr, offset_value_);
    for (std::int64_t row = 0; row < rows; row += together)
      run(x + row * n, y + row * n, std::min(together, rows - row) * n, array<T>(means_), array<T>(factors_), offset);
  }

  const factor_of<T> factor_of_;
  HWY_ALIGN T means_[room], factors_[room], offsets_[room];
  spread<T> mean_value_, factor_value_, offset_value_;
};

template <dtype Type, class T = storage_t<Type>>
void FusedBatchNorm(const batch_norm_geometry& g, const T* x, const T* mean, const T* variance, const T* offset,
                    const T* scale, T* y) {
  const moments<T> all{mean, variance, offset, scale};
  // Rows that have the same moments become one.
  broadcast_geometry walk = g.walk;
  const int last = walk.rank - 1;
  const std::int64_t n = walk.dims[last];
  const bool moves = walk.strides[1][last] != 0;
  std::int64_t rows = 1;
  if (moves && last > 0 && walk.strides[1][last - 1] == 0) {
    rows = walk.dims[last - 1];
    walk.dims[last - 1] = rows * n;
    walk.rank = last;
  }
  strips<T> strip(g.epsilon);
  for_rows<2>(walk, [&](const std::int64_t* offsets, std::int64_t start) HWY_ATTR {
    const moments<T> here = all.at(offsets[1]);
    if (moves) strip.by_column(x + start, y + start, rows, n, here);
    else strip.by_row(x + start, y + start, n, here);
  });
}

}  // namespace

KG_DEFINE_KERNELS(KG_BATCH_KERNELS)

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/common/dispatch.h"

namespace kerngrad::kernels {

KG_DISPATCH_KERNELS(KG_BATCH_KERNELS)

}  // namespace kerngrad::kernels
#endif
