// SPDX-License-Identifier: Apache-2.0
// Something saved that is no tensor.
// clang: no matching function for call to 'saved'
// clang: same_as<double
import kerngrad;

#ifdef TWIN
constexpr auto f = kg::custom_gradient<[](const kg::tensor& x) { return kg::saved(x * 2, kg::tensor(2.0)); },
#else
constexpr auto f = kg::custom_gradient<[](const kg::tensor& x) { return kg::saved(x * 2, 2.0); },
#endif
                                       [](const kg::tensor& dy, const kg::tensor& factor) { return dy * factor; }>;
