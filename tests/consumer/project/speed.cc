// SPDX-License-Identifier: Apache-2.0
// Calls whose instructions are counted: however a consumer is built, the library is as fast as in a build of its own.
import kerngrad;

extern "C" [[gnu::noinline]] const void* exp_of_a_million(const kg::tensor& x) { return kg::exp(x).address(); }
extern "C" [[gnu::noinline]] const void* matmul_of_512(const kg::tensor& a) { return kg::matmul(a, a).address(); }
extern "C" [[gnu::noinline]] const void* add_of_one(const kg::tensor& x) { return kg::add(x, x).address(); }

int main() {
  const kg::tensor million = kg::linspace(-10, 10, 1'000'000), square = kg::ones({512, 512}), one({1.f});
  // The first calls choose the CPU target and fill the thread's cache.
  for (int i = 0; i < 3; ++i) kg::exp(kg::add(one, one));
  const bool right = exp_of_a_million(million) != nullptr && matmul_of_512(square) != nullptr;
  return add_of_one(one) != nullptr && right ? 0 : 1;
}
