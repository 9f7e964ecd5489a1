// SPDX-License-Identifier: Apache-2.0
// kerngrad-models: recorded models run and compared, a line of JSON for each: name, verdict, why, and with --measure
// times in milliseconds and what a second call takes from the heap. Exit codes: 0 done, whatever the verdicts; 2 a
// command line at fault, or a file that cannot be read.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>

#include "tools/models/recording.h"
#include "tools/models/timing.h"

import kerngrad.graph;

// Counts allocations, those of the library as well: its calls find these functions first.
namespace {
std::atomic<std::int64_t> heap_calls{0};
}  // namespace
void* operator new(std::size_t size) {
  heap_calls.fetch_add(1, std::memory_order_relaxed);
  if (void* block = std::malloc(size != 0 ? size : 1)) return block;
  throw std::bad_alloc();
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }

namespace {

using models::clock_type;
using models::json;
using models::milliseconds;

struct arguments {
  std::string folder, recordings, only;
  int threads = 1;
  bool measures = false;
  double seconds = 2;
};

// The model's files, read as bytes: the least that loading takes. The weights are those of the manifest.
double reading(const std::filesystem::path& path) {
  const clock_type::time_point begin = clock_type::now();
  std::ifstream file(path, std::ios::binary);
  const json topology = json::parse(std::string(std::istreambuf_iterator<char>(file), {}), nullptr, true);
  const double parsed = milliseconds(begin);
  double read = 0;
  for (const json& group : topology.at("weightsManifest"))
    for (const json& name : group.at("paths")) {
      const std::filesystem::path shard = path.parent_path() / name.get<std::string>();
      std::vector<char> bytes(std::filesystem::file_size(shard));
      const clock_type::time_point start = clock_type::now();
      std::ifstream(shard, std::ios::binary).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
      read += milliseconds(start);
    }
  return parsed + read;
}

void measure(const arguments& given, const std::filesystem::path& path, std::span<const kg::named_operand> feeds,
             std::span<const std::string> wanted, json& line) {
  std::vector<double> reads, loads;
  for (int i = 0; i < 3; ++i) {
    reads.push_back(reading(path));
    const clock_type::time_point begin = clock_type::now();
    kg::graph::load(path.string());
    loads.push_back(milliseconds(begin));
  }
  const kg::graph::model m = kg::graph::load(path.string());
  {
    const kg::graph::results first = m(feeds, wanted);
  }
  const std::int64_t heap = heap_calls, bytes = kg::memory().live_bytes + kg::memory().cached_bytes;
  {
    const kg::graph::results second = m(feeds, wanted);
  }
  line["heap_calls"] = heap_calls - heap;
  line["new_bytes"] = kg::memory().live_bytes + kg::memory().cached_bytes - bytes;
  const models::fastest_run least = models::time_runs(given.seconds, [&] { return m(feeds, wanted); });
  line["read_ms"] = std::ranges::min(reads), line["load_ms"] = std::ranges::min(loads);
  line["ms"] = least.ms, line["cpu_ms"] = least.cpu_ms;
}

void compare(const kg::graph::results& got, const json& recording, json& line) {
  line["verdict"] = "passed";
  for (const json& output : recording.at("outputs")) {
    if (output.value("backends_differ", false)) continue;
    const std::string name = output.at("name").get<std::string>();
    const std::string text = models::difference(got.at(name), output);
    if (text.empty()) continue;
    line["verdict"] = "failed", line["why"] = name + ": " + text;
    return;
  }
}

json run(const arguments& given, const json& recording) {
  const std::string name = recording.at("model").get<std::string>();
  json line{{"model", name}, {"verdict", "skipped"}, {"why", ""}};
  const std::filesystem::path path = std::filesystem::path(given.folder) / (name + ".json");
  if (!std::filesystem::exists(path)) {
    line["why"] = "the model is not there";
    return line;
  }
  try {
    const kg::graph::model m = kg::graph::load(path.string());
    const std::vector<kg::named_operand> feeds = models::feeds_of(recording);
    const std::vector<std::string> names = models::outputs_of(recording);
    compare(m(feeds, names), recording, line);
    if (given.measures) measure(given, path, feeds, names, line);
  } catch (const std::exception& e) {
    line["verdict"] = "failed", line["why"] = e.what();
  }
  return line;
}

}  // namespace

int main(int argc, char** argv) {
  arguments given;
  CLI::App app("Recorded graph models, run and compared.", "kerngrad-models");
  app.add_option("MODELS", given.folder, "the folder of the models")->required()->check(CLI::ExistingDirectory);
  app.add_option("RECORDED", given.recordings, "recordings, a line of JSON for each model")
      ->required()
      ->check(CLI::ExistingFile);
  app.add_option("--only", given.only, "the model of that name");
  app.add_option("--threads", given.threads, "threads for each call")->check(CLI::Range(1, 1024));
  app.add_flag("--measure", given.measures, "time loading and runs");
  app.add_option("--seconds", given.seconds, "how long a model is timed");
  try {
    app.parse(argc, argv);
    kg::set_num_threads(given.threads);
    std::ifstream file(given.recordings);
    for (std::string text; std::getline(file, text);) {
      const json recording = json::parse(text);
      if (!given.only.empty() && recording.at("model") != given.only) continue;
      fmt::print("{}\n", run(given, recording).dump());
      std::fflush(stdout);
    }
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  } catch (const std::exception& e) {
    fmt::print(stderr, "kerngrad-models: {}\n", e.what());
    return 2;
  }
  return 0;
}
