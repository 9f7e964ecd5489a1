// SPDX-License-Identifier: Apache-2.0
// Complex tensors: promotion, arithmetic, reductions, products, selections and updates, in both precisions, and
// gradients by the convention of docs/dtypes.md. tests/elementwise/complex.cc judges the functions of elements.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <string>
#include <vector>

import kerngrad;
import kerngrad.testkit;

namespace {

using kg::dtype;
using kg::tensor;
using z = std::complex<double>;
using zs = std::vector<z>;
using namespace std::complex_literals;

constexpr dtype complex_dtypes[] = {dtype::complex64, dtype::complex128};

tensor of(const zs& values, const kg::shape& dims, dtype type) {
  std::vector<double> parts;
  for (const z& v : values) parts.insert(parts.end(), {v.real(), v.imag()});
  return kg::testkit::from_doubles(parts, dims, type);
}
zs numbers_of(const tensor& x) {
  const std::vector<double> parts = kg::testkit::doubles_of(x);
  zs all;
  for (std::size_t i = 0; i < parts.size(); i += 2) all.emplace_back(parts[i], parts[i + 1]);
  return all;
}
// Within a few units in the last place of the modulus.
void expect_numbers(const tensor& got, const zs& wanted, dtype type, double units = 8) {
  ASSERT_EQ(got.type(), type);
  const zs values = numbers_of(got);
  ASSERT_EQ(values.size(), wanted.size());
  const double unit = type == dtype::complex64 ? 0x1p-23 : 0x1p-52;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    EXPECT_LE(std::abs(values[i] - wanted[i]), units * unit * std::max(1.0, std::abs(wanted[i])))
        << i << ": " << values[i] << ", wanted " << wanted[i];
}

const zs some{1.0 + 2i, -0.5 + 0.25i, 3.0 - 1i, 0.75 + 0i, -2.0 - 1.5i, 0.5i};

// ------------------------------------------------------------------------------------------ arithmetic

TEST(complex_tensors, take_real_tensors_and_numbers_of_cpp) {
  for (const dtype type : complex_dtypes) {
    const tensor a = of(some, {6}, type), r({1.f, 2.f, 3.f, 4.f, 5.f, 6.f});
    zs sums, products, quotients, turned;
    for (std::size_t i = 0; i < some.size(); ++i) {
      const double real = static_cast<double>(i) + 1;
      sums.push_back(some[i] + real), products.push_back(some[i] * real), quotients.push_back(real / some[i]);
      turned.push_back(2i * some[i] - 1.0);
    }
    expect_numbers(a + r, sums, type);
    expect_numbers(r * a, products, type);
    expect_numbers(r / a, quotients, type);
    expect_numbers(z(0, 2) * a - 1, turned, type);
    expect_numbers(-a + a, zs(6), type);
    EXPECT_EQ((a == some[2]).to_doubles(), (std::vector<double>{0, 0, 1, 0, 0, 0}));
    EXPECT_EQ((a != a).to_doubles(), std::vector<double>(6));
  }
}

TEST(complex_tensors, with_float64_are_complex128) {
  const tensor narrow({kg::complex64{1, 2}}), wide({0.1});
  EXPECT_EQ((narrow + wide).type(), dtype::complex128);
  EXPECT_EQ(numbers_of(narrow + wide)[0], (z{1.1, 2}));
  EXPECT_EQ((narrow * tensor({3})).type(), dtype::complex64) << "an integer";
}

TEST(complex_tensors, divide_where_squares_leave_the_range) {
  const tensor a({kg::complex128{1e300, -1e300}, kg::complex128{1e-310, 0}, kg::complex128{0, 0}}),
      b({kg::complex128{1e300, 1e300}, kg::complex128{0, 1e-310}, kg::complex128{3, 4}});
  expect_numbers(a / b, {-1i, -1i, 0}, dtype::complex128, 1);
  for (const double part : kg::testkit::doubles_of(b / tensor({kg::complex128{}}))) EXPECT_TRUE(std::isnan(part));
}

TEST(complex_tensors, have_angles_of_both_sides_of_the_cut) {
  const tensor x({kg::complex128{-1, 0.0}, kg::complex128{-1, -0.0}, kg::complex128{0, 2}});
  const std::vector<double> angles = kg::angle(x).to_doubles();
  EXPECT_DOUBLE_EQ(angles[0], std::acos(-1.0));
  EXPECT_DOUBLE_EQ(angles[1], -std::acos(-1.0));
  EXPECT_DOUBLE_EQ(angles[2], std::acos(-1.0) / 2);
  EXPECT_EQ(kg::angle(tensor({2.0, -3.0})).to_doubles(), (std::vector<double>{0, std::acos(-1.0)}));
}

struct function_case {
  std::string name;
  std::function<tensor(const tensor&)> f;
  std::function<z(z)> of, slope;
};
const std::vector<function_case> functions = {
    {"exp", [](const tensor& x) { return kg::exp(x); }, [](z v) { return std::exp(v); },
     [](z v) { return std::exp(v); }},
    {"log", [](const tensor& x) { return kg::log(x); }, [](z v) { return std::log(v); }, [](z v) { return 1.0 / v; }},
    {"sqrt", [](const tensor& x) { return kg::sqrt(x); }, [](z v) { return std::sqrt(v); },
     [](z v) { return 0.5 / std::sqrt(v); }},
    {"reciprocal", [](const tensor& x) { return kg::reciprocal(x); }, [](z v) { return 1.0 / v; },
     [](z v) { return -1.0 / (v * v); }},
    {"square", [](const tensor& x) { return kg::square(x); }, [](z v) { return v * v; }, [](z v) { return 2.0 * v; }},
    {"sin", [](const tensor& x) { return kg::sin(x); }, [](z v) { return std::sin(v); },
     [](z v) { return std::cos(v); }},
    {"cos", [](const tensor& x) { return kg::cos(x); }, [](z v) { return std::cos(v); },
     [](z v) { return -std::sin(v); }},
    {"tan", [](const tensor& x) { return kg::tan(x); }, [](z v) { return std::tan(v); },
     [](z v) { return 1.0 / (std::cos(v) * std::cos(v)); }},
    {"sinh", [](const tensor& x) { return kg::sinh(x); }, [](z v) { return std::sinh(v); },
     [](z v) { return std::cosh(v); }},
    {"cosh", [](const tensor& x) { return kg::cosh(x); }, [](z v) { return std::cosh(v); },
     [](z v) { return std::sinh(v); }},
    {"tanh", [](const tensor& x) { return kg::tanh(x); }, [](z v) { return std::tanh(v); },
     [](z v) { return 1.0 / (std::cosh(v) * std::cosh(v)); }},
    {"pow", [](const tensor& x) { return kg::pow(x, z(1.5, -0.5)); }, [](z v) { return std::pow(v, z(1.5, -0.5)); },
     [](z v) { return z(1.5, -0.5) * std::pow(v, z(0.5, -0.5)); }},
    {"pow of a number", [](const tensor& x) { return kg::pow(z(0.5, 2), x); },
     [](z v) { return std::pow(z(0.5, 2), v); }, [](z v) { return std::pow(z(0.5, 2), v) * std::log(z(0.5, 2)); }},
};

TEST(functions_of_complex_tensors, are_those_of_the_standard_library) {
  for (const dtype type : complex_dtypes)
    for (const function_case& c : functions) {
      SCOPED_TRACE(c.name);
      zs wanted;
      for (const z& v : some) wanted.push_back(c.of(v));
      expect_numbers(c.f(of(some, {6}, type)), wanted, type, 24);
    }
}

// For a holomorphic f and a real loss <w, f(x)>, the gradient is w * conj(f'(x)).
TEST(gradients_of_complex_tensors, are_dy_times_the_conjugate_derivative) {
  const zs weights{1.0, 1i, 2.0 - 1i, -1.0, 0.5 + 0.5i, -1i};
  for (const dtype type : complex_dtypes)
    for (const function_case& c : functions) {
      SCOPED_TRACE(c.name);
      const tensor x = of(some, {6}, type), w = of(weights, {6}, type);
      const tensor slope = kg::grad([&](const tensor& t) {
        const tensor y = c.f(t);
        return kg::sum(kg::real(y) * kg::real(w)) + kg::sum(kg::imag(y) * kg::imag(w));
      })(x);
      zs wanted;
      for (std::size_t i = 0; i < some.size(); ++i) wanted.push_back(weights[i] * std::conj(c.slope(some[i])));
      expect_numbers(slope, wanted, type, 64);
    }
}

TEST(gradients_of_complex_tensors, lower_a_real_loss) {
  tensor x = of(some, {6}, dtype::complex128);
  const auto loss = [](const tensor& t) { return kg::sum(kg::square(kg::abs(kg::exp(t * 0.3) - z(1, 1)))); };
  const double before = loss(x).item();
  EXPECT_LT(loss(x - kg::grad(loss)(x) * 1e-2).item(), before);
}

// ------------------------------------------------------------------------------------------ reductions and scans

TEST(complex_tensors, are_reduced_and_scanned) {
  for (const dtype type : complex_dtypes) {
    const tensor x = of(some, {2, 3}, type);
    z sum = 0, product = 1;
    for (const z& v : some) sum += v, product *= v;
    expect_numbers(kg::sum(x), {sum}, type);
    expect_numbers(kg::mean(x), {sum / 6.0}, type);
    expect_numbers(kg::prod(x), {product}, type);
    expect_numbers(kg::mean(x, 0), {(some[0] + some[3]) / 2.0, (some[1] + some[4]) / 2.0, (some[2] + some[5]) / 2.0},
                   type);
    expect_numbers(kg::prod(x, 0), {some[0] * some[3], some[1] * some[4], some[2] * some[5]}, type);
    expect_numbers(kg::cumsum(x, 1),
                   {some[0], some[0] + some[1], some[0] + some[1] + some[2], some[3], some[3] + some[4],
                    some[3] + some[4] + some[5]},
                   type);
    expect_numbers(kg::cumprod(x, 0, true), {1, 1, 1, some[0], some[1], some[2]}, type);
    expect_numbers(kg::cumprod(x, 1, false, true),
                   {some[0] * some[1] * some[2], some[1] * some[2], some[2], some[3] * some[4] * some[5],
                    some[4] * some[5], some[5]},
                   type);
    expect_numbers(kg::prod(kg::zeros({0}, type)), {1}, type);
  }
}

TEST(complex_means, of_parts_whose_sums_overflow_are_right) {
  const tensor x = kg::full({4}, 1e308, dtype::complex128) * z(1, -1);
  expect_numbers(kg::mean(x), {z(1e308, -1e308)}, dtype::complex128);
}

// ------------------------------------------------------------------------------------------ products

zs drawn(std::size_t count, double seed) {
  zs all;
  for (std::size_t i = 0; i < count; ++i)
    all.emplace_back(std::sin(seed + 1.7 * static_cast<double>(i)), std::cos(seed * 3 + static_cast<double>(i * i)));
  return all;
}

struct product_case {
  std::int64_t m, k, n;
};
TEST(complex_matrices, multiply_whatever_is_transposed) {
  for (const dtype type : complex_dtypes)
    for (const auto& [m, k, n] : {product_case{1, 1, 1}, {2, 3, 4}, {1, 7, 5}, {6, 5, 1}, {33, 70, 18}, {64, 64, 64}})
      for (const int how : {0, 1, 2, 3}) {
        const bool ta = how & 1, tb = how & 2;
        const zs a = drawn(static_cast<std::size_t>(m * k), 0.3), b = drawn(static_cast<std::size_t>(k * n), 0.8);
        zs wanted;
        for (std::int64_t i = 0; i < m; ++i)
          for (std::int64_t j = 0; j < n; ++j) {
            std::complex<long double> sum = 0;
            for (std::int64_t p = 0; p < k; ++p)
              sum += std::complex<long double>(a[static_cast<std::size_t>(ta ? p * m + i : i * k + p)]) *
                     std::complex<long double>(b[static_cast<std::size_t>(tb ? j * k + p : p * n + j)]);
            wanted.emplace_back(sum);
          }
        const tensor x = of(a, ta ? kg::shape{k, m} : kg::shape{m, k}, type),
                     y = of(b, tb ? kg::shape{n, k} : kg::shape{k, n}, type);
        SCOPED_TRACE(std::to_string(m) + " " + std::to_string(k) + " " + std::to_string(n) + " " + std::to_string(how));
        expect_numbers(kg::matmul(x, y, ta, tb), wanted, type, 4 * static_cast<double>(k) + 4);
      }
}

TEST(complex_matrices, multiply_in_batches_and_by_equations) {
  const zs a = drawn(2 * 3 * 4, 0.1), b = drawn(4 * 5, 0.9);
  const tensor x = of(a, {2, 3, 4}, dtype::complex128), y = of(b, {4, 5}, dtype::complex128);
  const tensor batch = kg::matmul(x, y), sums = kg::einsum("bij,jk->bik", x, y);
  EXPECT_EQ(batch.dims(), (kg::shape{2, 3, 5}));
  for (const std::int64_t at : {0, 1}) {
    const tensor one = kg::matmul(kg::squeeze(kg::slice(x, {at, 0, 0}, {1, 3, 4}), {0}), y);
    expect_numbers(kg::slice(batch, {at, 0, 0}, {1, 3, 5}), numbers_of(one), dtype::complex128, 16);
  }
  expect_numbers(sums, numbers_of(batch), dtype::complex128, 16);
  const tensor u = of(some, {6}, dtype::complex128);
  z square = 0, trace = 0;
  for (const z& v : some) square += v * v;
  expect_numbers(kg::dot(u, u), {square}, dtype::complex128);
  const tensor matrix = of(drawn(9, 0.2), {3, 3}, dtype::complex128);
  for (const std::size_t i : {0, 4, 8}) trace += numbers_of(matrix)[i];
  expect_numbers(kg::einsum("ii->", matrix), {trace}, dtype::complex128);
  expect_numbers(kg::einsum("i,j->ij", kg::slice(u, {0}, {2}), kg::slice(u, {1}, {2})),
                 {some[0] * some[1], some[0] * some[2], some[1] * some[1], some[1] * some[2]}, dtype::complex128);
}

// dA = dC B^H and dB = A^H dC.
TEST(complex_matrices, have_gradients_with_conjugate_transposes) {
  const tensor a = of(drawn(6, 0.1), {2, 3}, dtype::complex128), b = of(drawn(12, 0.5), {3, 4}, dtype::complex128),
               w = of(drawn(8, 0.7), {2, 4}, dtype::complex128);
  const auto loss = [&](const tensor& c) {
    return kg::sum(kg::real(c) * kg::real(w)) + kg::sum(kg::imag(c) * kg::imag(w));
  };
  const tensor da = kg::grad([&](const tensor& t) { return loss(kg::matmul(t, b)); })(a);
  expect_numbers(da, numbers_of(kg::matmul(w, kg::conj(b), false, true)), dtype::complex128, 32);
  const tensor db = kg::grad([&](const tensor& t) { return loss(kg::einsum("ij,jk->ik", a, t)); })(b);
  expect_numbers(db, numbers_of(kg::matmul(kg::conj(a), w, true, false)), dtype::complex128, 32);
}

// ------------------------------------------------------------------------------------------ selections and updates

TEST(complex_tensors, are_chosen_indexed_and_updated) {
  for (const dtype type : complex_dtypes) {
    const tensor x = of(some, {2, 3}, type);
    expect_numbers(kg::where(kg::real(x) > 0, x, kg::zeros_like(x)), {some[0], 0, some[2], some[3], 0, 0}, type);
    expect_numbers(x(1, kg::range(0, 2)), {some[3], some[4]}, type);
    const tensor added = x.at(0, 1).add(of({1.0 + 1i}, {}, type));
    expect_numbers(added, {some[0], some[1] + 1.0 + 1i, some[2], some[3], some[4], some[5]}, type);
    const tensor set = x.at(1).set(of({1i, 2i, 3i}, {3}, type));
    expect_numbers(set, {some[0], some[1], some[2], 1i, 2i, 3i}, type);
  }
}

// ------------------------------------------------------------------------------------------ Fourier transforms

TEST(fourier_transforms_of_float64, come_back_with_gradients_in_double_precision) {
  const tensor x({0.5, -1.25, 3.0, 2.0, -0.75, 1.0});
  const std::vector<double> back = kg::irfft(kg::rfft(x), {.n = 6}).to_doubles();
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(back[i], x.to_doubles()[i], 1e-15);
  const auto energy = [](const tensor& t) {
    return kg::sum(kg::square(kg::abs(kg::fft(kg::cast(t, dtype::complex128)))));
  };
  const std::vector<double> slope = kg::grad(energy)(x).to_doubles();
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(slope[i], 12 * x.to_doubles()[i], 1e-13);
}

}  // namespace
