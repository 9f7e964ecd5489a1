// SPDX-License-Identifier: Apache-2.0
// Ops that take, place and look up elements, against walks over their definitions, index by index; and what they
// reject. every_op.cc checks the rules that hold for every op.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include <range/v3/view/cartesian_product.hpp>

#include "tests/support/refusal.h"

import kerngrad;

namespace {

namespace views = ranges::views;
using list = std::vector<std::int64_t>;

kg::tensor counted(const kg::shape& dims) {
  std::vector<std::int32_t> values(static_cast<std::size_t>(dims.size()));
  std::iota(values.begin(), values.end(), 1);
  return kg::tensor(values, dims);
}

kg::tensor int32s(std::vector<std::int32_t> values, const kg::shape& dims) { return kg::tensor(values, dims); }

// Every index of a shape, in row-major order.
void each_index(const kg::shape& dims, const std::function<void(const list&)>& f) {
  list index(static_cast<std::size_t>(dims.rank()));
  for (std::int64_t n = 0; n < dims.size(); ++n) {
    std::int64_t rest = n;
    for (int axis = dims.rank() - 1; axis >= 0; rest /= dims[axis], --axis)
      index[static_cast<std::size_t>(axis)] = rest % dims[axis];
    f(index);
  }
}

std::int32_t at(const kg::tensor& x, const list& index) {
  std::int64_t flat = 0;
  for (std::size_t axis = 0; axis < index.size(); ++axis) flat = flat * x.dims()[static_cast<int>(axis)] + index[axis];
  return x.data<std::int32_t>()[static_cast<std::size_t>(flat)];
}

void expect_walk(const kg::tensor& y, const kg::shape& dims, const std::function<std::int32_t(const list&)>& wanted) {
  ASSERT_EQ(y.dims(), dims);
  each_index(dims, [&](const list& index) { ASSERT_EQ(at(y, index), wanted(index)); });
}

template <class F>
void expect_refusal(F call, std::string_view part) {
  const std::string text = kgtest::refusal(call);
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

// ------------------------------------------------------------------------------------------ strided slices

// The indices that Python's slice(begin, end, step) takes of an axis: walked from an in-range start while inside.
list walked(std::int64_t begin, std::int64_t end, std::int64_t step, std::int64_t size) {
  const auto from_front = [&](std::int64_t i) { return i < 0 ? i + size : i; };
  list taken;
  for (std::int64_t i = from_front(begin); step > 0 ? i < std::min(from_front(end), size) : i > from_front(end);
       i += step)
    if (i >= 0 && i < size) taken.push_back(i);
    else if ((step > 0 && i >= size) || (step < 0 && i < 0)) break;
  return taken;
}

TEST(strided_slice, takes_what_a_walk_from_begin_to_before_end_meets) {
  constexpr std::int64_t bounds[] = {-3, -1, 0, 1, 2, 4, 5}, steps[] = {1, 2, 3, 7};
  const kg::tensor x = counted({5, 2});
  for (const auto& [begin, end, step] : views::cartesian_product(bounds, bounds, steps)) {
    const list rows = walked(begin, end, step, 5);
    expect_walk(kg::strided_slice(x, {begin}, {end}, {step}), {static_cast<std::int64_t>(rows.size()), 2},
                [&](const list& i) { return at(x, {rows[static_cast<std::size_t>(i[0])], i[1]}); });
  }
}

TEST(strided_slice, walks_backwards_with_negative_strides) {
  constexpr std::int64_t begins[] = {-1, 4, 3, 0, -5}, ends[] = {0, 1, -2, 2}, steps[] = {-1, -2, -4};
  const kg::tensor x = counted({2, 5});
  for (const auto& [begin, end, step] : views::cartesian_product(begins, ends, steps)) {
    const list columns = walked(begin, end, step, 5);
    expect_walk(kg::strided_slice(x, {0, begin}, {2, end}, {1, step}), {2, static_cast<std::int64_t>(columns.size())},
                [&](const list& i) { return at(x, {i[0], columns[static_cast<std::size_t>(i[1])]}); });
  }
}

TEST(strided_slice, takes_bounds_far_outside_as_the_ends_of_the_axis) {
  constexpr std::int64_t far = 1'000'000'000'000;
  const kg::tensor x = counted({4});
  expect_walk(kg::strided_slice(x, {-far}, {far}), {4}, [&](const list& i) { return at(x, i); });
  expect_walk(kg::strided_slice(x, {far}, {-far}, {-1}), {4}, [&](const list& i) { return at(x, {3 - i[0]}); });
  expect_walk(kg::strided_slice(x, {1}, {far}, {far}), {1}, [&](const list&) { return at(x, {1}); });
}

TEST(strided_slice, masks_open_bounds_add_axes_drop_axes_and_stand_for_the_rest) {
  const kg::tensor x = counted({3, 4, 2});
  expect_walk(kg::strided_slice(x, {2, 3}, {1, 1}, {}, {.begin = 1, .end = 2}), {1, 1, 2},
              [&](const list& i) { return at(x, {0, 3, i[2]}); });
  expect_walk(kg::strided_slice(x, {2, 1}, {0, 0}, {-1, -1}, {.begin = 2, .end = 1}), {3, 3, 2},
              [&](const list& i) { return at(x, {2 - i[0], 3 - i[1], i[2]}); });
  expect_walk(kg::strided_slice(x, {0, 1}, {0, 2}, {}, {.ellipsis = 1}), {3, 4, 1},
              [&](const list& i) { return at(x, {i[0], i[1], 1}); });
  expect_walk(kg::strided_slice(x, {0, -1, 0}, {0, 0, 3}, {}, {.new_axis = 1, .shrink_axis = 2}), {1, 3, 2},
              [&](const list& i) { return at(x, {2, i[1], i[2]}); });
}

TEST(strided_slice, refuses_what_names_no_elements) {
  const kg::tensor x = counted({3, 4});
  expect_refusal([&] { kg::strided_slice(x, {0}, {1}, {0}); }, "stride 0");
  expect_refusal([&] { kg::strided_slice(x, {0, 0, 0}, {1, 1, 1}); }, "3 indices");
  expect_refusal([&] { kg::strided_slice(x, {0}, {1, 2}); }, "2 ends");
  expect_refusal([&] { kg::strided_slice(x, {3}, {4}, {}, {.shrink_axis = 1}); }, "index 3");
  expect_refusal([&] { kg::strided_slice(x, {0, 0}, {0, 0}, {}, {.ellipsis = 3}); }, "ellipsisMask");
}

// ------------------------------------------------------------------------------------------ borders and blocks

TEST(mirror_pad, repeats_the_elements_backwards_with_and_without_the_outermost) {
  const kg::tensor x = counted({3, 4});
  const auto mirrored = [](std::int64_t i, std::int64_t size, std::int64_t skipped) {
    if (i < 0) return skipped - 1 - i;
    return i < size ? i : 2 * size - 1 - skipped - i;
  };
  for (const auto& [how, skipped] : {std::pair(kg::mirror::reflect, 1), std::pair(kg::mirror::symmetric, 0)})
    expect_walk(kg::mirror_pad(x, {2, 1, 0, 3}, how), {6, 7}, [&, skipped = skipped](const list& i) {
      return at(x, {mirrored(i[0] - 2, 3, skipped), mirrored(i[1], 4, skipped)});
    });
  expect_refusal([&] { kg::mirror_pad(x, {3, 0, 0, 0}); }, "a padding of 3");
  expect_refusal([&] { kg::mirror_pad(x, {0, 0, 0, 5}, kg::mirror::symmetric); }, "a padding of 5");
}

TEST(pad, repeats_the_outermost_elements_or_the_axis_and_is_as_wide_as_it_was_asked_for) {
  const kg::tensor x = counted({3, 4});
  const auto wrapped = [](std::int64_t i, std::int64_t size) { return ((i % size) + size) % size; };
  expect_walk(kg::pad(x, {2, 5, 0, 9}, kg::pad_mode::edge), {10, 13}, [&](const list& i) {
    return at(x, {std::clamp<std::int64_t>(i[0] - 2, 0, 2), std::min<std::int64_t>(i[1], 3)});
  });
  expect_walk(kg::pad(x, {7, 5, 9, 0}, kg::pad_mode::wrap), {15, 13},
              [&](const list& i) { return at(x, {wrapped(i[0] - 7, 3), wrapped(i[1] - 9, 4)}); });
  const kg::tensor large = counted({64, 3, 50, 2});  // several threads take some of the first axis each
  expect_walk(kg::pad(large, {0, 0, 0, 0, 60, 1, 0, 0}, kg::pad_mode::wrap), {64, 3, 111, 2},
              [&](const list& i) { return at(large, {i[0], i[1], wrapped(i[2] - 60, 50), i[3]}); });
}

TEST(pad, takes_every_mode_and_refuses_what_has_nothing_to_repeat) {
  const kg::tensor x = counted({3, 4}), none = counted({0, 2});
  const std::vector<std::int64_t> pairs = {1, 2, 0, 1};
  const auto same = [](const kg::tensor& a, const kg::tensor& b) {
    return a.dims() == b.dims() && kg::all(kg::equal(a, b)).item() != 0;
  };
  EXPECT_TRUE(same(kg::pad(x, pairs, kg::pad_mode::constant), kg::pad(x, pairs)));
  EXPECT_TRUE(same(kg::pad(x, {{1, 2}, {0, 1}}, 5), kg::pad(x, pairs, 5)));
  EXPECT_TRUE(same(kg::pad(kg::tensor(1.f), {}), kg::tensor(1.f)));
  EXPECT_TRUE(same(kg::pad(kg::tensor(1.f), {}, kg::pad_mode::edge), kg::tensor(1.f)));
  EXPECT_TRUE(same(kg::pad(kg::tensor({"a"}), {{1, 0}}, "b"), kg::tensor({"b", "a"})));
  EXPECT_TRUE(same(kg::pad(x, {{1, 2}, {0, 1}}, kg::pad_mode::edge), kg::pad(x, pairs, kg::pad_mode::edge)));
  EXPECT_TRUE(same(kg::pad(x, pairs, kg::pad_mode::reflect), kg::mirror_pad(x, pairs, kg::mirror::reflect)));
  EXPECT_TRUE(same(kg::pad(x, pairs, kg::pad_mode::symmetric), kg::mirror_pad(x, pairs, kg::mirror::symmetric)));
  EXPECT_EQ(kg::pad(none, {0, 0, 1, 1}, kg::pad_mode::edge).dims(), (kg::shape{0, 4}));
  expect_refusal([&] { kg::pad(none, {0, 1, 0, 0}, kg::pad_mode::wrap); }, "a padding of 1 on axis 0 of size 0");
  expect_refusal([&] { kg::pad(x, {-1, 0, 0, 0}, kg::pad_mode::edge); }, "a negative padding");
  expect_refusal([&] { kg::pad(x, {1, 0}, kg::pad_mode::edge); }, "paddings of 2 values");
}

TEST(space_to_batch, puts_each_place_of_a_block_into_a_part_of_the_batch) {
  const kg::tensor x = counted({2, 3, 5, 2});
  const kg::tensor y = kg::space_to_batch(x, {2, 3}, {1, 0, 0, 1});
  expect_walk(y, {12, 2, 2, 2}, [&](const list& i) {
    const std::int64_t place = i[0] / 2, row = i[1] * 2 + place / 3 - 1, column = i[2] * 3 + place % 3;
    return row < 0 || column >= 5 ? 0 : at(x, {i[0] % 2, row, column, i[3]});
  });
  const kg::tensor back = kg::batch_to_space(y, {2, 3}, {1, 0, 0, 1});
  expect_walk(back, {2, 3, 5, 2}, [&](const list& i) { return at(x, i); });
  expect_refusal([&] { kg::space_to_batch(x, {2}, {0, 0}); }, "a multiple of the block size");
  expect_refusal([&] { kg::batch_to_space(x, {3}, {0, 0}); }, "a batch of 2");
}

TEST(depth_to_space, spreads_the_channels_over_a_block) {
  const kg::tensor x = counted({1, 2, 3, 8});
  expect_walk(kg::depth_to_space(x, 2), {1, 4, 6, 2},
              [&](const list& i) { return at(x, {0, i[1] / 2, i[2] / 2, (i[1] % 2 * 2 + i[2] % 2) * 2 + i[3]}); });
  const kg::tensor planes = counted({1, 8, 2, 3});
  const kg::tensor y = kg::run_kernel("DepthToSpace", {{"x", planes}}, {{"blockSize", 2}, {"dataFormat", "NCHW"}});
  expect_walk(y, {1, 2, 4, 6},
              [&](const list& i) { return at(planes, {0, (i[2] % 2 * 2 + i[3] % 2) * 2 + i[1], i[2] / 2, i[3] / 2}); });
  expect_refusal([&] { kg::depth_to_space(x, 3); }, "8 channels");
}

TEST(diag, has_the_elements_on_its_diagonal_and_zeros_elsewhere) {
  const kg::tensor x = counted({2, 3});
  expect_walk(kg::diag(x), {2, 3, 2, 3},
              [&](const list& i) { return i[0] == i[2] && i[1] == i[3] ? at(x, {i[0], i[1]}) : 0; });
  expect_refusal([&] { kg::diag(counted({1, 1, 1, 1, 1})); }, "rank 5");
}

TEST(band_part, keeps_the_diagonals_between_the_two_bounds) {
  const kg::tensor x = counted({2, 4, 5});
  constexpr std::int64_t lowers[] = {-1, 0, 1, 4}, uppers[] = {-1, 0, 2, 5};
  for (const auto& [lower, upper] : views::cartesian_product(lowers, uppers))
    expect_walk(kg::band_part(x, lower, upper), {2, 4, 5}, [&, lower = lower, upper = upper](const list& i) {
      const bool inside = (lower < 0 || i[1] - i[2] <= lower) && (upper < 0 || i[2] - i[1] <= upper);
      return inside ? at(x, i) : 0;
    });
  expect_refusal([&] { kg::band_part(x, 5, 0); }, "numLower 5");
  expect_refusal([&] { kg::band_part(x, 0, 6); }, "numUpper 6");
  expect_refusal([&] { kg::band_part(counted({3}), 0, 0); }, "rank 1");
}

TEST(band_part, is_the_same_by_several_threads) {
  const kg::tensor x = counted({3, 200, 301});
  expect_walk(kg::band_part(x, 7, 20), {3, 200, 301},
              [&](const list& i) { return i[1] - i[2] <= 7 && i[2] - i[1] <= 20 ? at(x, i) : 0; });
}

// ------------------------------------------------------------------------------------------ rows of indices

TEST(gather_nd, takes_the_slice_that_each_row_names) {
  const kg::tensor x = counted({2, 3, 4}), rows = int32s({1, 2, 0, 0, 1, 0}, {3, 1, 2});
  for (const kg::tensor& indices : {rows, kg::cast(rows, kg::dtype::int64)})
    expect_walk(kg::gather_nd(x, indices), {3, 1, 4},
                [&](const list& i) { return at(x, {at(rows, {i[0], 0, 0}), at(rows, {i[0], 0, 1}), i[2]}); });
  expect_refusal([&] { kg::gather_nd(x, int32s({0, 3}, {1, 2})); }, "index 3 in row 0");
  expect_refusal([&] { kg::gather_nd(x, int32s({-1}, {1, 1})); }, "index -1");
  expect_refusal([&] { kg::gather_nd(x, int32s({0, 0, 0, 0}, {1, 4})); }, "4 indices in a row");
}

TEST(scatter_nd, adds_the_updates_of_equal_rows) {
  const kg::tensor rows = int32s({2, 0, 2}, {3, 1}), updates = counted({3, 2});
  expect_walk(kg::scatter_nd(rows, updates, {4, 2}), {4, 2}, [&](const list& i) {
    std::int32_t sum = 0;
    for (std::int64_t r = 0; r < 3; ++r) sum += at(rows, {r, 0}) == i[0] ? at(updates, {r, i[1]}) : 0;
    return sum;
  });
  expect_refusal([&] { kg::scatter_nd(rows, updates, {2, 2}); }, "index 2 in row 0");
  expect_refusal([&] { kg::scatter_nd(rows, updates, {4, 3}); }, "updates of shape [3, 2]");
}

TEST(tensor_scatter_update, keeps_the_last_of_equal_rows_and_what_no_row_names) {
  const kg::tensor x = counted({4, 2}), rows = int32s({2, 0, 2}, {3, 1}),
                   updates = int32s({-1, -2, -3, -4, -5, -6}, {3, 2});
  const kg::tensor wanted = int32s({-3, -4, 3, 4, -5, -6, 7, 8}, {4, 2});
  expect_walk(kg::tensor_scatter_update(x, rows, updates), {4, 2}, [&](const list& i) { return at(wanted, i); });
  expect_walk(x, {4, 2}, [&](const list& i) { return static_cast<std::int32_t>(i[0] * 2 + i[1] + 1); });
}

TEST(tensor_scatter_update, gives_an_update_that_was_overwritten_no_gradient) {
  const kg::tensor x = kg::ones({4}), rows = int32s({2, 0, 2}, {3, 1}), updates = kg::ones({3});
  const auto f = [&](const kg::tensor& a, const kg::tensor& b) {
    return kg::sum(kg::tensor_scatter_update(a, rows, b) * kg::tensor({1.f, 2.f, 3.f, 4.f}));
  };
  const auto of_both = kg::grads(f)(x, updates);
  EXPECT_EQ(of_both[0].to_doubles(), (std::vector<double>{0, 2, 0, 4}));
  EXPECT_EQ(of_both[1].to_doubles(), (std::vector<double>{0, 1, 3}));
}

// ------------------------------------------------------------------------------------------ combined updates

using doubles = std::vector<double>;
constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

// NaN is NaN.
void expect_numbers(const kg::tensor& got, const doubles& wanted) {
  const doubles numbers = got.to_doubles();
  ASSERT_EQ(numbers.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i)
    EXPECT_TRUE(std::isnan(wanted[i]) ? std::isnan(numbers[i]) : numbers[i] == wanted[i]) << i << ": " << numbers[i];
}

const kg::tensor twice = int32s({2, 0, 2}, {3, 1});

TEST(scatters, combine_what_is_there_with_each_update_in_turn) {
  const kg::tensor x({1.f, 2.f, 3.f}), updates({5.f, -6.f, 7.f});
  for (const kg::tensor& rows : {twice, kg::cast(twice, kg::dtype::int64)}) {
    expect_numbers(kg::scatter_add(x, rows, updates), {-5, 2, 15});
    expect_numbers(kg::scatter_mul(x, rows, updates), {-6, 2, 105});
    expect_numbers(kg::scatter_max(x, rows, updates), {1, 2, 7});
    expect_numbers(kg::scatter_min(x, rows, updates), {-6, 2, 3});
  }
  expect_numbers(kg::scatter_add(kg::zeros({2, 2}), int32s({1, 1}, {2}), kg::tensor({1.f, 2.f, 3.f, 4.f}, {2, 2})),
                 {0, 0, 4, 6});
  constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max();
  expect_numbers(kg::scatter_add(int32s({most}, {1}), int32s({0}, {1}), int32s({1}, {1})), {-1.0 - most});
  expect_refusal([&] { kg::scatter_add(x, int32s({3}, {1}), kg::ones({1})); }, "index 3 in row 0");
  expect_refusal([&] { kg::scatter_max(x, twice, kg::ones({2})); }, "updates of shape [2]");
}

TEST(scatters, keep_nan_as_greatest_and_as_least) {
  const kg::tensor x({1., nan, 3.}), rows = int32s({0, 0, 1}, {3, 1}), updates({nan, 5., 5.});
  expect_numbers(kg::scatter_max(x, rows, updates), {nan, nan, 3});
  expect_numbers(kg::scatter_min(x, rows, updates), {nan, nan, 3});
}

// Gradients of x and updates from the sum of the result times 1, 2, 3, ...
template <class F>
std::vector<kg::tensor> slopes(F f, const kg::tensor& x, const kg::tensor& updates) {
  const auto all = kg::grads([&](const kg::tensor& a, const kg::tensor& b) {
    const kg::tensor y = f(a, b);
    return kg::sum(y * kg::reshape(kg::arange(1, static_cast<double>(y.size() + 1), 1, y.type()), y.dims()));
  })(x, updates);
  return {all[0], all[1]};
}

TEST(scatters, share_dy_among_all_that_equal_an_extreme) {
  const auto f = [](const kg::tensor& a, const kg::tensor& b) { return kg::scatter_max(a, twice, b); };
  const auto all = slopes(f, kg::tensor({9., 1., 4.}), kg::tensor({4., 5., 4.}));
  expect_numbers(all[0], {1, 2, 1});
  expect_numbers(all[1], {1, 0, 1});
}

TEST(scatters, give_gradients_of_products_with_zeros_among_the_factors) {
  const kg::tensor rows = int32s({0, 1, 0, 1, 0}, {5, 1});
  const auto f = [&](const kg::tensor& a, const kg::tensor& b) { return kg::scatter_mul(a, rows, b); };
  const auto all = slopes(f, kg::tensor({2., 3.}), kg::tensor({0., 5., 4., 0., 3.}));
  expect_numbers(all[0], {0, 0});
  expect_numbers(all[1], {2 * 4 * 3, 0, 0, 2 * 3 * 5, 0});
  // d2(x a b c) / da db = x c, with a = b = 0.
  const auto product = [&](const kg::tensor& b) {
    return kg::sum(kg::scatter_mul(kg::tensor({2.}), int32s({0, 0, 0}, {3}), b));
  };
  const kg::tensor at({0., 0., 7.});
  const auto slope = [&](const kg::tensor& b) { return kg::sum(kg::slice(kg::grad(product)(b), {0}, {1})); };
  expect_numbers(kg::grad(slope)(at), {0, 14, 0});
}

TEST(segments, have_means_products_and_extremes) {
  const kg::tensor x({1.f, -2.f, 3.f, 4.f, 5.f, 6.f, -7.f, 9.f}, {4, 2}), narrow = int32s({2, 0, 2, 5}, {4});
  for (const kg::tensor& ids : {narrow, kg::cast(narrow, kg::dtype::int64)}) {
    expect_numbers(kg::segment_mean(x, ids, 3), {3, 4, 0, 0, 3, 2});
    expect_numbers(kg::segment_prod(x, ids, 3), {3, 4, 1, 1, 5, -12});
    expect_numbers(kg::segment_max(x, ids, 3), {3, 4, -inf, -inf, 5, 6});
    expect_numbers(kg::segment_min(x, ids, 3), {3, 4, inf, inf, 1, -2});
  }
  const kg::tensor whole = int32s({-3, 2, 7}, {3}), ids = int32s({0, 0, 2}, {3});
  using limits = std::numeric_limits<std::int32_t>;
  expect_numbers(kg::segment_mean(whole, ids, 3), {0, 0, 7});
  expect_numbers(kg::segment_max(whole, ids, 3), {2, limits::lowest(), 7});
  expect_numbers(kg::segment_min(whole, ids, 3), {-3, limits::max(), 7});
  EXPECT_EQ(kg::segment_max(x, narrow, 0).dims(), (kg::shape{0, 2}));
  expect_refusal([&] { kg::segment_max(x, int32s({0}, {1}), 3); }, "ids with the first sizes of x");
}

TEST(segments, give_rows_that_were_dropped_no_gradient_not_even_nan) {
  const kg::tensor x({2., 3., 4.}), ids = int32s({1, -1, 1}, {3}), weights({nan, 10.});
  const auto gradient = [&](auto f) {
    return kg::grad([&](const kg::tensor& v) { return kg::sum(f(v, ids, 2) * weights); })(x);
  };
  const auto call = [](auto f) { return [f](const auto&... in) { return f(in...); }; };
  expect_numbers(gradient(call(kg::segment_sum)), {10, 0, 10});
  expect_numbers(gradient(call(kg::segment_mean)), {5, 0, 5});
  expect_numbers(gradient(call(kg::segment_prod)), {40, 0, 20});
  expect_numbers(gradient(call(kg::segment_max)), {0, 0, 10});
  expect_numbers(gradient(call(kg::segment_min)), {10, 0, 0});
}

// ------------------------------------------------------------------------------------------ along an axis

// The index of the element of x [2, 3, 4] that an index along `axis` names: NumPy's definition, x broadcast.
list named(const list& i, int axis, const kg::shape& x, const kg::tensor& indices) {
  list place = i, from = i;
  for (int k = 0; k < 3; ++k) {
    if (indices.dims()[k] == 1) place[static_cast<std::size_t>(k)] = 0;
    if (x[k] == 1) from[static_cast<std::size_t>(k)] = 0;
  }
  const std::int32_t index = at(indices, place);
  from[static_cast<std::size_t>(axis)] = index < 0 ? index + x[axis] : index;
  return from;
}

struct along_case {
  kg::shape x, indices, y;
  int axis;
};
const std::vector<along_case> along_cases = {
    {{2, 3, 4}, {2, 3, 5}, {2, 3, 5}, 2}, {{2, 3, 4}, {2, 5, 4}, {2, 5, 4}, 1}, {{2, 3, 4}, {5, 3, 4}, {5, 3, 4}, 0},
    {{2, 3, 4}, {2, 2, 1}, {2, 2, 4}, 1}, {{2, 3, 4}, {1, 2, 4}, {2, 2, 4}, 1}, {{2, 3, 4}, {3, 1, 1}, {3, 3, 4}, 0},
    {{2, 3, 4}, {3, 1, 4}, {3, 3, 4}, 0}, {{1, 3, 4}, {2, 3, 2}, {2, 3, 2}, 2}, {{2, 3, 1}, {2, 2, 4}, {2, 2, 4}, 1},
    {{2, 3, 4}, {2, 0, 4}, {2, 0, 4}, 1}, {{2, 0, 4}, {2, 0, 1}, {2, 0, 4}, 1}};

kg::tensor indices_of(const along_case& c) {
  std::vector<std::int32_t> values;
  const auto size = static_cast<std::int32_t>(c.x[c.axis]);
  for (std::int32_t i = 0; i < c.indices.size(); ++i) values.push_back(i * 7 % (2 * size) - size);
  return int32s(values, c.indices);
}

TEST(take_along_axis, takes_what_numpy_takes) {
  for (const along_case& c : along_cases) {
    const kg::tensor x = counted(c.x), narrow = indices_of(c);
    for (const kg::tensor& indices : {narrow, kg::cast(narrow, kg::dtype::int64)})
      for (const int axis : {c.axis, c.axis - 3})
        expect_walk(kg::take_along_axis(x, indices, axis), c.y,
                    [&](const list& i) { return at(x, named(i, c.axis, c.x, narrow)); });
  }
}

TEST(take_along_axis, takes_sorted_elements_at_their_places) {
  const kg::tensor x = kg::random_normal({40, 3, 700}, 0, 1, 3);
  EXPECT_EQ(kg::take_along_axis(x, kg::argsort(x)).to_doubles(), kg::sort(x).to_doubles());
}

TEST(put_along_axis, puts_the_last_of_equal_indices_and_combines_all_in_their_order) {
  for (const along_case& c : along_cases) {
    const kg::tensor x = counted(c.x), indices = indices_of(c), updates = counted(c.y) * 100;
    std::vector<std::int32_t> put(x.data<std::int32_t>().begin(), x.data<std::int32_t>().end()), added = put;
    each_index(c.y, [&](const list& i) {
      const list to = named(i, c.axis, c.x, indices);
      const auto flat = static_cast<std::size_t>((to[0] * c.x[1] + to[1]) * c.x[2] + to[2]);
      put[flat] = at(updates, i);
      added[flat] += at(updates, i);
    });
    const auto as_walked = [&](const kg::tensor& y, const std::vector<std::int32_t>& wanted) {
      const kg::tensor all = int32s(wanted, c.x);
      expect_walk(y, c.x, [&](const list& i) { return at(all, i); });
    };
    as_walked(kg::put_along_axis(x, indices, updates, c.axis), put);
    as_walked(kg::scatter_along_axis(x, indices, updates, kg::scatter_reduction::add, c.axis), added);
  }
}

TEST(put_along_axis, broadcasts_its_updates) {
  const kg::tensor x = kg::zeros({2, 3}), at = int32s({0, 2, 1, 1}, {2, 2});
  expect_numbers(kg::put_along_axis(x, at, kg::tensor(5.f)), {5, 0, 5, 0, 5, 0});
  expect_numbers(kg::put_along_axis(x, int32s({1}, {1, 1}), kg::tensor(5.f), 0), {0, 0, 0, 5, 5, 5});
  expect_numbers(kg::scatter_along_axis(x, at, kg::tensor({1.f, 2.f}), kg::scatter_reduction::add), {1, 0, 2, 0, 3, 0});
  expect_numbers(kg::scatter_along_axis(x, at, kg::tensor(-5.f), kg::scatter_reduction::min), {-5, 0, -5, 0, -5, 0});
}

TEST(put_along_axis, gives_an_update_that_was_overwritten_no_gradient) {
  const kg::tensor at = int32s({1, 1, 0}, {1, 3});
  const auto f = [&](const kg::tensor& a, const kg::tensor& b) { return kg::put_along_axis(a, at, b); };
  const auto all = slopes(f, kg::ones({2, 3}), kg::ones({3}));
  expect_numbers(all[0], {0, 0, 3, 0, 0, 6});
  expect_numbers(all[1], {0, 2 + 5, 1 + 4});
}

TEST(take_along_axis, refuses_what_names_no_element) {
  const kg::tensor x = counted({2, 3});
  expect_refusal([&] { kg::take_along_axis(x, int32s({0, 3}, {2, 1})); }, "index 3 at 1 of the indices");
  expect_refusal([&] { kg::take_along_axis(x, int32s({-4}, {1, 1})); }, "indices from -3 to 2");
  expect_refusal([&] { kg::take_along_axis(x, int32s({0}, {1})); }, "indices of rank 1");
  expect_refusal([&] { kg::take_along_axis(x, int32s({0, 0, 0}, {3, 1})); }, "sizes that broadcast");
  expect_refusal([&] { kg::take_along_axis(x, int32s({0}, {1, 1}), 2); }, "axis 2");
  expect_refusal([&] { kg::take_along_axis(int32s({1}, {}), int32s({0}, {})); }, "x of rank 0");
  expect_refusal([&] { kg::take_along_axis(counted({2, 0}), int32s({0, 0}, {2, 1})); }, "an axis without elements");
  expect_refusal([&] { kg::put_along_axis(x, int32s({0, 1}, {2, 1}), counted({3, 1})); }, "updates of shape [3, 1]");
}

TEST(scatters, have_the_same_bits_however_many_threads_add) {
  const kg::tensor x = kg::random_normal({300, 517}, 0, 1, 5), rows = kg::random_uniform({4000}, 0, 300, 6);
  const kg::tensor at = kg::cast(rows, kg::dtype::int32), updates = kg::random_normal({4000, 517}, 0, 1, 7);
  const kg::tensor places = kg::cast(kg::random_uniform({300, 900}, 0, 517, 8), kg::dtype::int32);
  const auto all = [&] {
    const std::vector<kg::tensor> results = {
        kg::scatter_add(x, at, updates), kg::segment_mean(updates, at, 300), kg::segment_max(updates, at, 300),
        kg::take_along_axis(x, places),
        kg::scatter_along_axis(x, places, kg::random_normal({300, 900}, 0, 1, 9), kg::scatter_reduction::add)};
    std::vector<doubles> numbers;
    for (const kg::tensor& y : results) numbers.push_back(y.to_doubles());
    return numbers;
  };
  const auto alone = all();
  kg::set_num_threads(3);
  const auto together = all();
  kg::set_num_threads(1);
  EXPECT_EQ(alone, together);
}

TEST(sparse_to_dense, has_the_values_at_the_indices_and_the_default_elsewhere) {
  const kg::tensor rows = int32s({0, 2, 1, 0}, {2, 2});
  expect_walk(kg::sparse_to_dense(rows, int32s({5, 6}, {2}), {2, 3}, 9), {2, 3}, [](const list& i) {
    return i == list{0, 2} ? 5 : i == list{1, 0} ? 6 : 9;
  });
  expect_walk(kg::sparse_to_dense(int32s({3, 1}, {2}), int32s({5}, {}), {5}), {5},
              [](const list& i) { return i[0] == 1 || i[0] == 3 ? 5 : 0; });
  expect_walk(kg::sparse_to_dense(int32s({1}, {}), int32s({5}, {}), {2}), {2},
              [](const list& i) { return i[0] == 1 ? 5 : 0; });
  expect_refusal([&] { kg::sparse_to_dense(rows, int32s({5, 6, 7}, {3}), {2, 3}); }, "sparseValues of shape [3]");
  expect_refusal([&] { kg::sparse_to_dense(rows, int32s({5}, {}), {6}); }, "2 indices of each value");
}

TEST(broadcast_args, gives_the_shape_that_both_broadcast_to) {
  const kg::tensor y = kg::broadcast_args(int32s({1, 6, 0}, {3}), int32s({3, 4, 1, 1}, {4}));
  const kg::tensor wanted = int32s({3, 4, 6, 0}, {4});
  expect_walk(y, {4}, [&](const list& i) { return at(wanted, i); });
  expect_refusal([] { kg::broadcast_args(int32s({2}, {1}), int32s({3}, {1})); }, "the sizes 2 and 3");
}

}  // namespace
