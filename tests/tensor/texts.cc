// SPDX-License-Identifier: Apache-2.0
// Text as a dtype: what tensors of it keep, which ops take them, and what is rejected.
#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/arena.h"
#include "tests/support/refusal.h"

import kerngrad;

namespace {

using kg::dtype;
using kg::shape;
using kg::tensor;
using kgtest::refusal;
using texts = std::vector<std::string>;

// More bytes than any literal has, a zero in the middle, characters of two to four bytes.
const std::string long_text(5000, 'x'), with_zero("a\0b", 3), wide = "\u00e9\u20ac\U0001f600";

tensor words() { return tensor({"one", "", "three", "four", "five", "six"}, {2, 3}); }

void expect_texts(const tensor& got, const shape& dims, const texts& wanted) {
  EXPECT_EQ(got.type(), dtype::text);
  EXPECT_EQ(got.dims(), dims);
  EXPECT_EQ(got.to_texts(), wanted);
}

TEST(text, is_made_of_whatever_holds_characters) {
  expect_texts(tensor("word"), {}, {"word"});
  expect_texts(tensor(std::string("word")), {}, {"word"});
  expect_texts(tensor(std::string_view("word")), {}, {"word"});
  expect_texts(tensor({"a", "bc"}), {2}, {"a", "bc"});
  expect_texts(tensor({"a", "b", "c", "d"}, {2, 2}), {2, 2}, {"a", "b", "c", "d"});
  expect_texts(tensor{{"a", "b"}, {"c", "d"}, {"", long_text.c_str()}}, {3, 2}, {"a", "b", "c", "d", "", long_text});
  expect_texts(tensor{{{std::string("x")}}, {{std::string(200, 'y')}}}, {2, 1, 1}, {"x", std::string(200, 'y')});
  expect_texts(tensor{{std::string_view("x")}}, {1, 1}, {"x"});
  expect_texts(tensor(texts{long_text, with_zero, wide}), {3}, {long_text, with_zero, wide});
  expect_texts(tensor(texts{}, {0, 3}), {0, 3}, {});
  const std::vector<std::string_view> views = {"x", "y"};
  expect_texts(tensor(views, {2, 1}), {2, 1}, {"x", "y"});
  expect_texts(tensor(std::span(views), {1, 2}), {1, 2}, {"x", "y"});
}

TEST(text, has_elements_that_are_read_in_place_or_copied) {
  const tensor x({with_zero, wide, std::string()});
  const std::span<const kg::text> elements = x.data<kg::text>();
  EXPECT_EQ(std::string_view(elements[0]), with_zero);
  EXPECT_EQ(std::string_view(elements[1]), wide);
  EXPECT_EQ(elements[2].size(), 0u);
  EXPECT_TRUE(elements[2] == kg::text{});
  EXPECT_EQ(tensor("word").item<std::string>(), "word");
  expect_texts(tensor(elements, {3, 1}), {3, 1}, {with_zero, wide, ""});
}

TEST(text, lives_as_long_as_a_tensor_that_holds_it) {
  const kg::memory_info before = kg::memory();
  {
    tensor kept;
    {
      const tensor whole(texts{long_text, "b", "c", "d"}, {2, 2});
      kept = kg::slice(whole, {0, 0}, {1, 2});
    }
    expect_texts(kept, {1, 2}, {long_text, "b"});
    const tensor view = kg::reshape(kept, {2});
    EXPECT_TRUE(view.shares_with(kept));
    kept = tensor();
    expect_texts(view, {2}, {long_text, "b"});
    EXPECT_GE(kg::memory().live_bytes - before.live_bytes, 5000);
  }
  EXPECT_EQ(kg::memory().live_bytes, before.live_bytes);
  EXPECT_EQ(kg::memory().live_tensors, before.live_tensors);
}

TEST(text, is_moved_by_what_moves_elements) {
  const tensor x = words(), two(std::vector<std::int32_t>{2, 0});
  expect_texts(kg::transpose(x), {3, 2}, {"one", "four", "", "five", "three", "six"});
  expect_texts(kg::slice(x, {0, 1}, {2, 2}), {2, 2}, {"", "three", "five", "six"});
  expect_texts(kg::concat({x, x}, 0), {4, 3},
               {"one", "", "three", "four", "five", "six", "one", "", "three", "four", "five", "six"});
  expect_texts(kg::stack({tensor("a"), tensor("b")}), {2}, {"a", "b"});
  expect_texts(kg::unstack(x)[1], {3}, {"four", "five", "six"});
  expect_texts(kg::tile(tensor({"a", "b"}), {2}), {4}, {"a", "b", "a", "b"});
  expect_texts(kg::reverse(x, {1}), {2, 3}, {"three", "", "one", "six", "five", "four"});
  expect_texts(kg::gather(x, two, 1), {2, 2}, {"three", "one", "six", "four"});
  expect_texts(kg::pad(tensor({"a"}), {{1, 2}}), {4}, {"", "a", "", ""});
  expect_texts(kg::broadcast_to(tensor({"a", "b"}), {2, 2}), {2, 2}, {"a", "b", "a", "b"});
  expect_texts(kg::where(tensor({true, false}), tensor({"yes", "yes"}), tensor("no")), {2}, {"yes", "no"});
}

TEST(text, is_taken_and_changed_by_indices) {
  const tensor x = words();
  expect_texts(x(1), {3}, {"four", "five", "six"});
  EXPECT_TRUE(x(1).shares_with(x));
  expect_texts(x(kg::all, -1), {2}, {"three", "six"});
  expect_texts(x(x == tensor("")), {1}, {""});
  expect_texts(x.at(0, 0).set(tensor(long_text)), {2, 3}, {long_text, "", "three", "four", "five", "six"});
  tensor mine = words();
  {
    const tensor other(long_text);
    mine = std::move(mine).at(1).set(other);
  }
  expect_texts(mine, {2, 3}, {"one", "", "three", long_text, long_text, long_text});
  EXPECT_NE(refusal([&] { return x.at(0).set(1.0); }).find("text"), std::string::npos);
  EXPECT_NE(refusal([&] { return x.at(0).add(tensor("a")); }).find("other than set"), std::string::npos);
}

TEST(text, compares_by_bytes_and_broadcasts) {
  const tensor a({"a", "ab", "b", "\u00e9", ""}), b("ab");
  const auto bools = [](const tensor& x) {
    const std::span<const bool> all = x.data<bool>();
    return std::vector<bool>(all.begin(), all.end());
  };
  EXPECT_EQ(bools(kg::equal(a, b)), (std::vector<bool>{false, true, false, false, false}));
  EXPECT_EQ(bools(kg::not_equal(a, b)), (std::vector<bool>{true, false, true, true, true}));
  EXPECT_EQ(bools(kg::less(a, b)), (std::vector<bool>{true, false, false, false, true}));
  EXPECT_EQ(bools(kg::less_equal(a, b)), (std::vector<bool>{true, true, false, false, true}));
  EXPECT_EQ(bools(kg::greater(a, b)), (std::vector<bool>{false, false, true, true, false}));
  EXPECT_EQ(bools(kg::greater_equal(a, b)), (std::vector<bool>{false, true, true, true, false}));
  EXPECT_EQ(kg::equal(kg::reshape(a, {5, 1}), a).dims(), (shape{5, 5}));
}

TEST(text, has_distinct_elements_in_the_order_in_which_they_come) {
  const auto [values, indices] = kg::unique(tensor({"b", "a", "b", long_text.c_str(), "", "a"}));
  expect_texts(values, {4}, {"b", "a", long_text, ""});
  EXPECT_EQ(indices.to_doubles(), (std::vector<double>{0, 1, 0, 2, 3, 1}));
}

TEST(text, is_filled_by_name_with_a_text) {
  const auto filled = [](const kg::attr_value& value, dtype type) {
    return kg::run_kernel("Fill", {}, {{"shape", shape{2}}, {"value", value}, {"dtype", type}});
  };
  expect_texts(filled("hello", dtype::text), {2}, {"hello", "hello"});
  expect_texts(kg::zeros({2}, dtype::text), {2}, {"", ""});
  EXPECT_NE(refusal([&] { return filled(1.0, dtype::text); }).find("a text or 0 for text"), std::string::npos);
  EXPECT_NE(refusal([&] { return filled("1", dtype::float32); }).find("a number for other"), std::string::npos);
}

TEST(text, has_a_text_around_it_where_it_is_padded) {
  expect_texts(kg::pad(tensor({"a", "b"}), {1, 2}, wide), {5}, {wide, "a", "b", wide, wide});
  expect_texts(kg::pad(tensor({"a", "b"}), {1, 0}), {3}, {"", "a", "b"});
}

TEST(text, prints_in_quotes_with_escapes) {
  EXPECT_EQ(to_string(tensor({"a\"b\\", "\n\x01"})), "tensor text [2]\n[\"a\\\"b\\\\\", \"\\n\\x01\"]");
}

TEST(text, is_refused_where_it_means_nothing) {
  const struct {
    std::string_view says;
    std::string got;
  } cases[] = {
      {"is no UTF-8 from byte 1 on", refusal([] { return tensor("a\xff"); })},
      {"2 values; wanted 3 for shape [3]", refusal([] { return tensor({"a", "b"}, {3}); })},
      {"text and float32; wanted texts or numbers, not both",
       refusal([] { return kg::equal(tensor("a"), tensor(1.f)); })},
      {"operand a of dtype text", refusal([] { return kg::add(tensor("a"), tensor("b")); })},
      {"operand x of dtype text", refusal([] { return kg::cast(tensor("1"), dtype::float32); })},
      {"dtype text; ", refusal([] { return kg::cast(tensor(1.f), dtype::text); })},
      {"a number that text holds", refusal([] { return kg::arange(0, 3, 1, dtype::text); })},
      {"constantValue = 1 for dtype text", refusal([] { return kg::pad(tensor({"a"}), {{1, 1}}, 1); })},
      {"constantValue = \"x\" for dtype float32", refusal([] { return kg::pad(tensor({1.f}), {1, 1}, "x"); })},
      {"dtype text", refusal([] { return tensor("1").to_doubles(); })},
      {"read as float32", refusal([] { return tensor("1").item<float>(); })},
  };
  for (const auto& [says, got] : cases) EXPECT_NE(got.find(says), std::string::npos) << got << " lacks: " << says;
}

TEST(text, stays_on_the_host) {
  const auto memory = std::make_shared<kgtest::arena>();
  kg::register_backend("far", [memory]() -> std::shared_ptr<kg::storage> { return memory; });
  kg::kernel_config read;
  read.name = "Identity";
  read.backend = "far";
  read.dtypes = kg::any_element;
  read.run = [](const kg::kernel_call& call) -> kg::tensor_list {
    call.elements(call.input("x"));
    return {call.input("x")};
  };
  kg::register_kernel(read);
  {
    const kg::backend_scope here("far");
    const std::string says = refusal([] { return kg::run_kernel("Identity", {{"x", tensor("a")}}); });
    EXPECT_NE(says.find("a tensor of dtype text"), std::string::npos) << says;
  }
  kgtest::forget("far");
  EXPECT_EQ(memory->live(), 0u);
}

}  // namespace
