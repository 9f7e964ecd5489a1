// SPDX-License-Identifier: Apache-2.0
// A gradient rule for a name that no row has.
// error: a gradient rule for an op that has no row: correct the name or add the row
// clang: fixed_string<5>{"Relo"} does not satisfy 'known_op'
import kerngrad;

constexpr auto pass = [](const auto& c) { return c.dy(); };
auto f() {
#ifdef TWIN
  constexpr auto own = kg::rule<"Relu">(kg::wrt(kg::keep::nothing, pass));
#else
  constexpr auto own = kg::rule<"Relo">(kg::wrt(kg::keep::nothing, pass));
#endif
  return own;
}
