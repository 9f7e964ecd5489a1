// SPDX-License-Identifier: Apache-2.0
// Fuzz target: a pattern, a rewrite and a text, each ended by a line feed; the text may have more of them.
#include "tests/fuzz/support.h"

import kerngrad.regex;

namespace {

// Cuts off the first line.
std::string_view line_of(std::string_view& rest) {
  const std::string_view line = rest.substr(0, rest.find('\n'));
  rest.remove_prefix(line.size() == rest.size() ? line.size() : line.size() + 1);
  return line;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = kerngrad::kernels::utf8_sequence(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::run(data, size, [](std::span<const std::uint8_t> input) {
    std::string_view rest(reinterpret_cast<const char*>(input.data()), input.size());
    const std::string_view pattern = line_of(rest), rewrite = line_of(rest);
    for (const bool all : {false, true})
      fuzz::accepted([&] {
        const kg::tensor x({std::string_view(rest), std::string_view("a")});
        const kg::tensor y = kg::static_regex_replace(x, pattern, rewrite, all);
        fuzz::require(y.dims() == x.dims(), "a result of another shape");
        for (const std::string& text : y.to_texts()) fuzz::require(is_utf8(text), "a result that is not UTF-8");
      });
  });
}
