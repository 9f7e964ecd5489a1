// SPDX-License-Identifier: Apache-2.0
// From JSON lines to tensors, attributes and calls.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <utility>

#include "tools/strict_json.h"
#include "tools/conformance/conformance.h"

namespace conformance {

namespace {

// A nested list of the highest rank, in an argument of a case, and a good deal more.
constexpr int deepest = 32;

}  // namespace

void for_each_line(const std::filesystem::path& file, const std::function<void(const json&)>& run) {
  std::ifstream in(file);
  if (!in) throw corpus_error(fmt::format("{}: cannot be read", file.string()));
  std::string text;
  for (int number = 1; std::getline(in, text); ++number) {
    if (text.empty()) continue;
    try {
      run(kgtools::parse_strictly(text.begin(), text.end(), deepest));
    } catch (const json::exception& e) {
      throw corpus_error(fmt::format("{}:{}: {}", file.string(), number, e.what()));
    } catch (const kgtools::malformed_json& e) {
      throw corpus_error(fmt::format("{}:{}: {}", file.string(), number, e.what()));
    } catch (const corpus_error& e) {
      throw corpus_error(fmt::format("{}:{}: {}", file.string(), number, e.what()));
    }
  }
  if (in.bad()) throw corpus_error(fmt::format("{}: reading failed", file.string()));
}

// ------------------------------------------------------------------------------------------ tensors

double number_of(const json& value) {
  if (value.is_number()) return value.get<double>();
  if (value == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (value == "Infinity") return std::numeric_limits<double>::infinity();
  if (value == "-Infinity") return -std::numeric_limits<double>::infinity();
  throw corpus_error("not a number: " + value.dump());
}

namespace {

// The integer, which T must hold: a conversion would cut it.
template <class T>
T integer_of(const json& value) {
  const bool fits = value.is_number_unsigned()
                        ? std::in_range<T>(value.get<std::uint64_t>())
                        : value.is_number_integer() && std::in_range<T>(value.get<std::int64_t>());
  if (!fits) throw corpus_error(fmt::format("not an integer of {} bits: {}", 8 * sizeof(T), value.dump()));
  return value.get<T>();
}

float float_of(const json& value) {
  const double number = number_of(value);
  if (std::isfinite(number) && std::fabs(number) > std::numeric_limits<float>::max())
    throw corpus_error("beyond float32: " + value.dump());
  return static_cast<float>(number);
}

template <class T>
kg::tensor filled(const json& data, const kg::shape& dims) {
  std::vector<T> values;
  values.reserve(data.size());
  for (const json& item : data) {
    if constexpr (std::is_floating_point_v<T>) {
      values.push_back(float_of(item));
    } else {
      values.push_back(integer_of<T>(item));
    }
  }
  return kg::tensor(values, dims);
}

kg::tensor filled_bool(const json& data, const kg::shape& dims) {
  std::vector<bool> values;
  for (const json& item : data) {
    if (item != 0 && item != 1) throw corpus_error("not a bool of 0 or 1: " + item.dump());
    values.push_back(item == 1);
  }
  return kg::tensor(values, dims);
}

kg::tensor filled_complex(const json& data, const kg::shape& dims) {
  std::vector<kg::complex64> values;
  for (std::size_t i = 0; i < data.size(); i += 2) values.push_back({float_of(data[i]), float_of(data[i + 1])});
  return kg::tensor(values, dims);
}

kg::shape shape_of(const json& value) {
  std::vector<std::int64_t> sizes;
  for (const json& size : value) sizes.push_back(integer_of<std::int64_t>(size));
  try {
    return kg::shape(sizes);
  } catch (const kg::error& e) {
    throw corpus_error(e.what());
  }
}

}  // namespace

kg::tensor tensor_of(const json& value) {
  const std::string type = value.at("dtype");
  const kg::shape dims = shape_of(value.at("shape"));
  if (!value.contains("data")) throw skip_case{"elements that were not recorded"};
  const json& data = value.at("data");
  if (!data.is_array()) throw corpus_error("data of a tensor is no list");
  const std::size_t parts = type == "complex64" ? 2 : 1;
  if (data.size() != parts * static_cast<std::size_t>(dims.size()))
    throw corpus_error(fmt::format("{} values for a {} tensor of shape {}", data.size(), type, kg::to_string(dims)));
  if (type == "float32") return filled<float>(data, dims);
  if (type == "int32") return filled<std::int32_t>(data, dims);
  if (type == "bool") return filled_bool(data, dims);
  if (type == "complex64") return filled_complex(data, dims);
  if (type == "string") return kg::tensor(data.get<std::vector<std::string>>(), dims);
  throw corpus_error("unknown dtype " + type);
}

// ------------------------------------------------------------------------------------------ attributes

namespace {

void flatten(const json& list, std::vector<json>& out) {
  for (const json& item : list) {
    if (item.is_array()) flatten(item, out);
    else if (item.is_number()) out.push_back(item);
    else throw skip_case{"a list attribute of other things than numbers, which no call can hold"};
  }
}

// Integers, unless numbers are wanted.
kg::attr_value list_of(const json& value, kg::attr_kind wanted) {
  std::vector<json> items;
  flatten(value, items);
  if (std::ranges::all_of(items, [](const json& item) { return item.is_number_integer(); })) {
    std::vector<std::int64_t> list;
    for (const json& item : items) list.push_back(integer_of<std::int64_t>(item));
    return list;
  }
  if (wanted != kg::attr_kind::numbers) throw skip_case{"fractions in a list of integers, which no call can hold"};
  std::vector<double> numbers;
  for (const json& item : items) numbers.push_back(item.get<double>());
  return numbers;
}

// A list of texts is one text, joined.
kg::attr_value joined(const json& texts) {
  std::string all;
  for (const json& text : texts) all += (all.empty() ? "" : "|") + text.get<std::string>();
  return std::string_view(all);
}

kg::attr_value dtype_value(const std::string& name) {
  const auto type = name == "string" ? kg::dtype::text : kg::dtype_named(name);
  if (!type) throw corpus_error("unknown dtype " + name);
  return *type;
}

kg::attr_value value_of(const json& value, kg::attr_kind wanted, bool or_text) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_integer()) return integer_of<std::int64_t>(value);
  if (value.is_number()) return value.get<double>();
  if (value.is_string() && wanted == kg::attr_kind::number && !or_text) return number_of(value);
  if (value.is_string() && wanted == kg::attr_kind::dtype) return dtype_value(value.get<std::string>());
  if (value.is_string()) return std::string_view(value.get_ref<const std::string&>());
  if (!value.is_array()) throw corpus_error("not an attribute: " + value.dump());
  const bool texts = std::ranges::all_of(value, [](const json& item) { return item.is_string(); });
  if (wanted == kg::attr_kind::text && texts) return joined(value);
  return list_of(value, wanted);
}

}  // namespace

void add_attribute(kernel_call& call, const std::string& name, const json& value) {
  if (value.is_null()) return;
  const kg::op_row* row = row_of(call.kernel);
  const int at = row ? row->attr_index(name) : -1;
  if (at < 0) {
    const kg::attr_kind unlisted = name == "dtype" ? kg::attr_kind::dtype : kg::attr_kind::absent;
    call.attrs.push_back({name, value_of(value, unlisted, false)});
    return;
  }
  const kg::attr_spec& spec = row->attrs[static_cast<std::size_t>(at)];
  const bool number = value == "NaN" || value == "Infinity" || value == "-Infinity";
  call.attrs.push_back({name, value_of(value, spec.kind, spec.or_text && !number)});
}

// ------------------------------------------------------------------------------------------ calls

kernel_call call_of(const json& line) {
  kernel_call call{line.at("kernel")};
  const auto list_of = [](const json& items) {
    std::vector<kg::tensor> list;
    for (const json& item : items) list.push_back(tensor_of(item));
    return list;
  };
  const json& inputs = line.at("inputs");
  if (inputs.is_array()) {
    call.operands.emplace_back("", list_of(inputs));
  } else {
    for (const auto& [name, value] : inputs.items()) {
      if (value.is_array()) call.operands.emplace_back(name, list_of(value));
      else call.operands.emplace_back(name, tensor_of(value));
    }
  }
  for (const auto& [name, value] : line.at("attrs").items()) add_attribute(call, name, value);
  return call;
}

const kg::op_row* row_of(std::string_view kernel) {
  const int id = kg::find_op(kernel);
  return id < 0 ? nullptr : &kg::op_table[static_cast<std::size_t>(id)];
}

void require_kernel(std::string_view kernel) {
  if (!row_of(kernel) && !kg::get_kernel(kernel, kg::active_backend())) throw skip_case{"kernel absent"};
}

}  // namespace conformance
