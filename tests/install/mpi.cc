// SPDX-License-Identifier: Apache-2.0
// Collective operations of an installed library, on one rank.
#include <iostream>
import kerngrad;
import kerngrad.mpi;

int main() {
  const kg::tensor x({1.0, 2.0});
  const kg::tensor g = kg::grad([](const kg::tensor& t) { return kg::sum(kg::square(kg::mpi::all_reduce(t))); })(x);
  std::cout << g << "\n";
  return g.to_doubles()[1] == 4 ? 0 : 1;
}
