// SPDX-License-Identifier: Apache-2.0
// The gradient of a function of a struct whose members nothing shows.
// clang: a struct is a tree of tensors where kg::tree_members shows its members
// error: gradient_function
#include <tuple>

import kerngrad;

struct dense {
  kg::tensor weight, bias;
};

#ifdef TWIN
template <>
struct kg::tree_members<dense> {
  static auto of(auto& d) { return std::tie(d.weight, d.bias); }
};
#endif

dense slope(const dense& layer) {
  return kg::grad([](const dense& at) { return kg::sum(at.weight * 2 + at.bias); })(layer);
}
