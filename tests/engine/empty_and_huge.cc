// SPDX-License-Identifier: Apache-2.0
// Every op with axes of size 0 next to axes of up to 2^40: its value, its gradient and the gradient of that end soon,
// with a result or an error. Calls are made from the legal ones of the test kit. They run in a forked process, so that
// one that does not end is named and the next ones still run.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>
#include <range/v3/view/cartesian_product.hpp>

#include "tests/support/calls_apart.h"
#include "tests/support/full.h"

import kerngrad;
import kerngrad.testkit;

namespace {

using kg::shape;
using kg::tensor;
using kg::testkit::sample;
using integers = std::vector<std::int64_t>;

constexpr std::int64_t huge_sizes[] = {std::int64_t{1} << 31, std::int64_t{1} << 33, std::int64_t{1} << 40};

// ------------------------------------------------------------------------------------------ sizes of a call

// Lists of sizes in a sample: the axes of each tensor, the integers of each attribute, and the elements of integer
// tensors that the op reads as sizes. A list that is changed is written back.
struct size_list {
  enum class kind : std::uint8_t { axes, attribute, elements } is;
  std::size_t of = 0, tensor = 0;
  integers sizes;
};

std::optional<integers> integers_of(const kg::attr_value& value) {
  if (value.kind() == kg::attr_kind::integer) return integers{value.as_integer()};
  if (value.kind() != kg::attr_kind::list) return {};
  return integers(value.as_list().begin(), value.as_list().end());
}

std::vector<size_list> sizes_in(const kg::op_row& row, const sample& call) {
  std::vector<size_list> all;
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    const kg::testkit::sample_operand& o = call.operands[i];
    for (std::size_t t = 0; t < o.dims.size(); ++t)
      all.push_back({size_list::kind::axes, i, t, integers(o.dims[t].begin(), o.dims[t].end())});
    const int place = row.operand_index(o.name);
    const bool read = row.operand_at(static_cast<std::size_t>(place)).part == kg::role::read;
    if (!read || !o.values.defined() || o.values.size() > 8 || !kg::integral.has(o.values.type())) continue;
    const std::vector<double> values = o.values.to_doubles();
    all.push_back({size_list::kind::elements, i, 0, integers(values.begin(), values.end())});
  }
  for (std::size_t k = 0; k < call.attrs.size(); ++k)
    if (const std::optional<integers> list = integers_of(call.attrs[k].value))
      all.push_back({size_list::kind::attribute, k, 0, *list});
  return all;
}

// Positions in several lists that have one size: at most one of each list, as axes of operands that belong together.
struct position {
  std::size_t list, index;
  bool operator==(const position&) const = default;
};
using group = std::vector<position>;

std::vector<group> groups_in(const std::vector<size_list>& lists) {
  std::vector<group> all;
  for (std::size_t l = 0; l < lists.size(); ++l) {
    const std::size_t before = all.size();
    for (std::size_t i = 0; i < lists[l].sizes.size(); ++i) {
      const std::int64_t size = lists[l].sizes[i];
      if (size < 0) continue;
      for (std::size_t g = 0; g < before; ++g) {
        if (lists[all[g][0].list].sizes[all[g][0].index] != size) continue;
        all.push_back(all[g]);
        all.back().push_back({l, i});
      }
      all.push_back({{l, i}});
    }
  }
  return all;
}

bool have_in_common(const group& a, const group& b) {
  return std::ranges::any_of(a, [&](const position& p) { return std::ranges::find(b, p) != b.end(); });
}

// ------------------------------------------------------------------------------------------ calls

// A sample with changed sizes; nothing when a tensor without an axis of size 0 would be huge.
struct changed_call {
  std::size_t sample;
  std::vector<size_list> lists;
};

bool can_be_made(const std::vector<size_list>& lists) {
  return std::ranges::all_of(lists, [](const size_list& list) {
    const bool is_huge = std::ranges::any_of(list.sizes, [](std::int64_t s) { return s >= huge_sizes[0]; });
    const bool is_empty = std::ranges::find(list.sizes, 0) != list.sizes.end();
    return list.is != size_list::kind::axes || !is_huge || is_empty;
  });
}

std::vector<changed_call> changed_calls(const kg::op_row& row, const std::vector<sample>& samples) {
  std::vector<changed_call> all;
  std::size_t turn = 0;
  for (std::size_t s = 0; s < samples.size(); ++s) {
    const std::vector<size_list> lists = sizes_in(row, samples[s]);
    const std::vector<group> groups = groups_in(lists);
    for (const auto& [none, many] : ranges::views::cartesian_product(groups, groups)) {
      if (have_in_common(none, many)) continue;
      changed_call call{s, lists};
      for (const position& p : none) call.lists[p.list].sizes[p.index] = 0;
      for (const position& p : many) call.lists[p.list].sizes[p.index] = huge_sizes[turn % std::size(huge_sizes)];
      if (!can_be_made(call.lists)) continue;
      ++turn;
      all.push_back(std::move(call));
    }
  }
  return all;
}

// At most so many, spread evenly.
template <class T>
std::vector<T> some_of(const std::vector<T>& all, std::size_t most) {
  if (all.size() <= most) return all;
  std::vector<T> some;
  for (std::size_t i = 0; i < most; ++i) some.push_back(all[i * all.size() / most]);
  return some;
}

kg::dtype dtype_for(const kg::op_row& row, std::size_t turn) {
  std::vector<kg::dtype> floats, all;
  for (int t = 0; t < kg::dtype_count; ++t) {
    const kg::dtype type = static_cast<kg::dtype>(t);
    const auto takes = [type](const kg::operand& o) { return o.part == kg::role::value && o.types.has(type); };
    if (std::ranges::none_of(row.operands, takes)) continue;
    all.push_back(type);
    if (kg::differentiable.has(type)) floats.push_back(type);
  }
  if (all.empty()) return kg::dtype::float32;
  const std::vector<kg::dtype>& from = turn % 2 == 0 && !floats.empty() ? floats : all;
  return from[turn / 2 % from.size()];
}

struct made_call {
  std::vector<kg::named_operand> operands;
  std::vector<kg::named_attribute> attrs;
};

tensor with_elements(const tensor& like, const integers& values) {
  const std::vector<std::int32_t> low(values.begin(), values.end());
  return like.type() == kg::dtype::int64 ? tensor(std::vector<std::int64_t>(values), like.dims())
                                         : tensor(low, like.dims());
}

// Makes the operands: those that a sample fixes stay as they are unless an axis was changed, which leaves them empty.
made_call make(const kg::op_row& row, const sample& from, const std::vector<size_list>& lists, kg::dtype type) {
  sample call = from;
  for (const size_list& list : lists) {
    if (list.is == size_list::kind::axes) {
      call.operands[list.of].dims[list.tensor] = shape(list.sizes);
    } else if (list.is == size_list::kind::attribute) {
      kg::attr_value& value = call.attrs[list.of].value;
      value = value.kind() == kg::attr_kind::list ? kg::attr_value(list.sizes) : kg::attr_value(list.sizes[0]);
    }
  }
  for (std::size_t i = 0; i < call.operands.size(); ++i)
    if (call.operands[i].values.defined()) call.operands[i].dims = from.operands[i].dims;
  made_call made{kg::testkit::operands_for(row, call, type), kg::testkit::attributes_for(row, call, type)};
  for (const size_list& list : lists) {
    if (list.is == size_list::kind::attribute || !from.operands[list.of].values.defined()) continue;
    tensor& x = made.operands[list.of].tensors[list.tensor];
    if (list.is == size_list::kind::elements && x.size() == static_cast<std::int64_t>(list.sizes.size()))
      x = with_elements(x, list.sizes);
    if (list.is == size_list::kind::axes && x.dims() != shape(list.sizes)) x = kg::zeros(shape(list.sizes), x.type());
  }
  return made;
}

std::string text_of(const sample& from, const std::vector<size_list>& lists, kg::dtype type) {
  std::string text(kg::name_of(type));
  for (const size_list& list : lists) {
    const bool attribute = list.is == size_list::kind::attribute;
    text += " " + std::string(attribute ? from.attrs[list.of].name : from.operands[list.of].name);
    text += list.is == size_list::kind::elements ? " of" : "";
    for (const std::int64_t size : list.sizes) text += " " + std::to_string(size);
    text += ",";
  }
  for (const kg::named_attribute& a : from.attrs)
    if (!integers_of(a.value)) text += " " + std::string(a.name) + "=" + to_string(a.value);
  return text;
}

// ------------------------------------------------------------------------------------------ running

bool is_complex(kg::dtype type) { return type == kg::dtype::complex64 || type == kg::dtype::complex128; }

tensor loss_of(std::span<const tensor> results) {
  tensor total = tensor(0.f);
  for (const tensor& y : results)
    if (y.defined() && kg::differentiable.has(y.type()))
      total = total + kg::sum(is_complex(y.type()) ? kg::real(y) : y);
  return total;
}

// Value, gradients, and the gradients of those.
void run_with_gradients(const kg::op_row& row, const made_call& call) {
  std::vector<tensor> leaves;
  for (const kg::named_operand& o : call.operands)
    for (const tensor& x : o.tensors)
      if (kg::differentiable.has(x.type())) leaves.push_back(x);
  const auto value = [&](std::span<const tensor> xs) {
    std::vector<kg::named_operand> with = call.operands;
    std::size_t at = 0;
    for (kg::named_operand& o : with)
      for (tensor& x : o.tensors)
        if (kg::differentiable.has(x.type())) x = xs[at++];
    kg::tensor_list results = kg::run_kernel_list(row.name, with, call.attrs);
    std::vector<tensor> all;
    for (int k = 0; k < results.size(); ++k) all.push_back(results[k]);
    return loss_of(all);
  };
  if (leaves.empty() || !row.no_gradient.empty()) return static_cast<void>(value(leaves));
  const auto slope = [&](std::span<const tensor> xs) { return loss_of(kg::value_and_grads_of(value, xs).grads); };
  kg::value_and_grads_of(slope, leaves);
}

struct op_under_test {
  const kg::op_row& row;
  std::vector<sample> samples;
  std::vector<changed_call> calls;

  // A fourth of the calls run on the backend `reference`.
  void make_call(std::size_t i) const {
    kg::set_memory_limit(kg::memory().live_bytes + (std::int64_t{64} << 20));
    kg::set_backend(i % 4 == 3 ? kg::backend::reference : kg::backend::simd);
    const changed_call& call = calls[i];
    try {
      run_with_gradients(row, make(row, samples[call.sample], call.lists, dtype_for(row, i)));
    } catch (const kg::error&) {
    }
  }
};

class empty_and_huge : public ::testing::TestWithParam<std::string> {};

TEST_P(empty_and_huge, calls_and_their_gradients_end_soon_with_a_result_or_an_error) {
  const kg::op_row& row = *kg::row_named(GetParam());
  op_under_test op{row, kg::testkit::samples_of(row), {}};
  const std::size_t most = kgtest::full() ? ~std::size_t{0} : 200;
  op.calls = some_of(changed_calls(row, op.samples), most);
  kgtest::calls_apart apart;
  int problems = 0;
  for (std::size_t next = 0; next < op.calls.size() && problems < 5; ++next) {
    next = apart.run(next, op.calls.size(), [&](std::size_t i) { op.make_call(i); });
    if (next == op.calls.size()) break;
    const changed_call& call = op.calls[next];
    ADD_FAILURE() << row.name << ": " << apart.problem() << ": "
                  << text_of(op.samples[call.sample], call.lists, dtype_for(row, next));
    ++problems;
  }
}

INSTANTIATE_TEST_SUITE_P(known_ops, empty_and_huge, ::testing::ValuesIn(kg::op_names()),
                         [](const auto& info) { return info.param; });

TEST(a_sum_without_products, is_zero_whatever_the_other_axes_are) {
  constexpr std::int64_t huge = std::int64_t{1} << 40;
  const tensor x = kg::zeros({1, 2, 2, 0}), filter = kg::zeros({huge, 1, 0, 3}), bias({1.f, -2.f, 3.f});
  const std::vector<double> none(12, 0.0), finished = {1, 0, 3, 1, 0, 3, 1, 0, 3, 1, 0, 3};
  EXPECT_EQ(kg::conv2d(x, filter, {.pad = kg::same}).to_doubles(), none);
  EXPECT_EQ(
      kg::fused_conv2d(x, filter, {.bias = bias, .activation = kg::activation::relu, .pad = kg::same}).to_doubles(),
      finished);
  const auto slopes = kg::value_and_grads_of(
      [](std::span<const tensor> xs) { return kg::sum(kg::conv2d(xs[0], xs[1], {.pad = kg::same})); },
      std::vector{x, filter});
  EXPECT_EQ(slopes.grads[0].dims(), x.dims());
  EXPECT_EQ(slopes.grads[1].dims(), filter.dims());
  const tensor signal = kg::zeros({0, std::int64_t{1} << 33});
  EXPECT_EQ(kg::grad([](const tensor& t) { return kg::sum(kg::real(kg::rfft(t))); })(signal).dims(), signal.dims());
  // The filter is not empty, and dy is.
  const kg::shape images{std::int64_t{1} << 31, 9, 0, 37};
  const tensor ones = kg::ones({9, 1, 37});
  const auto dilated = [&](const tensor& w) {
    return kg::sum(kg::dilation2d(kg::zeros(images), w, {.pad = kg::same}));
  };
  EXPECT_EQ(kg::sum(kg::grad(dilated)(ones)).item(), 0);
}

}  // namespace
