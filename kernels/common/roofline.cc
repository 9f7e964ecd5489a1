// SPDX-License-Identifier: Apache-2.0
#include "kernels/common/roofline.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <map>
#include <memory>
#include <new>
#include <string>

#if defined(__APPLE__)
#include <sys/sysctl.h>
#endif

#include "kernels/common/roofs.h"

namespace kerngrad::kernels {
namespace {

// Bytes of a cache level, 0 where the system does not say.
#if defined(__APPLE__)
double cache_bytes(int number) {
  const char* const name = number == 1 ? "hw.l1dcachesize" : number == 2 ? "hw.l2cachesize" : "hw.l3cachesize";
  std::int64_t bytes = 0;
  std::size_t size = sizeof bytes;
  return sysctlbyname(name, &bytes, &size, nullptr, 0) == 0 ? static_cast<double>(bytes) : 0;
}
#else
double cache_bytes(int number) {
  for (int i = 0; i < 8; ++i) {
    const std::string there = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i) + "/";
    const auto word = [&](const char* name) {
      std::string text;
      std::ifstream(there + name) >> text;
      return text;
    };
    if (word("level") != std::to_string(number) || word("type") == "Instruction") continue;
    const std::string size = word("size");  // "48K"
    return std::strtod(size.c_str(), nullptr) * (size.ends_with("M") ? 1 << 20 : size.ends_with("K") ? 1 << 10 : 1);
  }
  return 0;
}
#endif

// Sizes of the levels as the system says; those of common CPUs stand in where it is silent.
double stated_capacity(level where) {
  constexpr double usual[] = {32e3, 512e3, 8e6};
  static const double known[] = {cache_bytes(1), cache_bytes(2), cache_bytes(3)};
  const int i = static_cast<int>(where);
  return known[i] > 0 ? known[i] : usual[i];
}

// The thread's own time, as the benchmarks take theirs: what others do on its core is not in it.
double seconds_now() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// The shortest of many runs: whatever else the machine does can only add to one.
template <class F>
double seconds_of(F run) {
  constexpr double budget = 0.015;
  double best = 1e9, spent = 0;
  for (int i = 0; i < 5 || spent < budget; ++i) {
    const double start = seconds_now();
    run();
    const double took = seconds_now() - start;
    best = std::min(best, took);
    spent += took;
  }
  return best;
}

// For the compiler: the value is used, memory may have changed.
template <class T>
void keep(T& value) {
  asm volatile("" : : "m"(value) : "memory");
}
void forget() { asm volatile("" : : : "memory"); }

template <class T>
double measure_rate(double (*chains)(std::int64_t, T*), std::int64_t rounds) {
  T values[3] = {T(0.999), T(0.001), 0};
  double done = 0;
  const double seconds = seconds_of([&] { done = chains(rounds, values); });
  keep(values[2]);
  return done / seconds;
}

// 64-byte aligned words, all 1.
using word_block = std::unique_ptr<std::uint32_t[], void (*)(std::uint32_t*)>;
word_block words(std::size_t n) {
  word_block block(static_cast<std::uint32_t*>(operator new[](n * sizeof(std::uint32_t), std::align_val_t(64))),
                   [](std::uint32_t* p) { operator delete[](p, std::align_val_t(64)); });
  std::fill_n(block.get(), n, 1u);
  return block;
}
std::uint32_t sink[roof_block];

// Bytes of the last cache that one core can fill, measured: a system states what the whole package has, a virtual one
// even what other guests use. Working sets double until reading them is nearer to memory's rate than to the cache's.
double usable_last_cache() {
  constexpr double beyond = 256e6;
  const double stated = stated_capacity(level::l3), least = 2 * stated_capacity(level::l2);
  const word_block block = words(static_cast<std::size_t>(beyond / sizeof(std::uint32_t)));
  const auto rate = [&](double bytes) {
    const std::size_t n = static_cast<std::size_t>(bytes / sizeof(std::uint32_t)) / roof_block * roof_block;
    return bytes / seconds_of([&] { roof_read(block.get(), n, sink); });
  };
  const double between = std::sqrt(rate(least) * rate(beyond));
  double held = least;
  while (2 * held <= std::min(stated, beyond) && rate(2 * held) > between) held *= 2;
  return 2 * held > stated ? stated : held;
}

// Half of a level for all arrays together, so that nothing else drives them out; beyond the caches four times the last.
std::size_t words_at(level where) {
  const double bytes = where == level::dram ? std::min(4 * capacity(level::l3), 256e6) : capacity(where) / 2;
  return std::max<std::size_t>(static_cast<std::size_t>(bytes) / sizeof(std::uint32_t) / roof_block, 2) * roof_block;
}

void measure_memory(level where, roofs& found) {
  const std::size_t n = words_at(where), half = n / 2 / roof_block * roof_block;
  // A copy's two sides lie a number of lines apart that no power of two divides: loads and stores whose addresses agree
  // in their last 12 bits wait for each other.
  constexpr std::size_t apart = 33 * 16;
  const word_block block = words(n + apart);
  std::uint32_t* x = block.get();
  // Short loops run several times under one reading of the clock.
  const int times = static_cast<int>(std::max<std::size_t>(1, (std::size_t{1} << 18) / n));
  const double bytes = static_cast<double>(n) * sizeof(std::uint32_t) * times;
  const double copied = static_cast<double>(2 * half) * sizeof(std::uint32_t) * times;
  const auto repeated = [&](auto once) {
    return seconds_of([&] {
      for (int i = 0; i < times; ++i) {
        once();
        forget();
      }
    });
  };
  const auto i = static_cast<std::size_t>(where);
  found.read[i] = std::max(found.read[i], bytes / repeated([&] { roof_read(x, n, sink); }));
  // Stores past the caches pay outside of them only; a kernel may use either kind, so the better one is the roof.
  for (bool stream : {false, true}) {
    if (stream && where != level::dram) continue;
    found.write[i] = std::max(found.write[i], bytes / repeated([&] { roof_write(x, n, stream); }));
    found.copy[i] = std::max(found.copy[i], copied / repeated([&] { roof_copy(x, x + half + apart, half, stream); }));
  }
}

}  // namespace

const char* name_of(level where) {
  constexpr const char* names[level_count] = {"L1", "L2", "L3", "DRAM"};
  return names[static_cast<int>(where)];
}

double capacity(level where) {
  if (where != level::l3) return stated_capacity(where);
  static const double measured = usable_last_cache();
  return measured;
}

level level_of(double bytes) {
  for (level where : {level::l1, level::l2, level::l3})
    if (bytes <= capacity(where)) return where;
  return level::dram;
}

const roofs& roofs_of(const target& target) {
  static std::map<std::int64_t, roofs> known;
  const auto [at, is_new] = known.try_emplace(target.bits);
  if (is_new) {
    pin_target(target.bits);
    roofs& found = at->second;
    // Several rounds over all of them: what disturbs one moment is gone in another, and a roof is the best ever seen.
    for (int round = 0; round < 3; ++round) {
      const auto raise = [](double& best, auto chains, std::int64_t rounds) {
        best = std::max(best, measure_rate(chains, rounds));
      };
      raise(found.flops32, roof_fma_float32, 20000);
      raise(found.flops64, roof_fma_float64, 20000);
      raise(found.quotients32, roof_divide_float32, 2000);
      raise(found.quotients64, roof_divide_float64, 2000);
      raise(found.roots32, roof_root_float32, 2000);
      raise(found.roots64, roof_root_float64, 2000);
      for (level where : {level::l1, level::l2, level::l3, level::dram}) measure_memory(where, found);
    }
  }
  return at->second;
}

floor_time floor_of(const duty& what, const roofs& at) {
  // Integers count against the same units: one operation a lane where a multiply-add is two, more lanes if narrower.
  const double flops = what.width == 8 && what.is_floating ? at.flops64 : at.flops32;
  const double operations = what.is_floating ? flops : at.flops32 / 2 * 4 / static_cast<double>(what.width);
  const double computing = what.operations / operations;
  const double dividing = what.quotients / (what.divides_doubles ? at.quotients64 : at.quotients32) +
                          what.roots / (what.divides_doubles ? at.roots64 : at.roots32);
  // Bytes read and written in pairs go at the rate of a copy, the rest at that of reading or writing alone.
  const double pairs = std::min(what.read, what.written);
  const auto moving_at = [&](level where) {
    const auto i = static_cast<std::size_t>(where);
    return 2 * pairs / at.copy[i] + (what.read - pairs) / at.read[i] + (what.written - pairs) / at.write[i];
  };
  const level where = level_of(what.footprint);
  double moving = moving_at(where);
  if (where != level::l1) {
    // A level holds part of what is a little too large for it: from once to twice its size the time goes over from its
    // own to that of the next.
    const level inner = static_cast<level>(static_cast<int>(where) - 1);
    const double kept = std::max(0.0, 2 - what.footprint / capacity(inner));
    moving = kept * moving_at(inner) + (1 - kept) * moving;
  }
  if (dividing > std::max(computing, moving)) return {dividing, "divider"};
  return computing > moving ? floor_time{computing, "fma"} : floor_time{moving, name_of(where)};
}

}  // namespace kerngrad::kernels
