// SPDX-License-Identifier: Apache-2.0
// How a Fourier transform of a length is computed, and the roots of one that it takes; plain C++. Private to kernels/.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include "kernels/common/in_use.h"
#include "kernels/common/sizes.h"

namespace kerngrad::kernels {

/// One pass over all points: with `before` the product of the radices of earlier passes, point
/// q + before * (p + groups * j) of x gives, for q < before, p < groups and k < radix,
///   y[q + before * (radix * p + k)] = w^(k p) * sum over j < radix of x[...] exp(-2 pi i k j / radix)
/// with w = exp(-2 pi i / (radix * groups)). This is Stockham's way: points come out in order (Van Loan 1992, 1.7).
template <class T>
struct fft_pass {
  int radix = 0;
  std::int64_t groups = 0, before = 0;
  /// The powers of w. For a middle pass: real and imaginary part for each p and each k from 1 on. For the first one and
  /// a tiled second one: for each k from 1 on all real parts, then all imaginary parts, in the order of the points
  /// read.
  const T* factors = nullptr;
};

/// Numbers on lines of the cache.
template <class T>
class aligned_numbers {
 public:
  explicit aligned_numbers(std::size_t count)
      : data_(static_cast<T*>(::operator new(count * sizeof(T), std::align_val_t{64}))) {}
  T* data() const { return data_.get(); }

 private:
  struct release {
    void operator()(T* p) const { ::operator delete(p, std::align_val_t{64}); }
  };
  std::unique_ptr<T, release> data_;
};

/// Facts of a length, computed once.
template <class T>
struct fft_plan {
  std::int64_t length = 0;
  std::size_t bytes = 0;

  // Lengths without prime factors above 5: passes, the last one without factors.
  std::array<fft_pass<T>, 64> passes{};
  int pass_count = 0;
  /// The first two passes have radix 4, and what is between them is not in order: in each tile of four vectors of
  /// `lanes` points, blocks of four points of vector c of the tile are those of group c of each block.
  bool tiled = false;

  /// Other lengths (Bluestein 1970): chirp[t] = exp(-pi i t^2 / length); the transform is chirp times the convolution
  /// of chirp times x with the conjugate of chirp, which a transform of `inner->length` points computes. `spectrum` is
  /// that of the latter, divided by this number. Both are pairs of parts.
  const T* chirp = nullptr;
  const T* spectrum = nullptr;
  /// Real transforms of an even length are complex ones of half of it, `inner`; `turns` has exp(-2 pi i k / length) for
  /// k to length / 4 at least, real parts first.
  const T* turns = nullptr;
  std::int64_t turn_count = 0;
  std::shared_ptr<const fft_plan> inner;
  std::unique_ptr<aligned_numbers<T>> memory;
};

/// How far the real parts of n points lie before the imaginary ones while a transform runs: not a power of two, or all
/// parts of a butterfly would want the same lines of a cache.
template <class T>
constexpr std::int64_t parts_apart(std::int64_t n) {
  return sum_of(n, 192 / static_cast<std::int64_t>(sizeof(T)));
}
/// Numbers that passes need next to operand and result: points twice, each pass from one place to the other.
template <class T>
std::int64_t work_of_passes(const fft_plan<T>& plan) {
  return product_of(4, parts_apart<T>(plan.length));
}

/// A plan while a call uses it: its tables count under the memory limit.
template <class T>
struct plan_in_use {
  explicit plan_in_use(std::shared_ptr<const fft_plan<T>> used) : plan(std::move(used)), counted(plan->bytes) {}
  const fft_plan<T>& operator*() const { return *plan; }
  const fft_plan<T>* operator->() const { return plan.get(); }

  std::shared_ptr<const fft_plan<T>> plan;
  bytes_in_use counted;
};

/// The plan of complex transforms of that many points with vectors of `lanes` elements, and that of real ones of an
/// even number. A thread keeps the ones that it used last, of at most 32 MiB together. May throw std::bad_alloc, or
/// kg::error for a size or where the memory limit leaves too little.
template <class T>
plan_in_use<T> plan_of_complex(std::int64_t length, std::size_t lanes);
template <class T>
plan_in_use<T> plan_of_real(std::int64_t length, std::size_t lanes);

}  // namespace kerngrad::kernels
