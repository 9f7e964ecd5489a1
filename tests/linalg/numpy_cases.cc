// SPDX-License-Identifier: Apache-2.0
// Results that numpy_check.py has too: a line for each, the name and the numbers.
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

import kerngrad;
import kerngrad.linalg;

namespace {

using kg::tensor;
namespace la = kg::linalg;

// Element i of the flat array is sin(1 + 3 i + i i / 7).
tensor made(const kg::shape& dims) {
  std::vector<double> all;
  for (std::int64_t k = 0; k < dims.size(); ++k) {
    const auto i = static_cast<double>(k);
    all.push_back(std::sin(1 + 3 * i + i * i / 7));
  }
  return tensor(all, dims);
}

void print(const std::string& name, const tensor& x) {
  std::printf("%s:", name.c_str());
  for (const double each : x.to_doubles()) std::printf(" %.17g", each);
  std::printf("\n");
}

}  // namespace

int main() {
  const tensor a = made({2, 4, 4}), b = made({4, 3}), tall = made({5, 3}), wide = made({3, 5});
  const tensor definite = kg::matmul(a, a, false, true) + kg::eye(4, 4, 0, kg::dtype::float64);
  print("cholesky", la::cholesky(definite));
  print("solve", la::solve(a, b));
  print("inv", la::inv(a));
  print("det", la::det(a));
  print("sign", la::slogdet(a).sign);
  print("logabsdet", la::slogdet(a).logabsdet);
  for (const auto& [name, x] : {std::pair("tall", tall), std::pair("wide", wide)}) {
    const std::string of = std::string(" of ") + name;
    print("q" + of, la::qr(x).q);
    print("r" + of, la::qr(x).r);
    print("complete q" + of, la::qr(x, la::qr_mode::complete).q);
    print("svdvals" + of, la::svdvals(x));
    print("pinv" + of, la::pinv(x));
    print("rank" + of, la::matrix_rank(x));
    print("lstsq" + of, la::lstsq(x, made({x.dims()[0], 2})).x);
    print("cond" + of, la::cond(x));
    print("2-norm" + of, la::matrix_norm(x, 2));
    print("nuc" + of, la::matrix_norm(x, "nuc"));
    print("1-norm" + of, la::matrix_norm(x, 1));
    print("fro" + of, la::matrix_norm(x));
  }
  print("eigvalsh", la::eigvalsh(definite));
  print("projector", [&] {
    const tensor v = la::eigh(definite).eigenvectors(kg::ellipsis, kg::range(0, 2));
    return kg::matmul(v, v, false, true);
  }());
  print("power", la::matrix_power(a, 5));
  print("inverse power", la::matrix_power(a, -2));
  print("multi_dot", la::multi_dot({wide, tall, made({3, 2})}));
  print("kron", la::kron(b, tall));
  print("cross", la::cross(tall, made({3})));
  print("tensordot", la::tensordot(a, made({4, 4, 2}), {1, 2}, {0, 1}));
  print("integers", la::inv(tensor({2, 1, 1, 3}, {2, 2})));
}
