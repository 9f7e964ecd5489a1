// SPDX-License-Identifier: Apache-2.0
#include "bench/machine.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <map>
#include <memory>
#include <string>

#include "kernels/common/roofs.h"

namespace kgbench {
namespace {

using kerngrad::kernels::roof_block;

// Bytes of a cache level, 0 where the system does not say.
double cache_bytes(int number) {
  for (const auto& cache : benchmark::CPUInfo::Get().caches)
    if (cache.level == number && cache.type != "Instruction") return cache.size;
  return 0;
}

// Sizes of the levels as the system says; those of common CPUs stand in where it is silent.
double stated_capacity(level where) {
  constexpr double usual[] = {32e3, 512e3, 8e6};
  const int i = static_cast<int>(where);
  const double known = cache_bytes(i + 1);
  return known > 0 ? known : usual[i];
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

template <class T>
double measure_rate(double (*chains)(std::int64_t, T*), std::int64_t rounds) {
  T values[3] = {T(0.999), T(0.001), 0};
  double done = 0;
  const double seconds = seconds_of([&] { done = chains(rounds, values); });
  benchmark::DoNotOptimize(values[2]);
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
    return bytes / seconds_of([&] { kerngrad::kernels::roof_read(block.get(), n, sink); });
  };
  const double between = std::sqrt(rate(least) * rate(beyond));
  double held = least;
  while (2 * held <= std::min(stated, beyond) && rate(2 * held) > between) held *= 2;
  return 2 * held > stated ? stated : held;
}

// Limits of the levels for one core.
double capacity(level where) {
  if (where != level::l3) return stated_capacity(where);
  static const double measured = usable_last_cache();
  return measured;
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
        benchmark::ClobberMemory();
      }
    });
  };
  const auto i = static_cast<std::size_t>(where);
  found.read[i] = std::max(found.read[i], bytes / repeated([&] { kerngrad::kernels::roof_read(x, n, sink); }));
  // Stores past the caches pay outside of them only; a kernel may use either kind, so the better one is the roof.
  for (bool stream : {false, true}) {
    if (stream && where != level::dram) continue;
    found.write[i] = std::max(found.write[i], bytes / repeated([&] { kerngrad::kernels::roof_write(x, n, stream); }));
    found.copy[i] = std::max(
        found.copy[i], copied / repeated([&] { kerngrad::kernels::roof_copy(x, x + half + apart, half, stream); }));
  }
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

std::string cpu_model() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  return "unknown";
}

}  // namespace

const char* name_of(level where) {
  constexpr const char* names[level_count] = {"L1", "L2", "L3", "DRAM"};
  return names[static_cast<int>(where)];
}

level level_of(double bytes) {
  for (level where : {level::l1, level::l2, level::l3})
    if (bytes <= capacity(where)) return where;
  return level::dram;
}

const roofs& roofs_of(const kerngrad::kernels::target& target) {
  static std::map<std::int64_t, roofs> known;
  const auto [at, is_new] = known.try_emplace(target.bits);
  if (is_new) {
    kerngrad::kernels::pin_target(target.bits);
    roofs& found = at->second;
    // Several rounds over all of them: what disturbs one moment is gone in another, and a roof is the best ever seen.
    for (int round = 0; round < 3; ++round) {
      const auto raise = [](double& best, auto chains, std::int64_t rounds) {
        best = std::max(best, measure_rate(chains, rounds));
      };
      raise(found.flops32, kerngrad::kernels::roof_fma_float32, 20000);
      raise(found.flops64, kerngrad::kernels::roof_fma_float64, 20000);
      raise(found.quotients32, kerngrad::kernels::roof_divide_float32, 2000);
      raise(found.quotients64, kerngrad::kernels::roof_divide_float64, 2000);
      raise(found.roots32, kerngrad::kernels::roof_root_float32, 2000);
      raise(found.roots64, kerngrad::kernels::roof_root_float64, 2000);
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
  // What is read and written in pairs goes at the rate of a copy, the rest at that of reading or writing alone.
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

void report(benchmark::State& state, const duty& what, const std::string& family,
            const kerngrad::kernels::target& target) {
  const floor_time floor = floor_of(what, roofs_of(target));
  const double runs = static_cast<double>(state.iterations());
  using benchmark::Counter;
  state.counters["items_per_second"] = Counter(what.items * runs, Counter::kIsRate);
  state.counters["bytes_per_second"] = Counter((what.read + what.written) * runs, Counter::kIsRate);
  if (what.operations > 0) state.counters["flops"] = Counter(what.operations * runs, Counter::kIsRate);
  state.counters["floor_ns"] = Counter(floor.seconds * 1e9);
  state.counters["roof"] = Counter(floor.seconds * runs, Counter::kIsRate);
  state.SetLabel(family + " " + floor.limit);
}

void describe_machine() {
  const auto& cpu = benchmark::CPUInfo::Get();
  std::string caches, names;
  for (const auto& cache : cpu.caches)
    caches += (caches.empty() ? "L" : ", L") + std::to_string(cache.level) +
              (cache.type == "Instruction" ? " instructions " : " ") + std::to_string(cache.size / 1024) + " KiB";
  kerngrad::kernels::target all[64];
  const int count = kerngrad::kernels::supported_targets(all, 64);
  for (int i = 0; i < count; ++i) names += (i ? " " : "") + std::string(all[i].name);
  benchmark::AddCustomContext("cpu_model", cpu_model());
  benchmark::AddCustomContext("cpu_clock_ghz", number(cpu.cycles_per_second / 1e9));
  benchmark::AddCustomContext("cpu_cores", std::to_string(cpu.num_cpus));
  benchmark::AddCustomContext("cpu_caches", caches);
  benchmark::AddCustomContext("simd_targets", names);
  benchmark::AddCustomContext("compiler", __VERSION__);
  benchmark::AddCustomContext("version_kerngrad", KG_VERSION);
  benchmark::AddCustomContext("version_highway", KG_HIGHWAY_VERSION);
  benchmark::AddCustomContext("version_google_benchmark", KG_BENCHMARK_VERSION);
}

void describe_roofs(const kerngrad::kernels::target& target) {
  const roofs& at = roofs_of(target);
  [[maybe_unused]] static const bool said = [] {
    benchmark::AddCustomContext("cache_l3_usable", std::to_string(std::llround(capacity(level::l3) / 1024)) + " KiB");
    return true;
  }();
  const std::string prefix = std::string("roof/") + target.name + "/";
  benchmark::AddCustomContext(prefix + "fma/f32", number(at.flops32));
  benchmark::AddCustomContext(prefix + "fma/f64", number(at.flops64));
  benchmark::AddCustomContext(prefix + "divide/f32", number(at.quotients32));
  benchmark::AddCustomContext(prefix + "divide/f64", number(at.quotients64));
  benchmark::AddCustomContext(prefix + "root/f32", number(at.roots32));
  benchmark::AddCustomContext(prefix + "root/f64", number(at.roots64));
  for (level where : {level::l1, level::l2, level::l3, level::dram}) {
    const auto i = static_cast<std::size_t>(where);
    benchmark::AddCustomContext(prefix + "read/" + name_of(where), number(at.read[i]));
    benchmark::AddCustomContext(prefix + "write/" + name_of(where), number(at.write[i]));
    benchmark::AddCustomContext(prefix + "copy/" + name_of(where), number(at.copy[i]));
  }
}

}  // namespace kgbench
