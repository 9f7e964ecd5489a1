// SPDX-License-Identifier: Apache-2.0
// Elementwise kernels between guard pages, at every length and offset that a vector loop may treat apart.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/elementwise/oracle.h"
#include "tests/support/kernels.h"

namespace kgtest {

// A kernel on n elements at plain pointers.
using elementwise_call = std::function<void(const void* const* in, void* out, std::size_t n)>;

// Data of a kernel and what it must give.
struct probe {
  std::string name;
  std::vector<dtype> in;
  dtype out;
  std::vector<column> data;
  std::vector<scalar> expected;
  double ulps = 0;
};

// How many elements away from a guard page the operands and the result are.
struct offsets {
  std::size_t in[3] = {}, out = 0;
};

// Runs n elements starting with element `start` of the data at some offsets from the guard pages.
class guarded_run {
 public:
  explicit guarded_run(const probe& p) : probe_(p), out_begin_(capacity, edge::begin), out_end_(capacity, edge::end) {
    for (std::size_t k = 0; k < p.in.size(); ++k) {
      begin_.push_back(std::make_unique<guarded<std::byte>>(capacity, edge::begin));
      end_.push_back(std::make_unique<guarded<std::byte>>(capacity, edge::end));
    }
  }

  // The result is as expected. False after a mismatch, which is reported.
  bool operator()(const elementwise_call& kernel, std::size_t start, std::size_t n, const offsets& at, edge side) {
    const std::byte* y = result(kernel, start, n, at, side);
    if (!y) return false;
    for (std::size_t i = 0; i < n; ++i) {
      if (agrees(probe_.expected[start + i], y, probe_.out, i, probe_.ulps)) continue;
      report(y, start, i, n);
      return false;
    }
    last_.assign(y, y + n * size_of(probe_.out));
    return true;
  }

  // The result at other offsets has the bits of the one before.
  bool again(const elementwise_call& kernel, std::size_t start, std::size_t n, const offsets& at, edge side) {
    const std::byte* y = result(kernel, start, n, at, side);
    if (!y) return false;
    if (last_.empty() || std::memcmp(y, last_.data(), last_.size()) == 0) return true;
    ADD_FAILURE() << probe_.name << ": other bits of " << n << " elements, " << at.in[0] << " and " << at.in[1]
                  << " elements away from the page in the operands, " << at.out << " in the result";
    return false;
  }

 private:
  static constexpr std::size_t capacity = 16 * (column_size + 64);

  static std::byte* place(guarded<std::byte>& begin, guarded<std::byte>& end, std::size_t n, std::size_t shift,
                          std::size_t size, edge side) {
    return side == edge::begin ? begin.begin() + shift * size : end.end() - (n + shift) * size;
  }

  // Address to which the kernel wrote; null, after a report, if it wrote elsewhere too.
  const std::byte* result(const elementwise_call& kernel, std::size_t start, std::size_t n, const offsets& at,
                          edge side) {
    const void* in[3] = {};
    for (std::size_t k = 0; k < probe_.in.size(); ++k) {
      const std::size_t size = size_of(probe_.in[k]);
      std::byte* p = place(*begin_[k], *end_[k], n, at.in[k], size, side);
      if (n != 0) std::memcpy(p, probe_.data[k].data() + start * size, n * size);
      in[k] = p;
    }
    const std::size_t size = size_of(probe_.out);
    std::byte* y = place(out_begin_, out_end_, n, at.out, size, side);
    auto& whole = side == edge::begin ? out_begin_ : out_end_;
    const std::size_t before = std::min<std::size_t>(64, static_cast<std::size_t>(y - whole.begin()));
    const std::size_t after = std::min<std::size_t>(64, static_cast<std::size_t>(whole.end() - (y + n * size)));
    std::memset(y - before, 0xA5, before + n * size + after);
    kernel(in, y, n);
    const auto touched = [](std::byte b) { return b != std::byte{0xA5}; };
    if (!std::any_of(y - before, y, touched) && !std::any_of(y + n * size, y + n * size + after, touched)) return y;
    ADD_FAILURE() << probe_.name << " wrote outside its " << n << " elements";
    return nullptr;
  }

  void report(const void* y, std::size_t start, std::size_t i, std::size_t n) const {
    std::string text = probe_.name + " of";
    for (std::size_t k = 0; k < probe_.in.size(); ++k) {
      text += " " + show(probe_.data[k].data(), probe_.in[k], start + i);
    }
    const scalar& e = probe_.expected[start + i];
    ADD_FAILURE() << text << " gave " << show(y, probe_.out, i) << ", expected " << static_cast<double>(e.real) << ", "
                  << static_cast<double>(e.imag) << ", " << e.whole << " (element " << i << " of " << n << ")";
  }
  static std::string show(const void* p, dtype type, std::size_t i) {
    const scalar s = read(p, type, i);
    char text[96];
    if (is_whole(type)) std::snprintf(text, sizeof text, "%lld", static_cast<long long>(s.whole));
    else std::snprintf(text, sizeof text, "(%.17Lg, %.9Lg)", s.real, s.imag);
    return text;
  }

  const probe& probe_;
  std::vector<std::unique_ptr<guarded<std::byte>>> begin_, end_;
  guarded<std::byte> out_begin_, out_end_;
  std::vector<std::byte> last_;
};

// The widest vector that there is, and a cache line.
inline constexpr std::size_t widest_vector = 64;

// Each operand and the result at every offset within a vector, mostly at different ones: odd factors reach them all.
inline std::vector<offsets> every_offset(const probe& p) {
  std::size_t smallest = size_of(p.out);
  for (const dtype type : p.in) smallest = std::min(smallest, size_of(type));
  const std::size_t count = widest_vector / smallest;
  std::vector<offsets> all;
  for (std::size_t i = 0; i < count; ++i)
    all.push_back({{i, (3 * i + 1) % count, (5 * i + 2) % count}, (7 * i) % count});
  return all;
}

// Lengths 0 to four of the widest vectors + 3 at both guard pages, each at every offset, and a long run.
inline bool sweep(const probe& p, const elementwise_call& kernel) {
  guarded_run run(p);
  const std::size_t longest = 4 * widest_vector / size_of(p.in[0]) + 3;
  const std::vector<offsets> all = every_offset(p);
  for (std::size_t n = 0; n <= longest; ++n) {
    for (const edge side : {edge::begin, edge::end}) {
      const std::size_t start = (n * 31 + (side == edge::end ? 7 : 0)) % (column_size - longest);
      if (!run(kernel, start, n, {}, side)) return false;
      for (const offsets& at : all)
        if (!run.again(kernel, start, n, at, side)) return false;
    }
  }
  return run(kernel, 0, column_size, {}, edge::begin);
}

}  // namespace kgtest
