// SPDX-License-Identifier: Apache-2.0
// Gradient rules of the ops that move elements: each adjoint moves them back, adding up what was read twice.
module;
#include "kernels/common/abi.h"
export module kerngrad:grads_move;

import :std;
import :core;
import :rule;
import :call;
import :ops;

namespace kerngrad::rules {

inline constexpr auto unchanged_shape = [](const auto& c) { return reshape(c.dy(), c.dims(0)); };

/// Where the part of operand `i` starts along the joined axis.
template <class C>
std::int64_t start_of(const C& c, int i, int axis) {
  std::int64_t at = 0;
  for (int k = 0; k < i; ++k) at += c.dims(k)[axis];
  return at;
}

/// The inverse of a permutation; the reversal is its own.
inline std::vector<std::int64_t> inverted(const attr_value& perm, int rank) {
  std::vector<std::int64_t> inverse(static_cast<std::size_t>(rank));
  const std::span<const std::int64_t> list = perm.as_list();
  for (int i = 0; i < rank; ++i) {
    const std::int64_t from = perm.given() ? list[static_cast<std::size_t>(i)] : rank - 1 - i;
    inverse[static_cast<std::size_t>(from < 0 ? from + rank : from)] = i;
  }
  return inverse;
}

inline constexpr auto move_rules =
    family_rules(
        std::tuple{
            rule<"Identity">(wrt(keep::nothing, [](const auto& c) { return c.dy(); })),
            rule<"Reshape">(wrt(keep::nothing, unchanged_shape)),
            rule<"ExpandDims">(wrt(keep::nothing, unchanged_shape)),
            rule<"Transpose">(wrt(keep::nothing,
                                  [](const auto& c) {
                                    return transpose(c.dy(), inverted(c.template attr<"perm">(), c.dims(0).rank()));
                                  })),
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
            rule<"Unpack">(wrt(keep::nothing,
                               [](const auto& c) {
                                 return stack(c.all_dy(), static_cast<int>(c.template attr<"axis">().as_integer()));
                               })),
            rule<"SplitV">(wrt(keep::nothing,
                               [](const auto& c) {
                                 return concat(c.all_dy(), static_cast<int>(c.template attr<"axis">().as_integer()));
                               })),
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
                                   const auto added = [&](const auto& dy) {
                                     return call<"GatherGrad">(dy, c.in(1), attr<"axis">(c.template attr<"axis">()),
                                                               attr<"batchDims">(c.template attr<"batchDims">()),
                                                               attr<"inputShape">(c.dims(0)));
                                   };
                                   if (c.type(0) != dtype::complex64) return added(c.dy());
                                   return complex(added(real(c.dy())), added(imag(c.dy())));
                                 }),
                             constant_operand()),
            rule<"GatherGrad">(wrt(keep::in1,
                                   [](const auto& c) {
                                     return call<"GatherV2">(c.dy(), c.in(1), attr<"axis">(c.template attr<"axis">()),
                                                             attr<"batchDims">(c.template attr<"batchDims">()));
                                   }),
                               constant_operand()),
            // Ids outside the segments were dropped: they read row 0 and are then set to zero.
            rule<"UnsortedSegmentSum">(
                wrt(keep::in1,
                    [](const auto& c) {
                      const auto ids = c.in(1);
                      const auto inside = logical_and(ids >= 0, ids < c.template attr<"numSegments">().as_integer());
                      if (c.dy().size() == 0) return c.zeros(0);
                      const auto rows = gather(c.dy(), where(inside, ids, zeros_like(ids)));
                      std::vector<std::int64_t> ones(static_cast<std::size_t>(c.dims(0).rank()), 1);
                      for (int i = 0; i < c.dims(1).rank(); ++i) ones[static_cast<std::size_t>(i)] = c.dims(1)[i];
                      return rows * cast(reshape(inside, shape(ones)), c.type(0));
                    }),
                constant_operand()),
            rule<"Reverse">(
                wrt(keep::nothing,
                    [](const auto& c) { return call<"Reverse">(c.dy(), attr<"dims">(c.template attr<"dims">())); })),
        });

}  // namespace kerngrad::rules
