// SPDX-License-Identifier: Apache-2.0
// Every op of the table that works element by element, inside a fused function, against its own call: the expressions
// are made of the rows.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>
#include <range/v3/view/cartesian_product.hpp>

#include "tests/fused/fused.h"
#include "tests/support/refusal.h"
import kerngrad;

namespace {

namespace views = ranges::views;

using kg::dtype;
using kg::shape;
using kg::tensor;
using kgtest::same_bits;
using kgtest::same_bits_but_for_nans;

template <int Id>
constexpr bool fusable = kg::fusable_op<kg::known<kg::audit::name_at<kg::audit::names_of_rows<kg::op_table>, Id>()>>;

template <int Id>
inline constexpr auto attr_names = [] {
  std::array<std::string_view, kg::row_of<Id>.attrs.size()> names;
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = kg::row_of<Id>.attrs[i].name;
  return names;
}();

// A value of an attribute: a dtype, a whole number, or numbers that grow as bounds have to.
template <int Id, std::size_t I>
constexpr auto value_of_attr() {
  if constexpr (kg::row_of<Id>.attrs[I].kind == kg::attr_kind::dtype) return dtype::float64;
  else if constexpr (kg::row_of<Id>.attrs[I].kind == kg::attr_kind::integer) return std::int64_t{2};
  else return -0.25 + static_cast<double>(I);
}

// The op on symbols or tensors.
template <int Id>
struct called {
  static constexpr auto name = kg::audit::name_at<kg::audit::names_of_rows<kg::op_table>, Id>();
  constexpr auto operator()(const auto&... x) const {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return kg::call<name>(x..., kg::attr<kg::audit::name_at<attr_names<Id>, I>()>(value_of_attr<Id, I>())...);
    }(std::make_index_sequence<attr_names<Id>.size()>{});
  }
};
// The same in the middle: its result is no result of the program but an operand, twice.
template <int Id>
struct inside {
  constexpr auto operator()(const auto& first, const auto&... rest) const {
    const auto y = called<Id>{}(first, rest...);
    return kg::where(first == first, y, y);
  }
};

// True if there was something to compare: a call that is rejected is rejected in the same words.
template <std::size_t Operands, class F>
bool has_same_bits(const std::string& what, F expression, const std::vector<tensor>& x) {
  constexpr auto fused = kg::fuse(F{});
  const auto with = [&](auto f) {
    if constexpr (Operands == 3) return f(x[0], x[1], x[2]);
    else if constexpr (Operands == 2) return f(x[0], x[1]);
    else return f(x[0]);
  };
  tensor expected;
  const std::string refused = kgtest::refusal([&] { return expected = with(expression); });
  if (!expected.defined()) {
    EXPECT_EQ(kgtest::refusal([&] { return with(fused); }), refused) << what;
    return false;
  }
  for (const kg::simd_target& target : kg::simd_targets()) {
    kg::set_simd_target(target.name);
    EXPECT_TRUE(same_bits(with(fused), with(expression))) << what << " on " << target.name;
  }
  kg::set_simd_target("");
  return true;
}

// The ops that something was compared of, in at least one dtype.
using names = std::set<std::string_view>;

template <int Id>
void check_op(names& compared) {
  const kg::op_row& row = kg::row_of<Id>;
  constexpr std::size_t operands = kg::row_of<Id>.operands.size();
  std::vector<dtype> types(std::begin(kgtest::real_dtypes), std::end(kgtest::real_dtypes));
  types.push_back(dtype::complex64);
  const std::vector<std::array<shape, 3>> shapes{{shape{1}, shape{1}, shape{1}},
                                                 {shape{37}, shape{37}, shape{37}},
                                                 {shape{1500}, shape{1500}, shape{1500}},
                                                 {shape{3, 700}, shape{700}, shape{3, 1}},
                                                 {shape{}, shape{2, 33}, shape{2, 1}}};
  for (const auto& [type, dims] : views::cartesian_product(types, shapes)) {
    std::vector<tensor> x;
    for (std::size_t k = 0; k < operands; ++k) {
      const dtype own = row.operands[k].part == kg::role::own ? dtype::boolean : type;
      x.push_back(kgtest::values_of(own, dims[k], static_cast<std::int64_t>(k) + 1));
    }
    const std::string what = std::string(row.name) + " " + std::string(kg::name_of(type)) + " " + to_string(dims[0]);
    if (has_same_bits<operands>(what, called<Id>{}, x)) compared.insert(row.name);
    if (kg::only(type).bits & row.operands[0].types.bits) has_same_bits<operands>(what + " inside", inside<Id>{}, x);
  }
}

// The gradient of the op inside a chain, against the tape's; conversions and choices have operands of other dtypes.
template <int Id>
constexpr bool has_gradient_of_floats =
    kg::row_of<Id>.no_gradient.empty() &&
    (kg::row_of<Id>.convention == kg::convention::unary || kg::row_of<Id>.convention == kg::convention::binary);
template <int Id>
struct weighted {
  constexpr auto operator()(const auto& first, const auto&... rest) const {
    return called<Id>{}(first, rest...) * first;
  }
};
template <int Id>
void check_gradient(names& compared) {
  const kg::op_row& row = kg::row_of<Id>;
  if constexpr (has_gradient_of_floats<Id>) {
    constexpr auto fused = kg::fuse(weighted<Id>{});
    for (dtype type : {dtype::float32, dtype::float64}) {
      const tensor a = kgtest::values_of(type, {1100}, 1), b = kgtest::values_of(type, {1100}, 2);
      if constexpr (kg::row_of<Id>.operands.size() == 1) {
        EXPECT_TRUE(same_bits_but_for_nans(kg::grad(fused)(a), kg::grad(weighted<Id>{})(a))) << row.name;
      } else {
        const auto got = kg::grads(fused)(a, b), expected = kg::grads(weighted<Id>{})(a, b);
        EXPECT_TRUE(same_bits_but_for_nans(got[0], expected[0]) && same_bits_but_for_nans(got[1], expected[1]))
            << row.name;
      }
    }
    compared.insert(row.name);
  }
}

// Runs a check for every op that `fuse` takes.
template <std::size_t... I>
names compared_by(auto check, std::index_sequence<I...>) {
  names compared;
  const auto one = [&]<int Id>() {
    if constexpr (fusable<Id>) check.template operator()<Id>(compared);
  };
  (one.template operator()<static_cast<int>(I)>(), ...);
  return compared;
}

// The rows that a test is about, found without the concept by which `fuse` chooses.
names rows_that(auto holds) {
  names all;
  for (const kg::op_row& row : kg::op_table)
    if (holds(row)) all.insert(row.name);
  return all;
}
bool is_elementwise(const kg::op_row& row) {
  using enum kg::family;
  return (row.group == elementwise || row.group == convert || row.convention == kg::convention::unary ||
          row.convention == kg::convention::binary || row.infer == kg::shapes::same) &&
         !row.takes_list() && row.convention != kg::convention::custom;
}

TEST(every_op_that_works_by_element, gives_its_own_bits_in_a_fused_function) {
  const names compared =
      compared_by([]<int Id>(names& seen) { check_op<Id>(seen); }, std::make_index_sequence<kg::op_count>{});
  EXPECT_EQ(compared, rows_that(is_elementwise));
}

TEST(every_op_that_works_by_element, has_the_gradient_of_the_tape_in_a_fused_function) {
  const names compared =
      compared_by([]<int Id>(names& seen) { check_gradient<Id>(seen); }, std::make_index_sequence<kg::op_count>{});
  EXPECT_EQ(compared, rows_that([](const kg::op_row& row) {
              return (row.convention == kg::convention::unary || row.convention == kg::convention::binary) &&
                     !row.takes_list() && row.no_gradient.empty();
            }));
}

}  // namespace
