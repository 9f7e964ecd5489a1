// SPDX-License-Identifier: Apache-2.0
// Tensors for gdb to look at: it prints what to_string says of each, which check.py compares with what gdb says.
#include <iostream>
import kerngrad;

static void look_at(const kg::tensor& x, const kg::shape& dims) {
  std::cout << "tensor " << kg::to_string(dims) << " " << x << "\nend\n" << std::flush;
}

int main() {
  const kg::tensor rows{{1.5f, -2.f}, {3.f, 1e-7f}};
  for (int t = 0; t < kg::dtype_count; ++t)
    if (const auto type = static_cast<kg::dtype>(t); type != kg::dtype::text)
      look_at(kg::cast(rows, type), rows.dims());
  const kg::tensor texts{{"one", "a \"word\""}, {"", "\\"}};
  for (const kg::tensor& x : {texts, rows(1), kg::tensor(7), kg::zeros({0, 3}), kg::tensor({kg::complex64{0.5, -1}})})
    look_at(x, x.dims());
  look_at(kg::tensor(), {});
}
