// SPDX-License-Identifier: Apache-2.0
// A reduction with Highway as a typed op: what norm.cc computes, validated by a row and with a gradient.
#include <gtest/gtest.h>
#include <kerngrad/declare.h>

#include <cmath>
#include <string>
#include <vector>

import kerngrad;

namespace my {
KERNGRAD_DECLARE_REDUCTION(Norm, float32)
KERNGRAD_DECLARE_REDUCTION(Norm, float64)

inline constexpr kg::operand vectors[] = {{"x", kg::wide_floats}};
inline constexpr kg::attr_spec reduction_attributes[] = {
    {.name = "axis",
     .kind = kg::attr_kind::list,
     .doc = "axes to reduce",
     .least = -8,
     .most = 7,
     .scalar_or_list = true},
    {.name = "keepDims", .kind = kg::attr_kind::boolean, .doc = "keep the reduced axes with size 1"}};

struct EuclideanNorm {
  static constexpr kg::op_row row{.name = "EuclideanNorm",
                                  .doc = "The square root of the sum of the squares.",
                                  .group = kg::family::reduce,
                                  .operands = vectors,
                                  .attrs = reduction_attributes,
                                  .infer = kg::shapes::reduce,
                                  .convention = kg::convention::reduce};
  static constexpr auto kernels = kg::kernel_list(kg::simd_kernel(KERNGRAD_ENTRY_REDUCTION(my, Norm, float32)),
                                                  kg::simd_kernel(KERNGRAD_ENTRY_REDUCTION(my, Norm, float64)));
  // For calls with keepDims: the result then broadcasts over x.
  static constexpr auto gradient = kg::gradient_of(
      kg::wrt(kg::keep::in0 | kg::keep::out0, [](const auto& c) { return c.dy() / c.out() * c.in(0); }));
};

kg::tensor norm(const kg::tensor& x, int axis) {
  return kg::call<EuclideanNorm>(x, kg::attr<"axis">(axis), kg::attr<"keepDims">(true));
}
}  // namespace my

namespace {

// A matrix with the elements (i * 7 + j * 3) % 11 - 4.5.
kg::tensor matrix(std::int64_t rows, std::int64_t columns, kg::dtype type) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j) values.push_back(static_cast<double>((i * 7 + j * 3) % 11) - 4.5);
  return kg::cast(kg::tensor(values, {rows, columns}), type);
}

TEST(a_reduction_with_highway, gives_the_norm_of_each_row_and_of_each_column) {
  for (const kg::dtype type : {kg::dtype::float32, kg::dtype::float64}) {
    const kg::tensor x = matrix(5, 37, type);
    const std::vector<double> elements = x.to_doubles();
    for (const int axis : {0, 1}) {
      const kg::tensor y = my::norm(x, axis);
      ASSERT_EQ(y.dims(), axis == 0 ? (kg::shape{1, 37}) : (kg::shape{5, 1}));
      std::vector<long double> squares(static_cast<std::size_t>(y.size()));
      for (std::size_t i = 0; i < elements.size(); ++i)
        squares[axis == 0 ? i % 37 : i / 37] += static_cast<long double>(elements[i]) * elements[i];
      for (std::size_t k = 0; k < squares.size(); ++k)
        EXPECT_NEAR(y.to_doubles()[k], static_cast<double>(std::sqrt(squares[k])), 1e-5) << kg::name_of(type) << k;
    }
  }
}

TEST(a_reduction_with_highway, has_the_gradient_of_the_norm) {
  const kg::tensor x = matrix(3, 4, kg::dtype::float64);
  const std::vector<double> g = kg::grad([](const kg::tensor& t) { return kg::sum(my::norm(t, 1)); })(x).to_doubles();
  const std::vector<double> elements = x.to_doubles();
  constexpr double step = 1e-6;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    std::vector<double> above = elements, below = elements;
    above[i] += step, below[i] -= step;
    const double difference =
        kg::sum(my::norm(kg::tensor(above, {3, 4}), 1)).item() - kg::sum(my::norm(kg::tensor(below, {3, 4}), 1)).item();
    EXPECT_NEAR(g[i], difference / (2 * step), 1e-8) << i;
  }
}

TEST(a_reduction_with_highway, rejects_an_axis_that_is_not_there) {
  try {
    my::norm(matrix(2, 3, kg::dtype::float32), 2);
    FAIL() << "axis 2 of a matrix";
  } catch (const kg::error& e) {
    EXPECT_NE(std::string(e.what()).find("[EuclideanNorm] got axis 2; wanted an axis from -2 to 1"), std::string::npos)
        << e.what();
  }
}

}  // namespace
