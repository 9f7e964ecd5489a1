// SPDX-License-Identifier: Apache-2.0
// The gradient part takes one tensor where two were saved.
// error: the gradient part of a custom gradient must take dy and every tensor that the forward part saved
import kerngrad;

constexpr auto f = kg::custom_gradient<[](const kg::tensor& x) { return kg::saved(x * x, x, x); },
#ifdef TWIN
                                       [](const kg::tensor& dy, const kg::tensor& x, const kg::tensor&) {
#else
                                       [](const kg::tensor& dy, const kg::tensor& x) {
#endif
                                         return dy * x * 2;
                                       }>;
