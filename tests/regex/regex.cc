// SPDX-License-Identifier: Apache-2.0
// Regular expressions on texts: what is replaced by what, and what is rejected.
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/support/refusal.h"

import kerngrad;
import kerngrad.regex;

namespace {

using kg::static_regex_replace;
using kg::tensor;
using kgtest::refusal;
using kgtest::says;
using texts = std::vector<std::string>;

TEST(static_regex_replace, gives_what_tensorflow_gives) {
  const tensor x({"this", "is", "a", "test test"});
  EXPECT_EQ(static_regex_replace(x, "test", "result", false).to_texts(), (texts{"this", "is", "a", "result test"}));
  EXPECT_EQ(static_regex_replace(x, "test", "result").to_texts(), (texts{"this", "is", "a", "result result"}));
  const tensor spaces({"This     will  have normal    whitespace"});
  EXPECT_EQ(static_regex_replace(spaces, " +", " ").to_texts(), (texts{"This will have normal whitespace"}));
}

TEST(static_regex_replace, takes_groups_and_characters) {
  const tensor x({"key=value", "\u00e9t\u00e9", "", "a\\b"}, {2, 2});
  EXPECT_EQ(static_regex_replace(x, "(\\w+)=(\\w+)", "\\2:\\1").to_texts(),
            (texts{"value:key", "\u00e9t\u00e9", "", "a\\b"}));
  EXPECT_EQ(static_regex_replace(x, "^(.)", "<\\0>").to_texts(),
            (texts{"<k>ey=value", "<\u00e9>t\u00e9", "", "<a>\\b"}));
  EXPECT_EQ(static_regex_replace(x, "^$", "none").to_texts()[2], "none");
  EXPECT_EQ(static_regex_replace(x, "[a-z]", "").to_texts(), (texts{"=", "\u00e9\u00e9", "", "\\"}));
  EXPECT_EQ(static_regex_replace(x, "\\\\", "\\\\\\\\").to_texts()[3], "a\\\\b");
  EXPECT_EQ(static_regex_replace(x, "a", "b").dims(), (kg::shape{2, 2}));
}

TEST(static_regex_replace, takes_texts_with_zeros_and_tensors_without_elements) {
  const tensor x(texts{std::string("a\0a", 3), std::string(5000, 'a')});
  EXPECT_EQ(static_regex_replace(x, "a", "bb").to_texts(), (texts{std::string("bb\0bb", 5), std::string(10000, 'b')}));
  EXPECT_EQ(static_regex_replace(tensor(texts{}, {0, 3}), "a", "b").dims(), (kg::shape{0, 3}));
}

TEST(static_regex_replace, leaves_results_that_outlive_their_operand) {
  tensor y;
  {
    const tensor x({"kept as it is", "changed"});
    y = static_regex_replace(x, "changed", "made anew");
  }
  EXPECT_EQ(y.to_texts(), (texts{"kept as it is", "made anew"}));
}

TEST(static_regex_replace, refuses_what_re2_does_not_take_with_its_reason) {
  const tensor x({"a"});
  EXPECT_TRUE(says(refusal([&] { return static_regex_replace(x, "(a", "b"); }),
                   {"StaticRegexReplace", "pattern \"(a\"", "missing )"}));
  EXPECT_TRUE(says(refusal([&] { return static_regex_replace(tensor(texts{}), "a**", "b"); }),
                   {"StaticRegexReplace", "pattern", "repetition"}));
  EXPECT_TRUE(says(refusal([&] { return static_regex_replace(x, "(a)", "\\2"); }),
                   {"StaticRegexReplace", "rewrite", "\\0 to \\1"}));
  EXPECT_TRUE(
      says(refusal([&] { return static_regex_replace(tensor({1.f}), "a", "b"); }), {"StaticRegexReplace", "float32"}));
}

TEST(static_regex_replace, is_found_by_name_once_it_is_registered) {
  const tensor x({"test test"});
  const auto by_name = [&] {
    return kg::run_kernel("StaticRegexReplace", {{"x", x}}, {{"pattern", "test"}, {"rewrite", "result"}});
  };
  EXPECT_TRUE(says(refusal(by_name), {"StaticRegexReplace"}));
  const kg::registration here = kg::scoped_op<kg::StaticRegexReplace>();
  EXPECT_EQ(by_name().to_texts(), (texts{"result result"}));
}

TEST(static_regex_replace, makes_utf8_or_throws) {
  struct call {
    const char *pattern, *rewrite;
    std::vector<std::string_view> words;
  };
  const call all[] = {
      {"a", "\xff", {"rewrite", "\\xff", "UTF-8"}},
      {"a", "\xc3", {"rewrite", "UTF-8"}},
      {"\xa9", "", {"pattern", "\\xa9"}},
      {"\\C", "", {"a result with text 0", "UTF-8 from byte 0"}},  // any byte: half of the first character
      {"\\C$", "", {"a result with text 0", "UTF-8"}},
  };
  const tensor x({"\u00e9", "b\u00e9"});
  for (const call& one : all) {
    const std::string said = refusal([&] { return static_regex_replace(x, one.pattern, one.rewrite, false); });
    EXPECT_TRUE(said.starts_with("[StaticRegexReplace]")) << one.pattern << ": " << said;
    for (const std::string_view word : one.words) EXPECT_TRUE(says(said, {word})) << one.pattern << ": " << said;
  }
}

}  // namespace
