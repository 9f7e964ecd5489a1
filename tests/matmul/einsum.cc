// SPDX-License-Identifier: Apache-2.0
// Einsum against its definition, a sum over all indices, in double precision; equations with `...` and without an arrow
// against such without; gradients of every order come with every_op.cc.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/support/refusal.h"

import kerngrad;

namespace {

using kg::dtype;
using kg::shape;
using kg::tensor;
using kgtest::refusal;
using kgtest::says;
using list = std::vector<double>;

std::vector<tensor> drawn(const std::vector<shape>& dims, dtype type) {
  std::vector<tensor> all;
  for (const shape& d : dims) {
    const tensor x = kg::random_uniform(d, -4, 4, static_cast<std::int64_t>(all.size()) + 1, dtype::float64);
    all.push_back(kg::cast(type == dtype::int32 ? kg::round(x) : x, type));
  }
  return all;
}

// An explicit equation of letters: the terms and the result.
struct terms_and_result {
  std::vector<std::string> terms{1};
  std::string result;
  explicit terms_and_result(std::string_view equation) {
    const std::size_t arrow = equation.find("->");
    for (char c : equation.substr(0, arrow)) {
      if (c == ',') terms.emplace_back();
      else terms.back() += c;
    }
    result = equation.substr(arrow + 2);
  }
};

struct defined_sum {
  list values, magnitudes;  // of the terms, for what rounding may do
};
defined_sum defined(std::string_view equation, const std::vector<tensor>& operands) {
  const terms_and_result e(equation);
  std::map<char, std::int64_t> size, at;
  std::vector<list> x;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    x.push_back(operands[k].to_doubles());
    for (std::size_t i = 0; i < e.terms[k].size(); ++i)
      size[e.terms[k][i]] = operands[k].dims()[static_cast<std::int64_t>(i)], at[e.terms[k][i]] = 0;
  }
  const auto place = [&](std::string_view term) {
    std::int64_t flat = 0;
    for (char c : term) flat = flat * size[c] + at[c];
    return static_cast<std::size_t>(flat);
  };
  std::int64_t results = 1, all = 1;
  for (char c : e.result) results *= size[c];
  for (const auto& [c, n] : size) all *= n;
  defined_sum y{list(static_cast<std::size_t>(results)), list(static_cast<std::size_t>(results))};
  for (std::int64_t i = 0; i < all; ++i) {
    double product = 1;
    for (std::size_t k = 0; k < x.size(); ++k) product *= x[k][place(e.terms[k])];
    y.values[place(e.result)] += product;
    y.magnitudes[place(e.result)] += std::fabs(product);
    for (auto& [c, n] : at) {
      if (++n < size[c]) break;
      n = 0;
    }
  }
  return y;
}

void check(std::string_view equation, const std::vector<shape>& dims) {
  for (const dtype type : {dtype::float64, dtype::float32, dtype::int32}) {
    const std::vector<tensor> operands = drawn(dims, type);
    const tensor got = kg::einsum(equation, operands);
    EXPECT_EQ(got.type(), type);
    const defined_sum wanted = defined(equation, operands);
    const list y = got.to_doubles();
    ASSERT_EQ(y.size(), wanted.values.size()) << equation;
    const double unit = type == dtype::float64 ? 1e-13 : type == dtype::float32 ? 3e-6 : 0;
    for (std::size_t i = 0; i < y.size(); ++i)
      ASSERT_NEAR(y[i], wanted.values[i], unit * wanted.magnitudes[i]) << equation << " at " << i;
  }
}

TEST(einsum, is_a_sum_over_the_indices_that_the_result_lacks) {
  const std::vector<std::pair<const char*, std::vector<shape>>> cases = {
      {"ij,jk->ik", {{3, 4}, {4, 5}}},
      {"ji,kj->ki", {{4, 3}, {5, 4}}},
      {"ij,kj->ki", {{3, 4}, {5, 4}}},
      {"bij,bjk->bik", {{2, 3, 4}, {2, 4, 5}}},
      {"ibj,bjk->kib", {{3, 2, 4}, {2, 4, 5}}},
      {"qhd,khd->hqk", {{3, 2, 4}, {5, 2, 4}}},
      {"aecd,abcd->acbe", {{2, 4, 3, 2}, {2, 5, 3, 2}}},
      {"abghef,abcdef->abecdgh", {{2, 3, 2, 3, 2, 2}, {2, 3, 2, 4, 2, 2}}},
      {"abcd,cdef->efab", {{2, 3, 4, 2}, {4, 2, 3, 2}}},
      {"abcd,dcef->aebf", {{2, 3, 4, 2}, {2, 4, 3, 2}}},
      {"i,i->", {{7}, {7}}},
      {"i,j->ij", {{3}, {4}}},
      {"i,j->ji", {{3}, {4}}},
      {"ij,ij->ij", {{3, 4}, {3, 4}}},
      {"ij,ji->ij", {{3, 4}, {4, 3}}},
      {"ib,ib->b", {{3, 4}, {3, 4}}},
      {"ij,kl->ljki", {{2, 3}, {4, 5}}},
      {"ij->", {{3, 4}}},
      {"ijk->k", {{3, 4, 5}}},
      {"ijk->ik", {{3, 4, 5}}},
      {"ijk->kj", {{3, 4, 5}}},
      {"ijkl->lj", {{2, 3, 4, 5}}},
      {"ii->i", {{4, 4}}},
      {"ii->", {{4, 4}}},
      {"iij->ji", {{3, 3, 4}}},
      {"iji,jkj->k", {{3, 2, 3}, {2, 4, 2}}},
      {"iii,i->i", {{3, 3, 3}, {3}}},
      {",ij->ji", {{}, {2, 3}}},
      {",->", {{}, {}}},
      {"i,->", {{4}, {}}},
      {"ij,k->i", {{2, 3}, {4}}},
      {"ij,jk,kl->il", {{2, 9}, {9, 3}, {3, 8}}},
      {"ij,jk,kl,lm->mi", {{7, 2}, {2, 9}, {9, 2}, {2, 6}}},
      {"ai,bi,ci->abc", {{2, 5}, {3, 5}, {4, 5}}},
      {"i,j,k,l->lkji", {{2}, {3}, {2}, {3}}},
      {"ab,bc,cd,de,ef,fg,gh,hi,ij,jk->ka", std::vector<shape>(10, {2, 2})},
      {"abcdefgh,abcdefgh->hgfedcba", {{2, 1, 2, 2, 1, 2, 1, 2}, {2, 1, 2, 2, 1, 2, 1, 2}}},
      {"abcdefgh,ijklmnop->pa", {{2, 1, 2, 1, 2, 1, 1, 1}, {1, 2, 1, 1, 2, 1, 1, 2}}},
      {"abcd,efgh,ijkl,aeim->mbfj", {{2, 2, 2, 2}, {2, 2, 2, 2}, {2, 2, 2, 2}, {2, 2, 2, 2}}},
      {"abcdefgh,hgfedcbz,aceg->zb", {{2, 2, 2, 2, 2, 2, 2, 2}, {2, 2, 2, 2, 2, 2, 2, 3}, {2, 2, 2, 2}}},
      {"ij,jk->ik", {{1, 4}, {4, 1}}},
      {"ij,jk->ik", {{3, 1}, {1, 4}}},
      {"abc,cde->abde", {{4, 20, 80}, {80, 2, 3}}},
  };
  for (const auto& [equation, dims] : cases) check(equation, dims);
}

TEST(einsum, of_no_elements_is_a_sum_of_nothing) {
  EXPECT_EQ(kg::einsum("ij,jk->ik", kg::ones({2, 0}), kg::ones({0, 2})).to_doubles(), (list{0, 0, 0, 0}));
  EXPECT_EQ(kg::einsum("ij->i", kg::ones({2, 0})).to_doubles(), (list{0, 0}));
  EXPECT_EQ(kg::einsum("ij,jk->ik", kg::ones({0, 2}), kg::ones({2, 3})).dims(), (shape{0, 3}));
}

TEST(einsum, without_an_arrow_has_the_letters_that_occur_once_in_the_order_of_the_alphabet) {
  const std::vector<tensor> m = drawn({{2, 3}, {3, 4}}, dtype::float64);
  const auto same = [](const tensor& a, const tensor& b) {
    EXPECT_EQ(a.dims(), b.dims());
    EXPECT_EQ(a.to_doubles(), b.to_doubles());
  };
  same(kg::einsum("ij,jk", m), kg::einsum("ij,jk->ik", m));
  same(kg::einsum("bj,ja", m), kg::einsum("bj,ja->ab", m));
  same(kg::einsum("bj,jA", m), kg::einsum("bj,jA->Ab", m));
  same(kg::einsum("ba", m[0]), kg::transpose(m[0]));
  same(kg::einsum(" i j , j k -> i k ", m), kg::einsum("ij,jk->ik", m));
  same(kg::einsum("ii", kg::ones({3, 3}, dtype::float64)), kg::full({}, 3, dtype::float64));
}

TEST(einsum, broadcasts_the_axes_that_have_no_letter) {
  const auto near = [](const tensor& a, const tensor& b) {
    ASSERT_EQ(a.dims(), b.dims());
    const list x = a.to_doubles(), y = b.to_doubles();
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], y[i], 1e-12);
  };
  const std::vector<tensor> m = drawn({{2, 1, 3, 4}, {5, 4, 2}}, dtype::float64);
  near(kg::einsum("...ij,...jk->...ik", m), kg::matmul(m[0], m[1]));
  near(kg::einsum("...ij,...jk", m), kg::matmul(m[0], m[1]));
  near(kg::einsum("i...j,jk...->...ki", drawn({{3, 2, 4}, {4, 5, 2}}, dtype::float64)),
       kg::einsum("iaj,jka->aki", drawn({{3, 2, 4}, {4, 5, 2}}, dtype::float64)));
  near(kg::einsum("i...,j->...ij", m[1], kg::ones({3}, dtype::float64)),
       kg::einsum("iab,j->abij", m[1], kg::ones({3}, dtype::float64)));
  near(kg::einsum("...,...->...", m[0], kg::full({1}, 2, dtype::float64)), m[0] * 2.0);
  near(kg::einsum("...->...", m[0]), m[0]);
}

TEST(einsum, promotes_its_tensors_and_lifts_what_has_no_products) {
  const tensor truth({true, true, false}, {3}), numbers({1.5, 2.5, 3.5}, {3});
  EXPECT_EQ(kg::einsum("i,i->", truth, truth).signature(), (kg::signature{{}, dtype::int32}));
  EXPECT_EQ(kg::einsum("i,i->", truth, truth).to_doubles(), (list{2}));
  EXPECT_EQ(kg::einsum("i,i->", truth, numbers).signature(), (kg::signature{{}, dtype::float64}));
  EXPECT_EQ(kg::einsum("i,i->", truth, numbers).to_doubles(), (list{4}));
  EXPECT_EQ(kg::einsum("i->", kg::cast(numbers, dtype::float16)).type(), dtype::float16);
}

TEST(einsum, has_the_gradients_of_the_products_that_it_stands_for) {
  const std::vector<tensor> m = drawn({{2, 3}, {3, 4}, {4, 2}}, dtype::float64);
  const tensor dy = drawn({{2, 2}}, dtype::float64)[0];
  const auto grads = [&](auto f) { return kg::value_and_grads_of(f, m, dy).grads; };
  const auto got = grads([](std::span<const tensor> in) { return kg::einsum("ij,jk,kl->li", in); });
  const auto wanted =
      grads([](std::span<const tensor> in) { return kg::transpose(kg::matmul(kg::matmul(in[0], in[1]), in[2])); });
  for (std::size_t i = 0; i < 3; ++i) {
    const list a = got[i].to_doubles(), b = wanted[i].to_doubles();
    for (std::size_t k = 0; k < a.size(); ++k) EXPECT_NEAR(a[k], b[k], 1e-12);
  }
}

TEST(einsum, gives_gradients_to_diagonals_and_to_indices_of_one_tensor_alone) {
  const auto grad = [](std::string_view equation, const tensor& x, const tensor& dy) {
    return kg::value_and_grads_of([&](std::span<const tensor> in) { return kg::einsum(equation, in[0]); },
                                  std::vector{x}, dy)
        .grads[0];
  };
  const tensor three = kg::ones({3, 3}), dy({1.f, 2.f, 3.f}, {3});
  EXPECT_EQ(grad("ii->i", three, dy).to_doubles(), (list{1, 0, 0, 0, 2, 0, 0, 0, 3}));
  EXPECT_EQ(grad("ij->i", three, dy).to_doubles(), (list{1, 1, 1, 2, 2, 2, 3, 3, 3}));
  EXPECT_EQ(grad("ij->j", three, dy).to_doubles(), (list{1, 2, 3, 1, 2, 3, 1, 2, 3}));
  EXPECT_EQ(grad("ii", three, kg::full({}, 2)).to_doubles(), (list{2, 0, 0, 0, 2, 0, 0, 0, 2}));
}

TEST(einsum, has_the_same_bits_on_several_threads) {
  const std::vector<tensor> x = drawn({{64, 9, 70}, {9, 70, 80}, {80, 33}}, dtype::float32);
  const auto all = [&] {
    return std::vector{kg::einsum("abc,bcd->da", x[0], x[1]), kg::einsum("abc,bcd,de->eba", x),
                       kg::einsum("abc,bcd->abc", x[0], x[1]), kg::einsum("abc,de->aedb", x[0], x[2])};
  };
  const std::vector<tensor> one = all();
  kg::set_num_threads(3);
  const std::vector<tensor> three = all();
  kg::set_num_threads(1);
  for (std::size_t i = 0; i < one.size(); ++i)
    EXPECT_EQ(std::memcmp(one[i].address(), three[i].address(), static_cast<std::size_t>(one[i].size()) * 4), 0) << i;
}

TEST(einsum, refuses_what_it_cannot_read_and_says_where) {
  const tensor a = kg::ones({2, 3}), b = kg::ones({3, 4});
  const auto expect = [&](std::string_view equation, std::initializer_list<std::string_view> parts) {
    const std::string text = refusal([&] { return kg::einsum(equation, a, b); });
    EXPECT_TRUE(says(text, {"[kg::einsum]"}) && says(text, parts)) << equation << ": " << text;
  };
  expect("ij,jk>ik", {"'>' at 5 of \"ij,jk>ik\"", "letters"});
  expect("ij,j1->i", {"'1' at 4"});
  expect("ij,jk-ik", {"'-' at 5"});
  expect("ij,jk->ik->i", {"a second \"->\" at 9"});
  expect("ij,jk->i,k", {"a comma at 8"});
  expect("ij->ji", {"2 tensors", "1, one for each term"});
  expect("ij,jk,kl->il", {"2 tensors", "3, one for each term"});
  expect("ij,ik->jk", {"axis 0 of tensors[1] of shape [3, 4], of size 3", "2, the size that 'i' has"});
  expect("ijk,jk->i", {"tensors[0] of shape [2, 3]", "at 0", "3 axes"});
  expect("i,jk->i", {"tensors[0] of shape [2, 3]", "1 axis", "\"...\""});
  expect("ij,jk->iz", {"'z' in the result", "alone"});
  expect("ij,jk->ii", {"'i' twice in the result"});
  expect("i....,jk->i", {"'.' at 4"});
  expect("i...,...k->ik", {"a result without \"...\""});
  expect("......,jk->", {"a second \"...\" at 3"});
  expect("i..,jk->i", {"'.' at 1"});
  expect("abcdefghi,jk->i", {"more than 8 letters"});
  expect("i...,j...->ij...", {"tensors[1]", "of \"...\""});
  EXPECT_TRUE(
      says(refusal([] { return kg::einsum("abcde,fghij", kg::ones({1, 1, 1, 1, 1}), kg::ones({1, 1, 1, 1, 1})); }),
           {"a result of 10 axes", "at most 8"}));
  EXPECT_TRUE(
      says(refusal([] { return kg::einsum("i,i->", std::vector<tensor>{kg::ones({2}), kg::zeros({2}, dtype::text)}); }),
           {"[kg::einsum]", "text"}));
}

}  // namespace
