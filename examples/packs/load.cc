// SPDX-License-Identifier: Apache-2.0
#include <iostream>
import kerngrad;

// packs [FILE]: loads the pack softshrink, runs and differentiates its op, and unloads it.
int main(int count, char** arguments) {
  kg::pack pack = kg::load_pack(count > 1 ? arguments[1] : SOFTSHRINK_PACK);
  std::cout << pack.name() << " " << pack.version() << "\n";

  const kg::tensor x({-2.f, -0.3f, 0.1f, 1.5f});
  auto f = [](const kg::tensor& t) { return kg::run_kernel("Softshrink", {{"x", t}}, {{"lambda", 0.5}}); };
  auto df = kg::grad([&](const kg::tensor& t) { return kg::sum(kg::square(f(t))); });
  std::cout << f(x) << "\n";                                                              // [-1.5, 0, 0, 1]
  std::cout << df(x) << "\n";                                                             // [-3, 0, 0, 2]
  std::cout << kg::grad([&](const kg::tensor& t) { return kg::sum(df(t)); })(x) << "\n";  // [2, 0, 0, 2]

  pack.unload();
  std::cout << (pack.mapped() ? "still in use" : "gone") << "\n";
  return pack.mapped() ? 1 : 0;
}
