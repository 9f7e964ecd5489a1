// SPDX-License-Identifier: Apache-2.0
// kerngrad-conformance DIR: runs a conformance corpus through the by-name API. Exit code 0 when nothing failed, 1
// when a case failed, 2 when the corpus or the command line is at fault.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fstream>

#include "tools/conformance/conformance.h"
#ifdef KG_REGEX
import kerngrad.regex;
#endif

namespace {

using namespace conformance;
namespace fs = std::filesystem;

struct options {
  std::string directory, kernel, backend = "simd", target, json_file;
  bool verbose = false;
};

// Runs one case; whatever it throws becomes its outcome, except for faults of the corpus.
outcome judged(outcome (*run)(const json&), const json& line) {
  try {
    return run(line);
  } catch (const skip_case& skip) {
    return {verdict::skipped, skip.reason};
  } catch (const corpus_error&) {
    throw;
  } catch (const json::exception&) {
    throw;
  } catch (const kg::error& e) {
    return {verdict::failed, fmt::format("refused: {}", e.what())};
  } catch (const std::exception& e) {
    return {verdict::failed, fmt::format("threw something else than kg::error: {}", e.what())};
  }
}

std::vector<fs::path> files_of(const fs::path& directory) {
  std::vector<fs::path> files;
  if (fs::is_directory(directory))
    for (const fs::directory_entry& entry : fs::directory_iterator(directory))
      if (entry.path().extension() == ".jsonl") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

class runner {
 public:
  runner(const options& given, report& to) : given_(given), to_(to) {}

  void folder(const std::string& section, outcome (*run)(const json&)) {
    for (const fs::path& path : files_of(fs::path(given_.directory) / section)) {
      if (!given_.kernel.empty() && path.stem() != given_.kernel) continue;
      const auto subject = [](const json& line) { return line.at("kernel").get<std::string>(); };
      file(section, path, subject, run);
    }
  }
  void single(const std::string& section, const std::string& name, std::string (*subject)(const json&),
              outcome (*run)(const json&)) {
    const fs::path path = fs::path(given_.directory) / name;
    if (fs::exists(path)) file(section, path, subject, run);
  }

 private:
  void file(const std::string& section, const fs::path& path, const std::function<std::string(const json&)>& subject_of,
            outcome (*run)(const json&)) {
    for_each_line(path, [&](const json& line) {
      const std::string subject = subject_of(line);
      if (given_.kernel.empty() || subject == given_.kernel)
        to_.add(section, subject, line.at("id").get<std::string>(), judged(run, line));
    });
  }

  const options& given_;
  report& to_;
};

void run_corpus(const options& given, report& to) {
  if (!fs::is_directory(given.directory)) throw corpus_error(given.directory + ": no such directory");
  runner all(given, to);
  all.folder("forward", run_forward);
  all.folder("gradient", run_gradient);
  all.single(
      "optimizer", "optimizers.jsonl", [](const json& line) { return line.at("optimizer").get<std::string>(); },
      run_optimizer);
  all.single("error", "errors.jsonl", error_subject, run_error);
  if (to.cases() == 0)
    throw corpus_error(given.directory + (given.kernel.empty()
                                              ? ": no cases in forward/, gradient/, optimizers.jsonl or errors.jsonl"
                                              : ": no case of " + given.kernel));
}

void write_summary(const options& given, const report& from) {
  json summary = from.summary();
  summary["backend"] = given.backend;
  summary["target"] = kg::active_simd_target();
  std::ofstream out(given.json_file);
  out << summary.dump(2) << "\n";
  if (!out.flush()) throw corpus_error(given.json_file + ": cannot be written");
}

}  // namespace

int main(int argc, char** argv) {
  options given;
  CLI::App app("Runs a conformance corpus (forward, gradient, optimizer and error cases) through the by-name API.");
  app.add_option("DIR", given.directory, "directory of the corpus")->required();
  app.add_option("--kernel", given.kernel, "only cases of this kernel or optimizer");
  app.add_option("--backend", given.backend, "backend to run on")->check(CLI::IsMember({"simd", "reference"}));
  app.add_option("--target", given.target, "SIMD target to run on, the best one by default");
  app.add_option("--json", given.json_file, "write a summary with every failure to this file");
  app.add_flag("--verbose", given.verbose, "every kernel, every failure, and what is behind each reason");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  try {
    kg::set_backend(given.backend == "reference" ? kg::backend::reference : kg::backend::simd);
    kg::set_simd_target(given.target);
#ifdef KG_REGEX
    kg::register_op<kg::StaticRegexReplace>();
#endif
    report result(given.verbose);
    run_corpus(given, result);
    if (!given.json_file.empty()) write_summary(given, result);
    result.print();
    return result.failed() == 0 ? 0 : 1;
  } catch (const std::exception& e) {
    fmt::print(stderr, "kerngrad-conformance: {}\n", e.what());
    return 2;
  }
}
