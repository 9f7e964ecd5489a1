// SPDX-License-Identifier: Apache-2.0
// Ops with several results, results whose sizes elements decide, operands that the shape rule reads: through every
// door.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/arena.h"
#include "tests/support/refusal.h"
import kerngrad.testkit;

namespace my {

void unused(const kg::launch_call&) { throw std::logic_error("kernels on a call need no launcher"); }
template <class Op>
constexpr auto kernels_of =
    kg::kernel_list(kg::on_call<float>(Op::template code<float>), kg::on_call<double>(Op::template code<double>));

// Two differentiable results, each of which is what the other's gradient needs.
struct SinCos {
  static constexpr kg::operand operands[] = {{.name = "x", .types = kg::floating}};
  static constexpr kg::result_spec results[] = {{"sine", "sin(x)"}, {"cosine", "cos(x)"}};
  static constexpr void infer(kg::inference& call) {
    call.give(call.in[0].dims);
    call.give(call.in[0].dims);
  }
  template <class T>
  static constexpr auto code = [](const kg::launch_call& c) {
    const auto x = kg::elements_in<T>(c, 0);
    for (std::size_t i = 0; i < x.size(); ++i) {
      kg::elements_out<T>(c, 0)[i] = std::sin(x[i]);
      kg::elements_out<T>(c, 1)[i] = std::cos(x[i]);
    }
  };
  static constexpr kg::op_row row{.name = "SinCos",
                                  .doc = "Sine and cosine.",
                                  .group = kg::family::move,
                                  .operands = operands,
                                  .infer = infer,
                                  .launch = unused,
                                  .results = results};
  static constexpr auto kernels = kernels_of<SinCos>;
  static constexpr auto gradient = kg::gradient_of(
      kg::wrt(kg::keep::out0 | kg::keep::out1, [](const auto& c) { return c.dy(0) * c.out(1) - c.dy(1) * c.out(0); }));
};

// The first result has no gradient, the second one has, and is kept as a whole next to it.
struct Largest {
  static constexpr kg::operand operands[] = {{.name = "x", .types = kg::floating}};
  static constexpr kg::result_spec results[] = {{"index", "where it is", kg::result::int64}, {"value", "what it is"}};
  static constexpr void infer(kg::inference& call) {
    if (call.in[0].dims.rank() != 1 || call.in[0].dims.size() == 0)
      call.refuse(to_string(call.in[0].dims), "rank 1 and an element");
    call.give({});
    call.give({});
  }
  template <class T>
  static constexpr auto code = [](const kg::launch_call& c) {
    const auto x = kg::elements_in<T>(c, 0);
    const auto at = std::ranges::max_element(x);
    kg::elements_out<std::int64_t>(c, 0)[0] = at - x.begin();
    kg::elements_out<T>(c, 1)[0] = *at;
  };
  static constexpr kg::op_row row{.name = "Largest",
                                  .doc = "The largest element and its place.",
                                  .group = kg::family::move,
                                  .operands = operands,
                                  .infer = infer,
                                  .launch = unused,
                                  .results = results};
  static constexpr auto kernels = kernels_of<Largest>;
  static constexpr auto gradient = kg::gradient_of(kg::wrt(kg::keep::out0, [](const auto& c) {
    return kg::segment_sum(kg::reshape(c.dy(1), {1}), kg::reshape(c.out(0), {1}), c.dims(0)[0]);
  }));
};

// As many results as there are positive elements: the values, and their places.
struct Positive {
  static constexpr kg::operand operands[] = {{.name = "x", .types = kg::floating}};
  static constexpr kg::result_spec results[] = {{"values", "the positive elements"},
                                                {"places", "where they are", kg::result::int32}};
  static constexpr void infer(kg::inference& call) {
    call.give({call.in[0].dims.size()});
    call.give({call.in[0].dims.size(), 1});
  }
  template <class T>
  static constexpr auto code = [](const kg::launch_call& c) {
    const auto x = kg::elements_in<T>(c, 0);
    const auto values = kg::elements_out<T>(c, 0);
    const auto places = kg::elements_out<std::int32_t>(c, 1);
    std::int64_t count = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (!(x[i] > 0)) continue;
      values[static_cast<std::size_t>(count)] = x[i];
      places[static_cast<std::size_t>(count++)] = static_cast<std::int32_t>(i);
    }
    kg::made(c, 0, {count});
    kg::made(c, 1, {count, 1});
  };
  static constexpr kg::op_row row{.name = "Positive",
                                  .doc = "The elements above zero.",
                                  .group = kg::family::move,
                                  .operands = operands,
                                  .infer = infer,
                                  .launch = unused,
                                  .results = results,
                                  .bounded = true};
  static constexpr auto kernels = kernels_of<Positive>;
  static constexpr auto gradient = kg::gradient_of(kg::wrt(kg::keep::out1, [](const auto& c) {
    const auto places = kg::reshape(c.out(1), {c.out(1).size()});
    return kg::reshape(kg::segment_sum(c.dy(0), places, c.dims(0).size()), c.dims(0));
  }));
};

// The shape of the result is what an operand says.
struct ReshapeTo {
  static constexpr kg::operand operands[] = {
      {.name = "x", .types = kg::floating},
      {.name = "shape", .types = kg::only(kg::dtype::int32) | kg::only(kg::dtype::int64), .part = kg::role::read}};
  static void infer(kg::inference& call) {
    std::vector<std::int64_t> dims;
    if (call.in[1].type == kg::dtype::int32)
      std::ranges::copy(call.elements<std::int32_t>(1), std::back_inserter(dims));
    else std::ranges::copy(call.elements<std::int64_t>(1), std::back_inserter(dims));
    const kg::shape wanted(dims);
    if (wanted.size() != call.in[0].dims.size()) call.refuse("shape " + to_string(wanted), "as many elements as x has");
    call.give(wanted);
  }
  template <class T>
  static constexpr auto code =
      [](const kg::launch_call& c) { std::ranges::copy(kg::elements_in<T>(c, 0), kg::elements_out<T>(c).begin()); };
  static constexpr kg::op_row row{.name = "ReshapeTo",
                                  .doc = "x in a shape that is computed.",
                                  .group = kg::family::move,
                                  .operands = operands,
                                  .infer = infer,
                                  .launch = unused};
  static constexpr auto kernels = kernels_of<ReshapeTo>;
  static constexpr auto gradient = kg::gradient_of(
      kg::wrt(kg::keep::nothing, [](const auto& c) { return kg::reshape(c.dy(), c.dims(0)); }), kg::constant_operand());
};

// Its shape rule gives one result fewer than it names.
struct Forgetful {
  static constexpr void infer(kg::inference& call) { call.give(call.in[0].dims); }
  static constexpr kg::op_row row{.name = "Forgetful",
                                  .doc = "Gives too little.",
                                  .group = kg::family::move,
                                  .operands = SinCos::operands,
                                  .infer = infer,
                                  .launch = unused,
                                  .no_gradient = "the tests need none",
                                  .results = SinCos::results};
  static constexpr auto kernels = kg::kernel_list(kg::on_call<float>([](const kg::launch_call&) {}),
                                                  kg::on_call<double>([](const kg::launch_call&) {}));
};

// Its kernel says that more came out than the shape rule allows.
struct Boastful {
  static constexpr kg::operand operands[] = {{.name = "x", .types = kg::only(kg::dtype::float32)}};
  static constexpr kg::op_row row{.name = "Boastful",
                                  .doc = "Claims too much.",
                                  .group = kg::family::move,
                                  .operands = operands,
                                  .infer = kg::shapes::same,
                                  .launch = unused,
                                  .no_gradient = "the tests need none",
                                  .bounded = true};
  static constexpr auto kernels =
      kg::kernel_list(kg::on_call<float>([](const kg::launch_call& c) { kg::made(c, 0, {c.in[0].dims.size() + 1}); }));
};

}  // namespace my

namespace {

using kg::tensor;
using kgtest::refusal;
using kgtest::says;
using doubles = std::vector<double>;

void expect_near(const tensor& got, const doubles& wanted, double tolerance = 1e-12) {
  const doubles values = got.to_doubles();
  ASSERT_EQ(values.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(values[i], wanted[i], tolerance) << i;
}

const tensor angles({0.25, -1.5, 2.0});
doubles of_angles(double (*f)(double)) {
  doubles all;
  for (double x : angles.to_doubles()) all.push_back(f(x));
  return all;
}

// ------------------------------------------------------------------------------------------ several results

TEST(an_op_with_two_results, gives_both_to_a_structured_binding) {
  const auto [sine, cosine] = kg::call<my::SinCos>(angles);
  expect_near(sine, of_angles(std::sin));
  expect_near(cosine, of_angles(std::cos));
  static_assert(std::tuple_size_v<decltype(kg::call<my::SinCos>(angles))> == 2);
}

TEST(an_op_with_two_results, has_a_gradient_through_each_of_them_and_through_both) {
  expect_near(kg::grad([](const tensor& x) { return kg::sum(kg::call<my::SinCos>(x)[0]); })(angles),
              of_angles(std::cos));
  expect_near(kg::grad([](const tensor& x) { return kg::sum(kg::call<my::SinCos>(x)[1]); })(angles),
              of_angles([](double x) { return -std::sin(x); }));
  const auto both = [](const tensor& x) {
    const auto [sine, cosine] = kg::call<my::SinCos>(x);
    return kg::sum(sine * cosine);
  };
  expect_near(kg::grad(both)(angles), of_angles([](double x) { return std::cos(2 * x); }));
}

TEST(an_op_with_two_results, has_gradients_of_every_order) {
  const auto f = [](const tensor& x) { return kg::sum(kg::call<my::SinCos>(x)[0]); };
  const auto second = [&](const tensor& x) { return kg::sum(kg::grad(f)(x)); };
  expect_near(kg::grad(second)(angles), of_angles([](double x) { return -std::sin(x); }));
  const auto third = [&](const tensor& x) { return kg::sum(kg::grad(second)(x)); };
  expect_near(kg::grad(third)(angles), of_angles([](double x) { return -std::cos(x); }));
}

TEST(an_op_with_two_results, works_forward_in_a_checkpoint_and_as_a_pullback) {
  const auto cosine = [](const tensor& x) { return kg::call<my::SinCos>(x)[1]; };
  const auto [value, tangent] = kg::jvp(cosine)(angles, kg::full(angles.dims(), 2, kg::dtype::float64));
  expect_near(value, of_angles(std::cos));
  expect_near(tangent, of_angles([](double x) { return -2 * std::sin(x); }));
  expect_near(kg::grad([&](const tensor& x) { return kg::sum(kg::checkpoint(cosine)(x)); })(angles),
              of_angles([](double x) { return -std::sin(x); }));
  auto [y, back] = kg::vjp(cosine)(angles);
  expect_near(back(kg::ones_like(angles))[0], of_angles([](double x) { return -std::sin(x); }));
}

TEST(an_op_whose_first_result_is_an_index, has_a_gradient_through_the_second) {
  const tensor x({1.0, 7.0, 3.0});
  const auto [index, value] = kg::call<my::Largest>(x);
  EXPECT_EQ(index.type(), kg::dtype::int64);
  EXPECT_EQ(index.item(), 1);
  EXPECT_EQ(value.item(), 7);
  const auto f = [](const tensor& x) { return kg::square(kg::call<my::Largest>(x)[1]); };
  expect_near(kg::grad(f)(x), {0, 14, 0});
}

TEST(an_op_with_two_results, keeps_of_a_call_what_its_rule_names_and_lets_go_of_it) {
  const std::int64_t before = kg::memory().live_buffers;
  {
    auto [y, back] = kg::vjp([](const tensor& x) { return kg::call<my::SinCos>(x)[0]; })(angles);
    EXPECT_EQ(kg::memory().live_buffers - before, 2) << "both results";
  }
  EXPECT_EQ(kg::memory().live_buffers, before);
}

TEST(an_op_with_two_results, is_called_by_name_and_explained_with_the_names_of_its_results) {
  const kg::registration here = kg::scoped_op<my::SinCos>();
  const kg::tensor_list both = kg::run_kernel_list("SinCos", std::vector<kg::named_operand>{{"x", angles}});
  ASSERT_EQ(both.size(), 2);
  expect_near(both[1], of_angles(std::cos));
  EXPECT_TRUE(says(refusal([] { return kg::run_kernel("SinCos", {{"x", angles}}); }), {"2 results"}));
  const kg::explanation told = kg::explain("SinCos", {{"x", angles}});
  ASSERT_EQ(told.results.size(), 2u);
  EXPECT_EQ(told.results[1].name, "cosine");
  EXPECT_EQ(told.results[1].kept, kg::keeping::whole);
  EXPECT_TRUE(says(to_string(told), {"gives sine, float64 [3]", "cosine (whole)"})) << to_string(told);
}

TEST(an_op_with_two_results, can_have_its_gradient_replaced_and_sees_both_gradients) {
  const kg::registration here = kg::scoped_op<my::SinCos>();
  const kg::registration gradient =
      kg::scoped_gradient({.name = "SinCos",
                           .run = [](const kg::gradient_call& c) -> std::vector<kg::named_operand> {
                             return {{"x", c.dy(0) * 10 + c.dy(1) * 100}};
                           }},
                          kg::existing::replace);
  expect_near(kg::grad([](const tensor& x) { return kg::sum(kg::call<my::SinCos>(x)[1]); })(angles), {100, 100, 100});
}

TEST(an_op_with_two_results, passes_the_test_kit) {
  const kg::testkit::report SinCos_found = kg::testkit::check_op<my::SinCos>();
  EXPECT_TRUE(SinCos_found) << to_string(SinCos_found);
  const kg::testkit::report Largest_found = kg::testkit::check_op<my::Largest>();
  EXPECT_TRUE(Largest_found) << to_string(Largest_found);
}

TEST(an_op_whose_shape_rule_gives_too_few_results, is_refused) {
  const std::string text = refusal([] { return kg::call<my::Forgetful>(angles)[0]; });
  EXPECT_TRUE(says(text, {"Forgetful", "1 results", "2 as the op's row names"})) << text;
}

// ------------------------------------------------------------------------------------------ sizes from elements

TEST(a_result_whose_size_elements_decide, has_the_size_that_came_out) {
  const auto [values, places] = kg::call<my::Positive>(tensor({-1.f, 2.f, 0.f, 5.f}));
  EXPECT_EQ(values.to_doubles(), (doubles{2, 5}));
  EXPECT_EQ(places.dims(), (kg::shape{2, 1}));
  EXPECT_EQ(places.to_doubles(), (doubles{1, 3}));
  const auto none = kg::call<my::Positive>(tensor({-1.f}));
  EXPECT_EQ(none[0].dims(), kg::shape{0});
  const auto nothing = kg::call<my::Positive>(kg::zeros({0}));
  EXPECT_EQ(nothing[1].dims(), (kg::shape{0, 1}));
}

TEST(a_result_whose_size_elements_decide, has_a_gradient_of_every_order) {
  const auto f = [](const tensor& x) { return kg::sum(kg::square(kg::call<my::Positive>(x)[0])); };
  const tensor x({-1.0, 2.0, 0.0, 5.0});
  expect_near(kg::grad(f)(x), {0, 4, 0, 10});
  expect_near(kg::grad([&](const tensor& v) { return kg::sum(kg::grad(f)(v)); })(x), {0, 2, 0, 2});
}

TEST(a_result_whose_size_elements_decide, counts_and_holds_the_memory_of_what_came_out) {
  std::vector<float> few(10000, -1);
  few[17] = 1;
  const tensor x(few, {100, 100}), all = kg::ones({100, 100});
  const kg::memory_info before = kg::memory();
  {
    const auto kept = kg::call<my::Positive>(x);
    EXPECT_EQ(kg::memory().live_bytes - before.live_bytes, 8) << "a value and a place";
    const auto full = kg::call<my::Positive>(all);
    EXPECT_EQ(kg::memory().live_bytes - before.live_bytes, 80008);
  }
  EXPECT_EQ(kg::memory().live_bytes, before.live_bytes);
  EXPECT_EQ(kg::memory().live_buffers, before.live_buffers);
}

TEST(a_result_whose_size_elements_decide, is_told_as_a_bound) {
  const kg::registration here = kg::scoped_op<my::Positive>();
  const kg::explanation told = kg::explain("Positive", {{"x", kg::ones({2, 3})}});
  ASSERT_EQ(told.results.size(), 2u);
  EXPECT_TRUE(told.results[0].at_most);
  EXPECT_TRUE(says(to_string(told), {"gives values, at most float32 [6]"})) << to_string(told);
}

TEST(a_result_whose_size_elements_decide, may_be_smaller_from_a_registered_kernel_and_not_larger) {
  const kg::registration op = kg::scoped_op<my::Positive>();
  std::int64_t count = 2;
  const kg::registration kernel =
      kg::scoped_kernel({.name = "Positive",
                         .run = [&](const kg::kernel_call&) -> kg::tensor_list {
                           return {kg::zeros({count}), kg::zeros({count, 1}, kg::dtype::int32)};
                         },
                         .dtypes = kg::only(kg::dtype::float32)},
                        kg::existing::replace);
  const std::vector<kg::named_operand> operands = {{"x", kg::ones({3})}};
  EXPECT_EQ(kg::run_kernel_list("Positive", operands)[0].dims(), kg::shape{2});
  count = 4;
  const std::string text = refusal([&] { return kg::run_kernel_list("Positive", operands); });
  EXPECT_TRUE(says(text, {"[4]", "at most [3] by the op's row"})) << text;
}

TEST(a_result_whose_size_elements_decide, passes_the_test_kit) {
  const kg::testkit::report Positive_found = kg::testkit::check_op<my::Positive>();
  EXPECT_TRUE(Positive_found) << to_string(Positive_found);
}

TEST(a_kernel_that_claims_more_than_the_bound, is_refused) {
  const std::string text = refusal([] { return kg::call<my::Boastful>(kg::ones({2})); });
  EXPECT_TRUE(says(text, {"Boastful", "[3]", "at most [2]"})) << text;
}

// ------------------------------------------------------------------------------------------ operands that are read

TEST(an_operand_that_the_shape_rule_reads, decides_the_shape) {
  const tensor x = kg::ones({6});
  EXPECT_EQ(kg::call<my::ReshapeTo>(x, tensor({2, 3})).dims(), (kg::shape{2, 3}));
  EXPECT_EQ(kg::call<my::ReshapeTo>(x, tensor({std::int64_t{3}, std::int64_t{2}})).dims(), (kg::shape{3, 2}));
  EXPECT_EQ(kg::call<my::ReshapeTo>(x, tensor({1, 1}) + tensor({2, 1})).dims(), (kg::shape{3, 2})) << "computed";
  const std::string text = refusal([&] { return kg::call<my::ReshapeTo>(x, tensor({2, 2})); });
  EXPECT_TRUE(says(text, {"ReshapeTo", "[2, 2]"})) << text;
  const auto f = [](const tensor& v) { return kg::sum(kg::square(kg::call<my::ReshapeTo>(v, tensor({2, 3})))); };
  EXPECT_EQ(kg::grad(f)(x).to_doubles(), doubles(6, 2));
}

TEST(an_operand_that_the_shape_rule_reads, is_brought_from_a_storage_first) {
  const auto memory = std::make_shared<kgtest::arena>();
  kg::register_backend("device", [=]() -> std::shared_ptr<kg::storage> { return memory; }, 5);
  kg::register_kernel(kgtest::arena_kernel("Neg", "device", memory, [](float x) { return -x; }));
  tensor sizes;
  {
    const kg::backend_scope there("device");
    sizes = kg::neg(tensor({-2.f, -3.f}));
  }
  EXPECT_EQ(memory->fetched, 0);
  const tensor dims = kg::cast(sizes, kg::dtype::int32);
  EXPECT_EQ(kg::call<my::ReshapeTo>(kg::ones({6}), dims).dims(), (kg::shape{2, 3}));
  sizes = {};
  kgtest::forget("device");
}

TEST(an_operand_that_the_shape_rule_reads, is_explained_with_and_without_elements) {
  const kg::registration here = kg::scoped_op<my::ReshapeTo>();
  const kg::explanation told = kg::explain("ReshapeTo", {{"x", kg::ones({6})}, {"shape", tensor({2, 3})}});
  ASSERT_EQ(told.results.size(), 1u);
  EXPECT_EQ(told.results[0].made.dims, (kg::shape{2, 3}));
  const std::vector<kg::operand_signature> signatures = {{"x", {{{6}, kg::dtype::float32}}},
                                                         {"shape", {{{2}, kg::dtype::int32}}}};
  const kg::explanation later = kg::explain("ReshapeTo", signatures);
  EXPECT_EQ(later.refusal, "");
  EXPECT_TRUE(later.results.empty());
  EXPECT_TRUE(says(to_string(later), {"gives what the elements of shape decide"})) << to_string(later);
}

}  // namespace
