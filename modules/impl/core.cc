// SPDX-License-Identifier: Apache-2.0
// Texts: errors, shapes, dtypes, attribute values.
module;
#include <charconv>
#include <string>
#include "kernels/abi.h"
module kerngrad;

namespace kerngrad {

namespace {
std::string sentence(std::string_view op, std::string_view got, std::string_view wanted, std::string_view advice) {
  std::string text = "[" + std::string(op) + "] got " + std::string(got);
  if (!wanted.empty()) text += "; wanted " + std::string(wanted);
  if (!advice.empty()) text += "; " + std::string(advice);
  return text;
}
}  // namespace

error::error(std::string_view op, std::string_view got, std::string_view wanted, std::string_view advice)
    : std::runtime_error(sentence(op, got, wanted, advice)), op_(op), got_(got), wanted_(wanted), advice_(advice) {}

void fail(std::string_view op, std::string_view got, std::string_view wanted, std::string_view advice) {
  throw error(op, got, wanted, advice);
}

void detail::fail_with(std::string_view op, std::string_view got, std::initializer_list<std::int64_t> numbers,
                       std::string_view wanted, std::string_view advice) {
  std::string text;
  const std::int64_t* next = numbers.begin();
  for (char c : got) {
    if (c == '#') text += std::to_string(*next++);
    else text += c;
  }
  fail(op, text, wanted, advice);
}

void detail::refuse_index(std::string_view what, std::int64_t i, std::int64_t count) {
  fail(what, "index " + std::to_string(i) + " of " + std::to_string(count),
       count ? "an index from 0 to " + std::to_string(count - 1) : "one that is not empty");
}

void inference::refuse(std::string_view got, std::string_view wanted, std::string_view advice) const {
  fail(row.name, got, wanted, advice);
}

std::string to_string(const shape& dims) {
  std::string text = "[";
  for (int i = 0; i < dims.rank(); ++i) text += (i ? ", " : "") + std::to_string(dims[i]);
  return text + "]";
}

std::string to_string(dtype_set set) {
  std::string text;
  for (int i = 0; i < dtype_count; ++i)
    if (set.has(static_cast<dtype>(i)))
      text += (text.empty() ? "" : ", ") + std::string(name_of(static_cast<dtype>(i)));
  return text.empty() ? "none" : text;
}

std::string to_string(const attr_value& value) {
  switch (value.kind()) {
    case attr_kind::absent: return "nothing";
    case attr_kind::boolean: return value.as_bool() ? "true" : "false";
    case attr_kind::integer: return std::to_string(value.as_integer());
    case attr_kind::number: {
      char digits[32];
      return std::string(digits, std::to_chars(digits, digits + sizeof digits, value.as_number()).ptr);
    }
    case attr_kind::dtype: return std::string(name_of(value.as_dtype()));
    case attr_kind::text: return "\"" + std::string(value.as_text()) + "\"";
    case attr_kind::list: break;
  }
  std::string text = "[";
  for (std::int64_t item : value.as_list()) text += (text.size() > 1 ? ", " : "") + std::to_string(item);
  return text + "]";
}

}  // namespace kerngrad
