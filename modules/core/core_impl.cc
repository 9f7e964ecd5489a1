// SPDX-License-Identifier: Apache-2.0
// Texts: errors, shapes, dtypes, attribute values.
module;
#include <atomic>
#include <charconv>
#include <cstring>
#include <new>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/filter.hpp>
#include <range/v3/view/iota.hpp>
#include <range/v3/view/join.hpp>
#include <range/v3/view/transform.hpp>
#include <string>
#include "kernels/common/abi.h"
#include "kernels/common/shown.h"
#include "kernels/common/sizes.h"
#include "modules/typed_names.h"
module kerngrad;

namespace kerngrad {

namespace {
namespace views = ranges::views;

// The texts of items, with commas between them.
template <class Items, class Text>
std::string listed(Items items, const Text& text_of) {
  return std::move(items) | views::transform(text_of) | views::join(std::string_view(", ")) | ranges::to<std::string>();
}

std::string sentence(std::string_view op, std::string_view got, std::string_view wanted, std::string_view advice) {
  std::string text = "[" + std::string(op) + "] got " + std::string(got);
  if (!wanted.empty()) text += "; wanted " + std::string(wanted);
  if (!advice.empty()) text += "; " + std::string(advice);
  return text;
}
}  // namespace

// Names and values of files, models, packs and callers reach errors, and errors reach terminals and logs.
error::error(std::string_view op, std::string_view got, std::string_view wanted, std::string_view advice)
    : std::runtime_error(kernels::shown(sentence(op, got, wanted, advice))),
      op_(kernels::shown(op)),
      got_(kernels::shown(got)),
      wanted_(kernels::shown(wanted)),
      advice_(kernels::shown(advice)) {}

// Names a built-in op by its function. Calls by name restore the op's name (modules/registry/names_impl.cc).
void fail(std::string_view op, std::string_view got, std::string_view wanted, std::string_view advice) {
  throw error(detail::spelled(op), got, wanted, advice);
}

void detail::fail_with(std::string_view op, std::string_view got, std::initializer_list<std::int64_t> numbers,
                       std::string_view wanted, std::string_view advice) {
  std::string text;
  const std::int64_t* next = numbers.begin();
  for (char c : got) {
    if (c == '#') text += std::to_string(*next++);
    else text += c;
  }
  fail(op, text, wanted, advice);
}

void detail::refuse_index(std::string_view what, std::int64_t i, std::int64_t count) {
  fail(what, "index " + std::to_string(i) + " of " + std::to_string(count),
       count ? "an index from 0 to " + std::to_string(count - 1) : "one that is not empty");
}

// The items follow the header in the same block.
struct detail::shared_items {
  std::atomic<std::int64_t> references{1};
};

detail::shared_items* detail::share_items(const void* items, std::size_t count) {
  void* block = ::operator new(sizeof(shared_items) + kernels::extent(count, sizeof(std::int64_t)));
  shared_items* made = new (block) shared_items;
  std::memcpy(static_cast<void*>(made + 1), items, count * sizeof(std::int64_t));
  return made;
}
void detail::hold(shared_items* items) noexcept { items->references.fetch_add(1, std::memory_order_relaxed); }
void detail::let_go(shared_items* items) noexcept {
  if (items->references.fetch_sub(1, std::memory_order_acq_rel) == 1) ::operator delete(items);
}
const void* detail::items_of(const shared_items* items) noexcept { return items + 1; }

void inference::refuse_element_type(std::size_t i, dtype wanted) const {
  refuse("operand " + std::string(row.operand_at(i).name) + " of dtype " + std::string(name_of(in[i].type)) +
             ", read as " + std::string(name_of(wanted)),
         "its own dtype");
}
void inference::refuse(std::string_view got, std::string_view wanted, std::string_view advice) const {
  fail(row.name, got, wanted, advice);
}

std::string to_string(const shape& dims) {
  return "[" + listed(dims.dims(), [](std::int64_t size) { return std::to_string(size); }) + "]";
}

std::string to_string(dtype_set set) {
  const auto is_in = [set](int i) { return set.has(static_cast<dtype>(i)); };
  const std::string text = listed(views::iota(0, dtype_count) | views::filter(is_in),
                                  [](int i) { return std::string(name_of(static_cast<dtype>(i))); });
  return text.empty() ? "none" : text;
}

std::string to_string(const attr_value& value) {
  switch (value.kind()) {
    case attr_kind::absent: return "nothing";
    case attr_kind::boolean: return value.as_bool() ? "true" : "false";
    case attr_kind::integer: return std::to_string(value.as_integer());
    case attr_kind::number: {
      char digits[32];
      return std::string(digits, std::to_chars(digits, digits + sizeof digits, value.as_number()).ptr);
    }
    case attr_kind::dtype: return std::string(name_of(value.as_dtype()));
    case attr_kind::text: return "\"" + kernels::shown(value.as_text()) + "\"";
    case attr_kind::list:
    case attr_kind::numbers: break;
  }
  // One of the two is empty.
  return "[" + listed(value.as_list(), [](std::int64_t item) { return std::to_string(item); }) +
         listed(value.as_numbers(), [](double item) { return to_string(attr_value(item)); }) + "]";
}

// GCC 16 emits no inline variable for a program that refers to it by a default argument alone: it finds the library's.
[[gnu::used]] static constinit const axes* const emitted_all_axes = &all_axes;

}  // namespace kerngrad
