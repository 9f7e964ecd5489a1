// SPDX-License-Identifier: Apache-2.0
// Facts of the system about the program and the CPU.
#pragma once
#include <filesystem>
#include <optional>
#include <set>
#include <string>

namespace tool {

/// The file of the program that runs. Throws a `usage_error` where the system does not say.
std::filesystem::path own_file();

/// The kernel's description of the CPU, in words: its vendor, its flags or features, the letters of RISC-V's
/// extensions. Nothing where it does not.
std::optional<std::set<std::string>> words_of_cpu();

}  // namespace tool
