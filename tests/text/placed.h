// SPDX-License-Identifier: Apache-2.0
// Texts in memory as kernels see them: one behind the other at odd addresses, the last one before a guard page.
#pragma once
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "kernels/text/text.h"
#include "tests/support/kernels.h"

namespace kgtest {

class placed_texts {
 public:
  explicit placed_texts(const std::vector<std::string>& from)
      : bytes_(std::accumulate(from.begin(), from.end(), std::size_t{0},
                               [](std::size_t sum, const std::string& s) {
                                 const auto size = static_cast<std::int64_t>(s.size());
                                 return sum + static_cast<std::size_t>(kerngrad::kernels::bytes_kept(size));
                               })),
        texts_(from.size()) {
    std::byte* to = bytes_.data();
    for (std::size_t i = 0; i < from.size(); ++i) {
      texts_[i] = {};
      if (from[i].empty()) continue;
      texts_[i].place = to;
      const std::uint64_t size = from[i].size();
      std::memcpy(to, &size, sizeof size);
      std::memcpy(to + sizeof size, from[i].data(), size);
      to += sizeof size + size;
    }
  }
  const kerngrad::text* data() const { return texts_.data(); }
  std::int64_t size() const { return static_cast<std::int64_t>(texts_.size()); }

 private:
  guarded<std::byte> bytes_;
  guarded<kerngrad::text> texts_;
};

inline std::vector<std::string> strings_of(const kerngrad::text* texts, std::int64_t count) {
  std::vector<std::string> all;
  for (std::int64_t i = 0; i < count; ++i) all.emplace_back(texts[i].data(), texts[i].size());
  return all;
}

}  // namespace kgtest
