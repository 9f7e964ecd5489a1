// SPDX-License-Identifier: Apache-2.0
// Compilers as `kerngrad modules` sees them: what one says of itself, what its file says it needs, and running it.
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <sstream>
#include <system_error>

#include "tools/kerngrad/modules.h"
#include "tools/kerngrad/tool.h"

extern char** environ;

namespace tool {
namespace {

namespace fs = std::filesystem;

words split(const std::string& text) {
  std::istringstream in(text);
  words found;
  for (std::string word; in >> word;) found.push_back(word);
  return found;
}

/// Lines `key = words`; what follows a # at the start of a line is a comment.
std::map<std::string, words> read_needs(const fs::path& file) {
  std::ifstream in(file);
  std::map<std::string, words> needs;
  for (std::string line; std::getline(in, line);) {
    const std::size_t equals = line.find('=');
    if (line.starts_with('#') || equals == std::string::npos) continue;
    needs[split(line.substr(0, equals)).at(0)] = split(line.substr(equals + 1));
  }
  return needs;
}

/// A file of its own that goes with it.
class temporary_file {
 public:
  temporary_file() {
    std::string name = (fs::temp_directory_path() / "kerngrad-XXXXXX").string();
    const int descriptor = mkstemp(name.data());
    if (descriptor < 0) throw std::system_error(errno, std::generic_category(), name);
    close(descriptor);
    path_ = name;
  }
  ~temporary_file() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

using macros = std::map<std::string, std::string>;

/// The macros that are defined after a compiler has read a source; none where it does not read it.
macros macros_after(words command, const fs::path& source) {
  for (const char* word : {"-dM", "-E", "-x", "c++"}) command.emplace_back(word);
  command.push_back(source.string());
  const temporary_file output;
  bool succeeded = false;
  if (start(command, output.path()) < 0)
    throw refusal(fmt::format("there is no program {}: name a C++ compiler with --compiler", command.front()));
  wait_for_one(succeeded);
  if (!succeeded) return {};
  std::ifstream in(output.path());
  macros found;
  for (std::string line; std::getline(in, line);) {
    std::istringstream text(line);
    std::string define, name, value;
    text >> define >> name >> std::ws;
    std::getline(text, value);
    if (define == "#define") found[name] = value;
  }
  return found;
}

/// Macros of the compiler with these flags.
macros macros_with(const words& command, const words& flags, const fs::path& source) {
  words all = command;
  all.insert(all.end(), flags.begin(), flags.end());
  return macros_after(all, source);
}

// The standard library that this tool, and so the library, was built with.
#ifdef _LIBCPP_VERSION
constexpr const char* own_standard_library = "libc++";
#else
constexpr const char* own_standard_library = "libstdc++";
#endif

}  // namespace

int start(const words& command, const fs::path& output) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t child = -1;
  const int error = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0 && error != ENOENT && error != EACCES)
    throw std::system_error(error, std::generic_category(), command.front());
  return error == 0 ? child : -1;
}

int wait_for_one(bool& succeeded) {
  int status = 0;
  pid_t child = -1;
  do child = waitpid(-1, &status, 0);
  while (child < 0 && errno == EINTR);
  succeeded = child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return child;
}

words filled_in(words text, const std::map<std::string, std::string>& values) {
  for (std::string& word : text)
    for (const auto& [key, value] : values) {
      const std::string place = "@" + key + "@";
      for (std::size_t at = word.find(place); at != std::string::npos; at = word.find(place, at + value.size()))
        word.replace(at, place.size(), value);
    }
  return text;
}

compiler_facts facts_of(const std::string& command, const fs::path& folder) {
  compiler_facts facts{.command = split(command), .name = "", .version = "", .build = "", .needs = {}};
  if (facts.command.empty()) throw usage_error("--compiler wants the name of a C++ compiler");
  macros said = macros_after(facts.command, "/dev/null");
  if (said.empty()) throw refusal(fmt::format("{} does not say what it is (-dM -E): it is no C++ compiler", command));
  const bool clang = said.contains("__clang__");
  facts.name = clang ? "clang" : said.contains("__GNUC__") ? "gcc" : "";
  const fs::path file = folder / (facts.name + ".conf");
  if (facts.name.empty() || !fs::exists(file))
    throw refusal(fmt::format("{} is neither clang nor gcc: what it needs for modules is not known", command));
  facts.version =
      clang ? fmt::format("{}.{}.{}", said["__clang_major__"], said["__clang_minor__"], said["__clang_patchlevel__"])
            : fmt::format("{}.{}.{}", said["__GNUC__"], said["__GNUC_MINOR__"], said["__GNUC_PATCHLEVEL__"]);
  facts.build = said["__VERSION__"];
  facts.needs = read_needs(file);
  const std::string wanted = facts.needs["minimum"].at(0);
  if (std::stoi(facts.version) < std::stoi(wanted))
    throw refusal(fmt::format("{} is {} {}, and the interfaces need {} {} or newer: use {}-{}", command, facts.name,
                              facts.version, facts.name, wanted, facts.needs["command"].at(0), wanted));
  return facts;
}

void expect_standard_library(const words& command, const words& flags) {
  const temporary_file source;
  std::ofstream(source.path()) << "#include <version>\n";
  const macros said = macros_with(command, flags, source.path());
  const std::string asked = fmt::format("{} {}", fmt::join(command, " "), fmt::join(flags, " "));
  if (said.empty())
    throw refusal(
        fmt::format("{} finds no standard library, or does not take these flags: try it with a program that "
                    "includes <version>",
                    asked));
  const std::string found = said.contains("_LIBCPP_VERSION") ? "libc++"
                            : said.contains("__GLIBCXX__")   ? "libstdc++"
                                                             : "a standard library of another kind";
  if (found != own_standard_library)
    throw refusal(
        fmt::format("{} takes {}, and the installed library was built with {}: give it the flags for that "
                    "one, such as -stdlib={} of Clang, or build the library with {}",
                    asked, found, own_standard_library, own_standard_library, found));
}

std::string same_compiler_header(const compiler_facts& compiler, const words& flags) {
  const macros said = macros_with(compiler.command, flags, "/dev/null");
  std::string text = "// Written by `kerngrad modules`.\n";
  const char* directive = "#if";
  for (const char* key : {"same_compiler", "same_language", "same_code"}) {
    for (const std::string& name : compiler.needs.at(key)) {
      const auto macro = said.find(name);
      const std::string differs =
          macro == said.end() ? fmt::format("defined {}", name) : fmt::format("{} != {}", name, macro->second);
      text += fmt::format(
          "{} {}\n#error kerngrad: these BMIs are of {} {} with {}; this compilation differs ({}): take the flags that "
          "`kerngrad modules --compiler COMPILER -- FLAGS` prints for yours in place of those of pkg-config --cflags\n",
          directive, differs, compiler.name, compiler.version, fmt::join(flags, " "), differs);
      directive = "#elif";
    }
  }
  return text + "#endif\n";
}

}  // namespace tool
