// SPDX-License-Identifier: Apache-2.0
// RE2 at work. A call compiles its pattern twice, a few microseconds each: once for the checks that come before
// anything is allocated, once for the matches.
module;
#include <cstddef>
#include <re2/re2.h>
#include <span>
#include <string>
#include <string_view>
#include "kernels/common/abi.h"
#include "kernels/text/text.h"
module kerngrad.regex;

namespace kerngrad::detail {
namespace {

constexpr attr_place pattern_at = place_in(replacement, "pattern"), rewrite_at = place_in(replacement, "rewrite"),
                     all_at = place_in(replacement, "replaceGlobal");

re2::StringPiece piece_of(const attr_value& given) { return {given.as_text().data(), given.as_text().size()}; }

RE2 compiled(const inference& call) {
  RE2::Options options;
  options.set_log_errors(false);  // they are thrown
  return RE2(piece_of(call.attr(pattern_at)), options);
}

// As a part of a sentence.
std::string without_full_stop(std::string reason) {
  if (reason.ends_with('.')) reason.pop_back();
  return reason;
}

}  // namespace

void infer_replaced(inference& call) {
  const RE2 expression = compiled(call);
  const attr_value& rewrite = call.attr(rewrite_at);
  if (!expression.ok())
    call.refuse("pattern " + to_string(call.attr(pattern_at)) + ", of which RE2 says: " + expression.error(),
                "a regular expression in the syntax of RE2");
  if (std::string reason; !expression.CheckRewriteString(piece_of(rewrite), &reason))
    call.refuse("rewrite " + to_string(rewrite) + ", of which RE2 says: " + without_full_stop(reason),
                "text in which \\0 to \\" + std::to_string(expression.NumberOfCapturingGroups()) +
                    " stand for the match and the groups of the pattern");
  call.give(call.in[0].dims);
}

void replace_matches(const launch_call& c) {
  const RE2 expression = compiled(c.call);
  const re2::StringPiece rewrite = piece_of(c.call.attr(rewrite_at));
  const bool all = c.call.attr(all_at).as_bool();
  const std::span<const text> x = elements_in<text>(c, 0);
  const std::span<text> y = elements_out<text>(c);
  std::string changed;
  for (std::size_t i = 0; i < x.size(); ++i) {
    changed.assign(x[i].data(), x[i].size());
    const bool any =
        all ? RE2::GlobalReplace(&changed, expression, rewrite) > 0 : RE2::Replace(&changed, expression, rewrite);
    y[i] = any ? c.texts->put(changed) : x[i];
  }
}

}  // namespace kerngrad::detail
