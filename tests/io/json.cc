// SPDX-License-Identifier: Apache-2.0
// The library's JSON, against nlohmann's values: what is read and written, what it takes, and what happens when there
// is no memory. A program of its own, because it counts allocations.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <new>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "modules/io/json.h"
#include "tests/support/refusal.h"
#include "tests/support/under_asan.h"

import kerngrad;
import kerngrad.io;
import kerngrad.testkit;

namespace {

// Number of allocations of the thread that succeed; later ones fail.
constinit thread_local std::int64_t allowed = INT64_MAX;
constinit std::atomic<std::int64_t> live{0}, peak{0};  // bytes on the heap

constexpr std::size_t header = 64;  // before each block: its size

void* taken(std::size_t bytes) {
  void* block = nullptr;
  if (allowed-- <= 0 || posix_memalign(&block, header, bytes + header) != 0) throw std::bad_alloc();
  *static_cast<std::size_t*>(block) = bytes;
  const std::int64_t now = live += static_cast<std::int64_t>(bytes);
  if (now > peak) peak = now;
  return static_cast<std::byte*>(block) + header;
}

void given_back(void* at) {
  if (!at) return;
  void* const block = static_cast<std::byte*>(at) - header;
  live -= static_cast<std::int64_t>(*static_cast<std::size_t*>(block));
  std::free(block);
}

}  // namespace

void* operator new(std::size_t bytes) { return taken(bytes); }
void operator delete(void* block) noexcept { given_back(block); }
void operator delete(void* block, std::size_t) noexcept { given_back(block); }

#if !KG_UNDER_ASAN
// The library takes blocks of tensors from here.
extern "C" void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  void* block = nullptr;
  return allowed-- <= 0 || posix_memalign(&block, alignment, bytes) != 0 ? nullptr : block;
}
#endif

namespace {

using kerngrad::io::detail::json_document;
using kerngrad::io::detail::json_member;
using kerngrad::io::detail::json_refusal;
using kerngrad::io::detail::json_text;
using kerngrad::io::detail::json_value;
using kerngrad::io::detail::json_writer;
using nlohmann::ordered_json;

// Returns the reason why a text is not read; "" if it is read.
std::string refused(std::string_view text, int depth = json_document::deepest) {
  try {
    const json_document read(text, depth);
  } catch (const json_refusal& e) {
    return e.got;
  }
  return "";
}

// Compares a value with that of nlohmann.
bool same(const json_value& a, const ordered_json& b) {
  if (b.is_null()) return a.is_null();
  if (b.is_boolean()) return a.is_boolean() && a.flag() == b.get<bool>();
  if (b.is_string()) return a == std::string_view(b.get_ref<const std::string&>());
  if (b.is_number()) {
    const bool whole = b.is_number_integer() && (!b.is_number_unsigned() || b.get<std::uint64_t>() <= INT64_MAX);
    if (a.integer().has_value() != whole || (whole && *a.integer() != b.get<std::int64_t>())) return false;
    return a.is_number() && a.number() == b.get<double>();
  }
  if (a.size() != b.size() || a.is_list() != b.is_array() || a.is_object() != b.is_object()) return false;
  if (b.is_array()) return std::equal(a.begin(), a.end(), b.begin(), same);
  auto other = b.begin();
  for (const json_member member : a.members()) {
    if (member.name != other.key() || !same(member.value, *other) || a.find(other.key()) != &member.value) return false;
    ++other;
  }
  return other == b.end() && !a.find("no such key");
}

void write(json_writer& to, const json_value& value) {
  if (value.is_boolean()) return to.flag(value.flag());
  if (value.is_string()) return to.string(value.text());
  if (value.integer()) return to.integer(*value.integer());
  if (value.is_number()) return to.number(value.number());
  if (value.is_list()) {
    to.begin_list();
    for (const json_value& item : value) write(to, item);
    return to.end_list();
  }
  to.begin_object();
  for (const json_member member : value.members()) {
    to.key(member.name);
    write(to, member.value);
  }
  to.end_object();
}

ordered_json random_value(kg::testkit::stream& random, int depth) {
  static constexpr std::string_view words[] = {"", "a", "name", "\"", "\\", "\n\t\x01\x7f", "\xc3\xa4\xe2\x82\xac",
                                               "/"};
  const auto word = [&] {
    std::string made(words[random.below(std::size(words))]);
    return made.append(std::to_string(random.below(30)));
  };
  switch (random.below(depth > 0 ? 9 : 7)) {
    case 0: return random.below(2) == 0;
    case 1: return word();
    case 2: return static_cast<std::int64_t>(random.bits());
    case 3: return static_cast<std::int64_t>(random.bits() >> random.below(64)) - 1000;
    case 4: return random.bits() >> random.below(64);
    case 5: return static_cast<double>(static_cast<std::int64_t>(random.bits())) / (1 << random.below(31));
    case 6: return 0.1 * static_cast<double>(random.below(1000));
    case 7: {
      ordered_json list = ordered_json::array();
      for (std::uint64_t left = random.below(40); left > 0; --left) list.push_back(random_value(random, depth - 1));
      return list;
    }
    default: {
      ordered_json object = ordered_json::object();
      for (std::uint64_t left = random.below(40); left > 0; --left) object[word()] = random_value(random, depth - 1);
      return object;
    }
  }
}

// ------------------------------------------------------------------------------------------ values

TEST(json, is_read_as_nlohmann_reads_it) {
  for (const std::string text : {"null",
                                 "true",
                                 "false",
                                 " 7 ",
                                 "-0",
                                 "1152921504606846975",
                                 "1152921504606846976",
                                 "-1152921504606846976",
                                 "-1152921504606846977",
                                 "9223372036854775807",
                                 "9223372036854775808",
                                 "18446744073709551615",
                                 "18446744073709551616",
                                 "-9223372036854775808",
                                 "-9223372036854775809",
                                 "1e3",
                                 "1.0",
                                 "-2.5E-3",
                                 "1e308",
                                 "5e-324",
                                 "\"\"",
                                 "[]",
                                 "{}",
                                 "[[],{},[[]]]",
                                 "\"\\u00e4\\ud83d\\ude00\\/\\b\"",
                                 "\xef\xbb\xbf[1]",
                                 "\"\\u0000x\"",
                                 "{\"b\":1,\"a\":{\"b\":null}}",
                                 "12345678901234567",
                                 "[1,123456789012345678]"}) {
    const json_document read(text);
    EXPECT_TRUE(same(read.root(), ordered_json::parse(text))) << text;
  }
}

TEST(json, of_random_values_comes_back) {
  kg::testkit::stream random(5);
  for (int i = 0; i < 300; ++i) {
    const ordered_json value = random_value(random, 4);
    const std::string text = value.dump(static_cast<int>(random.below(3)) - 1, ' ', random.below(2) == 0);
    const json_document read(text);
    ASSERT_TRUE(same(read.root(), value)) << text;
    const std::string written = json_text([&](json_writer& to) { write(to, read.root()); });
    const json_document again(written);
    // A natural number above 2^63 is written as a double.
    if (text.find("1844") == text.npos && ordered_json::parse(written) == value)
      ASSERT_TRUE(same(again.root(), value)) << written;
  }
}

TEST(json, with_a_mistake_is_refused_in_a_few_words) {
  struct mistake {
    std::string text, said;
  };
  std::string many = "{";
  for (int i = 0; i < 100; ++i) many += "\"k" + std::to_string(i) + "\":0,";
  const mistake mistakes[] = {
      {"", "not JSON"},
      {"{", "not JSON (at byte 2)"},
      {"[1 2]", "not JSON"},
      {"[1,]", "not JSON"},
      {"\"x", "not JSON"},
      {"\"\\", "not JSON"},
      {"[1]]", "not JSON"},
      {"nul", "not JSON"},
      {"01", "not JSON"},
      {"// x\n1", "not JSON"},
      {"\"\n\"", "not JSON"},
      {"\"\xff\"", "not JSON"},
      {"\"\xed\xa0\x80\"", "not JSON"},
      {"\"\\ud800\"", "not JSON"},
      {std::string("[1\0]", 4), "not JSON"},
      {"1e999", "no double holds"},
      {"{\"a\":1,\"b\":2,\"a\":3}", "the key \"a\" twice"},
      {"{\"a\":1,\"\\u0061\":3}", "the key \"a\" twice"},
      {many + "\"k7\":1}", "the key \"k7\" twice"},
      {std::string(33, '[') + std::string(33, ']'), "nests more than 32 deep"},
      {std::string(1'000'000, '['), "nests more than 32 deep"},
  };
  for (const mistake& one : mistakes) {
    const std::string said = refused(one.text);
    EXPECT_TRUE(kgtest::says(said, {one.said})) << one.text.substr(0, 40) << ": " << said;
  }
  EXPECT_EQ(refused(many + "\"k100\":1}"), "");
  EXPECT_EQ(refused(std::string(32, '[') + std::string(32, ']')), "");
  EXPECT_EQ(refused("[[1]]", 1), "nests more than 1 deep");
  EXPECT_THROW(json_text([](json_writer& to) { to.string("\xff"); }), json_refusal);
}

TEST(json, is_written_with_escapes_and_with_digits_that_bring_numbers_back) {
  const std::string text = json_text([](json_writer& to) {
    to.begin_object();
    to.member("\"\\\b\f\n\r\t", std::string("\0\x1f\x7f/\xc3\xa4", 6));
    to.key("list");
    to.begin_list();
    to.integer(INT64_MIN);
    to.number(1);
    to.number(0.1);
    to.flag(true);
    to.begin_object();
    to.end_object();
    to.end_list();
    to.end_object();
  });
  EXPECT_EQ(text, R"({"\"\\\b\f\n\r\t":"\u0000\u001f)"
                  "\x7f/\xc3\xa4"
                  R"(","list":[-9223372036854775808,1.0,0.1,true,{}]})");
}

// ------------------------------------------------------------------------------------------ memory

std::string repeated(std::string_view first, std::string_view piece, std::size_t bytes, std::string_view last) {
  std::string text(first);
  while (text.size() < bytes) text += piece;
  text.pop_back();
  return text + std::string(last);
}

std::vector<std::string> large_texts(std::size_t bytes) {
  std::string names = "{";
  for (int i = 0; names.size() < bytes; ++i) names += "\"" + std::to_string(i) + "\":0,";
  names.back() = '}';
  return {repeated("[", "0,", bytes, "]"),
          repeated("[", "1e1,", bytes, "]"),
          repeated("[", "[],", bytes, "]"),
          repeated("[", "{},", bytes, "]"),
          repeated("[", "\"\",", bytes, "]"),
          repeated("[", "{\"\":0},", bytes, "]"),
          "\"" + std::string(bytes, 'x') + "\"",
          repeated("[", "\"\\n\",", bytes, "]"),
          names};
}

TEST(json, takes_a_few_times_the_memory_of_its_text) {
  constexpr std::size_t size = 3'000'000;
  for (const std::string& text : large_texts(size)) {
    kg::release_cached_memory();
    kg::reset_peak_memory();
    const std::int64_t tensors = kg::memory().live_bytes, heap = live;
    peak = heap;
    const json_document read(text);
    const std::int64_t block = kg::memory().peak_bytes - tensors, parser = peak - heap;
    EXPECT_LE(block, 4 * static_cast<std::int64_t>(text.size()) + 64) << text.substr(0, 20);
    EXPECT_LE(block + parser, 6 * static_cast<std::int64_t>(text.size()) + 4096) << text.substr(0, 20);
  }
}

TEST(json, that_passes_the_memory_limit_is_refused_before_anything_is_allocated) {
  for (const std::string& text : large_texts(1'000'000)) {
    kg::release_cached_memory();
    kg::set_memory_limit(kg::memory().live_bytes + 500'000);
    const std::int64_t heap = live;
    peak = heap;
    const std::string said = refused(text);
    EXPECT_LT(peak - heap, 4096) << said;
    EXPECT_TRUE(kgtest::says(said, {"needs ", " bytes for its JSON"})) << said;
    kg::set_memory_limit(kg::unlimited);
    EXPECT_EQ(refused(text), "");
  }
  kg::set_memory_limit(kg::memory().live_bytes + 1000);
  EXPECT_THROW(json_text([](json_writer& to) { to.string(std::string(2000, 'x')); }), json_refusal);
  kg::set_memory_limit(kg::unlimited);
}

// Repeats the work with one more allocation that succeeds each time, until it is done. Returns how many it needs.
int attempts_at(const std::function<void()>& work) {
  for (int n = 0;; ++n) {
    const std::int64_t before = kg::memory().live_tensors;
    bool done = true;
    kg::release_cached_memory();
    allowed = n;
    try {
      work();
    } catch (const std::bad_alloc&) {
      done = false;
    } catch (const kg::error&) {
      done = false;
    }
    allowed = INT64_MAX;
    EXPECT_EQ(kg::memory().live_tensors, before);
    if (done) return n;
  }
}

// A header of that many tensors without elements.
std::string safetensors(int count) {
  std::string text = "{";
  for (int i = 0; i < count; ++i)
    text += "\"layer." + std::to_string(i * 7919 % count) +
            R"(.weight":{"dtype":"F32","shape":[0,3],"data_offsets":[0,0]},)";
  text.back() = '}';
  const std::uint64_t length = text.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + text;
}

TEST(json, survives_every_allocation_that_fails) {
  std::string large = "{\"deep\":[[[{\"x\":\"a string that is longer than any that is stored in place \\n\"}]]]";
  for (int i = 0; i < 200; ++i) large += ",\"key " + std::to_string(i) + "\":[0.5,\"x\"]";
  large += "}";
  ASSERT_EQ(refused(large), "");
  EXPECT_GT(attempts_at([&] { const json_document read(large); }), 1);
  for (const std::string& text : {large + "x", large.substr(0, 500), "[" + large + ",1e999]", large + large}) {
    ASSERT_NE(refused(text), "");
    attempts_at([&] {
      try {
        const json_document read(text);
      } catch (const json_refusal&) {
      }
    });
  }
  const std::string file = safetensors(20);
  EXPECT_GT(attempts_at([&] { kg::io::decode(std::as_bytes(std::span(file)), "x.safetensors"); }), 20);
}

TEST(safetensors, whose_header_passes_the_memory_limit_are_refused_in_one_sentence) {
  const std::string file = safetensors(10'000);
  kg::set_memory_limit(kg::memory().live_bytes + 100'000);
  const std::string said =
      kgtest::refusal([&] { return kg::io::decode(std::as_bytes(std::span(file)), "x.safetensors"); });
  kg::set_memory_limit(kg::unlimited);
  EXPECT_TRUE(kgtest::says(said, {"[decode] got \"x.safetensors\", which has a header that needs ", "memory limit"}))
      << said;
}

}  // namespace
