// SPDX-License-Identifier: Apache-2.0
// Operators in libstdc++'s namespace of iterators, so that its own can be exported: they become hidden friends there,
// one version after the other (== in 16); then no function of the name is left, and what is not there cannot be
// exported.
#pragma once
#include <vector>
#ifdef __GLIBCXX__
namespace __gnu_cxx {
struct kerngrad_nothing;
void operator==(const kerngrad_nothing&, const kerngrad_nothing&);
void operator-(const kerngrad_nothing&, const kerngrad_nothing&);
void operator<=>(const kerngrad_nothing&, const kerngrad_nothing&);
void operator+(const kerngrad_nothing&, const kerngrad_nothing&);
}  // namespace __gnu_cxx
#endif
