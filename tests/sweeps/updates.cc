// SPDX-License-Identifier: Apache-2.0
// Random updates of elements by indices, against loops that make one update after the other. Values are small integers,
// so that every order gives the same sum.
#include <algorithm>
#include <limits>

#include "tests/sweeps/drawn.h"

namespace {

using namespace kgtest;
using kg::dtype;
using kg::scatter_reduction;
using kg::shape;
using kg::tensor;

constexpr double infinity = std::numeric_limits<double>::infinity();

enum class change { set, add, multiply, max, min };
constexpr change changes[] = {change::set, change::add, change::multiply, change::max, change::min};

double changed(change how, double old, double value) {
  switch (how) {
    case change::set: return value;
    case change::add: return old + value;
    case change::multiply: return old * value;
    case change::max: return std::isnan(old) || std::isnan(value) ? std::nan("") : std::max(old, value);
    default: return std::isnan(old) || std::isnan(value) ? std::nan("") : std::min(old, value);
  }
}

// Small integers, now and then NaN where the dtype has it.
doubles drawn_values(dice& d, std::int64_t count, dtype type) {
  doubles all = d.whole(count, -3, 3);
  if (kg::floating.has(type))
    for (double& v : all) v = d.from_to(0, 19) == 0 ? std::nan("") : v;
  return all;
}
dtype drawn_dtype(dice& d) {
  constexpr dtype types[] = {dtype::float32, dtype::float64, dtype::int32, dtype::int64};
  return d.one_of(types);
}
tensor made(const doubles& values, const shape& dims, dtype type) {
  return kg::testkit::from_doubles(values, dims, type);
}

tensor at_rows(change how, const tensor& x, const tensor& rows, const tensor& updates) {
  switch (how) {
    case change::set: return kg::tensor_scatter_update(x, rows, updates);
    case change::add: return kg::scatter_add(x, rows, updates);
    case change::multiply: return kg::scatter_mul(x, rows, updates);
    case change::max: return kg::scatter_max(x, rows, updates);
    default: return kg::scatter_min(x, rows, updates);
  }
}

// Slices that rows of indices name, some of them twice.
void slices_at_rows(dice& d) {
  const dtype type = drawn_dtype(d);
  const change how = d.one_of(changes);
  const shape dims = d.dims(1, 3);
  const std::int64_t rows = d.from_to(0, 5), depth = d.from_to(1, dims.rank());
  doubles at;
  for (std::int64_t r = 0; r < rows; ++r)
    for (int k = 0; k < depth; ++k) at.push_back(static_cast<double>(d.from_to(0, dims[k] - 1)));
  place sizes(dims.begin() + depth, dims.end());
  sizes.insert(sizes.begin(), rows);
  const shape of(sizes);
  const doubles x = drawn_values(d, dims.size(), type), updates = drawn_values(d, of.size(), type);
  expected wanted{dims, x};
  each_index(of, [&](const place& i) {
    place to;
    for (std::int64_t k = 0; k < depth; ++k)
      to.push_back(static_cast<std::int64_t>(at[static_cast<std::size_t>(i[0] * depth + k)]));
    to.insert(to.end(), i.begin() + 1, i.end());
    double& old = wanted.values[flat(dims, to)];
    old = changed(how, old, updates[flat(of, i)]);
  });
  const tensor indices = made(at, {rows, depth}, d.yes() ? dtype::int32 : dtype::int64);
  expect_is(at_rows(how, made(x, dims, type), indices, made(updates, of, type)), wanted);
  if (how != change::add) return;
  wanted.values.assign(wanted.values.size(), 0);
  each_index(of, [&](const place& i) {
    place to;
    for (std::int64_t k = 0; k < depth; ++k)
      to.push_back(static_cast<std::int64_t>(at[static_cast<std::size_t>(i[0] * depth + k)]));
    to.insert(to.end(), i.begin() + 1, i.end());
    wanted.values[flat(dims, to)] += updates[flat(of, i)];
  });
  expect_is(kg::scatter_nd(indices, made(updates, of, type), dims), wanted);
}

void elements_along_an_axis(dice& d) {
  const dtype type = drawn_dtype(d);
  const change how = d.one_of(changes);
  const shape dims = d.dims(1, 3);
  const std::int64_t given = d.axis(dims.rank());
  const int axis = static_cast<int>(from_front(given, dims.rank()));
  place sizes(dims.begin(), dims.end());
  sizes[static_cast<std::size_t>(axis)] = d.from_to(0, 4);
  const shape of(sizes);
  const tensor indices = d.indices(of, -dims[axis], dims[axis] - 1);
  const doubles at = indices.to_doubles(), x = drawn_values(d, dims.size(), type),
                updates = drawn_values(d, of.size(), type);
  expected wanted{dims, x};
  each_index(of, [&](const place& i) {
    place to = i;
    to[static_cast<std::size_t>(axis)] = from_front(static_cast<std::int64_t>(at[flat(of, i)]), dims[axis]);
    double& old = wanted.values[flat(dims, to)];
    old = changed(how, old, updates[flat(of, i)]);
  });
  const tensor into = made(x, dims, type), by = made(updates, of, type);
  if (how == change::set) return expect_is(kg::put_along_axis(into, indices, by, given), wanted);
  constexpr scatter_reduction ways[] = {scatter_reduction::add, scatter_reduction::add, scatter_reduction::mul,
                                        scatter_reduction::max, scatter_reduction::min};
  expect_is(kg::scatter_along_axis(into, indices, by, ways[static_cast<int>(how)], given), wanted);
}

tensor at_index(change how, const tensor& x, const tensor& index, const tensor& values) {
  switch (how) {
    case change::set: return x.at(index).set(values);
    case change::add: return x.at(index).add(values);
    case change::multiply: return x.at(index).multiply(values);
    case change::max: return x.at(index).max(values);
    default: return x.at(index).min(values);
  }
}

void parts_of_a_tensor(dice& d) {
  const dtype type = drawn_dtype(d);
  const change how = d.one_of(changes);
  const shape dims = d.dims(1, 3), of = d.dims(0, 2, 0, 4);
  const tensor index = d.indices(of, -dims[0], dims[0] - 1);
  place sizes(of.begin(), of.end());
  sizes.insert(sizes.end(), dims.begin() + 1, dims.end());
  const shape taken(sizes);
  const doubles at = index.to_doubles(), x = drawn_values(d, dims.size(), type),
                values = drawn_values(d, taken.size(), type);
  expected wanted{dims, x};
  each_index(taken, [&](const place& i) {
    place to(i.begin() + of.rank(), i.end());
    const place inner(i.begin(), i.begin() + of.rank());
    to.insert(to.begin(), from_front(static_cast<std::int64_t>(at[flat(of, inner)]), dims[0]));
    double& old = wanted.values[flat(dims, to)];
    old = changed(how, old, values[flat(taken, i)]);
  });
  expect_is(at_index(how, made(x, dims, type), index, made(values, taken, type)), wanted);
}

tensor of_segments(change how, bool mean, const tensor& x, const tensor& ids, std::int64_t count) {
  if (mean) return kg::segment_mean(x, ids, count);
  switch (how) {
    case change::add: return kg::segment_sum(x, ids, count);
    case change::multiply: return kg::segment_prod(x, ids, count);
    case change::max: return kg::segment_max(x, ids, count);
    default: return kg::segment_min(x, ids, count);
  }
}

// Rows whose id is outside of the segments are dropped.
void segments(dice& d) {
  constexpr change ways[] = {change::add, change::multiply, change::max, change::min};
  const change how = d.one_of(ways);
  const bool mean = how == change::add && d.yes();
  const dtype type = d.yes() ? dtype::float64 : dtype::float32;
  const shape dims = d.dims(1, 3, 1, 5);
  const std::int64_t count = d.from_to(1, 4);
  const tensor ids = d.indices({dims[0]}, -1, count);
  const doubles at = ids.to_doubles(), x = drawn_values(d, dims.size(), type);
  place sizes(dims.begin(), dims.end());
  sizes[0] = count;
  const double start = how == change::add ? 0 : how == change::multiply ? 1 : how == change::max ? -infinity : infinity;
  expected wanted = by_index(shape(sizes), [&](const place&) { return start; });
  doubles rows(static_cast<std::size_t>(count));
  for (const double id : at)
    if (id >= 0 && id < static_cast<double>(count)) ++rows[static_cast<std::size_t>(id)];
  each_index(dims, [&](const place& i) {
    place to = i;
    to[0] = static_cast<std::int64_t>(at[static_cast<std::size_t>(i[0])]);
    if (to[0] < 0 || to[0] >= count) return;
    double& old = wanted.values[flat(wanted.dims, to)];
    old = changed(how, old, x[flat(dims, i)]);
  });
  if (mean)
    each_index(wanted.dims, [&](const place& i) {
      wanted.values[flat(wanted.dims, i)] /= std::max(rows[static_cast<std::size_t>(i[0])], 1.0);
    });
  expect_is(of_segments(how, mean, made(x, dims, type), ids, count), wanted, type == dtype::float32 ? 1e-6 : 1e-15);
}

void bags_of_rows(dice& d) {
  const shape dims{d.from_to(1, 5), d.from_to(1, 3)};
  const std::int64_t bags = d.from_to(0, 4);
  doubles ids, offsets;
  std::vector<doubles> each;
  for (std::int64_t b = 0; b < bags; ++b) {
    offsets.push_back(static_cast<double>(ids.size()));
    each.push_back(d.whole(d.from_to(0, 3), 0, dims[0] - 1));
    ids.insert(ids.end(), each.back().begin(), each.back().end());
  }
  constexpr kg::bag_mode modes[] = {kg::bag_mode::mean, kg::bag_mode::sum, kg::bag_mode::max};
  const kg::bag_mode mode = d.one_of(modes);
  const doubles x = d.whole(dims.size(), -9, 9);
  const expected wanted = by_index({bags, dims[1]}, [&](const place& i) {
    const doubles& rows = each[static_cast<std::size_t>(i[0])];
    double total = mode == kg::bag_mode::max && !rows.empty() ? -infinity : 0;
    for (const double row : rows) {
      const double value =
          x[static_cast<std::size_t>(row) * static_cast<std::size_t>(dims[1]) + static_cast<std::size_t>(i[1])];
      total = mode == kg::bag_mode::max ? std::max(total, value) : total + value;
    }
    return mode == kg::bag_mode::mean && !rows.empty() ? total / static_cast<double>(rows.size()) : total;
  });
  const auto list = [&](const doubles& values) { return made(values, {std::ssize(values)}, dtype::int32); };
  expect_is(kg::embedding_bag(made(x, dims, dtype::float64), list(ids), list(offsets), {.mode = mode}), wanted, 1e-15);
}

const kind_of_call kinds[] = {{"rows of indices", slices_at_rows},
                              {"along an axis", elements_along_an_axis},
                              {"at", parts_of_a_tensor},
                              {"segments", segments},
                              {"embedding_bag", bags_of_rows}};

TEST(random_updates, change_the_elements_that_loops_change) { sweep(kinds, 120); }

// ------------------------------------------------------------------------------------------ gradients

// The gradient of a sum with weights, as loops follow each weight back to the value that its element is.
TEST(random_updates, give_the_gradient_to_what_stayed) {
  for (int round = 0; round < rounds(60); ++round) {
    dice d(static_cast<std::uint64_t>(round) + 1);
    const shape dims = d.dims(1, 2), of{d.from_to(0, 5)};
    const tensor index = d.indices(of, -dims[0], dims[0] - 1);
    place sizes(dims.begin(), dims.end());
    sizes[0] = of[0];
    const shape taken(sizes);
    const doubles weights = d.whole(dims.size(), 1, 9), at = index.to_doubles();
    const tensor w = made(weights, dims, dtype::float64), x = kg::zeros(dims, dtype::float64),
                 values = kg::ones(taken, dtype::float64);
    const auto grads =
        kg::grads([&](const tensor& a, const tensor& v) { return kg::sum(a.at(index).set(v) * w); })(x, values);
    doubles to_x = weights, to_values(static_cast<std::size_t>(taken.size()));
    std::vector<std::ptrdiff_t> last(static_cast<std::size_t>(dims[0]), -1);
    for (std::size_t i = 0; i < at.size(); ++i)
      last[static_cast<std::size_t>(from_front(static_cast<std::int64_t>(at[i]), dims[0]))] =
          static_cast<std::ptrdiff_t>(i);
    each_index(dims, [&](const place& i) {
      const std::ptrdiff_t from = last[static_cast<std::size_t>(i[0])];
      if (from < 0) return;
      place value = i;
      value[0] = from;
      to_values[flat(taken, value)] = weights[flat(dims, i)];
      to_x[flat(dims, i)] = 0;
    });
    SCOPED_TRACE(round);
    expect_is(grads[0], {dims, to_x});
    expect_is(grads[1], {taken, to_values});
    if (HasFailure()) return;
  }
}

}  // namespace
