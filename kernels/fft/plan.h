// SPDX-License-Identifier: Apache-2.0
// How a Fourier transform of a length is computed, and the roots of one that it takes; plain C++. Private to kernels/.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

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
  /// read. In a plan with `pairs` a factor is a vector with its real part in all lanes, and one with its imaginary
  /// part, negated in even lanes. The first pass has these vectors for each k from 1 on, once for each vector that it
  /// reads. A middle pass has blocks of 16 bytes of them for each p and each k.
  const T* factors = nullptr;
};

/// Numbers in the longest vectors of a plan with `pairs`: two blocks of 16 bytes.
template <class T> inline constexpr std::size_t most_of_pairs = 32 / sizeof(T);

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
  /// Numbers that a complex transform needs next to operand and result.
  std::int64_t work = 0;
  std::size_t bytes = 0;

  // Lengths without prime factors above 5: passes, the last one without factors.
  std::array<fft_pass<T>, 64> passes{};
  int pass_count = 0;
  /// The first two passes have radix 4, and what is between them is not in order: in each tile of four vectors of
  /// `lanes` points, blocks of four points of vector c of the tile are those of group c of each block.
  bool tiled = false;
  /// Parts stay in pairs between passes. The radices are 8, which is the first one, and 4.
  bool pairs = false;
  /// Bytes from the result's place to that of `work`, modulo twice as many; 0 if the places do not matter. CPUs compare
  /// the low twelve bits of addresses: a load right behind a store with the same ones waits for it.
  std::size_t shift = 0;

  /// Other lengths (Bluestein 1970): chirp[t] = exp(-pi i t^2 / length); the transform is chirp times the convolution
  /// of chirp times x with the conjugate of chirp, which a transform of `inner->length` points computes. `spectrum` is
  /// that of the latter, divided by this number. Both are pairs of parts.
  const T* chirp = nullptr;
  const T* spectrum = nullptr;
  /// Primes p with p - 1 = `inner->length` (Rader 1968): order[q] is power q of a generator of the numbers 1 to p - 1
  /// modulo p. The points in this order, convolved with the roots exp(-2 pi i order[-q] / p), plus point 0 are the
  /// transform in the opposite order. `spectrum` is that of these roots, divided by p - 1.
  const std::uint32_t* order = nullptr;
  /// Real transforms of an even length are complex ones of half of it, `inner`; `turns` has exp(-2 pi i k / length) for
  /// k to length / 4 at least, real parts first.
  const T* turns = nullptr;
  std::int64_t turn_count = 0;
  std::shared_ptr<const fft_plan> inner;
  std::unique_ptr<aligned_numbers<T>> memory;
  std::unique_ptr<aligned_numbers<std::uint32_t>> order_memory;
};

/// How far the real parts of n points lie before the imaginary ones while a transform runs: not a power of two, or all
/// parts of a butterfly would want the same lines of a cache.
template <class T>
constexpr std::int64_t parts_apart(std::int64_t n) {
  return sum_of(n, 192 / static_cast<std::int64_t>(sizeof(T)));
}
/// Numbers that passes need next to operand and result: points twice, each pass from one half to the other.
template <class T>
std::int64_t work_of_passes(const fft_plan<T>& plan) {
  if (plan.pairs)
    return sum_of(product_of(2, plan.length), 2 * plan.shift / sizeof(T));  // the other half is the result's
  return product_of(4, parts_apart<T>(plan.length));
}

/// A plan that a thread keeps. `users` are calls of this thread which run by it, so that no count is shared.
template <class T>
struct kept_plan {
  std::size_t lanes;
  bool real;
  std::shared_ptr<const fft_plan<T>> plan;
  int users = 0;
};

/// A plan while a call uses it: it is kept, and its tables count under the memory limit.
template <class T>
struct plan_in_use {
  explicit plan_in_use(kept_plan<T>& used) : counted(used.plan->bytes), kept(used) { ++kept.users; }
  plan_in_use(const plan_in_use&) = delete;
  plan_in_use& operator=(const plan_in_use&) = delete;
  ~plan_in_use() { --kept.users; }
  const fft_plan<T>& operator*() const { return *kept.plan; }
  const fft_plan<T>* operator->() const { return kept.plan.get(); }

  bytes_in_use counted;
  kept_plan<T>& kept;
};

/// The plan of complex transforms of that many points with vectors of `lanes` elements, and that of real ones of an
/// even number. A thread keeps the ones that it used last, of at most 32 MiB together. May throw std::bad_alloc, or
/// kg::error for a size or where the memory limit leaves too little.
template <class T>
plan_in_use<T> plan_of_complex(std::int64_t length, std::size_t lanes);
template <class T>
plan_in_use<T> plan_of_real(std::int64_t length, std::size_t lanes);

}  // namespace kerngrad::kernels
