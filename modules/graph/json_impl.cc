// SPDX-License-Identifier: Apache-2.0
// JSON of unknown origin, and what protobuf writes into it: dtypes, shapes, attributes.
module;
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include "kernels/common/abi.h"
#include "kernels/common/sizes.h"
#include "modules/io/json.h"
module kerngrad.graph;

#include "modules/graph/files.h"

namespace kerngrad::graph::detail {

std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 100;
  std::string shown;  // in one block: every weight and node has its name in quotes at hand
  shown.reserve(longest + 5);
  shown.append(1, '"').append(text.substr(0, longest)).append(text.size() > longest ? "...\"" : "\"");
  std::ranges::replace_if(shown, [](char c) { return c < ' ' || c > '~'; }, '?');
  return shown;
}

void origin::refuse(std::string_view got, std::string_view wanted, std::string_view advice) const {
  fail("load", in_quotes(name) + ", which " + std::string(got), wanted, advice);
}

// ------------------------------------------------------------------------------------------ texts to values

namespace {

constexpr int deepest = 32;  // a function's node's attribute's tensor has 12
constexpr std::string_view legal = "a graph model's JSON";
constexpr json empty_list{json::constant::empty_list};

}  // namespace

json_document parsed(const origin& file, std::string_view text) {
  try {
    return json_document(text, deepest);
  } catch (const json_refusal& e) {
    file.refuse(e.got, e.wanted.empty() ? legal : e.wanted, e.advice);
  }
}

const json* member(const json& object, std::string_view key) {
  const json* found = object.find(key);
  return found && !found->is_null() ? found : nullptr;
}

std::string text_in(const origin& file, const json& object, const char* key, std::string_view what) {
  const json* value = member(object, key);
  if (!value || !value->is_string()) file.refuse("has " + std::string(what) + " without a text \"" + key + "\"", legal);
  return std::string(value->text());
}

std::int64_t integer_in(const origin& file, const json& value, std::string_view what) {
  if (const std::optional<std::int64_t> whole = value.integer()) return *whole;
  if (value.is_number() && value.number() == std::floor(value.number()) && std::fabs(value.number()) <= 0x1p53)
    return static_cast<std::int64_t>(value.number());
  if (value.is_string()) {
    const std::string_view text = value.text();
    std::int64_t number = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (code == std::errc() && end == text.data() + text.size()) return number;
  }
  file.refuse("has " + in_quotes(value.shown()) + " in " + std::string(what), "a whole number of 64 bits");
}

const json& list_in(const origin& file, const json& object, const char* key, std::string_view what) {
  const json* value = member(object, key);
  if (!value) return empty_list;
  if (!value->is_list()) file.refuse("has " + std::string(what) + " with a \"" + key + "\" that is no list", legal);
  return *value;
}

// ------------------------------------------------------------------------------------------ dtypes and shapes

namespace {

// By their numbers in TensorFlow's types.proto. Small integers become int32 and other floats float32, as in
// TensorFlow.js.
constexpr graph_dtype graph_dtypes[] = {
    {"DT_INVALID", dtype::float32},      {"DT_FLOAT", dtype::float32}, {"DT_DOUBLE", dtype::float32},
    {"DT_INT32", dtype::int32},          {"DT_UINT8", dtype::int32},   {"DT_INT16", dtype::int32},
    {"DT_INT8", dtype::int32},           {"DT_STRING", dtype::text},   {"DT_COMPLEX64", dtype::complex64},
    {"DT_INT64", dtype::int32},          {"DT_BOOL", dtype::boolean},  {"DT_QINT8", dtype::int32},
    {"DT_QUINT8", dtype::int32},         {"DT_QINT32", dtype::int32},  {"DT_BFLOAT16", dtype::float32},
    {"DT_QINT16", dtype::int32},         {"DT_QUINT16", dtype::int32}, {"DT_UINT16", dtype::int32},
    {"DT_COMPLEX128", dtype::complex64}, {"DT_HALF", dtype::float32},  {"DT_RESOURCE", dtype::float32},
    {"DT_VARIANT", dtype::float32},      {"DT_UINT32", dtype::int32},  {"DT_UINT64", dtype::int32}};
constexpr std::int64_t first_reference = 100;  // DT_FLOAT_REF is 101

}  // namespace

graph_dtype graph_dtype_in(const origin& file, const json& value, std::string_view what) {
  if (value.is_string()) {
    std::string_view name = value.text();
    if (name.ends_with("_REF")) name.remove_suffix(4);
    for (const graph_dtype& known : graph_dtypes)
      if (known.name == name) return known;
    if (name.starts_with("DT_"))
      file.refuse("has the dtype " + in_quotes(name) + " in " + std::string(what),
                  "a dtype of TensorFlow, such as DT_FLOAT");
  }
  std::int64_t number = integer_in(file, value, what);
  if (number > first_reference) number -= first_reference;
  if (number < 0 || number >= std::ssize(graph_dtypes))
    file.refuse("has the dtype " + std::to_string(number) + " in " + std::string(what),
                "a dtype of TensorFlow, 0 to " + std::to_string(std::ssize(graph_dtypes) - 1));
  return graph_dtypes[number];
}

std::string_view graph_name_of(dtype type) {
  switch (type) {
    case dtype::float32: return "DT_FLOAT";
    case dtype::float64: return "DT_DOUBLE";
    case dtype::float16: return "DT_HALF";
    case dtype::text: return "DT_STRING";
    default: break;
  }
  // TensorFlow has the other names in capitals.
  const auto is_of = [type](const graph_dtype& known) {
    return std::ranges::equal(known.name.substr(std::min<std::size_t>(3, known.name.size())), name_of(type), {}, {},
                              [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  };
  return std::ranges::find_if(graph_dtypes, is_of)->name;
}

partial_shape shape_in(const origin& file, const json& value, std::string_view what) {
  if (!value.is_object()) file.refuse("has a shape that is no object in " + std::string(what), legal);
  const json* unknown = member(value, "unknownRank");
  if (!unknown) unknown = member(value, "unknown_rank");
  if (unknown && unknown->is_boolean() && unknown->flag()) return {};
  partial_shape found;
  found.known_rank = true;
  for (const json& axis : list_in(file, value, "dim", what)) {
    const json* size = member(axis, "size");
    found.dims.push_back(size ? integer_in(file, *size, what) : 0);
    if (found.dims.back() < -1 || found.dims.size() > 254)
      file.refuse("has a shape of " + std::to_string(found.dims.back()) + " in " + std::string(what),
                  "at most 254 sizes of 0 or more, or -1 for any");
  }
  return found;
}

void write(json_writer& to, const partial_shape& dims) {
  to.begin_object();
  if (!dims.known_rank) {
    to.key("unknownRank");
    to.flag(true);
  } else if (!dims.dims.empty()) {
    to.key("dim");
    to.begin_list();
    for (const std::int64_t size : dims.dims) {
      to.begin_object();
      to.member("size", std::to_string(size));
      to.end_object();
    }
    to.end_list();
  }
  to.end_object();
}

// ------------------------------------------------------------------------------------------ base64 (RFC 4648)

namespace {

constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t no_digit = 64;

// The values of digits, in either of the RFC's alphabets.
constexpr std::array<std::uint8_t, 256> digit_values = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(no_digit);
  for (std::size_t i = 0; i < digits.size(); ++i)
    values[static_cast<unsigned char>(digits[i])] = static_cast<std::uint8_t>(i);
  values['-'] = values['+'], values['_'] = values['/'];
  return values;
}();

}  // namespace

std::optional<std::string> from_base64(std::string_view text) {
  while (text.ends_with('=')) text.remove_suffix(1);
  if (text.size() % 4 == 1) return {};
  std::string bytes;
  bytes.reserve(kernels::extent(text.size() / 4 + 1, 3));
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const std::uint8_t digit = digit_values[static_cast<unsigned char>(c)];
    if (digit == no_digit) return {};
    bits = bits << 6 | digit;
    count += 6;
    if (count >= 8) bytes += static_cast<char>(bits >> (count -= 8) & 255);
  }
  return bytes;
}

std::string to_base64(std::string_view bytes) {
  std::string text;
  text.reserve(kernels::extent((bytes.size() + 2) / 3, 4));
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto at = [&](std::size_t k) {
      return i + k < bytes.size() ? static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i + k])) : 0;
    };
    const std::uint32_t bits = at(0) << 16 | at(1) << 8 | at(2);
    for (std::size_t k = 0; k < 4; ++k) text += i + k > bytes.size() ? '=' : digits[bits >> (18 - 6 * k) & 63];
  }
  return text;
}

}  // namespace kerngrad::graph::detail
