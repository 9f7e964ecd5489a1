// SPDX-License-Identifier: Apache-2.0
// User-defined ops: a type with a row, kernels and a gradient rule is called, rejected, promoted, recorded
// and differentiated like a built-in op.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/support/refusal.h"
import kerngrad.testkit;

namespace my {

// cube(x) = x^3: no attributes, three dtypes.
struct Cube {
  static constexpr kg::operand operands[] = {{"x", kg::floating | kg::only(kg::dtype::int32)}};
  static constexpr kg::op_row row{.name = "Cube",
                                  .doc = "x * x * x.",
                                  .group = kg::family::elementwise,
                                  .operands = operands,
                                  .infer = kg::shapes::same,
                                  .convention = kg::convention::unary};
  static constexpr auto kernels =
      kg::kernel_list(kg::per_element<float>([](float x) { return x * x * x; }),
                      kg::per_element<double>([](double x) { return x * x * x; }),
                      kg::per_element<std::int32_t>([](std::int32_t x) { return x * x * x; }));
  static constexpr auto gradient =
      kg::gradient_of(kg::wrt(kg::keep::in0, [](const auto& c) { return c.dy() * kg::square(c.in(0)) * 3; }));
};

// Integers are lifted to float32; two numeric attributes, one required, one with a range.
struct Bump {
  static constexpr kg::operand operands[] = {{"x", kg::floating | kg::integral | kg::boolean_only}};
  static constexpr kg::attr_spec attrs[] = {
      {"height", kg::attr_kind::number, "the value at the centre", true},
      {"width", kg::attr_kind::number, "how wide it is", false, 2, {}, 0.25, 100}};
  static constexpr kg::op_row row{.name = "Bump",
                                  .doc = "height * exp(-(x / width)^2).",
                                  .group = kg::family::elementwise,
                                  .operands = operands,
                                  .attrs = attrs,
                                  .types = {kg::lift::floats, kg::result::same},
                                  .infer = kg::shapes::same,
                                  .convention = kg::convention::unary};
  static constexpr auto kernels =
      kg::kernel_list(kg::per_element<float>([](float x, double height, double width) {
                        return static_cast<float>(height * std::exp(-(x / width) * (x / width)));
                      }),
                      kg::per_element<double>([](double x, double height, double width) {
                        return height * std::exp(-(x / width) * (x / width));
                      }));
  static constexpr auto gradient = kg::gradient_of(kg::wrt(kg::keep::in0 | kg::keep::out0, [](const auto& c) {
    const double width = c.template attr<"width">().as_number();
    return c.dy() * c.out() * c.in(0) * (-2 / (width * width));
  }));
};

// Two operands that broadcast.
struct Hypot2 {
  static constexpr kg::operand operands[] = {{"a", kg::floating}, {"b", kg::floating}};
  static constexpr kg::op_row row{.name = "Hypot2",
                                  .doc = "a * a + 2 * b * b.",
                                  .group = kg::family::elementwise,
                                  .operands = operands,
                                  .infer = kg::shapes::broadcasted,
                                  .convention = kg::convention::binary};
  static constexpr auto kernels =
      kg::kernel_list(kg::per_pair<float>([](float a, float b) { return a * a + 2 * b * b; }),
                      kg::per_pair<double>([](double a, double b) { return a * a + 2 * b * b; }));
  static constexpr auto gradient =
      kg::gradient_of(kg::wrt(kg::keep::in0, [](const auto& c) { return c.reduced(0, c.dy() * c.in(0) * 2); }),
                      kg::wrt(kg::keep::in1, [](const auto& c) { return c.reduced(1, c.dy() * c.in(1) * 4); }));
};

// A list of equal shapes; two results: the sum, and the sum of squares.
struct Moments {
  static constexpr kg::operand operands[] = {{"xs", kg::floating, kg::role::value, false, true}};
  static constexpr void infer(kg::inference& call) {
    kg::shapes::all_equal(call);
    call.give(call.in[0].dims);
  }
  template <class T>
  static constexpr auto code = [](const kg::launch_call& c) {
    const auto sum = kg::elements_out<T>(c, 0), squares = kg::elements_out<T>(c, 1);
    for (std::size_t i = 0; i < sum.size(); ++i) {
      sum[i] = squares[i] = 0;
      for (std::size_t k = 0; k < c.in.size(); ++k) {
        const T v = kg::elements_in<T>(c, static_cast<int>(k))[i];
        sum[i] += v, squares[i] += v * v;
      }
    }
  };
  static constexpr kg::op_row row{.name = "Moments",
                                  .doc = "The sum of the operands and the sum of their squares.",
                                  .group = kg::family::reduce,
                                  .operands = operands,
                                  .infer = infer};
  static constexpr auto kernels = kg::kernel_list(kg::on_call<float>(code<float>), kg::on_call<double>(code<double>));
  static constexpr auto gradient = kg::gradient_of(kg::wrt(kg::keep::all_in, [](const auto& c) {
    const std::vector<kg::tensor> dy = c.all_dy();
    return dy[0] + dy[1] * c.in(c.index()) * 2;
  }));
};

// An optional operand, an index that keeps its dtype, and no gradient.
struct Pick {
  static constexpr kg::operand operands[] = {{"x", kg::floating},
                                             {"index", kg::only(kg::dtype::int32), kg::role::own},
                                             {"offset", kg::floating, kg::role::value, true}};
  static constexpr void infer(kg::inference& call) { call.give(call.in[1].dims); }
  static constexpr kg::op_row row{.name = "Pick",
                                  .doc = "x[index] + offset.",
                                  .group = kg::family::move,
                                  .operands = operands,
                                  .infer = infer,
                                  .no_gradient = "the tests need an op without one"};
  template <class T>
  static constexpr auto code = [](const kg::launch_call& c) {
    const auto x = kg::elements_in<T>(c, 0);
    const auto index = kg::elements_in<std::int32_t>(c, 1);
    const auto y = kg::elements_out<T>(c);
    const auto given = kg::elements_in<T>(c, 2);
    const T offset = given.empty() ? T{0} : given[0];
    for (std::size_t i = 0; i < y.size(); ++i) {
      if (index[i] < 0 || static_cast<std::size_t>(index[i]) >= x.size())
        kg::fail("Pick", "index " + std::to_string(index[i]), "one inside x");
      y[i] = x[static_cast<std::size_t>(index[i])] + offset;
    }
  };
  static constexpr auto kernels = kg::kernel_list(kg::on_call<float>(code<float>), kg::on_call<double>(code<double>));
};

// A predicate: the result has another dtype than the operand.
struct IsSmall {
  static constexpr kg::operand operands[] = {{"x", kg::only(kg::dtype::float32)}};
  static constexpr kg::op_row row{.name = "IsSmall",
                                  .doc = "Whether |x| < 1.",
                                  .group = kg::family::elementwise,
                                  .operands = operands,
                                  .types = {kg::lift::none, kg::result::boolean},
                                  .infer = kg::shapes::same,
                                  .convention = kg::convention::unary,
                                  .no_gradient = "the result is boolean"};
  static constexpr auto kernels = kg::kernel_list(kg::on_call<float>([](const kg::launch_call& c) {
    const auto x = kg::elements_in<float>(c, 0);
    const auto y = kg::elements_out<bool>(c);
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = std::fabs(x[i]) < 1;
  }));
};

// Reads its operand as what it is not.
struct Misread {
  static constexpr kg::op_row row{.name = "Misread",
                                  .doc = "Nothing: it is refused.",
                                  .group = kg::family::elementwise,
                                  .operands = IsSmall::operands,
                                  .infer = kg::shapes::same,
                                  .convention = kg::convention::unary,
                                  .no_gradient = "it only throws"};
  static constexpr auto kernels = kg::kernel_list(
      kg::on_call<float>([](const kg::launch_call& c) { static_cast<void>(kg::elements_in<double>(c, 0)); }));
};

}  // namespace my

namespace {

using kg::dtype;
using kg::tensor;
using kgtest::accepted;
using kgtest::refusal;
using kgtest::says;
using doubles = std::vector<double>;

// Values from 0.5 to 1.5.
tensor positive(const kg::shape& dims, std::uint64_t seed) {
  kg::testkit::stream draw(seed);
  std::vector<double> values(static_cast<std::size_t>(dims.size()));
  for (double& v : values) v = 0.5 + draw.unit();
  return tensor(values, dims);
}

// ------------------------------------------------------------------------------------------ results

TEST(an_own_op, computes_in_each_dtype_that_its_row_takes) {
  EXPECT_EQ(kg::call<my::Cube>(tensor({2.f, -3.f})).to_doubles(), (doubles{8, -27}));
  EXPECT_EQ(kg::call<my::Cube>(tensor({0.5, -0.25})).to_doubles(), (doubles{0.125, -0.015625}));
  const tensor whole = kg::call<my::Cube>(tensor({3, -4}));
  EXPECT_EQ(whole.type(), dtype::int32);
  EXPECT_EQ(whole.to_doubles(), (doubles{27, -64}));
  EXPECT_EQ(kg::call<my::Cube>(tensor(2.f)).rank(), 0);
  EXPECT_TRUE(kg::call<my::Cube>(kg::zeros({0, 3})).dims() == (kg::shape{0, 3}));
}

TEST(an_own_op, takes_attributes_and_their_defaults) {
  const tensor x({1.0, -2.0});
  const tensor y = kg::call<my::Bump>(x, kg::attr<"height">(3));
  EXPECT_NEAR(y.to_doubles()[0], 3 * std::pow(2.718281828459045, -0.25), 1e-14);
  EXPECT_NEAR(y.to_doubles()[1], 3 / 2.718281828459045, 1e-14);
  const tensor z = kg::call<my::Bump>(x, kg::attr<"width">(4.0), kg::attr<"height">(-1.0));
  EXPECT_NEAR(z.to_doubles()[1], -std::pow(2.718281828459045, -0.25), 1e-14);
}

TEST(an_own_op, lifts_what_its_row_says) {
  for (const tensor& x : {tensor({1}), tensor({std::int64_t{1}}), tensor({std::uint8_t{1}}), tensor({true})}) {
    const tensor y = kg::call<my::Bump>(x, kg::attr<"height">(1.0), kg::attr<"width">(1.0));
    EXPECT_EQ(y.type(), dtype::float32);
    EXPECT_NEAR(y.item(), 0.36787944117144233, 1e-7);
  }
}

TEST(an_own_op, of_two_operands_broadcasts_every_way) {
  const std::vector<std::pair<kg::shape, kg::shape>> shapes = {{{}, {}},
                                                               {{3}, {3}},
                                                               {{2, 3}, {3}},
                                                               {{2, 1}, {1, 3}},
                                                               {{4}, {}},
                                                               {{}, {2, 2}},
                                                               {{2, 1, 3}, {4, 1}},
                                                               {{1, 1}, {3, 1, 1}},
                                                               {{2, 3}, {2, 3}},
                                                               {{0, 3}, {1, 3}},
                                                               {{2, 3, 1, 2}, {3, 4, 1}},
                                                               {{1, 5, 1, 2, 1}, {3, 1, 2, 1, 4}}};
  for (const auto& [p, q] : shapes) {
    const tensor a = positive(p, 3), b = positive(q, 4);
    const tensor y = kg::call<my::Hypot2>(a, b);
    // The definition, with the library's own broadcasting done by a copy first.
    const kg::shape dims = kg::add(a, b).dims();
    ASSERT_TRUE(y.dims() == dims) << to_string(p) << to_string(q);
    const doubles left = kg::broadcast_to(a, dims).to_doubles(), right = kg::broadcast_to(b, dims).to_doubles(),
                  got = y.to_doubles();
    for (std::size_t i = 0; i < got.size(); ++i)
      EXPECT_NEAR(got[i], left[i] * left[i] + 2 * right[i] * right[i], 1e-12) << to_string(p) << to_string(q) << i;
  }
}

TEST(an_own_op, promotes_operands_to_their_common_dtype) {
  const tensor y = kg::call<my::Hypot2>(tensor({1.f, 2.f}), tensor(3.0));
  EXPECT_EQ(y.type(), dtype::float64);
  EXPECT_EQ(y.to_doubles(), (doubles{19, 22}));
}

TEST(an_own_op, takes_a_list_and_gives_two_results) {
  const std::vector<tensor> xs = {tensor({1.f, 2.f}), tensor({3.f, 4.f}), tensor({5.f, -6.f})};
  const kg::tensor_list y = kg::call_list<my::Moments>(xs);
  ASSERT_EQ(y.size(), 2);
  EXPECT_EQ(y[0].to_doubles(), (doubles{9, 0}));
  EXPECT_EQ(y[1].to_doubles(), (doubles{35, 56}));
  EXPECT_EQ(kg::call<my::Moments>(xs[0], xs[1]).to_doubles(), (doubles{4, 6})) << "the first result";
  const std::vector<tensor> mixed = {tensor({1.f}), tensor({2.0})};
  EXPECT_EQ(kg::call_list<my::Moments>(mixed)[1].type(), dtype::float64) << "a list is promoted too";
}

TEST(an_own_op, may_have_optional_operands_and_others_of_their_own_dtype) {
  const tensor x({10.0, 20.0, 30.0}), index({2, 0});
  EXPECT_EQ(kg::call<my::Pick>(x, index).to_doubles(), (doubles{30, 10}));
  EXPECT_EQ(kg::call<my::Pick>(x, index, tensor()).to_doubles(), (doubles{30, 10})) << "an undefined tensor is none";
  EXPECT_EQ(kg::call<my::Pick>(x, index, tensor(0.5f)).to_doubles(), (doubles{30.5, 10.5}));
}

TEST(an_own_op, may_give_another_dtype_than_it_reads) {
  const tensor y = kg::call<my::IsSmall>(tensor({0.5f, -2.f}));
  EXPECT_EQ(y.type(), dtype::boolean);
  EXPECT_EQ(y.to_doubles(), (doubles{1, 0}));
}

TEST(an_own_op, runs_on_the_reference_backend_with_the_same_kernels_unless_it_has_others) {
  const kg::backend_scope reference(kg::backend::reference);
  EXPECT_EQ(kg::call<my::Cube>(tensor({2.f})).item(), 8);
  EXPECT_EQ(kg::call<my::Hypot2>(tensor({2.f}), tensor({{1.f}})).item(), 6);
}

// ------------------------------------------------------------------------------------------ refusals

TEST(an_own_op, is_refused_by_its_row_as_known_ops_are) {
  const tensor x({1.f, 2.f});
  EXPECT_TRUE(says(refusal([] { return kg::call<my::Cube>(tensor()); }), {"[Cube]", "x"}));
  EXPECT_TRUE(says(refusal([] { return kg::call<my::Cube>(tensor({true})); }), {"[Cube]", "bool", "float32", "cast"}));
  EXPECT_TRUE(says(refusal([&] { return kg::call<my::Bump>(x, kg::attr<"height">(1), kg::attr<"width">(0.2)); }),
                   {"[Bump]", "width", "0.25", "100"}));
  EXPECT_TRUE(says(refusal([&] { return kg::call<my::Bump>(x, kg::attr<"height">(1), kg::attr<"width">(NAN)); }),
                   {"[Bump]", "width"}));
  EXPECT_TRUE(says(refusal([&] { return kg::call<my::Hypot2>(x, tensor({1.f, 2.f, 3.f})); }), {"[Hypot2]", "[2]"}));
  EXPECT_TRUE(says(refusal([&] { return kg::call<my::Hypot2>(x, tensor()); }), {"[Hypot2]", "b"}));
  EXPECT_TRUE(says(refusal([&] { return kg::call_list<my::Moments>({}); }), {"[Moments]", "at least 1"}));
  EXPECT_TRUE(says(refusal([&] { return kg::call<my::Pick>(x, tensor({1.f})); }), {"[Pick]", "index", "int32"}));
  EXPECT_TRUE(says(refusal([&] { return kg::call<my::Pick>(x, tensor({7})); }), {"[Pick]", "index 7"}));
}

TEST(an_own_op, that_is_refused_leaves_the_recording_as_it_was) {
  const auto f = [](const tensor& x) {
    EXPECT_NE(refusal([&] { return kg::call<my::Pick>(x, tensor({9})); }), accepted);
    EXPECT_NE(refusal([&] { return kg::call<my::Hypot2>(x, tensor({1.f, 2.f, 3.f})); }), accepted);
    return kg::sum(kg::call<my::Cube>(x));
  };
  EXPECT_EQ(kg::grad(f)(tensor({2.0, 1.0})).to_doubles(), (doubles{12, 3}));
}

TEST(elements_of_a_call, are_refused_as_another_dtype) {
  EXPECT_TRUE(says(refusal([] { return kg::call<my::Misread>(tensor({1.f})); }), {"[Misread]", "operand 0"}));
}

// ------------------------------------------------------------------------------------------ gradients

TEST(the_gradient_of_an_own_op, agrees_with_differences_in_both_orders) {
  const auto cube = [](std::span<const tensor> x) { return kg::tensor_list{kg::call<my::Cube>(x[0])}; };
  const auto bump = [](std::span<const tensor> x) {
    return kg::tensor_list{kg::call<my::Bump>(x[0], kg::attr<"height">(1.5), kg::attr<"width">(1.25))};
  };
  const auto hypot = [](std::span<const tensor> x) { return kg::tensor_list{kg::call<my::Hypot2>(x[0], x[1])}; };
  const auto moments = [](std::span<const tensor> x) { return kg::call_list<my::Moments>(x); };
  const std::vector<std::pair<kg::testkit::results_of, std::vector<tensor>>> cases = {
      {cube, {positive({2, 3}, 1)}},
      {bump, {positive({5}, 2)}},
      {hypot, {positive({2, 1, 3}, 3), positive({4, 1}, 4)}},
      {hypot, {positive({}, 3), positive({2, 2}, 4)}},
      {moments, {positive({3}, 5), positive({3}, 6), positive({3}, 7)}}};
  for (const auto& [f, xs] : cases) {
    const kg::testkit::report found = kg::testkit::check_function("a user-defined op", f, xs);
    EXPECT_TRUE(found) << found;
  }
}

TEST(the_gradient_of_an_own_op, flows_through_one_result_when_the_other_is_unused) {
  const auto f = [](const tensor& x) {
    const std::vector<tensor> xs = {x, x};
    return kg::sum(kg::call_list<my::Moments>(xs)[1]);
  };
  EXPECT_EQ(kg::grad(f)(tensor({3.0, -1.0})).to_doubles(), (doubles{12, -4}));
}

TEST(the_gradient_of_an_own_op, is_cast_back_to_an_operand_that_was_promoted) {
  const auto f = [](const tensor& a, const tensor& b) { return kg::sum(kg::call<my::Hypot2>(a, b)); };
  const auto g = kg::grads(f)(tensor({1.f, 2.f}), tensor(3.0));
  EXPECT_EQ(g[0].type(), dtype::float32);
  EXPECT_EQ(g[0].to_doubles(), (doubles{2, 4}));
  EXPECT_EQ(g[1].type(), dtype::float64);
  EXPECT_EQ(g[1].item(), 24);
}

TEST(the_gradient_of_an_own_op, trains_variables) {
  const kg::variable w(tensor({1.5, -2.0}));
  const kg::variable_gradients found = kg::variable_grads([&] { return kg::sum(kg::call<my::Cube>(w)); });
  ASSERT_EQ(found.grads.size(), 1u);
  EXPECT_EQ(found.value.item(), 3.375 - 8);
  EXPECT_EQ(found.grads[0].grad.to_doubles(), (doubles{6.75, 12}));
}

TEST(an_own_op_without_gradient, says_why_when_one_is_asked_for) {
  const auto f = [](const tensor& x) { return kg::sum(kg::call<my::Pick>(x, tensor({0}))); };
  EXPECT_TRUE(says(refusal([&] { return kg::grad(f)(tensor({1.0})); }), {"Pick", "the tests need an op without one"}));
}

// ------------------------------------------------------------------------------------------ by name

TEST(an_own_op_by_name, is_found_while_it_is_registered) {
  const tensor x({2.0});
  const auto run = [&] { return kg::run_kernel("Bump", {{"x", x}}, {{"height", 2}}); };
  EXPECT_NE(refusal(run), accepted);
  EXPECT_EQ(kg::row_named("Bump"), nullptr);
  {
    const kg::registration bump = kg::scoped_op<my::Bump>();
    EXPECT_NEAR(run().item(), 2 / 2.718281828459045, 1e-14);
    EXPECT_EQ(kg::row_named("Bump"), &my::Bump::row);
    const auto info = kg::get_kernel("Bump");
    ASSERT_TRUE(info);
    EXPECT_FALSE(info->known);
    EXPECT_TRUE(info->has_gradient);
    EXPECT_TRUE(info->dtypes == kg::wide_floats);
    EXPECT_TRUE(says(info->where, {"own_ops.cc:"}));
    EXPECT_EQ(std::ranges::count(kg::op_names(), "Bump"), 1);
    EXPECT_TRUE(says(refusal([&] { return kg::run_kernel("Bump", {{"x", x}}); }), {"[Bump]", "height", "the centre"}));
    EXPECT_TRUE(says(refusal([&] { return kg::run_kernel("Bump", {{"x", x}}, {{"height", "high"}}); }), {"height"}));
    EXPECT_TRUE(says(refusal([&] { return kg::run_kernel("Bump", {{"x", x}}, {{"hight", 2}}); }), {"hight", "height"}));
    EXPECT_TRUE(says(refusal([&] { return kg::run_kernel("Bump", {{"y", x}}, {{"height", 2}}); }), {"\"y\"", "x"}));
  }
  EXPECT_NE(refusal(run), accepted);
  EXPECT_EQ(std::ranges::count(kg::op_names(), "Bump"), 0);
}

TEST(an_own_op_by_name, takes_lists_options_and_gradients_as_the_typed_call_does) {
  const kg::registration moments = kg::scoped_op<my::Moments>(), pick = kg::scoped_op<my::Pick>();
  const std::vector<tensor> xs = {tensor({1.0}), tensor({2.0})};
  const std::vector<kg::named_operand> operands = {{"xs", xs}};
  EXPECT_EQ(kg::run_kernel_list("Moments", operands)[1].item(), 5);
  EXPECT_EQ(kg::run_kernel("Pick", {{"index", tensor({1})}, {"x", tensor({1.f, 2.f})}}).item(), 2);
  EXPECT_EQ(kg::run_kernel("Pick", {{"offset", tensor(5.f)}, {"index", tensor({1})}, {"x", tensor({1.f, 2.f})}}).item(),
            7);
  const auto f = [](const tensor& x) {
    const std::vector<kg::named_operand> twice = {{"xs", std::vector{x, x}}};
    return kg::sum(kg::run_kernel_list("Moments", twice)[1]);
  };
  EXPECT_EQ(kg::grad(f)(tensor({3.0})).item(), 12);
}

TEST(an_own_op_by_name, keeps_its_gradient_in_a_recording_that_outlives_it) {
  const auto f = [](const tensor& x) {
    kg::registration cube = kg::scoped_op<my::Cube>();
    const tensor y = kg::run_kernel("Cube", {{"x", x}});
    cube.release();
    EXPECT_FALSE(kg::get_kernel("Cube"));
    return kg::sum(y);
  };
  EXPECT_EQ(kg::grad(f)(tensor({2.0})).item(), 12);
  const tensor second = kg::grad([&](const tensor& x) { return kg::sum(kg::grad(f)(x)); })(tensor({2.0}));
  EXPECT_EQ(second.item(), 12);
}

TEST(an_own_op_by_name, is_refused_twice_and_removed_once) {
  kg::register_op<my::Cube>();
  EXPECT_TRUE(says(refusal([] { return kg::register_op<my::Cube>(); }), {"Cube", "own_ops.cc:", "registered op at "}));
  kg::unregister_op("Cube");
  EXPECT_NE(refusal([] { return kg::unregister_op("Cube"); }), accepted);
  EXPECT_NE(refusal([] { return kg::unregister_op("Add"); }), accepted) << "a built-in op stays";
  EXPECT_EQ(kg::call<my::Cube>(tensor(2.f)).item(), 8) << "the typed call does not care";
}

TEST(an_own_op_by_name, is_refused_when_a_kernel_has_the_name_and_both_places_are_named) {
  const kg::registration kernel = kg::scoped_kernel(
      {.name = "Cube", .run = [](const kg::kernel_call& c) -> kg::tensor_list { return {c.input("x")}; }});
  const std::string text = refusal([] { return kg::register_op<my::Cube>(); });
  const std::size_t first = text.find("own_ops.cc:");
  ASSERT_NE(first, std::string::npos) << text;
  EXPECT_NE(text.find("own_ops.cc:", first + 1), std::string::npos) << text;
}

TEST(an_own_op_by_name, joins_a_kernel_that_another_backend_has_under_its_name) {
  const kg::registration kernel = kg::scoped_kernel(
      {.name = "Cube", .backend = "elsewhere", .run = [](const kg::kernel_call& c) -> kg::tensor_list {
         return {c.input("x")};
       }});
  const kg::registration cube = kg::scoped_op<my::Cube>();
  EXPECT_EQ(kg::run_kernel("Cube", {{"x", tensor(2.f)}}).item(), 8);
}

TEST(an_own_op_by_name, does_not_silently_take_a_gradient_that_was_registered_before_it) {
  const kg::registration gradient =
      kg::scoped_gradient({.name = "Cube", .run = [](const kg::gradient_call& c) -> std::vector<kg::named_operand> {
                             return {{"x", c.dy()}};
                           }});
  EXPECT_TRUE(says(refusal([] { return kg::register_op<my::Cube>(); }), {"Cube", "registered gradient at "}));
}

TEST(an_own_op_by_name, can_have_its_gradient_replaced_for_typed_calls_as_well) {
  const kg::registration cube = kg::scoped_op<my::Cube>();
  const auto f = [](const tensor& x) { return kg::sum(kg::call<my::Cube>(x)); };
  {
    const kg::registration gradient = kg::scoped_gradient(
        {.name = "Cube",
         .run = [](const kg::gradient_call& c) -> std::vector<kg::named_operand> { return {{"x", c.dy() * 100}}; }},
        kg::existing::replace);
    EXPECT_EQ(kg::grad(f)(tensor({2.0})).item(), 100);
  }
  EXPECT_EQ(kg::grad(f)(tensor({2.0})).item(), 12);
}

TEST(an_own_op_that_is_not_registered, has_nothing_to_do_with_a_gradient_of_its_name) {
  const auto constant = [](double value) {
    return [value](const kg::gradient_call& c) -> std::vector<kg::named_operand> { return {{"x", c.dy() * value}}; };
  };
  const auto f = [](const tensor& x) { return kg::sum(kg::call<my::Cube>(x)); };
  const kg::registration stranger = kg::scoped_gradient({.name = "Cube", .run = constant(100)});
  EXPECT_EQ(kg::grad(f)(tensor({2.0})).item(), 12);
  const kg::registration exp = kg::scoped_gradient({.name = "Exp", .run = constant(5)}, kg::existing::replace);
  EXPECT_EQ(kg::grad(f)(tensor({2.0})).item(), 12) << "whatever else is replaced";
}

// ------------------------------------------------------------------------------------------ span API

TEST(the_raw_door_of_an_own_op, is_its_elementwise_kernel) {
  const std::vector<float> a = {1, 2, 3}, b = {4, 5, 6};
  std::vector<float> y(3);
  kg::kernel<my::Cube>(std::span<const float>(a), std::span<float>(y));
  EXPECT_EQ(y, (std::vector<float>{1, 8, 27}));
  kg::kernel<my::Hypot2>(std::span<const float>(a), std::span<const float>(b), std::span<float>(y));
  EXPECT_EQ(y, (std::vector<float>{33, 54, 81}));
}

}  // namespace
