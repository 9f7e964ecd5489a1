// SPDX-License-Identifier: Apache-2.0
// Writes JSON.
module;
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include "kernels/common/abi.h"
#include "kernels/text/utf8.h"
#include "modules/io/json.h"
module kerngrad.io;

extern "C++" {
namespace kerngrad::io::detail {

namespace {

// The character after the backslash for what has one; 0: there is none.
char escape_of(char c) {
  switch (c) {
    case '"': return '"';
    case '\\': return '\\';
    case '\b': return 'b';
    case '\f': return 'f';
    case '\n': return 'n';
    case '\r': return 'r';
    case '\t': return 't';
    default: return 0;
  }
}

bool is_plain(char c) { return static_cast<unsigned char>(c) >= ' ' && c != '"' && c != '\\'; }

}  // namespace

void json_writer::separate() {
  if (follows_) put(",");
  follows_ = true;
}

void json_writer::begin(char bracket) {
  separate();
  put({&bracket, 1});
  follows_ = false;
}

void json_writer::end(char bracket) {
  put({&bracket, 1});
  follows_ = true;
}

void json_writer::key(std::string_view name) {
  separate();
  quoted(name);
  put(":");
  follows_ = false;
}

void json_writer::string(std::string_view value) {
  separate();
  quoted(value);
}

void json_writer::integer(std::int64_t value) {
  separate();
  char digits[24];
  const char* const end = std::to_chars(digits, std::end(digits), value).ptr;
  put({digits, end});
}

void json_writer::number(double value) {
  separate();
  char digits[32];
  const char* const end = std::to_chars(digits, std::end(digits), value).ptr;
  const std::string_view text(digits, end);
  put(text);
  if (text.find_first_of(".e") == text.npos) put(".0");  // read as a double again
}

void json_writer::flag(bool value) {
  separate();
  put(value ? "true" : "false");
}

void json_writer::quoted(std::string_view text) {
  if (kernels::utf8_prefix(text) != static_cast<std::int64_t>(text.size()))
    throw json_refusal("a name that is no UTF-8", "names in UTF-8");
  constexpr std::string_view hex = "0123456789abcdef";
  put("\"");
  while (!text.empty()) {
    std::size_t plain = 0;
    while (plain < text.size() && is_plain(text[plain])) ++plain;
    put(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) break;
    const char c = text.front();
    const auto byte = static_cast<std::size_t>(c);
    const char short_form[] = {'\\', escape_of(c)}, long_form[] = {'\\', 'u', '0', '0', hex[byte >> 4], hex[byte & 15]};
    put(short_form[1] ? std::string_view(short_form, 2) : std::string_view(long_form, 6));
    text.remove_prefix(1);
  }
  put("\"");
}

}  // namespace kerngrad::io::detail
}  // extern "C++"
