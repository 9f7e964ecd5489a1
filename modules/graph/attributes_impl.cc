// SPDX-License-Identifier: Apache-2.0
// Attributes of nodes as protobuf writes them into JSON, read and written.
module;
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
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

namespace {

using kind = attribute::kind;

double number_in(const origin& file, const json& value, std::string_view what) {
  if (value.is_number()) return value.number();
  if (value == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (value == "Infinity") return std::numeric_limits<double>::infinity();
  if (value == "-Infinity") return -std::numeric_limits<double>::infinity();
  file.refuse("has no number in " + std::string(what), "a number, \"NaN\", \"Infinity\" or \"-Infinity\"");
}

bool flag_in(const origin& file, const json& value, std::string_view what) {
  if (!value.is_boolean()) file.refuse("has no truth value in " + std::string(what), "true or false");
  return value.flag();
}

std::string bytes_in(const origin& file, const json& value, std::string_view what) {
  std::optional<std::string> bytes;
  if (value.is_string()) bytes = from_base64(value.text());
  if (!bytes) file.refuse("has a text in " + std::string(what) + " that is not in base64", "base64");
  return std::move(*bytes);
}

// ------------------------------------------------------------------------------------------ tensors

// The numbers that fill a tensor: a shorter list goes on with its last one.
template <class T, class F>
tensor filled(const origin& file, const shape& dims, const json& list, std::string_view what, F value_of) {
  if (static_cast<std::uint64_t>(dims.size()) < list.size())
    file.refuse("has " + std::to_string(list.size()) + " elements in " + std::string(what),
                "at most " + std::to_string(dims.size()) + " for shape " + to_string(dims));
  return tensor::build<T>(dims, [&](std::span<T> elements) {
    auto next = list.begin();
    T last{};
    for (T& x : elements) x = last = next != list.end() ? static_cast<T>(value_of(*next++)) : last;
  });
}

std::int32_t as_int32(std::int64_t value) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(value, INT32_MIN, INT32_MAX));
}

// Elements as they lie in memory, in the dtype that the graph names.
tensor of_content(const origin& file, const shape& dims, std::string_view graph_type, std::string_view bytes,
                  std::string_view what) {
  const auto read = [&]<class T, class U>(T, U) {
    if (bytes.size() != static_cast<std::uint64_t>(dims.size()) * sizeof(T))
      file.refuse("has " + std::to_string(bytes.size()) + " bytes of elements in " + std::string(what),
                  std::to_string(dims.size()) + " elements of " + std::to_string(sizeof(T)) + " bytes");
    return tensor::build<U>(dims, [&](std::span<U> elements) {
      for (std::size_t i = 0; i < elements.size(); ++i) {
        T value;
        std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
        if constexpr (std::is_same_v<U, bool>) elements[i] = value != 0;
        else if constexpr (std::is_same_v<T, std::int64_t>) elements[i] = as_int32(value);
        else elements[i] = static_cast<U>(value);
      }
    });
  };
  if (graph_type == "DT_FLOAT") return read(float{}, float{});
  if (graph_type == "DT_DOUBLE") return read(double{}, float{});
  if (graph_type == "DT_INT32") return read(std::int32_t{}, std::int32_t{});
  if (graph_type == "DT_INT64") return read(std::int64_t{}, std::int32_t{});
  if (graph_type == "DT_UINT8") return read(std::uint8_t{}, std::int32_t{});
  if (graph_type == "DT_INT8") return read(std::int8_t{}, std::int32_t{});
  if (graph_type == "DT_INT16") return read(std::int16_t{}, std::int32_t{});
  if (graph_type == "DT_BOOL") return read(std::uint8_t{}, bool{});
  file.refuse("has the elements of a " + std::string(graph_type) + " in " + std::string(what),
              "numbers or truth values in \"tensorContent\"", "leave them to the weight files");
}

tensor texts_in(const origin& file, const shape& dims, const json& list, std::string_view what) {
  if (list.size() != static_cast<std::uint64_t>(dims.size()))
    file.refuse("has " + std::to_string(list.size()) + " texts in " + std::string(what),
                std::to_string(dims.size()) + " for shape " + to_string(dims));
  std::vector<std::string> texts;
  texts.reserve(list.size());
  for (const json& item : list) texts.push_back(bytes_in(file, item, what));
  return tensor_of(file, texts, dims, what);
}

tensor elements_in(const origin& file, const json& value, const attribute& a, std::string_view what,
                   std::int64_t& bytes_left) {
  constexpr std::pair<const char*, dtype> lists[] = {{"floatVal", dtype::float32}, {"doubleVal", dtype::float32},
                                                     {"intVal", dtype::int32},     {"int64Val", dtype::int32},
                                                     {"boolVal", dtype::boolean},  {"stringVal", dtype::text}};
  const json* content = member(value, "tensorContent");
  const json* list = nullptr;
  for (const auto& [key, type] : lists)
    if (const json& found = list_in(file, value, key, what); type == a.type && !found.empty()) list = &found;
  if (!a.dims.known_rank || std::ranges::find(a.dims.dims, -1) != a.dims.dims.end()) return {};
  const bool none = std::ranges::find(a.dims.dims, 0) != a.dims.dims.end();
  if (!content && !list && !none) return {};
  const shape dims = allowed_shape(file, a.dims.dims, a.type, what, bytes_left);
  static constexpr json nothing{json::constant::empty_list};
  if (content) return of_content(file, dims, a.text, bytes_in(file, *content, what), what);
  if (!list) list = &nothing;
  switch (a.type) {
    case dtype::int32:
      return filled<std::int32_t>(file, dims, *list, what,
                                  [&](const json& x) { return as_int32(integer_in(file, x, what)); });
    case dtype::boolean:
      return filled<bool>(file, dims, *list, what, [&](const json& x) { return flag_in(file, x, what); });
    case dtype::text: return texts_in(file, dims, *list, what);
    case dtype::complex64: return zeros(dims, dtype::complex64);
    default: return filled<float>(file, dims, *list, what, [&](const json& x) { return number_in(file, x, what); });
  }
}

// ------------------------------------------------------------------------------------------ lists

void read_list(const origin& file, const json& value, std::string_view what, attribute& a, std::int64_t& bytes_left) {
  constexpr std::pair<const char*, kind> keys[] = {{"s", kind::texts},    {"i", kind::integers},
                                                   {"f", kind::numbers},  {"b", kind::booleans},
                                                   {"type", kind::types}, {"shape", kind::shapes}};
  a.holds = kind::integers;
  for (const auto& [key, holds] : keys) {
    const json& list = list_in(file, value, key, what);
    if (list.empty()) continue;
    take_bytes(file, static_cast<std::int64_t>(list.size() * sizeof(partial_shape)), what, bytes_left);
    a.holds = holds;
    for (const json& item : list) {
      switch (holds) {
        case kind::texts: a.texts.push_back(bytes_in(file, item, what)); break;
        case kind::integers: a.integers.push_back(integer_in(file, item, what)); break;
        case kind::numbers: a.numbers.push_back(number_in(file, item, what)); break;
        case kind::booleans: a.integers.push_back(flag_in(file, item, what)); break;
        case kind::types: a.integers.push_back(static_cast<std::int64_t>(graph_dtype_in(file, item, what).type)); break;
        default: a.shapes.push_back(shape_in(file, item, what));
      }
    }
    return;
  }
}

void read_tensor(const origin& file, const json& value, std::string_view what, attribute& a, std::int64_t& bytes_left) {
  a.holds = kind::tensor;
  const json* type = member(value, "dtype");
  if (!type) file.refuse("has a tensor without a dtype in " + std::string(what), "one such as \"DT_FLOAT\"");
  const graph_dtype named = graph_dtype_in(file, *type, what);
  a.type = named.type, a.text = named.name;
  const json* dims = member(value, "tensorShape");
  a.dims = dims ? shape_in(file, *dims, what) : partial_shape{true, {}};
  a.value = elements_in(file, value, a, what, bytes_left);
}

}  // namespace

attribute type_attribute(std::string_view name, const graph_dtype& type) {
  attribute a;
  a.name = name, a.holds = kind::type, a.type = type.type, a.text = type.name;
  return a;
}

attribute attribute_in(const origin& file, std::string_view name, const json& value, std::string_view of,
                       std::int64_t& bytes_left) {
  const std::string what = "attribute " + in_quotes(name) + " of " + std::string(of);
  attribute a;
  a.name = name;
  if (const json* s = member(value, "s")) {
    a.holds = kind::text, a.text = bytes_in(file, *s, what);
  } else if (const json* i = member(value, "i")) {
    a.holds = kind::integer, a.integer = integer_in(file, *i, what);
  } else if (const json* f = member(value, "f")) {
    a.holds = kind::number, a.number = number_in(file, *f, what);
  } else if (const json* b = member(value, "b")) {
    a.holds = kind::boolean, a.flag = flag_in(file, *b, what);
  } else if (const json* type = member(value, "type")) {
    return type_attribute(name, graph_dtype_in(file, *type, what));
  } else if (const json* dims = member(value, "shape")) {
    a.holds = kind::shape, a.dims = shape_in(file, *dims, what);
  } else if (const json* x = member(value, "tensor")) {
    read_tensor(file, *x, what, a, bytes_left);
  } else if (const json* function = member(value, "func")) {
    a.holds = kind::function, a.text = text_in(file, *function, "name", what);
  } else if (const json* list = member(value, "list")) {
    read_list(file, *list, what, a, bytes_left);
  } else if (!value.is_object()) {
    file.refuse("has " + what + " that is no object", "one such as {\"i\": \"1\"}");
  }
  return a;
}

// ------------------------------------------------------------------------------------------ written

namespace {

void write(json_writer& to, double value) {
  if (std::isnan(value)) to.string("NaN");
  else if (std::isinf(value)) to.string(value > 0 ? "Infinity" : "-Infinity");
  else to.number(value);
}

// An object with one member, whose value `write_value` writes.
template <class F>
void write_member(json_writer& to, std::string_view key, F write_value) {
  to.begin_object();
  to.key(key);
  write_value();
  to.end_object();
}

template <class Items, class F>
void write_list(json_writer& to, std::string_view key, const Items& items, F write_item) {
  write_member(to, "list", [&] {
    to.begin_object();
    if (!items.empty()) {
      to.key(key);
      to.begin_list();
      for (const auto& item : items) write_item(item);
      to.end_list();
    }
    to.end_object();
  });
}

}  // namespace

void write(json_writer& to, const attribute& a) {
  const auto named = [&](dtype type) { return a.text.empty() ? graph_name_of(type) : std::string_view(a.text); };
  const auto alone = [&](std::string_view key, auto write_value) { write_member(to, key, write_value); };
  switch (a.holds) {
    case kind::boolean: return alone("b", [&] { to.flag(a.flag); });
    case kind::integer: return alone("i", [&] { to.string(std::to_string(a.integer)); });
    case kind::number: return alone("f", [&] { write(to, a.number); });
    case kind::text: return alone("s", [&] { to.string(to_base64(a.text)); });
    case kind::type: return alone("type", [&] { to.string(named(a.type)); });
    case kind::shape: return alone("shape", [&] { write(to, a.dims); });
    case kind::tensor:
      return alone("tensor", [&] {
        to.begin_object();
        to.member("dtype", named(a.type));
        to.key("tensorShape");
        write(to, a.dims);
        to.end_object();
      });
    case kind::function: return alone("func", [&] { write_member(to, "name", [&] { to.string(a.text); }); });
    case kind::booleans: return write_list(to, "b", a.integers, [&](std::int64_t item) { to.flag(item != 0); });
    case kind::integers:
      return write_list(to, "i", a.integers, [&](std::int64_t item) { to.string(std::to_string(item)); });
    case kind::numbers: return write_list(to, "f", a.numbers, [&](double item) { write(to, item); });
    case kind::texts: return write_list(to, "s", a.texts, [&](const std::string& item) { to.string(to_base64(item)); });
    case kind::types:
      return write_list(to, "type", a.integers,
                        [&](std::int64_t item) { to.string(graph_name_of(static_cast<dtype>(item))); });
    case kind::shapes: return write_list(to, "shape", a.shapes, [&](const partial_shape& item) { write(to, item); });
    case kind::nothing: break;
  }
  to.begin_object();
  to.end_object();
}

}  // namespace kerngrad::graph::detail
