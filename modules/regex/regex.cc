// SPDX-License-Identifier: Apache-2.0
// Regular expressions on texts, by RE2. A module of its own on top of kerngrad's public interface: programs that do not
// import it link no RE2.
module;
#include "kernels/common/abi.h"
export module kerngrad.regex;

import kerngrad;

namespace kerngrad::detail {

inline constexpr operand texts_searched[] = {{"x", text_only}};
inline constexpr attr_spec replacement[] = {
    {.name = "pattern", .kind = attr_kind::text, .doc = "a regular expression in the syntax of RE2", .required = true},
    {.name = "rewrite",
     .kind = attr_kind::text,
     .doc = "what takes the place of a match; \\0 is the match, \\1 to \\9 are its groups, \\\\ is a backslash",
     .required = true},
    {.name = "replaceGlobal",
     .kind = attr_kind::boolean,
     .doc = "all matches that do not overlap, not the first one alone",
     .fallback = 1}};
void infer_replaced(inference& call);
void replace_matches(const launch_call& c);

}  // namespace kerngrad::detail

export namespace kerngrad {

/// The op of `static_regex_replace`, which replaces matches of a regular expression in strings:
/// `register_op<StaticRegexReplace>()` makes it callable by name as well.
struct StaticRegexReplace {
  static constexpr op_row row{.name = "StaticRegexReplace",
                              .doc = "Texts with the matches of a regular expression replaced.",
                              .group = family::text,
                              .operands = detail::texts_searched,
                              .attrs = detail::replacement,
                              .infer = detail::infer_replaced,
                              .launch = detail::replace_matches,
                              .no_gradient = "strings have no derivative",
                              .cost = 256};
  static constexpr auto kernels = kernel_list(on_call<text>([](const launch_call& c) { detail::replace_matches(c); }));
};

/// Replaces matches of `pattern` in each string of x by `rewrite`. All matches that do not overlap are replaced, or the
/// first one alone without `replace_global`. The argument x is a tensor of text of any shape; the result has its shape.
/// The pattern is a regular expression in the syntax of RE2 (https://github.com/google/re2/wiki/Syntax) and matches
/// UTF-8 characters. Time is linear in the length of a string. In the rewrite \0 stands for the match, \1 to \9 for its
/// groups, and \\ for a backslash. Pattern and rewrite have at most 127 bytes each. Throws with RE2's reason for a
/// pattern that does not parse, and for a rewrite with groups that the pattern does not have. Throws if a result is not
/// UTF-8, which `\C` in a pattern can cause. No gradient.
inline tensor static_regex_replace(const tensor& x, std::string_view pattern, std::string_view rewrite,
                                   bool replace_global = true) {
  return call<StaticRegexReplace>(x, attr<"pattern">(pattern), attr<"rewrite">(rewrite),
                                  attr<"replaceGlobal">(replace_global));
}

}  // namespace kerngrad
