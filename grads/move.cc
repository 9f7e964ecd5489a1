// SPDX-License-Identifier: Apache-2.0
// Gradient rules of the ops that move elements: each adjoint moves them back, adding up what was read twice.
module;
#include "kernels/common/abi.h"
module kerngrad:grads_move;

import :std;
import :core;
import :shapes;
import :rule;
import :like;
import :call;
import :ops;
import :grads_reduce;

namespace kerngrad::rules {

inline constexpr auto unchanged_shape = [](const auto& c) { return reshape(c.dy(), c.dims(0)); };

/// f of dy, or of both its parts: what f calls has kernels of real numbers alone.
inline constexpr auto on_parts = [](const auto& dy, const auto& f) {
  return kind_of(dy.type()) == dtype_kind::complex ? complex(f(real(dy)), f(imag(dy))) : f(dy);
};

/// Start of the part of operand `i` along the joined axis.
template <class C>
std::int64_t start_of(const C& c, int i, int axis) {
  std::int64_t at = 0;
  for (int k = 0; k < i; ++k) at += c.dims(k)[axis];
  return at;
}

/// The inverse of a permutation; the reversal is its own.
std::vector<std::int64_t> inverted(const attr_value& perm, int rank);

/// `count` elements of an axis from `first` on.
template <class T>
T part_of_axis(const T& x, int axis, std::int64_t first, std::int64_t count) {
  std::vector<std::int64_t> begin(static_cast<std::size_t>(x.dims().rank())), size(x.dims().begin(), x.dims().end());
  begin[static_cast<std::size_t>(axis)] = first;
  size[static_cast<std::size_t>(axis)] = count;
  return slice(x, begin, size);
}

/// x from `at` on of `size` elements of an axis, zeros around it.
template <class T>
T placed_on_axis(const T& x, int axis, std::int64_t at, std::int64_t size) {
  std::vector<std::int64_t> pairs(2 * static_cast<std::size_t>(x.dims().rank()));
  pairs[2 * static_cast<std::size_t>(axis)] = at;
  pairs[2 * static_cast<std::size_t>(axis) + 1] = size - x.dims()[axis] - at;
  return pad(x, pairs);
}

/// Adds a mirrored border of `count` elements from `first` on to the `size` elements of an axis, from `at` on.
template <class T>
T folded_back(const T& dy, int axis, std::int64_t first, std::int64_t count, std::int64_t at, std::int64_t size) {
  return placed_on_axis(call<"Reverse">(part_of_axis(dy, axis, first, count), attr<"dims">(axis)), axis, at, size);
}

/// Adds the `before` elements in front of the `size` elements of an axis, and those after them, to the outermost ones.
template <class T>
T added_to_ends(const T& dy, int axis, std::int64_t before, std::int64_t size) {
  const std::int64_t after = dy.dims()[axis] - before - size;
  const auto end = [&](std::int64_t first, std::int64_t count, std::int64_t at) {
    return placed_on_axis(sum(part_of_axis(dy, axis, first, count), axis, true), axis, at, size);
  };
  auto all = part_of_axis(dy, axis, before, size);
  if (before > 0) all = all + end(0, before, 0);
  if (after > 0) all = all + end(before + size, after, size - 1);
  return all;
}

/// Elements of an axis that is repeated all along add to the `size` elements after the first `before` ones: zeros
/// make them whole repetitions.
template <class T>
T added_to_period(const T& dy, int axis, std::int64_t before, std::int64_t size) {
  const shape dims = dy.dims();
  const std::int64_t lead = (size - before % size) % size;
  const std::int64_t times = (lead + dims[axis] + size - 1) / size;
  std::int64_t outer = 1, inner = 1;
  for (int i = 0; i < dims.rank(); ++i) (i < axis ? outer : inner) *= i == axis ? size : dims[i];
  const auto whole = reshape(placed_on_axis(dy, axis, lead, times * size), shape{outer, times, inner});
  return reshape(sum(whole, 1), shapes::with_axis(dims, axis, size));
}

/// The indices of operand `at` as [count, depth].
template <class C>
auto index_rows(const C& c, int at, std::int64_t depth) {
  return reshape(c.in(at), shape{c.dims(at).size() / depth, depth});
}

/// The axes of `dims` from `from` on, after one of `count`.
inline shape slices_of(const shape& dims, std::int64_t count, std::int64_t from) {
  std::vector<std::int64_t> sizes = {count};
  sizes.insert(sizes.end(), dims.begin() + from, dims.end());
  return shape(sizes);
}

/// The slices of dy at rows of indices [count, depth] into it, with 0 for those that a later row wrote again.
tensor slices_that_stayed(const tensor& dy, const tensor& rows);

// ------------------------------------------------------------------------------------------ segments

/// Which rows of operand 0 have an id among the segments, with axes of size 1 where a row has its own.
template <class C>
tensor inside_of_segments(const C& c) {
  const tensor& ids = c.in(1);
  std::vector<std::int64_t> sizes(ids.dims().begin(), ids.dims().end());
  sizes.resize(static_cast<std::size_t>(c.dims(0).rank()), 1);
  const std::int64_t segments = c.template attr<"numSegments">().as_integer();
  return reshape(logical_and(ids >= 0, ids < segments), shape(sizes));
}

/// The row of each id in x, which has one for each segment; some row for an id that was dropped.
template <class C>
tensor rows_at_ids(const C& c, const tensor& x) {
  const tensor& ids = c.in(1);
  const std::int64_t segments = c.template attr<"numSegments">().as_integer();
  return gather(x, where(logical_and(ids >= 0, ids < segments), ids, zeros_like(ids)));
}

/// For each row of x [count, inner] the product of the other rows of its index.
tensor products_of_others(const tensor& x, const tensor& indices);

template <class C>
tensor segments_back(const C& c) {
  const tensor& dy = c.dy();
  if (dy.size() == 0) return c.zeros(0);
  const std::string_view reduction = c.template attr<"reduction">().as_text();
  const tensor inside = inside_of_segments(c), zero = zeros({}, dy.type());
  if (reduction == "mean") {
    std::vector<std::int64_t> sizes(static_cast<std::size_t>(dy.rank()), 1);
    sizes[0] = dy.dims()[0];
    const tensor counts = segment_sum(ones(c.dims(1), dtype::int32), c.in(1), sizes[0]);
    const tensor divisors = reshape(maximum(counts, ones_like(counts)), shape(sizes));
    return where(inside, rows_at_ids(c, dy / cast(divisors, dy.type())), zero);
  }
  if (reduction == "prod") {
    const std::int64_t rows = c.dims(1).size();
    const tensor flat = reshape(c.in(0), shape{rows, rows == 0 ? 0 : c.dims(0).size() / rows});
    const tensor others = reshape(products_of_others(flat, reshape(c.in(1), shape{rows})), c.dims(0));
    return where(inside, rows_at_ids(c, dy) * others, zero);
  }
  const tensor extreme = logical_and(inside, c.in(0) == rows_at_ids(c, c.out()));
  const tensor counts = segment_sum(cast(extreme, dtype::int32), c.in(1), dy.dims()[0]);
  return where(extreme, rows_at_ids(c, shared_among(dy, counts)), zero);
}

// ------------------------------------------------------------------------------------------ combined updates

/// The numbers 0, 1, ... as elements of a shape.
tensor numbered(const shape& dims);

/// The indices of TensorScatterReduce: rows of indices, [count, depth].
struct row_indices {
  template <class C>
  static tensor rows(const C& c) {
    const int rank = c.dims(1).rank();
    return index_rows(c, 1, rank == 1 ? 1 : c.dims(1)[rank - 1]);
  }
  /// The elements of x that the updates went to.
  template <class C>
  static tensor taken(const C& c, const tensor& x) {
    return reshape(gather_nd(x, rows(c)), c.dims(2));
  }
  /// x with updates at the same indices.
  template <class C>
  static tensor combined(const C& c, const tensor& x, const tensor& updates, std::string_view how) {
    return call<"TensorScatterReduce">(x, c.in(1), updates, attr<"reduction">(how));
  }
  /// For each update the product of the others of its element.
  template <class C>
  static tensor others(const C& c) {
    if (c.dims(2).size() == 0) return c.in(2);
    const tensor at = rows(c);
    const std::int64_t count = at.dims()[0], depth = at.dims()[1];
    const shape leading(c.dims(0).dims().first(static_cast<std::size_t>(depth)));
    const tensor flat = reshape(c.in(2), shape{count, c.dims(2).size() / count});
    return reshape(products_of_others(flat, gather_nd(numbered(leading), at)), c.dims(2));
  }
};

/// The indices of ScatterAlongAxis, to whose shape updates broadcast.
struct axis_indices {
  template <class C>
  static tensor taken(const C& c, const tensor& x) {
    return call_like<"TakeAlongAxis">(c, x, c.in(1));
  }
  template <class C>
  static tensor combined(const C& c, const tensor& x, const tensor& updates, std::string_view how) {
    return call_like<"ScatterAlongAxis">(c, x, c.in(1), updates, attr<"reduction">(how));
  }
  template <class C>
  static tensor others(const C& c) {
    const tensor indices = taken(c, numbered(c.dims(0)));
    const tensor flat = reshape(broadcast_to(c.in(2), indices.dims()), shape{indices.size(), 1});
    return reshape(products_of_others(flat, reshape(indices, shape{indices.size()})), indices.dims());
  }
};

/// dy of extremes, divided among the element of x and the updates that equal the result.
template <class Indices, class C>
tensor shares_of_extremes(const C& c) {
  return c.template once<0>([&] {
    const tensor own = cast(c.in(0) == c.out(), dtype::int32);
    const tensor updates = cast(c.in(2) == Indices::taken(c, c.out()), dtype::int32);
    return shared_among(c.dy(), Indices::combined(c, own, updates, "add"));
  });
}
/// The gradient of x, operand 0, whose elements were combined with updates.
template <class Indices, class C>
tensor combined_back(const C& c) {
  const std::string_view reduction = c.template attr<"reduction">().as_text();
  if (reduction == "add") return c.dy();
  if (reduction == "mul") return c.dy() * Indices::combined(c, ones(c.dims(0), c.dy().type()), c.in(2), "mul");
  return where(c.in(0) == c.out(), shares_of_extremes<Indices>(c), c.zeros(0));
}
/// The gradient of the updates, operand 2.
template <class Indices, class C>
tensor updates_back(const C& c) {
  const std::string_view reduction = c.template attr<"reduction">().as_text();
  if (reduction == "add") return c.reduced(2, Indices::taken(c, c.dy()));
  if (reduction == "mul") return c.reduced(2, Indices::taken(c, c.dy() * c.in(0)) * Indices::others(c));
  const tensor shares = Indices::taken(c, shares_of_extremes<Indices>(c));
  return c.reduced(2, where(c.in(2) == Indices::taken(c, c.out()), shares, c.zeros(2)));
}

/// The last of the elements that were put into each position.
template <class C>
tensor put_back(const C& c) {
  const tensor dy = axis_indices::taken(c, c.dy()), order = numbered(dy.dims());
  const tensor last = call_like<"PutAlongAxis">(c, zeros(c.dims(0), dtype::int64), c.in(1), order);
  return c.reduced(2, where(axis_indices::taken(c, last) == order, dy, zeros({}, dy.type())));
}

inline constexpr auto move_rules = family_rules(rule_list{
    rule<"Identity">(wrt(keep::nothing, [](const auto& c) { return c.dy(); })),
    rule<"Reshape">(wrt(keep::nothing, unchanged_shape)),
    rule<"ExpandDims">(wrt(keep::nothing, unchanged_shape)),
    rule<"Transpose">(
        wrt(keep::nothing,
            [](const auto& c) { return transpose(c.dy(), inverted(c.template attr<"perm">(), c.dims(0).rank())); })),
    rule<"Slice">(wrt(keep::nothing,
                      [](const auto& c) {
                        const attr_value& begin = c.template attr<"begin">();
                        const shape &whole = c.dims(0), &part = c.dy().dims();
                        std::vector<std::int64_t> pairs;
                        for (int i = 0; i < whole.rank(); ++i) {
                          const std::size_t at = static_cast<std::size_t>(i);
                          const std::int64_t before = begin.kind() == attr_kind::integer
                                                          ? (i == 0 ? begin.as_integer() : 0)
                                                      : at < begin.as_list().size() ? begin.as_list()[at]
                                                                                    : 0;
                          pairs.insert(pairs.end(), {before, whole[i] - before - part[i]});
                        }
                        return pad(c.dy(), pairs);
                      })),
    rule<"Concat">(wrt(keep::nothing,
                       [](const auto& c) {
                         const int given = static_cast<int>(c.template attr<"axis">().as_integer());
                         const int axis = given < 0 ? given + c.dims(0).rank() : given;
                         const int i = c.index();
                         std::vector<std::int64_t> begin(static_cast<std::size_t>(c.dims(i).rank())),
                             size(c.dims(i).begin(), c.dims(i).end());
                         begin[static_cast<std::size_t>(axis)] = start_of(c, i, axis);
                         return slice(c.dy(), begin, size);
                       })),
    rule<"Pack">(wrt(keep::nothing,
                     [](const auto& c) {
                       const int given = static_cast<int>(c.template attr<"axis">().as_integer());
                       const shape& packed = c.dy().dims();
                       const int axis = given < 0 ? given + packed.rank() : given;
                       std::vector<std::int64_t> begin(static_cast<std::size_t>(packed.rank())),
                           size(packed.begin(), packed.end());
                       begin[static_cast<std::size_t>(axis)] = c.index();
                       size[static_cast<std::size_t>(axis)] = 1;
                       return reshape(slice(c.dy(), begin, size), c.dims(c.index()));
                     })),
    rule<"Unpack">(
        wrt(keep::nothing,
            [](const auto& c) { return stack(c.all_dy(), static_cast<int>(c.template attr<"axis">().as_integer())); })),
    rule<"SplitV">(wrt(
        keep::nothing,
        [](const auto& c) { return concat(c.all_dy(), static_cast<int>(c.template attr<"axis">().as_integer())); })),
    rule<"PadV2">(wrt(keep::nothing,
                      [](const auto& c) {
                        const std::span<const std::int64_t> pairs = c.template attr<"paddings">().as_list();
                        std::vector<std::int64_t> begin, size(c.dims(0).begin(), c.dims(0).end());
                        for (std::size_t i = 0; i < size.size(); ++i) begin.push_back(pairs[2 * i]);
                        return slice(c.dy(), begin, size);
                      })),
    // Axis by axis, so that no intermediate has more than four axes whatever the rank.
    rule<"Tile">(wrt(keep::nothing,
                     [](const auto& c) {
                       const shape& whole = c.dims(0);
                       const std::span<const std::int64_t> reps = c.template attr<"reps">().as_list();
                       auto g = c.dy();
                       std::int64_t inner = 1;
                       for (int i = whole.rank() - 1; i >= 0; --i) {
                         const std::int64_t count = reps[static_cast<std::size_t>(i)];
                         if (count == 0) return c.zeros(0);
                         std::int64_t outer = 1;
                         for (int k = 0; k < i; ++k) outer *= whole[k] * reps[static_cast<std::size_t>(k)];
                         if (count > 1) g = sum(reshape(g, shape{outer, count, whole[i] * inner}), 1);
                         inner *= whole[i];
                       }
                       return reshape(g, whole);
                     })),
    rule<"BroadcastTo">(wrt(keep::nothing, [](const auto& c) { return c.reduced(0, c.dy()); })),
    rule<"GatherV2">(wrt(keep::in1,
                         [](const auto& c) {
                           return on_parts(c.dy(), [&](const auto& dy) {
                             return call_like<"GatherGrad">(c, dy, c.in(1), attr<"inputShape">(c.dims(0)));
                           });
                         }),
                     constant_operand()),
    rule<"GatherGrad">(wrt(keep::in1, [](const auto& c) { return call_like<"GatherV2">(c, c.dy(), c.in(1)); }),
                       constant_operand()),
    // Ids outside the segments were dropped: they read row 0 and are then set to zero.
    rule<"UnsortedSegmentSum">(wrt(keep::in1,
                                   [](const auto& c) {
                                     if (c.dy().size() == 0) return c.zeros(0);
                                     return where(inside_of_segments(c), rows_at_ids(c, c.dy()),
                                                  zeros({}, c.dy().type()));
                                   }),
                               constant_operand()),
    rule<"UnsortedSegmentReduce">(
        wrt(keep::in0 | keep::in1 | keep::out0, [](const auto& c) { return segments_back(c); }), constant_operand()),
    rule<"TakeAlongAxis">(wrt(keep::in1,
                              [](const auto& c) {
                                return on_parts(c.dy(), [&](const auto& dy) {
                                  return axis_indices::combined(c, zeros(c.dims(0), dy.type()), dy, "add");
                                });
                              }),
                          constant_operand()),
    rule<"PutAlongAxis">(
        wrt(keep::in1,
            [](const auto& c) { return call_like<"PutAlongAxis">(c, c.dy(), c.in(1), zeros({}, c.dy().type())); }),
        constant_operand(), wrt(keep::in1, [](const auto& c) { return put_back(c); })),
    rule<"ScatterAlongAxis">(
        wrt(keep::all_in | keep::out0, [](const auto& c) { return combined_back<axis_indices>(c); }),
        constant_operand(),
        wrt(keep::all_in | keep::out0, [](const auto& c) { return updates_back<axis_indices>(c); })),
    rule<"TensorScatterReduce">(
        wrt(keep::all_in | keep::out0, [](const auto& c) { return combined_back<row_indices>(c); }), constant_operand(),
        wrt(keep::all_in | keep::out0, [](const auto& c) { return updates_back<row_indices>(c); })),
    rule<"Reverse">(wrt(keep::nothing, [](const auto& c) { return call_like<"Reverse">(c, c.dy()); })),
    rule<"StridedSlice">(
        wrt(keep::nothing,
            [](const auto& c) { return call_like<"StridedSliceGrad">(c, c.dy(), attr<"inputShape">(c.dims(0))); })),
    rule<"StridedSliceGrad">(wrt(keep::nothing, [](const auto& c) { return call_like<"StridedSlice">(c, c.dy()); })),
    // Axis by axis: the elements themselves, and the two borders mirrored back.
    rule<"MirrorPad">(wrt(keep::nothing,
                          [](const auto& c) {
                            const std::span<const std::int64_t> pairs = c.template attr<"paddings">().as_list();
                            const std::int64_t skipped = c.template attr<"mode">().as_text() == "reflect" ? 1 : 0;
                            auto g = c.dy();
                            if (c.dims(0).size() == 0) return c.zeros(0);
                            for (int axis = 0; axis < c.dims(0).rank(); ++axis) {
                              const std::int64_t before = pairs[2 * static_cast<std::size_t>(axis)],
                                                 after = pairs[2 * static_cast<std::size_t>(axis) + 1],
                                                 size = c.dims(0)[axis];
                              if (before == 0 && after == 0) continue;
                              auto sum = part_of_axis(g, axis, before, size);
                              if (before > 0) sum = sum + folded_back(g, axis, 0, before, skipped, size);
                              if (after > 0)
                                sum = sum + folded_back(g, axis, before + size, after, size - after - skipped, size);
                              g = sum;
                            }
                            return g;
                          })),
    rule<"RepeatPad">(wrt(keep::nothing,
                          [](const auto& c) {
                            const std::span<const std::int64_t> pairs = c.template attr<"paddings">().as_list();
                            const bool wraps = c.template attr<"mode">().as_text() == "wrap";
                            auto g = c.dy();
                            if (c.dims(0).size() == 0) return c.zeros(0);
                            for (int axis = 0; axis < c.dims(0).rank(); ++axis) {
                              const std::int64_t before = pairs[2 * static_cast<std::size_t>(axis)],
                                                 size = c.dims(0)[axis];
                              if (g.dims()[axis] == size) continue;
                              g = wraps ? added_to_period(g, axis, before, size) : added_to_ends(g, axis, before, size);
                            }
                            return g;
                          })),
    rule<"SpaceToBatchND">(wrt(keep::nothing,
                               [](const auto& c) {
                                 return call<"BatchToSpaceND">(c.dy(),
                                                               attr<"blockShape">(c.template attr<"blockShape">()),
                                                               attr<"crops">(c.template attr<"paddings">()));
                               })),
    rule<"BatchToSpaceND">(wrt(keep::nothing,
                               [](const auto& c) {
                                 return call<"SpaceToBatchND">(c.dy(),
                                                               attr<"blockShape">(c.template attr<"blockShape">()),
                                                               attr<"paddings">(c.template attr<"crops">()));
                               })),
    rule<"DepthToSpace">(wrt(keep::nothing,
                             [](const auto& c) {
                               const shape& x = c.dims(0);
                               const std::int64_t block = c.template attr<"blockSize">().as_integer();
                               if (c.template attr<"dataFormat">().as_text() == "NCHW") {
                                 const shape cut{x[0], x[1] / (block * block), x[2], block, x[3], block};
                                 return reshape(transpose(reshape(c.dy(), cut), {0, 3, 5, 1, 2, 4}), x);
                               }
                               const shape cut{x[0], x[1], block, x[2], block, x[3] / (block * block)};
                               return reshape(transpose(reshape(c.dy(), cut), {0, 1, 3, 2, 4, 5}), x);
                             })),
    rule<"Diag">(wrt(keep::nothing,
                     [](const auto& c) {
                       const std::int64_t count = c.dims(0).size();
                       if (count == 0) return c.zeros(0);
                       const auto flat = reshape(c.dy(), shape{count * count});
                       return reshape(call<"StridedSlice">(flat, attr<"begin">(attr_value(std::array{std::int64_t{0}})),
                                                           attr<"end">(attr_value(std::array{count * count})),
                                                           attr<"strides">(attr_value(std::array{count + 1}))),
                                      c.dims(0));
                     })),
    rule<"MatrixBandPart">(
        wrt(keep::in1 | keep::in2, [](const auto& c) { return call<"MatrixBandPart">(c.dy(), c.in(1), c.in(2)); }),
        constant_operand(), constant_operand()),
    rule<"GatherNd">(wrt(keep::in1,
                         [](const auto& c) {
                           const std::int64_t depth = c.dims(1)[c.dims(1).rank() - 1];
                           const auto rows = index_rows(c, 1, depth);
                           const shape slices = slices_of(c.dims(0), rows.dims()[0], depth);
                           return on_parts(c.dy(), [&](const auto& dy) {
                             return call<"ScatterNd">(rows, reshape(dy, slices), attr<"shape">(c.dims(0)));
                           });
                         }),
                     constant_operand()),
    rule<"ScatterNd">(constant_operand(), wrt(keep::in0,
                                              [](const auto& c) {
                                                const int rank = c.dims(0).rank();
                                                const std::int64_t depth = rank == 1 ? 1 : c.dims(0)[rank - 1];
                                                return reshape(call<"GatherNd">(c.dy(), index_rows(c, 0, depth)),
                                                               c.dims(1));
                                              })),
    rule<"TensorScatterUpdate">(
        wrt(keep::in1, [](const auto& c) { return call<"TensorScatterUpdate">(c.dy(), c.in(1), c.zeros(2)); }),
        constant_operand(),
        wrt(keep::in1,
            [](const auto& c) {
              const int rank = c.dims(1).rank();
              const std::int64_t depth = rank == 1 ? 1 : c.dims(1)[rank - 1];
              return reshape(slices_that_stayed(c.dy(), index_rows(c, 1, depth)), c.dims(2));
            })),
    rule<"SparseToDense">(constant_operand(),
                          wrt(keep::in0,
                              [](const auto& c) {
                                const auto each = slices_that_stayed(c.dy(), index_rows(c, 0, c.dy().dims().rank()));
                                return c.dims(1).rank() == 0 ? sum(each) : each;
                              }),
                          wrt(keep::in0,
                              [](const auto& c) {
                                const auto rows = index_rows(c, 0, c.dy().dims().rank());
                                return sum(call<"TensorScatterUpdate">(c.dy(), rows,
                                                                       zeros(shape{rows.dims()[0]}, c.dy().type())));
                              })),
});

}  // namespace kerngrad::rules
