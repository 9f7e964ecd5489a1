// SPDX-License-Identifier: Apache-2.0
// A tensor of a C++ type that no dtype stores.
// clang: no dtype stores this C++ type
import kerngrad;

kg::tensor f(const kg::tensor& x) {
#ifdef TWIN
  return kg::concat(std::vector{x, kg::tensor(std::vector<int>{1})});
#else
  return kg::concat(std::vector{x, kg::tensor(std::vector<char>{1})});
#endif
}
