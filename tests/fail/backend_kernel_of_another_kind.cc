// SPDX-License-Identifier: Apache-2.0
// A user-defined backend with a kernel of two elements for an op of one operand.
// error: a kernel of a user-defined backend does not take what its op's launcher gives
#include <tuple>
import kerngrad;

struct mine {
#ifdef TWIN
  static constexpr auto kernels = std::tuple(kg::kernels_of<"Neg">(kg::per_element<float>([](float x) { return -x; })));
#else
  static constexpr auto kernels =
      std::tuple(kg::kernels_of<"Neg">(kg::per_pair<float>([](float a, float b) { return a - b; })));
#endif
};

kg::tensor negated(const kg::tensor& x) { return kg::call_on<"Neg", mine>(x); }
