// SPDX-License-Identifier: Apache-2.0
// Tensors by name, and what readers of all formats check.
module;
#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include "kernels/common/abi.h"
#include "kernels/common/sizes.h"
#include "kernels/text/utf8.h"
module kerngrad.io;

namespace kerngrad::io {

static_assert(std::endian::native == std::endian::little, "elements are read and written as they lie in memory");

namespace {

bool by_name(const named_tensor& a, const named_tensor& b) { return a.name < b.name; }

auto position_of(const std::vector<named_tensor>& list, std::string_view name) {
  return std::lower_bound(list.begin(), list.end(), name,
                          [](const named_tensor& one, std::string_view wanted) { return one.name < wanted; });
}

std::string_view name_in(const named_tensor& one) { return one.name; }
std::string_view name_in(const std::string& name) { return name; }

// The names, for an error: the first of many.
template <class Named>
std::string names_in(const std::vector<Named>& list) {
  constexpr std::size_t most = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(list.size(), most); ++i)
    text += (i ? ", " : "one of ") + detail::in_quotes(name_in(list[i]));
  return list.empty() ? "a file that holds tensors" : text + (list.size() > most ? ", ..." : "");
}

// Sorts, and gives the first that occurs twice or the end.
auto sort_by_name(std::vector<named_tensor>& list) {
  std::sort(list.begin(), list.end(), by_name);
  return std::adjacent_find(list.begin(), list.end(),
                            [](const named_tensor& a, const named_tensor& b) { return a.name == b.name; });
}

void check_defined(std::string_view name, const tensor& value) {
  if (!value.defined())
    fail("named_tensors", "an undefined tensor named " + detail::in_quotes(name), "a tensor", "give it a value first");
}

}  // namespace

named_tensors::named_tensors() noexcept = default;
named_tensors::named_tensors(const named_tensors& other) = default;
named_tensors::named_tensors(named_tensors&& other) noexcept = default;
named_tensors& named_tensors::operator=(const named_tensors& other) = default;
named_tensors& named_tensors::operator=(named_tensors&& other) noexcept = default;
named_tensors::~named_tensors() = default;

named_tensors::named_tensors(std::initializer_list<named_tensor> list)
    : named_tensors(std::vector<named_tensor>(list)) {}

named_tensors::named_tensors(std::vector<named_tensor> list, std::vector<skipped_entry> skipped)
    : list_(std::move(list)), skipped_(std::move(skipped)) {
  for (const named_tensor& one : list_) check_defined(one.name, one.value);
  const auto twice = sort_by_name(list_);
  if (twice != list_.end()) fail("named_tensors", detail::in_quotes(twice->name) + " twice", "each name once");
}

tensor named_tensors::at(std::string_view name) const {
  const auto found = position_of(list_, name);
  if (found != list_.end() && found->name == name) return found->value;
  const auto left_out = std::ranges::find(skipped_, name, &skipped_entry::name);
  if (left_out != skipped_.end())
    fail("at", detail::in_quotes(name) + ", which was left out because it " + left_out->reason, names_in(list_));
  fail("at", "no tensor named " + detail::in_quotes(name), names_in(list_));
}

bool named_tensors::contains(std::string_view name) const {
  const auto found = position_of(list_, name);
  return found != list_.end() && found->name == name;
}

void named_tensors::set(std::string_view name, tensor value) {
  check_defined(name, value);
  const auto found = list_.begin() + (position_of(list_, name) - list_.begin());
  if (found != list_.end() && found->name == name) found->value = std::move(value);
  else list_.insert(found, named_tensor{std::string(name), std::move(value)});
}

named_tensors::operator tensor() const {
  if (list_.size() != 1)
    fail("named_tensors", std::to_string(list_.size()) + " tensors where one is asked for",
         list_.empty() ? "one" : names_in(list_), "take one by its name: .at(\"x\")");
  return list_[0].value;
}

namespace detail {

named_tensors collected(const origin& file, std::vector<named_tensor> list, std::vector<skipped_entry> skipped) {
  const auto twice = sort_by_name(list);
  if (twice != list.end()) file.refuse("has " + in_quotes(twice->name) + " twice", "each name once");
  return named_tensors(std::move(list), std::move(skipped));
}

asked_names::asked_names(std::span<const std::string> names) : sorted_(names.begin(), names.end()), is_list_(true) {
  std::ranges::sort(sorted_);
}

bool asked_names::has(std::string_view name) const { return !is_list_ || std::ranges::binary_search(sorted_, name); }

std::optional<std::string_view> asked_names::missing_in(const named_tensors& found) const {
  const auto missing = std::ranges::find_if(sorted_, [&](std::string_view name) { return !found.contains(name); });
  return missing == sorted_.end() ? std::nullopt : std::optional(*missing);
}

void check_found(const origin& file, const asked_names& asked, const named_tensors& found,
                 const std::function<std::vector<std::string>()>& names) {
  if (const std::optional<std::string_view> missing = asked.missing_in(found))
    file.refuse("has no tensor named " + in_quotes(*missing), names_in(names()));
}

// A name without zero bytes: C would take one for the end.
bool is_name(std::string_view text) {
  return !text.empty() && text.find('\0') == text.npos &&
         kernels::utf8_prefix(text) == static_cast<std::int64_t>(text.size());
}

shape checked_shape(const origin& file, std::string_view what, std::span<const std::int64_t> sizes) {
  try {
    return shape(sizes);
  } catch (const error& e) {
    file.refuse("says that " + std::string(what) + " has " + e.got(), e.wanted());
  }
}

void check_memory(const origin& file, std::string_view what, std::int64_t wanted) {
  const std::int64_t limit = memory_limit();
  if (limit == unlimited) return;
  const std::int64_t left = std::max<std::int64_t>(limit - memory().live_bytes, 0);
  if (wanted > left)
    file.refuse("needs " + bytes_text(static_cast<std::uint64_t>(wanted)) + " for " + std::string(what),
                "at most the " + std::to_string(left) + " that the memory limit leaves",
                "raise it with set_memory_limit");
}

void check_memory(const origin& file, std::string_view what, const shape& dims, dtype type) {
  check_memory(file, what, kernels::saturated_product(dims.size(), size_of(type)));
}

namespace {

// Each of `count` numbers of T's size in the other byte order.
template <class T>
void swap_bytes(std::byte* at, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i, at += sizeof(T)) std::reverse(at, at + sizeof(T));
}

}  // namespace

tensor read_elements(const origin& file, std::string_view what, byte_source& from, const shape& dims, dtype type,
                     bool swapped) {
  check_memory(file, what, dims, type);
  return visit_number(type, [&]<dtype Type>(dtype_constant<Type>) {
    using element = typename dtype_constant<Type>::element;
    return tensor::build<element>(dims, [&](std::span<element> elements) {
      const std::span<std::byte> bytes = std::as_writable_bytes(elements);
      from.read(bytes);
      if constexpr (Type == dtype::boolean) {
        for (std::byte& b : bytes) b = std::byte{b != std::byte{0}};
      } else if (swapped) {
        swap_bytes<typename kernels::part_t<Type>>(bytes.data(), bytes.size() / sizeof(kernels::part_t<Type>));
      }
    });
  });
}

std::span<const std::byte> elements_of(const tensor& x) {
  const std::int64_t bytes = kernels::product_of(x.size(), size_of(x.type()));
  return {static_cast<const std::byte*>(x.address()), static_cast<std::size_t>(bytes)};
}

}  // namespace detail

}  // namespace kerngrad::io
