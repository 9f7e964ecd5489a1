// SPDX-License-Identifier: Apache-2.0
// Products of complex numbers along an axis, running sums and running products, against the definition in long double.
#include "kernels/reduce/products.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <string_view>
#include <vector>

#include "tests/support/kernels.h"

namespace {

using namespace kerngrad::kernels;
using kerngrad::dtype;
using kgtest::guarded;
using number = std::complex<long double>;

// One axis of [outer, count, inner].
struct axis {
  std::int64_t outer, count, inner;
  bool exclusive, reverse;
};

// Result of the kernel at an index: the product or sum of the elements before it, of the whole axis where it reduces.
number expected(std::string_view op, const axis& g, const std::vector<number>& x, std::int64_t index) {
  const bool reduces = op == "Prod", sums = op == "Cumsum";
  const std::int64_t column = reduces ? index : index / (g.count * g.inner) * g.inner + index % g.inner;
  const std::int64_t row = reduces ? 0 : index / g.inner % g.count;
  number total = sums ? 0 : 1;
  for (std::int64_t r = 0; r < g.count; ++r) {
    const bool before = g.reverse ? r > row : r < row;
    if (!reduces && !before && (r != row || g.exclusive)) continue;
    const number z = x[static_cast<std::size_t>((column / g.inner * g.count + r) * g.inner + column % g.inner)];
    total = sums ? total + z : total * z;
  }
  return total;
}

template <class T>
void check(const entry& e, const axis& g) {
  const auto count = static_cast<std::size_t>(g.outer * g.count * g.inner);
  const bool reduces = std::string_view(e.op) == "Prod";
  guarded<std::complex<T>> x(count), y(reduces ? static_cast<std::size_t>(g.outer * g.inner) : count);
  std::vector<number> values;
  for (std::size_t i = 0; i < count; ++i) {
    x[i] = std::polar(T(0.9) + T(i % 5) / 20, T(i * i % 97));
    values.emplace_back(x[i].real(), x[i].imag());
  }
  const void* in[] = {x.data()};
  void* out[] = {y.data()};
  const reduce_geometry whole{g.outer, g.count, g.inner};
  const scan_geometry running{g.outer, g.count, g.inner, g.exclusive, g.reverse};
  e.run(in, out, reduces ? static_cast<const void*>(&whole) : &running);
  for (std::size_t i = 0; i < y.size(); ++i) {
    const number wanted = expected(e.op, g, values, static_cast<std::int64_t>(i));
    const long double near = (static_cast<long double>(g.count) + 4) * 2 * std::numeric_limits<double>::epsilon() +
                             std::numeric_limits<T>::epsilon();
    ASSERT_LE(std::abs(number(y[i]) - wanted), near * std::max(1.0L, std::abs(wanted))) << e.op << ", element " << i;
  }
}

TEST(complex_products, and_running_results_match_the_definition) {
  const axis all[] = {{1, 1, 1, false, false}, {3, 7, 1, false, true},    {2, 30, 1, true, false},
                      {2, 9, 5, true, true},   {1, 4, 600, false, false}, {0, 5, 2, false, false},
                      {2, 0, 3, false, false}};
  for (const axis& g : all)
    for (const auto& list : {std::to_array(products_simd), std::to_array(reference::products_reference)})
      for (const entry& e : list) {
        if (e.type == dtype::complex64) check<float>(e, g);
        else check<double>(e, g);
      }
}

// A scan may write over its operand.
TEST(complex_products, running_in_place_give_the_same) {
  std::vector<std::complex<double>> x, y(50);
  for (int i = 0; i < 50; ++i) x.emplace_back(1 + i % 3, i % 2);
  const scan_geometry g{1, 10, 5, false, true};
  const void* in[] = {x.data()};
  void *apart[] = {y.data()}, *over[] = {x.data()};
  Cumprod_complex128(in, apart, &g);
  Cumprod_complex128(in, over, &g);
  EXPECT_EQ(x, y);
}

}  // namespace
