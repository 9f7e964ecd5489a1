// SPDX-License-Identifier: Apache-2.0
// Random calls of functions that take elements by indices, against the index of x that each element of the result is.
#include <algorithm>

#include "tests/sweeps/drawn.h"

namespace {

using namespace kgtest;
using kg::shape;
using kg::tensor;

// Each element is its own position.
tensor numbered(const shape& dims) {
  return kg::reshape(kg::arange(0, static_cast<double>(dims.size()), 1, kg::dtype::int32), dims);
}

shape without(const shape& dims, int axis, const shape& in_its_place) {
  place sizes(dims.begin(), dims.end());
  sizes.erase(sizes.begin() + axis);
  sizes.insert(sizes.begin() + axis, in_its_place.begin(), in_its_place.end());
  return shape(sizes);
}

void gather_along_an_axis(dice& d) {
  const shape dims = d.dims(1, 4), of = d.dims(0, 2, 0, 4);
  const std::int64_t given = d.axis(dims.rank());
  const int axis = static_cast<int>(from_front(given, dims.rank()));
  const tensor at = d.indices(of, 0, dims[axis] - 1);
  const doubles chosen = at.to_doubles();
  const expected wanted = by_index(without(dims, axis, of), [&](const place& i) {
    const place inner(i.begin() + axis, i.begin() + axis + of.rank());
    place x(i.begin(), i.begin() + axis);
    x.push_back(static_cast<std::int64_t>(chosen[flat(of, inner)]));
    x.insert(x.end(), i.begin() + axis + of.rank(), i.end());
    return static_cast<double>(flat(dims, x));
  });
  expect_is(kg::gather(numbered(dims), at, given), wanted);
}

void gather_in_batches(dice& d) {
  const shape dims = d.dims(2, 4);
  const int batch = static_cast<int>(d.from_to(1, dims.rank() - 1));
  const int axis = static_cast<int>(d.from_to(batch, dims.rank() - 1));
  place sizes(dims.begin(), dims.begin() + batch);
  sizes.push_back(d.from_to(0, 3));
  const shape of(sizes);
  const tensor at = d.indices(of, 0, dims[axis] - 1);
  const doubles chosen = at.to_doubles();
  const expected wanted = by_index(without(dims, axis, {of[batch]}), [&](const place& i) {
    place from(i.begin(), i.begin() + batch), x = i;
    from.push_back(i[static_cast<std::size_t>(axis)]);
    x[static_cast<std::size_t>(axis)] = static_cast<std::int64_t>(chosen[flat(of, from)]);
    return static_cast<double>(flat(dims, x));
  });
  expect_is(kg::gather(numbered(dims), at, axis, batch), wanted);
}

void take_with_indices_from_the_back(dice& d) {
  const shape dims = d.dims(1, 3), of = d.dims(0, 2);
  const std::int64_t given = d.axis(dims.rank());
  const int axis = static_cast<int>(from_front(given, dims.rank()));
  const tensor at = d.indices(of, -dims[axis], dims[axis] - 1);
  doubles chosen = at.to_doubles();
  for (double& c : chosen) c += c < 0 ? static_cast<double>(dims[axis]) : 0;
  expect_is(kg::take(numbered(dims), at, given), by_index(without(dims, axis, of), [&](const place& i) {
              const place inner(i.begin() + axis, i.begin() + axis + of.rank());
              place x(i.begin(), i.begin() + axis);
              x.push_back(static_cast<std::int64_t>(chosen[flat(of, inner)]));
              x.insert(x.end(), i.begin() + axis + of.rank(), i.end());
              return static_cast<double>(flat(dims, x));
            }));
}

void take_along_an_axis(dice& d) {
  const shape whole = d.dims(1, 4);
  const std::int64_t given = d.axis(whole.rank());
  const int axis = static_cast<int>(from_front(given, whole.rank()));
  place x_sizes(whole.begin(), whole.end()), at_sizes(x_sizes), sizes(x_sizes);
  const std::int64_t count = d.from_to(0, 3);
  for (int i = 0; i < whole.rank(); ++i)
    if (i != axis && d.yes()) (d.yes() ? x_sizes : at_sizes)[static_cast<std::size_t>(i)] = 1;
  at_sizes[static_cast<std::size_t>(axis)] = sizes[static_cast<std::size_t>(axis)] = count;
  const shape x(x_sizes), of(at_sizes);
  const tensor at = d.indices(of, -whole[axis], whole[axis] - 1);
  const doubles chosen = at.to_doubles();
  expect_is(kg::take_along_axis(numbered(x), at, given), by_index(shape(sizes), [&](const place& i) {
              place from = i;
              from[static_cast<std::size_t>(axis)] =
                  from_front(static_cast<std::int64_t>(chosen[broadcast_flat(of, i)]), whole[axis]);
              for (int k = 0; k < x.rank(); ++k)
                if (k != axis && x[k] == 1) from[static_cast<std::size_t>(k)] = 0;
              return static_cast<double>(flat(x, from));
            }));
}

void gather_by_rows_of_indices(dice& d) {
  const shape dims = d.dims(1, 4);
  const std::int64_t rows = d.from_to(0, 4), depth = d.from_to(1, dims.rank());
  doubles at;
  for (std::int64_t r = 0; r < rows; ++r)
    for (int k = 0; k < depth; ++k) at.push_back(static_cast<double>(d.from_to(0, dims[k] - 1)));
  place sizes(dims.begin() + depth, dims.end());
  sizes.insert(sizes.begin(), rows);
  const tensor indices = kg::testkit::from_doubles(at, {rows, depth}, kg::dtype::int32);
  expect_is(kg::gather_nd(numbered(dims), indices), by_index(shape(sizes), [&](const place& i) {
              place x;
              for (std::int64_t k = 0; k < depth; ++k)
                x.push_back(static_cast<std::int64_t>(at[static_cast<std::size_t>(i[0] * depth + k)]));
              x.insert(x.end(), i.begin() + 1, i.end());
              return static_cast<double>(flat(dims, x));
            }));
}

void mask(dice& d) {
  const shape dims = d.dims(1, 4);
  const int axis = static_cast<int>(d.from_to(0, dims.rank() - 1)),
            rank = static_cast<int>(d.from_to(1, dims.rank() - axis));
  const shape of(place(dims.begin() + axis, dims.begin() + axis + rank));
  const doubles chosen = d.whole(of.size(), 0, 1);
  std::vector<place> taken;
  each_index(of, [&](const place& i) {
    if (chosen[flat(of, i)] != 0) taken.push_back(i);
  });
  place sizes(dims.begin(), dims.begin() + axis);
  sizes.push_back(std::ssize(taken));
  sizes.insert(sizes.end(), dims.begin() + axis + rank, dims.end());
  const tensor by = kg::testkit::from_doubles(chosen, of, kg::dtype::boolean);
  expect_is(kg::boolean_mask(numbered(dims), by, d.yes() ? axis : axis - dims.rank()),
            by_index(shape(sizes), [&](const place& i) {
              place x(i.begin(), i.begin() + axis);
              const place& inner = taken[static_cast<std::size_t>(i[static_cast<std::size_t>(axis)])];
              x.insert(x.end(), inner.begin(), inner.end());
              x.insert(x.end(), i.begin() + axis + 1, i.end());
              return static_cast<double>(flat(dims, x));
            }));
}

void strided_slices(dice& d) {
  const shape dims = d.dims(1, 4, 1, 6);
  place begin, end, strides, starts, sizes;
  for (const std::int64_t size : dims) {
    // Bounds as Python's slices have them: beyond the axis they are its ends.
    const std::int64_t step = d.yes() ? d.from_to(1, 3) : -d.from_to(1, 3), b = d.from_to(-size - 2, size + 2),
                       e = d.from_to(-size - 2, size + 2);
    const std::int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
    const auto clipped = [&](std::int64_t v) { return std::clamp(from_front(v, size), low, high); };
    begin.push_back(b), end.push_back(e), strides.push_back(step), starts.push_back(clipped(b));
    std::int64_t count = 0;
    for (std::int64_t i = clipped(b); step > 0 ? i < clipped(e) : i > clipped(e); i += step) ++count;
    sizes.push_back(count);
  }
  expect_is(kg::strided_slice(numbered(dims), begin, end, strides), by_index(shape(sizes), [&](const place& i) {
              place x = i;
              for (std::size_t k = 0; k < x.size(); ++k) x[k] = starts[k] + i[k] * strides[k];
              return static_cast<double>(flat(dims, x));
            }));
}

void orders_of_axes(dice& d) {
  const shape dims = d.dims(1, 5, 0, 3);
  const place perm = d.order(dims.rank());
  place sizes;
  for (const std::int64_t axis : perm) sizes.push_back(dims[static_cast<int>(axis)]);
  const expected wanted = by_index(shape(sizes), [&](const place& i) {
    place x(i.size());
    for (std::size_t k = 0; k < i.size(); ++k) x[static_cast<std::size_t>(perm[k])] = i[k];
    return static_cast<double>(flat(dims, x));
  });
  expect_is(kg::transpose(numbered(dims), perm), wanted);
  place to = perm;
  for (std::size_t k = 0; k < to.size(); ++k) to[k] = static_cast<std::int64_t>(k);
  expect_is(kg::moveaxis(numbered(dims), perm, to), wanted);
}

void reversed_axes(dice& d) {
  const shape dims = d.dims(1, 4);
  const place over = d.axes(dims.rank());
  expect_is(kg::flip(numbered(dims), over), by_index(dims, [&](const place& i) {
              place x = i;
              for (const std::int64_t axis : over) {
                const std::size_t at = static_cast<std::size_t>(from_front(axis, dims.rank()));
                x[at] = dims[static_cast<int>(at)] - 1 - i[at];
              }
              return static_cast<double>(flat(dims, x));
            }));
}

void rolled_axes(dice& d) {
  const shape dims = d.dims(1, 3);
  const place over = d.axes(dims.rank());
  place shifts;
  for (std::size_t i = 0; i < over.size(); ++i) shifts.push_back(d.from_to(-9, 9));
  expect_is(kg::roll(numbered(dims), shifts, over), by_index(dims, [&](const place& i) {
              place x = i;
              for (std::size_t k = 0; k < over.size(); ++k) {
                const std::size_t at = static_cast<std::size_t>(from_front(over[k], dims.rank()));
                const std::int64_t size = dims[static_cast<int>(at)];
                x[at] = ((i[at] - shifts[k]) % size + size) % size;
              }
              return static_cast<double>(flat(dims, x));
            }));
}

void repeated_axes(dice& d) {
  const shape dims = d.dims(1, 4);
  place reps, sizes;
  for (const std::int64_t size : dims) reps.push_back(d.from_to(0, 3)), sizes.push_back(size * reps.back());
  expect_is(kg::tile(numbered(dims), reps), by_index(shape(sizes), [&](const place& i) {
              place x = i;
              for (std::size_t k = 0; k < x.size(); ++k) x[k] = i[k] % dims[static_cast<int>(k)];
              return static_cast<double>(flat(dims, x));
            }));
  const std::int64_t given = d.axis(dims.rank()), count = d.from_to(0, 3);
  const int axis = static_cast<int>(from_front(given, dims.rank()));
  expect_is(kg::repeat(numbered(dims), count, given),
            by_index(without(dims, axis, {dims[axis] * count}), [&](const place& i) {
              place x = i;
              x[static_cast<std::size_t>(axis)] /= count;
              return static_cast<double>(flat(dims, x));
            }));
}

void borders(dice& d) {
  const shape dims = d.dims(1, 3, 2, 5);
  place pairs, sizes;
  for (const std::int64_t size : dims) {
    pairs.push_back(d.from_to(0, size - 1)), pairs.push_back(d.from_to(0, size - 1));
    sizes.push_back(size + pairs[pairs.size() - 1] + pairs[pairs.size() - 2]);
  }
  constexpr kg::pad_mode modes[] = {kg::pad_mode::reflect, kg::pad_mode::symmetric, kg::pad_mode::edge,
                                    kg::pad_mode::wrap};
  const kg::pad_mode mode = d.one_of(modes);
  const auto source = [&](std::int64_t i, std::int64_t n) {
    switch (mode) {
      case kg::pad_mode::reflect: return i < 0 ? -i : i >= n ? 2 * (n - 1) - i : i;
      case kg::pad_mode::symmetric: return i < 0 ? -1 - i : i >= n ? 2 * n - 1 - i : i;
      case kg::pad_mode::edge: return std::clamp<std::int64_t>(i, 0, n - 1);
      default: return (i % n + n) % n;
    }
  };
  expect_is(kg::pad(numbered(dims), pairs, mode), by_index(shape(sizes), [&](const place& i) {
              place x = i;
              for (std::size_t k = 0; k < x.size(); ++k) x[k] = source(i[k] - pairs[2 * k], dims[static_cast<int>(k)]);
              return static_cast<double>(flat(dims, x));
            }));
}

// The batch of the result counts the places in a block, then the batch of x.
void blocks_into_batches(dice& d) {
  const int axes = static_cast<int>(d.from_to(1, 3));
  place block, paddings, sizes{d.from_to(1, 2)}, result;
  std::int64_t places = 1;
  for (int k = 0; k < axes; ++k) {
    block.push_back(d.from_to(1, 3));
    places *= block.back();
    const std::int64_t whole = block.back() * d.from_to(1, 3);
    const std::int64_t before = d.from_to(0, std::min<std::int64_t>(2, whole - 1));
    const std::int64_t after = d.from_to(0, std::min<std::int64_t>(2, whole - 1 - before));
    paddings.push_back(before), paddings.push_back(after), sizes.push_back(whole - before - after);
    result.push_back(whole / block.back());
  }
  const std::int64_t channels = d.from_to(1, 2);
  sizes.push_back(channels);
  result.insert(result.begin(), places * sizes[0]), result.push_back(channels);
  const shape dims(sizes);
  const tensor x = numbered(dims) + 1, y = kg::space_to_batch(x, block, paddings);
  expect_is(y, by_index(shape(result), [&](const place& i) {
              std::int64_t inside = i[0] / dims[0];
              place from{i[0] % dims[0]};
              for (int k = axes - 1; k >= 0; inside /= block[static_cast<std::size_t>(k)], --k) {
                const std::size_t at = static_cast<std::size_t>(k);
                from.insert(from.begin() + 1, i[at + 1] * block[at] + inside % block[at] - paddings[2 * at]);
              }
              from.push_back(i.back());
              for (int k = 0; k < axes; ++k)
                if (const std::int64_t at = from[static_cast<std::size_t>(k + 1)]; at < 0 || at >= dims[k + 1])
                  return 0.0;
              return static_cast<double>(flat(dims, from)) + 1;
            }));
  expect_is(kg::batch_to_space(y, block, paddings), {dims, x.to_doubles()});
}

void joined_and_cut(dice& d) {
  const shape dims = d.dims(1, 3);
  const std::int64_t given = d.axis(dims.rank());
  const int axis = static_cast<int>(from_front(given, dims.rank()));
  place parts;
  std::vector<tensor> list;
  std::vector<doubles> values;
  std::int64_t total = 0;
  for (std::int64_t i = d.from_to(1, 4); i > 0; --i) {
    parts.push_back(d.from_to(0, 3));
    const shape part = without(dims, axis, {parts.back()});
    values.push_back(d.whole(part.size(), 0, 99));
    list.push_back(kg::testkit::from_doubles(values.back(), part, kg::dtype::float32));
    total += parts.back();
  }
  const tensor joined = kg::concat(list, given);
  expect_is(joined, by_index(without(dims, axis, {total}), [&](const place& i) {
              place x = i;
              std::size_t part = 0;
              for (std::int64_t& at = x[static_cast<std::size_t>(axis)]; at >= parts[part]; ++part) at -= parts[part];
              return values[part][flat(without(dims, axis, {parts[part]}), x)];
            }));
  const kg::tensor_list cut = kg::split(joined, parts, given);
  ASSERT_EQ(static_cast<std::size_t>(cut.size()), list.size());
  for (std::size_t i = 0; i < list.size(); ++i) expect_is(cut[static_cast<int>(i)], {list[i].dims(), values[i]});
}

const kind_of_call kinds[] = {{"gather", gather_along_an_axis},
                              {"gather in batches", gather_in_batches},
                              {"take", take_with_indices_from_the_back},
                              {"take_along_axis", take_along_an_axis},
                              {"gather_nd", gather_by_rows_of_indices},
                              {"boolean_mask", mask},
                              {"strided_slice", strided_slices},
                              {"transpose", orders_of_axes},
                              {"flip", reversed_axes},
                              {"roll", rolled_axes},
                              {"tile and repeat", repeated_axes},
                              {"pad", borders},
                              {"space_to_batch", blocks_into_batches},
                              {"concat and split", joined_and_cut}};

TEST(random_indices, take_the_elements_that_the_definitions_say) { sweep(kinds, 60); }

}  // namespace
