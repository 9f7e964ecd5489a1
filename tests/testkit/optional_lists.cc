// SPDX-License-Identifier: Apache-2.0
// Attributes that calls may leave out: the kit gives axes to optional lists, and names what no call sets.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

import kerngrad;
import kerngrad.testkit;

namespace {

using kg::testkit::check;
using strings = std::vector<std::string>;

constexpr kg::operand x_of_doubles[] = {{"x", kg::only(kg::dtype::float64)}};
constexpr kg::attr_spec over_axes[] = {
    {.name = "axis", .kind = kg::attr_kind::list, .doc = "axes, all when omitted", .scalar_or_list = true},
    {.name = "keepDims", .kind = kg::attr_kind::boolean, .doc = "keep them with size 1"}};

// Tells if the value of an attribute names the axis.
bool names(const kg::attr_value& value, int axis, int rank) {
  if (!value.given()) return true;
  const auto is_it = [&](std::int64_t named) { return (named < 0 ? named + rank : named) == axis; };
  if (value.kind() == kg::attr_kind::integer) return is_it(value.as_integer());
  bool any = false;
  for (const std::int64_t named : value.as_list()) any = any || is_it(named);
  return any;
}

// The sums over axes: each element is added to that of its other indices.
std::vector<double> sums(std::span<const double> x, const kg::shape& dims, const kg::attr_value& over) {
  std::int64_t count = 1;
  for (int axis = 0; axis < dims.rank(); ++axis) count *= names(over, axis, dims.rank()) ? 1 : dims[axis];
  std::vector<double> all(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(x.size()); ++i) {
    std::int64_t rest = i, at = 0, step = 1;
    for (int axis = dims.rank() - 1; axis >= 0; --axis) {
      if (!names(over, axis, dims.rank())) at += rest % dims[axis] * step, step *= dims[axis];
      rest /= dims[axis];
    }
    all[static_cast<std::size_t>(at)] += x[static_cast<std::size_t>(i)];
  }
  return all;
}

// Which axis a reduction has wrong; one of rank 8 has them right.
enum class wrong_axis { first, second, last, none };
template <wrong_axis Wrong>
struct total {
  static constexpr kg::op_row row{.name = "TestTotal",
                                  .doc = "Sums.",
                                  .group = kg::family::reduce,
                                  .operands = x_of_doubles,
                                  .attrs = over_axes,
                                  .infer = kg::shapes::reduce,
                                  .convention = kg::convention::reduce,
                                  .no_gradient = "none is asked for"};
  static void run(const kg::launch_call& c) {
    const kg::shape& dims = c.in[0].dims;
    const kg::attr_value& over = c.call.attr("axis");
    const std::vector<double> right = sums(kg::elements_in<double>(c, 0), dims, over);
    const std::span<double> y = kg::elements_out<double>(c);
    const int axis = Wrong == wrong_axis::first ? 0 : Wrong == wrong_axis::second ? 1 : dims.rank() - 1;
    const bool off = Wrong != wrong_axis::none && over.given() && axis < dims.rank() && names(over, axis, dims.rank());
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = right[i] + (off ? 1 : 0);
  }
  static constexpr auto kernels = kg::kernel_list(kg::on_call<double>([](const kg::launch_call& c) { run(c); }));
};

// The op from its definition.
kg::tensor_list total_by_definition(const kg::kernel_call& call) {
  const kg::tensor& x = call.input("x");
  const kg::attr_value over = call.attr("axis", kg::attr_value());
  std::vector<std::int64_t> dims;
  for (int axis = 0; axis < x.rank(); ++axis)
    if (!names(over, axis, x.rank())) dims.push_back(x.dims()[axis]);
    else if (call.attr("keepDims").as_bool()) dims.push_back(1);
  return {kg::tensor(sums(x.to_doubles(), x.dims(), over), kg::shape(dims))};
}

template <wrong_axis Wrong>
kg::testkit::report checked(const kg::testkit::options& more = {}) {
  kg::testkit::options how = more;
  how.oracle = total_by_definition;
  return kg::testkit::check_op<total<Wrong>>(how);
}

TEST(an_optional_list, gets_axes_so_that_a_fault_of_one_axis_is_found) {
  const kg::testkit::report right = checked<wrong_axis::none>();
  EXPECT_TRUE(right) << right;
  EXPECT_EQ(right.unset_attributes(), strings());
  EXPECT_GT(checked<wrong_axis::first>().failed(check::oracle), 0);
  EXPECT_GT(checked<wrong_axis::second>().failed(check::oracle), 0);
  EXPECT_GT(checked<wrong_axis::last>().failed(check::oracle), 0);
}

TEST(an_optional_list, gets_one_axis_several_and_those_from_the_back) {
  strings given;
  for (const kg::testkit::sample& call : kg::testkit::samples_of(total<wrong_axis::none>::row))
    for (const kg::named_attribute& a : call.attrs)
      if (a.name == "axis") given.push_back(to_string(a.value));
  for (const char* wanted : {"[0]", "[1]", "[-1]", "[0, -1]", "1", "-1"})
    EXPECT_GT(std::count(given.begin(), given.end(), wanted), 0) << wanted;
}

TEST(the_report, names_every_attribute_that_no_call_sets) {
  kg::testkit::options how;
  how.samples = {{{{"x", kg::shape{2, 3}}}, {}}};
  const kg::testkit::report found = checked<wrong_axis::second>(how);
  EXPECT_TRUE(found) << "the samples do not show the fault";
  EXPECT_EQ(found.unset_attributes(), (strings{"axis", "keepDims"}));
  EXPECT_NE(to_string(found).find("[TestTotal] no call sets axis"), std::string::npos) << found;
  how.samples[0].attrs = {{"axis", 0}, {"keepDims", false}};
  EXPECT_EQ(checked<wrong_axis::none>(how).unset_attributes(), strings{"keepDims"}) << "false is its default";
}

// Lists of numbers, and lists whose items have bounds.
constexpr kg::attr_spec other_lists[] = {
    {.name = "shares", .kind = kg::attr_kind::numbers, .doc = "what is added", .least = 0, .most = 1},
    {.name = "steps", .kind = kg::attr_kind::list, .doc = "what is added", .least = 1, .most = 4},
    {.name = "made", .kind = kg::attr_kind::dtype, .doc = "is not read"}};
struct plus_all {
  static constexpr kg::op_row row{.name = "TestPlusAll",
                                  .doc = "x and the sum of lists.",
                                  .group = kg::family::elementwise,
                                  .operands = x_of_doubles,
                                  .attrs = other_lists,
                                  .infer = kg::shapes::same,
                                  .convention = kg::convention::unary,
                                  .no_gradient = "none is asked for"};
  static void run(const kg::launch_call& c) {
    double more = 0;
    for (const double share : c.call.attr("shares").as_numbers()) more += share;
    for (const std::int64_t step : c.call.attr("steps").as_list()) more += static_cast<double>(step);
    const std::span<const double> x = kg::elements_in<double>(c, 0);
    for (std::size_t i = 0; i < x.size(); ++i) kg::elements_out<double>(c)[i] = x[i] + more;
  }
  static constexpr auto kernels = kg::kernel_list(kg::on_call<double>([](const kg::launch_call& c) { run(c); }));
};

TEST(an_optional_list, has_items_inside_of_their_bounds) {
  int shares = 0, steps = 0;
  for (const kg::testkit::sample& call : kg::testkit::samples_of(plus_all::row))
    for (const kg::named_attribute& a : call.attrs) {
      shares += a.name == "shares";
      steps += a.name == "steps";
      for (const double share : a.value.as_numbers()) EXPECT_TRUE(share >= 0 && share <= 1) << share;
      for (const std::int64_t step : a.value.as_list()) EXPECT_TRUE(step >= 1 && step <= 4) << step;
    }
  EXPECT_GT(shares, 0);
  EXPECT_GT(steps, 0);
  const kg::testkit::report found = kg::testkit::check_op<plus_all>();
  EXPECT_TRUE(found) << found;
  EXPECT_EQ(found.unset_attributes(), strings{"made"}) << "nothing is known of a dtype";
}

// Reports as check_op does, without running its checks.
TEST(the_samples_of_the_librarys_ops, set_every_attribute) {
  strings unset;
  for (const kg::op_row& row : kg::op_table) {
    const std::vector<kg::testkit::sample> samples = kg::testkit::samples_of(row, true);
    for (const kg::attr_spec& spec : row.attrs) {
      const auto sets = [&](const kg::testkit::sample& call) {
        return std::any_of(call.attrs.begin(), call.attrs.end(),
                           [&](const kg::named_attribute& a) { return a.name == spec.name; });
      };
      if (std::none_of(samples.begin(), samples.end(), sets))
        unset.push_back(std::string(row.name) + " " + std::string(spec.name));
    }
  }
  EXPECT_EQ(unset, strings());
}

}  // namespace
