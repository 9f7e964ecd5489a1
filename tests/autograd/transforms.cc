// SPDX-License-Identifier: Apache-2.0
// Transforms of functions next to grad: pullbacks, forward derivatives, checkpoints, custom rules, and what is
// left of a recording when something throws.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tests/support/refusal.h"

namespace {

using kg::dtype;
using kg::tensor;
using kg::variable;
using kgtest::accepted;
using kgtest::refusal;
using doubles = std::vector<double>;

constexpr auto wave = [](const tensor& x) { return kg::sin(x) * kg::exp(x) + kg::softmax(x); };

// ------------------------------------------------------------------------------------------ functions of functions

// It may be called where it is not const only, and says how often it was.
struct counting {
  int calls = 0;
  tensor operator()(const tensor& x) { return ++calls, x * x * calls; }
};
template <class T, class... X>
concept const_callable = std::is_invocable_v<const T&, X...>;

TEST(what_a_transform_gives, is_const_where_its_function_may_be) {
  const auto square = [](const tensor& x) { return x * x; };
  const auto product = [](const tensor& a, const tensor& b) { return a * b; };
  const tensor x(3.0), one(1.0);
  const auto g = kg::grad(square);
  EXPECT_EQ(g(x).item(), 6);
  EXPECT_EQ(g(x, tensor(2.0)).item(), 12);
  const auto second = kg::grad(kg::grad(square));
  EXPECT_EQ(second(x).item(), 2);
  const auto both = kg::value_and_grad(square);
  EXPECT_EQ(both(x).value.item() + both(x).grad.item(), 9 + 6);
  const auto each = kg::grads(product);
  EXPECT_EQ(each(x, one)[0].item(), 1);
  const auto all = kg::value_and_grads(product);
  EXPECT_EQ(all(x, one).grads[1].item(), 3);
  const auto pulled = kg::vjp(product);
  EXPECT_EQ(pulled(x, one).back()[1].item(), 3);
  const auto pushed = kg::jvp(square);
  const auto pushed_both = kg::jvp(product);
  EXPECT_EQ(pushed(x, one).tangent.item(), 6);
  EXPECT_EQ(pushed_both({x, one}, {one, one}).tangent.item(), 4);
  const auto kept = kg::checkpoint(square);
  EXPECT_EQ(kg::grad(kept)(x).item(), 6);
  const auto ruled = kg::custom_grad([](const tensor& y) {
    return kg::with_gradient(y * y, [](const tensor& dy) { return std::vector<tensor>{dy * 100}; });
  });
  EXPECT_EQ(kg::grad(ruled)(x).item(), 100);
  tensor (*function)(const tensor&) = [](const tensor& y) { return y * y; };
  const auto of_pointer = kg::grad(function);
  EXPECT_EQ(of_pointer(x).item(), 6);
}

TEST(what_a_transform_gives, of_a_function_that_changes_itself_is_called_where_it_is_not_const) {
  const tensor x(3.0), one(1.0);
  auto g = kg::grad(counting{});
  EXPECT_EQ(g(x).item(), 6);
  EXPECT_EQ(g(x).item(), 12) << "it keeps what it counted";
  auto pushed = kg::jvp(counting{});
  static_cast<void>(pushed(x, one));
  EXPECT_EQ(pushed(x, one).tangent.item(), 12);
  auto pulled = kg::vjp(counting{});
  static_cast<void>(pulled(x));
  EXPECT_EQ(pulled(x).back()[0].item(), 12);
  static_assert(!const_callable<decltype(g), tensor>);
  static_assert(!const_callable<decltype(kg::value_and_grad(counting{})), tensor>);
  static_assert(!const_callable<decltype(kg::grads(counting{})), tensor>);
  static_assert(!const_callable<decltype(kg::value_and_grads(counting{})), tensor>);
  static_assert(!const_callable<decltype(pulled), tensor> && !const_callable<decltype(pushed), tensor, tensor>);
}

// ------------------------------------------------------------------------------------------ vjp

TEST(vjp, gives_the_value_and_a_pullback_that_is_called_as_often_as_wanted) {
  int runs = 0;
  const auto f = [&](const tensor& a, const tensor& b) { return ++runs, a * a * b; };
  const auto [value, back] = kg::vjp(f)(tensor({2.0, 3.0}), tensor({5.0, 7.0}));
  EXPECT_EQ(value.to_doubles(), (doubles{20, 63}));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(back()[0].to_doubles(), (doubles{20, 42}));
    EXPECT_EQ(back(tensor({10.0, 1.0}))[1].to_doubles(), (doubles{40, 9}));
  }
  EXPECT_EQ(runs, 1);
}

TEST(vjp, agrees_with_grad_bit_by_bit) {
  const tensor x({0.3, -0.7, 1.1}), dy({1.0, -2.0, 0.5});
  EXPECT_EQ(kg::vjp(wave)(x).back(dy)[0].to_doubles(), kg::grad(wave)(x, dy).to_doubles());
}

TEST(vjp, keeps_what_its_rules_need_until_the_last_pullback_is_gone) {
  const tensor x = kg::ones({100});
  const kg::memory_info before = kg::memory();
  {
    const kg::pullback<1> back = kg::vjp([](const tensor& t) { return kg::exp(kg::exp(t) + 1); })(x).back;
    const kg::pullback<1> copy = back;
    EXPECT_EQ(kg::memory().live_buffers, before.live_buffers + 2) << "the results of exp";
  }
  EXPECT_EQ(kg::memory().live_buffers, before.live_buffers);
}

TEST(vjp, gives_zeros_where_nothing_depends_on_an_operand_and_refuses_a_wrong_dy_or_result) {
  const auto made = kg::vjp([](const tensor& a, const tensor&) { return a * 2; })(tensor({1.f}), tensor({1, 2}));
  EXPECT_EQ(made.back()[1].signature(), (kg::signature{{2}, dtype::int32}));
  EXPECT_NE(refusal([&] { return made.back(tensor({1.f, 2.f})); }).find("dy"), std::string::npos);
  EXPECT_NE(refusal([] { return kg::vjp([](const tensor& x) { return kg::argmax(x); })(tensor({1.f})); }), accepted);
  EXPECT_NE(refusal([] { return kg::vjp([](const tensor& x) { return x; })(tensor()); }), accepted);
}

TEST(vjp, inside_a_gradient_is_differentiated_with_respect_to_operands_and_dy) {
  // back(dy) = 3 x^2 dy with dy = x: the derivative of 3 x^3 is 9 x^2.
  const tensor slope = kg::grad([](const tensor& x) {
    const auto made = kg::vjp([](const tensor& t) { return t * t * t; })(x);
    return made.back(x)[0] + made.back(x)[0];
  })(tensor(2.0));
  EXPECT_EQ(slope.item(), 2 * 9 * 4);
  const auto outside = kg::vjp([](const tensor& t) { return t * t * t; })(tensor(2.0));
  EXPECT_EQ(kg::grad([&](const tensor& dy) { return outside.back(dy)[0]; })(tensor(5.0)).item(), 12);
}

TEST(a_pullback, of_a_recording_is_refused_outside_and_any_other_works_in_every_thread) {
  std::vector<kg::pullback<1>> kept;
  const auto keep = [&](const tensor& x) {
    kept.push_back(kg::vjp(wave)(x).back);
    return x;
  };
  kg::grad(keep)(tensor({1.0}));
  EXPECT_NE(refusal([&] { return kept[0](); }).find("recording"), std::string::npos);
  keep(tensor({1.0}));
  doubles elsewhere;
  std::thread([&] { elsewhere = kept[1]()[0].to_doubles(); }).join();
  EXPECT_EQ(elsewhere, kept[1]()[0].to_doubles());
}

// ------------------------------------------------------------------------------------------ jvp

TEST(jvp, gives_the_value_and_the_derivative_in_a_direction) {
  const auto one = kg::jvp([](const tensor& x) { return x * x; })(tensor({3.0, 4.0}), tensor({1.0, 10.0}));
  EXPECT_EQ(one.value.to_doubles(), (doubles{9, 16}));
  EXPECT_EQ(one.tangent.to_doubles(), (doubles{6, 80}));
  const tensor a(3.0), b(4.0), va(1.0), vb(100.0);
  const auto two = kg::jvp([](const tensor& p, const tensor& q) { return p * q; })({a, b}, {va, vb});
  EXPECT_EQ(two.tangent.item(), 304);
  EXPECT_EQ(kg::jvp([](const tensor& p, const tensor& q) { return p * q; })({a, b}, {va, tensor()}).tangent.item(), 4);
  EXPECT_EQ(kg::jvp([](const tensor& p, const tensor& q) { return p + q; })({a, b}, {va, vb}).tangent.item(), 101);
  EXPECT_EQ(kg::jvp([](const tensor& p) { return p; })(a, va).tangent.item(), 1);
}

TEST(jvp, of_complex_tensors_multiplies_with_the_holomorphic_derivative) {
  const tensor z = kg::complex(tensor({1.f}), tensor({2.f})), v = kg::complex(tensor({0.f}), tensor({1.f}));
  // (z^2)' v = 2 z v = 2 (1 + 2i) i = -4 + 2i.
  const tensor t = kg::jvp([](const tensor& x) { return x * x; })(z, v).tangent;
  EXPECT_EQ(t.data<kg::complex64>()[0], (kg::complex64{-4, 2}));
}

TEST(jvp, gives_zeros_for_a_result_that_depends_on_no_operand) {
  const tensor outside({1.0, 2.0});
  EXPECT_EQ(kg::jvp([&](const tensor&) { return outside * 2; })(tensor(1.0), tensor(1.0)).tangent.to_doubles(),
            (doubles{0, 0}));
  const auto flat = kg::jvp([](const tensor& x) { return kg::floor(x); })(tensor({1.5}), tensor({1.0}));
  EXPECT_EQ(flat.tangent.to_doubles(), doubles{0});
}

TEST(jvp, refuses_integer_results_directions_for_integers_and_directions_that_do_not_fit) {
  const auto same = [](const tensor& x) { return x; };
  EXPECT_NE(refusal([&] {
              return kg::jvp([](const tensor& x) { return kg::argmax(x); })(tensor({1.f}), tensor({1.f}));
            }).find("int32"),
            std::string::npos);
  EXPECT_NE(refusal([&] { return kg::jvp(same)(tensor({1}), tensor({1})); }).find("int32"), std::string::npos);
  EXPECT_NE(refusal([&] { return kg::jvp(same)(tensor({1.f}), tensor({1.0})); }), accepted);
  EXPECT_NE(refusal([&] { return kg::jvp(same)(tensor({1.f}), tensor({1.f, 2.f})); }), accepted);
  EXPECT_NE(refusal([&] { return kg::jvp(same)(tensor(), tensor()); }), accepted);
  const auto list = [](std::span<const tensor> xs) { return xs[0]; };
  EXPECT_NE(refusal([&] { return kg::jvp_of(list, std::vector{tensor(1.0)}, {}); }), accepted);
}

TEST(jvp, nests_with_itself_and_with_grad_in_both_orders) {
  const auto cube = [](const tensor& x) { return kg::sum(x * x * x); };
  const tensor x({2.0, 3.0}), v({1.0, 10.0});
  const doubles product{12, 180};  // the Hessian, diag(6 x), times v
  EXPECT_EQ(kg::jvp(kg::grad(cube))(x, v).tangent.to_doubles(), product);
  EXPECT_EQ(kg::grad([&](const tensor& t) { return kg::jvp(cube)(t, v).tangent; })(x).to_doubles(), product);
  const auto along = [&](const tensor& t) { return kg::jvp(cube)(t, v).tangent; };
  EXPECT_EQ(kg::jvp(along)(x, v).tangent.item(), 12 + 1800);
  const auto third = [&](const tensor& t) { return kg::jvp(along)(t, v).tangent; };
  EXPECT_EQ(kg::jvp(third)(x, v).tangent.item(), 6 + 6000);
}

TEST(jvp, goes_through_rules_of_ones_own_and_variables_are_constants_there) {
  const auto doubled = kg::custom_grad([](const tensor& x) {
    return kg::with_gradient(kg::exp(x), [](const tensor& dy) { return std::vector{dy * 100}; });
  });
  EXPECT_EQ(kg::jvp([&](const tensor& x) { return doubled(x); })(tensor(0.0), tensor(3.0)).tangent.item(), 300);
  const variable w(tensor(5.0));
  EXPECT_EQ(kg::jvp([&](const tensor& x) { return x * w; })(tensor(2.0), tensor(1.0)).tangent.item(), 5);
  const auto mixed = kg::variable_grads(
      [&] { return kg::jvp([&](const tensor& x) { return x * w * w; })(tensor(2.0), tensor(1.0)).tangent; });
  EXPECT_EQ(mixed.grads[0].grad.item(), 10);
}

TEST(transforms, leave_no_buffers_behind) {
  const tensor x({0.5, 1.0});
  const kg::memory_info before = kg::memory();
  for (int i = 0; i < 3; ++i) {
    kg::jvp(kg::grad([](const tensor& t) { return kg::sum(wave(t)); }))(x, x);
    kg::vjp([](const tensor& t) { return kg::jvp(wave)(t, t).tangent; })(x).back();
    kg::grad([](const tensor& t) { return kg::vjp(wave)(t).back(t)[0]; })(x);
    kg::grad(kg::checkpoint(wave))(x);
  }
  EXPECT_EQ(kg::memory().live_buffers, before.live_buffers);
}

// ------------------------------------------------------------------------------------------ exceptions

// Number of live buffers; a second reading shows whether something was kept.
std::int64_t live() { return kg::memory().live_buffers; }

tensor thrown() { throw std::runtime_error("no"); }
const auto failing = [](const tensor& x) { return kg::exp(kg::exp(x)) + thrown(); };
const auto with_failing_rule = kg::custom_grad([](const tensor& x) {
  return kg::with_gradient(kg::exp(x), [x](const tensor& dy) { return std::vector{kg::exp(dy * x) + thrown()}; });
});
const auto failing_rule = [](const tensor& x) { return kg::exp(with_failing_rule(kg::sin(x))); };

TEST(an_exception, in_a_function_or_a_rule_leaves_the_tape_and_the_memory_as_they_were) {
  const tensor x({1.0, 2.0});
  const variable w(x);
  const kg::pullback<1> back = kg::vjp(failing_rule)(x).back;
  const std::vector<std::function<void()>> all = {
      [&] { kg::grad(failing)(x); },
      [&] { kg::grad(failing_rule)(x); },
      [&] { kg::variable_grads([&] { return kg::sum(failing(w)); }); },
      [&] { kg::variable_grads([&] { return kg::sum(failing_rule(w)); }); },
      [&] { kg::vjp(failing)(x); },
      [&] { back(); },
      [&] { kg::jvp(failing)(x, x); },
      [&] { kg::jvp(failing_rule)(x, x); },
      [&] { kg::grad(kg::checkpoint(failing))(x); },
      [&] { kg::grad(kg::checkpoint(failing_rule))(x); },
      [&] { kg::grad(kg::grad(failing_rule))(x); },
  };
  const auto good = [](const tensor& t) { return kg::sum(t * t * t); };
  const std::int64_t before = live();
  for (std::size_t i = 0; i < all.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_THROW(all[i](), std::runtime_error);
    EXPECT_EQ(live(), before);
    EXPECT_EQ(kg::grad(good)(x).to_doubles(), (doubles{3, 12}));
    // Inside an outer gradient, which goes on: what the failed one recorded is let go of at once.
    const tensor outer = kg::grad([&](const tensor& t) {
      const std::int64_t inside = live();
      EXPECT_THROW(all[i](), std::runtime_error);
      EXPECT_THROW(kg::grad(failing)(t), std::runtime_error);
      EXPECT_THROW(kg::grad(failing_rule)(t), std::runtime_error);
      EXPECT_EQ(live(), inside);
      return t * kg::grad(good)(t);
    })(x);
    EXPECT_EQ(outer.to_doubles(), (doubles{9, 36}));
  }
  EXPECT_EQ(live(), before);
}

TEST(an_exception, in_a_pullback_of_a_recording_leaves_what_vjp_recorded_alone) {
  bool fails = true;
  const auto sometimes = kg::custom_grad([&](const tensor& x) {
    return kg::with_gradient(x * x, [&fails, x](const tensor& dy) {
      const tensor partial = kg::exp(dy * x);
      return std::vector{fails ? thrown() : dy * x * 2 + partial * 0};
    });
  });
  const tensor slope = kg::grad([&](const tensor& x) {
    const auto made = kg::vjp([&](const tensor& t) { return sometimes(kg::exp(t)); })(x);
    const std::int64_t before = live();
    EXPECT_THROW(made.back(x), std::runtime_error);
    EXPECT_EQ(live(), before);
    fails = false;
    return made.back()[0] * x;
  })(tensor(0.0));
  EXPECT_EQ(slope.item(), 2);
}

TEST(an_exception, makes_what_its_recording_gave_away_constants) {
  tensor leaked;
  const tensor slope = kg::grad([&](const tensor& x) {
    EXPECT_THROW(kg::grad([&](const tensor& y) {
                   leaked = y * y;
                   return leaked + thrown();
                 })(x),
                 std::runtime_error);
    return x * leaked;
  })(tensor(3.0));
  EXPECT_EQ(slope.item(), 9);
}

TEST(an_exception, keeps_the_leaves_of_variables_that_outer_gradients_read_on) {
  const variable w(tensor(3.0));
  const auto outer = kg::variable_grads([&] {
    const auto inner = kg::variable_grads([&] {
      EXPECT_THROW(kg::grad([&](const tensor& x) { return x * w + thrown(); })(tensor(1.0)), std::runtime_error);
      return w * w.value() * w.value();
    });
    return inner.grads[0].grad;
  });
  EXPECT_EQ(outer.grads[0].grad.item(), 18);
}

TEST(a_rule, may_take_a_gradient_of_its_own) {
  const auto f = kg::custom_grad([](const tensor& x) {
    return kg::with_gradient(kg::exp(x), [x](const tensor& dy) {
      return std::vector{dy * kg::grad([](const tensor& t) { return t * t * t; })(x)};
    });
  });
  const auto chain = [&](const tensor& x) { return kg::sin(kg::exp(f(x) * 0) * f(x * 2) * 0 + f(x)); };
  // cos(e^x) times the rule's 3 x^2, at x = 0 and 1.
  const doubles slope = kg::grad(chain)(tensor({0.0, 1.0})).to_doubles();
  EXPECT_NEAR(slope[0], 0, 1e-14);
  EXPECT_NEAR(slope[1], std::cos(std::exp(1.0)) * 3, 1e-14);
  EXPECT_EQ(
      kg::grad([&](const tensor& t) { return kg::grad([&](const tensor& x) { return f(x); })(t); })(tensor(2.0)).item(),
      12)
      << "the second order of the rule";
}

}  // namespace
