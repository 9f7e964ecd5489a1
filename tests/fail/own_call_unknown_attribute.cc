// SPDX-License-Identifier: Apache-2.0
// A call of a user-defined op with an attribute that its row does not have.
// error: an attribute that the op's row does not have: see the row for their names
import kerngrad;
#include "outside_op.h"

kg::tensor f(const kg::tensor& x) {
#ifdef TWIN
  return kg::call<Halve>(x);
#else
  return kg::call<Halve>(x, kg::attr<"alpha">(0.5));
#endif
}
