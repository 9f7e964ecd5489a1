// SPDX-License-Identifier: Apache-2.0
// Costs for a consumer: a file that uses indices and reads and writes files. tools/bench/footprint.py compiles it.
#include <cstdio>
import kerngrad;
import kerngrad.io;

int main(int, char** names) {
  const kg::tensor picture = kg::io::load(names[1]);
  const kg::tensor half = picture(kg::range(0, kg::end, 2), kg::range(0, kg::end, 2), kg::newaxis, 0);
  const kg::tensor bright = half(half > 200);
  std::printf("%g of %g\n", static_cast<double>(bright.size()), picture(0, 0, 0).item());
  kg::io::save(names[2], {{"picture", half.at(half > 200).set(0)}, {"rows", half(kg::tensor({0, 1, 0}))}});
}
