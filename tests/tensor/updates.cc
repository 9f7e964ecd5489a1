// SPDX-License-Identifier: Apache-2.0
// Result of x.at(indices...) for an element that index tensors name several times.
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

import kerngrad;

namespace {

using kg::dtype;
using kg::tensor;
using z64 = std::complex<float>;
using doubles = std::vector<double>;

TEST(updates, of_a_place_that_is_named_twice_take_all_values_in_every_dtype) {
  const tensor index({2, 0, 2});
  for (const dtype type : {dtype::float32, dtype::float64, dtype::float16, dtype::int32, dtype::int64, dtype::uint8,
                           dtype::int16, dtype::uint16, dtype::uint32}) {
    const tensor x = kg::cast(tensor({3, 7, 10}), type), values = kg::cast(tensor({20, 5, 15}), type);
    const bool wraps = type == dtype::uint8;  // 10 * 20 * 15 is 3000, which is 184 modulo 256
    for (const auto& [y, wanted] : {std::pair{x.at(index).multiply(values), doubles{15, 7, wraps ? 184.0 : 3000}},
                                    {x.at(index).add(values), doubles{8, 7, 45}},
                                    {x.at(index).max(values), doubles{5, 7, 20}},
                                    {x.at(index).min(values), doubles{3, 7, 10}}}) {
      EXPECT_EQ(y.type(), type);
      EXPECT_EQ(y.to_doubles(), wanted) << kg::name_of(type);
    }
  }
}

std::vector<std::complex<double>> elements(const tensor& x) {
  const auto data = x.data<z64>();  // of another dtype: rejected
  return {data.begin(), data.end()};
}

TEST(updates, of_complex_numbers_at_places_that_are_named_several_times_take_all_values) {
  constexpr std::size_t inner = 2, count = 23;
  std::mt19937 random(3);
  const auto drawn = [&](std::size_t rows) {
    std::vector<z64> made;
    for (std::size_t i = 0; i < rows * inner; ++i)
      made.emplace_back(static_cast<float>(random() % 5) - 1.5f, static_cast<float>(random() % 5) - 1.f);
    return tensor(made, {static_cast<std::int64_t>(rows), inner});
  };
  std::vector<int> rows{4};  // place 3 never, place 4 once, the others as they come
  while (rows.size() < count) rows.push_back(static_cast<int>(random() % 3));
  const tensor x = drawn(5), values = drawn(count);
  auto sums = elements(x), products = elements(x);
  for (std::size_t i = 0; i < count * inner; ++i) {
    const std::size_t at = static_cast<std::size_t>(rows[i / inner]) * inner + i % inner;
    sums[at] += elements(values)[i];
    products[at] *= elements(values)[i];
  }
  const auto differs = [](const tensor& y, const std::vector<std::complex<double>>& wanted) {
    double most = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i)
      most = std::max(most, std::abs(elements(y)[i] - wanted[i]) / std::abs(wanted[i]));
    return most;
  };
  EXPECT_LE(differs(x.at(tensor(rows)).multiply(values), products), 1e-5);
  EXPECT_LE(differs(x.at(tensor(rows)).add(values), sums), 1e-5);
  EXPECT_EQ(elements(x.at(tensor({1, 0})).multiply(x(kg::range(0, 2))))[0], elements(x)[0] * elements(x)[2])
      << "distinct places";
}

TEST(updates, of_complex_numbers_have_gradients_where_a_place_is_named_several_times) {
  // For holomorphic f the gradient is dy * conj(f'): of z a b by a it is conj(z b), of z + a + b it is 1.
  const z64 a(2, 1), b(-1, 1), z(1, 2);
  const tensor x({z, z64(3, -1)}), values({a, b}), index({0, 0});
  const auto grads = [&](auto update) {
    return kg::grads([&](const tensor& from, const tensor& v) { return kg::sum(update(from.at(index), v)); })(x,
                                                                                                              values);
  };
  const auto [x_of_product, v_of_product] =
      grads([](kg::tensor_part at, const tensor& v) { return std::move(at).multiply(v); });
  const auto [x_of_sum, v_of_sum] = grads([](kg::tensor_part at, const tensor& v) { return std::move(at).add(v); });
  using list = std::vector<std::complex<double>>;
  EXPECT_EQ(elements(x_of_product), (list{std::conj(a * b), 1}));
  EXPECT_EQ(elements(v_of_product), (list{std::conj(z * b), std::conj(z * a)}));
  EXPECT_EQ(elements(x_of_sum), (list{1, 1}));
  EXPECT_EQ(elements(v_of_sum), (list{1, 1}));
}

}  // namespace
