// SPDX-License-Identifier: Apache-2.0
// The program of docs/custom-reductions.md.
#include <cmath>
#include <cstdint>
#include <iostream>
#include <span>
#include <vector>

import kerngrad;

// The attributes of a reduction, in the order in which kg::shapes::reduce reads them.
constexpr kg::attr_spec reduction_attributes[] = {
    {.name = "axis",
     .kind = kg::attr_kind::list,
     .doc = "axes to reduce, all when omitted",
     .least = -8,
     .most = 7,
     .scalar_or_list = true},
    {.name = "keepDims", .kind = kg::attr_kind::boolean, .doc = "keep the reduced axes with size 1"}};

// The shape of the operand with size 1 on each reduced axis: in this shape a result broadcasts over the operand.
kg::shape kept_shape(const kg::shape& dims, const kg::attr_value& axis) {
  std::vector<std::int64_t> kept(dims.begin(), dims.end());
  const auto reduce = [&](std::int64_t at) { kept[static_cast<std::size_t>(at < 0 ? at + dims.rank() : at)] = 1; };
  if (dims.rank() == 0) return dims;  // calls may name the one axis of a scalar, which has no size
  if (!axis.given()) kept.assign(kept.size(), 1);
  else if (axis.kind() == kg::attr_kind::integer) reduce(axis.as_integer());
  else
    for (const std::int64_t at : axis.as_list()) reduce(at);
  return kg::shape(kept);
}

struct RootMeanSquare {
  static constexpr kg::operand operands[] = {{"x", kg::wide_floats}};
  static constexpr kg::op_row row{.name = "RootMeanSquare",
                                  .doc = "The square root of the mean of the squares over some axes.",
                                  .group = kg::family::reduce,
                                  .operands = operands,
                                  .attrs = reduction_attributes,
                                  .infer = kg::shapes::reduce};
  template <class T>
  static constexpr auto code = [](const kg::launch_call& c) {
    const std::span<const T> x = kg::elements_in<T>(c, 0);
    const std::span<T> y = kg::elements_out<T>(c);
    const kg::shape& dims = c.in[0].dims;
    // How far apart neighbors along an axis lie in the result: 0 along a reduced one.
    std::int64_t steps[kg::max_rank] = {}, step = 1;
    for (int axis = dims.rank(); axis-- > 0;)
      if ((c.call.resolved.axes >> axis & 1) == 0) steps[axis] = step, step *= dims[axis];
    std::vector<double> sums(y.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      std::int64_t rest = static_cast<std::int64_t>(i), at = 0;
      for (int axis = dims.rank(); axis-- > 0; rest /= dims[axis]) at += rest % dims[axis] * steps[axis];
      sums[static_cast<std::size_t>(at)] += double{x[i]} * x[i];
    }
    const double count = static_cast<double>(x.size()) / static_cast<double>(y.size());
    for (std::size_t k = 0; k < y.size(); ++k) y[k] = static_cast<T>(std::sqrt(sums[k] / count));
  };
  static constexpr auto kernels = kg::kernel_list(kg::on_call<float>(code<float>), kg::on_call<double>(code<double>));
  static constexpr auto gradient = kg::gradient_of(kg::wrt(kg::keep::in0 | kg::keep::out0, [](const auto& c) {
    const kg::shape kept = kept_shape(c.dims(0), c.template attr<"axis">());
    const double count = static_cast<double>(c.dims(0).size()) / static_cast<double>(kept.size());
    return kg::reshape(c.dy() / c.out() / count, kept) * c.in(0);
  }));
};

kg::tensor root_mean_square(const kg::tensor& x, int axis) {
  return kg::call<RootMeanSquare>(x, kg::attr<"axis">(axis));
}

int main() {
  const kg::tensor x{{3.f, 4.f, 5.f}, {6.f, 8.f, 0.f}};
  std::cout << kg::call<RootMeanSquare>(x) << "\n"
            << root_mean_square(x, 0) << "\n"
            << kg::call<RootMeanSquare>(x, kg::attr<"axis">({0, 1}), kg::attr<"keepDims">(true)) << "\n";

  const auto over_rows = [](const kg::tensor& t) { return kg::sum(root_mean_square(t, 1)); };
  std::cout << kg::grad(over_rows)(x) << "\n";

  try {
    root_mean_square(x, 2);
  } catch (const kg::error& e) {
    std::cout << e.what() << "\n";
  }
}
