// SPDX-License-Identifier: Apache-2.0
// JSON of unknown origin in one block of memory, and JSON written to a text. For the units of kerngrad.io and
// kerngrad.graph, which include it before their module line: it belongs to no module, and no program sees it.
#ifndef KERNGRAD_MODULES_IO_JSON_H_
#define KERNGRAD_MODULES_IO_JSON_H_
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "kernels/common/scratch.h"

extern "C++" {
namespace kerngrad::io::detail {

/// A reason why a text is not read or written. `got` goes on after the name of the file: "is not JSON (at byte 7)".
struct json_refusal : std::exception {
  std::string got;
  std::string wanted{};  // empty: the caller knows
  std::string advice{};
  explicit json_refusal(std::string got, std::string wanted = {}, std::string advice = {})
      : got(std::move(got)), wanted(std::move(wanted)), advice(std::move(advice)) {}
  const char* what() const noexcept override { return got.c_str(); }
};

struct json_member;

/// A value: one word of a document, which finds what it holds by the distance from its own address. Values of a list
/// follow each other; in an object a key, which is a string, is before each. So a value is never copied.
class json_value {
 public:
  /// Null; a list without items.
  enum class constant : std::uint8_t { null, empty_list };
  constexpr explicit json_value(constant of) : word_(of == constant::null ? 0 : as_word(kind::list)) {}
  json_value(const json_value&) = delete;
  json_value& operator=(const json_value&) = delete;

  bool is_null() const { return word_ == 0; }
  bool is_boolean() const { return is() == kind::name && word_ != 0; }
  bool is_number() const { return is() == kind::small || is() == kind::number; }
  bool is_string() const { return is() == kind::string; }
  bool is_list() const { return is() == kind::list; }
  bool is_object() const { return is() == kind::object; }

  bool flag() const { return word_ == as_word(kind::name, 2); }
  double number() const;
  /// A number that is written without fraction and exponent, where std::int64_t holds it.
  std::optional<std::int64_t> integer() const;
  std::string_view text() const {
    return {reinterpret_cast<const char*>(this) + (word_ >> 32), (word_ >> 3) & longest_string};
  }
  bool operator==(std::string_view other) const { return is_string() && text() == other; }
  /// Text of the value for errors: the beginning of a long string; "[...]" and "{...}".
  std::string shown() const;

  /// Number of items or members; 0 for all others.
  std::size_t size() const { return is_list() || is_object() ? (word_ >> 3) & most_words : 0; }
  bool empty() const { return size() == 0; }

  /// The items of a list.
  class iterator {
   public:
    using value_type = json_value;
    using difference_type = std::ptrdiff_t;
    using reference = const json_value&;
    using pointer = const json_value*;
    using iterator_category = std::forward_iterator_tag;
    iterator() = default;
    explicit iterator(const json_value* at) : at_(at) {}
    const json_value& operator*() const { return *at_; }
    const json_value* operator->() const { return at_; }
    iterator& operator++() {
      at_ += at_->words();
      return *this;
    }
    iterator operator++(int) {
      const iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const iterator&) const = default;

   private:
    const json_value* at_ = nullptr;
  };
  iterator begin() const { return iterator(this + 1); }
  iterator end() const { return iterator(is_list() ? this + words() : this + 1); }

  /// The members of an object, in the order of the text.
  struct members_of {
    const json_value& object;
    class iterator {
     public:
      iterator(const json_value* at, std::size_t left) : at_(at), left_(left) {}
      json_member operator*() const;
      iterator& operator++() {
        at_ += 1 + at_[1].words(), --left_;
        return *this;
      }
      bool operator!=(const iterator& other) const { return left_ != other.left_; }

     private:
      const json_value* at_;
      std::size_t left_;
    };
    iterator begin() const { return {&object + 1, object.is_object() ? object.size() : 0}; }
    iterator end() const { return {nullptr, 0}; }
  };
  members_of members() const { return {*this}; }
  /// Words that an object of so many members has for the offsets of its keys, sorted by key, 32 bits each.
  static std::size_t index_words(std::size_t members) { return members > most_unsorted ? (members + 1) / 2 : 0; }
  /// The member of that name; null: there is none, or this is no object. Takes logarithmic time in large objects.
  const json_value* find(std::string_view name) const;

 private:
  friend class json_builder;
  enum class kind : std::uint8_t {
    name,    // null, false, true: 0, 1, 2
    small,   // an integer, in the other 61 bits
    number,  // any other number: its form in 2 bits, and in the upper 32 how many bytes after this it is
    string,  // its length in 29 bits, and how many bytes after this it is
    list,    // the number of items in 30 bits, and the number of words that they take
    object   // the same of its members
  };
  enum class form : std::uint8_t { whole, natural, fraction };  // std::int64_t, std::uint64_t, double
  static constexpr std::uint64_t longest_string = (std::uint64_t{1} << 29) - 1;
  static constexpr std::uint64_t most_words = (std::uint64_t{1} << 30) - 1;
  static constexpr std::size_t most_unsorted = 8;  // members that are looked at one by one

  static constexpr std::uint64_t as_word(kind is, std::uint64_t low = 0, std::uint64_t high = 0) {
    return static_cast<std::uint64_t>(is) | low << 3 | high << 32;
  }
  static constexpr std::uint64_t as_word_of(kind is, std::uint64_t count, std::uint64_t words) {
    return static_cast<std::uint64_t>(is) | count << 3 | words << 33;
  }

  constexpr explicit json_value(std::uint64_t word) : word_(word) {}
  kind is() const { return static_cast<kind>(word_ & 7); }
  std::size_t words() const { return 1 + (is_list() || is_object() ? word_ >> 33 : 0); }
  template <class T>
  T far() const;

  std::uint64_t word_;
};
static_assert(sizeof(json_value) == 8);

struct json_member {
  std::string_view name;
  const json_value& value;
};
inline json_member json_value::members_of::iterator::operator*() const { return {at_[0].text(), at_[1]}; }

/// A text as values. They take at most four times its bytes, those of a model's file less than twice. While they are
/// read the parser has copies of parts of the text: up to three times all of it, where that has no strings and numbers,
/// and five times where it is one string. The memory limit is asked for both before anything is allocated. The end of a
/// document allocates nothing.
class json_document {
 public:
  /// Longer texts are not read.
  static constexpr std::size_t longest_text = std::size_t{1} << 29;
  /// Lists and objects inside each other, at most.
  static constexpr int deepest = 32;

  /// Reads a text. Throws json_refusal for what is no JSON or no UTF-8, objects and lists more than `depth` inside
  /// each other, objects that have a key twice, numbers beyond a double, and for what passes the memory limit.
  explicit json_document(std::string_view text, int depth = deepest);
  const json_value& root() const { return *root_; }

 private:
  kernels::scratch<std::byte> block_;
  const json_value* root_ = nullptr;
};

/// Writes JSON, one value after the other. Without a text to write to it counts the bytes that it would write.
class json_writer {
 public:
  json_writer() = default;
  explicit json_writer(std::string& to) : to_(&to) {}

  void begin_object() { begin('{'); }
  void end_object() { end('}'); }
  void begin_list() { begin('['); }
  void end_list() { end(']'); }
  /// Begins a member of an object; its value follows. Throws json_refusal for a name that is no UTF-8.
  void key(std::string_view name);
  /// Throws json_refusal for what is no UTF-8.
  void string(std::string_view value);
  void integer(std::int64_t value);
  /// A finite number, with the digits that bring it back.
  void number(double value);
  void flag(bool value);
  /// A member that is a string.
  void member(std::string_view name, std::string_view value) { key(name), string(value); }

  std::size_t size() const { return size_; }

 private:
  void begin(char bracket);
  void end(char bracket);
  void separate();
  void quoted(std::string_view text);
  void put(std::string_view text) {
    size_ += text.size();
    if (to_) to_->append(text);
  }

  std::string* to_ = nullptr;
  std::size_t size_ = 0;
  bool follows_ = false;  // a value of the same list or object
};

/// Throws json_refusal where the memory limit leaves less for a text.
void check_json_memory(std::size_t bytes);

/// Returns the text that `write` writes to a json_writer. It is called twice: the first call counts the bytes.
template <class F>
std::string json_text(const F& write) {
  json_writer counted;
  write(counted);
  check_json_memory(counted.size());
  std::string text;
  text.reserve(counted.size() + 1);  // for the end of a line
  json_writer to(text);
  write(to);
  return text;
}

}  // namespace kerngrad::io::detail
}  // extern "C++"

#endif  // KERNGRAD_MODULES_IO_JSON_H_
