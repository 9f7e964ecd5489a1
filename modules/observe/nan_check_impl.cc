// SPDX-License-Identifier: Apache-2.0
// Finding the op that makes the first NaN or infinity. Only the bits are looked at, so that all formats of IEEE 754's
// kind are one: the exponent is all ones; with a fraction it is a NaN, without an infinity.
module;
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <range/v3/view/enumerate.hpp>
#include <range/v3/view/reverse.hpp>
#include "kernels/common/abi.h"
module kerngrad;

namespace kerngrad {
namespace {

struct layout {
  int bytes = 0;  // of a number; 0: integers
  int fraction_bits = 0, exponent_bits = 0;
  int parts = 1;  // numbers an element
};
layout layout_of(dtype type) {
  return visit(type, []<dtype Type>(dtype_constant<Type>) -> layout {
    using T = kernels::part_t<Type>;
    constexpr int bytes = sizeof(T), parts = kernels::parts_of<kernels::storage_t<Type>>::count;
    int fraction_bits = 0;
    if constexpr (std::is_integral_v<T> || std::is_same_v<T, text>) return {};
    else if constexpr (std::is_floating_point_v<T>) fraction_bits = std::numeric_limits<T>::digits - 1;
    else fraction_bits = T::digits - 1;
    return {bytes, fraction_bits, 8 * bytes - 1 - fraction_bits, parts};
  });
}

// A tensor's numbers as words of bits.
template <class Word>
class words {
 public:
  words(const tensor& x, const layout& format)
      : at_(static_cast<const std::byte*>(x.address())),
        size_(x.size() * format.parts),
        fraction_(static_cast<Word>((Word{1} << format.fraction_bits) - 1)),
        exponent_(static_cast<Word>(((Word{1} << format.exponent_bits) - 1) << format.fraction_bits)) {}

  std::int64_t size() const { return size_; }
  bool special(std::int64_t i) const { return (word(i) & exponent_) == exponent_; }
  bool nan(std::int64_t i) const { return special(i) && (word(i) & fraction_) != 0; }
  // Without an early end, so that the compiler can use vectors: nearly always there is none.
  bool any_special() const {
    unsigned found = 0;
    for (std::int64_t i = 0; i < size_; ++i) found |= special(i) ? 1u : 0u;
    return found != 0;
  }

 private:
  Word word(std::int64_t i) const {
    Word w;
    std::memcpy(&w, at_ + i * static_cast<std::int64_t>(sizeof(Word)), sizeof w);
    return w;
  }
  const std::byte* at_;
  std::int64_t size_;
  Word fraction_, exponent_;
};

struct findings {
  std::int64_t nans = 0, infinities = 0;             // numbers, not elements: a complex one has two
  std::int64_t first_nan = -1, first_infinity = -1;  // elements
};

template <class Word>
findings found_in(const words<Word>& numbers, int parts) {
  findings f;
  if (!numbers.any_special()) return f;
  for (std::int64_t i = 0; i < numbers.size(); ++i) {
    if (!numbers.special(i)) continue;
    const bool nan = numbers.nan(i);
    if ((nan ? f.nans : f.infinities)++ == 0) (nan ? f.first_nan : f.first_infinity) = i / parts;
  }
  return f;
}

findings look_at(const tensor& x) {
  const layout format = layout_of(x.type());
  switch (format.bytes) {
    case 2: return found_in(words<std::uint16_t>(x, format), format.parts);
    case 4: return found_in(words<std::uint32_t>(x, format), format.parts);
    case 8: return found_in(words<std::uint64_t>(x, format), format.parts);
    default: return {};
  }
}

// ------------------------------------------------------------------------------------------ the text

std::string number_text(double value) {
  char digits[32];
  return std::string(digits, std::to_chars(digits, digits + sizeof digits, value, std::chars_format::general, 6).ptr);
}

// All numbers of any dtype; the parts of complex ones.
std::vector<double> numbers_of(const tensor& x) {
  return visit(x.type(), [&](auto is) {
    using T = typename decltype(is)::element;
    if constexpr (std::is_same_v<T, text>) return std::vector<double>();
    else if constexpr (kernels::parts_of<T>::count == 1) return x.to_doubles();
    else {
      std::vector<double> all;
      for (const T& z : x.data<T>()) all.insert(all.end(), {z.real, z.imag});
      return all;
    }
  });
}

// "x: float32 [2, 3], from -1 to 4, 0 NaN, 0 infinite".
std::string described(const std::string& name, const tensor& x) {
  std::string text = name + ": " + std::string(name_of(x.type())) + " " + to_string(x.dims());
  double least = std::numeric_limits<double>::infinity(), most = -least;
  for (double v : numbers_of(x)) least = std::fmin(least, v), most = std::fmax(most, v);
  if (least <= most) text += ", from " + number_text(least) + " to " + number_text(most);
  if (layout_of(x.type()).bytes == 0) return text;
  const findings f = look_at(x);
  return text + ", " + std::to_string(f.nans) + " NaN, " + std::to_string(f.infinities) + " infinite";
}

// Operands have the names of the op's row, where each has an index in it.
std::string operand_name(const kernel_event& e, std::size_t i) {
  const op_row* row = row_named(e.op);
  if (!row || (row->takes_list() ? e.in.size() < row->operands.size() : e.in.size() != row->operands.size()))
    return "operand " + std::to_string(i);
  const operand& spec = row->operand_at(i);
  return "operand " + std::string(spec.name) + (spec.list ? "[" + std::to_string(i - row->place_of(i)) + "]" : "");
}

std::string described_operands(const kernel_event& e) {
  std::string text;
  for (const auto& [i, x] : ranges::views::enumerate(e.in))
    if (x->defined()) text += (text.empty() ? "" : "; ") + described(operand_name(e, i), *x);
  return text;
}

// "[1, 2]": where element i is.
std::string place_in(const shape& dims, std::int64_t i) {
  std::string text;
  for (const std::int64_t size : dims.dims() | ranges::views::reverse) {
    text.insert(0, std::to_string(i % size) + (text.empty() ? "" : ", "));
    i /= size;
  }
  return "[" + text + "]";
}

[[noreturn]] void refuse(const kernel_event& e, bool nan, const std::string& whose, const tensor& x, std::int64_t at) {
  fail(e.op,
       std::string(nan ? "a NaN" : "an infinity") + " at " + place_in(x.dims(), at) + " of " + whose + ", " +
           std::string(name_of(x.type())) + " " + to_string(x.dims()) + ", on " + std::string(e.backend) +
           (e.target.empty() ? "" : " " + std::string(e.target)) +
           (e.backward ? ", in the backward pass of a gradient" : ", in the forward pass"),
       nan ? "a number" : "a finite number", described_operands(e));
}

// ------------------------------------------------------------------------------------------ the hooks

void check_operands(const kernel_event& e, bool infinities) {
  for (const auto& [i, x] : ranges::views::enumerate(e.in)) {
    if (!x->defined()) continue;
    const findings f = look_at(*x);
    if (f.nans) refuse(e, true, operand_name(e, i), *x, f.first_nan);
    if (f.infinities && infinities) refuse(e, false, operand_name(e, i), *x, f.first_infinity);
  }
}

void check_results(const kernel_event& e, bool infinities) {
  if (std::none_of(e.in.begin(), e.in.end(), [](const tensor* x) { return x->defined(); })) return;
  bool looked = false;
  findings given;  // by all operands
  for (const auto& [k, y] : ranges::views::enumerate(e.out)) {
    const findings made = look_at(y);
    if (!made.nans && !made.infinities) continue;
    if (!std::exchange(looked, true))
      for (const tensor* x : e.in) {
        const findings f = x->defined() ? look_at(*x) : findings{};
        given.nans += f.nans, given.infinities += f.infinities;
      }
    if (given.nans) return;
    const std::string whose = "result " + std::to_string(k);
    if (made.nans) refuse(e, true, whose, y, made.first_nan);
    if (infinities && !given.infinities) refuse(e, false, whose, y, made.first_infinity);
  }
}

}  // namespace

nan_check::nan_check(nan_check_options wanted) {
  hooks added;
  if (wanted.operands) added.begin = [wanted](const kernel_event& e) { check_operands(e, wanted.infinities); };
  added.end = [wanted](const kernel_event& e) { check_results(e, wanted.infinities); };
  added.this_thread_only = true;
  hooks_ = add_hooks(std::move(added));
}

}  // namespace kerngrad
