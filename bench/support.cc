// SPDX-License-Identifier: Apache-2.0
#include "bench/support.h"

#include <charconv>
#include <cstdio>
#include <cstring>
#include <optional>
#include <regex>
#include <string_view>

#include "bench/machine.h"

namespace kgbench {
namespace {

std::vector<std::string_view> parts_of(std::string_view list) {
  std::vector<std::string_view> parts;
  for (std::size_t end = 0; end != std::string_view::npos; list.remove_prefix(end + 1)) {
    end = list.find(',');
    parts.push_back(list.substr(0, end));
    if (end == std::string_view::npos) break;
  }
  return parts;
}

// The value of `--name VALUE` or `--name=VALUE` at argv[i]; steps over it.
std::optional<std::string_view> value_of(std::string_view name, int argc, char** argv, int& i) {
  const std::string_view given = argv[i];
  if (given == name && i + 1 < argc) return argv[++i];
  if (given.starts_with(name) && given.substr(name.size()).starts_with('=')) return given.substr(name.size() + 1);
  return {};
}

std::vector<kerngrad::kernels::target> supported() {
  kerngrad::kernels::target all[64];
  return {all, all + kerngrad::kernels::supported_targets(all, 64)};
}

// The filter as Google Benchmark reads it: `all`, an extended regular expression, or - and one that does not match. It
// reports what is none.
std::function<bool(const std::string&)> name_filter(std::string text) {
  const bool wanted = !text.starts_with('-');
  if (!wanted) text.erase(0, 1);
  if (text.empty() || text == "all") return [](const std::string&) { return true; };
  try {
    return [wanted, expression = std::regex(text, std::regex::extended)](const std::string& name) {
      return std::regex_search(name, expression) == wanted;
    };
  } catch (const std::regex_error&) {
    return [](const std::string&) { return true; };
  }
}

bool choose_targets(std::string_view list, selection& chosen) {
  for (std::string_view wanted : parts_of(list)) {
    const std::size_t before = chosen.targets.size();
    for (const auto& target : supported())
      if (wanted == target.name) chosen.targets.push_back(target);
    if (chosen.targets.size() > before) continue;
    std::fprintf(stderr, "no target %s here; there are:", std::string(wanted).c_str());
    for (const auto& target : supported()) std::fprintf(stderr, " %s", target.name);
    std::fprintf(stderr, "\n");
    return false;
  }
  return true;
}

bool choose_sizes(std::string_view list, selection& chosen) {
  for (std::string_view part : parts_of(list)) {
    std::int64_t n = 0;
    const auto [end, wrong] = std::from_chars(part.data(), part.data() + part.size(), n);
    if (wrong != std::errc() || end != part.data() + part.size() || n < 16) {
      std::fprintf(stderr, "--sizes %s: whole numbers of at least 16 are wanted, separated by commas\n",
                   std::string(list).c_str());
      return false;
    }
    chosen.sizes.push_back(n);
  }
  return true;
}

}  // namespace

bool pin(benchmark::State& state, const kerngrad::kernels::target& target) {
  kerngrad::kernels::pin_target(target.bits);
  if (std::strcmp(kerngrad::kernels::running_target(), target.name) == 0) return true;
  state.SkipWithError("the kernels run on another target than the pinned one");
  return false;
}

int run(int argc, char** argv, const std::function<void(const selection&)>& register_all) {
  selection chosen;
  std::vector<char*> rest;
  for (int i = 0; i < argc; ++i) {
    if (const auto targets = value_of("--target", argc, argv, i)) {
      if (!choose_targets(*targets, chosen)) return 2;
    } else if (const auto sizes = value_of("--sizes", argc, argv, i)) {
      if (!choose_sizes(*sizes, chosen)) return 2;
    } else {
      const std::string_view given = argv[i];
      chosen.list_only =
          chosen.list_only || given == "--benchmark_list_tests" || given == "--benchmark_list_tests=true";
      rest.push_back(argv[i]);
    }
  }
  if (chosen.targets.empty()) chosen.targets = supported();
  if (chosen.sizes.empty()) chosen.sizes = {1000, 65536, 1 << 20};
  int count = static_cast<int>(rest.size());
  benchmark::Initialize(&count, rest.data());
  if (benchmark::ReportUnrecognizedArguments(count, rest.data())) return 2;
  chosen.takes = name_filter(benchmark::GetBenchmarkFilter());
  if (!chosen.list_only) describe_machine();
  register_all(chosen);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  kerngrad::kernels::unpin_target();
  return 0;
}

}  // namespace kgbench
