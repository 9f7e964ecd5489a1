// SPDX-License-Identifier: Apache-2.0
#include "tools/accuracy/sweep.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <future>
#include <mutex>
#include <tuple>

namespace kgaccuracy {
namespace {

// |got - value| in units in the last place of float, as `distance`, in double precision.
double estimated_distance(float got, double value) {
  constexpr double top = 0x1p128;
  const double found = std::isinf(got) ? std::copysign(top, got) : got;
  value = std::clamp(value, -top, top);
  const int exponent = static_cast<int>(std::bit_cast<std::uint64_t>(std::fabs(value)) >> 52) - 1023;
  const int last_place = std::clamp(exponent, -126, 127) - 23;
  return std::fabs(found - value) * std::bit_cast<double>(static_cast<std::uint64_t>(1023 - last_place) << 52);
}

// Calls work(block) for all blocks from several threads and reports after each.
template <class Work>
void in_threads(std::uint64_t blocks, const options& how, Work work) {
  std::atomic<std::uint64_t> next{0};
  std::mutex reporting;
  std::uint64_t finished = 0;
  const auto run = [&] {
    for (std::uint64_t block; (block = next++) < blocks;) {
      work(block);
      const std::scoped_lock lock(reporting);
      ++finished;
      if (how.progress) how.progress(static_cast<double>(finished) / static_cast<double>(blocks));
    }
  };
  std::vector<std::future<void>> others;
  for (int i = 1; i < how.threads; ++i) others.push_back(std::async(std::launch::async, run));
  run();
  for (std::future<void>& other : others) other.get();
}

// Orders equal errors by operands, positive ones before negative, whichever thread comes first.
bool is_worse(const finding& one, const finding& other) {
  const auto order = [](const finding& f) {
    return std::tuple(-f.error, std::signbit(f.a), std::fabs(f.a), std::signbit(f.b), std::fabs(f.b));
  };
  return one.error > 0 && order(one) < order(other);
}

// The greatest finding of all threads.
class worst_finding {
 public:
  void add(const finding& one) {
    const std::scoped_lock lock(mutex_);
    if (is_worse(one, worst_)) worst_ = one;
  }
  finding get() {
    const std::scoped_lock lock(mutex_);
    return worst_;
  }

 private:
  std::mutex mutex_;
  finding worst_;
};

// True if MPFR has to be asked: the estimate does not tell, or the error may be larger than all so far.
bool is_candidate(float got, double estimate, double threshold) {
  if (std::isnan(got) || std::isnan(estimate)) return std::isnan(got) != std::isnan(estimate);
  if (got == estimate) return false;
  return estimated_distance(got, estimate) + estimate_margin > threshold;
}

// The worst element of one block of float operands.
finding worst_of_block(const std::vector<float>& x, const std::vector<float>& y, const wanted_of_one& wanted,
                       double threshold) {
  finding worst;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (!is_candidate(y[i], wanted.estimate(x[i]), std::max(threshold, worst.error))) continue;
    const long double exact = wanted.exact(x[i]);
    const finding one{distance(y[i], exact), x[i], 0, y[i], exact};
    if (is_worse(one, worst)) worst = one;
  }
  return worst;
}

// f(i) for each point, in threads; blocks of a size that shows progress.
template <class T, class Exact>
finding compare(const std::vector<T>& y, const options& how, Exact exact) {
  constexpr std::size_t block_size = 4096;
  worst_finding worst;
  in_threads((y.size() + block_size - 1) / block_size, how, [&](std::uint64_t block) {
    finding here;
    const std::size_t begin = block * block_size, end = std::min(y.size(), begin + block_size);
    for (std::size_t i = begin; i < end; ++i) {
      finding one = exact(i);
      one.got = y[i];
      one.error = distance(y[i], one.wanted);
      if (is_worse(one, here)) here = one;
    }
    worst.add(here);
  });
  return worst.get();
}

}  // namespace

finding sweep_floats(const on_elements<float>& f, const wanted_of_one& wanted, bool exact, const options& how) {
  constexpr std::uint64_t all = std::uint64_t{1} << 32, block_size = std::uint64_t{1} << 20;
  const double floor = exact ? 0 : 0.5;
  worst_finding worst;
  in_threads(all / block_size, how, [&](std::uint64_t block) {
    std::vector<float> x;
    const std::uint64_t begin = block * block_size, end = begin + block_size;
    for (std::uint64_t bits = (begin + how.stride - 1) / how.stride * how.stride; bits < end; bits += how.stride) {
      const float value = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
      if (!wanted.covers || wanted.covers(value)) x.push_back(value);
    }
    if (x.empty()) return;
    std::vector<float> y(x.size());
    f(x.data(), y.data(), x.size());
    worst.add(worst_of_block(x, y, wanted, std::max(floor, worst.get().error)));
  });
  return worst.get();
}

std::vector<std::pair<double, double>> error_curve(const on_elements<float>& f, const wanted_of_one& wanted, double low,
                                                   double high) {
  constexpr std::size_t parts = 400, in_each = 500;
  words next;
  std::vector<std::pair<double, double>> curve;
  for (std::size_t part = 0; part < parts; ++part) {
    const double width = (high - low) / parts, begin = low + width * static_cast<double>(part);
    std::vector<float> x(in_each), y(in_each);
    for (float& value : x) value = static_cast<float>(begin + width * next.unit());
    f(x.data(), y.data(), in_each);
    double worst = 0;
    for (std::size_t i = 0; i < in_each; ++i) worst = std::max(worst, distance(y[i], wanted.exact(x[i])));
    curve.emplace_back(begin + width / 2, worst);
  }
  return curve;
}

template <class T>
finding sample(const on_elements<T>& f, const wanted_of_one& wanted, const options& how) {
  std::vector<T> x = points<T>(how.samples);
  if (wanted.covers) std::erase_if(x, [&](T value) { return !wanted.covers(value); });
  std::vector<T> y(x.size());
  f(x.data(), y.data(), x.size());
  return compare(y, how, [&](std::size_t i) { return finding{0, x[i], 0, 0, wanted.exact(x[i])}; });
}
template finding sample(const on_elements<float>&, const wanted_of_one&, const options&);
template finding sample(const on_elements<double>&, const wanted_of_one&, const options&);

template <class T>
finding sample_pairs(const on_pairs<T>& f, const pairs<T>& at, const wanted_of_two& wanted, bool where_defined,
                     const options& how) {
  std::vector<T> y(at.a.size());
  f(at.a.data(), at.b.data(), y.data(), y.size());
  return compare(y, how, [&](std::size_t i) {
    const long double exact = wanted(at.a[i], at.b[i]);
    return finding{0, at.a[i], at.b[i], 0, std::isnan(exact) && where_defined ? static_cast<long double>(y[i]) : exact};
  });
}
template finding sample_pairs(const on_pairs<float>&, const pairs<float>&, const wanted_of_two&, bool, const options&);
template finding sample_pairs(const on_pairs<double>&, const pairs<double>&, const wanted_of_two&, bool,
                              const options&);

}  // namespace kgaccuracy
