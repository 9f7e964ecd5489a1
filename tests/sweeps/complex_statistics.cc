// SPDX-License-Identifier: Apache-2.0
// Statistics, norms and comparisons of complex numbers: NumPy's values, or an error where numbers have no order.
#include <complex>

#include "tests/sweeps/drawn.h"

namespace {

using namespace kgtest;
using kg::dtype;
using kg::shape;
using kg::tensor;
using z = std::complex<long double>;

struct drawn {
  std::vector<z> values;
  tensor x;
};
drawn draw(dice& d, std::int64_t count, dtype type) {
  drawn all{{}, kg::testkit::from_doubles(d.values(2 * count, -2, 2), {count}, type)};
  const doubles kept = kg::testkit::doubles_of(all.x);
  for (std::size_t i = 0; i < kept.size(); i += 2) all.values.emplace_back(kept[i], kept[i + 1]);
  return all;
}

TEST(complex_statistics, are_those_of_the_moduli_of_distances) {
  for (int round = 0; round < rounds(20); ++round) {
    dice d(static_cast<std::uint64_t>(round) + 1);
    const std::int64_t n = d.from_to(2, 7);
    const drawn x = draw(d, n, dtype::complex64);
    z mean = 0;
    for (const z v : x.values) mean += v;
    mean /= static_cast<long double>(n);
    long double squares = 0, moduli = 0;
    for (const z v : x.values) squares += std::norm(v - mean), moduli += std::norm(v);
    const long double variance = squares / static_cast<long double>(n);
    EXPECT_NEAR(kg::variance(x.x).item(), static_cast<double>(variance), 1e-5);
    EXPECT_NEAR(kg::standard_deviation(x.x).item(), static_cast<double>(std::sqrt(variance)), 1e-5);
    EXPECT_NEAR(kg::variance(x.x, 0, false, 1).item(), static_cast<double>(squares / static_cast<long double>(n - 1)),
                1e-5);
    const kg::moments_parts parts = kg::moments(x.x);
    EXPECT_NEAR(parts.variance.item(), static_cast<double>(variance), 1e-5);
    const doubles middle = kg::testkit::doubles_of(parts.mean);
    ASSERT_EQ(middle.size(), 2u);
    EXPECT_NEAR(middle[0], static_cast<double>(mean.real()), 1e-5);
    EXPECT_NEAR(middle[1], static_cast<double>(mean.imag()), 1e-5);
    for (const dtype type : {dtype::complex64, dtype::complex128})
      EXPECT_NEAR(kg::norm(kg::cast(x.x, type)).item(), static_cast<double>(std::sqrt(moduli)),
                  type == dtype::complex64 ? 1e-5 : 1e-14);
  }
}

TEST(complex128, keeps_double_precision_in_conjugates_and_norms) {
  dice d(3);
  const drawn x = draw(d, 5, dtype::complex128);
  const doubles got = kg::testkit::doubles_of(kg::conj(x.x)), given = kg::testkit::doubles_of(x.x);
  for (std::size_t i = 0; i < given.size(); ++i) EXPECT_EQ(got[i], i % 2 ? -given[i] : given[i]);
  EXPECT_EQ(kg::euclidean_norm(x.x).type(), dtype::float64);
}

TEST(complex_numbers, are_close_where_the_modulus_of_their_difference_is_small) {
  const tensor a = kg::testkit::from_doubles({1, 1, 1, 1, 1, 1}, {3}, dtype::complex64),
               b = kg::testkit::from_doubles({1, 2, 1, 1, 1, 1.0000001}, {3}, dtype::complex64);
  expect_is(kg::cast(kg::is_close(a, b), dtype::int32), {{3}, {0, 1, 1}});
  EXPECT_FALSE(kg::all_close(a, b));
  expect_is(kg::cast(kg::is_close(a, b, {.rtol = 0, .atol = 1}), dtype::int32), {{3}, {1, 1, 1}});
}

TEST(complex_numbers, have_no_order) {
  const tensor x = kg::testkit::from_doubles({1, 2, 3, 4}, {2}, dtype::complex64);
  EXPECT_NE(refusal([&] { return kg::median(x); }), accepted);
  EXPECT_NE(refusal([&] { return kg::quantile(x, 0.5); }), accepted);
  EXPECT_NE(refusal([&] { return kg::confusion_matrix(x, x, 3); }), accepted);
}

// ------------------------------------------------------------------------------------------ gradients

TEST(gradients, flow_through_complex128) {
  const tensor x = kg::testkit::from_doubles({1, 2, 3, 4}, {2}, dtype::complex64);
  const auto f = [](const tensor& t) {
    return kg::sum(kg::square(kg::abs(kg::cast(kg::cast(t, dtype::complex128), dtype::complex64))));
  };
  const auto g = [](const tensor& t) { return kg::sum(kg::square(kg::abs(t))); };
  expect_is(kg::grad(f)(x), {{2}, kg::testkit::doubles_of(kg::grad(g)(x))}, 1e-6);
}

}  // namespace
