// SPDX-License-Identifier: Apache-2.0
// The import first, standard headers after it: the order in which a compiler has to merge the header's declarations
// with those that came by the import.
import kerngrad;
#include <algorithm>
#include <cstdio>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

int main() {
  const std::vector<float> values{3, 1, 2};
  const kg::tensor x(values, kg::shape{3});
  std::map<std::string, kg::tensor> results{{"sum", kg::sum(x)}};
  std::function<kg::tensor(const kg::tensor&)> twice = [](const kg::tensor& t) { return t + t; };
  kg::tensor doubled;
  std::thread([&] { doubled = twice(x); }).join();
  std::vector<float> sorted(doubled.data<float>().begin(), doubled.data<float>().end());
  std::sort(sorted.begin(), sorted.end());
  std::ostringstream text;
  text << x;
  const bool right = sorted == std::vector<float>{2, 4, 6} && results.at("sum").item() == 6 && !text.str().empty();
  std::puts(right ? "right" : "wrong");
  return right ? 0 : 1;
}
