// SPDX-License-Identifier: Apache-2.0
// For fuzz targets: values made of an input's bytes, and the rules that every input must keep. A target is the function
// LLVMFuzzerTestOneInput in a file of its own; libFuzzer calls it, or tests/fuzz/replay.cc.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <new>
#include <span>
#include <string>
#include <string_view>

#include "kernels/common/shown.h"

import kerngrad;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace fuzz {

/// Elements in use that an input may ask for.
inline constexpr std::int64_t most_memory = std::int64_t{16} << 20;

/// Ends the program, so that libFuzzer keeps the input.
[[noreturn]] inline void finding(std::string_view what) {
  std::fprintf(stderr, "finding: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}
inline void require(bool holds, std::string_view what) {
  if (!holds) finding(what);
}

/// The text of the error that the call throws; empty if it throws none. It may throw kg::error, in one line that is
/// safe to print, and std::bad_alloc.
template <class Call>
std::string refusal(Call call) {
  try {
    call();
    return {};
  } catch (const kg::error& e) {
    require(kerngrad::kernels::shown(e.what()) == e.what(), "an error with control sequences");
    return e.what();
  } catch (const std::bad_alloc&) {
    return "no memory";
  }
}
template <class Call>
bool accepted(Call call) {
  return refusal(call).empty();
}

/// Runs a target's body on an input under the memory limit. An input must leave no tensor behind: one that does at its
/// second run, too, is a finding.
template <class Body>
int run(const std::uint8_t* data, std::size_t size, Body body) {
  const std::span<const std::uint8_t> input(data, size);
  kg::set_memory_limit(most_memory);
  std::int64_t before = kg::memory().live_bytes;
  for (int times = 0; times < 2; ++times) {
    body(input);
    const std::int64_t after = kg::memory().live_bytes;
    if (after <= before) return 0;
    before = after;
  }
  finding("tensors are left");
}

/// Values made of the bytes of an input, in order; zeros where no bytes are left.
class choices {
 public:
  explicit choices(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  bool empty() const { return bytes_.empty(); }

  std::uint64_t bits(std::size_t count) {
    std::uint64_t value = 0;
    for (; count > 0 && !bytes_.empty(); --count) value = value << 8 | take();
    return value;
  }
  /// A number below `end`, which is 256 at most.
  std::size_t below(std::size_t end) { return end == 0 || bytes_.empty() ? 0 : take() % end; }
  bool flip() { return below(2) == 1; }

  /// Mostly small integers, sometimes those at the ends of ranges.
  std::int64_t integer() {
    using limits = std::numeric_limits<std::int64_t>;
    constexpr std::int64_t ends[] = {limits::lowest(),
                                     limits::max(),
                                     std::int64_t{1} << 31,
                                     -1,
                                     (1LL << 31) - 1,
                                     -(std::int64_t{1} << 31),
                                     1LL << 40,
                                     255,
                                     1LL << 62};
    const auto byte = static_cast<std::int64_t>(bits(1));
    if (byte >= 256 - static_cast<std::int64_t>(std::size(ends))) return ends[255 - byte];
    return byte < 128 ? byte % 9 : byte < 192 ? -(byte % 9) : static_cast<std::int64_t>(bits(2));
  }
  /// Mostly small integers and fractions, sometimes NaN, an infinity or any bits.
  double number() {
    const std::size_t kind = below(16);
    if (kind == 0) return std::numeric_limits<double>::quiet_NaN();
    if (kind == 1) return std::numeric_limits<double>::infinity();
    if (kind == 2) return std::bit_cast<double>(bits(8));
    if (kind < 6) return static_cast<double>(bits(1)) / 64 - 2;
    return static_cast<double>(integer());
  }
  std::string text(std::size_t most) {
    std::string made;
    for (std::size_t count = below(most + 1); count > 0 && !bytes_.empty(); --count) made += static_cast<char>(take());
    return made;
  }

 private:
  std::uint8_t take() {
    const std::uint8_t first = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return first;
  }
  std::span<const std::uint8_t> bytes_;
};

}  // namespace fuzz
