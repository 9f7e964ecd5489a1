// SPDX-License-Identifier: Apache-2.0
// Wrong calls, thousands of them, generated from the rows: each is refused with the library's one exception type, or is
// legal after all; nothing else is thrown, nothing crashes, nothing is leaked. Calls that are surely wrong are refused.
#include <gtest/gtest.h>

#include <sys/resource.h>

#include "tests/support/bad_calls.h"
#include "tests/support/refusal.h"

// A request that no machine can meet has to come back as an error under the sanitizer too.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }

namespace {

using namespace kgtest;

constexpr std::size_t calls_per_op = 500;
constexpr double least_refused = 0.3;  // of all calls: the legal rest are other shapes and dtypes that an op takes too

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KG_TEST_SANITIZED 1
#endif
#endif

// Keeps a huge but legal request from being granted by a system that lends memory it does not have. (A sanitizer
// reserves more address space than that for itself.)
class bad_calls : public ::testing::TestWithParam<std::string> {
 public:
  static void SetUpTestSuite() {
#ifndef KG_TEST_SANITIZED
    rlimit limit{};
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, rlim_t{4} << 30);
    setrlimit(RLIMIT_AS, &limit);
#endif
  }
};

enum class outcome { refused, accepted, broken };

outcome try_call(const std::string& name, const bad_call& call, std::string& text) {
  try {
    kg::run_kernel_list(name, call.operands, call.attrs);
    return outcome::accepted;
  } catch (const kg::error& e) {
    text = e.what();
    return text.starts_with("[") && !e.op().empty() && !e.got().empty() ? outcome::refused : outcome::broken;
  } catch (const std::exception& e) {
    text = std::string("another exception: ") + e.what();
    return outcome::broken;
  }
}

TEST_P(bad_calls, are_refused_or_legal_and_leave_nothing_behind) {
  const kg::op_row& row = row_named(GetParam());
  const auto all = bad_calls_of(row, calls_per_op);
  ASSERT_GE(all.size(), calls_per_op) << "no samples: add some to tests/support/sample_table.h";
  const std::size_t stride = run_everything() ? 1 : 7;
  std::size_t made = 0, refused = 0;
  for (std::size_t i = 0; i < all.size(); i += stride) {
    const bad_call call = all[i]();
    const kg::memory_info before = kg::memory();
    std::string text;
    const outcome result = try_call(GetParam(), call, text);
    const kg::memory_info after = kg::memory();
    ++made;
    refused += result == outcome::refused;
    EXPECT_TRUE(result != outcome::broken) << call.label << "\n" << text;
    EXPECT_TRUE(call.expected == verdict::either || result != outcome::accepted) << "accepted: " << call.label;
    EXPECT_EQ(after.live_buffers, before.live_buffers) << call.label;
    EXPECT_EQ(after.live_bytes, before.live_bytes) << call.label;
  }
  EXPECT_GE(static_cast<double>(refused), least_refused * static_cast<double>(made));
}

// The same while a gradient is recorded: the tape is as usable afterwards as before.
TEST_P(bad_calls, leave_a_recording_usable) {
  const kg::op_row& row = row_named(GetParam());
  const auto all = bad_calls_of(row, calls_per_op);
  const std::size_t stride = run_everything() ? 11 : 97;
  const kg::tensor slope = kg::grad([&](const kg::tensor& x) {
    for (std::size_t i = 0; i < all.size(); i += stride) {
      bad_call call = all[i]();
      for (kg::named_operand& o : call.operands)
        for (kg::tensor& t : o.tensors)
          if (t.defined() && t.dims() == x.dims() && t.type() == x.type()) t = x;
      std::string text;
      EXPECT_TRUE(try_call(GetParam(), call, text) != outcome::broken) << call.label << "\n" << text;
    }
    return kg::sum(x * x);
  })(kg::tensor({1.0, 2.0, 3.0, 4.0, 5.0, 6.0}, {2, 3}));
  EXPECT_EQ(slope.to_doubles(), (std::vector<double>{2, 4, 6, 8, 10, 12}));
}

INSTANTIATE_TEST_SUITE_P(rows, bad_calls, ::testing::ValuesIn(op_names(false)),
                         [](const auto& info) { return info.param; });

// ------------------------------------------------------------------------------------------ texts

TEST(errors, name_the_op_what_was_got_what_is_wanted_and_what_to_do) {
  const kg::tensor a = kg::zeros({2, 3}), b = kg::zeros({4, 5});
  const std::string text = refusal([&] { return kg::matmul(a, b); });
  for (const char* part : {"[BatchMatMul]", "[2, 3]", "[4, 5]", "wanted"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
  const std::string shapes = refusal([&] { return a + b; });
  for (const char* part : {"[Add]", "[2, 3]", "[4, 5]", "broadcast", "reshape"})
    EXPECT_NE(shapes.find(part), std::string::npos) << shapes;
}

TEST(errors, name_the_operand_and_the_dtypes_that_it_takes) {
  const std::string text =
      refusal([] { return kg::conv2d(kg::zeros({1, 4, 4, 1}, kg::dtype::int32), kg::zeros({2, 2, 1, 1})); });
  for (const char* part : {"[Conv2D]", "operand x", "int32", "float32, float64"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
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

TEST(errors, refuse_an_operand_or_attribute_that_is_given_twice) {
  const kg::tensor x({1.f});
  EXPECT_NE(refusal([&] { return kg::run_kernel("Relu", {{"x", x}, {"x", x}}); }), accepted);
  EXPECT_NE(refusal([&] { return kg::run_kernel("LeakyRelu", {{"x", x}}, {{"alpha", 0.1}, {"alpha", 0.2}}); }),
            accepted);
}

TEST(errors, refuse_parts_that_are_more_than_memory_holds) {
  const kg::tensor empty = kg::zeros({0, 4});
  EXPECT_NE(refusal([&] { return kg::split(empty, 1 << 20); }), accepted) << "millions of results";
}

}  // namespace
