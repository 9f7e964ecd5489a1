// SPDX-License-Identifier: Apache-2.0
// peer_onnxruntime LIBRARY MODEL.onnx PORTS.json: runs a model by ONNX Runtime's shared library and prints a line of
// JSON with the times of the fastest run. PORTS.json has lists `inputs` and `outputs`. Each port has a name, a dtype,
// the sizes of its axes as they are stored, and a file of its elements. The first run writes those of the outputs.
#include <dlfcn.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "tools/models/timing.h"

namespace {

using json = nlohmann::json;

// Functions of the C interface by their index in its table. ONNX Runtime only appends to the table, so that no header
// of one version is needed.
enum function : std::size_t {
  get_error_message = 2,
  create_env = 3,
  create_session = 7,
  run = 9,
  create_session_options = 10,
  set_graph_optimization_level = 23,
  set_intra_op_num_threads = 24,
  set_inter_op_num_threads = 25,
  create_tensor_with_data = 49,
  get_tensor_data = 51,
  create_cpu_memory_info = 69,
  release_value = 96
};
// Numbers of ONNX Runtime's enumerations.
constexpr int only_errors = 3, all_optimizations = 99, device_allocator = 0, default_memory = 0;
constexpr std::uint32_t version_of_interface = 17;

struct element_type {
  int number;
  std::size_t bytes;
};

element_type type_of(const std::string& dtype) {
  if (dtype == "float32") return {1, 4};
  if (dtype == "int32") return {6, 4};
  if (dtype == "int64") return {7, 8};
  if (dtype == "bool") return {9, 1};
  throw std::runtime_error("no dtype " + dtype);
}

// Elements begin at a line of the cache, as those of kerngrad do.
struct alignas(64) line {
  char bytes[64];
};

struct port {
  std::string name, file;
  element_type type;
  std::vector<std::int64_t> sizes;
  std::size_t bytes;
  std::vector<line> elements;

  explicit port(const json& given)
      : name(given.at("name")),
        file(given.at("file")),
        type(type_of(given.at("dtype"))),
        sizes(given.at("sizes").get<std::vector<std::int64_t>>()) {
    bytes = type.bytes;
    for (const std::int64_t size : sizes) bytes *= static_cast<std::size_t>(size);
    elements.resize((bytes + sizeof(line) - 1) / sizeof(line));
  }
};

std::vector<port> ports_of(const json& list) { return {list.begin(), list.end()}; }

class interface {
 public:
  explicit interface(const std::string& library) {
    void* handle = dlopen(library.c_str(), RTLD_NOW);
    if (handle == nullptr) throw std::runtime_error(dlerror());
    struct base {
      void** (*table)(std::uint32_t);
    };
    const auto get = reinterpret_cast<const base* (*)()>(dlsym(handle, "OrtGetApiBase"));
    if (get == nullptr) throw std::runtime_error(library + " has no OrtGetApiBase");
    table_ = get()->table(version_of_interface);
    if (table_ == nullptr) throw std::runtime_error(library + " is too old");
  }

  // Arguments have the types of the C interface.
  template <class... Arguments>
  void call(function at, Arguments... arguments) const {
    void* status = reinterpret_cast<void* (*)(Arguments...)>(table_[at])(arguments...);
    if (status == nullptr) return;
    throw std::runtime_error(reinterpret_cast<const char* (*)(void*)>(table_[get_error_message])(status));
  }

  void release(void* value) const { reinterpret_cast<void (*)(void*)>(table_[release_value])(value); }

 private:
  void** table_;
};

// Results of a run.
class values {
 public:
  values(const interface& api, std::size_t count) : api_(&api), all_(count) {}
  values(values&& other) noexcept : api_(other.api_), all_(std::move(other.all_)) { other.all_.clear(); }
  values& operator=(values&&) = delete;
  ~values() {
    for (void* one : all_)
      if (one != nullptr) api_->release(one);
  }

  std::vector<void*>& all() { return all_; }

 private:
  const interface* api_;
  std::vector<void*> all_;
};

class session {
 public:
  session(const interface& api, const std::string& model, int threads, std::vector<port> inputs,
          std::vector<port> outputs)
      : api_(api), inputs_(std::move(inputs)), outputs_(std::move(outputs)) {
    void *env = nullptr, *options = nullptr, *memory = nullptr;
    api_.call(create_env, only_errors, "kerngrad", &env);
    api_.call(create_session_options, &options);
    api_.call(set_intra_op_num_threads, options, threads);
    api_.call(set_inter_op_num_threads, options, 1);
    api_.call(set_graph_optimization_level, options, all_optimizations);
    api_.call(create_session, env, model.c_str(), options, &session_);
    api_.call(create_cpu_memory_info, device_allocator, default_memory, &memory);
    for (port& input : inputs_) {
      std::ifstream file(input.file, std::ios::binary);
      if (!file.read(reinterpret_cast<char*>(input.elements.data()), static_cast<std::streamsize>(input.bytes)))
        throw std::runtime_error(input.file + " is too short");
      void* value = nullptr;
      api_.call(create_tensor_with_data, memory, static_cast<void*>(input.elements.data()), input.bytes,
                input.sizes.data(), input.sizes.size(), input.type.number, &value);
      given_.push_back(value);
      input_names_.push_back(input.name.c_str());
    }
    for (const port& output : outputs_) output_names_.push_back(output.name.c_str());
  }

  values operator()() const {
    values results(api_, outputs_.size());
    api_.call(run, session_, static_cast<void*>(nullptr), input_names_.data(), given_.data(), given_.size(),
              output_names_.data(), output_names_.size(), results.all().data());
    return results;
  }

  void write(values results) const {
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      void* data = nullptr;
      api_.call(get_tensor_data, results.all()[i], &data);
      std::ofstream(outputs_[i].file, std::ios::binary)
          .write(static_cast<const char*>(data), static_cast<std::streamsize>(outputs_[i].bytes));
    }
  }

 private:
  const interface& api_;
  std::vector<port> inputs_, outputs_;
  std::vector<const char*> input_names_, output_names_;
  std::vector<void*> given_;
  void* session_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
  std::string library, model, ports;
  int threads = 1;
  double seconds = 1;
  CLI::App app("Times a model in ONNX Runtime.", "peer_onnxruntime");
  app.add_option("LIBRARY", library, "ONNX Runtime's shared library")->required()->check(CLI::ExistingFile);
  app.add_option("MODEL", model, "the model, a file of ONNX")->required()->check(CLI::ExistingFile);
  app.add_option("PORTS", ports, "inputs and outputs, as JSON")->required()->check(CLI::ExistingFile);
  app.add_option("--threads", threads, "threads of a run")->check(CLI::Range(1, 1024));
  app.add_option("--seconds", seconds, "time for the runs");
  try {
    app.parse(argc, argv);
    std::ifstream file(ports);
    const json given = json::parse(file);
    const interface api(library);
    const session run_model(api, model, threads, ports_of(given.at("inputs")), ports_of(given.at("outputs")));
    run_model.write(run_model());
    run_model();
    const models::fastest_run least = models::time_runs(seconds, run_model);
    fmt::print("{}\n", json{{"ms", least.ms}, {"cpu_ms", least.cpu_ms}}.dump());
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  } catch (const std::exception& e) {
    fmt::print(stderr, "peer_onnxruntime: {}\n", e.what());
    return 1;
  }
  std::fflush(stdout);
  std::_Exit(0);  // the library's threads need not be joined
}
