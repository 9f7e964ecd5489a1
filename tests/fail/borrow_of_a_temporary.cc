// SPDX-License-Identifier: Apache-2.0
// Elements of a container that ends with the expression.
// clang: call to deleted function 'borrow': borrowed memory that dies: the container ends with this expression; name it
#include <vector>

import kerngrad;

kg::tensor f() {
#ifdef TWIN
  return kg::adopt(std::vector<float>{1, 2, 3}, {3});
#else
  return kg::borrow(std::vector<float>{1, 2, 3}, {3});
#endif
}
