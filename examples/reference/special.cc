// SPDX-License-Identifier: Apache-2.0
// Special functions, and random elements of the distributions that use them.
#include <iostream>

#include "example.h"

import kerngrad;

namespace {

void gamma_functions() {
  const kg::tensor x({0.5, 1., 4.});
  std::cout << kg::lgamma(x) << "\n" << kg::digamma(x) << "\n" << kg::polygamma(1, x) << "\n";
}
const example for_gamma_functions{"kg::lgamma kg::digamma kg::polygamma", gamma_functions};

void integrals() {
  const kg::tensor x({-0.5, 0.25, 0.75});
  std::cout << kg::erfinv(x) << "\n" << kg::expi(x) << "\n";
}
const example for_integrals{"kg::erfinv kg::expi", integrals};

void bessel_functions() {
  const kg::tensor x({0., 1., 5.});
  std::cout << kg::j0(x) << "\n" << kg::j1(x) << "\n" << kg::i0(x) << "\n" << kg::i1(x) << "\n";
}
const example for_bessel_functions{"kg::j0 kg::j1 kg::i0 kg::i1", bessel_functions};

void incomplete_functions() {
  const kg::tensor a(2.), x({0.5, 2.});
  std::cout << kg::gammainc(a, x) << " " << kg::gammaincc(a, x) << "\n";
  std::cout << kg::beta(a, x) << " " << kg::betainc(a, x, kg::tensor(0.25)) << "\n";
}
const example for_incomplete_functions{"kg::gammainc kg::gammaincc kg::beta kg::betainc", incomplete_functions};

void activations() {
  const kg::tensor x({-1., 0., 2.});
  std::cout << kg::mish(x) << "\n" << kg::hard_swish(x) << "\n" << kg::logit(kg::tensor({0.25, 0.5})) << "\n";
}
const example for_activations{"kg::mish kg::hard_swish kg::logit", activations};

void times_and_shares() {
  std::cout << kg::mean(kg::random_exponential({10000}, 4, 7)) << "\n";
  std::cout << kg::mean(kg::random_beta({10000}, 2, 6, 7)) << "\n";
  std::cout << kg::mean(kg::random_dirichlet({10000}, kg::tensor({1., 3.}), 7), 0) << "\n";
}
const example for_times_and_shares{"kg::random_exponential kg::random_beta kg::random_dirichlet", times_and_shares};

void counts() { std::cout << kg::random_poisson({6}, 3, 7) << "\n" << kg::random_binomial({6}, 10, 0.5, 7) << "\n"; }
const example for_counts{"kg::random_poisson kg::random_binomial", counts};

void tails_and_angles() {
  std::cout << kg::random_student_t({3}, 5, 7) << "\n" << kg::random_von_mises({3}, 0, 4, 7) << "\n";
}
const example for_tails_and_angles{"kg::random_student_t kg::random_von_mises", tails_and_angles};

}  // namespace
