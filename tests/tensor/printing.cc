// SPDX-License-Identifier: Apache-2.0
// Tensors as text: columns, what a stream says of numbers, what is left out of long axes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <locale>
#include <sstream>
#include <string>
#include <vector>
#include <version>
#ifdef __cpp_lib_format
#include <format>
#endif

import kerngrad;

namespace {

using kg::dtype;
using kg::tensor;

template <class... Manipulator>
std::string streamed(const tensor& x, Manipulator... how) {
  std::ostringstream out;
  (out << ... << how) << x;
  return out.str();
}
std::string elements(const std::string& text) { return text.substr(text.find('\n') + 1); }

TEST(printing, shows_dtype_shape_and_rows) {
  EXPECT_EQ(streamed(tensor({1, -2, 30, 4}, {2, 2})), "tensor int32 [2, 2]\n[[ 1, -2],\n [30,  4]]");
  EXPECT_EQ(to_string(tensor({true, false})), "tensor bool [2]\n[true, false]");
  EXPECT_EQ(to_string(tensor(7)), "tensor int32 []\n7");
  EXPECT_EQ(to_string(tensor({std::uint8_t{200}})), "tensor uint8 [1]\n[200]");
  EXPECT_EQ(to_string(tensor({kg::complex64{1, -2}, kg::complex64{0, -0.f}})), "tensor complex64 [2]\n[1-2i, 0-0i]");
  EXPECT_EQ(to_string(tensor({HUGE_VAL, -HUGE_VAL, std::nan("")})), "tensor float64 [3]\n[inf, -inf, nan]");
  EXPECT_EQ(to_string(tensor(-std::nan(""))), "tensor float64 []\nnan") << "a NaN has no sign to speak of";
  EXPECT_EQ(to_string(kg::zeros({0, 2})), "tensor float32 [0, 2]\n[]");
  EXPECT_EQ(to_string(tensor()), "tensor (undefined)");
  EXPECT_EQ(to_string(kg::reshape(kg::arange(0, 8, 1, dtype::int32), {2, 2, 2})),
            "tensor int32 [2, 2, 2]\n[[[0, 1],\n  [2, 3]],\n [[4, 5],\n  [6, 7]]]");
}

TEST(printing, aligns_columns_by_the_point_from_rank_2_on) {
  EXPECT_EQ(elements(to_string(tensor({{1.5, 10.25}, {-2.0, 3.0}}))), "[[ 1.5 , 10.25],\n [-2   ,  3   ]]");
  EXPECT_EQ(elements(to_string(tensor({{1.f, 2.5f}, {-3.f, 1e-7f}}))), "[[ 1    ,  2.5  ],\n [-3    ,  1e-07]]");
  EXPECT_EQ(elements(to_string(tensor({{0.25, std::nan("")}, {10.0, -HUGE_VAL}}))),
            "[[ 0.25,   nan],\n [10   ,  -inf]]");
  EXPECT_EQ(elements(to_string(tensor({{true, false}, {false, true}}))), "[[ true, false],\n [false,  true]]");
  EXPECT_EQ(elements(to_string(tensor({{kg::complex64{1, 2}}, {kg::complex64{-10, 0.5}}}))),
            "[[    1+2i],\n [-10+0.5i]]");
  EXPECT_EQ(elements(to_string(tensor({{"a", "long"}, {"", "b"}}))), "[[\"a\", \"long\"],\n [\"\", \"b\"]]")
      << "texts stay as they are";
  EXPECT_EQ(elements(to_string(tensor({1.5, 10.25}))), "[1.5, 10.25]") << "one row has no columns";
  EXPECT_EQ(elements(to_string(kg::cast(tensor({{0.5, 10.0}}), dtype::float16))), "[[ 0.5, 10  ]]");
}

TEST(printing, follows_the_format_of_the_stream) {
  const tensor x({1.0 / 3, -20.0});
  EXPECT_EQ(elements(streamed(x, std::setprecision(3))), "[0.333, -20]");
  EXPECT_EQ(elements(streamed(x, std::fixed, std::setprecision(2))), "[0.33, -20.00]");
  EXPECT_EQ(elements(streamed(x, std::scientific, std::uppercase, std::setprecision(1))), "[3.3E-01, -2.0E+01]");
  EXPECT_EQ(elements(streamed(x, std::showpos)), "[+0.333333, -20]");
  EXPECT_EQ(elements(streamed(tensor({255, 16}), std::hex, std::showbase)), "[0xff, 0x10]");
  EXPECT_EQ(elements(streamed(tensor({kg::complex64{1, 2}}), std::showpos)), "[+1+2i]");
  EXPECT_EQ(elements(streamed(tensor({{1.0, 20.0}, {3.0, 4.0}}), std::fixed, std::setprecision(1))),
            "[[ 1.0, 20.0],\n [ 3.0,  4.0]]");
  EXPECT_EQ(elements(streamed(tensor({1, 20}), std::setw(4))), "[   1,   20]");
  EXPECT_EQ(elements(streamed(tensor({1, 20}), std::setw(4), std::left, std::setfill('.'))), "[1..., 20..]");
  std::ostringstream out;
  out << std::setprecision(2) << std::setw(9) << x << "|" << 1.0 / 3;
  EXPECT_EQ(elements(out.str()), "[     0.33,       -20]|0.33") << "the width is used up, the precision is not";
}

struct comma : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
};
TEST(printing, follows_the_locale_of_a_stream_and_no_other) {
  const std::locale with_comma(std::locale::classic(), new comma);
  const tensor x({{1.5}, {-10.0}});
  std::ostringstream out;
  out.imbue(with_comma);
  out << x;
  EXPECT_EQ(elements(out.str()), "[[  1,5],\n [-10  ]]");
  const std::locale before = std::locale::global(with_comma);
  const std::string text = to_string(x);
  std::locale::global(before);
  EXPECT_EQ(elements(text), "[[  1.5],\n [-10  ]]");
}

TEST(printing, shortens_long_axes_of_large_tensors) {
  EXPECT_EQ(to_string(kg::arange(0, 1000, 1, dtype::int32)), "tensor int32 [1000]\n[0, 1, 2, ..., 997, 998, 999]");
  EXPECT_EQ(elements(to_string(kg::reshape(kg::arange(0, 400, 1, dtype::int32), {100, 4}))),
            "[[  0,   1,   2,   3],\n [  4,   5,   6,   7],\n [  8,   9,  10,  11],\n ...,\n [388, 389, 390, 391],\n "
            "[392, 393, 394, 395],\n [396, 397, 398, 399]]");
  const auto longest = [](std::int64_t count) { return to_string(kg::arange(0, static_cast<double>(count), 1)); };
  EXPECT_EQ(longest(kg::printed_whole).find("..."), std::string::npos);
  EXPECT_NE(longest(kg::printed_whole + 1).find("..."), std::string::npos);
}

TEST(printing, never_gets_long) {
  EXPECT_EQ(elements(to_string(kg::zeros({1000000, 0}))), "[[],\n [],\n [],\n ...,\n [],\n [],\n []]");
  EXPECT_EQ(elements(to_string(kg::zeros({300, 0, 1000000}))), "[[],\n [],\n [],\n ...,\n [],\n [],\n []]");
  for (const kg::shape& dims : {kg::shape{6, 6, 6, 6, 6, 6, 6}, kg::shape{3, 3, 3, 3, 3, 3, 3, 3},
                                kg::shape{2, 2, 2, 2, 2, 2, 2, 2}, kg::shape{40, 40, 40, 40}}) {
    const std::string text = elements(to_string(kg::ones(dims)));
    EXPECT_LE(std::ranges::count(text, '1'), kg::printed_most) << to_string(dims);
  }
  EXPECT_EQ(
      elements(to_string(kg::reshape(kg::arange(0, 6561, 1, dtype::int32), {3, 3, 3, 3, 3, 3, 3, 3}))).substr(0, 26),
      "[[[[[[[[   0, ...,    2],\n");
}

TEST(shapes_and_dtypes, go_to_a_stream) {
  std::ostringstream out;
  out << kg::zeros({2, 3}).dims() << " " << kg::shape{} << " " << kg::dtype::bfloat16;
  EXPECT_EQ(out.str(), "[2, 3] [] bfloat16");
}

#ifdef __cpp_lib_format
TEST(shapes_and_dtypes, are_formatted_as_texts) {
  EXPECT_EQ(std::format("{} {:>9}", kg::shape{2, 3}, kg::dtype::float32), "[2, 3]   float32");
}

TEST(a_format, is_that_of_each_element) {
  const tensor x({{1.0 / 3, -20.0}});
  EXPECT_EQ(std::format("{}", x), to_string(x));
  EXPECT_EQ(elements(std::format("{:.2f}", x)), "[[  0.33, -20.00]]");
  EXPECT_EQ(elements(std::format("{:+9.3g}", x)), "[[   +0.333,   -20    ]]");
  EXPECT_EQ(elements(std::format("{:<#6x}|", tensor({255}))), "[0xff  ]|");
  EXPECT_THROW(static_cast<void>(std::vformat("{:q}", std::make_format_args(x))), std::format_error);
}
#endif

}  // namespace
