// SPDX-License-Identifier: Apache-2.0
// The part of docs/from-numpy.md that gives Eigen a tensor and takes one from it.
#include <eigen3/Eigen/Dense>
#include <iostream>
#include <span>

import kerngrad;

int main() {
  using rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  rows m(2, 2);
  m << 4, 1, 1, 3;
  const kg::tensor a = kg::borrow(m);  // in, without a copy: m must live as long as a
  const kg::tensor gram = kg::matmul(kg::transpose(a), a);

  const Eigen::Map<const rows> view(gram.data<double>().data(), 2, 2);  // out, without a copy
  const Eigen::VectorXd solution = view.ldlt().solve(Eigen::VectorXd::Ones(2));
  const kg::tensor x(std::span<const double>(solution.data(), 2), {2});  // in, copied
  std::cout << x << "\n" << kg::matmul(gram, x) << "\n";
}
