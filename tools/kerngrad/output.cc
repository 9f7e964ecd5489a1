// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "kernels/common/shown.h"
#include "tools/kerngrad/tool.h"

namespace tool {

std::string shown(std::string_view text) { return kerngrad::kernels::shown(text); }

std::string text_of(const json& value) { return value.dump(2, ' ', true, json::error_handler_t::replace) + "\n"; }

void write_out(const std::string& text) {
  errno = 0;
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (!written && errno != EPIPE) throw std::system_error(errno, std::generic_category(), "standard output");
}

}  // namespace tool
