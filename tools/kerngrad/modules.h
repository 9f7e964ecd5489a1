// SPDX-License-Identifier: Apache-2.0
// `kerngrad modules`: the interfaces of an installed library, compiled by the compiler of the program that imports
// them.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace tool {

using words = std::vector<std::string>;

/// Arguments of `modules`.
struct modules_request {
  std::string compiler;        ///< a command: a name or a path, and words that precede the arguments
  std::filesystem::path into;  ///< the folder of the caches; empty: that of the user's caches
  std::filesystem::path list;  ///< libNAME.modules.json; empty: the one that this tool is installed with
  words flags;                 ///< of the dialect, such as -std=c++23: those of the program
};

/// Compiles the interfaces, unless they have been, and returns what the program's sources are compiled with. Throws a
/// `refusal` where the compiler is missing or too old or does not compile one of them.
words module_flags(const modules_request& wanted);

/// A compiler, and what it needs for modules.
struct compiler_facts {
  words command;
  std::string name;                    ///< clang, gcc
  std::string version;                 ///< 19.1.7
  std::string build;                   ///< all that it says of its version
  std::map<std::string, words> needs;  ///< modules/compilers/NAME.conf
};
/// Asks the command what it is, and reads its file among those in `folder`.
compiler_facts facts_of(const std::string& command, const std::filesystem::path& folder);

/// Rejects a compiler that, with these flags, takes another standard library than the installed one was built with.
void expect_standard_library(const words& command, const words& flags);

/// A header that is an error, of one sentence, for another compiler or dialect than these: where macros that the
/// compiler's file names have other values.
std::string same_compiler_header(const compiler_facts& compiler, const words& flags);

/// Replaces every @KEY@ of the words by its value.
words filled_in(words text, const std::map<std::string, std::string>& values);

/// Starts a command whose output, errors too, goes to a file; -1 where there is no such program.
int start(const words& command, const std::filesystem::path& output);
/// Waits for one of the started commands, returns which, and sets whether it succeeded.
int wait_for_one(bool& succeeded);

}  // namespace tool
