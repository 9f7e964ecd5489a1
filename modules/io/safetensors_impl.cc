// SPDX-License-Identifier: Apache-2.0
// safetensors: eight bytes of header length, a JSON header, the elements one tensor after the other.
module;
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include "kernels/common/abi.h"
#include "kernels/common/sizes.h"
#include "modules/io/json.h"
module kerngrad.io;

namespace kerngrad::io::detail {

namespace {

constexpr std::size_t length_bytes = 8;
constexpr std::uint64_t longest_header = 100'000'000;  // the format's own limit
constexpr int header_depth = 3;                        // an object of names, each an object that holds lists
constexpr std::string_view metadata = "__metadata__";
constexpr std::string_view whole_file = "a safetensors file that is whole";

// The dtypes that the format has too.
constexpr dtype_set of_safetensors = any_dtype - only(dtype::complex128);
// How such a dtype is spelt: its kind, and the bits of an element.
std::string safetensors_code(dtype type) {
  if (type == dtype::boolean) return "BOOL";
  constexpr std::array kinds{"", "I", "F", "F", "C"};  // in the order of dtype_kind
  const bool counts = kind_of(type) == dtype_kind::integer && !is_signed_integer(type);
  const char* const plain = kinds[static_cast<std::size_t>(kind_of(type))];
  const std::string kind = type == dtype::bfloat16 ? "BF" : counts ? "U" : plain;
  return kind + std::to_string(8 * size_of(type));
}

// Reads the values of a header, which stay in the document.
json_document parsed_header(const origin& file, std::span<const std::byte> bytes) {
  try {
    return json_document({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, header_depth);
  } catch (const json_refusal& e) {
    file.refuse("has a header that " + e.got, e.wanted.empty() ? whole_file : e.wanted, e.advice);
  }
}

// A list of integers of 0 or more.
std::vector<std::int64_t> integers_in(const origin& file, std::string_view name, const json_value& entry,
                                      const char* field) {
  const std::string what = "has " + in_quotes(name) + " with ";
  const json_value* const list = entry.find(field);
  if (!list || !list->is_list()) file.refuse(what + "no list \"" + field + "\"", whole_file);
  std::vector<std::int64_t> values;
  values.reserve(list->size());
  for (const json_value& item : *list) {
    const std::optional<std::int64_t> value = item.integer();
    if (!value || *value < 0)
      file.refuse(what + in_quotes(item.shown()) + " in \"" + field + "\"", "integers of 0 or more");
    values.push_back(*value);
  }
  return values;
}

// A tensor that the header describes, and where its elements are. The header has the strings.
struct described {
  std::string_view name, code;
  const json_value* entry = nullptr;
  std::optional<dtype> type{};  // nothing: kerngrad has none of that code
  std::int64_t begin = 0, end = 0;
};

described described_by(const origin& file, std::string_view name, const json_value& entry) {
  if (!entry.is_object()) file.refuse("describes " + in_quotes(name) + " by no JSON object", whole_file);
  const json_value* const code = entry.find("dtype");
  if (!code || !code->is_string()) file.refuse("has " + in_quotes(name) + " without a \"dtype\"", whole_file);
  described found{name, code->text(), &entry};
  for (int t = 0; t < dtype_count; ++t)
    if (const dtype type = static_cast<dtype>(t); of_safetensors.has(type) && safetensors_code(type) == found.code)
      found.type = type;
  const std::vector<std::int64_t> offsets = integers_in(file, name, entry, "data_offsets");
  if (offsets.size() != 2 || offsets[0] > offsets[1])
    file.refuse("has " + in_quotes(name) + " with no legal \"data_offsets\"", "a begin and an end");
  found.begin = offsets[0], found.end = offsets[1];
  return found;
}

// The shape of a tensor that is read, for which its bytes must be as many as its elements take.
shape shape_of(const origin& file, const described& one) {
  const shape dims = checked_shape(file, in_quotes(one.name), integers_in(file, one.name, *one.entry, "shape"));
  const std::int64_t bytes = kernels::saturated_product(dims.size(), size_of(*one.type));
  if (one.end - one.begin != bytes)
    file.refuse("has " + bytes_text(static_cast<std::uint64_t>(one.end - one.begin)) + " for " + in_quotes(one.name),
                std::to_string(bytes) + " for " + std::string(name_of(*one.type)) + " " + to_string(dims));
  return dims;
}

// The format's own reader rejects metadata that are no strings.
void check_metadata(const origin& file, const json_value& all) {
  if (!all.is_object()) file.refuse("has a \"__metadata__\" that is no JSON object", "an object of strings");
  for (const json_member member : all.members())
    if (!member.value.is_string())
      file.refuse("has " + in_quotes(member.value.shown()) + " for " + in_quotes(member.name) + " in \"__metadata__\"",
                  "strings there");
}

// The elements lie one after the other, without gaps, overlaps or anything after them.
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
  const shape dims = shape_of(file, one);
  const tensor lent = visit_number(*one.type, [&]<dtype Type>(dtype_constant<Type>) {
    using element = typename dtype_constant<Type>::element;
    const bool aligned = reinterpret_cast<std::uintptr_t>(bytes.data()) % alignof(element) == 0;
    if (Type == dtype::boolean || !owner || !aligned) return tensor{};
    return borrow(reinterpret_cast<const element*>(bytes.data()), dims, owner);
  });
  if (lent.defined()) return lent;
  memory_source from(file, bytes);
  return read_elements(file, in_quotes(one.name), from, dims, *one.type);
}

std::string code_of(const origin& file, const named_tensor& one) {
  if (of_safetensors.has(one.value.type())) return safetensors_code(one.value.type());
  file.refuse("would have " + std::string(name_of(one.value.type())) + " for " + in_quotes(one.name),
              "a dtype that safetensors has", "save a .npz");
}

std::string header_text(const origin& file, std::span<const named_tensor* const> order) {
  const auto write = [&](json_writer& to) {
    std::int64_t offset = 0;
    to.begin_object();
    for (const named_tensor* one : order) {
      to.key(one->name);
      to.begin_object();
      to.member("dtype", code_of(file, *one));
      to.key("shape");
      to.begin_list();
      for (const std::int64_t size : one->value.dims().dims()) to.integer(size);
      to.end_list();
      to.key("data_offsets");
      to.begin_list();
      to.integer(offset);
      to.integer(offset += std::ssize(elements_of(one->value)));
      to.end_list();
      to.end_object();
    }
    to.end_object();
  };
  try {
    return json_text(write);
  } catch (const json_refusal& e) {
    file.refuse("would have " + e.got, e.wanted, e.advice);
  }
}

named_tensors tensors_of(const origin& file, std::span<const described> all, std::span<const std::byte> data,
                         const asked_names& asked, const std::shared_ptr<const void>& owner) {
  std::vector<named_tensor> list;
  std::vector<skipped_entry> skipped;
  list.reserve(asked.is_list() ? 0 : all.size());
  for (const described& one : all) {
    if (!asked.has(one.name)) continue;
    if (!one.type && asked.is_list())
      file.refuse("has " + in_quotes(one.name) + " of dtype " + in_quotes(one.code),
                  "BOOL, U8, I32, I64, F16, BF16, F32, F64 or C64", "convert it before saving it");
    if (!one.type) {
      skipped.push_back({std::string(one.name), "has dtype " + in_quotes(one.code)});
      continue;
    }
    const auto begin = static_cast<std::size_t>(one.begin), count = static_cast<std::size_t>(one.end - one.begin);
    list.push_back({std::string(one.name), elements_at(file, one, data.subspan(begin, count), owner)});
  }
  return collected(file, std::move(list), std::move(skipped));
}

}  // namespace

named_tensors read_safetensors(const origin& file, std::span<const std::byte> bytes, const asked_names& asked,
                               const std::shared_ptr<const void>& owner) {
  if (bytes.size() < length_bytes) file.refuse("is too short for a safetensors file", whole_file);
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), length_bytes);
  if (length > std::min<std::uint64_t>(bytes.size() - length_bytes, longest_header))
    file.refuse("says that its header has " + bytes_text(length) + " of the " +
                    std::to_string(bytes.size() - length_bytes) + " that are left",
                "at most " + std::to_string(longest_header) + ", all of them there");
  const json_document document = parsed_header(file, bytes.subspan(length_bytes, length));
  const json_value& header = document.root();
  if (!header.is_object()) file.refuse("has a header that is no JSON object", whole_file);
  const std::span<const std::byte> data = bytes.subspan(length_bytes + length);
  std::vector<described> all;
  all.reserve(header.size());
  for (const json_member member : header.members())
    if (member.name == metadata) check_metadata(file, member.value);
    else all.push_back(described_by(file, member.name, member.value));
  check_layout(file, all, data.size());
  named_tensors found = tensors_of(file, all, data, asked, owner);
  check_found(file, asked, found, [&] {
    std::vector<std::string> names;
    for (const described& one : all) names.emplace_back(one.name);
    return names;
  });
  return found;
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
  const std::string text = header_text(file, order);
  const std::string blanks((length_bytes - text.size() % length_bytes) % length_bytes, ' ');
  const std::uint64_t length = text.size() + blanks.size();
  if (length > longest_header)
    file.refuse("would have a header of " + bytes_text(length), "at most " + std::to_string(longest_header));
  new_file to(file);
  to.write(std::as_bytes(std::span(&length, 1)));
  to.write(text);
  to.write(blanks);
  for (const named_tensor* one : order) to.write(elements_of(one->value));
  to.keep();
}

}  // namespace kerngrad::io::detail
