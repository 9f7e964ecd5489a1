// SPDX-License-Identifier: Apache-2.0
// From JSON to the arguments of a call.
#include <algorithm>

#include "tests/opinfo/sample.h"

namespace opinfo {

// ------------------------------------------------------------------------------------------ tensors

double number_of(const json& value) {
  if (value == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (value == "Infinity") return std::numeric_limits<double>::infinity();
  if (value == "-Infinity") return -std::numeric_limits<double>::infinity();
  return value.get<double>();
}

kg::dtype dtype_of_name(std::string_view name) {
  const auto type = kg::dtype_named(name);
  if (!type) throw skip{"no dtype " + std::string(name)};
  return *type;
}

namespace {

template <class T>
kg::tensor filled(const json& data, const kg::shape& dims) {
  std::vector<T> values;
  values.reserve(data.size());
  for (const json& item : data) {
    if constexpr (std::is_floating_point_v<T>) values.push_back(static_cast<T>(number_of(item)));
    else values.push_back(item.get<T>());
  }
  return kg::tensor(values, dims);
}

template <class Complex, class Part>
kg::tensor filled_complex(const json& data, const kg::shape& dims) {
  std::vector<Complex> values;
  for (std::size_t i = 0; i < data.size(); i += 2)
    values.push_back({static_cast<Part>(number_of(data[i])), static_cast<Part>(number_of(data[i + 1]))});
  return kg::tensor(values, dims);
}

}  // namespace

kg::tensor tensor_of(const json& value, kg::dtype type) {
  if (value.contains("t")) type = dtype_of_name(value.at("t").get<std::string>());
  const kg::shape dims(value.at("s").get<std::vector<std::int64_t>>());
  const json& data = value.at("v");
  switch (type) {
    case kg::dtype::float32: return filled<float>(data, dims);
    case kg::dtype::float64: return filled<double>(data, dims);
    case kg::dtype::float16:
    case kg::dtype::bfloat16: return kg::cast(filled<float>(data, dims), type);
    case kg::dtype::int32: return filled<std::int32_t>(data, dims);
    case kg::dtype::int64: return filled<std::int64_t>(data, dims);
    case kg::dtype::uint8: return filled<std::uint8_t>(data, dims);
    case kg::dtype::boolean: return kg::cast(filled<std::int32_t>(data, dims), type);
    case kg::dtype::complex64: return filled_complex<kg::complex64, float>(data, dims);
    case kg::dtype::complex128: return filled_complex<kg::complex128, double>(data, dims);
    default: throw skip{"no dtype " + std::string(kg::name_of(type))};
  }
}

// ------------------------------------------------------------------------------------------ arguments

sample::sample(const json& line) : own_type_(dtype_of_name(line.at("t").get<std::string>())) {
  for (const json& value : line.at("args")) args_.push_back(parsed(value));
  for (const auto& [name, value] : line.at("kwargs").items()) kwargs_[name] = parsed(value);
}

// Tensors become {"tensor": index}.
json sample::parsed(const json& value) {
  if (value.is_object() && value.contains("s")) {
    if (value.contains("d")) leaves_.push_back(tensors_.size());
    tensors_.push_back(tensor_of(value, own_type_));
    return {{"tensor", tensors_.size() - 1}};
  }
  if (!value.is_array()) return value;
  json list = json::array();
  for (const json& item : value) list.push_back(parsed(item));
  return list;
}

const json* sample::find(const char* name, int place) const {
  const json* found = nullptr;
  if (const auto at = kwargs_.find(name); at != kwargs_.end()) found = &at->second;
  else if (place >= 0 && place < count()) found = &args_[static_cast<std::size_t>(place)];
  if (!found) return nullptr;
  read_.insert(found);
  return found->is_null() ? nullptr : found;
}

bool sample::has(const char* name, int place) const { return find(name, place) != nullptr; }

const json& sample::raw(const char* name, int place) const {
  const json* value = find(name, place);
  if (!value) throw skip{std::string("without the argument ") + (*name ? name : "at its place")};
  return *value;
}

kg::tensor sample::at(const json& value) const {
  if (!value.is_object() || !value.contains("tensor")) throw skip{"another argument where a tensor is taken"};
  return tensors_[value.at("tensor").get<std::size_t>()];
}

kg::tensor sample::tensor(const char* name, int place) const {
  const json* value = find(name, place);
  return value ? at(*value) : kg::tensor();
}

kg::tensor sample::x(int place) const { return at(raw("", place)); }

bool sample::is_number(int place) const {
  if (place >= count()) return false;
  const json& value = args_[static_cast<std::size_t>(place)];
  return value.is_number() || value.is_boolean() || value.is_string();
}

std::vector<kg::tensor> sample::tensors(int place) const {
  std::vector<kg::tensor> list;
  const json& value = raw("", place);
  if (!value.is_array()) throw skip{"another argument where a list of tensors is taken"};
  for (const json& item : value) list.push_back(at(item));
  return list;
}

std::vector<kg::tensor> sample::all_tensors() const {
  std::vector<kg::tensor> list;
  for (int place = 0; place < count(); ++place) {
    const json& value = raw("", place);
    if (value.is_array())
      for (const json& item : value) list.push_back(at(item));
    else list.push_back(at(value));
  }
  return list;
}

double sample::number(const char* name, int place, std::optional<double> otherwise) const {
  const json* value = find(name, place);
  if (!value && otherwise) return *otherwise;
  const json& there = raw(name, place);
  if (there.is_boolean()) return there.get<bool>() ? 1 : 0;
  if (!there.is_number() && !there.is_string()) throw skip{"another argument where a number is taken"};
  return number_of(there);
}

std::int64_t sample::whole(const char* name, int place, std::optional<std::int64_t> otherwise) const {
  const json* value = find(name, place);
  if (!value && otherwise) return *otherwise;
  const json& there = raw(name, place);
  if (there.is_boolean()) return there.get<bool>() ? 1 : 0;
  if (!there.is_number_integer()) throw skip{"another argument where an integer is taken"};
  return there.get<std::int64_t>();
}

bool sample::truth(const char* name, int place, bool otherwise) const {
  const json* value = find(name, place);
  if (!value) return otherwise;
  if (!value->is_boolean()) throw skip{"another argument where true or false is taken"};
  return value->get<bool>();
}

std::string sample::text(const char* name, int place, std::string_view otherwise) const {
  const json* value = find(name, place);
  if (!value) return std::string(otherwise);
  if (!value->is_string()) throw skip{"another argument where a name is taken"};
  return value->get<std::string>();
}

kg::dtype sample::type(const char* name, int place, kg::dtype otherwise) const {
  const json* value = find(name, place);
  if (!value) return otherwise;
  if (!value->is_object() || !value->contains("dtype")) throw skip{"another argument where a dtype is taken"};
  return dtype_of_name(value->at("dtype").get<std::string>());
}

namespace {

std::vector<std::int64_t> integers_of(const json& value) {
  std::vector<std::int64_t> list;
  for (const json& item : value) {
    if (!item.is_number_integer()) throw skip{"another argument where a list of integers is taken"};
    list.push_back(item.get<std::int64_t>());
  }
  return list;
}

}  // namespace

std::vector<std::int64_t> sample::list(const char* name, int place) const {
  const json& value = raw(name, place);
  return value.is_array() ? integers_of(value) : std::vector{whole(name, place)};
}

std::vector<std::int64_t> sample::rest(int place) const {
  if (place < count() && args_[static_cast<std::size_t>(place)].is_array()) return list("", place);
  std::vector<std::int64_t> all;
  for (; place < count(); ++place) all.push_back(whole("", place));
  return all;
}

kg::axes sample::axes(const char* name, int place) const {
  if (!has(name, place)) return kg::all_axes;
  const json& value = raw(name, place);
  if (value.is_array() && value.empty()) return kg::all_axes;  // PyTorch's meaning
  return value.is_array() ? kg::axes(integers_of(value)) : kg::axes(whole(name, place));
}

// ------------------------------------------------------------------------------------------ gradients

std::vector<kg::tensor> sample::leaves() const {
  std::vector<kg::tensor> list;
  for (const std::size_t at : leaves_) list.push_back(tensors_[at]);
  return list;
}

sample sample::with(std::span<const kg::tensor> leaves) const {
  sample other = *this;
  other.read_.clear();
  for (std::size_t i = 0; i < leaves.size(); ++i) other.tensors_[leaves_[i]] = leaves[i];
  return other;
}

void sample::check_all_read() const {
  const auto check = [&](const json& value, const std::string& name) {
    if (!value.is_null() && !read_.contains(&value)) throw skip{"an argument that the call lacks: " + name};
  };
  for (const json& value : args_) check(value, "a positional one");
  for (const auto& [name, value] : kwargs_) check(value, name);
}

}  // namespace opinfo
