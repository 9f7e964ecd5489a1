// SPDX-License-Identifier: Apache-2.0
// Regular expressions on texts.
#include <iostream>

#include "example.h"

import kerngrad;
import kerngrad.regex;

namespace {

void dates_in_another_order() {
  const kg::tensor dates({"24.12.2026", "1.5.2027"});
  std::cout << kg::static_regex_replace(dates, "(\\d+)\\.(\\d+)\\.(\\d+)", "\\3-\\2-\\1") << "\n";
}
const example for_dates_in_another_order{"kg::static_regex_replace", dates_in_another_order};

}  // namespace
