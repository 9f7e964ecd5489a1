// SPDX-License-Identifier: Apache-2.0
// Kernel packs that keep to the rules: they run and differentiate like built-in ops, and are unmapped when the last of
// what holds their code has gone.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "tests/packs/packs.h"
#include "tests/support/refusal.h"

namespace {

using kg::tensor;
using kgtest::accepted;
using kgtest::is_mapped;
using kgtest::refusal;
using kgtest::test_pack;
using doubles = std::vector<double>;
using namespace std::string_literals;

// A pack for the length of a test.
struct loaded {
  kg::pack pack;
  explicit loaded(const std::string& path) : pack(kg::load_pack(path)) {}
  ~loaded() {
    if (pack.loaded()) pack.unload();
  }
};

tensor shrink(const tensor& x, double lambda = 0.5) {
  return kg::run_kernel("Softshrink", {{"x", x}}, {{"lambda", lambda}});
}
tensor mish_by_name(const tensor& x) { return kg::run_kernel("Mish", {{"x", x}}); }

// The definition, which is not how the pack computes it.
double mish_by_definition(double x) { return x * std::tanh(std::log1p(std::exp(x))); }

// ------------------------------------------------------------------------------------------ running

TEST(a_pack, runs_by_name_with_defaults_checks_and_errors_as_a_known_op) {
  const loaded softshrink(test_pack("softshrink"));
  EXPECT_EQ(kg::run_kernel("Softshrink", {tensor({-2.f, -0.25f, 0.5f, 1.5f})}).to_doubles(), (doubles{-1.5, 0, 0, 1}));
  EXPECT_EQ(shrink(tensor({2.f, -3.f}), 1).to_doubles(), (doubles{1, -2}));
  EXPECT_EQ(shrink(tensor(std::vector<float>{}, {0, 3})).dims(), (kg::shape{0, 3}));
  EXPECT_NE(refusal([] { return shrink(tensor({1.f}), -1); }).find("lambda = -1"), std::string::npos);
  EXPECT_NE(refusal([] { return shrink(tensor({1.0})); }).find("float64"), std::string::npos);
  EXPECT_NE(refusal([] { return kg::run_kernel("Softshrink", {tensor({1.f})}, {{"width", 1}}); }).find("width"),
            std::string::npos);
}

TEST(a_pack, says_what_it_is) {
  const loaded softshrink(test_pack("softshrink")), complete(test_pack("complete"));
  EXPECT_EQ(softshrink.pack.name(), "softshrink");
  EXPECT_EQ(softshrink.pack.version(), "1.0");
  EXPECT_EQ(softshrink.pack.path(), std::filesystem::canonical(test_pack("softshrink")).string());
  EXPECT_EQ(kg::loaded_packs(), (std::vector<kg::pack>{softshrink.pack, complete.pack}));
  const auto info = kg::get_kernel("Softshrink");
  ASSERT_TRUE(info);
  EXPECT_TRUE(info->has_gradient);
  EXPECT_FALSE(info->known);
  EXPECT_EQ(info->where, "pack softshrink (" + softshrink.pack.path() + ")");
}

TEST(a_pack, is_found_by_directory_and_name) {
  kg::pack p = kg::load_pack(std::filesystem::path(test_pack("mish")).parent_path().string(), "mish");
  EXPECT_EQ(p.name(), "mish");
  p.unload();
  for (const char* name : {"", "../mish", "packs/mish"})
    EXPECT_NE(refusal([&] { return kg::load_pack(".", name); }), accepted) << name;
}

TEST(a_pack_in_cpp, computes_its_definition_for_both_floating_dtypes) {
  const loaded p(test_pack("mish"));
  const doubles points{-30, -4, -1.25, -0.0, 0.5, 3, 19.5, 21, 800};
  const doubles wide = mish_by_name(tensor(points)).to_doubles();
  const doubles narrow = mish_by_name(tensor(std::vector<float>(points.begin(), points.end()))).to_doubles();
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double wanted = points[i] > 100 ? points[i] : mish_by_definition(points[i]);
    EXPECT_NEAR(wide[i], wanted, 1e-14 * std::fabs(wanted) + 1e-15) << points[i];
    EXPECT_NEAR(narrow[i], wanted, 1e-6 * std::fabs(wanted)) << points[i];
  }
}

TEST(a_pack_in_cpp, differentiates_in_first_and_second_order_by_its_ops) {
  const loaded p(test_pack("mish"));
  auto f = [](const tensor& x) { return kg::sum(mish_by_name(x)); };
  auto df = kg::grad(f);
  auto ddf = kg::grad([&](const tensor& x) { return kg::sum(df(x)); });
  const doubles points{-4, -1.25, 0.5, 3};
  const doubles first = df(tensor(points)).to_doubles(), second = ddf(tensor(points)).to_doubles();
  // Central differences: what is left out is of order h^2 (1e-8), rounding adds 1e-16 / h^2 for the second (1e-8).
  const double h = 1e-4;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double x = points[i];
    const double below = mish_by_definition(x - h), at = mish_by_definition(x), above = mish_by_definition(x + h);
    EXPECT_NEAR(first[i], (above - below) / (2 * h), 1e-7) << x;
    EXPECT_NEAR(second[i], (above - 2 * at + below) / (h * h), 1e-6) << x;
  }
}

TEST(a_pack_in_c, differentiates_in_first_and_second_order) {
  const loaded p(test_pack("softshrink"));
  auto df = kg::grad([](const tensor& x) { return kg::sum(kg::square(shrink(x))); });
  const tensor x({-2.f, -0.3f, 0.1f, 1.5f});
  EXPECT_EQ(df(x).to_doubles(), (doubles{-3, 0, 0, 2}));
  EXPECT_EQ(kg::grad([&](const tensor& t) { return kg::sum(df(t)); })(x).to_doubles(), (doubles{2, 0, 0, 2}));
}

TEST(a_pack, takes_lists_and_gives_several_results) {
  const loaded p(test_pack("complete"));
  const std::vector<tensor> list{tensor({1.f, 2.f, 3.f}), tensor({10.f, 20.f, 30.f}), tensor({0.f, 0.f, 4.f})};
  const kg::operand_ref operands[] = {{"tensors", list}};
  const kg::tensor_list out = kg::run_kernel_list("Complete", operands);
  ASSERT_EQ(out.size(), 2);
  EXPECT_EQ(out[0].to_doubles(), (doubles{11, 22, 37}));
  EXPECT_EQ(out[1].item<std::int64_t>(), 3);
  const auto gradients = kg::grads([](const tensor& a, const tensor& b) {
    const std::vector<tensor> both{a, b, a};
    const kg::operand_ref in[] = {{"tensors", both}};
    return kg::sum(kg::run_kernel_list("Complete", in)[0] * 2);
  })(list[0], list[1]);
  EXPECT_EQ(gradients[0].to_doubles(), (doubles{4, 4, 4}));
  EXPECT_EQ(gradients[1].to_doubles(), (doubles{2, 2, 2}));
}

TEST(a_pack, sees_every_kind_of_attribute_and_what_was_left_out) {
  const loaded p(test_pack("complete"));
  const tensor x({1, 2, 3, 4, 5, 6}, {2, 3});
  EXPECT_EQ(kg::run_kernel("Options", {{"x", x}}).to_doubles(), (doubles{1, 3, 0.25, 3, 4, -1, 0, 2, 2, 6}));
  const tensor all = kg::run_kernel(
      "Options", {{"x", x}, {"y", x}},
      {{"flag", false}, {"whole", 9.0}, {"rate", 2}, {"type", kg::dtype::uint8}, {"mode", "valid"}, {"axes", {5, -2}}});
  EXPECT_EQ(all.to_doubles(), (doubles{0, 9, 2, 4, 5, 5, 1, 2, 2, 6}));
}

TEST(a_pack, has_kernels_for_known_ops_on_other_backends) {
  kg::register_backend("packed", {});
  {
    const loaded p(test_pack("misbehaving"));
    const kg::backend_scope scope("packed");
    EXPECT_EQ(kg::abs(tensor({-1.f})).item(), -1);  // it gives its operand
    EXPECT_NE(refusal([] { return -tensor({1.f, 2.f}); }).find("[kg::neg]"), std::string::npos);
  }
  kg::remove_backend("packed");
}

// ------------------------------------------------------------------------------------------ unloading

TEST(an_unloaded_pack, leaves_the_registry_and_the_process) {
  const kgtest::world before = kgtest::world_now();
  for (const std::string& path : {test_pack("softshrink"), test_pack("mish"), test_pack("complete")}) {
    kg::pack p = kg::load_pack(path);
    EXPECT_TRUE(is_mapped(path)) << path;
    EXPECT_TRUE(p.mapped());
    EXPECT_FALSE(kgtest::world_now() == before);
    p.unload();
    EXPECT_FALSE(p.loaded());
    EXPECT_FALSE(is_mapped(path)) << path;
    EXPECT_FALSE(p.mapped());
    EXPECT_TRUE(kgtest::world_now() == before);
    EXPECT_NE(refusal([&] { return p.unload(), 0; }).find(p.name()), std::string::npos);
  }
  EXPECT_NE(refusal([] { return mish_by_name(tensor({1.f})); }).find("Mish"), std::string::npos);
}

TEST(an_unloaded_pack, stays_mapped_until_the_graph_has_gone) {
  const std::string path = test_pack("softshrink");
  kg::pack p = kg::load_pack(path);
  const tensor gradient = kg::grad([&](const tensor& x) {
    const tensor y = shrink(x);
    p.unload();
    EXPECT_TRUE(is_mapped(path));
    EXPECT_TRUE(p.mapped());
    EXPECT_NE(refusal([&] { return shrink(x); }), accepted);
    return kg::sum(kg::square(y));
  })(tensor({-2.f, 0.1f, 1.5f}));
  EXPECT_EQ(gradient.to_doubles(), (doubles{-3, 0, 2}));
  EXPECT_FALSE(p.mapped());
  EXPECT_FALSE(is_mapped(path));
}

TEST(an_unloaded_pack, stays_mapped_for_a_handle_that_goes_on_working) {
  const std::string path = test_pack("softshrink");
  kg::pack p = kg::load_pack(path);
  std::optional<kg::kernel_handle> handle = kg::find_kernel("Softshrink");
  p.unload();
  EXPECT_TRUE(is_mapped(path));
  EXPECT_EQ((*handle)({tensor({2.f})}).item(), 1.5);
  handle.reset();
  EXPECT_FALSE(is_mapped(path));
}

TEST(an_unloaded_pack, stays_mapped_until_other_threads_have_looked_at_the_registry_again) {
  const std::string path = test_pack("softshrink");
  kg::pack p = kg::load_pack(path);
  std::atomic<int> step{0};
  const auto wait_for = [&](int wanted) {
    while (step.load() != wanted) std::this_thread::yield();
  };
  std::thread other([&] {
    shrink(tensor({1.f}));
    step = 1;
    wait_for(2);
    kg::run_kernel("Exp", {tensor({1.f})});
    step = 3;
    wait_for(4);
  });
  wait_for(1);
  p.unload();
  EXPECT_TRUE(p.mapped());
  step = 2;
  wait_for(3);
  EXPECT_FALSE(p.mapped());
  EXPECT_FALSE(is_mapped(path));
  step = 4;
  other.join();
}

TEST(an_unloaded_pack, takes_copies_of_its_kernels_along_and_leaves_what_replaced_them) {
  const std::string path = test_pack("softshrink");
  kg::pack p = kg::load_pack(path);
  EXPECT_EQ(kg::copy_registered_kernels("simd", "elsewhere"), 1);
  kg::kernel_config mine;
  mine.name = "Softshrink";
  mine.run = [](const kg::kernel_call& call) -> kg::tensor_list { return {call.input("x")}; };
  kg::register_kernel(mine, kg::existing::replace);
  p.unload();
  EXPECT_FALSE(is_mapped(path));
  EXPECT_FALSE(kg::get_kernel("Softshrink", "elsewhere"));
  EXPECT_EQ(kg::run_kernel("Softshrink", {{"x", tensor({7.f})}}).item(), 7);
  kg::unregister_kernel("Softshrink");
}

TEST(an_unloaded_pack, can_be_loaded_again_while_its_old_code_is_held) {
  const std::string path = test_pack("softshrink");
  kg::pack p = kg::load_pack(path);
  std::optional<kg::kernel_handle> handle = kg::find_kernel("Softshrink");
  p.unload();
  kg::pack again = kg::load_pack(path);
  EXPECT_EQ(shrink(tensor({2.f})).item(), 1.5);
  again.unload();
  EXPECT_EQ((*handle)({tensor({3.f})}).item(), 2.5);
  handle.reset();
  EXPECT_FALSE(is_mapped(path));
}

TEST(an_unloaded_pack, cannot_be_exchanged_for_another_file_while_its_old_code_is_held) {
  const kgtest::scratch_folder folder;
  const std::string bytes = kgtest::bytes_of(test_pack("softshrink"));
  const std::string path = folder.write("pack.so", bytes);
  kg::pack p = kg::load_pack(path);
  std::optional<kg::kernel_handle> handle = kg::find_kernel("Softshrink");
  p.unload();
  std::filesystem::rename(folder.write("fresh.so", kgtest::with_text(bytes, "softshrink\0"s, "softcolumn\0"s)), path);
  EXPECT_NE(refusal([&] { return kg::load_pack(path); }).find("in use"), std::string::npos);
  handle.reset();
  p = kg::load_pack(path);
  EXPECT_EQ(p.name(), "softcolumn");
  p.unload();
}

TEST(packs, come_and_go_while_other_threads_call_them) {
  std::atomic<bool> done{false};
  std::atomic<int> right{0}, wrong{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 3; ++i)
    callers.emplace_back([&] {
      const tensor x({2.f, -0.25f});
      while (!done) {
        try {
          const tensor y = shrink(x);
          (y.to_doubles() == doubles{1.5, 0} ? right : wrong).fetch_add(1);
        } catch (const kg::error&) {  // it is not loaded just now
          std::this_thread::sleep_for(std::chrono::microseconds(50));
        }
      }
    });
  for (int i = 0; i < 40; ++i) {
    kg::pack p = kg::load_pack(test_pack("softshrink"));
    const int before = right;
    while (right == before) std::this_thread::sleep_for(std::chrono::microseconds(50));
    p.unload();
  }
  done = true;
  for (std::thread& t : callers) t.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
