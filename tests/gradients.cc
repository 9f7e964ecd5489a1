// SPDX-License-Identifier: Apache-2.0
// Every gradient rule against numbers: the first order against differences of the op, the second order against
// differences of the first, on the samples that the rows give, through the by-name door.
#include <gtest/gtest.h>

#include "tests/support/differentiated.h"
#include "tests/support/numeric.h"

namespace {

using namespace kgtest;

class every_rule : public ::testing::TestWithParam<std::string> {
 protected:
  // Runs a check on each sample in float64 (or what the op has), and in complex64 where the op takes it.
  template <class Check>
  void on_samples(Check check) {
    const kg::op_row& row = row_named(GetParam());
    const std::vector<sample> all = samples_of(row);
    ASSERT_FALSE(all.empty()) << "no samples: add some to tests/support/sample_table.h";
    const kg::dtype precise = precise_dtype(row);
    for (kg::dtype type : {precise, kg::dtype::complex64}) {
      if (type != precise && !row.operands[0].types.has(type) && !row.operands.back().types.has(type)) continue;
      for (const sample& call : all) {
        const differentiated drawn = smooth_call(row, call, type);
        if (!has_smooth_results(drawn)) continue;
        SCOPED_TRACE(std::string(kg::name_of(type)) + " " + call.label);
        check(drawn, is_precise(drawn) ? fine : coarse);
        ++checked_;
        if (type == precise && precise == kg::dtype::complex64) continue;
      }
      if (precise == kg::dtype::complex64) break;
    }
    EXPECT_GT(checked_, 0) << "no sample has a differentiable result";
  }

 private:
  int checked_ = 0;
};

TEST_P(every_rule, agrees_with_differences_of_the_op) {
  on_samples(
      [](const differentiated& call, const precision& at) { check_first_order(call.function(), call.leaves, at); });
}

TEST_P(every_rule, agrees_with_differences_of_itself_at_the_second_order) {
  on_samples(
      [](const differentiated& call, const precision& at) { check_second_order(call.function(), call.leaves, at); });
}

TEST_P(every_rule, is_right_for_one_tensor_as_several_operands) {
  const kg::op_row& row = row_named(GetParam());
  if (!row.takes_list() && row.operands.size() < 2) return;
  // A max pooling's gradient jumps where the order of elements changes, and a remainder of equals sits on a jump.
  if (row.name == "MaxPoolGrad" || row.name == "Mod" || row.name == "FloorDiv" || row.name == "Maximum" ||
      row.name == "Minimum")
    return;
  int checked = 0;
  for (const sample& call : samples_of(row)) {
    const differentiated drawn = smooth_call(row, call, precise_dtype(row));
    bool alike = drawn.leaves.size() > 1;
    for (const kg::tensor& x : drawn.leaves)
      alike = alike && x.dims() == drawn.leaves[0].dims() && x.type() == drawn.leaves[0].type();
    if (!alike) continue;
    SCOPED_TRACE(call.label);
    const results_of shared = [&](std::span<const kg::tensor> xs) {
      return drawn.function()(std::vector<kg::tensor>(drawn.leaves.size(), xs[0]));
    };
    // Positive values are in every domain; taking them would make ties where the order of elements matters.
    const std::vector<kg::tensor> one = {orders_elements(row) ? drawn.leaves[0] : kg::abs(drawn.leaves.back()) + 0.07};
    check_first_order(shared, one, is_precise(drawn) ? fine : coarse);
    check_second_order(shared, one, is_precise(drawn) ? fine : coarse);
    ++checked;
  }
  if (row.group == kg::family::binary) EXPECT_GT(checked, 0);
}

INSTANTIATE_TEST_SUITE_P(gradients, every_rule, ::testing::ValuesIn(op_names(true)),
                         [](const auto& info) { return info.param; });

// ------------------------------------------------------------------------------------------ the checker itself

kg::tensor_list wrong_cube(std::span<const kg::tensor> xs, double slope) {
  return kg::custom_grad(
      [slope](std::span<const kg::tensor> x) {
        const kg::tensor v = x[0];
        return kg::with_gradient(
            v * v * v, [v, slope](const kg::tensor& dy) { return std::vector<kg::tensor>{dy * v * v * slope}; });
      },
      xs);
}

TEST(numeric_check, accepts_a_right_rule_and_notices_one_that_is_off_by_a_millionth) {
  const std::vector<kg::tensor> x = {kg::tensor({1.5, 0.75})};
  const auto right = [](std::span<const kg::tensor> xs) { return wrong_cube(xs, 3); };
  const auto wrong = [](std::span<const kg::tensor> xs) { return wrong_cube(xs, 3.00001); };
  EXPECT_LE(first_order_error(right, x, fine), 1e-9);
  EXPECT_GT(first_order_error(wrong, x, fine), 1e-6);
  EXPECT_LE(second_order_error(right, x, fine), 1e-9);
}

TEST(numeric_check, notices_a_rule_whose_second_order_is_cut) {
  const std::vector<kg::tensor> x = {kg::tensor({1.5, 0.75})};
  const results_of cut = [](std::span<const kg::tensor> xs) {
    return kg::custom_grad(
        [](std::span<const kg::tensor> in) {
          const kg::tensor v = kg::stop_gradient(in[0]);
          return kg::with_gradient(v * v * v,
                                   [v](const kg::tensor& dy) { return std::vector<kg::tensor>{dy * v * v * 3}; });
        },
        xs);
  };
  EXPECT_LE(first_order_error(cut, x, fine), 1e-9);
  EXPECT_GT(second_order_error(cut, x, fine), 1e-6);
}

TEST(numeric_check, notices_a_wrong_rule_in_place_of_a_known_one) {
  kg::gradient_config wrong;
  wrong.name = "Tanh";
  wrong.saves_outputs = true;
  wrong.run = [](const kg::gradient_call& call) -> std::vector<kg::named_operand> {
    return {{"x", call.dy() * (1.001 - kg::square(call.output()))}};
  };
  const results_of tanh = [](std::span<const kg::tensor> xs) { return kg::tensor_list{kg::tanh(xs[0])}; };
  const std::vector<kg::tensor> x = {kg::tensor({0.3, -1.2})};
  EXPECT_LE(first_order_error(tanh, x, fine), 1e-9);
  kg::register_gradient(wrong, kg::existing::replace);
  EXPECT_GT(first_order_error(tanh, x, fine), 1e-6);
  kg::unregister_gradient("Tanh");
}

// ------------------------------------------------------------------------------------------ chains

TEST(gradients, are_right_where_a_product_has_zeros) {
  for (const char* op : {"Prod", "Cumprod"})
    for (const std::vector<double>& values : {std::vector<double>{2, 0, 3, -1}, std::vector<double>{0, 2, 0, 3}}) {
      const results_of product = [op](std::span<const kg::tensor> xs) {
        const std::vector<kg::named_operand> in = {{"x", xs[0]}};
        return kg::run_kernel_list(op, in);
      };
      SCOPED_TRACE(op);
      check_first_order(product, {kg::tensor(values)}, fine);
      check_second_order(product, {kg::tensor(values)}, fine);
    }
}

TEST(gradients, go_through_a_network_with_a_comparison_and_a_cast_on_the_path) {
  const results_of network = [](std::span<const kg::tensor> xs) {
    const kg::tensor h = kg::gelu(kg::conv2d(xs[0], xs[1], {.strides = 2, .pad = kg::same}));
    const kg::tensor pooled =
        kg::max_pool(h * kg::cast(h > 0.1, kg::dtype::float64) + kg::where(h < 0, h, h * 2), 2, {.strides = 1});
    return kg::tensor_list{kg::softmax(kg::matmul(kg::reshape(pooled, {2, -1}), xs[2]))};
  };
  stream draw(5);
  const auto random = [&](const kg::shape& dims) {
    std::vector<double> values(static_cast<std::size_t>(dims.size()));
    for (double& v : values) v = 2 * draw.unit() - 1;
    return kg::tensor(values, dims);
  };
  const std::vector<kg::tensor> xs = {random({2, 6, 6, 2}), random({3, 3, 2, 2}), random({8, 3})};
  constexpr precision close{1e-4, 1e-6};  // steps that stay on one side of the comparisons and of the largest elements
  check_first_order(network, xs, close);
  check_second_order(network, xs, close);
}

TEST(gradients, of_third_order_are_right) {
  const results_of slope = [](std::span<const kg::tensor> xs) {
    return kg::tensor_list{kg::grad([](const kg::tensor& t) { return kg::exp(t) * kg::sin(t) + kg::tanh(t); })(xs[0])};
  };
  check_second_order(slope, {kg::tensor({0.3, -0.8, 1.1})}, fine);
}

}  // namespace
