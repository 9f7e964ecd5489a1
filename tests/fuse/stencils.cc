// SPDX-License-Identifier: Apache-2.0
// Stencils: values by plain indexing in double, the bits of the same ops on shifted tensors, and derivatives.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "tests/fused/fused.h"
#include "tests/support/refusal.h"
import kerngrad;

namespace {

using kg::boundary;
using kg::dtype;
using kg::shape;
using kg::symbol;
using kg::tensor;
using kgtest::normal;
using kgtest::refusal;
using kgtest::same_bits;
using kgtest::says;

using fields = std::span<const kg::field>;
using indices = std::vector<std::int64_t>;

constexpr boundary every_boundary[] = {boundary::periodic, boundary::zero, boundary::edge, boundary::reflect};

// An index outside of an axis, moved step by step until it is inside; -1: a zero.
std::int64_t walked(std::int64_t i, std::int64_t n, boundary edge) {
  if (edge == boundary::zero && (i < 0 || i >= n)) return -1;
  while (i < 0 || i >= n) {
    if (edge == boundary::periodic) i += i < 0 ? n : -n;
    else if (edge == boundary::edge) i += i < 0 ? 1 : -1;
    else if (n == 1) i = 0;
    else i = i < 0 ? -i : 2 * (n - 1) - i;
  }
  return i;
}

// x at offsets along its last axes, element by element.
double read(const std::vector<double>& x, const indices& dims, indices at, const indices& offsets,
            const std::vector<boundary>& edges) {
  const std::size_t leading = dims.size() - offsets.size();
  std::int64_t flat = 0;
  for (std::size_t a = 0; a < dims.size(); ++a) {
    if (a >= leading) {
      const std::size_t k = a - leading;
      at[a] =
          walked(at[a] + offsets[k], dims[a], edges.size() == 1 ? edges[0] : edges[edges.size() - (dims.size() - a)]);
      if (at[a] < 0) return 0;
    }
    flat = flat * dims[a] + at[a];
  }
  return x[static_cast<std::size_t>(flat)];
}

// f(at) for each index of a shape, in order.
template <class F>
std::vector<double> for_each_index(const indices& dims, F f) {
  std::int64_t count = 1;
  for (const std::int64_t n : dims) count *= n;
  std::vector<double> all;
  for (std::int64_t i = 0; i < count; ++i) {
    indices at(dims.size());
    std::int64_t left = i;
    for (std::size_t a = dims.size(); a-- > 0; left /= dims[a]) at[a] = left % dims[a];
    all.push_back(f(at));
  }
  return all;
}

double furthest(const tensor& got, const std::vector<double>& wanted) {
  const std::vector<double> all = got.to_doubles();
  if (all.size() != wanted.size()) return INFINITY;
  double most = 0;
  for (std::size_t i = 0; i < all.size(); ++i) most = std::fmax(most, std::fabs(all[i] - wanted[i]));
  return most;
}

struct sweep {
  indices dims;
  indices offsets;
};
const sweep sweeps[] = {
    {{7}, {1}},
    {{7}, {-2}},
    {{3}, {5}},
    {{3}, {-8}},
    {{1}, {1}},
    {{1}, {-4}},
    {{4, 5}, {1, -1}},
    {{4, 5}, {0, 3}},
    {{4, 5}, {-6, 7}},
    {{1, 6}, {2, 1}},
    {{6, 1}, {-1, 2}},
    {{3, 4, 5}, {1, 0, 2}},
    {{3, 4, 5}, {-1}},
    {{2, 3, 4}, {-2, 5}},
    {{2, 3, 2, 4}, {1, -1, 1, -2}},
    {{2, 2, 3, 4}, {2, 1}},
    {{70, 80}, {1, 2}},
    {{3, 2000}, {1, 1}},
    {{1500, 2}, {-1, -1}},
    {{9, 0}, {1, 1}},
};

std::string name(const sweep& s, boundary edge) {
  std::string text = to_string(shape(s.dims)) + " boundary " + std::to_string(static_cast<int>(edge)) + " offsets";
  for (const std::int64_t offset : s.offsets) text += " " + std::to_string(offset);
  return text;
}

TEST(shift, reads_at_offsets_along_the_last_axes) {
  for (const sweep& s : sweeps)
    for (const boundary edge : every_boundary)
      for (const dtype type : {dtype::float32, dtype::int32}) {
        const tensor x = kg::cast(normal(shape(s.dims), 1) * 100, type);
        const std::vector<double> from = x.to_doubles();
        const tensor y = kg::shift(x, s.offsets, std::span(&edge, 1));
        EXPECT_EQ(y.type(), type);
        EXPECT_EQ(y.dims(), x.dims());
        EXPECT_EQ(y.to_doubles(),
                  for_each_index(s.dims, [&](const indices& at) { return read(from, s.dims, at, s.offsets, {edge}); }))
            << name(s, edge);
      }
}

// A stencil that reads x at an offset and at its opposite, and y in place.
template <class X, class Y>
auto mixed(const X& left, const X& middle, const X& right, const Y& y) {
  return left * 0.25 + middle * y - right * kg::tanh(y);
}
auto stencil_of(const indices& offsets, std::span<const boundary> edges) {
  return kg::fuse(2, edges, [&](fields x) {
    indices back = offsets;
    for (std::int64_t& offset : back) offset = -offset;
    return mixed(x[0](offsets), x[0](), x[0](back), x[1]());
  });
}
tensor op_by_op(const tensor& x, const tensor& y, const indices& offsets, std::span<const boundary> edges) {
  indices back = offsets;
  for (std::int64_t& offset : back) offset = -offset;
  return mixed(kg::shift(x, offsets, edges), x, kg::shift(x, back, edges), y);
}

TEST(a_stencil, has_the_values_of_plain_indexing_and_the_bits_of_shifted_tensors) {
  for (const sweep& s : sweeps)
    for (const boundary edge : every_boundary)
      for (const dtype type : {dtype::float32, dtype::float64}) {
        const std::span<const boundary> edges(&edge, 1);
        const tensor x = normal(shape(s.dims), 1, type), y = normal(shape(s.dims), 2, type);
        const tensor got = stencil_of(s.offsets, edges)(x, y);
        EXPECT_TRUE(same_bits(got, op_by_op(x, y, s.offsets, edges))) << name(s, edge);
        const std::vector<double> from = x.to_doubles(), weights = y.to_doubles();
        indices back = s.offsets;
        for (std::int64_t& offset : back) offset = -offset;
        const auto wanted = for_each_index(s.dims, [&](const indices& at) {
          const double middle = read(from, s.dims, at, {}, {edge}), weight = read(weights, s.dims, at, {}, {edge});
          return read(from, s.dims, at, s.offsets, {edge}) * 0.25 + middle * weight -
                 read(from, s.dims, at, back, {edge}) * std::tanh(weight);
        });
        EXPECT_LE(furthest(got, wanted), type == dtype::float32 ? 4e-6 : 1e-14) << name(s, edge);
      }
}

TEST(a_stencil, has_a_boundary_for_each_axis) {
  const indices dims{5, 6, 70}, offsets{1, -2, 3};
  for (const boundary a : every_boundary)
    for (const boundary b : every_boundary)
      for (const boundary c : every_boundary) {
        const std::vector<boundary> edges{a, b, c};
        const tensor x = normal(shape(dims), 1, dtype::float64);
        const auto f = kg::fuse(1, edges, [&](fields u) { return u[0](offsets) + u[0](0, 0, -1); });
        const std::vector<double> from = x.to_doubles();
        EXPECT_EQ(f(x).to_doubles(), for_each_index(dims, [&](const indices& at) {
                    return read(from, dims, at, offsets, edges) + read(from, dims, at, {0, 0, -1}, edges);
                  }));
      }
}

TEST(a_stencil, gives_several_results_of_one_pass) {
  const auto step = kg::fuse(2, {boundary::edge, boundary::periodic}, [](fields x) {
    const symbol h = x[0](), slope = x[1](0, 1) - x[1](0, -1);
    return std::array{h - slope * 0.5, x[1]() * h, h < slope};
  });
  const tensor h = normal({40, 90}, 1), u = normal({40, 90}, 2);
  const tensor slope = kg::shift(u, {0, 1}) - kg::shift(u, {0, -1});
  auto [a, b, c] = step(h, u);
  EXPECT_TRUE(same_bits(a, h - slope * 0.5));
  EXPECT_TRUE(same_bits(b, u * h));
  EXPECT_TRUE(same_bits(c, h < slope));
}

TEST(a_stencil, may_return_an_operand_and_one_value_twice) {
  const auto f = kg::fuse(1, boundary::zero, [](fields x) {
    const symbol sum = x[0](1) + x[0](-1);
    return std::array{x[0](1), sum, sum};
  });
  const tensor x = normal({300}, 1);
  const auto [a, b, c] = f(x);
  EXPECT_TRUE(same_bits(a, kg::shift(x, {1}, boundary::zero)));
  EXPECT_TRUE(same_bits(b, kg::shift(x, {1}, boundary::zero) + kg::shift(x, {-1}, boundary::zero)));
  EXPECT_TRUE(same_bits(c, b));
}

TEST(a_stencil, takes_operands_that_broadcast_and_integers) {
  const auto f = kg::fuse(2, boundary::reflect, [](fields x) { return x[0](1, -1) * x[1]() + x[0](); });
  const tensor x = normal({30, 80}, 1), row = normal({80}, 2);
  EXPECT_TRUE(same_bits(f(x, row), kg::shift(x, {1, -1}, boundary::reflect) * row + x));
  const tensor whole = kg::cast(x * 50, dtype::int32);
  EXPECT_TRUE(same_bits(f(whole, whole), kg::shift(whole, {1, -1}, boundary::reflect) * whole + whole));
}

TEST(a_stencil, has_the_same_bits_on_several_threads) {
  const tensor x = normal({700, 333}, 1), y = normal({700, 333}, 2);
  const indices offsets{2, -1};
  for (const boundary edge : every_boundary) {
    const auto f = stencil_of(offsets, std::span(&edge, 1));
    const tensor alone = f(x, y);
    kg::set_num_threads(2);
    EXPECT_TRUE(same_bits(f(x, y), alone));
    kg::set_num_threads(1);
  }
}

// ------------------------------------------------------------------------------------------ derivatives

// The weighted sum of a stencil that is not linear.
template <class F>
tensor weighted(const F& f, const tensor& x, const tensor& w) {
  return kg::sum(f(x) * w);
}
auto nonlinear(boundary edge) {
  return kg::fuse(1, edge, [](fields x) { return x[0](1, -2) * x[0](-1) + kg::tanh(x[0](3, 1)) * x[0](); });
}

TEST(a_stencil, has_the_first_and_second_derivatives_of_finite_differences) {
  for (const indices& dims : {indices{4, 5}, indices{1, 3}, indices{2, 2, 3}, indices{3, 1}})
    for (const boundary edge : every_boundary) {
      const auto f = nonlinear(edge);
      const tensor x = normal(shape(dims), 1, dtype::float64), w = normal(shape(dims), 2, dtype::float64);
      const tensor v = normal(shape(dims), 3, dtype::float64);
      const auto gradient = kg::grad([&](const tensor& at) { return weighted(f, at, w); });
      const auto second = kg::grad([&](const tensor& at) { return kg::sum(gradient(at) * v); });
      const std::vector<double> first_slopes = gradient(x).to_doubles(), second_slopes = second(x).to_doubles();
      for (std::size_t i = 0; i < first_slopes.size(); ++i) {
        std::vector<double> above = x.to_doubles(), below = above;
        const double h = 1e-5;
        above[i] += h, below[i] -= h;
        const tensor high(above, shape(dims)), low(below, shape(dims));
        const auto difference = [&](const auto& g) { return (g(high) - g(low)) / (2 * h); };
        EXPECT_NEAR(first_slopes[i], difference([&](const tensor& at) { return weighted(f, at, w).item<double>(); }),
                    1e-8)
            << to_string(shape(dims)) << " boundary " << static_cast<int>(edge);
        EXPECT_NEAR(second_slopes[i],
                    difference([&](const tensor& at) { return kg::sum(gradient(at) * v).item<double>(); }), 1e-7)
            << to_string(shape(dims)) << " boundary " << static_cast<int>(edge);
      }
    }
}

TEST(a_stencil, has_gradients_through_several_results_and_steps) {
  const auto step = kg::fuse(2, {boundary::reflect, boundary::periodic}, [](fields x) {
    const symbol flow = x[0](0, 1) * x[1](0, 1) - x[0](0, -1) * x[1](0, -1);
    return std::array{x[0]() - flow * 0.1, x[1]() - (x[0](1, 0) - x[0](-1, 0)) * x[1]() * 0.1};
  });
  const auto one_by_one = [](const tensor& h, const tensor& u) {
    const auto at = [](const tensor& x, std::int64_t i, std::int64_t j) {
      return kg::shift(x, {i, j}, {boundary::reflect, boundary::periodic});
    };
    const tensor flow = at(h, 0, 1) * at(u, 0, 1) - at(h, 0, -1) * at(u, 0, -1);
    return std::array{h - flow * 0.1, u - (at(h, 1, 0) - at(h, -1, 0)) * u * 0.1};
  };
  const auto after_three = [](const auto& f) {
    return [&f](tensor h, tensor u) {
      for (int i = 0; i < 3; ++i) {
        auto [h2, u2] = f(h, u);
        h = h2, u = u2;
      }
      return kg::sum(h * u + h);
    };
  };
  const tensor h = normal({6, 70}, 1, dtype::float64), u = normal({6, 70}, 2, dtype::float64);
  const auto got = kg::grads(after_three(step))(h, u), wanted = kg::grads(after_three(one_by_one))(h, u);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_LE(kgtest::distance(got[i], wanted[i]), 1e-13) << "operand " << i;
}

// ------------------------------------------------------------------------------------------ refusals

TEST(a_stencil, is_refused_with_the_reason) {
  const tensor x = normal({4, 5}, 1);
  const auto f = kg::fuse(1, boundary::zero, [](fields u) { return u[0](1, 0) + u[0](0, 1); });
  EXPECT_TRUE(says(refusal([&] { return f(normal({4}, 1)); }), {"[kg::fuse]", "x[0]"}));
  EXPECT_TRUE(says(refusal([&] { return f(x, x); }), {"[kg::fuse] got 2 operands"}));
  EXPECT_TRUE(says(refusal([&] { return kg::fused_stencil<1>()(x); }), {"[kg::fuse] got an empty fused_stencil"}));
  EXPECT_TRUE(says(refusal([&] { return kg::shift(x, {1, 1, 1}); }), {"[kg::shift]"}));
  EXPECT_TRUE(
      says(refusal([&] { return kg::shift(x, {2'000'000'000}); }), {"[kg::shift] got an offset of 2000000000"}));
  EXPECT_TRUE(says(refusal([&] {
                     return kg::fuse(1, {boundary::zero, boundary::edge}, [](fields u) { return u[0](1, 0, 0) + 1; });
                   }),
                   {"[kg::fuse] got 2 boundaries for offsets along 3 axes"}));
  EXPECT_TRUE(says(refusal([&] { return kg::fuse(0, boundary::zero, [](fields) { return symbol(); }); }),
                   {"[kg::fuse] got 0 operands"}));
  EXPECT_TRUE(says(refusal([&] {
                     return kg::fuse(1, boundary::zero, [](fields u) {
                       symbol y = u[0]();
                       for (int i = 1; i < 200; ++i) y = y + u[0](i);
                       return y;
                     });
                   }),
                   {"[kg::fuse] got more than 100 different reads"}));
}

}  // namespace
