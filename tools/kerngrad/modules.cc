// SPDX-License-Identifier: Apache-2.0
// The BMIs of an installed library for a compiler and its flags: made once, side by side as far as imports allow, and
// kept in a folder that is named after both.
#include "tools/kerngrad/modules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <regex>
#include <set>
#include <system_error>
#include <thread>

#include "tools/kerngrad/system.h"
#include "tools/kerngrad/tool.h"

namespace tool {
namespace {

namespace fs = std::filesystem;

struct unit {
  std::string name, stem;  ///< kerngrad:core, kerngrad-core
  fs::path source;
  words includes;
  std::set<std::string> imports;  ///< names of other units
};

std::string contents(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// The list that this tool is installed with, next to the library.
fs::path installed_list() { return own_file().parent_path() / KERNGRAD_MODULES_LIST; }

fs::path caches() {
  const auto variable = [](const char* name) { return std::string(std::getenv(name) ? std::getenv(name) : ""); };
  if (const std::string folder = variable("XDG_CACHE_HOME"); !folder.empty()) return fs::path(folder) / "kerngrad";
  if (const std::string home = variable("HOME"); !home.empty()) return fs::path(home) / ".cache" / "kerngrad";
  throw usage_error("there is no home for caches: name a folder with --into");
}

/// Imports of a unit: `import` is at the start of a line, `:part` is a partition of the unit's own module.
std::set<std::string> imports_in(const std::string& text, const std::string& module) {
  static const std::regex line(R"(^(?:export )?import ([\w.]*:?\w*);)", std::regex::multiline);
  std::set<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), line), end; at != end; ++at) {
    const std::string name = (*at)[1];
    found.insert(name.starts_with(':') ? module + name : name);
  }
  return found;
}

std::vector<unit> units_in(const fs::path& list) {
  if (!fs::exists(list))
    throw refusal(fmt::format("{} is not there: name the list of an installed library with --list",
                              list.lexically_normal().string()));
  const json read = json::parse(contents(list));
  std::vector<unit> units;
  for (const json& entry : read.at("modules")) {
    unit made{.name = entry.at("logical-name"), .stem = "", .source = "", .includes = {}, .imports = {}};
    made.stem = made.name;
    std::replace(made.stem.begin(), made.stem.end(), ':', '-');
    made.source = fs::weakly_canonical(list.parent_path() / entry.at("source-path").get<std::string>());
    for (const json& folder : entry.at("local-arguments").at("include-directories"))
      made.includes.push_back("-I" + fs::weakly_canonical(list.parent_path() / folder.get<std::string>()).string());
    if (!fs::exists(made.source))
      throw refusal(fmt::format("{} names {}, which is not there", list.string(), made.source.string()));
    made.imports = imports_in(contents(made.source), made.name.substr(0, made.name.find(':')));
    units.push_back(std::move(made));
  }
  return units;
}

/// A name for what the BMIs follow from: the compiler, its flags, and all files that an interface may include.
std::string cache_name(const compiler_facts& compiler, const words& flags, const std::vector<unit>& units) {
  std::set<fs::path> files;
  for (const unit& u : units) {
    files.insert(u.source);
    for (const std::string& include : u.includes)
      for (const auto& file : fs::recursive_directory_iterator(include.substr(2)))
        if (file.is_regular_file()) files.insert(file.path());
  }
  std::string all = fmt::format("{} {} {}\n", fmt::join(compiler.command, " "), compiler.build, fmt::join(flags, " "));
  for (const fs::path& file : files) all += file.string() + "\n" + contents(file);
  return fmt::format("{}-{}-{:016x}", compiler.name, compiler.version, std::hash<std::string>()(all));
}

/// Held by one process at a time; it ends with the process too.
class folder_lock {
 public:
  explicit folder_lock(const fs::path& file) : descriptor_(open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
    if (descriptor_ < 0 || flock(descriptor_, LOCK_EX) != 0)
      throw refusal(fmt::format("cannot write {}: {}; name another folder with --into", file.string(),
                                std::generic_category().message(errno)));
  }
  ~folder_lock() { close(descriptor_); }
  folder_lock(const folder_lock&) = delete;
  folder_lock& operator=(const folder_lock&) = delete;

 private:
  int descriptor_;
};

/// Compiles all units into a folder, several at a time, each when its imports are there.
class interfaces {
 public:
  interfaces(const compiler_facts& compiler, const words& flags, const std::vector<unit>& units, fs::path folder)
      : compiler_(compiler), flags_(flags), waiting_(units), folder_(std::move(folder)) {}

  void compile() {
    const std::size_t most = std::max(1U, std::thread::hardware_concurrency());
    while (!waiting_.empty() || !running_.empty()) {
      while (running_.size() < most && start_next()) {
      }
      if (running_.empty()) throw refusal(fmt::format("{} imports what is not in the list", waiting_.front().name));
      bool succeeded = false;
      const auto ended = running_.extract(wait_for_one(succeeded));
      if (!succeeded) fail(ended.mapped());
      fs::remove(messages_of(ended.mapped()));
      done_.insert(ended.mapped().name);
    }
  }

 private:
  bool start_next() {
    const auto next = std::ranges::find_if(waiting_, [&](const unit& u) {
      return std::ranges::all_of(u.imports, [&](const std::string& name) { return done_.contains(name); });
    });
    if (next == waiting_.end()) return false;
    running_.emplace(start(command_for(*next), messages_of(*next)), *next);
    waiting_.erase(next);
    return true;
  }

  words command_for(const unit& u) const {
    words command = compiler_.command;
    const auto add = [&](const words& more) { command.insert(command.end(), more.begin(), more.end()); };
    add(flags_);
    add(u.includes);
    add(compiler_.needs.at("only_bmi"));
    add(compiler_.needs.at("only_reduced"));
    add(compiler_.needs.at("lookup"));
    command = filled_in(command, {{"DIR", folder_.string()}});
    add({u.source.string(), "-o", (folder_ / u.stem).string() + "." + compiler_.needs.at("suffix").at(0)});
    return command;
  }

  fs::path messages_of(const unit& u) const { return folder_ / (u.stem + ".log"); }

  [[noreturn]] void fail(const unit& u) {
    for (bool ignored = false; !running_.empty();) running_.erase(wait_for_one(ignored));
    const std::string all = contents(messages_of(u));
    const std::size_t error = all.find("error:");
    const std::size_t end = all.find('\n', error);
    throw refusal(fmt::format("{} does not compile the interface {} ({}); its messages are in {}",
                              fmt::join(compiler_.command, " "), u.source.string(),
                              error == std::string::npos ? "no error is named" : all.substr(error, end - error),
                              messages_of(u).string()));
  }

  const compiler_facts& compiler_;
  const words& flags_;
  std::vector<unit> waiting_;
  fs::path folder_;
  std::map<int, unit> running_;  ///< by process
  std::set<std::string> done_;
};

/// The file by which the compiler finds BMIs, where it takes one.
void write_map(const compiler_facts& compiler, const std::vector<unit>& units, const fs::path& folder) {
  const words& line = compiler.needs.at("map");
  if (line.empty()) return;
  std::ofstream map(folder / "modules.map");
  for (const unit& u : units)
    map << fmt::format("{}\n",
                       fmt::join(filled_in(line, {{"NAME", u.name}, {"STEM", u.stem}, {"DIR", folder.string()}}), " "));
}

/// Puts the flags of the library before the given ones, which override them.
words with_defaults(words flags) {
  const bool standard = std::ranges::any_of(flags, [](const std::string& flag) { return flag.starts_with("-std="); });
  if (std::ranges::find(flags, "-pthread") == flags.end()) flags.insert(flags.begin(), "-pthread");
  if (!standard) flags.insert(flags.begin(), "-std=c++20");
  return flags;
}

}  // namespace

words module_flags(const modules_request& wanted) {
  const fs::path list = wanted.list.empty() ? installed_list() : wanted.list;
  const std::vector<unit> units = units_in(list);
  const fs::path sources = units.front().includes.at(0).substr(2);
  const compiler_facts compiler = facts_of(wanted.compiler, sources / "modules" / "compilers");

  const words flags = with_defaults(wanted.flags);
  const fs::path into = fs::absolute(wanted.into.empty() ? caches() : wanted.into);
  std::error_code error;
  fs::create_directories(into, error);
  const fs::path folder = into / cache_name(compiler, flags, units);
  const fs::path finished = folder / "finished";
  if (!fs::exists(finished)) expect_standard_library(compiler.command, flags);
  const folder_lock lock(folder.string() + ".lock");
  if (!fs::exists(finished)) {
    fs::create_directories(folder);
    write_map(compiler, units, folder);
    interfaces(compiler, flags, units, folder).compile();
    std::ofstream same(folder / "same.h");
    same << same_compiler_header(compiler, flags) << std::flush;
    if (!same) throw refusal(fmt::format("cannot write {}: is there room?", (folder / "same.h").string()));
    std::ofstream(finished) << fmt::format("{}\n", fmt::join(flags, " "));
  }
  words printed = flags;
  for (const char* key : {"same", "lookup"}) {
    const words more = filled_in(compiler.needs.at(key), {{"DIR", folder.string()}});
    printed.insert(printed.end(), more.begin(), more.end());
  }
  return printed;
}

}  // namespace tool
