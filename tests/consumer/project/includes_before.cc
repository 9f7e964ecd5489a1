// SPDX-License-Identifier: Apache-2.0
// Many standard headers, then the import: the usual order.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <ranges>
#include <regex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>
import kerngrad;

int main() {
  std::vector<float> values(6);
  std::iota(values.begin(), values.end(), 1.0f);
  const kg::tensor x(values, {2, 3});
  std::map<std::string, kg::tensor> results{{"double", x * 2}, {"sum", kg::sum(x)}};
  std::ostringstream text;
  text << results.at("double");
  const auto gradient = kg::grad([](const kg::tensor& t) { return kg::sum(kg::square(t)); })(x);
  const auto elements = gradient.data<float>();
  const bool right = std::ranges::equal(elements, values, [](float got, float v) { return got == 2 * v; }) &&
                     results.at("sum").item() == 21 && text.str().find("12") != std::string::npos;
  std::puts(right ? "right" : "wrong");
  return right ? 0 : 1;
}
