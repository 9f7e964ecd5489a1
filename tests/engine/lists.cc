// SPDX-License-Identifier: Apache-2.0
// A list of operands after others, lists of numbers as attributes, indices of both widths: through every door.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/refusal.h"
import kerngrad.testkit;

namespace my {

void unused(const kg::launch_call&) { throw std::logic_error("kernels on a call need no launcher"); }
template <class Op>
constexpr auto kernels_of =
    kg::kernel_list(kg::on_call<float>(Op::template code<float>), kg::on_call<double>(Op::template code<double>));

// One operand, then a list: x + 1 ys[0] + 2 ys[1] + ...
struct AddScaled {
  static constexpr kg::operand operands[] = {{.name = "x", .types = kg::floating},
                                             {.name = "ys", .types = kg::floating, .list = true}};
  template <class T>
  static constexpr auto code = [](const kg::launch_call& c) {
    const auto out = kg::elements_out<T>(c);
    std::ranges::copy(kg::elements_in<T>(c, 0), out.begin());
    for (std::size_t k = 1; k < c.in.size(); ++k) {
      const auto y = kg::elements_in<T>(c, static_cast<int>(k));
      for (std::size_t i = 0; i < out.size(); ++i) out[i] += static_cast<T>(k) * y[i];
    }
  };
  static constexpr kg::op_row row{.name = "AddScaled",
                                  .doc = "x + 1 ys[0] + 2 ys[1] + ...",
                                  .group = kg::family::move,
                                  .operands = operands,
                                  .infer = kg::shapes::all_equal,
                                  .launch = unused};
  static constexpr auto kernels = kernels_of<AddScaled>;
  static constexpr auto gradient =
      kg::gradient_of(kg::wrt(kg::keep::nothing, [](const auto& c) { return c.dy(); }),
                      kg::wrt(kg::keep::nothing, [](const auto& c) { return c.dy() * (c.index() + 1); }));
};

// A list of numbers: by[0] x + the sum of the others.
struct Affine {
  static constexpr kg::operand operands[] = {{.name = "x", .types = kg::floating}};
  static constexpr kg::attr_spec attrs[] = {{.name = "by",
                                             .kind = kg::attr_kind::numbers,
                                             .doc = "a factor, and what is added",
                                             .required = true,
                                             .least = -100,
                                             .most = 100,
                                             .scalar_or_list = true}};
  template <class T>
  static constexpr auto code = [](const kg::launch_call& c) {
    const auto x = kg::elements_in<T>(c, 0);
    const std::span<const double> by = c.call.attr("by").as_numbers();
    for (std::size_t i = 0; i < x.size(); ++i) {
      double y = by.empty() ? 0 : by[0] * x[i];
      for (std::size_t k = 1; k < by.size(); ++k) y += by[k];
      kg::elements_out<T>(c)[i] = static_cast<T>(y);
    }
  };
  static constexpr kg::op_row row{.name = "Affine",
                                  .doc = "by[0] x + by[1] + ...",
                                  .group = kg::family::move,
                                  .operands = operands,
                                  .attrs = attrs,
                                  .infer = kg::shapes::same,
                                  .launch = unused};
  static constexpr auto kernels = kernels_of<Affine>;
  static constexpr auto gradient = kg::gradient_of(
      kg::wrt(kg::keep::nothing, [](const auto& c) { return c.dy() * c.template attr<"by">().as_numbers()[0]; }));
};

}  // namespace my

namespace {

using kg::tensor;
using kgtest::refusal;
using kgtest::says;
using doubles = std::vector<double>;

// ------------------------------------------------------------------------------------------ lists next to others

TEST(a_list_beside_an_operand, is_given_as_tensors_or_as_a_list) {
  const tensor x({1.0}), a({2.0}), b({3.0});
  const std::vector<tensor> list = {a, b};
  EXPECT_EQ(kg::call<my::AddScaled>(x, a, b).item(), 9);
  EXPECT_EQ(kg::call<my::AddScaled>(x, list).item(), 9);
  EXPECT_EQ(kg::call<my::AddScaled>(x, a).item(), 3);
  EXPECT_EQ(kg::call<my::AddScaled>(tensor({1.f}), list).type(), kg::dtype::float64) << "promoted with the others";
}

TEST(a_list_beside_an_operand, has_a_gradient_for_each_of_its_tensors) {
  const std::vector<tensor> xs = {tensor({1.0}), tensor({2.0}), tensor({3.0})};
  const auto f = [](std::span<const tensor> all) { return kg::sum(kg::call<my::AddScaled>(all[0], all.subspan(1))); };
  const std::vector<tensor> grads = kg::value_and_grads_of(f, xs).grads;
  ASSERT_EQ(grads.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(grads[i].item(), i == 0 ? 1 : static_cast<double>(i));
}

TEST(a_list_beside_an_operand, is_taken_by_name_and_refused_when_it_is_empty_or_unknown) {
  const kg::registration here = kg::scoped_op<my::AddScaled>();
  const std::vector<tensor> list = {tensor({2.0}), tensor({3.0})}, none;
  const auto run = [&](std::vector<kg::named_operand> operands) { return kg::run_kernel_list("AddScaled", operands); };
  EXPECT_EQ(run({{"ys", list}, {"x", tensor({1.0})}})[0].item(), 9);
  EXPECT_TRUE(says(refusal([&] { return run({{"ys", none}, {"x", tensor({1.0})}}); }), {"AddScaled", "at least 2"}));
  EXPECT_TRUE(says(refusal([&] { return run({{"ys", list}}); }), {"no operand x"}));
  EXPECT_TRUE(says(refusal([&] { return run({{"z", list}}); }), {"\"z\"", "x, ys"}));
  EXPECT_TRUE(says(refusal([&] { return run({{"x", list}}); }), {"a list of 2 tensors as x"}));
  const std::vector<tensor> odd = {tensor({2.0}), tensor({true})};
  EXPECT_TRUE(says(refusal([&] { return run({{"x", tensor({1.0})}, {"ys", odd}}); }), {"ys[1]", "bool"}));
}
TEST(a_list_beside_an_operand, passes_the_test_kit) {
  const kg::testkit::report AddScaled_found = kg::testkit::check_op<my::AddScaled>();
  EXPECT_TRUE(AddScaled_found) << to_string(AddScaled_found);
}

// ------------------------------------------------------------------------------------------ lists of numbers

TEST(a_list_of_numbers, is_taken_by_every_door_and_integers_stand_for_it) {
  const kg::registration here = kg::scoped_op<my::Affine>();
  const tensor x({2.0});
  EXPECT_EQ(kg::call<my::Affine>(x, kg::attr<"by">({0.5, 0.25})).item(), 1.25);
  EXPECT_EQ(kg::call<my::Affine>(x, kg::attr<"by">({2, 1})).item(), 5);
  EXPECT_EQ(kg::call<my::Affine>(x, kg::attr<"by">(std::vector<double>(100, 1))).item(), 101);
  EXPECT_EQ(kg::run_kernel("Affine", {{"x", x}}, {{"by", {2, 1}}}).item(), 5);
  EXPECT_EQ(kg::run_kernel("Affine", {{"x", x}}, {{"by", 0.25}}).item(), 0.5) << "one number";
  EXPECT_EQ(kg::call<my::Affine>(x, kg::attr<"by">(3)).item(), 6);
  EXPECT_EQ(kg::run_kernel("Affine", {{"x", x}}, {{"by", {0.5, 0.25}}}).item(), 1.25);
  EXPECT_TRUE(says(refusal([&] { return kg::run_kernel("Affine", {{"x", x}}, {{"by", {0.5, 200.0}}}); }),
                   {"Affine", "by = [0.5, 200]", "-100 to 100"}));
  EXPECT_TRUE(says(refusal([&] { return kg::run_kernel("Affine", {{"x", x}}, {{"by", "same"}}); }), {"numbers"}));
}

TEST(a_list_of_numbers, is_kept_for_the_gradient_however_long_it_is) {
  const auto f = [](const tensor& x) { return kg::call<my::Affine>(x, kg::attr<"by">(std::vector<double>(100, 3))); };
  EXPECT_EQ(kg::grad(f)(tensor(2.0)).item(), 3);
}

// ------------------------------------------------------------------------------------------ indices

TEST(indices, may_be_int64_wherever_they_may_be_int32) {
  const tensor x({1.0, 2.0, 4.0}), narrow({2, 0, 2}), wide = kg::cast(narrow, kg::dtype::int64);
  const auto same = [](const tensor& a, const tensor& b) {
    EXPECT_EQ(a.type(), b.type());
    EXPECT_EQ(a.dims(), b.dims());
    EXPECT_EQ(a.to_doubles(), b.to_doubles());
  };
  same(kg::gather(x, wide), kg::gather(x, narrow));
  same(kg::one_hot(wide, 3), kg::one_hot(narrow, 3));
  same(kg::segment_sum(x, wide, 3), kg::segment_sum(x, narrow, 3));
  const auto gathered = [&](const tensor& v, const tensor& at) { return kg::sum(kg::square(kg::gather(v, at))); };
  same(kg::grad([&](const tensor& v) { return gathered(v, wide); })(x),
       kg::grad([&](const tensor& v) { return gathered(v, narrow); })(x));
  const auto summed = [](const tensor& v, const tensor& ids) {
    return kg::sum(kg::square(kg::segment_sum(v, ids, 3)));
  };
  same(kg::grad([&](const tensor& v) { return summed(v, wide); })(x),
       kg::grad([&](const tensor& v) { return summed(v, narrow); })(x));
}

TEST(indices, that_no_int32_holds_are_refused_dropped_or_off_as_others_outside) {
  const tensor x({1.0, 2.0}), far({std::int64_t{1} << 32, std::int64_t{1}});
  EXPECT_TRUE(says(refusal([&] { return kg::gather(x, far); }), {"index 4294967296", "0 to 1"}));
  EXPECT_EQ(kg::segment_sum(x, far, 2).to_doubles(), (doubles{0, 2}));
  EXPECT_EQ(kg::one_hot(far, 2).to_doubles(), (doubles{0, 0, 0, 1}));
}

}  // namespace
