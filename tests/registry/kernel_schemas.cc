// SPDX-License-Identifier: Apache-2.0
// Effect of a row or a schema on a kernel of the registry: operands and attributes arrive checked, promoted and with
// their defaults, results are held to what was promised. And kernels that were looked up once.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "tests/support/arena.h"
#include "tests/support/refusal.h"

namespace {

using kg::attr_kind;
using kg::dtype;
using kg::existing;
using kg::tensor;
using kgtest::accepted;
using kgtest::refusal;
using kgtest::says;
using doubles = std::vector<double>;

using kernel_code = std::function<kg::tensor_list(const kg::kernel_call&)>;

// A backend "mine" on host memory whose kernels note what they were called with.
class own_backend : public ::testing::Test {
 protected:
  void SetUp() override {
    kg::register_backend("mine", nullptr);
    scope.emplace("mine");
  }
  void TearDown() override {
    scope.reset();
    kgtest::forget("mine");
  }
  void add(const std::string& name, kernel_code code, kg::dtype_set types = kg::any_dtype) {
    kg::register_kernel({.name = name, .backend = "mine", .run = std::move(code), .dtypes = types});
  }
  std::optional<kg::backend_scope> scope;
};

// ------------------------------------------------------------------------------------------ built-in ops

TEST_F(own_backend, a_kernel_of_a_known_op_gets_promoted_operands_of_any_order_by_name) {
  std::vector<std::pair<std::string, dtype>> seen;
  kg::shape promised;
  add("Add", [&](const kg::kernel_call& call) -> kg::tensor_list {
    seen.clear();
    for (const kg::operand_ref& x : call.operands()) seen.emplace_back(x.name, x.tensors[0].type());
    promised = call.results()[0].dims;
    return {kg::tensor::build<float>(promised, [](std::span<float> y) { std::fill(y.begin(), y.end(), 9.f); })};
  });
  kg::set_fallback(kg::fallback::by_priority);  // for the casts
  const std::vector<std::pair<std::string, dtype>> wanted = {{"a", dtype::float32}, {"b", dtype::float32}};
  EXPECT_EQ(kg::add(tensor({1, 2}), tensor(1.f)).to_doubles(), (doubles{9, 9}));
  EXPECT_EQ(seen, wanted);
  EXPECT_TRUE(promised == kg::shape{2});
  EXPECT_EQ(kg::run_kernel("Add", {{"b", tensor({1.f})}, {"a", tensor({1, 2}, {2, 1})}}).size(), 2);
  EXPECT_EQ(seen, wanted);
}

TEST_F(own_backend, a_kernel_of_a_known_op_gets_normalised_attributes) {
  std::vector<std::string> seen;
  add("LeakyRelu", [&](const kg::kernel_call& call) -> kg::tensor_list {
    seen.clear();
    for (const kg::attribute_ref& a : call.attrs()) seen.push_back(std::string(a.name) + "=" + to_string(a.value));
    return {call.input("x")};
  });
  const tensor x({1.f});
  static_cast<void>(kg::run_kernel("LeakyRelu", {{"x", x}}));
  EXPECT_EQ(seen, (std::vector<std::string>{"alpha=0.2"})) << "the row's default";
  static_cast<void>(kg::call<"LeakyRelu">(x, kg::attr<"alpha">(3)));
  EXPECT_EQ(seen, (std::vector<std::string>{"alpha=3"}));
  std::int64_t axis = -9;
  add("Cumsum", [&](const kg::kernel_call& call) -> kg::tensor_list {
    axis = call.attr("axis").as_integer();
    EXPECT_EQ(call.attr("axis").kind(), attr_kind::integer);
    return {call.input("x")};
  });
  static_cast<void>(kg::run_kernel("Cumsum", {{"x", x}}, {{"axis", 0.0}}));
  EXPECT_EQ(axis, 0);
}

TEST_F(own_backend, a_kernel_of_a_known_op_is_refused_what_the_row_refuses) {
  int ran = 0;
  add("Add", [&](const kg::kernel_call& call) -> kg::tensor_list { return ++ran, kg::tensor_list{call.input("a")}; });
  const tensor x({1.f, 2.f});
  const std::vector<std::string> refused = {
      refusal([&] { return kg::add(x, tensor({1.f, 2.f, 3.f})); }),
      refusal([&] { return kg::run_kernel("Add", {{"a", x}}); }),
      refusal([&] { return kg::run_kernel("Add", {{"a", x}, {"c", x}}); }),
      refusal([&] { return kg::run_kernel("Add", {{"a", x}, {"a", x}}); }),
      refusal([&] { return kg::run_kernel("Add", {{"a", x}, {"b", x}}, {{"axis", 1}}); }),
      refusal([&] { return kg::run_kernel("Add", {{"a", x}, {"b", std::vector{x, x}}}); }),
      refusal([&] { return kg::run_kernel("Add", {{"a", x}, {"b", tensor()}}); })};
  EXPECT_TRUE(says(refused[0], {"[kg::add]"})) << refused[0];
  for (std::size_t i = 1; i < refused.size(); ++i) EXPECT_TRUE(says(refused[i], {"[Add]"})) << refused[i];
  EXPECT_EQ(ran, 0);
}

TEST_F(own_backend, a_kernel_of_a_known_op_is_held_to_the_signatures_of_the_row) {
  kg::tensor_list gives;
  add("Neg", [&](const kg::kernel_call&) -> kg::tensor_list { return gives; });
  const auto refused = [&](kg::tensor_list results) {
    gives = std::move(results);
    return refusal([] { return kg::neg(tensor({1.f, 2.f})); });
  };
  EXPECT_TRUE(says(refused({tensor({1.f})}), {"[kg::neg]", "mine", "float32 [1]", "float32 [2]"}));
  EXPECT_TRUE(says(refused({tensor({1.0, 2.0})}), {"float64 [2]", "float32 [2]"}));
  EXPECT_TRUE(says(refused({}), {"0 results"}));
  EXPECT_TRUE(says(refused({tensor({1.f, 2.f}), tensor({1.f, 2.f})}), {"2 results"}));
  EXPECT_TRUE(says(refused({tensor()}), {"undefined tensor"}));
  EXPECT_EQ(refused({tensor({3.f, 4.f})}), accepted);
}

TEST_F(own_backend, a_kernel_of_a_known_op_with_a_list_or_optional_operands_sees_what_was_given) {
  std::size_t tensors = 0;
  add("AddN", [&](const kg::kernel_call& call) -> kg::tensor_list {
    tensors = call.inputs("tensors").size();
    return {call.inputs("tensors")[0]};
  });
  kg::set_fallback(kg::fallback::by_priority);  // for the casts
  const std::vector<tensor> list = {tensor({1.f}), tensor({2}), tensor({true})};
  EXPECT_EQ(kg::add_n(list).type(), dtype::float32);
  EXPECT_EQ(tensors, 3u);
}

TEST_F(own_backend, a_kernel_of_a_known_op_serves_only_the_dtypes_that_it_takes_through_every_door) {
  int ran = 0;
  const auto code = [&](const kg::kernel_call& call) -> kg::tensor_list {
    return ++ran, kg::tensor_list{call.input("x")};
  };
  add("Neg", code, kg::only(dtype::float64));
  EXPECT_EQ(kg::neg(tensor(1.0)).item(), 1);
  EXPECT_NE(refusal([] { return kg::neg(tensor(1.f)); }), accepted);
  EXPECT_NE(refusal([] { return kg::run_kernel("Neg", {{"x", tensor(1.f)}}); }), accepted);
  EXPECT_EQ(ran, 1);
  scope.reset();
  const kg::registration on_simd =
      kg::scoped_kernel({.name = "Neg", .run = code, .dtypes = kg::only(dtype::float64)}, existing::replace);
  EXPECT_EQ(kg::run_kernel("Neg", {{"x", tensor(1.0)}}).item(), 1);
  EXPECT_EQ(kg::run_kernel("Neg", {{"x", tensor(1.f)}}).item(), -1) << "the built-in one has the other dtypes";
  EXPECT_EQ(ran, 2);
}

TEST_F(own_backend, its_kernels_are_recorded_with_the_rule_of_the_op_and_not_what_they_call) {
  kg::set_fallback(kg::fallback::by_priority);
  add("Square", [](const kg::kernel_call& call) -> kg::tensor_list {
    const kg::backend_scope host(kg::backend::simd);
    return {call.input("x") * call.input("x")};
  });
  EXPECT_EQ(kg::grad([](const tensor& x) { return kg::sum(kg::square(x)); })(tensor({3.0})).item(), 6);
}

TEST(a_replaced_gradient, sees_attributes_that_were_not_given_as_not_given) {
  std::optional<bool> seen;
  const kg::registration gradient =
      kg::scoped_gradient({.name = "Sum",
                           .run = [&](const kg::gradient_call& call) -> std::vector<kg::named_operand> {
                             seen = call.attr("axis", -77).kind() == attr_kind::absent;
                             return {{"x", tensor({0.0, 0.0})}};
                           }},
                          existing::replace);
  static_cast<void>(kg::grad([](const tensor& x) { return kg::run_kernel("Sum", {{"x", x}}); })(tensor({1.0, 2.0})));
  ASSERT_TRUE(seen);
  EXPECT_FALSE(*seen) << "the default that the rule asks with";
}

// ------------------------------------------------------------------------------------------ schemas

// Tells what it was called with: "x,y|n=3|...".
std::string last_call;
kg::tensor_list tell(const kg::kernel_call& call) {
  last_call.clear();
  for (const kg::operand_ref& x : call.operands())
    last_call += std::string(x.name) + (x.tensors.size() > 1 ? std::to_string(x.tensors.size()) : "") + ",";
  for (const kg::attribute_ref& a : call.attrs()) last_call += "|" + std::string(a.name) + "=" + to_string(a.value);
  return {tensor(1.f)};
}
kg::registration with_schema(kg::kernel_schema schema) {
  return kg::scoped_kernel({.name = "Told", .run = tell, .schema = std::move(schema)});
}
std::string told(std::initializer_list<kg::operand_ref> operands, std::initializer_list<kg::attribute_ref> attrs = {}) {
  last_call = "not run";
  const std::string text = refusal([&] { return kg::run_kernel("Told", operands, attrs); });
  return text == accepted ? last_call : last_call == "not run" ? text : "ran, and " + text;
}

TEST(a_schema, orders_operands_and_lets_optional_ones_out) {
  const kg::registration kernel = with_schema({.operands = {{"x", kg::floating},
                                                            {"y", kg::floating},
                                                            {"bias", kg::floating, kg::role::value, true},
                                                            {"scale", kg::floating, kg::role::value, true}}});
  const tensor v({1.f});
  EXPECT_EQ(told({{"y", v}, {"x", v}}), "x,y,");
  EXPECT_EQ(told({{"scale", v}, {"y", v}, {"x", v}}), "x,y,scale,");
  EXPECT_EQ(told({{"bias", v}, {"y", v}, {"scale", tensor()}, {"x", v}}), "x,y,bias,");
  EXPECT_TRUE(says(told({{"x", v}}), {"[Told]", "no operand y"}));
  EXPECT_TRUE(says(told({{"x", v}, {"y", tensor()}}), {"no operand y"}));
  EXPECT_TRUE(says(told({{"x", v}, {"y", v}, {"z", v}}), {"\"z\"", "x, y, bias, scale"}));
  EXPECT_TRUE(says(told({{"x", v}, {"y", v}, {"x", v}}), {"x twice"}));
  EXPECT_TRUE(says(told({{"x", v}, {"y", tensor({1})}}), {"y", "int32", "float32, float64"}));
  EXPECT_TRUE(says(told({{"x", std::vector{v, v}}, {"y", v}}), {"a list of 2"}));
  EXPECT_TRUE(says(told({kg::operand_ref(v), kg::operand_ref(v)}), {"operand \"\""}));
}

TEST(a_schema, takes_a_list_or_a_single_operand_without_name) {
  const tensor v({1.f});
  {
    const kg::registration kernel = with_schema({.operands = {{"xs", kg::floating, kg::role::value, false, true}}});
    EXPECT_EQ(told({{"xs", std::vector{v, v, v}}}), "xs3,");
    EXPECT_EQ(told({{"xs", v}, {"xs", std::vector{v}}}), "xs2,") << "one list";
    EXPECT_TRUE(says(told({}), {"[Told]", "0 operands"}));
    EXPECT_TRUE(says(told({{"xs", std::vector{v, tensor({1})}}}), {"xs[1]", "int32"}));
    EXPECT_TRUE(says(told({{"xs", std::vector{v, tensor()}}}), {"xs[1]"}));
  }
  const kg::registration kernel = with_schema({.operands = {{"x", kg::floating}}});
  EXPECT_EQ(told({kg::operand_ref(v)}), "x,");
  EXPECT_NE(
      refusal([] {
        return with_schema({.operands = {{"x", kg::floating}, {"xs", kg::floating, kg::role::value, false, true}}});
      }),
      accepted);
}

TEST(a_schema, gives_attributes_their_defaults_kinds_and_ranges) {
  const kg::registration kernel =
      with_schema({.attrs = {{"must", attr_kind::number, "a must", true},
                             {"count", attr_kind::integer, "a count", false, 3, {}, 1, 5},
                             {"flag", attr_kind::boolean, "a flag", false, 1},
                             {"mode", attr_kind::text, "a mode", false, 0, "slow|fast"},
                             {"type", attr_kind::dtype, "a dtype", false, static_cast<double>(dtype::int64)},
                             {"sizes", attr_kind::list, "sizes", false, 0, {}, 0, 9}}});
  EXPECT_EQ(told({}, {{"must", 2}}), "|must=2|count=3|flag=true|mode=\"slow\"|type=int64");
  EXPECT_EQ(told({}, {{"sizes", {1, 2}}, {"count", 5.0}, {"must", 0.5}, {"mode", "fast"}, {"flag", false}}),
            "|must=0.5|count=5|flag=false|mode=\"fast\"|type=int64|sizes=[1, 2]");
  EXPECT_TRUE(says(told({}), {"no attribute must", "a must"}));
  for (const kg::attribute_ref& wrong : std::vector<kg::attribute_ref>{{"count", 0},
                                                                       {"count", 6},
                                                                       {"count", 2.5},
                                                                       {"count", "2"},
                                                                       {"flag", 1},
                                                                       {"mode", "medium"},
                                                                       {"mode", "slow|fast"},
                                                                       {"mode", ""},
                                                                       {"type", 3},
                                                                       {"sizes", {1, 10}},
                                                                       {"sizes", 4},
                                                                       {"must", true},
                                                                       {"other", 1}}) {
    const kg::attribute_ref must("must", 1);
    const std::string text = wrong.name == "must" ? told({}, {wrong}) : told({}, {must, wrong});
    EXPECT_TRUE(says(text, {"[Told]", wrong.name})) << wrong.name << ": " << text;
  }
  EXPECT_TRUE(says(told({}, {{"must", 1}, {"must", 1}}), {"must twice"}));
}

TEST(a_schema, copies_its_texts_and_is_limited) {
  kg::registration kernel;
  {
    std::string name = "an operand with a long name, on the heap", attr = "an attribute with a long name";
    kernel = with_schema({.operands = {{name, kg::floating}}, .attrs = {{attr, attr_kind::integer, "", false, 4}}});
    std::fill(name.begin(), name.end(), '?'), std::fill(attr.begin(), attr.end(), '?');
  }
  EXPECT_EQ(told({{"an operand with a long name, on the heap", tensor({1.f})}}),
            "an operand with a long name, on the heap,|an attribute with a long name=4");
  kernel.release();
  const std::vector<kg::operand> nine(9, {"x", kg::floating});
  EXPECT_NE(refusal([&] { return with_schema({.operands = nine}); }), accepted);
  const std::vector<kg::attr_spec> many(17, {"n", attr_kind::integer, ""});
  EXPECT_NE(refusal([&] { return with_schema({.attrs = many}); }), accepted);
}

TEST(a_gradient_of_a_kernel, finds_an_operand_that_was_passed_without_its_name) {
  const kg::registration kernel = kg::scoped_kernel(
      {.name = "Told", .run = [](const kg::kernel_call& c) { return kg::tensor_list{c.input("x") * c.input("x")}; }});
  const kg::registration gradient = kg::scoped_gradient(
      {.name = "Told", .saves_inputs = {"x"}, .run = [](const kg::gradient_call& c) -> std::vector<kg::named_operand> {
         EXPECT_TRUE(c.wants("x"));
         EXPECT_EQ(c.count("x"), 1);
         EXPECT_EQ(c.of("x").type, dtype::float64);
         return {{"x", c.dy() * c.input("x") * 2}};
       }});
  EXPECT_EQ(kg::grad([](const tensor& x) { return kg::run_kernel("Told", {kg::operand_ref(x)}); })(tensor(3.0)).item(),
            6);
}

// ------------------------------------------------------------------------------------------ handles

TEST(a_kernel_handle, goes_on_with_its_kernel_when_that_is_replaced_or_leaves) {
  const auto gives = [](float value) {
    return [value](const kg::kernel_call&) -> kg::tensor_list { return {tensor(value)}; };
  };
  kg::register_kernel({.name = "Value", .run = gives(1)});
  const kg::kernel_handle first = kg::find_kernel("Value");
  kg::register_kernel({.name = "Value", .run = gives(2)}, existing::replace);
  const kg::kernel_handle second = kg::find_kernel("Value");
  EXPECT_EQ(first({}).item(), 1);
  EXPECT_EQ(second({}).item(), 2);
  kg::unregister_kernel("Value");
  EXPECT_EQ(first({}).item(), 1);
  EXPECT_EQ(second({}).item(), 2);
  EXPECT_NE(refusal([] { return kg::find_kernel("Value"); }), accepted);
  EXPECT_EQ(second.name(), "Value");
}

TEST(a_kernel_handle, goes_on_when_its_backend_is_removed) {
  const auto memory = std::make_shared<kgtest::arena>();
  kg::register_backend("mine", [&]() -> std::shared_ptr<kg::storage> { return memory; });
  kg::register_kernel(kgtest::arena_kernel("Twice", "mine", memory, [](float x) { return 2 * x; }));
  std::optional<kg::kernel_handle> handle;
  {
    const kg::backend_scope here("mine");
    handle = kg::find_kernel("Twice");
  }
  EXPECT_EQ((*handle)({{"x", tensor({2.f})}}).item(), 4) << "on the backend that it was found on";
  kgtest::forget("mine");
  EXPECT_EQ((*handle)({{"x", tensor({2.f})}}).item(), 4);
}

TEST(a_kernel_handle, on_tensors_is_the_call_by_name) {
  const kg::kernel_handle add = kg::find_kernel("Add"), sum = kg::find_kernel("Sum");
  EXPECT_EQ(add({{"a", tensor({1, 2})}, {"b", tensor(0.5f)}}).to_doubles(), (doubles{1.5, 2.5}));
  EXPECT_NE(refusal([&] { return add({{"a", tensor({1, 2})}}); }), accepted);
  const auto f = [&](const tensor& x) { return sum({{"x", add({{"a", x}, {"b", x}})}}); };
  EXPECT_EQ(kg::grad(f)(tensor({1.0, 2.0})).to_doubles(), (doubles{2, 2}));
}

TEST(a_kernel_handle, has_its_attributes_on_tensors_too_unless_a_call_gives_others) {
  const kg::kernel_handle leaky = kg::find_kernel("LeakyRelu", {{"alpha", 0.5}}),
                          sum = kg::find_kernel("Sum", {{"axis", 0}, {"keepDims", true}});
  const tensor x({-2.0, 4.0});
  EXPECT_EQ(leaky({{"x", x}}).to_doubles(), (doubles{-1, 4}));
  EXPECT_EQ(leaky({{"x", x}}, {{"alpha", 0.25}}).to_doubles(), (doubles{-0.5, 4}));
  EXPECT_EQ(kg::grad([&](const tensor& y) { return leaky({{"x", y}}); })(x).to_doubles(), (doubles{0.5, 1}));
  EXPECT_EQ(sum({{"x", x}}).rank(), 1);
  EXPECT_EQ(sum({{"x", x}}, {{"keepDims", false}}).rank(), 0);
  EXPECT_NE(refusal([] { return kg::find_kernel("Sum", {{"axes", 0}}); }), accepted);
  EXPECT_NE(refusal([] { return kg::find_kernel("Sum", {{"keepDims", "yes"}}); }), accepted);
  const kg::registration scale = kg::scoped_kernel(
      {.name = "Scale",
       .run = [](const kg::kernel_call& c) -> kg::tensor_list { return {c.input("x") * c.attr("by").as_number()}; },
       .schema = kg::kernel_schema{.operands = {{"x", kg::floating}},
                                   .attrs = {{"by", attr_kind::number, "a factor", true}}}});
  EXPECT_EQ(kg::find_kernel("Scale", {{"by", 3}})({{"x", x}}).to_doubles(), (doubles{-6, 12}));
  EXPECT_TRUE(says(refusal([] { return kg::find_kernel("Scale", {{"by", "much"}}); }), {"[Scale]", "by", "a factor"}));
}

TEST(a_schema, that_no_call_could_satisfy_is_refused_when_it_is_registered) {
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  const auto no_kind = [](int number) { return static_cast<attr_kind>(number); };
  const std::string long_text(128, 'x');
  const std::vector<std::pair<std::vector<kg::attr_spec>, const char*>> attrs = {
      {{{"", attr_kind::number, ""}}, "without a name"},
      {{{"n", attr_kind::absent, ""}}, "attribute n of kind 0"},
      {{{"n", no_kind(kg::attr_kind_count), ""}}, "attribute n of kind 8"},
      {{{"n", no_kind(255), "", true}}, "attribute n of kind 255"},
      {{{"n", attr_kind::number, ""}, {"n", attr_kind::integer, ""}}, "attribute n twice"},
      {{{.name = "n", .kind = attr_kind::number, .doc = "", .least = 2, .most = 1}}, "an empty range"},
      {{{.name = "n", .kind = attr_kind::list, .doc = "", .least = nan}}, "an empty range"},
      {{{.name = "n", .kind = attr_kind::number, .doc = "", .required = true, .most = nan}}, "an empty range"},
      {{{"n", attr_kind::dtype, "", false, 99}}, "attribute n of kind dtype with the default 99"},
      {{{"n", attr_kind::dtype, "", false, -1}}, "with the default -1"},
      {{{"n", attr_kind::dtype, "", false, nan}}, "with the default nan"},
      {{{"n", attr_kind::dtype, "", false, 0.5}}, "with the default 0.5"},
      {{{"n", attr_kind::integer, "", false, nan}}, "with the default nan"},
      {{{"n", attr_kind::integer, "", false, inf}}, "with the default inf"},
      {{{"n", attr_kind::integer, "", false, 1e300}}, "with the default 1e+300"},
      {{{"n", attr_kind::integer, "", false, 0.5}}, "with the default 0.5"},
      {{{.name = "n", .kind = attr_kind::integer, .doc = "", .least = 1}}, "with the default 0"},
      {{{.name = "n", .kind = attr_kind::number, .doc = "", .fallback = nan, .most = 1}}, "with the default nan"},
      {{{"n", attr_kind::boolean, "", false, 2}}, "with the default 2"},
      {{{"n", attr_kind::text, ""}}, "neither choices nor"},
      {{{.name = "n", .kind = attr_kind::text, .doc = "", .choices = long_text}}, "more than 127 bytes"}};
  const auto said = [](kg::kernel_schema schema) {
    return refusal([&] {
      kg::register_kernel({.name = "Odd",
                           .run = [](const kg::kernel_call&) { return kg::tensor_list(); },
                           .schema = std::move(schema)});
      return 0;
    });
  };
  for (const auto& [list, reason] : attrs)
    EXPECT_TRUE(says(said({.attrs = list}), {"register_kernel", reason})) << reason << ": " << said({.attrs = list});
  const std::vector<std::pair<std::vector<kg::operand>, const char*>> operands = {
      {{{"", kg::any_dtype}}, "without a name"},
      {{{"x", kg::any_dtype}, {"x", kg::floating}}, "operand x twice"},
      {{{"x", kg::dtype_set{}}}, "operand x without dtypes"},
      {{{"x", kg::dtype_set{0x8001}}}, "operand x with dtypes that do not exist"},
      {{{"x", kg::any_dtype, static_cast<kg::role>(9)}}, "operand x of an unknown role"}};
  for (const auto& [list, reason] : operands)
    EXPECT_TRUE(says(said({.operands = list}), {"register_kernel", reason})) << reason;
  EXPECT_FALSE(kg::get_kernel("Odd"));
}

TEST(a_dtype_that_does_not_exist, is_refused_by_every_door) {
  const dtype none = static_cast<dtype>(99);
  const tensor x({1.f, 2.f}), at({0, 1});
  const auto scale = [](const kg::kernel_call& c) -> kg::tensor_list {
    return {c.make(none, c.input("x").dims()).result};
  };
  const kg::registration maker = kg::scoped_kernel({.name = "Maker", .run = scale});
  const std::vector<std::function<std::string()>> doors = {
      [&] { return refusal([&] { return kg::cast(x, none); }); },
      [&] { return refusal([&] { return kg::zeros({2}, none); }); },
      [&] { return refusal([&] { return kg::one_hot(at, 2, 1, 0, none); }); },
      [&] { return refusal([&] { return kg::random_uniform({2}, 0, 1, 1, none); }); },
      [&] { return refusal([&] { return kg::call<"Cast">(x, kg::attr<"dtype">(none)); }); },
      [&] { return refusal([&] { return kg::run_kernel("Cast", {{"x", x}}, {{"dtype", none}}); }); },
      [&] {
        return refusal([&] { return kg::run_kernel("Fill", {}, {{"shape", {2}}, {"value", 1}, {"dtype", none}}); });
      },
      [&] { return refusal([&] { return kg::find_kernel("Cast", {{"dtype", none}}); }); },
      [&] { return refusal([&] { return kg::explain("Cast", {{"x", x}}, {{"dtype", none}}); }); },
      [&] {
        const std::vector<kg::operand_signature> of = {{"x", {{{2}, none}}}};
        return refusal([&] { return kg::explain("Exp", of); });
      },
      [&] { return refusal([&] { return kg::run_kernel("Maker", {{"x", x}}); }); }};
  for (std::size_t i = 0; i < doors.size(); ++i) EXPECT_TRUE(says(doors[i](), {"dtype 99"})) << i << ": " << doors[i]();
  EXPECT_EQ(kg::name_of(none), "no dtype");
  EXPECT_EQ(kg::name_of(static_cast<attr_kind>(99)), "no kind");
}

TEST(a_kernel_handle, on_spans_is_refused_other_sizes_dtypes_and_ops) {
  const std::vector<float> a = {1, 2, 3}, b = {4, 5, 6};
  std::vector<float> y(3, -1), shorter(2, -1);
  const std::span<const float> in(a), other(b);
  const std::span<float> out(y), small(shorter);
  const kg::kernel_handle add = kg::find_kernel("Add"), exp = kg::find_kernel("Exp"), sum = kg::find_kernel("Sum"),
                          leaky = kg::find_kernel("LeakyRelu", {{"alpha", 0.5}});
  add(in, other, out);
  EXPECT_EQ(y, (std::vector<float>{5, 7, 9}));
  leaky(in, out);
  EXPECT_EQ(y, a);
  const std::vector<std::string> refused = {
      refusal([&] { return add(in, other, small), 0; }),
      refusal([&] { return add(in, other.first(2), out), 0; }),
      refusal([&] { return add(in.first(2), other.first(2), out), 0; }),
      refusal([&] { return exp(in, small), 0; }),
      refusal([&] { return leaky(in, small), 0; }),
      refusal([&] { return add(in, out), 0; }),
      refusal([&] { return exp(in, other, out), 0; }),
      refusal([&] { return sum(in, out), 0; }),
  };
  for (const std::string& text : refused) EXPECT_NE(text, accepted);
  EXPECT_TRUE(says(refused[0], {"[Add]", "3, 3 and 2", "one size"})) << refused[0];
  EXPECT_EQ(y, a) << "nothing was written";
  const std::vector<std::int32_t> whole = {1};
  std::vector<std::int32_t> result(1);
  EXPECT_NE(refusal([&] { return exp(std::span<const std::int32_t>(whole), std::span<std::int32_t>(result)), 0; }),
            accepted);
  EXPECT_NE(refusal([] { return kg::find_kernel("LeakyRelu", {{"beta", 1}}); }), accepted);
  EXPECT_NE(refusal([] { return kg::find_kernel("LeakyRelu", {{"alpha", "x"}}); }), accepted);
}

TEST(a_kernel_handle, that_is_empty_is_refused) {
  const kg::kernel_handle none;
  const std::vector<float> a(2);
  std::vector<float> y(2);
  EXPECT_TRUE(says(refusal([&] { return none({}); }), {"without a kernel"}));
  EXPECT_TRUE(says(refusal([&] { return none.name(); }), {"without a kernel"}));
  EXPECT_TRUE(
      says(refusal([&] { return none(std::span<const float>(a), std::span<float>(y)), 0; }), {"without a kernel"}));
}

}  // namespace
