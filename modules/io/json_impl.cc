// SPDX-License-Identifier: Apache-2.0
// Reads JSON: nlohmann's parser calls a builder, which appends to one block of memory. A first pass over the text
// counts what the block needs.
module;
#include <nlohmann/json.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include "kernels/common/abi.h"
#include "kernels/common/scratch.h"
#include "kernels/common/sizes.h"
#include "modules/io/json.h"
module kerngrad.io;

namespace kerngrad::io::detail {

// ------------------------------------------------------------------------------------------ the first pass

namespace {

// Counts of a text that is JSON. For any other text they hold for its part before the first mistake.
struct json_measures {
  std::int64_t words = 1;    // of values, keys and the offsets of keys
  std::int64_t bytes = 0;    // of strings and of numbers that fill more than a word
  std::int64_t longest = 0;  // part of the text that the parser keeps, which is from one string or number to the next

  std::int64_t word_bytes() const { return kernels::product_of(words, sizeof(json_value)); }
  std::int64_t block() const { return kernels::sum_of(word_bytes(), bytes); }
};

const char* end_of_string(const char* at, const char* end) {
  for (; at != end && *at != '"'; ++at)
    if (*at == '\\' && end - at > 1) ++at;
  return at;
}

bool is_of_number(char c) { return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E'; }

// Returns true if only blanks come before a closing bracket.
bool closes(const char* at, const char* end) {
  while (at != end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t')) ++at;
  return at != end && (*at == ']' || *at == '}');
}

class json_measurer {
 public:
  explicit json_measurer(std::string_view text) : at_(text.data()), end_(at_ + text.size()), kept_(at_) {}
  json_measures run() {
    while (at_ != end_ && depth_ <= json_document::deepest) {  // the parser goes no deeper
      const char c = *at_;
      if (c == '"') take_string();
      else if ((c >= '0' && c <= '9') || c == '-') take_number();
      else take_other(c);
    }
    keep_from(at_);
    return m_;
  }

 private:
  void keep_from(const char* at) {
    m_.longest = std::max<std::int64_t>(m_.longest, at - kept_);
    kept_ = at;
  }
  void take_string() {
    keep_from(at_);
    const char* const begin = ++at_;
    at_ = end_of_string(at_, end_);
    m_.bytes += at_ - begin;
    if (at_ != end_) ++at_;
  }
  void take_number() {
    constexpr std::int64_t most_digits = 17;  // 10^17 fits the 61 bits of a small integer
    keep_from(at_);
    bool whole = true;
    const char* const begin = at_++;
    for (; at_ != end_ && is_of_number(*at_); ++at_) whole = whole && *at_ >= '0' && *at_ <= '9';
    if (!whole || at_ - begin > most_digits) m_.bytes += std::int64_t{sizeof(double)};
  }
  void take_other(char c) {
    ++at_;
    switch (c) {
      case '[':
      case '{':
        if (++depth_ <= json_document::deepest) keys_[depth_] = 0;
        m_.words += !closes(at_, end_);
        break;
      case ']':
      case '}':
        if (depth_ > 0) m_.words += static_cast<std::int64_t>(json_value::index_words(keys_[depth_--]));
        break;
      case ':': ++keys_[depth_]; [[fallthrough]];
      case ',': ++m_.words; break;
      default: break;
    }
  }

  const char *at_, *end_;
  const char* kept_;  // the parser's copy begins here
  json_measures m_;
  std::size_t keys_[json_document::deepest + 1] = {};  // of the open objects
  int depth_ = 0;
};

std::int64_t allowed_bytes() {
  const std::int64_t limit = memory_limit();
  return limit == unlimited ? unlimited : std::max<std::int64_t>(limit - memory().live_bytes, 0);
}

// The parser has two copies of a string, which grow by doubling.
std::int64_t block_for(const json_measures& m) {
  constexpr std::int64_t copies = 5, most = std::int64_t{1} << 32;  // a distance has 32 bits
  const std::int64_t block = m.block(), needed = kernels::sum_of(block, kernels::product_of(copies, m.longest));
  if (const std::int64_t left = allowed_bytes(); needed > left)
    throw json_refusal("needs " + bytes_text(static_cast<std::uint64_t>(needed)) + " for its JSON",
                       "at most the " + std::to_string(left) + " that the memory limit leaves",
                       "raise it with set_memory_limit");
  if (block >= most)
    throw json_refusal("has JSON of more than " + std::to_string(block / std::int64_t{sizeof(json_value)}) + " values",
                       "a file that needs less than 4 GiB");
  return block;
}

json_refusal twice(std::string_view key) {
  return json_refusal("has an object with the key " + in_quotes(key) + " twice");
}

json_refusal too_long(std::string_view text) {
  return json_refusal("has " + bytes_text(text.size()) + " of JSON",
                      "at most " + std::to_string(json_document::longest_text));
}

json_refusal too_large(std::size_t bytes, std::int64_t left) {
  return json_refusal(bytes_text(bytes) + " of JSON",
                      "at most the " + std::to_string(left) + " that the memory limit leaves",
                      "raise it with set_memory_limit");
}

}  // namespace

}  // namespace kerngrad::io::detail

// Declarations of the header belong to no module.
extern "C++" {
namespace kerngrad::io::detail {

// ------------------------------------------------------------------------------------------ values

template <class T>
T json_value::far() const {
  T value;
  std::memcpy(&value, reinterpret_cast<const std::byte*>(this) + (word_ >> 32), sizeof value);
  return value;
}

double json_value::number() const {
  if (is() == kind::small) return static_cast<double>(static_cast<std::int64_t>(word_) >> 3);
  switch (static_cast<form>(word_ >> 3 & 3)) {
    case form::whole: return static_cast<double>(far<std::int64_t>());
    case form::natural: return static_cast<double>(far<std::uint64_t>());
    case form::fraction: return far<double>();
  }
  __builtin_unreachable();
}

std::optional<std::int64_t> json_value::integer() const {
  if (is() == kind::small) return static_cast<std::int64_t>(word_) >> 3;
  if (is() == kind::number && static_cast<form>(word_ >> 3 & 3) == form::whole) return far<std::int64_t>();
  return {};
}

std::string json_value::shown() const {
  constexpr std::size_t longest = 40;
  switch (is()) {
    case kind::name: return is_null() ? "null" : flag() ? "true" : "false";
    case kind::string:
      return "\"" + std::string(text().substr(0, longest)) + (text().size() > longest ? "...\"" : "\"");
    case kind::list: return "[...]";
    case kind::object: return "{...}";
    case kind::small: break;
    case kind::number:
      if (static_cast<form>(word_ >> 3 & 3) == form::natural) return std::to_string(far<std::uint64_t>());
  }
  std::string text;
  json_writer to(text);
  if (const std::optional<std::int64_t> whole = integer()) to.integer(*whole);
  else to.number(number());
  return text;
}

const json_value* json_value::find(std::string_view name) const {
  if (!is_object()) return nullptr;
  const std::size_t count = size();
  if (count <= most_unsorted) {
    for (const json_member member : members())
      if (member.name == name) return &member.value;
    return nullptr;
  }
  const auto* const offsets = reinterpret_cast<const std::uint32_t*>(this + words() - index_words(count));
  const auto* const at =
      std::lower_bound(offsets, offsets + count, name,
                       [&](std::uint32_t offset, std::string_view key) { return this[offset].text() < key; });
  return at != offsets + count && this[*at].text() == name ? this + *at + 1 : nullptr;
}

// ------------------------------------------------------------------------------------------ the second pass

// Takes the calls of nlohmann's parser.
class json_builder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  json_builder(std::byte* block, const json_measures& room, int depth)
      : words_(reinterpret_cast<json_value*>(block)),
        most_words_(static_cast<std::size_t>(room.words)),
        bytes_(block + room.word_bytes()),
        end_(bytes_ + room.bytes),
        depth_(depth) {}

  bool null() override { return add(json_value::as_word(kind::name, 0)); }
  bool boolean(bool value) override { return add(json_value::as_word(kind::name, value ? 2 : 1)); }
  bool number_integer(std::int64_t value) override {
    constexpr std::int64_t bound = std::int64_t{1} << 60;
    if (value < -bound || value >= bound) return add_number(form::whole, value);
    return add(static_cast<std::uint64_t>(kind::small) | static_cast<std::uint64_t>(value) << 3);
  }
  bool number_unsigned(std::uint64_t value) override {
    if (value <= INT64_MAX) return number_integer(static_cast<std::int64_t>(value));
    return add_number(form::natural, value);
  }
  bool number_float(double value, const std::string&) override { return add_number(form::fraction, value); }
  bool string(std::string& value) override { return add_string(value), true; }
  bool binary(nlohmann::json::binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(kind::object); }
  bool start_array(std::size_t) override { return open(kind::list); }
  bool key(std::string& name) override { return add_string(name), true; }
  bool end_array() override {
    const opened list = open_[--opened_];
    return close(kind::list, list, list.count);
  }
  bool end_object() override {
    const opened object = open_[--opened_];
    const std::size_t members = object.count / 2;
    if (const std::size_t words = json_value::index_words(members); words > 0) {
      if (most_words_ - used_ < words) too_small();
      auto* const index = reinterpret_cast<std::uint32_t*>(words_ + used_);
      sort_keys(object.at, std::span(index, members));
      used_ += words;
    } else {
      std::uint32_t near[json_value::most_unsorted];
      sort_keys(object.at, std::span(near).first(members));
    }
    return close(kind::object, object, members);
  }
  bool parse_error(std::size_t at, const std::string&, const nlohmann::detail::exception& e) override {
    if (dynamic_cast<const nlohmann::json::out_of_range*>(&e)) throw json_refusal("has a number that no double holds");
    throw json_refusal("is not JSON (at byte " + std::to_string(at) + ")");
  }

 private:
  using kind = json_value::kind;
  using form = json_value::form;
  // A list or an object whose end has not come. Keys count, too.
  struct opened {
    std::size_t at, count;
  };

  // Guards the block. The first pass counts every word and byte, so no text leads here.
  [[noreturn]] static void too_small() { throw json_refusal("is not JSON"); }

  bool add(std::uint64_t word) {
    if (used_ == most_words_) too_small();
    if (opened_ > 0) ++open_[opened_ - 1].count;
    new (words_ + used_++) json_value(word);
    return true;
  }
  // Appends bytes, and gives their distance from the next word.
  std::uint64_t append(const void* from, std::size_t count) {
    if (static_cast<std::size_t>(end_ - bytes_) < count || used_ == most_words_) too_small();
    if (count > 0) std::memcpy(bytes_, from, count);
    const auto distance = bytes_ - reinterpret_cast<std::byte*>(words_ + used_);
    bytes_ += count;
    return static_cast<std::uint64_t>(distance);
  }
  template <class T>
  bool add_number(form is, T value) {
    const std::uint64_t distance = append(&value, sizeof value);
    return add(json_value::as_word(kind::number, static_cast<std::uint64_t>(is), distance));
  }
  void add_string(std::string_view text) {
    const std::uint64_t distance = append(text.data(), text.size());
    add(json_value::as_word(kind::string, text.size(), distance));
  }
  bool open(kind is) {
    if (static_cast<int>(opened_) == depth_) throw json_refusal("nests more than " + std::to_string(depth_) + " deep");
    add(json_value::as_word(is));
    open_[opened_++] = {used_ - 1, 0};
    return true;
  }
  bool close(kind is, const opened& ended, std::size_t count) {
    new (words_ + ended.at) json_value(json_value::as_word_of(is, count, used_ - ended.at - 1));
    return true;
  }
  // The distances of the keys from their object, sorted by the keys.
  void sort_keys(std::size_t object, std::span<std::uint32_t> offsets) {
    const json_value* const from = words_ + object;
    std::size_t next = 1;
    for (std::uint32_t& offset : offsets) {
      offset = static_cast<std::uint32_t>(next);
      next += 1 + from[next + 1].words();
    }
    const auto key = [&](std::uint32_t offset) { return from[offset].text(); };
    std::ranges::sort(offsets, {}, key);
    if (const auto found = std::ranges::adjacent_find(offsets, {}, key); found != offsets.end())
      throw twice(key(*found));
  }

  json_value* words_;
  std::size_t used_ = 0, most_words_;
  std::byte *bytes_, *end_;
  int depth_;
  opened open_[json_document::deepest];
  std::size_t opened_ = 0;
};

json_document::json_document(std::string_view text, int depth) {
  if (text.size() > longest_text) throw too_long(text);
  const json_measures room = json_measurer(text).run();
  std::byte* const block = block_.reach(block_for(room));
  json_builder made(block, room, std::min(depth, deepest));
  nlohmann::json::sax_parse(text.data(), text.data() + text.size(), &made);
  root_ = reinterpret_cast<const json_value*>(block);
}

void check_json_memory(std::size_t bytes) {
  if (const std::int64_t left = allowed_bytes(); bytes > static_cast<std::uint64_t>(left)) throw too_large(bytes, left);
}

}  // namespace kerngrad::io::detail
}  // extern "C++"
