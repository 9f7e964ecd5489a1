// SPDX-License-Identifier: Apache-2.0
// safetensors: eight bytes of header length, a JSON header, the elements one tensor after the other.
module;
#include <nlohmann/json.hpp>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include "kernels/common/abi.h"
#include "kernels/common/sizes.h"
#include "tools/strict_json.h"
module kerngrad.io;

namespace kerngrad::io::detail {

namespace {

using json = nlohmann::json;

constexpr std::size_t length_bytes = 8;
constexpr std::uint64_t longest_header = 100'000'000;  // the format's own limit
constexpr int header_depth = 3;                        // an object of names, each an object that holds lists
constexpr std::string_view metadata = "__metadata__";
constexpr std::string_view whole_file = "a safetensors file that is whole";

struct safetensors_dtype {
  std::string_view code;
  dtype type;
};
constexpr safetensors_dtype safetensors_dtypes[] = {
    {"BOOL", dtype::boolean}, {"U8", dtype::uint8},    {"I32", dtype::int32},
    {"I64", dtype::int64},    {"F16", dtype::float16}, {"BF16", dtype::bfloat16},
    {"F32", dtype::float32},  {"F64", dtype::float64}, {"C64", dtype::complex64}};

json parsed_header(const origin& file, std::span<const std::byte> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  try {
    json header = kgtools::parse_strictly(text.begin(), text.end(), header_depth);
    if (header.is_object()) return header;
  } catch (const kgtools::malformed_json& e) {
    file.refuse("has a header that is " + std::string(e.what()), whole_file);
  }
  file.refuse("has a header that is no JSON object", whole_file);
}

// A list of integers of 0 or more.
std::vector<std::int64_t> integers_in(const origin& file, std::string_view name, const json& entry, const char* field) {
  const std::string what = "has " + in_quotes(name) + " with ";
  const auto list = entry.find(field);
  if (list == entry.end() || !list->is_array()) file.refuse(what + "no list \"" + field + "\"", whole_file);
  std::vector<std::int64_t> values;
  for (const json& item : *list) {
    if (!item.is_number_unsigned() || item.get<std::uint64_t>() > static_cast<std::uint64_t>(kernels::most_size))
      file.refuse(what + in_quotes(item.dump()) + " in \"" + field + "\"", "integers of 0 or more");
    values.push_back(item.get<std::int64_t>());
  }
  return values;
}

dtype dtype_in(const origin& file, std::string_view name, const json& entry) {
  const auto found = entry.find("dtype");
  const std::string code = found != entry.end() && found->is_string() ? found->get<std::string>() : "";
  for (const safetensors_dtype& known : safetensors_dtypes)
    if (known.code == code) return known.type;
  file.refuse("has " + in_quotes(name) + " of dtype " + in_quotes(code),
              "BOOL, U8, I32, I64, F16, BF16, F32, F64 or C64", "convert it before saving it");
}

// A tensor that the header describes, and where its elements are.
struct described {
  std::string name;
  shape dims;
  dtype type{};
  std::int64_t begin = 0, end = 0;
};

described described_by(const origin& file, const std::string& name, const json& entry) {
  if (!entry.is_object()) file.refuse("describes " + in_quotes(name) + " by no JSON object", whole_file);
  described found;
  found.name = name;
  found.type = dtype_in(file, name, entry);
  found.dims = checked_shape(file, in_quotes(name), integers_in(file, name, entry, "shape"));
  const std::vector<std::int64_t> offsets = integers_in(file, name, entry, "data_offsets");
  if (offsets.size() != 2 || offsets[0] > offsets[1])
    file.refuse("has " + in_quotes(name) + " with no legal \"data_offsets\"", "a begin and an end");
  found.begin = offsets[0], found.end = offsets[1];
  const std::int64_t bytes = kernels::saturated_product(found.dims.size(), size_of(found.type));
  if (found.end - found.begin != bytes)
    file.refuse("has " + bytes_text(static_cast<std::uint64_t>(found.end - found.begin)) + " for " + in_quotes(name),
                std::to_string(bytes) + " for " + std::string(name_of(found.type)) + " " + to_string(found.dims));
  return found;
}

// The elements lie one after the other, without gaps, overlaps or anything behind them.
void check_layout(const origin& file, std::vector<described>& all, std::size_t data_bytes) {
  std::sort(all.begin(), all.end(), [](const described& a, const described& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::int64_t next = 0;
  for (const described& one : all) {
    if (one.begin != next)
      file.refuse("has " + in_quotes(one.name) + " at byte " + std::to_string(one.begin) + " of its elements",
                  "it at byte " + std::to_string(next) + ", without gap or overlap");
    next = one.end;
  }
  if (static_cast<std::uint64_t>(next) != data_bytes)
    file.refuse("has " + bytes_text(data_bytes) + " of elements", std::to_string(next) + ", as its header says");
}

// The elements, where they lie if their owner is known and they can be used there, else a copy.
tensor elements_at(const origin& file, const described& one, std::span<const std::byte> bytes,
                   const std::shared_ptr<const void>& owner) {
  const tensor lent = visit_number(one.type, [&]<dtype Type>(dtype_constant<Type>) {
    using element = typename dtype_constant<Type>::element;
    const bool aligned = reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(element) == 0;
    if (Type == dtype::boolean || !owner || !aligned) return tensor{};
    return borrow(reinterpret_cast<const element*>(bytes.data()), one.dims, owner);
  });
  if (lent.defined()) return lent;
  memory_source from(file, bytes);
  return read_elements(file, in_quotes(one.name), from, one.dims, one.type);
}

std::string_view code_of(const origin& file, const named_tensor& one) {
  for (const safetensors_dtype& known : safetensors_dtypes)
    if (known.type == one.value.type()) return known.code;
  file.refuse("would have " + std::string(name_of(one.value.type())) + " for " + in_quotes(one.name),
              "a dtype that safetensors has", "save a .npz");
}

}  // namespace

named_tensors read_safetensors(const origin& file, std::span<const std::byte> bytes,
                               const std::shared_ptr<const void>& owner) {
  if (bytes.size() < length_bytes) file.refuse("is too short for a safetensors file", whole_file);
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), length_bytes);
  if (length > std::min<std::uint64_t>(bytes.size() - length_bytes, longest_header))
    file.refuse("says that its header has " + bytes_text(length) + " of the " +
                    std::to_string(bytes.size() - length_bytes) + " that are left",
                "at most " + std::to_string(longest_header) + ", all of them there");
  const json header = parsed_header(file, bytes.subspan(length_bytes, length));
  const std::span<const std::byte> data = bytes.subspan(length_bytes + length);
  std::vector<described> all;
  for (const auto& [name, entry] : header.items())
    if (name != metadata) all.push_back(described_by(file, name, entry));
  check_layout(file, all, data.size());
  std::vector<named_tensor> list;
  for (const described& one : all) {
    const auto begin = static_cast<std::size_t>(one.begin), count = static_cast<std::size_t>(one.end - one.begin);
    list.push_back({one.name, elements_at(file, one, data.subspan(begin, count), owner)});
  }
  return collected(file, std::move(list));
}

void write_safetensors(const origin& file, const named_tensors& all) {
  std::vector<const named_tensor*> order;
  for (const named_tensor& one : all) {
    if (one.name == metadata) file.refuse("would have a tensor named " + in_quotes(metadata), "another name");
    order.push_back(&one);
  }
  // The widest first, as the format's own writer does: so all are aligned.
  std::sort(order.begin(), order.end(), [](const named_tensor* a, const named_tensor* b) {
    return std::pair(size_of(b->value.type()), std::string_view(a->name)) <
           std::pair(size_of(a->value.type()), std::string_view(b->name));
  });
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  std::uint64_t offset = 0;
  for (const named_tensor* one : order) {
    const std::span<const std::int64_t> dims = one->value.dims().dims();
    const std::uint64_t end = offset + elements_of(one->value).size();
    header[one->name] = {{"dtype", code_of(file, *one)},
                         {"shape", std::vector<std::int64_t>(dims.begin(), dims.end())},
                         {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump();
  text.append((length_bytes - text.size() % length_bytes) % length_bytes, ' ');
  if (text.size() > longest_header)
    file.refuse("would have a header of " + bytes_text(text.size()), "at most " + std::to_string(longest_header));
  const std::uint64_t length = text.size();
  new_file to(file);
  to.write(std::as_bytes(std::span(&length, 1)));
  to.write(text);
  for (const named_tensor* one : order) to.write(elements_of(one->value));
  to.keep();
}

}  // namespace kerngrad::io::detail
