// SPDX-License-Identifier: Apache-2.0
// The examples of docs/exchange.md: elements in and out without copies.
#include <array>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <span>
#include <vector>

import kerngrad;

namespace {

void memory_of_the_program() {
  const auto v = std::make_shared<const std::vector<float>>(std::vector<float>{1, 2, 3, 4, 5, 6});
  const kg::tensor z = kg::borrow(std::span<const float>(*v), {2, 3}, v);  // v lives as long as z
  std::cout << kg::sum(z, 1) << "\n";                                      // [6, 15]

  std::vector<double> samples{0.5, 1.5, 2.5, 3.5};
  const kg::tensor s = kg::adopt(std::move(samples), {2, 2});  // the vector is the tensor's from now on
  std::cout << kg::matmul(s, s) << "\n";                       // [[4, 6], [10, 16]]

  try {
    kg::borrow(*v, {2, 4}, v);
  } catch (const kg::error& e) {
    std::cout << e.what() << "\n";  // [borrow] got 6 elements; wanted 8 for shape [2, 4]
  }
}

double trace_of(const kg::tensor& x) {
  const auto m = kg::as_mdspan<float, 2>(x);
  double trace = 0;
  for (std::int64_t i = 0; i < m.extent(0); ++i) trace += m[std::array{i, i}];
  return trace;
}

bool there_and_back(const kg::tensor& x) {
  kg::dlpack::managed_tensor_versioned* const given = kg::to_dlpack(x).release();
  // ... another library takes it, or hands over one of its own ...
  const kg::tensor y = kg::from_dlpack(given);
  return y.address() == x.address();  // no copy either way
}

void a_tensor_of_a_device(const kg::tensor& x) {
  auto given = kg::to_dlpack(x);
  given->dl_tensor.device.device_type = kg::dlpack::on_cuda;
  try {
    kg::from_dlpack(std::move(given));
  } catch (const kg::error& e) {
    std::cout << e.what() << "\n";  // got a tensor on a device, CUDA 0; wanted one in the host's memory
  }
}

}  // namespace

int main() {
  memory_of_the_program();
  const kg::tensor x = kg::tensor{{1.f, 2.f}, {3.f, 4.f}};
  a_tensor_of_a_device(x);
  return trace_of(x) == 5 && there_and_back(x) ? EXIT_SUCCESS : EXIT_FAILURE;
}
