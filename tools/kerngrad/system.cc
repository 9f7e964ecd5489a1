// SPDX-License-Identifier: Apache-2.0
// Both are read where Linux has them. Elsewhere the program asks for the path that it would have found, and says that
// it does not know the CPU.
#include "tools/kerngrad/system.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <system_error>

#include "tools/kerngrad/tool.h"

namespace tool {

std::filesystem::path own_file() {
  std::error_code unknown;
  const std::filesystem::path file = std::filesystem::canonical("/proc/self/exe", unknown);
  if (unknown)
    throw usage_error("this system does not say where a program lies: name libkerngrad.modules.json with --list");
  return file;
}

std::optional<std::set<std::string>> words_of_cpu() {
  std::ifstream file("/proc/cpuinfo");
  if (!file) return std::nullopt;
  std::set<std::string> found;
  for (std::string line; std::getline(file, line);) {
    std::istringstream values(line.substr(std::min(line.size(), line.find(':') + 1)));
    const bool riscv = line.starts_with("isa");
    for (std::string word; values >> word;) {
      found.insert(word);
      if (riscv)
        for (const char letter : word.substr(0, word.find('_'))) found.insert(std::string(1, letter));
    }
  }
  return found;
}

}  // namespace tool
