// SPDX-License-Identifier: Apache-2.0
// Finding the op that makes the first NaN or infinity.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/refusal.h"

namespace {

using kg::dtype;
using kg::tensor;
using kgtest::accepted;
using kgtest::refusal;

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

#define EXPECT_SAYS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

TEST(a_nan_check, names_the_op_of_a_chain_that_makes_the_first_nan) {
  const tensor x({3.f, 4.f, 1.f, 0.f}, {2, 2});
  const kg::nan_check guard;
  try {
    kg::exp(kg::log(x - 2.f) + 1.f);
    FAIL() << "the logarithm of -1";
  } catch (const kg::error& e) {
    EXPECT_EQ(e.op(), "kg::log");
    EXPECT_SAYS(e.got(), "a NaN at [1, 0] of result 0, float32 [2, 2], on simd " + kg::active_simd_target());
    EXPECT_SAYS(e.got(), "in the forward pass");
    EXPECT_SAYS(e.advice(), "operand x: float32 [2, 2], from -2 to 2, 0 NaN, 0 infinite");
  }
}

TEST(a_nan_check, finds_infinities_unless_told_otherwise) {
  const tensor a({1.f, 0.f}), b({1.f, 0.f}), big({1e38f});
  {
    const kg::nan_check guard;
    const std::string text = refusal([&] { return kg::div(tensor({1.f, -1.f}), b); });
    EXPECT_SAYS(text, "an infinity at [1]");
    EXPECT_SAYS(text, "operand a: float32 [2], from -1 to 1");
    EXPECT_SAYS(text, "operand b: float32 [2], from 0 to 1");
    EXPECT_SAYS(refusal([&] { return kg::mul(big, tensor(10.f)); }), "[kg::mul]");
    EXPECT_SAYS(refusal([] { return kg::cast(tensor({1e300}), dtype::float32); }), "[kg::cast]");
  }
  const kg::nan_check guard({.infinities = false});
  EXPECT_EQ(refusal([&] { return kg::div(tensor({1.f, -1.f}), b); }), accepted);
  EXPECT_SAYS(refusal([&] { return kg::div(a, b); }), "a NaN at [1]");
}

TEST(a_nan_check, lets_ops_pass_on_what_their_operands_had) {
  const tensor has_nan({1.f, nan}), has_infinity({1.f, inf}), one({1.f, 1.f});
  const kg::nan_check guard;
  EXPECT_EQ(refusal([&] { return kg::exp(has_nan) * one; }), accepted);
  EXPECT_EQ(refusal([&] { return kg::exp(has_infinity) + one; }), accepted);
  EXPECT_EQ(refusal([&] { return kg::div(has_nan, tensor(0.f)); }), accepted) << "an infinity beside a NaN";
  EXPECT_SAYS(refusal([&] { return has_infinity - has_infinity; }), "a NaN at [1]");
  EXPECT_SAYS(refusal([&] { return has_infinity - has_infinity; }), "from 1 to inf, 0 NaN, 1 infinite");
}

TEST(a_nan_check, lets_go_of_values_that_the_program_writes_itself) {
  const kg::nan_check guard({.operands = true});
  EXPECT_EQ(refusal([] { return tensor({nan}); }), accepted);
  EXPECT_EQ(refusal([] { return kg::full({2}, -std::numeric_limits<double>::infinity()); }), accepted);
}

TEST(a_nan_check, refuses_operands_before_the_kernel_runs_if_asked_to) {
  const tensor x({1.f, 2.f, nan}), y({1.f, -inf});
  const kg::nan_check guard({.operands = true});
  std::string text;
  const kg::profile_result p = kg::profile([&] { text = refusal([&] { return kg::exp(x); }); });
  EXPECT_SAYS(text, "[kg::exp] got a NaN at [2] of operand x, float32 [3]");
  EXPECT_TRUE(p.runs.empty());
  EXPECT_EQ(p.memory.size(), 0u);
  EXPECT_SAYS(refusal([&] { return kg::exp(y); }), "an infinity at [1] of operand x");
  const kg::nan_check nan_only({.infinities = false, .operands = true});
  EXPECT_SAYS(refusal([&] { return kg::exp(y); }), "infinity") << "the outer one still looks";
}

TEST(a_nan_check, finds_the_op_of_a_gradient_and_says_that_it_is_backward) {
  const tensor x({4.f, 0.f});
  auto slope = kg::grad([](const tensor& t) { return kg::sum(kg::sqrt(t)); });
  EXPECT_EQ(slope(x).to_doubles()[1], inf) << "1 / (2 sqrt(0))";
  const kg::nan_check guard;
  EXPECT_EQ(refusal([&] { return kg::sum(kg::sqrt(x)); }), accepted) << "the way forward is finite";
  try {
    slope(x);
    FAIL() << "an infinite slope";
  } catch (const kg::error& e) {
    EXPECT_EQ(e.op(), "kg::div") << "the rule divides by the root";
    EXPECT_SAYS(e.got(), "an infinity at [1]");
    EXPECT_SAYS(e.got(), "in the backward pass of a gradient");
  }
}

TEST(a_nan_check, leaves_values_kernels_and_gradients_as_they_are) {
  const tensor x({1.f, 2.f, 3.f});
  auto slope = kg::grad(kg::grad([](const tensor& t) { return kg::sum(kg::exp(t) * kg::sin(t)); }));
  tensor plain, guarded;
  const kg::profile_result without = kg::profile([&] { plain = slope(x); });
  const kg::nan_check guard;
  const kg::profile_result with = kg::profile([&] { guarded = slope(x); });
  EXPECT_EQ(guarded.to_doubles(), plain.to_doubles());
  EXPECT_EQ(with.runs.size(), without.runs.size()) << "it runs no kernels of its own";
  EXPECT_EQ(with.peak_bytes, without.peak_bytes);
}

TEST(a_nan_check, leaves_nothing_behind_when_it_throws) {
  const tensor x({-1.f});
  const kg::memory_scope scope;
  const kg::nan_check guard;
  EXPECT_NE(refusal([&] { return kg::grad([](const tensor& t) { return kg::log(t); })(x); }), accepted);
  EXPECT_EQ(scope.leaked(), kg::memory_growth{});
  EXPECT_EQ(kg::grad([](const tensor& t) { return kg::square(t); })(x).item(), -2);
}

TEST(a_nan_check, looks_at_doubles_and_both_parts_of_complex_numbers) {
  const kg::nan_check guard;
  EXPECT_SAYS(refusal([] { return kg::log(tensor({1., 2., -1.})); }), "float64 [3], from -1 to 2");
  const tensor z({kg::complex64{1, 2}, kg::complex64{3e38f, -3e38f}});
  const std::string text = refusal([&] { return kg::add(z, kg::complex(tensor({0.f, 0.f}), tensor({0.f, -3e38f}))); });
  EXPECT_SAYS(text, "an infinity at [1] of result 0, complex64 [2]");
  EXPECT_SAYS(text, "operand a: complex64 [2], from -3e+38 to 3e+38");
  EXPECT_EQ(refusal([] { return kg::add(tensor({1, 2}), tensor({2, 3})); }), accepted) << "integers have neither";
}

// A kernel whose result has these bits.
kg::registration maker_of(const std::string& name, dtype type, std::vector<std::uint16_t> bits) {
  kg::kernel_config config;
  config.name = name;
  config.dtypes = kg::any_dtype | kg::only(dtype::float16) | kg::only(dtype::bfloat16);
  config.run = [=](const kg::kernel_call& call) -> kg::tensor_list {
    const auto made = call.make(type, {static_cast<std::int64_t>(bits.size())});
    std::memcpy(made.elements, bits.data(), bits.size() * 2);
    return {tensor({1.f, 2.f}), made.result};
  };
  return kg::scoped_kernel(std::move(config));
}
tensor made_by(const char* name, const tensor& x) {
  const kg::operand_ref in[] = {{"x", x}};
  return kg::run_kernel_list(name, in)[1];
}

TEST(a_nan_check, reads_the_formats_of_half_the_size) {
  // 1, the largest finite number and the least positive one, and what is not finite.
  const auto half = maker_of("Half", dtype::float16, {0x3c00, 0xfbff, 0x0001});
  const auto half_infinity = maker_of("HalfInfinity", dtype::float16, {0x3c00, 0xfc00});
  const auto half_nan = maker_of("HalfNan", dtype::float16, {0x3c00, 0x0000, 0x7c01});
  const auto brain = maker_of("Brain", dtype::bfloat16, {0x3f80, 0xff7f, 0x0001});
  const auto brain_infinity = maker_of("BrainInfinity", dtype::bfloat16, {0x3f80, 0x7f80});
  const auto brain_nan = maker_of("BrainNan", dtype::bfloat16, {0x3f80, 0x0000, 0xffc0});
  const tensor x({1.f});
  const kg::nan_check guard;
  for (const char* name : {"Half", "Brain"}) EXPECT_EQ(refusal([&] { return made_by(name, x); }), accepted) << name;
  for (const std::string name : {"HalfInfinity", "BrainInfinity"})
    EXPECT_SAYS(refusal([&] { return made_by(name.c_str(), x); }), "[" + name + "] got an infinity at [1] of result 1");
  for (const std::string name : {"HalfNan", "BrainNan"})
    EXPECT_SAYS(refusal([&] { return made_by(name.c_str(), x); }), "[" + name + "] got a NaN at [2] of result 1");
}

TEST(a_nan_check, shows_the_range_of_operands_of_half_the_size) {
  const auto half = maker_of("Half", dtype::float16, {0x3c00, 0xc000, 0x0001});
  const auto brain = maker_of("Brain", dtype::bfloat16, {0x3f80, 0x4040, 0x7f80});
  const auto broken = maker_of("Broken", dtype::float16, {0x7e00});
  const tensor x({1.f}), h = made_by("Half", x), b = made_by("Brain", x);
  const kg::nan_check guard;
  EXPECT_SAYS(refusal([&] { return made_by("Broken", h); }), "operand 0: float16 [3], from -2 to 1, 0 NaN, 0 infinite");
  EXPECT_SAYS(refusal([&] { return made_by("Broken", b); }), "operand 0: bfloat16 [3], from 1 to inf, 0 NaN, 1 infi");
}

TEST(a_nan_check, takes_tensors_without_elements_and_of_rank_0) {
  const kg::nan_check guard;
  EXPECT_EQ(refusal([] { return kg::log(kg::zeros({0, 3})); }), accepted);
  EXPECT_SAYS(refusal([] { return kg::log(tensor(-1.f)); }), "a NaN at [] of result 0, float32 []");
  EXPECT_SAYS(refusal([] { return kg::mean(kg::zeros({0})); }), "operand x: float32 [0], 0 NaN");
}

TEST(a_nan_check, is_of_its_thread_and_of_its_scope) {
  const tensor x({-1.f});
  {
    const kg::nan_check guard;
    std::string theirs;
    std::thread([&] { theirs = refusal([&] { return kg::log(x); }); }).join();
    EXPECT_EQ(theirs, accepted);
    EXPECT_NE(refusal([&] { return kg::log(x); }), accepted);
  }
  EXPECT_EQ(refusal([&] { return kg::log(x); }), accepted);
}

}  // namespace
