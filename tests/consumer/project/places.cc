// SPDX-License-Identifier: Apache-2.0
// The ops that tests/places adds to the library here, by their typed names and through the test kit.
#include <iostream>
#include <string_view>

import kerngrad;
import kerngrad.testkit;

namespace {

bool sound(std::string_view op) {
  const kg::testkit::report found = kg::testkit::check_op(op);
  std::cout << found << '\n';
  return found && found.count(kg::testkit::check::gradient) > 0 && found.count(kg::testkit::check::second_order) > 0;
}

}  // namespace

int main() {
  const auto [keys, values] = kg::sort_pairs(kg::tensor({3.f, 1.f, 2.f}), kg::tensor({30.f, 10.f, 20.f}));
  const bool sorted = values.to_doubles() == std::vector<double>{10, 20, 30};
  const bool known = std::abs(kg::tanh_exp(kg::tensor(1.f)).item() - 0.9913289158005998) < 1e-6;
  return sorted && known && sound("TanhExp") && sound("SortPairs") ? 0 : 1;
}
