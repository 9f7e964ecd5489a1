// SPDX-License-Identifier: Apache-2.0
#include "kernels/random/variates.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/random/variates.cc"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

// Plain loops, of which the compiler makes vectors of each target. All arithmetic is that of single IEEE operations.
HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {

constexpr double pi = 3.14159265358979323846;
constexpr double ln_2_high = 6.93147180369123816490e-01, ln_2_low = 1.90821492927058770002e-10;

template <class To, class From>
To as(From v) {
  To bits;
  std::memcpy(&bits, &v, sizeof bits);
  return bits;
}

// The polynomial of x with these coefficients, the highest power's first. Each product and sum is rounded.
template <class... Coefficients>
inline double polynomial(double x, double highest, Coefficients... others) {
  ((highest = highest * x + others), ...);
  return highest;
}

// log of a positive normal number, as in kernels/create/random.cc. Straight code, so that loops of it are vectors.
inline double portable_log(double u) {
  const std::uint64_t bits = as<std::uint64_t>(u) + (0x3ff0000000000000 - 0x3fe6a09e00000000);
  const std::uint64_t biased = bits >> 52;
  const double f = as<double>(as<std::uint64_t>(u) + 0x3ff0000000000000 - (biased << 52)) - 1.0;
  const double k = as<double>(biased | 0x4330000000000000) - (4503599627370496.0 + 1023.0);
  const double s = f / (2.0 + f), z = s * s, half_square = 0.5 * f * f;
  const double r = polynomial(z, 1.479819860511658591e-01, 1.531383769920937332e-01, 1.818357216161805012e-01,
                              2.222219843214978396e-01, 2.857142874366239149e-01, 3.999999999940941908e-01,
                              6.666666666666735130e-01);
  const double tail = s * (half_square + r * z) + k * ln_2_low;
  return k * ln_2_high - ((half_square - tail) - f);
}

// e^x by the Taylor polynomial of degree 13 within half a factor of 2; 0 below -708. x is at most 709.
inline double portable_exp(double x) {
  constexpr double magic = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer in the low bits
  const double limited = x > -708 ? x : -708, shifted = limited * 1.4426950408889634 + magic, k = shifted - magic;
  const double r = (limited - k * ln_2_high) - k * ln_2_low;
  const double p = polynomial(r, 1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880,
                              1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1.0, 1.0);
  const double y = p * as<double>((as<std::uint64_t>(shifted) + 1023) << 52);
  return x > -708 ? y : 0;
}

// cos(pi u) for u in [0, 1] as -sin(pi (u - 1/2)), by the Taylor polynomial of degree 21.
inline double portable_cos_pi(double u) {
  const double a = pi * (0.5 - u), z = a * a;
  const double p = polynomial(z, 1.0 / 51090942171709440000.0, -1.0 / 121645100408832000, 1.0 / 355687428096000,
                              -1.0 / 1307674368000, 1.0 / 6227020800, -1.0 / 39916800, 1.0 / 362880, -1.0 / 5040,
                              1.0 / 120, -1.0 / 6, 1.0);
  return a * p;
}

// The arc tangent of t >= 0: halved twice by t / (1 + sqrt(1 + t^2)), then its series.
inline double portable_atan(double t) {
  const bool beyond = t > 1;
  double v = beyond ? 1 / t : t;
  for (int i = 0; i < 2; ++i) v = v / (1 + std::sqrt(1 + v * v));
  const double z = v * v;
  const double p = polynomial(z, 1.0 / 25, -1.0 / 23, 1.0 / 21, -1.0 / 19, 1.0 / 17, -1.0 / 15, 1.0 / 13, -1.0 / 11,
                              1.0 / 9, -1.0 / 7, 1.0 / 5, -1.0 / 3, 1.0);
  const double a = 4 * (v * p);
  return beyond ? pi / 2 - a : a;
}

// Uniform numbers of one element: two for each block of Philox 4x32-10. The fourth word of the counter keeps them apart
// from all other samples.
class stream {
 public:
  stream(std::uint64_t seed, std::uint64_t element) : seed_(seed), element_(element) {}
  /// In (0, 1).
  double unit() { return (static_cast<double>(word() >> 11) + 0.5) * 0x1p-53; }
  /// In [0, 1), with 53 even bits: the half that `unit` adds would round the last one.
  double fraction() { return static_cast<double>(word() >> 11) * 0x1p-53; }
  /// Normal, by the polar method (Marsaglia 1964).
  double normal() {
    for (;;) {
      const double a = 2 * unit() - 1, b = 2 * unit() - 1, square = a * a + b * b;
      if (square < 1 && square > 0) return a * std::sqrt(-2 * portable_log(square) / square);
    }
  }

 private:
  std::uint64_t word() {
    if (left_ == 0) next_block();
    return words_[--left_];
  }
  void next_block() {
    std::uint32_t c[4] = {static_cast<std::uint32_t>(element_), static_cast<std::uint32_t>(element_ >> 32), block_++,
                          1};
    std::uint32_t k0 = static_cast<std::uint32_t>(seed_), k1 = static_cast<std::uint32_t>(seed_ >> 32);
    for (int round = 0; round < 10; ++round, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
      const std::uint64_t p0 = std::uint64_t{0xD2511F53u} * c[0], p1 = std::uint64_t{0xCD9E8D57u} * c[2];
      const std::uint32_t next[4] = {static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ k0, static_cast<std::uint32_t>(p1),
                                     static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ k1, static_cast<std::uint32_t>(p0)};
      std::memcpy(c, next, sizeof c);
    }
    words_[0] = c[0] | std::uint64_t{c[1]} << 32;
    words_[1] = c[2] | std::uint64_t{c[3]} << 32;
    left_ = 2;
  }

  std::uint64_t seed_, element_, words_[2] = {};
  std::uint32_t block_ = 0;
  int left_ = 0;
};

// Marsaglia and Tsang's method for a shape of 1 or more.
struct gamma_method {
  double d, c;
  explicit gamma_method(double shape) : d(shape - 1.0 / 3), c(1 / std::sqrt(9 * d)) {}

  // The draw, or 0 if it is rejected: u is in (0, 1).
  double accepted(double normal, double u) const {
    const double base = 1 + c * normal;
    if (!(base > 0)) return 0;
    const double v = base * base * base, square = normal * normal;
    if (u < 1 - 0.0331 * square * square) return d * v;
    return portable_log(u) < 0.5 * square + d * (1 - v + portable_log(v)) ? d * v : 0;
  }
};

template <bool Log>
void gamma_draws(const variates& of, double shape, const gamma_numbers& from, double* y) {
  const bool small = shape < 1;
  const gamma_method method(small ? shape + 1 : shape);
  for (std::size_t i = 0; i < of.count; ++i) {
    stream more(of.seed, of.first + i);
    double value = method.accepted(from.normal[i], 1 - from.u[i]);
    while (value == 0) {
      const double again = more.normal();
      value = method.accepted(again, more.unit());
    }
    y[i] = value;
  }
  // Loops without rejection, of which the compiler makes vectors.
  if (small) {
    for (std::size_t i = 0; i < of.count; ++i) {
      const double log = portable_log(y[i]) + portable_log(1 - from.powers[i]) / shape;
      y[i] = Log ? log : portable_exp(log);
    }
  } else if (Log) {
    for (std::size_t i = 0; i < of.count; ++i) y[i] = portable_log(y[i]);
  }
}

}  // namespace

void exponential_variates(const double* u, double* y, std::size_t count, double rate) {
  for (std::size_t i = 0; i < count; ++i) y[i] = (0 - portable_log(1 - u[i])) / rate;
}

void gamma_variates(const variates& of, double shape, const gamma_numbers& from, double* y) {
  gamma_draws<false>(of, shape, from, y);
}
void log_gamma_variates(const variates& of, double shape, const gamma_numbers& from, double* y) {
  gamma_draws<true>(of, shape, from, y);
}

void von_mises_variates(const variates& of, double concentration, const double* u, const double* v, double* y) {
  // r as Best and Fisher have it. Below 1e-5 their quotient cancels: 1 / k and its next term stand for it.
  const double k = concentration;
  const double tau = 1 + std::sqrt(1 + 4 * k * k), rho = (tau - std::sqrt(2 * tau)) / (2 * k);
  const double r = k < 1e-5 ? 1 / k + k : (1 + rho * rho) / (2 * rho);
  for (std::size_t i = 0; i < of.count; ++i) y[i] = portable_cos_pi(u[i]);
  for (std::size_t i = 0; i < of.count; ++i) {
    stream more(of.seed, of.first + i);
    double z = y[i], limit = v[i];
    for (;;) {
      const double f = (1 + r * z) / (r + z), c = k * (r - f);
      if (c * (2 - c) > limit || portable_log(c / limit) + 1 - c >= 0) {
        // The last bit of the number that decides is the side. The last bit of the cosine keeps it.
        const std::uint64_t side = static_cast<std::uint64_t>(limit * 0x1p53) & 1;
        y[i] = as<double>((as<std::uint64_t>(std::clamp(f, -1.0, 1.0)) & ~std::uint64_t{1}) | side);
        break;
      }
      z = portable_cos_pi(more.unit());
      limit = more.fraction();
    }
  }
  for (std::size_t i = 0; i < of.count; ++i) {
    const std::uint64_t side = as<std::uint64_t>(y[i]) & 1;
    const double cosine = as<double>(as<std::uint64_t>(y[i]) - side);
    const double angle = cosine > -1 ? 2 * portable_atan(std::sqrt((1 - cosine) / (1 + cosine))) : pi;
    y[i] = side != 0 ? -angle : angle;
  }
}

void shares_of_logs(double* y, std::size_t rows, std::size_t size) {
  for (std::size_t row = 0; row < rows; ++row, y += size) {
    const double largest = *std::max_element(y, y + size);
    double sum = 0;
    for (std::size_t i = 0; i < size; ++i) sum += y[i] = portable_exp(y[i] - largest);
    for (std::size_t i = 0; i < size; ++i) y[i] /= sum;
  }
}

}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/common/dispatch.h"

namespace kerngrad::kernels {

KG_DISPATCH_FUNCTION(any, exponential_variates, (const double* u, double* y, std::size_t count, double rate),
                     (u, y, count, rate))
KG_DISPATCH_FUNCTION(any, gamma_variates, (const variates& of, double shape, const gamma_numbers& from, double* y),
                     (of, shape, from, y))
KG_DISPATCH_FUNCTION(any, log_gamma_variates, (const variates& of, double shape, const gamma_numbers& from, double* y),
                     (of, shape, from, y))
KG_DISPATCH_FUNCTION(any, von_mises_variates,
                     (const variates& of, double concentration, const double* u, const double* v, double* y),
                     (of, concentration, u, v, y))
KG_DISPATCH_FUNCTION(any, shares_of_logs, (double* y, std::size_t rows, std::size_t size), (y, rows, size))

// Weights from the mode on to both sides: up(k) is the weight of k + 1 over that of k, down(k) that of k - 1.
template <class Up, class Down>
count_table count_table::around(std::int64_t mode, std::int64_t most, Up up, Down down) {
  constexpr double least_weight = 0x1p-70;  // what is left out is far below the 2^-53 of a uniform number
  count_table table;
  std::vector<double> below, weights = {1};
  std::int64_t k = mode;
  for (double w = 1; k > 0 && w > least_weight; --k) below.push_back(w *= down(k));
  table.least_ = k;
  k = mode;
  for (double w = 1; k < most && w > least_weight; ++k) weights.push_back(w *= up(k));
  table.steps_.assign(below.rbegin(), below.rend());
  table.steps_.insert(table.steps_.end(), weights.begin(), weights.end());
  double sum = 0;
  for (double& step : table.steps_) step = sum += step;
  for (double& step : table.steps_) step /= sum;
  table.steps_.back() = 1;
  const std::size_t size = table.steps_.size();
  table.from_.resize(size);
  std::size_t at = 0;
  for (std::size_t j = 0; j < size; ++j) {
    while (table.steps_[at] <= static_cast<double>(j) / static_cast<double>(size)) ++at;
    table.from_[j] = static_cast<std::uint32_t>(at);
  }
  return table;
}

count_table count_table::poisson(double mean) {
  return around(
      static_cast<std::int64_t>(mean), std::numeric_limits<std::int64_t>::max(),
      [&](std::int64_t k) { return mean / static_cast<double>(k + 1); },
      [&](std::int64_t k) { return static_cast<double>(k) / mean; });
}

count_table count_table::binomial(std::int64_t trials, double probability) {
  if (probability == 1) {
    count_table all = around(0, 0, [](std::int64_t) { return 0.0; }, [](std::int64_t) { return 0.0; });
    all.least_ = trials;
    return all;
  }
  const double odds = probability / (1 - probability), n = static_cast<double>(trials);
  const std::int64_t mode = std::min(trials, static_cast<std::int64_t>((n + 1) * probability));
  return around(
      mode, trials, [&](std::int64_t k) { return (n - static_cast<double>(k)) / static_cast<double>(k + 1) * odds; },
      [&](std::int64_t k) { return static_cast<double>(k) / (n - static_cast<double>(k - 1)) / odds; });
}

void count_table::draw(const double* u, std::int64_t* y, std::size_t count) const {
  const double size = static_cast<double>(steps_.size());
  for (std::size_t i = 0; i < count; ++i) {
    // j / size may be rounded above u, so that the index before it is asked as well.
    std::size_t at = from_[std::min(static_cast<std::size_t>(u[i] * size), from_.size() - 1)];
    while (at > 0 && steps_[at - 1] > u[i]) --at;
    while (steps_[at] <= u[i]) ++at;
    y[i] = least_ + static_cast<std::int64_t>(at);
  }
}

}  // namespace kerngrad::kernels
#endif
