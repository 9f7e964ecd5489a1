// SPDX-License-Identifier: Apache-2.0
// Tensors of values that a program writes down, and their values as a program reads them.
module;
#include <algorithm>
#include <cstring>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad;

import :texts;

namespace kerngrad {

std::vector<double> tensor::to_doubles() const {
  std::vector<double> values(static_cast<std::size_t>(size()));
  visit(type(), [&]<dtype Type>(dtype_constant<Type> is) {
    if constexpr (kind_of(Type) >= dtype_kind::complex) {
      fail("to_doubles", "dtype " + std::string(name_of(Type)), "a real dtype", "read its elements with data");
    } else {
      std::ranges::transform(data<typename decltype(is)::element>(), values.begin(),
                             [](auto x) { return static_cast<double>(x); });
    }
  });
  return values;
}

double tensor::item() const {
  if (size() != 1) fail("item", "a tensor of shape " + to_string(dims()), "exactly one element");
  return to_doubles()[0];
}

tensor tensor::raw(const void* values, std::size_t count, dtype type, const shape& dims) {
  if (static_cast<std::int64_t>(count) != dims.size())
    fail("tensor", std::to_string(count) + " values", std::to_string(dims.size()) + " for shape " + to_string(dims));
  if (type == dtype::text) {
    const std::span<const text> all(static_cast<const text*>(values), count);
    for (std::size_t i = 0; i < count; ++i)
      detail::check_utf8("tensor", "text", i, all[i], "give bytes as a tensor of uint8");
    return tensor(detail::copies_of_texts(all, dims));
  }
  detail::buffer* b = detail::allocate(type, dims);
  if (count) std::memcpy(b->data, values, count * size_of(type));
  return tensor(b);
}

namespace detail {

// Shape and dtype of what the braces hold.
std::pair<shape, dtype> nested_values::measured() const {
  if (count_ == 0)
    fail("tensor", "braces without elements", "at least one, which says the dtype",
         "write kg::zeros(shape, dtype) for a tensor without elements");
  std::vector<std::int64_t> dims{static_cast<std::int64_t>(count_)};
  if (elements_) return {shape(dims), type_};
  const auto [row, type] = rows_[0].measured();
  for (std::size_t i = 1; i < count_; ++i) {
    const auto [other, other_type] = rows_[i].measured();
    if (other == row && other_type == type) continue;
    fail("tensor",
         "braces of " + std::string(name_of(type)) + " " + to_string(row) + " next to braces of " +
             std::string(name_of(other_type)) + " " + to_string(other),
         "rows of one shape and one dtype", "write values and their shape in parentheses: tensor({...}, {...})");
  }
  dims.insert(dims.end(), row.begin(), row.end());
  return {shape(dims), type};
}

std::byte* nested_values::copy_to(std::byte* to) const {
  if (elements_) {
    std::memcpy(to, elements_, count_ * size_of(type_));
    return to + count_ * size_of(type_);
  }
  for (std::size_t i = 0; i < count_; ++i) to = rows_[i].copy_to(to);
  return to;
}

void nested_values::add_texts(std::vector<std::string_view>& all) const {
  if (elements_)
    for (std::size_t i = 0; i < count_; ++i) all.push_back(text_at_(elements_, i));
  else
    for (std::size_t i = 0; i < count_; ++i) rows_[i].add_texts(all);
}

buffer* nested_values::make() const {
  const auto [dims, type] = measured();
  if (type == dtype::text) {
    std::vector<std::string_view> texts;
    add_texts(texts);
    const tensor x(std::span<const std::string_view>(texts), dims);
    buffer* const b = tensor_access::buffer(x);
    hold(b);
    return b;
  }
  buffer* b = allocate(type, dims);
  copy_to(b->data);
  return b;
}

buffer* share_part(buffer* source, const shape& dims, std::int64_t first_byte) {
  buffer* b = share(source, dims);
  b->data += first_byte;
  return b;
}

bool share_elements(const buffer* a, const buffer* b) noexcept {
  if ((a->base ? a->base : a) != (b->base ? b->base : b)) return false;
  if (!is_part(a) || !is_part(b)) return true;
  return a->data < b->data + b->bytes && b->data < a->data + a->bytes;
}

void refuse_element(const buffer* b, dtype wanted) {
  fail("data", "a tensor of dtype " + std::string(name_of(b->type)) + " read as " + std::string(name_of(wanted)),
       "the C++ type of its dtype", "cast it first");
}
}  // namespace detail

}  // namespace kerngrad
