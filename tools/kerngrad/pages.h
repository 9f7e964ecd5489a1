// SPDX-License-Identifier: Apache-2.0
// Files installed with the command line tool, made of its options as they are parsed.
#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace tool {

/// kerngrad(1), as roff.
std::string man_page(const CLI::App& app);
/// Completion for Bash: subcommands, then the options of the one that was given, files elsewhere.
std::string completion(const CLI::App& app);

}  // namespace tool
