// SPDX-License-Identifier: Apache-2.0
// Comparisons of texts against those of std::basic_string of unsigned bytes, flat and broadcast.
#include "kernels/elementwise/texts.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/text/placed.h"

namespace {

using kerngrad::kernels::broadcast_geometry;
using kerngrad::kernels::entry;
using kgtest::placed_texts;

const std::vector<std::string> words = {"", "a", std::string("a\0", 2), "ab", "b", "\x7f", "\x80", "\xff", "ab"};

bool holds(std::string_view op, const std::string& left, const std::string& right) {
  const std::vector<unsigned char> a(left.begin(), left.end()), b(right.begin(), right.end());
  if (op == "Equal") return a == b;
  if (op == "NotEqual") return a != b;
  if (op == "Greater") return a > b;
  if (op == "GreaterEqual") return a >= b;
  if (op == "Less") return a < b;
  return a <= b;
}

void check_pairs(const entry& e) {
  std::vector<std::string> left, right;
  for (const std::string& a : words)
    for (const std::string& b : words) left.push_back(a), right.push_back(b);
  const placed_texts a(left), b(right);
  kgtest::guarded<bool> y(left.size());
  e.flat2(a.data(), b.data(), y.data(), left.size());
  for (std::size_t i = 0; i < left.size(); ++i) EXPECT_EQ(y[i], holds(e.op, left[i], right[i])) << e.op << " " << i;
}

// Every word against every word, twice: a is [2, n, 1], of which the first axis repeats, b is [n].
void check_table(const entry& e) {
  const auto n = static_cast<std::int64_t>(words.size());
  const placed_texts x(words);
  kgtest::guarded<bool> y(2 * words.size() * words.size());
  broadcast_geometry g{};
  g.rank = 3;
  g.dims[0] = 2, g.dims[1] = g.dims[2] = n;
  g.strides[0][1] = 1, g.strides[1][2] = 1;
  const void* in[] = {x.data(), x.data()};
  void* out[] = {y.data()};
  e.run(in, out, &g);
  for (std::size_t i = 0; i < 2 * words.size() * words.size(); ++i)
    EXPECT_EQ(y[i], holds(e.op, words[i / words.size() % words.size()], words[i % words.size()])) << e.op << " " << i;
  g.dims[1] = 0;
  e.run(in, out, &g);  // writes nothing
}

TEST(comparisons_of_texts, are_those_of_their_bytes) {
  for (const entry& e : kerngrad::kernels::texts_simd) check_pairs(e), check_table(e);
  for (const entry& e : kerngrad::kernels::reference::texts_reference) check_pairs(e), check_table(e);
}

}  // namespace
