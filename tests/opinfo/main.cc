// SPDX-License-Identifier: Apache-2.0
// opinfo_cases DEPARTURES FILES..., opinfo_cases --recorded FILES...: compares recorded cases, lines of JSON, with this
// library. Exit code 0 when all are equal or known to depart, 1 when one differs or a departure is known that no case
// has, 2 when a file is at fault.
//   --list            prints family and name of each op that has a line, and nothing else
//   --verdicts FILE   also writes a word for each case
//   --partial         the files need not have all known departures
//   --recorded        all cases have to be equal: no departures, and none that the library rejects or that is skipped
//   --verbose         all failures, and the ops of each reason
#include <algorithm>
#include <fstream>
#include <iostream>

#include "tests/opinfo/judge.h"
#include "tools/strict_json.h"

namespace {

using namespace opinfo;

constexpr int deepest = 32;

struct options {
  std::string departures, verdicts;
  std::vector<std::string> files;
  bool verbose = false, partial = false, recorded = false;
};

options read_options(int argc, char** argv) {
  options given;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--verbose") given.verbose = true;
    else if (word == "--partial") given.partial = true;
    else if (word == "--recorded") given.recorded = true;
    else if (word == "--verdicts" && i + 1 < argc) given.verdicts = argv[++i];
    else if (given.departures.empty() && !given.recorded) given.departures = word;
    else given.files.push_back(word);
  }
  if (given.files.empty()) throw std::runtime_error("no file of cases");
  return given;
}

class runner {
 public:
  explicit runner(const options& given) : known_(given.departures), all_equal_(given.recorded) {
    if (!given.verdicts.empty()) verdicts_.open(given.verdicts);
  }

  void run(const std::string& file) {
    std::ifstream in(file);
    if (!in) throw std::runtime_error(file + ": cannot be read");
    bool has_case = false;
    for (std::string text; std::getline(in, text); has_case = true)
      if (!text.empty()) one(kgtools::parse_strictly(text.begin(), text.end(), deepest));
    if (!has_case) throw std::runtime_error(file + ": no case");
  }

  const report& counts() const { return report_; }
  std::vector<std::string> unused() const { return known_.unused(); }

 private:
  void one(const json& line) {
    const call_line* call = line_of(line.at("op").get<std::string>());
    if (!call) throw std::runtime_error("no line for " + line.at("op").get<std::string>());
    bool all_equal = true, compared = false;
    for (finding found : judged(line, *call)) {
      if (all_equal_ && found.is != verdict::equal) found.is = verdict::failed;
      if (found.is == verdict::failed && known_.has(line, found.of)) found.is = verdict::departs;
      all_equal = all_equal && found.is == verdict::equal;
      if (found.of == part::value) compared = found.is == verdict::equal || found.is == verdict::departs;
      report_.add(line, *call, found);
    }
    if (verdicts_.is_open()) verdicts_ << (all_equal ? "equal" : compared ? "compared" : "other") << "\n";
  }

  departures known_;
  bool all_equal_;
  report report_;
  std::ofstream verdicts_;
};

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 2 && std::string(argv[1]) == "--list") {
      for (const call_line* line : all_lines()) std::cout << line->family << " " << line->op << "\n";
      return 0;
    }
    const options given = read_options(argc, argv);
    runner all(given);
    for (const std::string& file : given.files) all.run(file);
    all.counts().print(given.verbose);
    const std::vector<std::string> unused = given.partial ? std::vector<std::string>() : all.unused();
    for (const std::string& text : unused) std::cout << "no case departs so: " << text << "\n";
    return all.counts().failed() == 0 && unused.empty() ? 0 : 1;
  } catch (const std::exception& e) {
    std::cerr << "opinfo_cases: " << e.what() << "\n";
    return 2;
  }
}
