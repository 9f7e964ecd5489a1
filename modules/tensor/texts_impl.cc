// SPDX-License-Identifier: Apache-2.0
// Tensors of text from a program's strings and from kernels, and their elements as strings.
module;
#include <cstring>
#include <string>
#include <string_view>
#include <vector>
#include "kernels/common/abi.h"
#include "kernels/common/sizes.h"
#include "kernels/text/utf8.h"
module kerngrad;

import :blocks;
import :texts;

namespace kerngrad {
namespace detail {
namespace {

// An empty text needs none: its element is null.
std::int64_t bytes_behind(std::size_t length) {
  return length == 0
             ? 0
             : kernels::sum_of(static_cast<std::int64_t>(sizeof(std::uint64_t)), static_cast<std::int64_t>(length));
}

// A buffer for texts that take so many bytes after the elements, with what either consists of to be written.
buffer* allocate_texts(const shape& dims, std::int64_t bytes) {
  const std::int64_t elements = kernels::product_of(dims.size(), sizeof(text));
  buffer* b = allocate(dtype::uint8, {kernels::sum_of(elements, bytes)});
  describe(b, dtype::text, dims, form_of(dtype::text, dims, b->size_class), b->bytes);
  return b;
}

// `at(i)` is text i, as whatever has data() and size().
template <class At>
buffer* with_copies(std::size_t count, const shape& dims, At at) {
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < count; ++i) bytes = kernels::sum_of(bytes, bytes_behind(at(i).size()));
  buffer* b = allocate_texts(dims, bytes);
  std::byte* to = b->data + count * sizeof(text);
  for (std::size_t i = 0; i < count; ++i) {
    const auto from = at(i);
    const std::uint64_t length = from.size();
    const text element{length ? to : nullptr};
    std::memcpy(b->data + i * sizeof(text), &element, sizeof element);
    if (length == 0) continue;
    std::memcpy(to, &length, sizeof length);
    std::memcpy(to + sizeof length, from.data(), length);
    to += sizeof length + length;
  }
  return b;
}

}  // namespace

buffer* copies_of_texts(std::span<const text> texts, const shape& dims) {
  return with_copies(texts.size(), dims, [&](std::size_t i) { return texts[i]; });
}

void own_texts(tensor& y) { y = tensor_access::adopt(copies_of_texts(y.data<text>(), y.dims())); }

void check_utf8(std::string_view function, std::string_view what, std::size_t i, std::string_view bytes,
                std::string_view advice) {
  const std::int64_t good = kernels::utf8_prefix(bytes);
  if (good == static_cast<std::int64_t>(bytes.size())) return;
  fail(function,
       std::string(what) + " " + std::to_string(i) + ", which is no UTF-8 from byte " + std::to_string(good) + " on",
       "texts in UTF-8", advice);
}

}  // namespace detail

tensor tensor::from_texts(std::span<const std::string_view> values, const shape& dims) {
  if (static_cast<std::int64_t>(values.size()) != dims.size())
    fail("tensor", std::to_string(values.size()) + " values",
         std::to_string(dims.size()) + " for shape " + to_string(dims));
  for (std::size_t i = 0; i < values.size(); ++i)
    detail::check_utf8("tensor", "text", i, values[i], "give bytes as a tensor of uint8");
  return tensor(detail::with_copies(values.size(), dims, [&](std::size_t i) { return values[i]; }));
}

std::vector<std::string> tensor::to_texts() const {
  std::vector<std::string> all;
  all.reserve(static_cast<std::size_t>(size()));
  for (const text one : data<text>()) all.emplace_back(one.data(), one.size());
  return all;
}

}  // namespace kerngrad
