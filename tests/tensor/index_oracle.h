// SPDX-License-Identifier: Apache-2.0
// Elements that indices take, one by one, from NumPy's definition of each: lists of places instead of strides. And
// indices as values, so that tests can draw them.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <type_traits>
#include <variant>
#include <vector>

import kerngrad;

namespace kgtest {

using whole_axis = std::remove_const_t<decltype(kg::all)>;
using any_index = std::variant<std::int64_t, kg::range, whole_axis, kg::new_axis, kg::other_axes, kg::tensor>;
using index_row = std::vector<any_index>;
using places = std::vector<std::int64_t>;

/// Calls f with the indices of a row, of which there are at most three.
template <class F>
auto with_indices(const index_row& row, F f) {
  switch (row.size()) {
    case 0: return f();
    case 1: return std::visit(f, row[0]);
    case 2: return std::visit(f, row[0], row[1]);
    default: return std::visit(f, row[0], row[1], row[2]);
  }
}

/// Indices of the selected elements, in the order of the result, whose sizes `dims` has.
struct taken {
  places dims, from;
};

/// Python's list(range(n))[start:stop:step].
inline places walked(const kg::range& r, std::int64_t n) {
  places all;
  const bool forward = r.step() > 0;
  const auto clipped = [&](std::int64_t at) {
    if (at < 0) at += n;
    return std::clamp(at, std::int64_t{forward ? 0 : -1}, forward ? n : n - 1);
  };
  const std::int64_t stop = r.to_end() ? (forward ? n : -1) : clipped(r.stop());
  for (std::int64_t at = clipped(r.start()); forward ? at < stop : at > stop; at += r.step()) {
    all.push_back(at);
    if (r.step() > n || r.step() < -n) break;
  }
  return all;
}

/// An array of indices into one axis.
struct array {
  places dims, values;
};
inline array array_of(const kg::tensor& t) {
  array a{places(t.dims().begin(), t.dims().end()), {}};
  for (const double value : t.to_doubles()) a.values.push_back(static_cast<std::int64_t>(value));
  return a;
}
/// NumPy's nonzero: an array for each axis of a mask.
inline std::vector<array> arrays_of_mask(const kg::tensor& mask) {
  std::vector<array> all(static_cast<std::size_t>(mask.rank()));
  const std::vector<double> values = mask.to_doubles();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] == 0) continue;
    std::int64_t rest = static_cast<std::int64_t>(i);
    for (std::size_t axis = all.size(); axis-- > 0;) {
      const std::int64_t size = mask.dims()[static_cast<std::int64_t>(axis)];
      all[axis].values.push_back(rest % size);
      rest /= size;
    }
  }
  for (array& a : all) a.dims = {static_cast<std::int64_t>(a.values.size())};
  return all;
}

/// An axis of the result or one that goes: indices by a list, a size of 1, or an array of those that choose together.
struct term {
  enum { listed, fresh, chosen } is = listed;
  places list{};
  array by{};
};

inline std::vector<term> terms_of(const places& dims, const index_row& row) {
  std::size_t named = 0;
  bool chosen = false;
  for (const any_index& index : row) {
    const auto* by = std::get_if<kg::tensor>(&index);
    chosen = chosen || by;
    if (by && by->type() == kg::dtype::boolean) named += static_cast<std::size_t>(by->rank());
    else if (index.index() != 3 && index.index() != 4) ++named;
  }
  std::vector<term> terms;
  std::size_t axis = 0;
  const auto range = [&](const kg::range& r) { terms.push_back({.list = walked(r, dims[axis++])}); };
  const auto whole = [&] { range(kg::range(0, kg::end)); };
  for (const any_index& index : row) {
    if (const auto* at = std::get_if<std::int64_t>(&index)) {
      const std::int64_t place = *at < 0 ? *at + dims[axis] : *at;
      // Next to arrays an integer is one of them, of rank 0; by itself it takes its axis away.
      terms.push_back({.is = term::chosen, .by = {{}, {place}}});
      ++axis;
    } else if (const auto* r = std::get_if<kg::range>(&index)) {
      range(*r);
    } else if (index.index() == 2) {
      whole();
    } else if (index.index() == 3) {
      terms.push_back({.is = term::fresh});
    } else if (index.index() == 4) {
      for (std::size_t rest = dims.size() - named; rest > 0; --rest) whole();
    } else {
      const kg::tensor& by = std::get<kg::tensor>(index);
      const bool mask = by.type() == kg::dtype::boolean;
      for (array a : mask ? arrays_of_mask(by) : std::vector{array_of(by)}) {
        for (std::int64_t& at : a.values) at += at < 0 ? dims[axis] : 0;
        terms.push_back({.is = term::chosen, .by = a});
        ++axis;
      }
    }
  }
  while (axis < dims.size()) whole();
  return terms;
}

/// The element of an array at the last of these indices, broadcast.
inline std::int64_t at_broadcast(const array& a, const places& at) {
  std::int64_t place = 0;
  for (std::size_t i = 0; i < a.dims.size(); ++i)
    place = place * a.dims[i] + (a.dims[i] == 1 ? 0 : at[at.size() - a.dims.size() + i]);
  return a.values[static_cast<std::size_t>(place)];
}

/// Calls f for all indices into a shape, in order.
template <class F>
void for_all(const places& dims, F f) {
  if (std::ranges::count(dims, 0) > 0) return;
  places at(dims.size(), 0);
  for (;;) {
    f(at);
    std::size_t i = dims.size();
    while (i > 0 && ++at[i - 1] == dims[i - 1]) at[--i] = 0;
    if (i == 0) return;
  }
}

inline taken oracle(const kg::shape& shape, const index_row& row) {
  const places dims(shape.begin(), shape.end());
  const std::vector<term> terms = terms_of(dims, row);
  // The shape of all arrays together, and where its axes come: in place of theirs if these are side by side.
  places common;
  std::size_t groups = 0, first = 0;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (terms[i].is != term::chosen) continue;
    if (i == 0 || terms[i - 1].is != term::chosen) {
      if (++groups == 1) first = i;
    }
    const places& more = terms[i].by.dims;
    if (more.size() > common.size()) common.insert(common.begin(), more.size() - common.size(), 1);
    for (std::size_t k = 0; k < more.size(); ++k) {
      std::int64_t& size = common[common.size() - more.size() + k];
      if (size == 1) size = more[k];
    }
  }
  if (groups > 1) first = 0;
  taken all;
  std::vector<std::size_t> axis_of(terms.size());
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= terms.size(); ++i) {
    if (i == first && groups > 0)
      begin = all.dims.size(), all.dims.insert(all.dims.end(), common.begin(), common.end());
    if (i == terms.size() || terms[i].is == term::chosen) continue;
    axis_of[i] = all.dims.size();
    all.dims.push_back(terms[i].is == term::fresh ? 1 : static_cast<std::int64_t>(terms[i].list.size()));
  }
  for_all(all.dims, [&](const places& at) {
    const auto from = at.begin() + static_cast<std::ptrdiff_t>(begin);
    const places of_common(from, from + static_cast<std::ptrdiff_t>(common.size()));
    std::int64_t place = 0;
    std::size_t axis = 0;
    for (std::size_t i = 0; i < terms.size(); ++i) {
      if (terms[i].is == term::fresh) continue;
      const std::int64_t index = terms[i].is == term::chosen ? at_broadcast(terms[i].by, of_common)
                                                             : terms[i].list[static_cast<std::size_t>(at[axis_of[i]])];
      place = place * dims[axis++] + index;
    }
    all.from.push_back(place);
  });
  return all;
}

/// Elements that are their own places.
inline kg::tensor numbered(const kg::shape& dims, kg::dtype type = kg::dtype::float32) {
  return kg::reshape(kg::arange(static_cast<double>(dims.size()), type), dims);
}

/// Rows of up to three indices that fit a shape.
class drawn_rows {
 public:
  explicit drawn_rows(const kg::shape& dims) : dims_(dims) {}
  index_row operator()() {
    index_row row;
    int axis = 0;
    bool ellipsis = false, mask = false;
    const std::int64_t together = from(1, 3);
    for (std::int64_t left = from(1, 3); left > 0; --left) {
      const std::int64_t n = axis < dims_.rank() ? dims_[axis] : 0;
      const std::int64_t kind = axis < dims_.rank() ? from(0, 7) : 3;
      if (kind == 0 && n > 0) row.emplace_back(from(-n, n - 1)), ++axis;
      else if (kind == 1) row.emplace_back(range_into(n)), ++axis;
      else if (kind == 3) row.emplace_back(kg::newaxis);
      else if (kind == 4 && !ellipsis && left == 1) row.emplace_back(kg::ellipsis), ellipsis = true;
      else if (kind == 5 && n > 0) row.emplace_back(chosen_of(n, together)), ++axis;
      else if (kind == 6 && together == 1 && !mask)
        row.emplace_back(numbered(kg::shape{n}) * 0 + from(0, 1) > 0.5), ++axis, mask = true;
      else row.emplace_back(kg::all), ++axis;
    }
    return row;
  }

 private:
  std::int64_t from(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(engine_);
  }
  kg::range range_into(std::int64_t n) {
    const std::int64_t start = from(-n - 2, n + 2), step = from(0, 1) ? from(1, 3) : -from(1, 3);
    return from(0, 2) ? kg::range(start, from(-n - 2, n + 2), step) : kg::range(start, kg::end, step);
  }
  kg::tensor chosen_of(std::int64_t n, std::int64_t count) {
    std::vector<std::int64_t> at;
    for (; count > 0; --count) at.push_back(from(-n, n - 1));
    return kg::tensor(at);
  }
  kg::shape dims_;
  std::mt19937 engine_{7};
};

}  // namespace kgtest
