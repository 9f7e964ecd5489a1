// SPDX-License-Identifier: Apache-2.0
// Changes of JSON that keep it JSON: a word, quoted or a number, takes the place of another. Changed bytes alone rarely
// leave a model that loads. libFuzzer calls LLVMFuzzerCustomMutator in place of its own changes.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed);
// Changes an input as libFuzzer does. Null in the replay program.
extern "C" [[gnu::weak]] std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace fuzz {

/// The words of the text before the first zero byte.
inline std::vector<std::string_view> words_of(std::string_view text) {
  constexpr std::string_view number = "0123456789+-.eE";
  text = text.substr(0, text.find('\0'));
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    if (text[at] == '"') {
      end = std::min(text.find('"', end), text.size() - 1) + 1;
      words.push_back(text.substr(at, end - at));
    } else if (number.substr(0, 10).find(text[at]) != number.npos || text[at] == '-') {
      end = std::min(text.find_first_not_of(number, at), text.size());
      words.push_back(text.substr(at, end - at));
    }
    at = end;
  }
  return words;
}

/// Three times of four the text with a word in the place of another one.
inline std::size_t changed_words(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  std::mt19937 random(seed);
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::vector<std::string_view> words = words_of(text);
  if (words.empty() || random() % 4 == 0) return LLVMFuzzerMutate(data, size, most);
  const std::string_view from = words[random() % words.size()], to = words[random() % words.size()];
  std::string made = text;
  made.replace(static_cast<std::size_t>(from.data() - text.data()), from.size(), to);
  size = std::min(made.size(), most);
  std::copy_n(made.begin(), size, data);
  return size;
}

}  // namespace fuzz
