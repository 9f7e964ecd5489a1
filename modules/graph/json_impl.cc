// SPDX-License-Identifier: Apache-2.0
// JSON of unknown origin, and what protobuf writes into it: dtypes, shapes, attributes.
module;
#include <nlohmann/json.hpp>
#include <algorithm>
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

constexpr std::size_t deepest = 32;  // a function's node's attribute's tensor has 12
constexpr std::size_t longest_text = std::size_t{1} << 29;
constexpr std::string_view legal = "a graph model's JSON";

// Builds the values as nlohmann's own builder does, but with limits.
class builder : public nlohmann::json_sax<json> {
 public:
  explicit builder(const origin& file) : file_(file) {}
  json root;

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(std::int64_t value) override { return add(value); }
  bool number_unsigned(std::uint64_t value) override { return add(value); }
  bool number_float(double value, const std::string&) override { return add(value); }
  bool string(std::string& value) override { return add(std::move(value)); }
  bool binary(json::binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(json::object()); }
  bool start_array(std::size_t) override { return open(json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(std::string& name) override {
    const auto [at, fresh] = open_.back()->get_ref<json::object_t&>().emplace(std::move(name), nullptr);
    if (!fresh) file_.refuse("has an object with the key " + in_quotes(at->first) + " twice", legal);
    member_ = &at->second;
    return true;
  }
  bool parse_error(std::size_t at, const std::string&, const nlohmann::detail::exception& e) override {
    if (dynamic_cast<const json::out_of_range*>(&e)) file_.refuse("has a number that no double holds", legal);
    file_.refuse("is not JSON (at byte " + std::to_string(at) + ")", legal);
  }

 private:
  json* put(json value) {
    if (open_.empty()) return &(root = std::move(value));
    if (!open_.back()->is_array()) return &(*member_ = std::move(value));
    json::array_t& list = open_.back()->get_ref<json::array_t&>();
    return &list.emplace_back(std::move(value));
  }
  bool add(json value) { return put(std::move(value)), true; }
  bool open(json value) {
    if (open_.size() == deepest) file_.refuse("nests more than " + std::to_string(deepest) + " deep", legal);
    open_.push_back(put(std::move(value)));
    return true;
  }
  bool close() { return open_.pop_back(), true; }

  const origin& file_;
  std::vector<json*> open_;
  json* member_ = nullptr;
};

}  // namespace

json parsed(const origin& file, std::string_view text) {
  if (text.size() > longest_text)
    file.refuse("has " + std::to_string(text.size()) + " bytes", "at most " + std::to_string(longest_text));
  builder made(file);
  json::sax_parse(text.begin(), text.end(), &made);
  return std::move(made.root);
}

void take_apart(json& value) {
  const auto empty = [](auto& all, auto value_of) {
    for (auto& held : all)
      if (json& inner = value_of(held); inner.is_structured()) take_apart(inner);
    all.clear();
  };
  if (value.is_object()) empty(value.get_ref<json::object_t&>(), [](auto& held) -> json& { return held.second; });
  else if (value.is_array()) empty(value.get_ref<json::array_t&>(), [](json& held) -> json& { return held; });
}

const json* member(const json& object, const char* key) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found == object.end() || found->is_null() ? nullptr : &*found;
}

std::string text_in(const origin& file, const json& object, const char* key, std::string_view what) {
  const json* value = member(object, key);
  if (!value || !value->is_string()) file.refuse("has " + std::string(what) + " without a text \"" + key + "\"", legal);
  return value->get<std::string>();
}

std::int64_t integer_in(const origin& file, const json& value, std::string_view what) {
  if (value.is_number_integer() && (!value.is_number_unsigned() || value.get<std::uint64_t>() <= INT64_MAX))
    return value.get<std::int64_t>();
  if (value.is_number_float() && value.get<double>() == std::floor(value.get<double>()) &&
      std::fabs(value.get<double>()) <= 0x1p53)
    return static_cast<std::int64_t>(value.get<double>());
  if (value.is_string()) {
    const std::string& text = value.get_ref<const std::string&>();
    std::int64_t number = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (code == std::errc() && end == text.data() + text.size()) return number;
  }
  file.refuse("has " + in_quotes(value.dump(-1, ' ', true).substr(0, 40)) + " in " + std::string(what),
              "a whole number of 64 bits");
}

const json& list_in(const origin& file, const json& object, const char* key, std::string_view what) {
  static const json none = json::array();
  const json* value = member(object, key);
  if (!value) return none;
  if (!value->is_array()) file.refuse("has " + std::string(what) + " with a \"" + key + "\" that is no list", legal);
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
    std::string_view name = value.get_ref<const std::string&>();
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
    case dtype::int32: return "DT_INT32";
    case dtype::int64: return "DT_INT64";
    case dtype::uint8: return "DT_UINT8";
    case dtype::boolean: return "DT_BOOL";
    case dtype::text: return "DT_STRING";
    case dtype::complex64: return "DT_COMPLEX64";
    case dtype::float16: return "DT_HALF";
    case dtype::bfloat16: return "DT_BFLOAT16";
    default: return "DT_COMPLEX128";
  }
}

partial_shape shape_in(const origin& file, const json& value, std::string_view what) {
  if (!value.is_object()) file.refuse("has a shape that is no object in " + std::string(what), legal);
  const json* unknown = member(value, "unknownRank");
  if (!unknown) unknown = member(value, "unknown_rank");
  if (unknown && unknown->is_boolean() && unknown->get<bool>()) return {};
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

json json_of(const partial_shape& dims) {
  if (!dims.known_rank) return {{"unknownRank", true}};
  json list = json::array();
  for (const std::int64_t size : dims.dims) list.push_back({{"size", std::to_string(size)}});
  return list.empty() ? json::object() : json{{"dim", std::move(list)}};
}

// ------------------------------------------------------------------------------------------ base64 (RFC 4648)

namespace {
constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
}

std::optional<std::string> from_base64(std::string_view text) {
  while (text.ends_with('=')) text.remove_suffix(1);
  if (text.size() % 4 == 1) return {};
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const std::size_t digit = digits.find(c == '-' ? '+' : c == '_' ? '/' : c);
    if (digit == std::string_view::npos) return {};
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count >= 8) bytes += static_cast<char>(bits >> (count -= 8) & 255);
  }
  return bytes;
}

std::string to_base64(std::string_view bytes) {
  std::string text;
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
