// SPDX-License-Identifier: Apache-2.0
// Wrong calls of every op, as the test kit makes them, those included that ask for more memory than there is; and what
// the errors say.
#include <gtest/gtest.h>

#include <sys/resource.h>

#include <algorithm>
#include <limits>
#include <string>

#include "tests/support/full.h"
#include "tests/support/refusal.h"
#include "tests/support/under_asan.h"

import kerngrad.testkit;

// A request that no machine can meet has to come back as an error under the sanitizer too.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }

namespace {

using kg::testkit::check;
using kgtest::accepted;
using kgtest::refusal;

// Keeps a huge but legal request from being granted by a system that lends memory it does not have.
class bad_calls : public ::testing::TestWithParam<std::string> {
 public:
  static void SetUpTestSuite() {
#if !KG_UNDER_ASAN
    rlimit limit{};
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, rlim_t{4} << 30);
    setrlimit(RLIMIT_AS, &limit);
#endif
  }
};

TEST_P(bad_calls, are_refused_or_legal_and_leave_nothing_behind_however_large_they_are) {
  kg::testkit::options how;
  how.largest_result = std::numeric_limits<std::int64_t>::max();
  how.thorough = kgtest::full();
  for (int c = 0; c < kg::testkit::check_count; ++c)
    if (const check by = static_cast<check>(c); by != check::bad_calls)
      how.without.push_back({by, "every_op.cc has it, with large results skipped"});
  const kg::testkit::report found = kg::testkit::check_op(GetParam(), how);
  EXPECT_TRUE(found) << found;
  EXPECT_GE(found.count(check::bad_calls), how.thorough ? 500 : 70);
}

INSTANTIATE_TEST_SUITE_P(rows, bad_calls, ::testing::ValuesIn(kg::op_names()),
                         [](const auto& info) { return info.param; });

// ------------------------------------------------------------------------------------------ texts

TEST(errors, name_the_op_what_was_got_what_is_wanted_and_what_to_do) {
  const kg::tensor a = kg::zeros({2, 3}), b = kg::zeros({4, 5});
  const std::string text = refusal([&] { return kg::matmul(a, b); });
  for (const char* part : {"[kg::matmul]", "[2, 3]", "[4, 5]", "wanted"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
  const std::string shapes = refusal([&] { return a + b; });
  for (const char* part : {"[kg::add]", "[2, 3]", "[4, 5]", "broadcast", "reshape"})
    EXPECT_NE(shapes.find(part), std::string::npos) << shapes;
}

TEST(errors, name_the_operand_and_the_dtypes_that_it_takes) {
  const std::string text =
      refusal([] { return kg::conv2d(kg::zeros({1, 4, 4, 1}, kg::dtype::int32), kg::zeros({2, 2, 1, 1})); });
  for (const char* part : {"[kg::conv2d]", "operand x", "int32", "float32, float64"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
}

// Covers functions whose name differs from that of the op, and ops that several functions call.
TEST(errors, name_the_function_or_the_op_as_the_caller_did) {
  const kg::tensor x({1.f, 2.f}), y({1.f, 2.f, 3.f});
  const kg::kernel_handle product = kg::find_kernel("BatchMatMul");
  struct wrong_call {
    const char* named;
    std::string text;
  };
  const wrong_call calls[] = {
      {"[kg::add] ", refusal([&] { return x + y; })},
      {"[kg::mul] ", refusal([&] { return kg::multiply(x, y); })},
      {"[kg::div] ", refusal([&] { return kg::call<"RealDiv">(x, y); })},
      {"[kg::matmul] ", refusal([&] { return kg::matmul(kg::ones({2, 3}), kg::ones({2, 3})); })},
      {"[kg::pad] ", refusal([&] { return kg::pad(x, {1}); })},
      {"[kg::broadcast_to] ", refusal([&] { return kg::broadcast_to(x, {3}); })},
      {"[kg::segment_mean|prod|max|min] ", refusal([&] { return kg::segment_max(x, x, 2); })},
      {"[Add] ", refusal([&] { return kg::run_kernel("Add", {{"a", x}, {"b", y}}); })},
      {"[Add] ", refusal([&] { return kg::run_kernel("Add", {{"a", x}, {"c", y}}); })},
      {"[Add] ", kg::explain("Add", {{"a", x}, {"b", y}}).refusal},
      {"[BatchMatMul] ", refusal([&] { return product({{"a", kg::ones({2, 3})}, {"b", kg::ones({2, 3})}}); })},
      {"[LeakyRelu] ", refusal([&] { return kg::find_kernel("LeakyRelu", {{"alpha", "steep"}}); })},
  };
  for (const wrong_call& call : calls) EXPECT_TRUE(call.text.starts_with(call.named)) << call.named << call.text;
}

TEST(errors, name_the_attribute_and_its_legal_values) {
  const std::string text = refusal([] {
    kg::run_kernel("Conv2D", {{"x", kg::zeros({1, 4, 4, 1})}, {"filter", kg::zeros({2, 2, 1, 1})}},
                   {{"pad", "valid"}, {"dataFormat", "NWHC"}});
  });
  for (const char* part : {"[Conv2D]", "dataFormat", "NWHC", "NHWC|NCHW"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(errors, of_an_unknown_kernel_name_what_sounds_alike) {
  const std::string text = refusal([] { return kg::run_kernel("Conv2d", {{"x", kg::tensor(1.f)}}); });
  for (const char* part : {"Conv2d", "Conv2D", "simd"}) EXPECT_NE(text.find(part), std::string::npos) << text;
}

TEST(errors, of_an_unknown_kernel_name_begin_with_the_nearest_name) {
  constexpr std::pair<const char*, const char*> unknown[] = {{"Ad", "Add"}, {"Conv2d", "Conv2D"}, {"Exp3", "Exp"},
                                                             {"Lo", "Log"}, {"Tran", "Tan"},      {"SumX", "Sum"}};
  for (const auto& [name, nearest] : unknown) {
    const std::vector<std::string> similar = kg::explain(name).similar;
    ASSERT_FALSE(similar.empty()) << name;
    EXPECT_EQ(similar.front(), nearest) << name;
    EXPECT_NE(refusal([&] { return kg::run_kernel(name, {}); }).find(std::string("such as ") + nearest),
              std::string::npos);
  }
}

TEST(errors, refuse_an_operand_or_attribute_that_is_given_twice) {
  const kg::tensor x({1.f});
  EXPECT_NE(refusal([&] { return kg::run_kernel("Relu", {{"x", x}, {"x", x}}); }), accepted);
  EXPECT_NE(refusal([&] { return kg::run_kernel("LeakyRelu", {{"x", x}}, {{"alpha", 0.1}, {"alpha", 0.2}}); }),
            accepted);
}

// Shapes without elements take no memory, whatever their other sizes: sums and products of sizes are checked as such.
TEST(sizes, are_added_and_multiplied_without_overflow) {
  constexpr std::int64_t large = std::int64_t{1} << 58;
  const kg::tensor wide = kg::zeros({0, large});
  const auto by_name = [](const char* op, const kg::tensor& x, const std::vector<kg::named_attribute>& attrs) {
    return refusal([&] { return kg::run_kernel_list(op, std::vector<kg::named_operand>{{"x", x}}, attrs); });
  };
  using integers = std::vector<std::int64_t>;
  integers parts(10, 1000000000000000000);
  parts.push_back(-1);
  const kg::tensor five = kg::zeros({5});
  EXPECT_EQ(refusal([&] { return kg::concat(std::vector<kg::tensor>(64, wide), 1); }),
            "[kg::concat] got sizes that add up to more than 2^58; wanted at most 2^58");
  EXPECT_EQ(by_name("SplitV", five, {{"numOrSizeSplits", parts}}),
            "[SplitV] got sizes that add up to more than 2^58; wanted at most 2^58");
  EXPECT_NE(refusal([&] { return kg::stack(std::vector<kg::tensor>(3, wide)); }), accepted);
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  for (const std::string& text : {by_name("PadV2", five, {{"paddings", integers{most, most}}}),
                                  by_name("PadV2", wide, {{"paddings", integers{0, 0, large, large}}}),
                                  by_name("Tile", wide, {{"reps", integers{1, 64}}}),
                                  by_name("Reshape", wide, {{"shape", integers{1 << 30, 1 << 30, 16, -1}}}),
                                  by_name("BroadcastTo", kg::zeros({1, 1}), {{"shape", integers{large, 64}}}),
                                  by_name("Reshape", wide, {{"shape", integers{0, large, 64}}})})
    EXPECT_NE(text, accepted);
  EXPECT_EQ(by_name("Tile", wide, {{"reps", integers{most, 1}}}), accepted) << "nothing, however often";
  EXPECT_EQ(kg::concat(std::vector<kg::tensor>(64, kg::zeros({0, large / 64})), 1).dims(), (kg::shape{0, large}));
}

TEST(bounds_of_created_tensors, are_in_order_and_held_by_the_dtype) {
  for (const std::string& text : {refusal([] { return kg::random_uniform({4}, 2, 1, 7); }),
                                  refusal([] { return kg::random_uniform({4}, 0, 1e39, 7); }),
                                  refusal([] { return kg::random_uniform({4}, 0.5, 9, 7, kg::dtype::int32); }),
                                  refusal([] { return kg::linspace(-1e308, 1e308, 3); }),
                                  refusal([] { return kg::arange(-1e308, 1e308, 1e290, kg::dtype::float64); })})
    EXPECT_NE(text, accepted);
  EXPECT_EQ(kg::linspace(-1e308, 1e308, 3, kg::dtype::float64).to_doubles(), (std::vector<double>{-1e308, 0, 1e308}));
  EXPECT_EQ(kg::arange(-1e308, 1e308, 1e308, kg::dtype::float64).to_doubles(), (std::vector<double>{-1e308, 0}));
  EXPECT_EQ(kg::linspace(1, 2, 0).dims(), kg::shape{0}) << "of no numbers";
  EXPECT_EQ(kg::linspace(-3e38, 3e38, 5).to_doubles()[3], static_cast<double>(1.5e38f));
  EXPECT_EQ(kg::random_uniform({2}, 1.5, 1.5, 7).to_doubles(), (std::vector<double>{1.5, 1.5}));
}

TEST(errors, refuse_parts_that_are_more_than_memory_holds) {
  const kg::tensor empty = kg::zeros({0, 4});
  EXPECT_NE(refusal([&] { return kg::split(empty, 1 << 20); }), accepted) << "millions of results";
}

// A row whose rule does not resolve the axes that its calling convention needs.
struct Unresolved {
  static constexpr kg::operand operands[] = {{"x", kg::only(kg::dtype::float32)}};
  static constexpr kg::op_row row{.name = "Unresolved",
                                  .doc = "Nothing: it is refused.",
                                  .group = kg::family::reduce,
                                  .operands = operands,
                                  .infer = kg::shapes::same,
                                  .convention = kg::convention::reduce,
                                  .no_gradient = "it only throws"};
  static void run(const void* const*, void* const*, const void*) {}
  static constexpr auto kernels = kg::kernel_list(kg::own_kernel{kg::dtype::float32, {.run = run}});
};

TEST(a_call, is_refused_when_the_shape_rule_of_its_row_leaves_nothing_for_the_launcher) {
  const std::string text = refusal([] { return kg::call<Unresolved>(kg::tensor({1.f})); });
  for (const char* part : {"[Unresolved]", "does not resolve", "kg::shapes"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
}

}  // namespace
