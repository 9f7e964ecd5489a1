// SPDX-License-Identifier: Apache-2.0
// Gradients through complex128: by casts, Fourier transforms, parts, and ops that move elements.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <functional>
#include <numbers>
#include <string>
#include <vector>

import kerngrad;
import kerngrad.testkit;

namespace {

using kg::dtype;
using kg::tensor;
using kg::testkit::doubles_of;
using doubles = std::vector<double>;
using function = std::function<tensor(const tensor&)>;

TEST(gradients_through_complex128, are_those_of_the_real_parts_where_a_cast_goes_there_and_back) {
  const tensor x({0.5, -2.0, 1e-200}), weights({3.0, 5.0, 7.0});
  const auto f = [&](const tensor& t) {
    return kg::sum(kg::cast(kg::cast(t, dtype::complex128), dtype::float64) * weights);
  };
  EXPECT_EQ(kg::grad(f)(x).to_doubles(), (doubles{3, 5, 7}));
  const auto cube = [](const tensor& t) {
    return kg::sum(kg::cast(kg::cast(t * t * t, dtype::complex128), dtype::float64));
  };
  EXPECT_EQ(kg::grad(kg::grad(cube))(tensor({2.0, 3.0})).to_doubles(), (doubles{12, 18}));
}

// The sum of the parts of a transform, weighted, of a row of reals; its gradient is a sum over the definition.
TEST(gradients_through_complex128, go_through_fourier_transforms_in_double_precision) {
  const int n = 6;
  doubles x, re, im;
  for (int t = 0; t < n; ++t) {
    x.push_back(0.3 * t - 0.7);
    re.push_back(std::sin(t + 1.0));
    im.push_back(std::cos(2.0 * t));
  }
  for (const bool inverse : {false, true}) {
    const auto f = [&](const tensor& row) {
      const tensor z = kg::cast(row, dtype::complex128), y = inverse ? kg::ifft(z) : kg::fft(z);
      return kg::sum(kg::real(y) * tensor(re)) + kg::sum(kg::imag(y) * tensor(im));
    };
    const doubles got = kg::grad(f)(tensor(x)).to_doubles();
    for (int t = 0; t < n; ++t) {
      long double wanted = 0;
      for (int k = 0; k < n; ++k) {
        const long double angle = (inverse ? 2 : -2) * std::numbers::pi_v<long double> * k * t / n;
        const auto at = static_cast<std::size_t>(k);
        wanted += (re[at] * std::cos(angle) + im[at] * std::sin(angle)) / (inverse ? n : 1);
      }
      EXPECT_NEAR(got[static_cast<std::size_t>(t)], static_cast<double>(wanted), 1e-14) << t;
    }
  }
}

TEST(gradients_through_complex128, of_an_energy_have_right_second_derivatives) {
  const auto energy = [](const tensor& row) {
    const tensor y = kg::fft(kg::cast(row, dtype::complex128));
    return kg::sum(kg::square(kg::real(y)) + kg::square(kg::imag(y)));
  };
  const tensor x({1.0, 2.0, 4.0});  // the energy is 3 times the sum of squares
  const doubles g = kg::grad(energy)(x).to_doubles(), h = kg::hessian(energy)(x).to_doubles();
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(g[i], 6 * x.to_doubles()[i], 1e-13);
  for (std::size_t i = 0; i < 9; ++i) EXPECT_NEAR(h[i], i % 4 == 0 ? 6 : 0, 1e-13);
}

// ------------------------------------------------------------------------------------------ ops that move elements

struct mover {
  std::string name;
  function f;
};

const std::vector<mover>& movers() {
  static const tensor places({2, 0, 2, 1}), rows({2, 0, 2, 1}, {4, 1}), beside({1, 1, 0, 0, 1, 1}, {3, 2});
  static const std::vector<mover> all = {
      {"reshape", [](const tensor& z) { return kg::reshape(z, {2, 3}); }},
      {"transpose", [](const tensor& z) { return kg::transpose(z); }},
      {"slice", [](const tensor& z) { return kg::slice(z, {1, 0}, {2, 1}); }},
      {"concat with itself", [](const tensor& z) { return kg::concat(std::vector<tensor>{z, z, z}); }},
      {"pad", [](const tensor& z) { return kg::pad(z, {1, 0, 0, 2}); }},
      {"tile", [](const tensor& z) { return kg::tile(z, {2, 3}); }},
      {"broadcast_to", [](const tensor& z) { return kg::broadcast_to(kg::reshape(z, {3, 1, 2}), {3, 4, 2}); }},
      {"gather", [](const tensor& z) { return kg::gather(z, places); }},
      {"gather_nd", [](const tensor& z) { return kg::gather_nd(z, rows); }},
      {"take_along_axis", [](const tensor& z) { return kg::take_along_axis(z, beside, 1); }},
      {"put_along_axis",
       [](const tensor& z) { return kg::put_along_axis(kg::concat(std::vector<tensor>{z, z}, 1), beside, z, 1); }},
      {"tensor_scatter_update",
       [](const tensor& z) {
         return kg::tensor_scatter_update(z, rows, kg::concat(std::vector<tensor>{z, kg::slice(z, {0, 0}, {1, 2})}));
       }},
      {"where", [](const tensor& z) { return kg::where(tensor({true, false}), z, kg::slice(z, {0, 0}, {1, 1})); }},
      {"reverse", [](const tensor& z) { return kg::reverse(z); }},
      {"a range with a step", [](const tensor& z) { return z(kg::range(2, 0, -1)); }},
      {"pad by reflection",
       [](const tensor& z) {
         return kg::call<"MirrorPad">(z, kg::attr<"paddings">(kg::attr_value({2, 1, 1, 1})),
                                      kg::attr<"mode">("reflect"));
       }},
      {"pad by the edges",
       [](const tensor& z) {
         return kg::call<"RepeatPad">(z, kg::attr<"paddings">(kg::attr_value({2, 1, 1, 1})), kg::attr<"mode">("edge"));
       }},
      {"pad by repetition",
       [](const tensor& z) {
         return kg::call<"RepeatPad">(z, kg::attr<"paddings">(kg::attr_value({2, 1, 1, 1})), kg::attr<"mode">("wrap"));
       }},
      {"diagonal matrix", [](const tensor& z) { return kg::call<"Diag">(z); }},
      {"band", [](const tensor& z) { return kg::call<"MatrixBandPart">(z, tensor(0), tensor(1)); }},
      {"flip", [](const tensor& z) { return kg::call<"FlipLeftRight">(kg::reshape(z, {1, 3, 2, 1})); }},
  };
  return all;
}

// Small whole numbers, which complex64 holds: both dtypes give the same gradients.
TEST(gradients_through_complex128, of_ops_that_move_elements_are_those_of_complex64) {
  const tensor z = kg::complex(tensor({1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f}, {3, 2}),
                               tensor({-1.0f, 0.0f, 2.0f, 7.0f, 8.0f, 9.0f}, {3, 2}));
  const auto weighted = [](const function& f, const tensor& x) {
    const tensor y = f(x), re = kg::real(y), im = kg::imag(y);
    const tensor weights = kg::cast(kg::reshape(kg::arange(1, static_cast<double>(y.size()) + 1), y.dims()), re.type());
    return kg::sum(re * weights) + kg::sum(im * (weights + 100));
  };
  for (const auto& [name, f] : movers()) {
    SCOPED_TRACE(name);
    const auto loss = [&](const tensor& x) { return weighted(f, x); };
    const tensor wide = kg::grad(loss)(kg::cast(z, dtype::complex128));
    EXPECT_EQ(wide.type(), dtype::complex128);
    EXPECT_EQ(doubles_of(wide), doubles_of(kg::grad(loss)(z)));
  }
}

TEST(gradients_through_complex128, of_the_magnitude_are_unit_vectors) {
  const tensor z({kg::complex128{3e200, 4e200}, kg::complex128{0, 0}, kg::complex128{0, -2}});
  const tensor g = kg::grad([](const tensor& t) { return kg::sum(kg::abs(t)); })(z);
  const doubles got = doubles_of(g), wanted = {0.6, 0.8, 0, 0, 0, -1};
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_DOUBLE_EQ(got[i], wanted[i]) << i;
}

}  // namespace
