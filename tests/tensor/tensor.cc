// SPDX-License-Identifier: Apache-2.0
// Tensors as values: building, sharing, reading, literals, counters.
#include <gtest/gtest.h>

#include <concepts>
#include <span>
#include <utility>
#include <vector>
#include <limits>
#include <algorithm>
#include <cmath>
#include <complex>
#include <string>
#include <thread>

#include "tests/support/refusal.h"

namespace {

using kg::dtype;
using kg::shape;
using kg::tensor;
using kgtest::accepted;
using kgtest::refusal;
using doubles = std::vector<double>;

TEST(a_tensor, is_built_from_lists_spans_vectors_and_scalars) {
  const std::vector<double> values = {1, 2, 3, 4};
  const float more[] = {5, 6};
  EXPECT_EQ(tensor({1.f, 2.f}).signature(), (kg::signature{shape{2}, dtype::float32}));
  EXPECT_EQ(tensor({1, 2, 3, 4}, {2, 2}).signature(), (kg::signature{shape{2, 2}, dtype::int32}));
  EXPECT_EQ(tensor(values).signature(), (kg::signature{shape{4}, dtype::float64}));
  EXPECT_EQ(tensor(values, {4, 1}).to_doubles(), values);
  EXPECT_EQ(tensor(std::span<const float>(more), {1, 2}).to_doubles(), (std::vector<double>{5, 6}));
  EXPECT_EQ(tensor(2.5).signature(), (kg::signature{shape{}, dtype::float64}));
  EXPECT_EQ(tensor(std::int64_t{7}).type(), dtype::int64);
  EXPECT_EQ(tensor(std::uint8_t{7}).type(), dtype::uint8);
  EXPECT_EQ(tensor({kg::complex64{1, 2}}).type(), dtype::complex64);
}

TEST(a_tensor, is_a_matrix_when_it_is_written_in_braces_of_braces) {
  const std::vector<double> four = {1, 2, 3, 4};
  const tensor rows{{1, 2}, {3, 4}}, values({1, 2, 3, 4}, {2, 2}), square{{1, 2}, {1, 2}};
  EXPECT_EQ(rows.signature(), (kg::signature{shape{2, 2}, dtype::int32}));
  EXPECT_EQ(rows.to_doubles(), four);
  EXPECT_EQ(values.signature(), rows.signature());
  EXPECT_EQ(square.dims(), (shape{2, 2})) << "not the values 1, 2 of shape [1, 2]";
  EXPECT_EQ(tensor({1, 2}, {1, 2}).dims(), (shape{1, 2}));
  EXPECT_EQ(tensor({{1.f, 2.f}, {3.f, 4.f}}).signature(), (kg::signature{shape{2, 2}, dtype::float32}));
  EXPECT_EQ((tensor{{7}}).dims(), (shape{1, 1}));
  EXPECT_EQ((tensor{{true}, {false}}).signature(), (kg::signature{shape{2, 1}, dtype::boolean}));
  const tensor stack{{{1.0, 2.0}, {3.0, 4.0}, {5.0, 6.0}}, {{7.0, 8.0}, {9.0, 10.0}, {11.0, 12.0}}};
  EXPECT_EQ(stack.signature(), (kg::signature{shape{2, 3, 2}, dtype::float64}));
  EXPECT_EQ(stack.to_doubles(), (std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
  EXPECT_EQ((tensor{{{{1}}}, {{{2}}}}).dims(), (shape{2, 1, 1, 1}));
  EXPECT_EQ(kg::sum({{1, 2}, {3, 4}}, 0).to_doubles(), (std::vector<double>{4, 6})) << "as an argument, too";
}

TEST(a_tensor, of_ragged_braces_is_refused) {
  for (const std::string& text :
       {refusal([] { return tensor{{1, 2}, {3}}; }), refusal([] { return tensor{{1.f, 2.f}, {1, 2}}; }),
        refusal([] { return tensor{{{1}, {2}}, {{3}}}; }), refusal([] { return tensor{{{1}}, {2}}; }),
        refusal([] { return tensor{{1, 2}, {}}; })})
    EXPECT_EQ(text.find("[tensor]"), 0) << text;
  EXPECT_NE(refusal([] { return tensor{{1, 2}, {3}}; }).find("int32 [2] next to braces of int32 [1]"),
            std::string::npos);
}

TEST(an_index, beyond_the_end_is_refused) {
  const tensor x = kg::zeros({6, 2});
  kg::tensor_list parts = kg::split(x, 3);
  const kg::tensor_list none;
  EXPECT_EQ(x.dims()[1], 2);
  EXPECT_EQ(parts[2].dims(), (shape{2, 2}));
  for (const std::string& text :
       {refusal([&] { static_cast<void>(x.dims()[-1]); }), refusal([&] { static_cast<void>(x.dims()[2]); }),
        refusal([&] { static_cast<void>(x.dims()[std::int64_t{1} << 32]); }),
        refusal([&] { static_cast<void>(shape{}[0]); }), refusal([&] { static_cast<void>(parts[9]); }),
        refusal([&] { static_cast<void>(parts[-1]); }), refusal([&] { static_cast<void>(none[0]); })})
    EXPECT_NE(text.find("index"), std::string::npos) << text;
}

TEST(a_tensor, keeps_booleans_whichever_way_they_come) {
  const tensor a({true, false, true}), b(std::vector<bool>{true, false, true}),
      c(std::vector<bool>{true, false}, {2, 1});
  EXPECT_EQ(a.type(), dtype::boolean);
  EXPECT_EQ(a.to_doubles(), b.to_doubles());
  EXPECT_TRUE(b.data<bool>()[0]);
  EXPECT_FALSE(c.data<bool>()[1]);
  EXPECT_EQ(c.dims(), (shape{2, 1}));
}

TEST(a_tensor, may_have_no_elements) {
  const tensor none(std::vector<float>{}), flat(std::vector<float>{}, {0, 3});
  EXPECT_TRUE(none.defined());
  EXPECT_EQ(none.size(), 0);
  EXPECT_EQ((flat + 1).dims(), (shape{0, 3}));
  EXPECT_EQ(kg::sum(flat).item(), 0);
  EXPECT_EQ(kg::sum(flat, 0).to_doubles(), (std::vector<double>{0, 0, 0}));
  EXPECT_TRUE(flat.data<float>().empty());
}

TEST(a_tensor, is_refused_when_values_and_shape_disagree) {
  EXPECT_NE(refusal([] { return tensor({1.f, 2.f, 3.f}, {2, 2}); }).find("3 values"), std::string::npos);
  EXPECT_NE(refusal([] { return tensor(std::vector<int>{1}, shape{0}); }), accepted);
}

TEST(an_empty_handle, is_false_and_refused_by_ops_and_readers) {
  const tensor nothing;
  EXPECT_FALSE(nothing.defined());
  EXPECT_EQ(to_string(nothing), "tensor (undefined)");
  for (const std::string& text :
       {refusal([&] { return nothing.dims(); }), refusal([&] { return nothing.data<float>(); }),
        refusal([&] { return nothing.item(); }), refusal([&] { return kg::exp(nothing); }),
        refusal([&] { return kg::tensor({1.f}) + nothing; }), refusal([&] { return nothing * 2; }),
        refusal([&] { return kg::grad([](const tensor& x) { return x; })(nothing); })}) {
    EXPECT_NE(text, accepted);
    EXPECT_TRUE(text.starts_with("[")) << text;
  }
}

TEST(a_copy, shares_the_elements_and_outlives_the_original) {
  tensor copy;
  {
    const tensor original({1.f, 2.f});
    copy = original;
    EXPECT_TRUE(copy.shares_with(original));
  }
  EXPECT_EQ(copy.to_doubles(), (std::vector<double>{1, 2}));
  tensor& alias = copy;
  copy = alias;
  EXPECT_EQ(copy.size(), 2);
  const tensor moved = std::move(copy);
  EXPECT_FALSE(copy.defined());
  EXPECT_EQ(moved.size(), 2);
}

TEST(a_reshape, is_a_view_that_keeps_the_elements_alive) {
  const kg::memory_info before = kg::memory();
  {
    tensor view;
    {
      const tensor x({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}, {2, 3});
      view = kg::reshape(kg::expand_dims(kg::reshape(x, {3, -1})), {6});
      EXPECT_TRUE(view.shares_with(x));
      EXPECT_EQ(kg::memory().live_buffers, before.live_buffers + 1) << "a view is no buffer";
    }
    EXPECT_EQ(view.to_doubles(), (std::vector<double>{1, 2, 3, 4, 5, 6}));
    EXPECT_EQ(kg::memory().live_buffers, before.live_buffers + 1);
  }
  EXPECT_EQ(kg::memory().live_buffers, before.live_buffers);
  EXPECT_EQ(kg::memory().live_bytes, before.live_bytes);
}

TEST(elements, lie_at_64_byte_boundaries) {
  for (std::int64_t n : {1, 3, 17, 1000, 100000})
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(kg::zeros({n}).address()) % 64, 0u);
}

TEST(elements, are_read_in_the_type_of_the_dtype_only) {
  const tensor x({1, 2});
  EXPECT_EQ(x.data<std::int32_t>()[1], 2);
  const std::string text = refusal([&] { return x.data<float>(); });
  for (const char* part : {"[data]", "int32", "float32"}) EXPECT_NE(text.find(part), std::string::npos) << text;
  EXPECT_NE(refusal([&] { return x.data<std::int64_t>(); }), accepted);
  EXPECT_NE(refusal([] { return tensor({kg::complex64{1, 2}}).to_doubles(); }), accepted);
}

TEST(item, wants_exactly_one_element) {
  EXPECT_EQ(tensor(3).item<std::int32_t>(), 3);
  EXPECT_EQ(tensor({2.5f}, {1, 1}).item(), 2.5);
  EXPECT_EQ(tensor(true).item(), 1);
  EXPECT_NE(refusal([] { return tensor({1, 2}).item(); }), accepted);
  EXPECT_NE(refusal([] { return tensor(std::vector<float>{}).item(); }), accepted);
  EXPECT_NE(refusal([] { return tensor(3).item<float>(); }), accepted);
}

// ------------------------------------------------------------------------------------------ std::complex

TEST(complex_numbers_of_std, are_elements) {
  using z64 = std::complex<float>;
  using z128 = std::complex<double>;
  static_assert(kg::dtype_of<z64> == dtype::complex64 && kg::dtype_of<const z128> == dtype::complex128);
  static_assert(!kg::element<std::vector<float>> && !kg::element<std::complex<long double>> &&
                !kg::element<std::string>);
  const tensor x({z64(1, 2), z64(-3, 0.5)});
  EXPECT_EQ(x.type(), dtype::complex64);
  EXPECT_EQ(x.data<kg::complex64>()[1], (kg::complex64{-3, 0.5}));
  EXPECT_EQ(x.data<z64>()[1], z64(-3, 0.5));
  EXPECT_EQ(x.item<z64>(0), z64(1, 2));
  EXPECT_EQ((x * x).item<z64>(0), z64(1, 2) * z64(1, 2));
  EXPECT_EQ(tensor(z128(1, -1)).item<z128>(), z128(1, -1));
  EXPECT_EQ(tensor(std::vector<z64>{{1, 1}, {2, 2}}, {2, 1}).dims(), (kg::shape{2, 1}));
  EXPECT_EQ((tensor{{z128(1, 0)}, {z128(0, 1)}}).type(), dtype::complex128);
  const tensor built = tensor::build<z128>({3}, [](std::span<z128> to) { std::ranges::fill(to, z128(0, 4)); });
  EXPECT_EQ(built.data<kg::complex128>()[2], (kg::complex128{0, 4}));
  EXPECT_NE(refusal([&] { return tensor(x.data<z128>()[0]); }), accepted);
}

// ------------------------------------------------------------------------------------------ literals

TEST(a_literal, takes_the_dtype_of_the_tensor_beside_it) {
  EXPECT_EQ((tensor({1, 2}) * 2).type(), dtype::int32);
  EXPECT_EQ((tensor({1.0}) + 0.5).type(), dtype::float64);
  EXPECT_EQ((tensor({1.0}) + 0.1f).type(), dtype::float64);
  EXPECT_EQ((0.1 - tensor({1.f})).type(), dtype::float32);
  EXPECT_EQ((tensor({std::uint8_t{3}}) + 1).type(), dtype::uint8);
  EXPECT_EQ((tensor({std::int64_t{3}}) + 1).type(), dtype::int64);
  EXPECT_EQ((tensor({kg::complex64{1, 2}}) * 2).item<kg::complex64>(), (kg::complex64{2, 4}));
  EXPECT_EQ((2 * tensor({1, 2}) - 1).to_doubles(), (std::vector<double>{1, 3}));
}

TEST(a_literal, with_a_fraction_makes_an_integer_tensor_float32) {
  const tensor half = tensor({1, 2}) * 0.5;
  EXPECT_EQ(half.type(), dtype::float32);
  EXPECT_EQ(half.to_doubles(), (std::vector<double>{0.5, 1}));
  EXPECT_EQ((tensor({1, 2}) * 2.0).type(), dtype::int32) << "a whole number is no fraction";
  EXPECT_EQ((tensor({1, 2}) < 1.5).to_doubles(), (std::vector<double>{1, 0}));
  EXPECT_EQ((tensor({true, false}) + 1).to_doubles(), (std::vector<double>{2, 1}));
}

TEST(a_literal, may_be_infinite_or_not_a_number) {
  const tensor x({1.0, 2.0});
  EXPECT_EQ((x * HUGE_VAL).to_doubles()[0], HUGE_VAL);
  EXPECT_TRUE(std::isnan((x * std::nan("")).to_doubles()[0]));
  EXPECT_TRUE(std::isnan(kg::full({2}, std::nan("")).to_doubles()[1]));
}

TEST(a_literal, of_64_bits_keeps_them_all) {
  constexpr std::int64_t large = (std::int64_t{1} << 62) + 1;
  EXPECT_EQ((tensor({std::int64_t{0}}) + large).item<std::int64_t>(), large);
}

template <class A, class B>
concept compares_with = requires(const A& a, const B& b) {
  { a == b } -> std::same_as<tensor>;
  { a != b } -> std::same_as<tensor>;
};

TEST(comparisons, give_booleans_in_both_orders) {
  const tensor x({1.f, 2.f, 3.f});
  EXPECT_EQ((x > 1).to_doubles(), (std::vector<double>{0, 1, 1}));
  EXPECT_EQ((2 > x).to_doubles(), (std::vector<double>{1, 0, 0}));
  EXPECT_EQ((2 <= x).to_doubles(), (std::vector<double>{0, 1, 1}));
  EXPECT_EQ((x == 2).to_doubles(), (std::vector<double>{0, 1, 0}));
  EXPECT_TRUE((compares_with<int, tensor>)) << "2 == x, 2 != x";
  EXPECT_TRUE((compares_with<tensor, int>)) << "x == 2, x != 2";
  EXPECT_EQ((x >= x).type(), dtype::boolean);
  EXPECT_EQ((-x).to_doubles(), (std::vector<double>{-1, -2, -3}));
}

// ------------------------------------------------------------------------------------------ shapes

TEST(a_shape, refuses_what_overflows_is_negative_or_has_nine_axes) {
  const std::int64_t big = std::int64_t{1} << 32;
  EXPECT_NE(refusal([&] { return shape{big, big}; }).find("overflow"), std::string::npos);
  EXPECT_NE(refusal([] { return shape{2, -1}; }).find("axis 1 of size -1"), std::string::npos);
  EXPECT_NE(refusal([] { return shape{1, 1, 1, 1, 1, 1, 1, 1, 1}; }).find("rank 9"), std::string::npos);
  EXPECT_NE(refusal([&] { return shape{0, std::numeric_limits<std::int64_t>::max(), 2}; }), accepted)
      << "sums of its axes overflow";
  EXPECT_NE(refusal([&] { return kg::reshape(kg::zeros({4}), {big, big}); }), accepted);
  EXPECT_NE(refusal([&] { return kg::tile(kg::zeros({4}), {std::numeric_limits<std::int64_t>::max()}); }), accepted);
  EXPECT_NE(refusal([&] { return shape{0, big, big}; }), accepted);
  EXPECT_EQ((shape{0, big, 4}).size(), 0);
}

TEST(an_attribute, refuses_texts_that_it_has_no_room_for) {
  EXPECT_NE(refusal([] { return kg::attr_value(std::string(128, 'x')); }).find("a text of 128 bytes"),
            std::string::npos);
}

TEST(an_attribute, holds_lists_of_any_length_and_its_copies_share_the_long_ones) {
  for (std::size_t length : {0, 1, 16, 17, 1000}) {
    std::vector<std::int64_t> integers(length);
    std::vector<double> numbers(length);
    for (std::size_t i = 0; i < length; ++i) integers[i] = static_cast<std::int64_t>(i) - 5, numbers[i] = 0.5 * i;
    kg::attr_value list(integers), other(numbers), copy = list;
    EXPECT_TRUE(std::ranges::equal(copy.as_list(), integers));
    EXPECT_EQ(copy.as_list().data() == list.as_list().data(), length > kg::attr_value::near_items);
    copy = other;
    list = kg::attr_value(7);
    EXPECT_TRUE(std::ranges::equal(copy.as_numbers(), numbers));
    EXPECT_TRUE(copy.as_list().empty());
    const kg::attr_value& itself = other;
    other = itself;
    EXPECT_TRUE(std::ranges::equal(other.as_numbers(), numbers));
  }
}

TEST(an_attribute, is_a_list_of_numbers_where_one_is_no_integer_type) {
  EXPECT_EQ(kg::attr_value({1, 2}).kind(), kg::attr_kind::list);
  EXPECT_EQ(kg::attr_value({1.0, 2.5}).kind(), kg::attr_kind::numbers);
  EXPECT_EQ(to_string(kg::attr_value({1.0, 2.5})), "[1, 2.5]");
  static_assert(kg::attr_value({1.0, 2.5}).as_numbers()[1] == 2.5);
}

TEST(a_split, into_more_than_sixteen_parts_has_their_sizes) {
  std::vector<std::int64_t> sizes(40);
  std::int64_t total = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) total += sizes[i] = static_cast<std::int64_t>(i % 3);
  const auto f = [&](const tensor& x) {
    tensor sum;
    const kg::tensor_list parts = kg::split(x, sizes);
    EXPECT_EQ(parts.size(), 40);
    for (std::int64_t k = 0; k < parts.size(); ++k) {
      const tensor part = kg::sum(parts[k]) * static_cast<double>(k);
      sum = sum.defined() ? sum + part : part;
    }
    return sum;
  };
  const std::vector<double> slopes = kg::grad(f)(kg::ones({total})).to_doubles();
  std::size_t at = 0;
  for (std::size_t k = 0; k < sizes.size(); ++k)
    for (std::int64_t i = 0; i < sizes[k]; ++i) EXPECT_EQ(slopes[at++], static_cast<double>(k));
}

TEST(axes, are_all_where_none_are_given_and_none_where_the_list_is_empty) {
  const tensor x{{1.f, 2.f, 3.f}, {4.f, 5.f, 6.f}};
  const std::vector<std::int64_t> none;
  EXPECT_EQ(kg::sum(x).dims(), shape{});
  EXPECT_EQ(kg::sum(x, kg::all_axes, true).dims(), (shape{1, 1}));
  EXPECT_EQ(kg::sum(x, {0, 1}).item(), 21);
  for (const tensor& y : {kg::sum(x, {}), kg::sum(x, none), kg::max(x, {}), kg::mean(x, {}, true), kg::reverse(x, none),
                          kg::run_kernel("Sum", {{"x", x}}, {{"axis", none}})}) {
    EXPECT_EQ(y.dims(), x.dims());
    EXPECT_EQ(y.to_doubles(), x.to_doubles());
  }
  EXPECT_EQ(kg::reverse(x).to_doubles(), (std::vector<double>{6, 5, 4, 3, 2, 1}));
  EXPECT_NE(refusal([&] { return kg::sum(x, (std::int64_t{1} << 32) + 1); }), accepted) << "no axis 1";
  EXPECT_EQ(kg::grad([](const tensor& t) { return kg::sum(kg::sum(kg::square(t), {})); })(x).to_doubles(),
            (std::vector<double>{2, 4, 6, 8, 10, 12}));
}

TEST(where, broadcasts_a_condition_of_rank_1_as_anything_else) {
  const tensor square{{1, 2}, {3, 4}}, tall{{1, 2}, {3, 4}, {5, 6}}, mask({true, false});
  EXPECT_EQ(kg::where(mask, square, -square).to_doubles(), (std::vector<double>{1, -2, 3, -4}));
  EXPECT_EQ(kg::where(mask, tall, -tall).to_doubles(), (std::vector<double>{1, -2, 3, -4, 5, -6}));
  EXPECT_EQ(kg::where(kg::reshape(mask, {2, 1}), square, -square).to_doubles(), (std::vector<double>{1, 2, -3, -4}));
  EXPECT_EQ(kg::run_kernel("Select", {{"condition", mask}, {"t", square}, {"e", -square}}).to_doubles(),
            (std::vector<double>{1, -2, 3, -4}));
  EXPECT_EQ(kg::fuse([](auto c, auto t, auto e) { return kg::where(c, t, e); })(mask, square, -square).to_doubles(),
            (std::vector<double>{1, -2, 3, -4}));
  EXPECT_NE(refusal([&] { return kg::where(tensor({true, false, true}), tall, tall); }), accepted);
}

TEST(a_list_of_tensors, is_a_range_that_goes_where_a_span_goes) {
  const tensor x({1.f, 2.f, 3.f}), y({4.f});
  EXPECT_EQ(kg::concat({x, y}).to_doubles(), (doubles{1, 2, 3, 4}));
  EXPECT_EQ(kg::concat(kg::split(x, 3)).to_doubles(), (doubles{1, 2, 3}));
  EXPECT_EQ(kg::concat(kg::split(x, {1, 2})).to_doubles(), (doubles{1, 2, 3}));
  EXPECT_EQ(kg::stack({x, x}).dims()[0], 2);
  EXPECT_EQ(kg::stack(kg::unstack(x)).to_doubles(), (doubles{1, 2, 3}));
  EXPECT_EQ(kg::add_n({x, x, x}).to_doubles(), (doubles{3, 6, 9}));
  const kg::tensor_list parts = kg::split(x, 3);
  doubles seen;
  for (const tensor& part : parts) seen.push_back(part.item());
  EXPECT_EQ(seen, (doubles{1, 2, 3}));
  const std::span<const tensor> span = parts;
  EXPECT_EQ(span.size(), 3u);
  EXPECT_EQ(span[2].item(), 3);
  const auto [a, b, c] = kg::split<3>(x);
  EXPECT_EQ((doubles{a.item(), b.item(), c.item()}), seen);
  const auto [first, second] = kg::unstack<2>(kg::stack({x, x * 2}));
  EXPECT_EQ(second.to_doubles(), (doubles{2, 4, 6}));
  EXPECT_EQ(first.to_doubles(), (doubles{1, 2, 3}));
  EXPECT_NE(refusal([&] { return kg::unstack<2>(x); }).find("3 parts taken as 2"), std::string::npos);
  EXPECT_NE(refusal([&] { return kg::split<2>(x); }), accepted);
}

TEST(a_list_of_tensors, keeps_its_order_however_long_it_gets) {
  for (int n = 0; n < 40; ++n) {
    kg::tensor_list list;
    for (int i = 0; i < n; ++i) list.push_back(tensor(static_cast<float>(i)));
    EXPECT_EQ(list.size(), n);
    EXPECT_EQ(list.empty(), n == 0);
    EXPECT_EQ(list.end() - list.begin(), n);
    const kg::tensor_list copy = list, moved = std::move(list);
    for (int i = 0; i < n; ++i) {
      EXPECT_EQ(copy[i].item(), i);
      EXPECT_TRUE(moved.data()[i].shares_with(copy[i]));
    }
  }
}

TEST(memory, that_cannot_be_had_is_an_error_of_the_library) {
  const kg::memory_info before = kg::memory();
  EXPECT_THROW(kg::zeros({std::int64_t{1} << 43}), kg::error);
  EXPECT_THROW(kg::zeros({std::int64_t{1} << 57}), kg::error);
  EXPECT_EQ(kg::memory().live_buffers, before.live_buffers);
}

TEST(memory, counters_follow_tensors_across_threads) {
  const kg::memory_info before = kg::memory();
  tensor x = kg::ones({1000});
  EXPECT_EQ(kg::memory().live_bytes, before.live_bytes + 4000);
  std::thread([mine = std::move(x)]() mutable { mine = tensor(); }).join();
  EXPECT_EQ(kg::memory().live_buffers, before.live_buffers) << "destroyed in a thread that built no tensor";
  tensor from_thread;
  std::thread([&] { from_thread = kg::ones({10}); }).join();
  EXPECT_EQ(kg::memory().live_buffers, before.live_buffers + 1) << "built in a thread that has ended";
  from_thread = tensor();
  EXPECT_EQ(kg::memory().live_buffers, before.live_buffers);
  EXPECT_EQ(kg::memory().live_bytes, before.live_bytes);
}

TEST(memory, of_freed_tensors_is_kept_and_can_be_returned) {
  {
    const tensor x = kg::zeros({1 << 20});
  }
  kg::release_cached_memory();
  EXPECT_EQ(kg::memory().cached_bytes, 0);
}

}  // namespace
