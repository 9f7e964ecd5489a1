// SPDX-License-Identifier: Apache-2.0
// The program of docs/from-numpy.md. from_numpy.py is the same in NumPy, line by line; a test compares what both print.
#include <array>
#include <iomanip>
#include <iostream>
#include <limits>
#include <string_view>

import kerngrad;

void show(std::string_view name, const kg::tensor& value) {
  std::cout << name << ":" << std::setprecision(17);
  for (const double element : value.to_doubles()) std::cout << " " << element;
  std::cout << "\n";
}

int main() {
  const kg::tensor a = kg::reshape(kg::arange(12, kg::dtype::float64), {3, 4});
  const kg::tensor v({3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0});

  // Elements and slices
  show("row", a(1));
  show("last column", a(kg::all, -1));
  show("block", a(kg::range(0, 3, 2), kg::range(-2, kg::end)));
  show("rows reversed", a(kg::range(-1, kg::end, -1)));
  show("new axis", a(kg::all, kg::newaxis, 0) * a(0));
  show("rows by index", a(kg::tensor({2, 0})));
  show("pairs by index", a(kg::tensor({2, 0}), kg::tensor({1, 3})));
  show("mask", a(a > 5));
  show("both masks", a((a > 2) & (a < 7)));

  // Assignment
  kg::tensor b = a;
  b = b.at(kg::mod(b, 2) == 0).set(-1);
  show("masked assignment", b);
  b = b.at(kg::tensor({0, 2}), kg::tensor({1, 3})).set(kg::tensor({50.0, 60.0}));
  show("fancy assignment", b);
  b = b.at(kg::all, 0).add(100);
  show("column update", b);
  kg::tensor counts = kg::zeros({4});
  counts = counts.at(kg::tensor({0, 2, 0})).add(1);
  show("repeated indices", counts);

  // Missing values
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const kg::tensor x{{1.0, nan, 3.0}, {4.0, 5.0, nan}};
  show("nansum", kg::nansum(x, 0));
  show("nanmean", kg::nanmean(x, 1));
  show("nanmax", kg::nanmax(x));
  show("nan count", kg::count_nonzero(kg::isnan(x)));
  show("nan to zero", kg::nan_to_num(x));
  show("without nan", x(!kg::isnan(x)));

  // Statistics
  show("mean", kg::mean(a, 0));
  show("std", kg::std(a, 1));
  show("sample variance", kg::var(v, kg::all_axes, false, 1));
  show("median", kg::median(a, 1));
  show("percentile", kg::percentile(v, 90));
  show("quartiles", kg::quantile(v, {0.25, 0.75}));
  show("histogram", kg::histogram(v, 4, {.range = std::array{1.0, 9.0}}).counts);
  show("digitize", kg::digitize(v, kg::tensor({2.0, 5.0, 8.0})));
  show("normalized", (a - kg::mean(a, 0)) / kg::std(a, 0));

  // Groups
  const kg::tensor labels({0, 1, 0, 2, 1, 2, 0, 1});
  show("group counts", kg::bincount(labels, 3));
  show("group sums", kg::segment_sum(v, labels, 3));
  show("group means", kg::segment_mean(v, labels, 3));
  show("group maxima", kg::segment_max(v, labels, 3));
  const auto [distinct, inverse] = kg::unique_inverse(v);
  show("unique", distinct);
  show("unique inverse", inverse);

  // Cumulative
  show("cumsum", kg::cumsum(a, 1));
  show("cumprod", kg::cumprod(v));
  show("running maximum", kg::cummax(v));
  show("diff", kg::diff(v));

  // Order
  show("sort", kg::sort(v));
  show("argsort", kg::argsort(v));
  show("three largest", kg::top_k(v, 3)[0]);
  show("argmax", kg::argmax(a, 1));
  show("nonzero", kg::nonzero(v > 3));

  // Shapes and products
  show("transpose", kg::transpose(a));
  show("concatenate", kg::concat({a, a(kg::range(0, 1))}, 0));
  show("stack", kg::stack({v(kg::range(0, 2)), v(kg::range(2, 4))}, 1));
  show("pad", kg::pad(v(kg::range(0, 3)), {{1, 2}}));
  show("matmul", kg::matmul(a, kg::transpose(a)));
  show("outer", kg::outer(v(kg::range(0, 2)), v(kg::range(0, 3))));
  show("einsum", kg::einsum("ij,kj->ik", a, a));
  show("clip", kg::clip(v, 2, 5));
}
