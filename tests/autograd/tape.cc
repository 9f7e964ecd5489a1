// SPDX-License-Identifier: Apache-2.0
// The tape: what is recorded, what flows back, how deep and how long it may get, and what survives an exception.
#include <gtest/gtest.h>

#include <functional>
#include <future>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/small_stack.h"
#include "tests/support/refusal.h"

namespace {

using kg::dtype;
using kg::tensor;
using kgtest::accepted;
using kgtest::refusal;
using doubles = std::vector<double>;

// ------------------------------------------------------------------------------------------ orders

TEST(orders, nest_three_deep) {
  const auto cube = [](const tensor& x) { return kg::sum(x * x * x * x); };
  auto second = kg::grad([&](const tensor& x) { return kg::sum(kg::grad(cube)(x)); });
  auto third = kg::grad([&](const tensor& x) {
    return kg::sum(kg::grad([&](const tensor& y) { return kg::sum(kg::grad(cube)(y)); })(x));
  });
  const tensor x({2.0, -1.0});
  EXPECT_EQ(kg::grad(cube)(x).to_doubles(), (doubles{32, -4}));
  EXPECT_EQ(second(x).to_doubles(), (doubles{48, 12}));
  EXPECT_EQ(third(x).to_doubles(), (doubles{48, -24}));
}

TEST(orders, are_not_confused_when_an_inner_function_uses_an_outer_operand) {
  // d/dx of x * (d/dy of x + y) is 1, not 2.
  const tensor slope = kg::grad(
      [](const tensor& x) { return x * kg::grad([&](const tensor& y) { return x + y; })(tensor(1.0)); })(tensor(3.0));
  EXPECT_EQ(slope.item(), 1);
  // d/dx of x * (d/dy of x * y) = d/dx of x * x.
  const tensor product = kg::grad(
      [](const tensor& x) { return x * kg::grad([&](const tensor& y) { return x * y; })(tensor(1.0)); })(tensor(3.0));
  EXPECT_EQ(product.item(), 6);
  // The inner derivative is taken at x itself.
  const tensor same = kg::grad(
      [](const tensor& x) { return kg::grad([&](const tensor& y) { return x * x * y * y; })(x); })(tensor(3.0));
  EXPECT_EQ(same.item(), 6 * 9.0);
}

TEST(orders, work_for_mixed_derivatives) {
  const auto f = [](const tensor& x, const tensor& y) { return x * x * y * y * y; };
  const tensor mixed = kg::grad([&](const tensor& x) {
    return kg::grads([&](const tensor& a, const tensor& b) { return f(a, b); })(x, tensor(2.0))[1];
  })(tensor(3.0));
  EXPECT_EQ(mixed.item(), 2 * 3 * 3 * 4.0);
}

// ------------------------------------------------------------------------------------------ what flows

TEST(an_operand, that_nothing_depends_on_has_zeros) {
  const auto g =
      kg::grads([](const tensor& a, const tensor&) { return kg::sum(a); })(tensor({1.0, 2.0}), kg::ones({2, 3}));
  EXPECT_EQ(g[0].to_doubles(), (doubles{1, 1}));
  EXPECT_EQ(g[1].signature(), (kg::signature{{2, 3}, dtype::float32}));
  EXPECT_EQ(g[1].to_doubles(), doubles(6, 0));
  EXPECT_EQ(kg::grad([](const tensor&) { return tensor(1.f); })(tensor({5.f})).to_doubles(), doubles{0});
  const tensor outside({1.0, 2.0});
  EXPECT_EQ(kg::grad([&](const tensor&) { return outside * 2; })(tensor(1.0)).item(), 0);
}

TEST(an_operand, of_integers_has_zeros_and_the_others_their_gradient) {
  const auto g =
      kg::grads([](const tensor& x, const tensor& i) { return kg::sum(x * i); })(tensor({1.f, 2.f}), tensor({3, 4}));
  EXPECT_EQ(g[0].to_doubles(), (doubles{3, 4}));
  EXPECT_EQ(g[1].type(), dtype::int32);
  EXPECT_EQ(g[1].to_doubles(), (doubles{0, 0}));
}

TEST(an_operand, that_is_the_result_has_ones) {
  EXPECT_EQ(kg::grad([](const tensor& x) { return x; })(tensor({3.0, 4.0})).to_doubles(), (doubles{1, 1}));
  const tensor dy({5.0, 7.0});
  EXPECT_EQ(kg::grad([](const tensor& x) { return x; })(tensor({3.0, 4.0}), dy).to_doubles(), (doubles{5, 7}));
}

TEST(an_operand, given_twice_gets_the_gradient_of_each_place) {
  const tensor x({2.0, 3.0});
  const auto g = kg::grads([](const tensor& a, const tensor& b) { return kg::sum(a * a * b); })(x, x);
  EXPECT_EQ(g[0].to_doubles(), (doubles{8, 18}));
  EXPECT_EQ(g[1].to_doubles(), (doubles{4, 9}));
}

TEST(a_gradient, has_the_dtype_of_its_operand) {
  const auto g = kg::grads([](const tensor& a, const tensor& b) { return kg::sum(a * b); })(tensor({1.f, 2.f}),
                                                                                            tensor({3.0, 4.0}));
  EXPECT_EQ(g[0].type(), dtype::float32);
  EXPECT_EQ(g[1].type(), dtype::float64);
}

TEST(a_gradient, is_the_jacobian_product_for_a_result_that_is_no_scalar) {
  const auto f = [](const tensor& x) { return x * x; };
  EXPECT_EQ(kg::grad(f)(tensor({1.0, 2.0})).to_doubles(), (doubles{2, 4}));
  EXPECT_EQ(kg::grad(f)(tensor({1.0, 2.0}), tensor({10.0, 1.0})).to_doubles(), (doubles{20, 4}));
}

TEST(a_gradient, stops_where_it_is_told_to) {
  EXPECT_EQ(kg::grad([](const tensor& x) { return x * kg::stop_gradient(x); })(tensor(3.0)).item(), 3);
}

TEST(values, come_with_their_gradients) {
  const auto one = kg::value_and_grad([](const tensor& x) { return kg::sum(x * x); })(tensor({3.0, 4.0}));
  EXPECT_EQ(one.value.item(), 25);
  EXPECT_EQ(one.grad.to_doubles(), (doubles{6, 8}));
  const auto two =
      kg::value_and_grads([](const tensor& a, const tensor& b) { return a * b; })(tensor(3.0), tensor(4.0));
  EXPECT_EQ(two.value.item(), 12);
  EXPECT_EQ(two.grads[0].item(), 4);
}

TEST(several_results, of_which_one_is_used_flow_back) {
  const tensor x({1.0, 2.0, 3.0, 4.0}, {2, 2});
  EXPECT_EQ(kg::grad([](const tensor& t) { return kg::sum(kg::unstack(t)[1] * 3); })(x).to_doubles(),
            (doubles{0, 0, 3, 3}));
  const tensor wide = kg::reshape(kg::arange(0, 12, 1, dtype::float64), {2, 6});
  EXPECT_EQ(kg::sum(kg::grad([](const tensor& t) { return kg::sum(kg::split(t, 6, 1)[5]); })(wide)).item(), 2)
      << "more than four results";
}

// ------------------------------------------------------------------------------------------ refusals

TEST(a_function, whose_result_is_not_floating_is_refused) {
  EXPECT_NE(refusal([] { return kg::grad([](const tensor& x) { return x > 0; })(tensor({1.f})); }).find("bool"),
            std::string::npos);
  EXPECT_NE(refusal([] { return kg::grad([](const tensor& x) { return kg::argmax(x); })(tensor({1.f})); }), accepted);
  EXPECT_NE(refusal([] { return kg::grad([](const tensor&) { return tensor(); })(tensor({1.f})); }), accepted);
}

TEST(a_dy, of_another_shape_or_dtype_is_refused) {
  const auto f = [](const tensor& x) { return x * x; };
  EXPECT_NE(refusal([&] { return kg::grad(f)(tensor({1.0, 2.0}), tensor({1.0, 2.0, 3.0})); }).find("dy"),
            std::string::npos);
  EXPECT_NE(refusal([&] { return kg::grad(f)(tensor({1.0, 2.0}), tensor({1.f, 2.f})); }), accepted);
}

TEST(an_exception, in_the_function_leaves_the_tape_usable) {
  const kg::memory_info before = kg::memory();
  const auto bad = [](const tensor& x) -> tensor {
    const tensor y = kg::exp(x);
    throw std::runtime_error("no");
  };
  const auto good = [](const tensor& x) { return kg::sum(x * x); };
  EXPECT_THROW(kg::grad(bad)(tensor({1.0})), std::runtime_error);
  EXPECT_EQ(kg::grad(good)(tensor({3.0})).item(), 6);
  // Inside an outer function, which goes on.
  const tensor outer = kg::grad([&](const tensor& x) {
    EXPECT_THROW(kg::grad(bad)(x), std::runtime_error);
    EXPECT_THROW(kg::matmul(x, x), kg::error);
    return x * kg::grad(good)(x);
  })(tensor(3.0));
  EXPECT_EQ(outer.item(), 12);
  EXPECT_EQ(kg::memory().live_buffers, before.live_buffers + 1) << "that is, the result's";
}

TEST(a_recording, leaves_no_buffers_behind) {
  const kg::memory_info before = kg::memory();
  for (int i = 0; i < 3; ++i)
    kg::grad([](const tensor& x) {
      return kg::sum(kg::grad([](const tensor& y) { return kg::sum(kg::softmax(y) * y); })(x));
    })(kg::ones({4, 5}));
  EXPECT_EQ(kg::memory().live_buffers, before.live_buffers);
}

TEST(a_tensor_of_an_old_recording, is_a_constant_in_the_next) {
  tensor kept;
  kg::grad([&](const tensor& x) { return kept = x * x; })(tensor(3.0));
  EXPECT_EQ(kg::grad([&](const tensor& x) { return x * kept; })(tensor(2.0)).item(), 9);
}

// ------------------------------------------------------------------------------------------ custom rules

TEST(custom_grad, uses_its_rule_and_not_what_happened_inside) {
  const auto clipped = kg::custom_grad([](const tensor& x) {
    return kg::with_gradient(kg::exp(x), [](const tensor& dy) { return std::vector{dy * 100}; });
  });
  EXPECT_EQ(kg::grad([&](const tensor& x) { return clipped(x); })(tensor(0.0)).item(), 100);
}

TEST(custom_grad, is_differentiated_again_through_what_its_rule_captured) {
  const auto cube = kg::custom_grad([](const tensor& x) {
    return kg::with_gradient(x * x * x, [x](const tensor& dy) { return std::vector{dy * x * x * 3}; });
  });
  const tensor second =
      kg::grad([&](const tensor& x) { return kg::grad([&](const tensor& y) { return cube(y); })(x); })(tensor(2.0));
  EXPECT_EQ(second.item(), 12);
}

TEST(custom_grad, may_take_a_gradient_inside) {
  const auto newton = kg::custom_grad([](const tensor& x) {
    const tensor slope = kg::grad([](const tensor& y) { return y * y; })(x);
    return kg::with_gradient(slope * 2, [](const tensor& dy) { return std::vector{dy * 4}; });
  });
  const auto value = kg::value_and_grad([&](const tensor& x) { return newton(x) * 3; })(tensor(5.0));
  EXPECT_EQ(value.value.item(), 60);
  EXPECT_EQ(value.grad.item(), 12);
  EXPECT_EQ(newton(tensor(5.0)).item(), 20) << "outside a recording";
}

TEST(custom_grad, with_several_operands_and_values_takes_a_gradient_for_each) {
  const std::vector<tensor> xs = {tensor(2.0), tensor(3.0)};
  const auto f = [](std::span<const tensor> leaves) {
    const kg::tensor_list values = kg::custom_grad(
        [](std::span<const tensor> in) -> kg::custom_result {
          return {{in[0] + in[1], in[0] * in[1]}, [a = in[0], b = in[1]](std::span<const tensor> dy) {
                    return std::vector{dy[0] + dy[1] * b, dy[0] + dy[1] * a};
                  }};
        },
        leaves);
    return values[1];  // the other value's dy is zeros
  };
  const auto result = kg::value_and_grads_of(f, xs);
  EXPECT_EQ(result.grads[0].item(), 3);
  EXPECT_EQ(result.grads[1].item(), 2);
}

TEST(custom_grad, refuses_a_rule_with_wrong_gradients) {
  const auto with_rule = [](std::function<std::vector<tensor>(const tensor&)> rule) {
    return [rule](const tensor& x) {
      return kg::custom_grad([rule](const tensor& y) { return kg::with_gradient(y * 2, rule); })(x);
    };
  };
  const tensor x({1.0, 2.0});
  EXPECT_NE(refusal([&] { return kg::grad(with_rule([](const tensor&) { return std::vector<tensor>{}; }))(x); }),
            accepted);
  EXPECT_NE(refusal([&] { return kg::grad(with_rule([](const tensor&) { return std::vector{tensor({1.0})}; }))(x); }),
            accepted);
  EXPECT_NE(
      refusal([&] { return kg::grad(with_rule([](const tensor&) { return std::vector{tensor({1.f, 2.f})}; }))(x); }),
      accepted);
  EXPECT_EQ(kg::grad(with_rule([](const tensor&) { return std::vector{tensor()}; }))(x).to_doubles(), (doubles{0, 0}))
      << "no gradient";
}

TEST(custom_grad, that_returns_its_operand_or_its_dy_is_right) {
  const auto pass = kg::custom_grad(
      [](const tensor& x) { return kg::with_gradient(x, [](const tensor& dy) { return std::vector{dy}; }); });
  const auto value = kg::value_and_grad([&](const tensor& x) { return pass(x) * pass(x) + x; })(tensor(3.0));
  EXPECT_EQ(value.value.item(), 12);
  EXPECT_EQ(value.grad.item(), 7);
}

// ------------------------------------------------------------------------------------------ long chains

constexpr int long_chain = 1000000;
tensor chain(const tensor& x) {
  tensor y = x;
  for (int i = 0; i < long_chain; ++i) y = -y;
  return y;
}

TEST(a_chain_of_a_million_ops, runs_without_a_recording_on_a_small_stack) {
  kgtest::on_small_stack([] { EXPECT_EQ(chain(tensor(2.0)).item(), 2); });
}

TEST(a_chain_of_a_million_ops, is_recorded_and_walked_back_on_a_small_stack) {
  const kg::memory_info before = kg::memory();
  kgtest::on_small_stack(
      [] { EXPECT_EQ(kg::grad([](const tensor& x) { return chain(x) * x; })(tensor(2.0)).item(), 4); });
  EXPECT_EQ(kg::memory().live_buffers, before.live_buffers);
}

TEST(a_chain_of_a_million_ops, has_a_second_order_on_a_small_stack) {
  kgtest::on_small_stack([] {
    const tensor second = kg::grad(
        [](const tensor& x) { return kg::grad([](const tensor& y) { return chain(y * y); })(x); })(tensor(3.0));
    EXPECT_EQ(second.item(), 2);
  });
}

TEST(a_chain_of_a_million_ops, is_destroyed_when_the_function_throws) {
  const kg::memory_info before = kg::memory();
  kgtest::on_small_stack([] {
    EXPECT_THROW(kg::grad([](const tensor& x) -> tensor {
                   tensor y = x;
                   for (int i = 0; i < long_chain; ++i) y = kg::square(y);
                   throw std::runtime_error("late");
                 })(tensor(1.0)),
                 std::runtime_error);
  });
  EXPECT_EQ(kg::memory().live_buffers, before.live_buffers);
}

TEST(a_chain_of_views, is_destroyed_on_a_small_stack) {
  kgtest::on_small_stack([] {
    tensor y = kg::ones({2, 3});
    for (int i = 0; i < long_chain / 10; ++i) y = kg::reshape(y, {i % 2 ? 2 : 3, -1});
    EXPECT_EQ(kg::sum(y).item(), 6);
  });
}

// ------------------------------------------------------------------------------------------ threads

TEST(threads, take_gradients_side_by_side) {
  const kg::memory_info before = kg::memory();
  const tensor shared = kg::ones({64}, dtype::float64);
  std::vector<double> sums(8);
  std::vector<std::thread> all;
  for (std::size_t t = 0; t < sums.size(); ++t)
    all.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) {
        const double scale = static_cast<double>(t + 1);
        sums[t] +=
            kg::sum(kg::grad([&](const tensor& x) { return kg::sum(kg::exp(x * 0) * x * shared * scale); })(shared))
                .item();
      }
    });
  for (std::thread& thread : all) thread.join();
  for (std::size_t t = 0; t < sums.size(); ++t) EXPECT_EQ(sums[t], 200 * 64 * static_cast<double>(t + 1));
  EXPECT_EQ(kg::memory().live_buffers, before.live_buffers + 1);
}

// Result of f on another thread.
template <class F>
auto elsewhere(F f) {
  return std::async(std::launch::async, f).get();
}
std::string refusal_of_gradient(const std::function<tensor(const tensor&)>& f) {
  return refusal([&] { return kg::grad(f)(tensor({3.0, 4.0})); });
}

TEST(a_tensor_that_another_thread_computed_from_a_followed_one, is_refused_where_it_comes_back) {
  const auto square = [](const tensor& x) { return elsewhere([&] { return x * x; }); };
  const auto cube = kg::custom_grad([](const tensor& x) {
    return kg::with_gradient(x * x * x, [x](const tensor& dy) { return std::vector<tensor>{dy * x * x * 3}; });
  });
  const auto smooth = kg::fuse([](auto x) { return kg::exp(x) * x; });
  const kg::variable v(tensor({1.0, 2.0}));
  const std::vector<std::pair<std::string, std::function<tensor(const tensor&)>>> ways = {
      {"an operand", [&](const tensor& x) { return x + square(x); }},
      {"beside a number", [&](const tensor& x) { return square(x) * 2; }},
      {"with attributes", [&](const tensor& x) { return kg::sum(square(x), 0); }},
      {"in a list", [&](const tensor& x) { return kg::concat({x, square(x)}); }},
      {"by name", [&](const tensor& x) { return kg::run_kernel("Exp", {{"x", square(x)}}); }},
      {"the result", square},
      {"after more ops there", [](const tensor& x) { return elsewhere([&] { return kg::exp(x * 2) + 1; }) * x; }},
      {"a view made there", [](const tensor& x) { return elsewhere([&] { return kg::reshape(x, {2, 1}); }) * 2; }},
      {"by name there",
       [](const tensor& x) { return elsewhere([&] { return kg::run_kernel("Exp", {{"x", x}}); }) * x; }},
      {"fused there", [&](const tensor& x) { return elsewhere([&] { return smooth(x); }) * x; }},
      {"fused here", [&](const tensor& x) { return smooth(square(x)); }},
      {"a custom rule there", [&](const tensor& x) { return elsewhere([&] { return cube(x); }) * x; }},
      {"a custom rule here", [&](const tensor& x) { return cube(square(x)); }},
      {"a gradient taken there",
       [](const tensor& x) {
         return elsewhere([&] { return kg::grad([](const tensor& y) { return kg::sum(y * y); })(x); }) * 2;
       }},
      {"a gradient there of what f captured",
       [](const tensor& x) {
         return elsewhere([&] { return kg::grad([&](const tensor& y) { return kg::sum(y * x); })(x + 1); }) * 2;
       }},
      {"in a checkpoint",
       [&](const tensor& x) { return kg::checkpoint([&](const tensor& y) { return square(y) * y; })(x); }},
      {"in a vjp", [&](const tensor& x) { return kg::vjp([&](const tensor& y) { return square(y); })(x).value; }},
  };
  for (const auto& [name, f] : ways) {
    const std::string text = refusal_of_gradient(f);
    EXPECT_NE(text.find("another thread"), std::string::npos) << name << ": " << text;
    EXPECT_NE(text.find("stop_gradient"), std::string::npos) << name;
  }
  EXPECT_NE(refusal([&] { return kg::jvp(square)(tensor(2.0), tensor(1.0)); }).find("another thread"),
            std::string::npos);
  const auto loss = [&] {
    const tensor w = v;
    return kg::sum(elsewhere([&] { return w * w; }));
  };
  EXPECT_NE(refusal([&] { return kg::variable_grads(loss); }).find("another thread"), std::string::npos);
  EXPECT_EQ(kg::grad([](const tensor& x) { return x * x; })(tensor(3.0)).item(), 6) << "all is as it was";
}

TEST(what_another_thread_computes, is_a_constant_where_it_depends_on_nothing_that_is_followed) {
  const tensor x({3.0, 4.0}), data({1.0, 2.0}), labels({0, 1});
  tensor old;
  const std::vector<std::pair<std::string, std::function<tensor(const tensor&)>>> ways = {
      {"data", [&](const tensor& y) { return y * elsewhere([&] { return kg::exp(data) * 2; }); }},
      {"a constant made there",
       [](const tensor& y) { return y * elsewhere([] { return kg::full({2}, 5, dtype::float64); }); }},
      {"values read there", [](const tensor& y) { return y * elsewhere([&] { return (y + 1).to_doubles()[0]; }); }},
      {"made a constant here", [](const tensor& y) { return y * kg::stop_gradient(elsewhere([&] { return y * y; })); }},
      {"made a constant there",
       [](const tensor& y) { return y * elsewhere([&] { return kg::stop_gradient(y) * 2; }); }},
      {"integers",
       [&](const tensor& y) { return y * elsewhere([&] { return kg::cast(kg::argmax(y), dtype::float64); }); }},
      {"a custom gradient",
       [&](const tensor& y) {
         return y * elsewhere([&] { return kg::grad([](const tensor& z) { return z * z; })(data); });
       }},
      {"of a recording that is over", [&](const tensor& y) { return y * elsewhere([&] { return old * 2; }); }},
      {"passed on as it is", [](const tensor& y) { return y * elsewhere([&] { return y; }); }},
  };
  kg::grad([&](const tensor& y) { return old = y * y; })(x);
  for (const auto& [name, f] : ways) EXPECT_EQ(refusal_of_gradient(f), accepted) << name;
  EXPECT_EQ(kg::grad(ways.back().second)(x).to_doubles(), (std::vector<double>{6, 8}))
      << "it is the tensor of the recording";
  EXPECT_EQ(kg::grad(ways[3].second)(x).to_doubles(), (std::vector<double>{9, 16}));
  const tensor both = kg::grads([&](const tensor& y, const tensor& of) {
    return y * elsewhere([&] { return kg::cast(of, dtype::float64); });
  })(x, labels)[0];
  EXPECT_EQ(both.to_doubles(), (std::vector<double>{0, 1})) << "labels have no gradient to lose";
}

}  // namespace
