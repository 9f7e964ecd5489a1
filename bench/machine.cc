// SPDX-License-Identifier: Apache-2.0
#include "bench/machine.h"

#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>

namespace kgbench {
namespace {

using namespace kerngrad::kernels;

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
