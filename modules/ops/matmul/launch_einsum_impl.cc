// SPDX-License-Identifier: Apache-2.0
// The launcher of Einsum. Indices that one tensor alone has are added up first; then the tensors are multiplied in
// pairs, in the order of the fewest products. A pair is a batch of matrix products: its indices are those of both that
// stay (batches), those of both that go (the inner size), those of one (rows and columns). Tensors whose elements do
// not lie so are copied, in the way that copies the fewest elements.
module;
#include <algorithm>
#include <bit>
#include <range/v3/algorithm/contains.hpp>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/concat.hpp>
#include <range/v3/view/drop.hpp>
#include <range/v3/view/drop_while.hpp>
#include <range/v3/view/filter.hpp>
#include <range/v3/view/reverse.hpp>
#include <range/v3/view/take.hpp>
#include <range/v3/view/transform.hpp>
#include "kernels/common/abi.h"
#include "kernels/common/sizes.h"
#include "kernels/elementwise/binary.h"
#include "kernels/matmul/matmul.h"
#include "kernels/reduce/reduce.h"
module kerngrad;

import :geometry;
import :tape;

namespace kerngrad::launch {

namespace views = ranges::views;
using namespace detail;

namespace {

using index_set = std::uint64_t;  // a bit for each index
using index_list = std::vector<int>;
constexpr index_set only(int index) { return index_set{1} << index; }

// A tensor on its way: the indices of its axes, outermost first, and the distance of its elements along each. None has
// size 1.
struct factor {
  struct axis {
    int index;
    std::int64_t stride;
  };
  const void* data = nullptr;
  tensor owner;  // of elements that are not an operand's
  std::vector<axis> axes;
  index_set set = 0;

  std::int64_t stride(int index) const {
    for (const axis& a : axes)
      if (a.index == index) return a.stride;
    return 0;
  }
  // Its indices among those, in its own order.
  index_list of(index_set among) const {
    return axes | views::transform(&axis::index) | views::filter([&](int i) { return (among & only(i)) != 0; }) |
           ranges::to<std::vector>();
  }
};

class einsum_call {
 public:
  explicit einsum_call(const launch_call& c) : c_(c), equation_(shapes::einsum_of(c.call)), type_(c.out[0].type) {}
  void run();

 private:
  std::int64_t size(int index) const { return equation_.sizes[index]; }
  template <class Indices>
  std::int64_t extent(Indices&& indices) const {
    std::int64_t product = 1;
    for (int index : indices) product = kernels::product_of(product, size(index));
    return product;
  }
  double products(index_set set) const;

  factor operand(std::size_t k) const;
  factor room_for(const index_list& order, bool final) const;
  bool walks_as_one(const factor& f, const index_list& order, std::int64_t step) const;
  void copy(const factor& from, const factor& to) const;
  factor in_order(const factor& f, const index_list& order) const;
  factor summed(factor f, index_set gone, bool final) const;

  struct arrangement;
  arrangement arranged(const factor& a, const factor& b, index_set kept, unsigned choice, bool final) const;
  double copies(const factor& f, const index_list& batch, const index_list& outer, const index_list& inner) const;
  factor as_matrices(const factor& f, const index_list& batch, const index_list& outer, const index_list& inner,
                     bool& transposed) const;
  factor multiplied(const factor& a, const factor& b, index_set kept, bool final) const;
  factor contracted(const factor& a, const factor& b, const arrangement& how, bool final) const;
  factor pair(const factor& a, const factor& b, index_set kept, bool final) const;

  index_set kept_of(index_set inside, std::span<const factor> outside) const;
  factor best_order(std::vector<factor> factors) const;
  factor greedy_order(std::vector<factor> factors) const;

  const launch_call& c_;
  const shapes::einsum_equation equation_;
  const dtype type_;
  index_list wanted_;  // the result's
  index_set result_ = 0;
};

double einsum_call::products(index_set set) const {
  double product = 1;
  for (; set; set &= set - 1) product *= static_cast<double>(size(std::countr_zero(set)));
  return product;
}

// ------------------------------------------------------------------------------------------ one tensor

// An index that comes twice walks the diagonal. An axis of size 1 is no axis, also where others have more there.
factor einsum_call::operand(std::size_t k) const {
  const shapes::einsum_term& term = equation_.operands[k];
  const axis_strides strides = strides_of(c_.in[k].dims);
  factor f;
  f.data = c_.in[k].data;
  for (int i = 0; i < term.rank; ++i) {
    if (c_.in[k].dims[i] == 1) continue;
    const int index = term.index[i];
    const std::int64_t stride = strides[static_cast<std::size_t>(i)];
    if (f.set & only(index)) {
      for (factor::axis& a : f.axes)
        if (a.index == index) a.stride += stride;
    } else {
      f.axes.push_back({index, stride});
    }
    f.set |= only(index);
  }
  std::ranges::sort(f.axes, std::greater{}, &factor::axis::stride);
  return f;
}

// Room for elements in that order without gaps: the result's own where it is the last step and the order is right.
factor einsum_call::room_for(const index_list& order, bool final) const {
  factor f;
  std::int64_t step = 1;
  for (int index : order | views::reverse) {
    f.axes.insert(f.axes.begin(), {index, step});
    f.set |= only(index);
    step = kernels::product_of(step, size(index));
  }
  if (final && order == wanted_) {
    f.data = c_.out[0].data;
  } else {
    f.owner = tensor_access::adopt(allocate(type_, {step}));
    f.data = tensor_access::buffer(f.owner)->data;
  }
  return f;
}

// True if the indices in that order are walked as one axis with elements at a distance of `step`.
bool einsum_call::walks_as_one(const factor& f, const index_list& order, std::int64_t step) const {
  for (int index : order | views::reverse) {
    if (f.stride(index) != step) return false;
    step *= size(index);
  }
  return true;
}

void einsum_call::copy(const factor& from, const factor& to) const {
  copy_axes axes;
  for (const factor::axis& a : to.axes) axes.push_back({size(a.index), from.stride(a.index), a.stride});
  copy_strided(c_, from.data, const_cast<void*>(to.data), type_, axes);
}

factor einsum_call::in_order(const factor& f, const index_list& order) const {
  factor to = room_for(order, false);
  copy(f, to);
  return to;
}

// Added up over indices of which no other tensor knows.
factor einsum_call::summed(factor f, index_set gone, bool final) const {
  if (!(gone & f.set)) return f;
  const index_list sums = f.of(gone), kept = f.of(~gone), all = f.of(~index_set{0});
  // The indices that go as one axis between those that stay, or after them in a copy.
  auto from_sums = all | views::drop_while([&](int index) { return index != sums.front(); });
  const bool together = std::ranges::equal(from_sums | views::take(sums.size()), sums) && walks_as_one(f, all, 1);
  if (!together) f = in_order(f, views::concat(kept, sums) | ranges::to<std::vector>());
  const std::int64_t inner = together ? extent(from_sums | views::drop(sums.size())) : 1;
  const kernels::reduce_geometry g{extent(kept) / inner, extent(sums), inner};
  factor y = room_for(kept, final);
  const view in[] = {{const_cast<void*>(f.data), {g.outer, g.count, g.inner}, type_}};
  view out[] = {{const_cast<void*>(y.data), {g.outer, g.inner}, type_}};
  run_outer({.call = c_.call,
             .kernel = kernel_of<"Sum">(c_.from, type_),
             .from = c_.from,
             .built_in = c_.built_in,
             .in = in,
             .out = out},
            g);
  return y;
}

// ------------------------------------------------------------------------------------------ two tensors

// How a pair becomes a batch of matrix products, and how many elements are copied for it.
struct einsum_call::arrangement {
  bool swapped = false;  // b's rows and a's columns
  index_list batch, rows, inner, columns;
  double cost = 0;
};

double einsum_call::copies(const factor& f, const index_list& batch, const index_list& outer,
                           const index_list& inner) const {
  const std::int64_t o = extent(outer), i = extent(inner);
  const bool plain = walks_as_one(f, inner, 1) && walks_as_one(f, outer, i);
  const bool transposed = walks_as_one(f, outer, 1) && walks_as_one(f, inner, o);
  const bool batches =
      batch.size() <= max_rank && std::ranges::all_of(batch, [&](int index) { return f.stride(index) % (o * i) == 0; });
  return batches && (plain || transposed) ? 0 : products(f.set);
}

// One of sixteen ways: whose rows come first, and in whose order the indices of each kind are walked.
einsum_call::arrangement einsum_call::arranged(const factor& a, const factor& b, index_set kept, unsigned choice,
                                               bool final) const {
  arrangement how;
  how.swapped = (choice & 1) != 0;
  const factor &left = how.swapped ? b : a, &right = how.swapped ? a : b;
  const index_set both = a.set & b.set;
  const auto order = [&](const factor& own, index_set among, bool as_wanted) {
    if (!as_wanted) return own.of(among);
    return wanted_ | views::filter([&](int i) { return (among & own.set & only(i)) != 0; }) | ranges::to<std::vector>();
  };
  how.batch = order(left, both & kept, final);
  how.rows = order(left, left.set & ~both, final && !(choice & 2));
  how.columns = order(right, right.set & ~both, final && !(choice & 4));
  how.inner = (choice & 8 ? right : left).of(both & ~kept);
  how.cost = copies(left, how.batch, how.rows, how.inner) + copies(right, how.batch, how.inner, how.columns);
  if (final && !std::ranges::equal(views::concat(how.batch, how.rows, how.columns), wanted_))
    how.cost += products(result_);
  return how;
}

// The tensor itself where its matrices [outer, inner] lie as the kernel takes them, else a copy.
factor einsum_call::as_matrices(const factor& f, const index_list& batch, const index_list& outer,
                                const index_list& inner, bool& transposed) const {
  const bool fits = copies(f, batch, outer, inner) == 0;
  if (fits) {
    transposed = !(walks_as_one(f, inner, 1) && walks_as_one(f, outer, extent(inner)));
    return f;
  }
  // Neighbours in memory stay neighbours: copies of runs are the fastest.
  transposed = ranges::contains(outer, f.axes.back().index);
  const index_list &first = transposed ? inner : outer, &second = transposed ? outer : inner;
  return in_order(f, views::concat(batch, first, second) | ranges::to<std::vector>());
}

factor einsum_call::contracted(const factor& a, const factor& b, const arrangement& how, bool final) const {
  kernels::matmul_geometry g{};
  g.m = extent(how.rows), g.k = extent(how.inner), g.n = extent(how.columns);
  const factor left = as_matrices(how.swapped ? b : a, how.batch, how.rows, how.inner, g.transpose_a);
  const factor right = as_matrices(how.swapped ? a : b, how.batch, how.inner, how.columns, g.transpose_b);
  if (how.batch.size() <= max_rank) {
    for (int index : how.batch) {
      g.batch_dims[g.batch_rank] = size(index);
      g.stride_a[g.batch_rank] = left.stride(index) / (g.m * g.k);
      g.stride_b[g.batch_rank++] = right.stride(index) / (g.k * g.n);
    }
  } else {  // both are copies, with the batches in this order
    g.batch_rank = 1, g.batch_dims[0] = extent(how.batch), g.stride_a[0] = g.stride_b[0] = 1;
  }
  factor y = room_for(views::concat(how.batch, how.rows, how.columns) | ranges::to<std::vector>(), final);
  const void* in[] = {left.data, right.data};
  void* out[] = {const_cast<void*>(y.data)};
  c_.kernel.run(in, out, &g);
  return y;
}

// Without an index to add up over: each element of the result is one product.
factor einsum_call::multiplied(const factor& a, const factor& b, index_set kept, bool final) const {
  index_list order = final ? wanted_ : a.of(kept);
  if (!final)
    for (int index : b.of(kept & ~a.set)) order.push_back(index);
  factor y = room_for(order, final);
  // The kernel walks the last axis of an operand with a step of 1 or 0.
  const auto walkable = [&](const factor& f) {
    return order.empty() || f.stride(order.back()) <= 1 ? f : in_order(f, order | views::filter([&](int i) {
                                                                            return (f.set & only(i)) != 0;
                                                                          }) | ranges::to<std::vector>());
  };
  const factor left = walkable(a), right = walkable(b);
  std::vector<std::array<std::int64_t, 3>> axes;  // size and the operands' steps; neighbours that are walked as one are
  for (int index : order) {
    const std::array<std::int64_t, 3> axis{size(index), left.stride(index), right.stride(index)};
    const bool joins = !axes.empty() && axes.back()[1] == axis[1] * axis[0] && axes.back()[2] == axis[2] * axis[0];
    if (joins) axes.back() = {axes.back()[0] * axis[0], axis[1], axis[2]};
    else axes.push_back(axis);
  }
  if (axes.empty()) axes.push_back({1, 0, 0});
  const std::int64_t bytes = static_cast<std::int64_t>(size_of(type_));
  // More axes than the kernel takes are walked here.
  const auto run = [&](auto self, std::size_t from, std::int64_t at_a, std::int64_t at_b, std::int64_t at_y) -> void {
    std::int64_t inner = 1;
    for (std::size_t i = from + 1; i < axes.size(); ++i) inner *= axes[i][0];
    if (axes.size() - from > max_rank) {
      for (std::int64_t i = 0; i < axes[from][0]; ++i)
        self(self, from + 1, at_a + i * axes[from][1], at_b + i * axes[from][2], at_y + i * inner);
      return;
    }
    kernels::broadcast_geometry g{};
    for (std::size_t i = from; i < axes.size(); ++i, ++g.rank) {
      g.dims[g.rank] = axes[i][0];
      for (std::size_t k = 0; k < 2; ++k) g.strides[k][g.rank] = axes[i][k + 1];
    }
    const shape dims{axes[from][0] * inner};
    const view in[] = {{const_cast<void*>(advanced(left.data, at_a * bytes)), dims, type_},
                       {const_cast<void*>(advanced(right.data, at_b * bytes)), dims, type_}};
    view out[] = {{advanced(const_cast<void*>(y.data), at_y * bytes), dims, type_}};
    run_broadcast({.call = c_.call,
                   .kernel = kernel_of<"Multiply">(c_.from, type_),
                   .from = c_.from,
                   .built_in = c_.built_in,
                   .in = in,
                   .out = out},
                  g);
  };
  run(run, 0, 0, 0, 0);
  return y;
}

factor einsum_call::pair(const factor& a, const factor& b, index_set kept, bool final) const {
  if (!(a.set & b.set & ~kept)) return multiplied(a, b, kept, final);
  arrangement best = arranged(a, b, kept, 0, final);
  for (unsigned choice = 1; choice < 16 && best.cost > 0; ++choice)
    if (arrangement other = arranged(a, b, kept, choice, final); other.cost < best.cost) best = std::move(other);
  return contracted(a, b, best, final);
}

// ------------------------------------------------------------------------------------------ any number

// The indices of `inside` that the result or another tensor needs.
index_set einsum_call::kept_of(index_set inside, std::span<const factor> outside) const {
  index_set needed = result_;
  for (const factor& f : outside) needed |= f.set;
  return inside & needed;
}

// The cheapest of all orders, found for every subset from those of its parts: 3^n steps.
factor einsum_call::best_order(std::vector<factor> factors) const {
  struct plan {
    double cost = 0;
    index_set kept = 0;
    unsigned left = 0;  // the part of the subset that is multiplied with the rest of it
  };
  const unsigned count = static_cast<unsigned>(factors.size()), all = (1u << count) - 1;
  std::vector<plan> plans(std::size_t{all} + 1);
  for (unsigned subset = 1; subset <= all; ++subset) {
    plan& best = plans[subset];
    index_set inside = 0, needed = result_;
    for (unsigned i = 0; i < count; ++i) ((subset >> i) & 1 ? inside : needed) |= factors[i].set;
    best.kept = inside & needed;
    if (std::has_single_bit(subset)) continue;
    best.cost = std::numeric_limits<double>::infinity();
    for (unsigned left = (subset - 1) & subset; left; left = (left - 1) & subset) {
      const plan &a = plans[left], &b = plans[subset ^ left];
      const double cost = a.cost + b.cost + products(a.kept | b.kept);
      if (left > (subset ^ left) && cost < best.cost) best.cost = cost, best.left = left;
    }
    if (!best.left) best.left = std::bit_floor(subset);  // every cost is infinite
  }
  const auto made = [&](auto self, unsigned subset) -> factor {
    if (std::has_single_bit(subset)) return std::move(factors[static_cast<std::size_t>(std::countr_zero(subset))]);
    const factor b = self(self, plans[subset].left), a = self(self, subset ^ plans[subset].left);
    return pair(a, b, plans[subset].kept, subset == all);
  };
  return made(made, all);
}

// For more tensors than that is worth for: always the cheapest pair.
factor einsum_call::greedy_order(std::vector<factor> factors) const {
  constexpr std::size_t few = 8;
  while (factors.size() > few) {
    std::size_t a = 0, b = 1;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < factors.size(); ++i)
      for (std::size_t j = i + 1; j < factors.size(); ++j)
        if (const double cost = products(factors[i].set | factors[j].set); cost < least) least = cost, a = i, b = j;
    const factor second = std::move(factors[b]), first = std::move(factors[a]);
    factors.erase(factors.begin() + static_cast<std::ptrdiff_t>(b));
    factors.erase(factors.begin() + static_cast<std::ptrdiff_t>(a));
    factors.push_back(pair(first, second, kept_of(first.set | second.set, factors), false));
  }
  return best_order(std::move(factors));
}

void einsum_call::run() {
  const view& y = c_.out[0];
  for (int index = 0; index < shapes::einsum_equation::indices; ++index)
    if (equation_.occurs[index] && size(index) == 0) return fill_with(c_, y.data, type_, y.dims.size(), 0);
  for (int i = 0; i < equation_.result.rank; ++i)
    if (const int index = equation_.result.index[i]; size(index) != 1) wanted_.push_back(index), result_ |= only(index);
  std::vector<factor> factors;
  index_set once = 0, again = 0;
  for (std::size_t k = 0; k < c_.in.size(); ++k) {
    factors.push_back(operand(k));
    again |= once & factors.back().set;
    once |= factors.back().set;
  }
  const bool alone = factors.size() == 1;
  for (factor& f : factors) f = summed(std::move(f), once & ~again & ~result_, alone);
  const factor made = greedy_order(std::move(factors));
  if (made.data != y.data) copy(made, room_for(wanted_, true));
}

}  // namespace

void einsum(const launch_call& c) { einsum_call(c).run(); }

}  // namespace kerngrad::launch
