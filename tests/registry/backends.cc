// SPDX-License-Identifier: Apache-2.0
// Choosing backends and SIMD targets. every_op.cc checks that all of them give the same results for every op.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

import kerngrad;

namespace {

// Restores what was active before, whatever a test does.
struct on_backend {
  explicit on_backend(kg::backend which) { kg::set_backend(which); }
  ~on_backend() {
    kg::set_backend(kg::backend::simd);
    kg::set_simd_target("");
  }
};

TEST(backends, the_simd_backend_is_active_by_default_and_the_other_can_be_chosen) {
  EXPECT_EQ(kg::active_backend(), "simd");
  const on_backend reference(kg::backend::reference);
  EXPECT_EQ(kg::active_backend(), "reference");
  EXPECT_EQ(kg::sum(kg::tensor({1.f, 2.f, 3.f})).item(), 6);
}

TEST(backends, gradients_flow_on_the_reference_backend_too) {
  const auto f = [](const kg::tensor& x) { return kg::sum(kg::exp(x) * x); };
  const kg::tensor x({0.5, -1.0, 2.0});
  const kg::tensor fast = kg::grad(f)(x);
  const on_backend reference(kg::backend::reference);
  const kg::tensor slow = kg::grad(f)(x);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(fast.data<double>()[i], slow.data<double>()[i], 1e-13);
}

TEST(backends, an_unknown_target_is_refused_with_the_known_ones_named) {
  try {
    kg::set_simd_target("AVX1024");
    FAIL() << "accepted";
  } catch (const kg::error& e) {
    EXPECT_NE(std::string(e.what()).find(kg::simd_targets().back().name), std::string::npos) << e.what();
  }
  EXPECT_EQ(kg::active_simd_target(), kg::simd_targets().front().name);
}

void no_kernel(const void* const*, void* const*, const void*) {}

TEST(backends, a_table_whose_kernels_lack_a_form_that_their_op_is_run_by_is_refused) {
  const kg::kernels::entry without_flat[] = {{"Add", kg::dtype::float32, no_kernel, nullptr, nullptr}};
  const kg::kernels::entry without_run[] = {{"Exp", kg::dtype::float32, nullptr, nullptr, nullptr}};
  const kg::kernels::entry whole[] = {{"Exp", kg::dtype::float32, no_kernel, nullptr, nullptr}};
  EXPECT_THROW(kg::register_kernel_table("table", without_flat), kg::error);
  EXPECT_THROW(kg::register_kernel_table("table", without_run), kg::error);
  EXPECT_NO_THROW(kg::register_kernel_table("table", whole)) << "the name is free";
  kg::remove_backend("table");
}

TEST(backends, random_draws_are_the_same_bits_on_every_target) {
  std::optional<std::vector<double>> uniform, normal;
  const on_backend simd(kg::backend::simd);
  for (const kg::simd_target& target : kg::simd_targets()) {
    kg::set_simd_target(target.name);
    const std::vector<double> u = kg::random_uniform({5, 41}, -1, 3, 7).to_doubles(),
                              n = kg::random_normal({5, 41}, 0, 2, 7).to_doubles();
    if (!uniform) uniform = u, normal = n;
    EXPECT_EQ(u, *uniform) << target.name;
    EXPECT_EQ(n, *normal) << target.name;
  }
}

}  // namespace
