// SPDX-License-Identifier: Apache-2.0
// Behaviour of the dtypes: promotion, wrap-around, division by zero, casts of what does not fit, NaN, ties at kinks.
// The rules are those that the rows' documentation states.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>
#include <range/v3/view/cartesian_product.hpp>
#include <range/v3/view/iota.hpp>

#include "tests/support/refusal.h"

import kerngrad.testkit;

namespace {

namespace views = ranges::views;

using kg::dtype;
using kg::tensor;
using kg::testkit::from_doubles;
using kgtest::accepted;
using kgtest::refusal;
using doubles = std::vector<double>;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

// Equal, where NaN equals NaN and zeros have signs.
void expect_same(const tensor& got, const doubles& wanted) {
  const doubles values = kg::testkit::doubles_of(got);
  ASSERT_EQ(values.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (std::isnan(wanted[i])) EXPECT_TRUE(std::isnan(values[i])) << "element " << i << " is " << values[i];
    else
      EXPECT_TRUE(values[i] == wanted[i] && std::signbit(values[i]) == std::signbit(wanted[i]))
          << "element " << i << " is " << values[i] << ", not " << wanted[i];
  }
}

// ------------------------------------------------------------------------------------------ promotion

TEST(promotion, follows_the_table_for_every_pair) {
  // Rows and columns: every dtype with its place; bool is counted as int32 by arithmetic, the halves meet in float32.
  const std::vector<std::pair<dtype, int>> order = {
      {dtype::boolean, 0},  {dtype::uint8, 1},   {dtype::int32, 2},   {dtype::int64, 3},     {dtype::float16, 4},
      {dtype::bfloat16, 4}, {dtype::float32, 5}, {dtype::float64, 6}, {dtype::complex64, 7}, {dtype::complex128, 8}};
  for (const auto& [left, right] : views::cartesian_product(order, order)) {
    const auto& [a, place_of_a] = left;
    const auto& [b, place_of_b] = right;
    const dtype larger = place_of_a >= place_of_b ? a : b;
    dtype both = place_of_a == place_of_b && a != b ? dtype::float32 : larger;
    if (both == dtype::complex64 && (a == dtype::float64 || b == dtype::float64)) both = dtype::complex128;
    const dtype wanted = both == dtype::boolean ? dtype::int32 : both;
    const tensor x = from_doubles({1, 0}, {kg::parts_of(a) == 2 ? 1 : 2}, a),
                 y = from_doubles({1, 0}, {kg::parts_of(b) == 2 ? 1 : 2}, b);
    EXPECT_EQ((x + y).type(), wanted) << kg::name_of(a) << " + " << kg::name_of(b);
    EXPECT_EQ((x == y).type(), dtype::boolean);
  }
}

TEST(promotion, to_complex128_holds_for_ops_that_move) {
  const tensor wide({kg::complex128{1, 2}}), narrow({kg::complex64{3, 4}}), real({0.5f});
  const std::vector<tensor> all = {wide, narrow, real};
  const tensor together = kg::concat(all);
  ASSERT_EQ(together.type(), dtype::complex128);
  EXPECT_EQ(kg::testkit::doubles_of(together), (doubles{1, 2, 3, 4, 0.5, 0}));
}

TEST(promotion, lifts_integers_to_float32_where_results_have_fractions) {
  for (dtype type : {dtype::int32, dtype::int64, dtype::uint8, dtype::boolean}) {
    const tensor x = from_doubles({1, 0, 1}, {3}, type);
    EXPECT_EQ(kg::exp(x).type(), dtype::float32);
    EXPECT_EQ(kg::sigmoid(x).type(), dtype::float32);
    EXPECT_EQ(kg::softmax(x).type(), dtype::float32);
    EXPECT_NEAR(kg::mean(x).item(), 2.0 / 3, 1e-6);
  }
  EXPECT_EQ(kg::exp(tensor({1.0})).type(), dtype::float64);
  EXPECT_EQ((tensor({7}) / tensor({2})).item(), 3.5);
}

TEST(means_and_quotients, of_integers_are_in_a_float_that_holds_them) {
  const auto as_declared = [](dtype type) {
    return type == dtype::int32 || type == dtype::int64 ? dtype::float64 : dtype::float32;
  };
  for (const dtype type : {dtype::int32, dtype::int64, dtype::uint8, dtype::boolean}) {
    const tensor x = from_doubles({1, 0, 1}, {3}, type), ones = from_doubles({1, 1, 1}, {3}, type);
    for (const tensor& y : {kg::mean(x), kg::mean(x, 0, true), x / ones, kg::moments(x).mean, kg::div_no_nan(x, ones),
                            kg::fuse([](auto a, auto b) { return a / b; })(x, ones)})
      EXPECT_EQ(y.type(), as_declared(type)) << kg::name_of(type);
    EXPECT_EQ((x / 2.5).type(), as_declared(type)) << kg::name_of(type);
  }
  constexpr int odd = 16777217;  // 2^24 + 1, which float32 does not have
  constexpr std::int64_t large = (std::int64_t{1} << 52) + 1;
  EXPECT_EQ(kg::mean(tensor({odd, odd, odd})).item(), odd);
  EXPECT_EQ(kg::mean(tensor({std::int64_t{odd}})).item(), odd);
  EXPECT_EQ(kg::mean(tensor({large, large - 2})).item(), static_cast<double>(large - 1));
  EXPECT_EQ((tensor({odd}) / 1).item(), odd);
  EXPECT_EQ((tensor({odd}) / tensor({2})).item(), odd / 2.0);
  EXPECT_EQ((1 / tensor({large})).item(), 1 / static_cast<double>(large));
  EXPECT_EQ((tensor({std::int64_t{odd}}) / 0.5).item(), 2.0 * odd);
  EXPECT_EQ((tensor({std::uint8_t{150}}) / 300).item(), 0.5) << "beside uint8, what it does not hold is no less exact";
  EXPECT_EQ(kg::run_kernel("Mean", {{"x", tensor({odd})}}).item(), odd);
  EXPECT_EQ(kg::moments(tensor({odd, odd + 2})).mean.item(), odd + 1);
}

TEST(integers, are_added_and_multiplied_in_their_own_width) {
  constexpr std::int64_t odd = (std::int64_t{1} << 53) + 1;  // what float64 does not have
  const tensor a(std::vector<std::int64_t>{odd, 1, 2, odd}, {2, 2});
  EXPECT_EQ((a * 3).item<std::int64_t>(0, 0), 3 * odd);
  using list = std::vector<std::int64_t>;
  const auto elements = [](const tensor& x) {
    const auto data = x.data<std::int64_t>();  // of another dtype: rejected
    return list(data.begin(), data.end());
  };
  const tensor flat = kg::reshape(a, {4}), small({2, 1}, {2, 1});  // int32, which becomes int64
  EXPECT_EQ(elements(kg::matmul(a, small)), (list{2 * odd + 1, odd + 4}));
  EXPECT_EQ(elements(kg::matmul(a, a, true)), (list{odd * odd + 4, 3 * odd, 3 * odd, odd * odd + 1})) << "2^106 is 0";
  EXPECT_EQ(elements(kg::dot(flat, kg::full({4}, 3, dtype::int64))), (list{6 * odd + 9}));
  EXPECT_EQ(elements(kg::outer(kg::tensor({odd, std::int64_t{1}}), tensor({3, -1}))), (list{3 * odd, -odd, 3, -1}));
  EXPECT_EQ(elements(kg::einsum("ij,ik->jk", a, a)), elements(kg::matmul(a, a, true)));
  EXPECT_EQ(elements(kg::einsum("ij->j", a)), (list{odd + 2, odd + 1}));
  EXPECT_EQ(kg::sum(a).item<std::int64_t>(), 2 * odd + 3);
  EXPECT_EQ(kg::cumsum(a, 1).item<std::int64_t>(0, 1), odd + 1);
  EXPECT_EQ(kg::abs(-a).item<std::int64_t>(0, 0), odd);
}

TEST(promotion, keeps_integers_where_results_have_none) {
  const tensor x({-3, 4});
  for (const tensor& y : {kg::relu(x), kg::abs(x), kg::square(x), kg::floor(x), kg::round(x), kg::clip(x, -1, 2),
                          kg::sign(x), -x, kg::relu6(x), kg::step(x)})
    EXPECT_EQ(y.type(), dtype::int32);
}

// The pixels of a white picture: neither 32 bits nor float32 hold what they add up to.
TEST(totals, of_uint8_lose_nothing) {
  const tensor white = kg::full({3000, 3000}, 255, dtype::uint8);
  EXPECT_EQ(kg::sum(white).item<std::int64_t>(), 2295000000);
  EXPECT_EQ(kg::sum(white, 0).item<std::int64_t>(1), 765000);
  EXPECT_EQ(kg::run_kernel("Sum", {{"x", white}}).item<std::int64_t>(), 2295000000);
  EXPECT_EQ(kg::sum(white, {0, 1}, true).dims(), kg::shape({1, 1}));
  EXPECT_EQ(kg::sum(kg::zeros({0, 2}, dtype::uint8), 0).to_doubles(), (std::vector<double>{0, 0}));
  EXPECT_EQ(kg::cumsum(kg::reshape(white, {-1})).item<std::int64_t>(-1), 2295000000);
  EXPECT_EQ(kg::prod(kg::full({4}, 255, dtype::uint8)).item<std::int64_t>(), 4228250625);
  EXPECT_EQ(kg::cumprod(white.at(0, 0).set(2)(0, kg::range(0, 5))).item<std::int64_t>(-1), 8456501250);
}

TEST(reductions, of_booleans_count_as_int32) {
  const tensor x({true, true, false});
  EXPECT_EQ(kg::sum(x).type(), dtype::int32);
  EXPECT_EQ(kg::sum(x).item(), 2);
  EXPECT_EQ(kg::prod(x).type(), dtype::int32);
  EXPECT_EQ(kg::all(x).type(), dtype::boolean);
  EXPECT_EQ(kg::any(x).item(), 1);
  EXPECT_EQ(kg::argmax(x).type(), dtype::int32);
}

TEST(integers_without_a_sign, count_as_int32_where_an_op_may_leave_them) {
  const tensor x({std::uint8_t{200}, std::uint8_t{100}});
  for (const tensor& y : {-x, kg::abs(x), kg::sign(x), kg::step(x), kg::pow(x, x),
                          kg::matmul(kg::reshape(x, {1, 2}), kg::reshape(x, {2, 1}))})
    EXPECT_EQ(y.type(), dtype::int32);
  for (const tensor& y : {kg::sum(x), kg::prod(x), kg::cumsum(x), kg::cumprod(x)}) EXPECT_EQ(y.type(), dtype::int64);
  EXPECT_EQ(kg::sum(x).item(), 300);
  EXPECT_EQ((-x).to_doubles(), (doubles{-200, -100}));
  EXPECT_EQ(kg::matmul(kg::reshape(x, {1, 2}), kg::reshape(x, {2, 1})).item(), 50000);
  EXPECT_EQ(kg::max(x).type(), dtype::uint8);
  EXPECT_EQ(kg::is_finite(x).to_doubles(), (doubles{1, 1}));
  EXPECT_EQ(kg::max_pool(kg::reshape(tensor({3, -7, 2, 1}), {1, 2, 2, 1}), 2).item<std::int32_t>(), 3);
  EXPECT_EQ(kg::call_list<"AddN">(std::vector<tensor>(2, tensor({kg::complex64{1, 2}})))[0].item<kg::complex64>(),
            (kg::complex64{2, 4}));
}

TEST(reductions, of_nothing_give_the_neutral_element_or_are_refused) {
  const tensor none = kg::zeros({0});
  EXPECT_EQ(kg::sum(none).item(), 0);
  EXPECT_EQ(kg::prod(none).item(), 1);
  EXPECT_TRUE(std::isnan(kg::mean(none).item()));
  EXPECT_EQ(kg::all(kg::cast(none, dtype::boolean)).item(), 1);
  EXPECT_EQ(kg::any(kg::cast(none, dtype::boolean)).item(), 0);
  EXPECT_NE(refusal([&] { return kg::argmax(none); }), accepted);
}

// ------------------------------------------------------------------------------------------ integers

TEST(integers, wrap_around) {
  constexpr std::int32_t most = std::numeric_limits<std::int32_t>::max(),
                         least = std::numeric_limits<std::int32_t>::min();
  constexpr std::int64_t most64 = std::numeric_limits<std::int64_t>::max(),
                         least64 = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ((tensor({most}) + tensor({1})).item<std::int32_t>(), least);
  EXPECT_EQ((tensor({least}) - tensor({1})).item<std::int32_t>(), most);
  EXPECT_EQ((tensor({65536}) * tensor({65537})).item<std::int32_t>(), 65536);
  EXPECT_EQ((tensor({most64}) + tensor({std::int64_t{1}})).item<std::int64_t>(), least64);
  EXPECT_EQ((-tensor({least})).item<std::int32_t>(), least);
  EXPECT_EQ(kg::abs(tensor({least64})).item<std::int64_t>(), least64);
  EXPECT_EQ((tensor({std::uint8_t{250}}) + tensor({std::uint8_t{10}})).item<std::uint8_t>(), 4);
  EXPECT_EQ((tensor({std::uint8_t{3}}) - tensor({std::uint8_t{5}})).item<std::uint8_t>(), 254);
  EXPECT_EQ(kg::square(tensor({65536})).item<std::int32_t>(), 0);
  EXPECT_EQ(kg::sum(tensor({most, 1, 1})).item<std::int32_t>(), least + 1);
}

TEST(integers, divided_by_zero_give_zero_and_round_down_otherwise) {
  const tensor a({7, -7, 7, -7, 0}), b({2, 2, -2, -2, 3});
  EXPECT_EQ(kg::floor_div(a, b).to_doubles(), (doubles{3, -4, -4, 3, 0}));
  EXPECT_EQ(kg::mod(a, b).to_doubles(), (doubles{1, 1, -1, -1, 0}));
  const tensor zero({0, 0, 0, 0, 0});
  EXPECT_EQ(kg::floor_div(a, zero).to_doubles(), doubles(5, 0));
  EXPECT_EQ(kg::mod(a, zero).to_doubles(), doubles(5, 0));
  constexpr std::int32_t least = std::numeric_limits<std::int32_t>::min();
  EXPECT_EQ(kg::floor_div(tensor({least}), tensor({-1})).item<std::int32_t>(), least);
  EXPECT_EQ(kg::mod(tensor({least}), tensor({-1})).item<std::int32_t>(), 0);
  EXPECT_EQ(kg::floor_div(tensor({std::uint8_t{7}}), tensor({std::uint8_t{2}})).item(), 3);
  EXPECT_TRUE(std::isinf((tensor({1}) / tensor({0})).item())) << "a true division is one of floats";
}

TEST(integers, to_powers_wrap_and_negative_powers_truncate) {
  EXPECT_EQ(kg::pow(tensor({3, -2, 2, 0, 7}), tensor({4, 3, 31, 0, 1})).to_doubles(),
            (doubles{81, -8, -2147483648.0, 1, 7}));
  EXPECT_EQ(kg::pow(tensor({2, 1, -1, -1}), tensor({-1, -5, -3, -2})).to_doubles(), (doubles{0, 1, -1, 1}));
}

// ------------------------------------------------------------------------------------------ casts

TEST(casts, of_floats_truncate_saturate_and_turn_nan_into_zero) {
  const doubles values = {1.9, -1.9, 3e9, -3e9, infinity, -infinity, nan, -0.5};
  for (dtype from : {dtype::float32, dtype::float64}) {
    const tensor x = from_doubles(values, {8}, from);
    EXPECT_EQ(kg::cast(x, dtype::int32).to_doubles(),
              (doubles{1, -1, 2147483647, -2147483648.0, 2147483647, -2147483648.0, 0, 0}));
    const tensor wide = kg::cast(x, dtype::int64);
    EXPECT_EQ(wide.data<std::int64_t>()[4], std::numeric_limits<std::int64_t>::max());
    EXPECT_EQ(wide.data<std::int64_t>()[5], std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(wide.data<std::int64_t>()[6], 0);
    EXPECT_EQ(kg::cast(x, dtype::uint8).to_doubles(), (doubles{1, 0, 255, 0, 255, 0, 0, 0}));
    EXPECT_EQ(kg::cast(from_doubles({0, -0.0, 0.5, nan, -3}, {5}, from), dtype::boolean).to_doubles(),
              (doubles{0, 0, 1, 1, 1}));
  }
}

TEST(casts, between_integers_wrap) {
  EXPECT_EQ(kg::cast(tensor({300, -1, 256}), dtype::uint8).to_doubles(), (doubles{44, 255, 0}));
  EXPECT_EQ(kg::cast(tensor({(std::int64_t{1} << 32) + 5, std::int64_t{-1}}), dtype::int32).to_doubles(),
            (doubles{5, -1}));
  EXPECT_EQ(kg::cast(tensor({true, false}), dtype::int64).to_doubles(), (doubles{1, 0}));
}

TEST(casts, reach_every_dtype_of_numbers_from_every_other) {
  const auto places = views::iota(0, kg::dtype_count);
  for (const auto& [from, to] : views::cartesian_product(places, places)) {
    const dtype source = static_cast<dtype>(from), wanted = static_cast<dtype>(to);
    if (source == dtype::text || wanted == dtype::text) continue;
    const int given = kg::parts_of(source), parts = kg::parts_of(wanted);
    const tensor x = kg::cast(from_doubles(given == 2 ? doubles{1, 0, 0, 0} : doubles{1, 0}, {2}, source), wanted);
    EXPECT_EQ(x.type(), wanted);
    EXPECT_EQ(kg::testkit::doubles_of(x), (parts == 2 ? doubles{1, 0, 0, 0} : doubles{1, 0}))
        << kg::name_of(source) << " to " << kg::name_of(wanted);
  }
}

TEST(casts, of_complex_numbers_are_those_of_the_real_part_and_to_bool_of_both) {
  const tensor z({kg::complex64{2.5f, -3}, kg::complex64{0, 1}, kg::complex64{0, 0}});
  EXPECT_EQ(kg::testkit::doubles_of(kg::cast(kg::cast(z, dtype::complex128), dtype::complex64)),
            kg::testkit::doubles_of(z));
  EXPECT_EQ(kg::cast(z, dtype::float64).to_doubles(), (doubles{2.5, 0, 0}));
  EXPECT_EQ(kg::cast(z, dtype::int32).to_doubles(), (doubles{2, 0, 0}));
  EXPECT_EQ(kg::cast(z, dtype::boolean).to_doubles(), (doubles{1, 1, 0}));
  const kg::backend_scope slow("reference");
  EXPECT_EQ(kg::cast(z, dtype::boolean).to_doubles(), (doubles{1, 1, 0}));
}

// ------------------------------------------------------------------------------------------ moves

// Ops that move elements, with whatever attributes.
using move = std::function<tensor(const tensor&)>;
const std::vector<std::pair<const char*, move>>& moves() {
  static const std::vector<std::pair<const char*, move>> all = {
      {"reshape", [](const tensor& x) { return kg::reshape(x, {5, 6}); }},
      {"transpose", [](const tensor& x) { return kg::transpose(x, {2, 0, 1}); }},
      {"slice", [](const tensor& x) { return kg::slice(x, {0, 1, 2}, {2, 2, 3}); }},
      {"concat", [](const tensor& x) { return kg::concat(std::vector<tensor>{x, x}, 1); }},
      {"stack", [](const tensor& x) { return kg::stack(std::vector<tensor>{x, x}, 1); }},
      {"split", [](const tensor& x) { return kg::split(x, 3, 1)[2]; }},
      {"unstack", [](const tensor& x) { return kg::unstack(x, 2)[3]; }},
      {"tile", [](const tensor& x) { return kg::tile(x, {1, 2, 2}); }},
      {"broadcast_to", [](const tensor& x) { return kg::broadcast_to(x, {3, 2, 3, 5}); }},
      {"gather", [](const tensor& x) { return kg::gather(x, tensor({2, 0, 2}), 1); }},
      {"reverse", [](const tensor& x) { return kg::reverse(x, {0, 2}); }},
      {"where",
       [](const tensor& x) { return kg::where(tensor({true, false, true, true, false}), x, kg::reverse(x, {1})); }}};
  return all;
}

// True if element i of y is element j of x.
bool is_moved(const tensor& y, std::size_t i, const tensor& x, std::size_t j) {
  if (y.type() == dtype::text) return y.data<kg::text>()[i] == x.data<kg::text>()[j];
  const std::size_t size = kg::size_of(y.type());
  const auto at = [size](const tensor& t, std::size_t k) {
    return static_cast<const std::byte*>(t.address()) + k * size;
  };
  return std::memcmp(at(y, i), at(x, j), size) == 0;
}

// Every byte comes from where that of the element's number comes from.
TEST(moves, carry_the_bytes_of_every_dtype) {
  constexpr const char* backends[] = {"simd", "reference"};
  for (const auto& [backend, t] : views::cartesian_product(backends, views::iota(0, kg::dtype_count))) {
    const kg::backend_scope here(backend);
    const dtype type = static_cast<dtype>(t);
    doubles values(static_cast<std::size_t>(30 * kg::parts_of(type)));
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = type == dtype::boolean ? static_cast<double>(i % 3 == 0) : static_cast<double>(i) + 1;
    const tensor x = from_doubles(values, {2, 3, 5}, type), numbers = kg::reshape(kg::arange(0, 30), {2, 3, 5});
    for (const auto& [name, f] : moves()) {
      const tensor y = f(x), from = f(numbers);
      ASSERT_EQ(y.type(), type);
      ASSERT_EQ(y.dims(), from.dims()) << name;
      const auto at = from.data<float>();
      for (std::size_t i = 0; i < at.size(); ++i)
        ASSERT_TRUE(is_moved(y, i, x, static_cast<std::size_t>(at[i])))
            << name << " of " << kg::name_of(type) << " on " << backend << ", element " << i;
    }
    if (type == dtype::text) continue;  // borders of it: tests/tensor/texts.cc
    const tensor padded = kg::pad(x, {0, 0, 1, 0, 0, 2}, 1);
    EXPECT_EQ(to_string(kg::slice(padded, {0, 1, 0}, {2, 3, 5})), to_string(x));
    EXPECT_EQ(to_string(kg::slice(padded, {0, 0, 0}, {2, 1, 7})), to_string(kg::full({2, 1, 7}, 1, type)));
    EXPECT_EQ(kg::testkit::doubles_of(kg::zeros_like(x)), doubles(values.size(), 0));
  }
}

TEST(complex128, is_made_read_and_printed) {
  const tensor z({kg::complex128{1, -2.5}, kg::complex128{1e300, 0}});
  EXPECT_EQ(to_string(z), "tensor complex128 [2]\n[1-2.5i, 1e+300+0i]");
  EXPECT_EQ(z.data<kg::complex128>()[0].imag, -2.5);
  EXPECT_EQ(kg::full({}, 0.1, dtype::complex128).item<kg::complex128>(), (kg::complex128{0.1, 0}));
  EXPECT_EQ(kg::cast(z, dtype::float64).to_doubles(), (doubles{1, 1e300}));
  EXPECT_NE(refusal([&] { return z.to_doubles(); }).find("complex128"), std::string::npos);
  EXPECT_NE(refusal([&] { return kg::erf(z); }).find("complex128"), std::string::npos);
}

TEST(a_dtype_without_a_kernel, is_refused_with_those_that_there_are) {
  const std::string text = refusal([] { return kg::run_kernel("Cbrt", {{"x", tensor({kg::complex64{1, 1}})}}); });
  for (const char* part : {"[Cbrt]", "complex64", "float32", "float64"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
}

// ------------------------------------------------------------------------------------------ NaN and infinities

TEST(nan, goes_through_what_says_so) {
  for (dtype type : {dtype::float32, dtype::float64}) {
    const tensor x = from_doubles({nan, 1, -1}, {3}, type), y = from_doubles({0, nan, -2}, {3}, type);
    expect_same(kg::maximum(x, y), {nan, nan, -1});
    expect_same(kg::minimum(x, y), {nan, nan, -2});
    expect_same(kg::relu(x), {nan, 1, 0});
    expect_same(kg::relu6(x), {nan, 1, 0});
    expect_same(kg::clip(x, -0.5, 0.5), {nan, 0.5, -0.5});
    expect_same(kg::sign(x), {0, 1, -1});
    expect_same(kg::step(x), {nan, 1, 0});
    expect_same(kg::max(x), {nan});
    expect_same(kg::min(x), {nan});
    expect_same(kg::sum(x), {nan});
    expect_same(x == x, {0, 1, 1});
    expect_same(x != x, {1, 0, 0});
    expect_same(x < y, {0, 0, 0});
    expect_same(kg::is_nan(x), {1, 0, 0});
    expect_same(kg::is_finite(from_doubles({nan, infinity, 1}, {3}, type)), {0, 0, 1});
    expect_same(kg::is_inf(from_doubles({nan, -infinity, 1}, {3}, type)), {0, 1, 0});
  }
}

TEST(nan, is_passed_over_by_argmax_and_max_pool) {
  const tensor x({nan, 1.0, 3.0, nan, 2.0}), y({1.0, nan, 3.0, 0.0});
  EXPECT_EQ(kg::argmax(x).item(), 0) << "the first element, which nothing is larger than";
  EXPECT_EQ(kg::argmax(y).item(), 2);
  EXPECT_EQ(kg::argmin(y).item(), 3);
  EXPECT_EQ(kg::argmax(tensor({2.0, 5.0, 5.0})).item(), 1) << "the first of equals";
  const tensor image = kg::reshape(y, {1, 2, 2, 1});
  expect_same(kg::max_pool(image, 2), {3});
  expect_same(kg::avg_pool(image, 2), {nan});
}

TEST(special_values, follow_ieee_754) {
  for (dtype type : {dtype::float32, dtype::float64}) {
    const auto x = [&](const doubles& values) {
      return from_doubles(values, {static_cast<std::int64_t>(values.size())}, type);
    };
    expect_same(kg::exp(x({-infinity, infinity, nan, 0, 1000, -1000})), {0, infinity, nan, 1, infinity, 0});
    expect_same(kg::log(x({0, -1, infinity, 1})), {-infinity, nan, infinity, 0});
    expect_same(kg::sqrt(x({-0.0, -1, infinity, 4})), {-0.0, nan, infinity, 2});
    expect_same(kg::reciprocal(x({0, -0.0, infinity})), {infinity, -infinity, 0});
    expect_same(kg::tanh(x({infinity, -infinity, -0.0})), {1, -1, -0.0});
    expect_same(kg::sigmoid(x({infinity, -infinity, 0})), {1, 0, 0.5});
    expect_same(kg::softplus(x({-infinity, infinity})), {0, infinity});
    expect_same(kg::pow(x({0, 2, nan, 1}), x({0, -infinity, 0, nan})), {1, 0, 1, 1});
    expect_same(kg::atan2(x({0, -0.0, 0}), x({0, 0, 1})), {0, -0.0, 0});
    expect_same(x({1, -1, 0}) / x({0, 0, 0}), {infinity, -infinity, nan});
    expect_same(kg::round(x({0.5, 1.5, -0.5, 2.5, -1.5})), {0, 2, -0.0, 2, -2});
    expect_same(kg::floor(x({-0.5, 1.5, -0.0})), {-1, 1, -0.0});
    expect_same(kg::mod(x({-7, 7, 5}), x({3, -3, 0})), {2, -2, nan});
    expect_same(kg::softmax(x({1000, 1000})), {0.5, 0.5});
    expect_same(kg::logsumexp(x({-infinity, -infinity})), {-infinity});
  }
}

TEST(complex_numbers, multiply_divide_and_have_magnitudes) {
  const tensor a({kg::complex64{1, 2}}), b({kg::complex64{3, -1}});
  EXPECT_EQ((a * b).item<kg::complex64>(), (kg::complex64{5, 5}));
  EXPECT_EQ(((a * b) / b).item<kg::complex64>(), (kg::complex64{1, 2}));
  EXPECT_EQ(kg::complex_abs(tensor({kg::complex64{3, 4}})).item(), 5);
  EXPECT_EQ(kg::complex_abs(tensor({kg::complex64{3e30f, 4e30f}})).item<float>(), 5e30f) << "no overflow on the way";
  EXPECT_EQ(kg::abs(tensor({kg::complex64{3, 4}})).item<float>(), 5);
  EXPECT_EQ(kg::conj(a).item<kg::complex64>(), (kg::complex64{1, -2}));
  EXPECT_NE(refusal([&] { return a < b; }), accepted);
}

TEST(complex_numbers, of_cpp_stand_beside_tensors) {
  const std::complex<float> i(0, 1);
  const tensor a({kg::complex64{1, 2}}), x({2.f, 3.f});
  EXPECT_EQ((a * i).item<kg::complex64>(), (kg::complex64{-2, 1}));
  EXPECT_EQ((i - a).item<kg::complex64>(), (kg::complex64{-1, -1}));
  EXPECT_EQ((a / std::complex<double>(0, 2)).item<kg::complex64>(), (kg::complex64{1, -0.5}));
  EXPECT_EQ((x + i).item<kg::complex64>(1), (kg::complex64{3, 1}));
  EXPECT_EQ((std::complex<double>(1, 1) * x).type(), dtype::complex64) << "the precision of the tensor";
  EXPECT_EQ((i * tensor({2.0})).type(), dtype::complex128);
}

// ------------------------------------------------------------------------------------------ conventions at kinks

tensor slope(const std::function<tensor(const tensor&)>& f, const doubles& at) { return kg::grad(f)(tensor(at)); }

TEST(gradients_at_kinks, follow_the_conventions_of_the_rows) {
  expect_same(slope([](const tensor& x) { return kg::relu(x); }, {0, 1, -1}), {0, 1, 0});
  expect_same(slope([](const tensor& x) { return kg::relu6(x); }, {0, 6, 7}), {0, 1, 0});
  expect_same(slope([](const tensor& x) { return kg::abs(x); }, {0, 2, -2}), {0, 1, -1});
  expect_same(slope([](const tensor& x) { return kg::leaky_relu(x, 0.25); }, {0, 1}), {0.25, 1});
  expect_same(slope([](const tensor& x) { return kg::prelu(x, 0.25); }, {0, 1}), {0.25, 1});
  expect_same(slope([](const tensor& x) { return kg::clip(x, -1, 1); }, {-1, 1, 2, nan}), {1, 1, 0, 0});
  expect_same(
      slope([](const tensor& x) { return kg::pow(2 * kg::ones_like(x), x) * 0 + kg::pow(tensor({0.0, -1.0}), x); },
            {2, 2}),
      {0, 0});
  expect_same(slope([](const tensor& x) { return kg::pow(x, 0); }, {0}), {0});
  for (auto f : {+[](const tensor& x) { return kg::sign(x); }, +[](const tensor& x) { return kg::step(x); },
                 +[](const tensor& x) { return kg::round(x); }, +[](const tensor& x) { return kg::floor(x); },
                 +[](const tensor& x) { return kg::ceil(x); }})
    for (double g : slope(f, {0, 0.5, 1}).to_doubles()) EXPECT_EQ(g, 0);
}

TEST(gradients_at_ties, go_to_a_of_two_operands_and_are_shared_in_a_reduction) {
  const tensor x({1.0, 2.0}), y({1.0, 3.0});
  for (auto f : {+[](const tensor& a, const tensor& b) { return kg::maximum(a, b); },
                 +[](const tensor& a, const tensor& b) { return kg::minimum(a, b); }}) {
    const auto g = kg::grads(f)(x, y);
    EXPECT_EQ(g[0].to_doubles()[0], 1);
    EXPECT_EQ(g[1].to_doubles()[0], 0);
  }
  expect_same(slope([](const tensor& t) { return kg::max(t); }, {3, 1, 3}), {0.5, 0, 0.5});
  expect_same(slope([](const tensor& t) { return kg::min(t); }, {3, 1, 1}), {0, 0.5, 0.5});
}

TEST(gradients_at_ties, of_max_pool_go_to_the_first_largest_element) {
  const tensor image({2.0, 5.0, 5.0, 1.0}, {1, 2, 2, 1});
  expect_same(kg::grad([](const tensor& t) { return kg::max_pool(t, 2); })(image), {0, 1, 0, 0});
}

TEST(the_gradient, of_the_magnitude_of_complex_zero_is_zero) {
  const tensor z({kg::complex64{0, 0}, kg::complex64{3, 4}});
  const tensor g = kg::grad([](const tensor& t) { return kg::sum(kg::complex_abs(t)); })(z);
  EXPECT_EQ(g.data<kg::complex64>()[0], (kg::complex64{0, 0}));
  EXPECT_FLOAT_EQ(g.data<kg::complex64>()[1].real, 0.6f);
  EXPECT_FLOAT_EQ(g.data<kg::complex64>()[1].imag, 0.8f);
}

}  // namespace
