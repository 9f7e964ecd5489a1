// SPDX-License-Identifier: Apache-2.0
// Pieces of texts. One delimiter is looked for by the C library, which has vectors for every target; several are a
// table of bytes.
#include "kernels/text/split.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace kerngrad::kernels {
namespace {

// Finds the delimiters of a rule that has some.
class delimiter_search {
 public:
  explicit delimiter_search(std::string_view delimiters) : one_(delimiters[0]), only_one_(delimiters.size() == 1) {
    for (const char c : delimiters) is_one_[static_cast<unsigned char>(c)] = true;
  }
  // The first one from `at` on, or `end`.
  const char* find(const char* at, const char* end) const {
    if (only_one_) {
      const void* found = std::memchr(at, one_, static_cast<std::size_t>(end - at));
      return found ? static_cast<const char*>(found) : end;
    }
    while (at != end && !is_one_[static_cast<unsigned char>(*at)]) ++at;
    return at;
  }

 private:
  char one_;
  bool only_one_;
  bool is_one_[256] = {};
};

// Calls piece(i, k, view) for piece k of text i, of all in order, and ended(i, k) after the k pieces of each text.
template <class Piece, class Ended>
void for_each_piece(const text* x, std::int64_t count, const split_rule& rule, Piece piece, Ended ended) {
  const bool into_bytes = rule.delimiters.empty();
  const delimiter_search search(into_bytes ? std::string_view("", 1) : rule.delimiters);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::string_view all = x[i];
    const char* at = all.data();
    const char* const end = at + all.size();
    std::int64_t k = 0;
    if (into_bytes) {
      for (; at != end; ++at) piece(i, k++, std::string_view(at, 1));
    } else if (at != end) {
      for (;; ++at) {
        const char* const stop = search.find(at, end);
        if (!rule.skips_empty || stop != at) piece(i, k++, std::string_view(at, static_cast<std::size_t>(stop - at)));
        at = stop;
        if (at == end) break;
      }
    }
    ended(i, k);
  }
}

}  // namespace

piece_counts count_pieces(const text* x, std::int64_t count, const split_rule& rule) {
  piece_counts found;
  for_each_piece(
      x, count, rule, [](std::int64_t, std::int64_t, std::string_view) {},
      [&](std::int64_t, std::int64_t pieces) {
        found.all += pieces;
        found.most = std::max(found.most, pieces);
      });
  return found;
}

namespace {

/// StringSplit. Exact. Reference: kernels/text/reference_split.cc.
template <dtype>
void StringSplit(const split_geometry& g, const text* x, std::int32_t* indices, text* values, std::int32_t* dims) {
  std::int64_t most = 0;
  for_each_piece(
      x, g.count, g.rule,
      [&](std::int64_t i, std::int64_t k, std::string_view piece) {
        *indices++ = static_cast<std::int32_t>(i);
        *indices++ = static_cast<std::int32_t>(k);
        *values++ = g.made->put(piece);
      },
      [&](std::int64_t, std::int64_t pieces) { most = std::max(most, pieces); });
  dims[0] = static_cast<std::int32_t>(g.count);
  dims[1] = static_cast<std::int32_t>(most);
}

}  // namespace

KG_DEFINE_PLAIN_KERNELS(KG_TEXT_SPLIT_KERNELS)

}  // namespace kerngrad::kernels
