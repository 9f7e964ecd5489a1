// SPDX-License-Identifier: Apache-2.0
// Makes the plans of Fourier transforms and keeps those that a thread used last; plain C++. For kernels/fft/fft.cc,
// which includes it once.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <type_traits>
#include <utility>
#include <vector>

#include "kernels/common/in_use.h"
#include "kernels/common/per_thread.h"
#include "kernels/common/scratch.h"
#include "kernels/common/sizes.h"
#include "kernels/fft/plan.h"

namespace kerngrad::kernels {
namespace fft_plans {

using number = std::complex<double>;

// exp(-2 pi i k / n), 0 <= k < n, to the last place or two of double precision: the angle is brought into an eighth of
// the circle first, as a fraction and so without an error.
inline number root_of_one(std::int64_t k, std::int64_t n) {
  const bool lower = 2 * k > n;  // the conjugate of the one above
  if (lower) k = n - k;
  const bool left = 4 * k > n;  // mirrored at the imaginary axis; k / n is now counted in halves
  std::int64_t twice = 2 * k;
  if (left) twice = n - twice;
  const bool steep = 4 * twice > n;  // the other leg of the triangle; quarters
  std::int64_t quarters = 2 * twice;
  if (steep) quarters = n - quarters;
  const double angle = 1.5707963267948966192 * static_cast<double>(quarters) / static_cast<double>(n);
  double c = std::cos(angle), s = std::sin(angle);
  if (steep) std::swap(c, s);
  if (left) c = -c;
  return {c, lower ? s : -s};
}

inline number times(number a, number b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// The roots of one of an order. For float32 the product of two of them, which is right far beyond its last place.
class roots {
 public:
  roots(std::int64_t order, bool in_double) : order_(order) {
    if (in_double || order < 4096) return;
    fine_ = room_.reach(sum_of(step_, order / step_ + 1));
    coarse_ = fine_ + step_;
    for (std::int64_t k = 0; k < step_; ++k) fine_[k] = root_of_one(k, order);
    for (std::int64_t k = 0; k * step_ < order; ++k) coarse_[k] = root_of_one(k * step_, order);
  }
  number at(std::int64_t k) const {
    if (!fine_) return root_of_one(k, order_);
    return times(coarse_[k / step_], fine_[k % step_]);
  }

 private:
  static constexpr std::int64_t step_ = 512;
  std::int64_t order_;
  scratch<number> room_;
  number *fine_ = nullptr, *coarse_ = nullptr;
};

inline bool has_large_factor(std::int64_t n) {
  for (const std::int64_t p : {2, 3, 5})
    while (n % p == 0) n /= p;
  return n > 1;
}

// ------------------------------------------------------------------------------------------ passes

// Powers of two first: then `before` is soon a multiple of the vectors' length. The first pass and a tiled second one
// have radix 4; of an odd number of twos the last three are one pass.
inline std::vector<int> radices_of(std::int64_t n) {
  std::vector<int> all;
  int twos = 0;
  for (; n % 2 == 0; n /= 2) ++twos;
  const bool ends_with_eight = twos % 2 == 1 && twos >= 5;
  for (int left = ends_with_eight ? twos - 3 : twos; left > 0; left -= 2) all.push_back(left == 1 ? 2 : 4);
  if (ends_with_eight) all.push_back(8);
  for (; n % 3 == 0; n /= 3) all.push_back(3);
  for (; n % 5 == 0; n /= 5) all.push_back(5);
  return all;
}

// Lengths that have plans with `pairs`. Longer rows are no faster so, as the factors take twice the memory.
inline bool has_pairs(std::int64_t n) {
  return n >= 32 && n <= 8192 && std::has_single_bit(static_cast<std::uint64_t>(n));
}

// The radices of a plan with `pairs`.
inline std::vector<int> radices_of_pairs(std::int64_t n) {
  std::vector<int> all = {8};
  int twos = std::bit_width(static_cast<std::uint64_t>(n)) - 4;
  for (; twos % 3 != 0; twos -= 2) all.push_back(4);
  all.insert(all.end(), static_cast<std::size_t>(twos / 3), 8);
  return all;
}

// Half of the distance in bytes of the points that a last pass of radix 8 reads, as far as it counts modulo 4096. Too
// little for short rows.
template <class T>
std::size_t shift_of_work(std::int64_t n) {
  const std::size_t half = std::min<std::size_t>(4096, static_cast<std::size_t>(n) / 4 * sizeof(T)) / 2;
  return half < 256 ? 0 : half;
}

// Fills in factors in the order in which they are read, from `to` on; counts them only where that is null.
template <class T>
class factor_writer {
 public:
  explicit factor_writer(T* to) : to_(to) {}
  const T* at() const { return to_ ? to_ + count_ : nullptr; }
  std::int64_t count() const { return count_; }
  void write(std::int64_t at, double value) {
    if (to_) to_[count_ + at] = static_cast<T>(value);
  }
  bool fills() const { return to_ != nullptr; }
  void advance(std::int64_t by) { count_ = sum_of(count_, by, 63) / 64 * 64; }  // whole vectors, lines of the cache

 private:
  T* to_;
  std::int64_t count_ = 0;
};

// The p whose points are at index i of what a tiled first pass has written.
inline std::int64_t group_in_tile(std::int64_t i, std::int64_t lanes) {
  const std::int64_t tile = i / (4 * lanes), vector = i / lanes % 4, block = i % lanes / 4;
  return tile * lanes + 4 * block + vector;
}

// Real parts, then imaginary parts, for each k.
template <class T, class GroupAt>
void write_by_points(factor_writer<T>& to, fft_pass<T>& pass, const roots& w, std::int64_t unit, std::int64_t points,
                     const GroupAt& group_at) {
  pass.factors = to.at();
  for (int k = 1; k < pass.radix && to.fills(); ++k)
    for (std::int64_t i = 0; i < points; ++i) {
      const number f = w.at(group_at(i) * k * unit);
      to.write(2 * (k - 1) * points + i, f.real());
      to.write((2 * (k - 1) + 1) * points + i, f.imag());
    }
  to.advance(product_of(2 * (pass.radix - 1), points));
}

template <class T>
void write_by_groups(factor_writer<T>& to, fft_pass<T>& pass, const roots& w, std::int64_t unit) {
  pass.factors = to.at();
  const std::int64_t each = pass.radix - 1;
  for (std::int64_t p = 0; p < pass.groups && to.fills(); ++p)
    for (std::int64_t k = 1; k < pass.radix; ++k) {
      const number f = w.at(p * k * unit);
      to.write(2 * (each * p + k - 1), f.real());
      to.write(2 * (each * p + k - 1) + 1, f.imag());
    }
  to.advance(product_of(2 * each, pass.groups));
}

// For each k vectors of `points` points, which are those of as many groups or of the same one.
template <class T>
void write_pairs(factor_writer<T>& to, fft_pass<T>& pass, const roots& w, std::int64_t unit, std::int64_t points,
                 bool same) {
  pass.factors = to.at();
  const std::int64_t steps = same ? pass.groups : pass.groups / points;
  std::int64_t at = 0;
  for (std::int64_t step = 0; step < steps && to.fills(); ++step)
    for (int k = 1; k < pass.radix; ++k, at += 4 * points)
      for (std::int64_t i = 0; i < points; ++i) {
        const number f = w.at((same ? step : step * points + i) * k * unit);
        to.write(at + 2 * i, f.real());
        to.write(at + 2 * i + 1, f.real());
        to.write(at + 2 * (points + i), -f.imag());
        to.write(at + 2 * (points + i) + 1, f.imag());
      }
  to.advance(product_of(4 * (pass.radix - 1), points, steps));
}

template <class T>
void write_passes(fft_plan<T>& plan, const std::vector<int>& radices, const roots& w, std::int64_t lanes,
                  factor_writer<T>& to) {
  std::int64_t before = 1;
  plan.pass_count = 0;
  for (const int radix : radices) {
    const int at = plan.pass_count++;
    fft_pass<T>& pass = plan.passes[static_cast<std::size_t>(at)];
    pass = {.radix = radix, .groups = plan.length / before / radix, .before = before};
    const auto in_order = [](std::int64_t p) { return p; };
    const auto in_tiles = [&](std::int64_t i) { return group_in_tile(i, lanes); };
    if (plan.pairs) {
      constexpr std::int64_t block = 8 / static_cast<std::int64_t>(sizeof(T));
      const std::int64_t points = std::min(lanes, static_cast<std::int64_t>(most_of_pairs<T>)) / 2;
      if (pass.groups > 1) write_pairs(to, pass, w, before, at == 0 ? points : block, at > 0);
    } else if (at == 0) {
      write_by_points(to, pass, w, before, pass.groups, in_order);
    } else if (at == 1 && plan.tiled) {
      write_by_points(to, pass, w, before, plan.length / radix, in_tiles);
    } else if (pass.groups > 1) {
      write_by_groups(to, pass, w, before);
    }
    before *= radix;
  }
}

template <class T>
void make_passes(fft_plan<T>& plan, std::size_t lanes) {
  plan.pairs = lanes * sizeof(T) >= 16 && has_pairs(plan.length);
  if (plan.pairs) plan.shift = shift_of_work<T>(plan.length);
  const std::vector<int> radices = plan.pairs ? radices_of_pairs(plan.length) : radices_of(plan.length);
  const std::int64_t wide = static_cast<std::int64_t>(lanes);
  // Blocks are four floats; a tile is four vectors, of each of which the second pass reads four from distant addresses.
  plan.tiled = !plan.pairs && sizeof(T) == 4 && (lanes == 4 || lanes == 8 || lanes == 16) &&
               plan.length % (16 * wide) == 0 && radices.size() > 2 && radices[1] == 4;
  const roots w(plan.length, sizeof(T) == 8);
  factor_writer<T> counted(nullptr);
  write_passes(plan, radices, w, wide, counted);
  const std::size_t numbers = extent(sum_of(counted.count(), 64));
  plan.bytes = extent(static_cast<std::int64_t>(numbers), sizeof(T));
  const bytes_in_use making(plan.bytes);
  plan.memory = std::make_unique<aligned_numbers<T>>(numbers);
  factor_writer<T> filled(plan.memory->data());
  write_passes(plan, radices, w, wide, filled);
}

// ------------------------------------------------------------------------------------------ Bluestein

// The length of the convolution of n points: at least 2 n - 1, without prime factors above 5, the one whose passes read
// the fewest points. Multiples of 16 fill vectors.
inline std::int64_t convolution_length(std::int64_t n) {
  const std::int64_t least = 2 * n - 1;
  std::int64_t best = 0, fewest = most_size;
  for (std::int64_t fives = 1; fives <= 125; fives *= 5)
    for (std::int64_t odd = fives; odd <= 243 * fives; odd *= 3) {
      std::int64_t length = 16 * odd;
      while (length < least) length *= 2;
      const std::size_t passes = has_pairs(length) ? radices_of_pairs(length).size() : radices_of(length).size();
      const std::int64_t points = saturated_product(length, passes);
      if (points < fewest) fewest = points, best = length;
    }
  return best;
}

// The transform of x in double precision by the passes of plan.h, of n points without prime factors above 5; it comes
// back in x, and `room` has as many numbers.
inline void transform_in_double(number* x, number* room, std::int64_t n, const number* w) {
  number *from = x, *to = room;
  std::int64_t before = 1;
  for (const std::int64_t radix : radices_of(n)) {
    const std::int64_t groups = n / before / radix;
    for (std::int64_t p = 0; p < groups; ++p)
      for (std::int64_t k = 0; k < radix; ++k)
        for (std::int64_t q = 0; q < before; ++q) {
          number sum = from[q + before * p];
          for (std::int64_t j = 1; j < radix; ++j)
            sum += times(from[q + before * (p + groups * j)], w[k * j % radix * (n / radix)]);
          to[q + before * (radix * p + k)] = times(sum, w[k * p * before]);
        }
    before *= radix;
    std::swap(from, to);
  }
  if (from != x) std::copy_n(from, n, x);
}

template <class T>
void make_chirp(fft_plan<T>& plan, std::size_t lanes) {
  const std::int64_t n = plan.length;
  const std::int64_t padded = convolution_length(n);
  const plan_in_use<T> inner = plan_of_complex<T>(padded, lanes);
  plan.inner = inner.kept.plan;
  const std::size_t numbers = extent(2, sum_of(n, padded)), own = extent(2, sum_of(n, padded), sizeof(T));
  const bytes_in_use making(own);
  plan.memory = std::make_unique<aligned_numbers<T>>(numbers);
  plan.bytes = own + inner->bytes;
  T *chirp = plan.memory->data(), *spectrum = chirp + 2 * n;
  scratch<number> room;
  number *const b = room.reach(product_of(3, padded)), *const w = b + 2 * padded;
  std::fill_n(b, padded, number{});
  for (std::int64_t k = 0; k < padded; ++k) w[k] = root_of_one(k, padded);
  std::int64_t square = 0;  // t^2 modulo 2 n, from the square before
  for (std::int64_t t = 0; t < n; ++t) {
    const number c = root_of_one(square, 2 * n);
    chirp[2 * t] = static_cast<T>(c.real());
    chirp[2 * t + 1] = static_cast<T>(c.imag());
    b[t] = b[(padded - t) % padded] = std::conj(c);
    square = (square + 2 * t + 1) % (2 * n);
  }
  transform_in_double(b, b + padded, padded, w);
  for (std::int64_t k = 0; k < padded; ++k) {
    const number s = b[k] / static_cast<double>(padded);
    spectrum[2 * k] = static_cast<T>(s.real());
    spectrum[2 * k + 1] = static_cast<T>(s.imag());
  }
  plan.chirp = chirp;
  plan.spectrum = spectrum;
}

// ------------------------------------------------------------------------------------------ Rader

// True for primes p whose p - 1 has no prime factors above 5: a convolution of that length is less than half as long as
// Bluestein's. It is slower for a few points, and where p - 1 has a single 2. Indices are kept in 32 bits, and their
// products in 64.
inline bool has_order(std::int64_t n) {
  if (n < 17 || n > INT32_MAX || n % 4 != 1 || has_large_factor(n - 1)) return false;
  for (std::int64_t d = 2; d * d <= n; ++d)
    if (n % d == 0) return false;
  return true;
}

inline std::int64_t power_modulo(std::int64_t base, std::int64_t exponent, std::int64_t n) {
  std::int64_t y = 1;
  for (; exponent > 0; exponent /= 2, base = base * base % n)
    if (exponent % 2 == 1) y = y * base % n;
  return y;
}

// The least number of which all of 1 to n - 1 are powers modulo the prime n.
inline std::int64_t generator_modulo(std::int64_t n) {
  const auto generates = [&](std::int64_t g) {
    for (const std::int64_t factor : {2, 3, 5})
      if ((n - 1) % factor == 0 && power_modulo(g, (n - 1) / factor, n) == 1) return false;
    return true;
  };
  std::int64_t g = 2;
  while (!generates(g)) ++g;
  return g;
}

template <class T>
void make_order(fft_plan<T>& plan, std::size_t lanes) {
  const std::int64_t n = plan.length, count = n - 1;
  const plan_in_use<T> inner = plan_of_complex<T>(count, lanes);
  plan.inner = inner.kept.plan;
  const std::size_t own = extent(sum_of(product_of(2, sizeof(T)), sizeof(std::uint32_t)), count);
  const bytes_in_use making(own);
  plan.memory = std::make_unique<aligned_numbers<T>>(extent(2, count));
  plan.order_memory = std::make_unique<aligned_numbers<std::uint32_t>>(extent(count));
  plan.bytes = own + inner->bytes;
  T* const spectrum = plan.memory->data();
  std::uint32_t* const order = plan.order_memory->data();
  scratch<number> room;
  number *const b = room.reach(product_of(3, count)), *const w = b + 2 * count;
  const std::int64_t g = generator_modulo(n);
  std::int64_t power = 1;
  for (std::int64_t q = 0; q < count; ++q, power = power * g % n) {
    order[q] = static_cast<std::uint32_t>(power);
    b[(count - q) % count] = root_of_one(power, n);
    w[q] = root_of_one(q, count);
  }
  transform_in_double(b, b + count, count, w);
  for (std::int64_t k = 0; k < count; ++k) {
    const number s = b[k] / static_cast<double>(count);
    spectrum[2 * k] = static_cast<T>(s.real());
    spectrum[2 * k + 1] = static_cast<T>(s.imag());
  }
  plan.order = order;
  plan.spectrum = spectrum;
}

// ------------------------------------------------------------------------------------------ plans that are kept

// The longest transform: its plan is counted in bytes.
inline constexpr std::int64_t longest = std::int64_t{1} << 40;

template <class T>
std::shared_ptr<const fft_plan<T>> made_complex(std::int64_t length, std::size_t lanes) {
  const auto plan = std::make_shared<fft_plan<T>>();
  plan->length = length;
  if (has_order(length)) make_order(*plan, lanes);
  else if (has_large_factor(length)) make_chirp(*plan, lanes);
  else make_passes(*plan, lanes);
  plan->work = plan->inner ? sum_of(product_of(4, plan->inner->length), plan->inner->work) : work_of_passes(*plan);
  return plan;
}

template <class T>
std::shared_ptr<const fft_plan<T>> made_real(std::int64_t length, std::size_t lanes) {
  const auto plan = std::make_shared<fft_plan<T>>();
  plan->length = length;
  const plan_in_use<T> inner = plan_of_complex<T>(length / 2, lanes);
  plan->inner = inner.kept.plan;
  plan->turn_count = length / 4 + 1;
  const std::size_t numbers = extent(2, plan->turn_count), own = extent(2, plan->turn_count, sizeof(T));
  const bytes_in_use making(own);
  plan->memory = std::make_unique<aligned_numbers<T>>(numbers);
  plan->bytes = own + inner->bytes;
  T* turns = plan->memory->data();
  const roots w(length, sizeof(T) == 8);
  for (std::int64_t k = 0; k < plan->turn_count; ++k) {
    turns[k] = static_cast<T>(w.at(k).real());
    turns[plan->turn_count + k] = static_cast<T>(w.at(k).imag());
  }
  plan->turns = turns;
  return plan;
}

// Plans that a thread keeps: a few, the last used first, of so many bytes together, and those in use.
inline constexpr std::size_t most_plans = 16, most_bytes = std::size_t{1} << 25;

template <class T>
struct kept_plans {
  std::vector<std::unique_ptr<kept_plan<T>>> all;
};

template <class T>
[[gnu::noinline]] kept_plan<T>& plan_beyond_first(std::int64_t length, std::size_t lanes, bool real) {
  std::vector<std::unique_ptr<kept_plan<T>>>& all = thread_object<kept_plans<T>>::get().all;
  const auto same = [&](const std::unique_ptr<kept_plan<T>>& kept) {
    return kept->plan->length == length && kept->lanes == lanes && kept->real == real;
  };
  if (const auto found = std::find_if(all.begin(), all.end(), same); found != all.end()) {
    std::rotate(all.begin(), found, found + 1);
    return *all.front();
  }
  if (length > longest) refuse_size();
  auto plan = real ? made_real<T>(length, lanes) : made_complex<T>(length, lanes);
  all.insert(all.begin(), std::make_unique<kept_plan<T>>(lanes, real, std::move(plan)));
  std::size_t bytes = 0, count = 0;
  std::erase_if(all, [&](const std::unique_ptr<kept_plan<T>>& kept) {
    bytes += kept->plan->bytes;
    return count++ > 0 && (count > most_plans || bytes > most_bytes) && kept->users == 0;
  });
  return *all.front();
}

// The plan that the thread used last is found without a call.
template <class T>
kept_plan<T>& plan_for(std::int64_t length, std::size_t lanes, bool real) {
  if (const kept_plans<T>* mine = thread_object<kept_plans<T>>::peek(); mine && !mine->all.empty()) {
    kept_plan<T>& first = *mine->all.front();
    if (first.plan->length == length && first.lanes == lanes && first.real == real) return first;
  }
  return plan_beyond_first<T>(length, lanes, real);
}

}  // namespace fft_plans

template <class T>
plan_in_use<T> plan_of_complex(std::int64_t length, std::size_t lanes) {
  return plan_in_use<T>(fft_plans::plan_for<T>(length, lanes, false));
}
template <class T>
plan_in_use<T> plan_of_real(std::int64_t length, std::size_t lanes) {
  return plan_in_use<T>(fft_plans::plan_for<T>(length, lanes, true));
}

}  // namespace kerngrad::kernels
