// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "tools/kerngrad/tool.h"

namespace tool {

void write_out(const std::string& text) {
  errno = 0;
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (!written && errno != EPIPE) throw std::system_error(errno, std::generic_category(), "standard output");
}

std::string targets_page(bool as_json) {
  const std::vector<kg::compiled_target> targets = kg::compiled_simd_targets();
  json list = json::array();
  std::string text;
  for (const kg::compiled_target& t : targets) {
    list.push_back({{"name", t.name}, {"supported", t.supported}, {"active", t.active}});
    text += t.name + ": compiled, " + (t.supported ? "supported" : "not supported by this CPU") +
            (t.active ? ", active\n" : "\n");
  }
  return as_json ? list.dump(2) + "\n" : text;
}

}  // namespace tool
