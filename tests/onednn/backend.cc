// SPDX-License-Identifier: Apache-2.0
// The backend on oneDNN, through the module: what it has runs there and agrees with the SIMD kernels, gradients
// included; what it lacks falls back when that is allowed and is rejected in words when it is not.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/support/refusal.h"
import kerngrad.testkit;

namespace {

using kg::tensor;
using kgtest::refusal;

// Which kernels ran where while it lives.
struct trace {
  std::vector<std::string> ran, fell_back;
  kg::hook_handle handle = kg::add_hooks(
      {.end = [this](const kg::kernel_event& e) { ran.push_back(std::string(e.op) + "@" + std::string(e.backend)); },
       .fallback =
           [this](const kg::fallback_event& e) { fell_back.push_back(std::string(e.op) + ">" + std::string(e.to)); }});
  bool has(const std::string& what) const { return std::count(ran.begin(), ran.end(), what) > 0; }
};

struct allowed_fallback {
  allowed_fallback() { kg::set_fallback(kg::fallback::by_priority); }
  ~allowed_fallback() { kg::set_fallback(kg::fallback::refuse); }
};

void expect_close(const tensor& got, const tensor& wanted) {
  ASSERT_EQ(got.dims(), wanted.dims());
  const std::vector<double> a = got.to_doubles(), b = wanted.to_doubles();
  double largest = 1;
  for (double v : b) largest = std::max(largest, std::fabs(v));
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-5 * largest) << "element " << i;
}

tensor image() { return kg::random_normal({2, 9, 7, 3}, 0, 1, 1); }
tensor filter() { return kg::random_normal({3, 3, 3, 4}, 0, 1, 2); }
tensor network(const tensor& x, const tensor& w) {
  const tensor y = kg::conv2d(x, w, {.strides = {2, 1}, .pad = kg::same});
  return kg::sum(kg::square(kg::softmax(kg::reshape(y, {2, -1}))));
}

TEST(the_backend_onednn, runs_every_kernel_of_its_table_and_agrees_with_simd) {
  const std::vector<kg::kernel_info> kernels = kg::kernels_for_backend("onednn");
  ASSERT_EQ(kernels.size(), 5u);
  for (const kg::kernel_info& k : kernels) {
    const kg::op_row& row = *kg::row_named(k.name);
    EXPECT_EQ(k.dtypes, kg::only(kg::dtype::float32)) << k.name;
    for (const kg::testkit::sample& call : kg::testkit::samples_of(row)) {
      const std::vector<kg::named_operand> operands = kg::testkit::operands_for(row, call, kg::dtype::float32);
      const tensor wanted = kg::run_kernel_list(k.name, operands, call.attrs).front();
      const trace seen;
      const kg::backend_scope there("onednn");
      const tensor got = kg::run_kernel_list(k.name, operands, call.attrs).front();
      SCOPED_TRACE(k.name + to_string(call));
      expect_close(got, wanted);
      EXPECT_TRUE(wanted.size() == 0 || seen.has(k.name + "@onednn"));
    }
  }
}

TEST(the_backend_onednn, refuses_what_it_lacks_and_names_who_has_it) {
  const kg::backend_scope there("onednn");
  EXPECT_NE(refusal([] { return kg::exp(tensor({1.f})); }).find("simd, reference"), std::string::npos);
}

TEST(the_backend_onednn, differentiates_a_network_with_fallbacks_that_hooks_see) {
  const auto wanted = kg::grads(network)(image(), filter());
  const allowed_fallback allowed;
  const trace seen;
  const kg::backend_scope there("onednn");
  const auto got = kg::grads(network)(image(), filter());
  expect_close(got[0], wanted[0]);
  expect_close(got[1], wanted[1]);
  for (const char* op : {"Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter", "Softmax"})
    EXPECT_TRUE(seen.has(std::string(op) + "@onednn")) << op;
  EXPECT_GT(std::count(seen.fell_back.begin(), seen.fell_back.end(), "Square>simd"), 0);
}

}  // namespace
