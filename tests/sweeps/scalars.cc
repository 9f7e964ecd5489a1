// SPDX-License-Identifier: Apache-2.0
// A scalar has one axis, 0 or -1, as an integer or in a list, in every op and function; every other axis is an error.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tests/support/refusal.h"

import kerngrad;
import kerngrad.testkit;

namespace {

using kg::axes;
using kg::dtype;
using kg::shape;
using kg::tensor;
using kgtest::accepted;
using kgtest::refusal;

constexpr std::int64_t wrong_axes[] = {
    1, -2, 2, 7, -7, 31, 32, std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()};

// ------------------------------------------------------------------------------------------ ops by name

struct named_axis {
  std::string op, attr;
  bool takes_list;
};

// Attributes that name axes of the first operand, by what their documentation calls them.
std::vector<named_axis> attributes_with_axes() {
  std::vector<named_axis> all;
  for (const kg::op_row& row : kg::op_table)
    for (const kg::attr_spec& spec : row.attrs)
      if (spec.name == "axis" || spec.name == "dim" || spec.name == "dims" || spec.name == "reductionIndices")
        all.push_back({std::string(row.name), std::string(spec.name), spec.kind == kg::attr_kind::list});
  return all;
}

// A call whose operands are scalars of the first dtype that each takes, with what else the row requires.
std::string said_of(const named_axis& item, const kg::attr_value& axis) {
  const kg::op_row& row = *kg::row_named(item.op);
  std::vector<kg::named_operand> operands;
  for (const kg::operand& spec : row.operands) {
    if (spec.optional) continue;
    int type = 0;
    while (!spec.types.has(static_cast<dtype>(type))) ++type;
    operands.emplace_back(std::string(spec.name), kg::zeros({}, static_cast<dtype>(type)));
  }
  std::vector<kg::named_attribute> attrs{{item.attr, axis}};
  for (const kg::attr_spec& spec : row.attrs) {
    if (!spec.required || spec.name == item.attr) continue;
    if (spec.kind == kg::attr_kind::text)
      attrs.push_back({std::string(spec.name), spec.choices.substr(0, spec.choices.find('|'))});
    else if (spec.kind == kg::attr_kind::list) attrs.push_back({std::string(spec.name), std::vector<std::int64_t>()});
    else attrs.push_back({std::string(spec.name), 1});
  }
  return refusal([&] { return kg::run_kernel_list(item.op, operands, attrs); });
}

TEST(every_op_with_an_axis, takes_0_and_minus_1_of_a_scalar_alike_and_no_other) {
  int accepting = 0;
  for (const named_axis& item : attributes_with_axes()) {
    SCOPED_TRACE(item.op + " " + item.attr);
    const std::string said = said_of(item, 0);
    EXPECT_EQ(said_of(item, -1) == accepted, said == accepted) << said << "\n" << said_of(item, -1);
    accepting += said == accepted;
    if (said != accepted && item.op != "Unique" && !kgtest::says(item.op, {"AlongAxis"}))
      EXPECT_TRUE(kgtest::says(said, {"rank 1 or more"})) << said;
    for (const std::int64_t axis : wrong_axes) EXPECT_NE(said_of(item, axis), accepted) << axis;
    if (!item.takes_list) continue;
    EXPECT_EQ(said_of(item, std::vector<std::int64_t>{0}), said);
    EXPECT_EQ(said_of(item, std::vector<std::int64_t>{-1}), said);
    EXPECT_NE(said_of(item, std::vector<std::int64_t>{0, -1}), accepted) << "one axis twice";
    for (const std::int64_t axis : wrong_axes)
      EXPECT_NE(said_of(item, std::vector<std::int64_t>{axis}), accepted) << axis;
  }
  EXPECT_GE(accepting, 18);
}

// ------------------------------------------------------------------------------------------ functions

// A function of a scalar along axes, and its result and slope at 0.75.
struct along {
  std::string name;
  std::function<tensor(const tensor&, const axes&)> of;
  double result, slope;
};
axes one(const axes& over) {
  return over.value().kind() == kg::attr_kind::list ? axes(over.value().as_list()[0]) : over;
}
kg::axis_index axis_of(const axes& over) { return one(over).value().as_integer(); }

const along over_axes[] = {
    {"sum", [](const tensor& x, const axes& a) { return kg::sum(x, a); }, 0.75, 1},
    {"sum, kept", [](const tensor& x, const axes& a) { return kg::sum(x, a, true); }, 0.75, 1},
    {"mean", [](const tensor& x, const axes& a) { return kg::mean(x, a); }, 0.75, 1},
    {"prod", [](const tensor& x, const axes& a) { return kg::prod(x, a); }, 0.75, 1},
    {"max", [](const tensor& x, const axes& a) { return kg::max(x, a); }, 0.75, 1},
    {"min", [](const tensor& x, const axes& a) { return kg::min(x, a, true); }, 0.75, 1},
    {"reverse", [](const tensor& x, const axes& a) { return kg::reverse(x, a); }, 0.75, 1},
    {"flip", [](const tensor& x, const axes& a) { return kg::flip(x, a); }, 0.75, 1},
    {"squeeze", [](const tensor& x, const axes& a) { return kg::squeeze(x, a); }, 0.75, 1},
    {"moveaxis", [](const tensor& x, const axes& a) { return kg::moveaxis(x, a, a); }, 0.75, 1},
    {"moments, mean", [](const tensor& x, const axes& a) { return kg::moments(x, a).mean; }, 0.75, 1},
    {"moments, variance", [](const tensor& x, const axes& a) { return kg::moments(x, a, true).variance; }, 0, 0},
    {"variance", [](const tensor& x, const axes& a) { return kg::variance(x, a); }, 0, 0},
    {"median", [](const tensor& x, const axes& a) { return kg::median(x, a); }, 0.75, 1},
    {"quantile", [](const tensor& x, const axes& a) { return kg::quantile(x, 0.25, a, true); }, 0.75, 1},
    {"norm", [](const tensor& x, const axes& a) { return kg::norm(x, "euclidean", a); }, 0.75, 1},
    {"norm, 1", [](const tensor& x, const axes& a) { return kg::norm(x, 1, a, true); }, 0.75, 1},
    {"euclidean_norm", [](const tensor& x, const axes& a) { return kg::euclidean_norm(x, a); }, 0.75, 1},
};
const along along_one[] = {
    {"softmax", [](const tensor& x, const axes& a) { return kg::softmax(x, axis_of(a)); }, 1, 0},
    {"log_softmax", [](const tensor& x, const axes& a) { return kg::log_softmax(x, axis_of(a)); }, 0, 0},
    {"logsumexp", [](const tensor& x, const axes& a) { return kg::logsumexp(x, axis_of(a)); }, 0.75, 1},
    {"cumsum", [](const tensor& x, const axes& a) { return kg::cumsum(x, axis_of(a)); }, 0.75, 1},
    {"cumprod", [](const tensor& x, const axes& a) { return kg::cumprod(x, axis_of(a)); }, 0.75, 1},
    {"cummax", [](const tensor& x, const axes& a) { return kg::cummax(x, axis_of(a)); }, 0.75, 1},
    {"cummin", [](const tensor& x, const axes& a) { return kg::cummin(x, axis_of(a)); }, 0.75, 1},
    {"sort", [](const tensor& x, const axes& a) { return kg::sort(x, {.axis = axis_of(a)}); }, 0.75, 1},
    {"swapaxes", [](const tensor& x, const axes& a) { return kg::swapaxes(x, axis_of(a), 0); }, 0.75, 1},
    {"roll", [](const tensor& x, const axes& a) { return kg::roll(x, 3, axis_of(a)); }, 0.75, 1},
    {"expand_dims", [](const tensor& x, const axes& a) { return kg::expand_dims(x, axis_of(a)); }, 0.75, 1},
};

template <class Table>
void expect_scalars(const Table& table, std::initializer_list<axes> right, std::initializer_list<axes> wrong) {
  for (const along& f : table) {
    for (const axes& over : right) {
      SCOPED_TRACE(f.name + " over " + to_string(over.value()));
      const tensor x(0.75);
      ASSERT_EQ(refusal([&] { return f.of(x, over); }), accepted);
      const tensor y = f.of(x, over);
      EXPECT_EQ(y.size(), 1);
      EXPECT_EQ(y.item(), f.result);
      const tensor slope = kg::grad([&](const tensor& t) { return f.of(t, over); })(x);
      EXPECT_EQ(slope.dims(), shape{});
      EXPECT_EQ(slope.item(), f.slope);
    }
    for (const axes& over : wrong)
      EXPECT_NE(refusal([&] { return f.of(tensor(0.75), over); }), accepted) << f.name << to_string(over.value());
    for (const std::int64_t axis : wrong_axes)
      EXPECT_NE(refusal([&] { return f.of(tensor(0.75), axis); }), accepted) << f.name << axis;
  }
}

TEST(functions_over_axes, take_the_axis_of_a_scalar_as_a_number_and_in_a_list) {
  expect_scalars(over_axes, {axes(0), axes(-1), axes{0}, axes({-1})},
                 {axes({7}), axes({1}), axes({-2}), axes({0, -1}), axes({0, 0}), axes({0, 7})});
}
TEST(functions_along_an_axis, take_that_of_a_scalar) { expect_scalars(along_one, {axes(0), axes(-1)}, {}); }

TEST(functions_without_a_gradient, take_the_axis_of_a_scalar) {
  const tensor x(0.75), truth(true);
  struct row {
    std::string name;
    std::function<tensor(const axes&)> of;
    double result;
  };
  const row rows[] = {
      {"argmax", [&](const axes& a) { return kg::argmax(x, axis_of(a)); }, 0},
      {"argmin", [&](const axes& a) { return kg::argmin(x, axis_of(a)); }, 0},
      {"argsort", [&](const axes& a) { return kg::argsort(x, {.axis = axis_of(a)}); }, 0},
      {"all", [&](const axes& a) { return kg::all(truth, a); }, 1},
      {"any", [&](const axes& a) { return kg::any(truth, a); }, 1},
      {"count_nonzero", [&](const axes& a) { return kg::count_nonzero(x, a); }, 1},
  };
  for (const row& r : rows) {
    for (const axes& over : {axes(0), axes(-1)}) EXPECT_EQ(r.of(over).item(), r.result) << r.name;
    for (const std::int64_t axis : wrong_axes)
      EXPECT_NE(refusal([&] { return r.of(axis); }), accepted) << r.name << axis;
  }
}

// NumPy's take and repeat see a scalar as one element on an axis.
TEST(functions_that_add_elements, see_a_scalar_as_one_element) {
  EXPECT_EQ(kg::repeat(tensor(2.f), 3, 0).to_doubles(), (std::vector<double>{2, 2, 2}));
  EXPECT_EQ(kg::take(tensor(2.f), tensor({0, -1}), -1).to_doubles(), (std::vector<double>{2, 2}));
  EXPECT_NE(refusal([] { return kg::repeat(tensor(2.f), 3, 1); }), accepted);
  EXPECT_NE(refusal([] { return kg::take(tensor(2.f), tensor({0}), 7); }), accepted);
}

TEST(functions_of_parts, want_an_axis_with_elements) {
  const tensor x(1.f), index(0);
  const std::vector<std::pair<std::string, std::function<void()>>> calls = {
      {"concat", [&] { kg::concat({x, x}, 0); }},
      {"unstack", [&] { kg::unstack(x, 0); }},
      {"split", [&] { kg::split(x, 1, 0); }},
      {"gather", [&] { kg::gather(x, index, 0); }},
      {"take_along_axis", [&] { kg::take_along_axis(x, index, 0); }},
      {"unique", [&] { kg::unique(x, 0); }},
      {"boolean_mask", [&] { kg::boolean_mask(x, tensor(true), 0); }},
      {"diff", [&] { kg::diff(x); }},
  };
  for (const auto& [name, call] : calls) {
    const std::string said = refusal([&call = call] {
      call();
      return 0;
    });
    EXPECT_TRUE(kgtest::says(said, {"rank 1 or more"})) << name << ": " << said;
  }
}

// ------------------------------------------------------------------------------------------ fused

TEST(a_fused_reduction, takes_the_axis_of_a_scalar_and_no_other) {
  const tensor x(3.0);

  EXPECT_EQ(kg::fuse([](auto a) { return kg::sum(a * a, 0); })(x).item(), 9);
  EXPECT_EQ(kg::fuse([](auto a) { return kg::max(a * a, -1); })(x).item(), 9);
  EXPECT_NE(refusal([&] { return kg::fuse([](auto a) { return kg::sum(a * a, 7); })(x); }), accepted);
  EXPECT_EQ(kg::grad([](const tensor& t) { return kg::fuse([](auto a) { return kg::sum(a * a, -1); })(t); })(x).item(),
            6);
}

}  // namespace
