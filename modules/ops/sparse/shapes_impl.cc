// SPDX-License-Identifier: Apache-2.0
// Shape rules of the ops on sparse and ragged tensors, and what they check on the way: all elements that they read.
module;
#include <algorithm>
#include <cmath>
#include <limits>
#include "kernels/common/abi.h"
module kerngrad;

namespace kerngrad::shapes {

namespace {

constexpr std::int64_t most_int32 = std::numeric_limits<std::int32_t>::max();

std::string name_of_operand(const inference& call, std::size_t i) {
  const std::size_t at = call.row.place_of(i);
  const operand& spec = call.row.operands[at];
  return std::string(spec.name) + (spec.list ? "[" + std::to_string(i - at) + "]" : "");
}

void check_rank(const inference& call, std::size_t i, int rank) {
  if (call.in[i].dims.rank() != rank)
    call.refuse(name_of_operand(call, i) + " of shape " + to_string(call.in[i].dims), "rank " + std::to_string(rank));
}

// The shape with another first axis.
shape with_row_count(const shape& dims, std::int64_t rows) { return with_axis(dims, 0, rows); }

// A number of elements that int32 counts where indices are int32.
void check_counted(const inference& call, std::int64_t count, dtype counter) {
  if (counter == dtype::int32 && count > most_int32)
    call.refuse(std::to_string(count) + " elements, counted in int32", "at most 2^31 - 1", "pass int64");
}

// The splits of operand `i`: at least one, none smaller than the one before, from 0 to `most`.
void check_splits(const inference& call, std::size_t i, std::int64_t most) {
  check_rank(call, i, 1);
  if (call.in[i].dims[0] < 1) call.refuse(name_of_operand(call, i) + " without elements", "one split or more");
  with_listed_integers(call.in[i], [&](const auto* splits) {
    std::int64_t before = 0;
    for (std::int64_t r = 0; r < call.in[i].dims[0]; before = splits[r++])
      if (splits[r] < before || splits[r] > most)
        call.refuse(name_of_operand(call, i) + " with " + std::to_string(splits[r]) + " at " + std::to_string(r),
                    "row splits that never decrease, from 0 to " + std::to_string(most));
  });
}

}  // namespace

std::vector<std::int64_t> listed_integers(const view& list) {
  return with_listed_integers(
      list, [&](const auto* from) { return std::vector<std::int64_t>(from, from + list.dims.size()); });
}

// ------------------------------------------------------------------------------------------ sparse tensors

void sparse_fill_empty_rows(inference& call) {
  const shape &indices = call.in[0].dims, &values = call.in[1].dims;
  check_rank(call, 0, 2);
  check_rank(call, 1, 1);
  check_rank(call, 2, 1);
  check_rank(call, 3, 0);
  if (indices[1] < 1 || indices[1] != call.in[2].dims[0])
    call.refuse("indices of shape " + to_string(indices) + " and denseShape of " + std::to_string(call.in[2].dims[0]) +
                    " sizes",
                "an index for each axis of the dense shape, which has one or more");
  if (values[0] != indices[0])
    call.refuse("values of shape " + to_string(values),
                "one for each of the " + std::to_string(indices[0]) + " indices");
  for (const std::int64_t size : listed_integers(call.in[2]))
    if (size < 0) call.refuse("denseShape with the size " + std::to_string(size), "sizes of 0 or more");
  const std::int64_t rows = listed_integer(call.in[2], 0);
  if (rows == 0 && indices[0] > 0)
    call.refuse("denseShape with 0 rows and " + std::to_string(indices[0]) + " indices", "a row for each index");
  const std::int64_t most = sum_of_sizes(call, indices[0], rows);
  check_counted(call, most, call.in[0].type);
  call.give({most, indices[1]}, call.in[0].type);
  call.give({most});
  call.give({rows});
  call.give({indices[0]}, call.in[0].type);
}

namespace {

// The elements of a shape that is an operand; rejects negative sizes and products that no tensor has.
std::int64_t elements_of(const inference& call, std::size_t i, std::span<const std::int64_t> sizes) {
  std::int64_t elements = 1;
  for (const std::int64_t size : sizes) {
    if (size < 0)
      call.refuse(name_of_operand(call, i) + " with the size " + std::to_string(size),
                  i == 2 ? "sizes of 0 or more, and -1 once" : "sizes of 0 or more");
    if (__builtin_mul_overflow(elements, size, &elements) || elements > std::int64_t{1} << 62)
      call.refuse(name_of_operand(call, i) + " of more than 2^62 elements", "at most 2^62");
  }
  return elements;
}

}  // namespace

std::vector<std::int64_t> reshaped_sizes(const inference& call) {
  std::vector<std::int64_t> sizes = listed_integers(call.in[2]);
  const std::int64_t elements = elements_of(call, 1, listed_integers(call.in[1]));
  const auto open = std::find(sizes.begin(), sizes.end(), -1);
  if (open == sizes.end()) {
    const std::int64_t wanted = elements_of(call, 2, sizes);
    if (wanted != elements)
      call.refuse("newShape of " + std::to_string(wanted) + " elements",
                  std::to_string(elements) + ", as inputShape has");
    return sizes;
  }
  *open = 1;
  const std::int64_t rest = elements_of(call, 2, sizes);
  if (rest == 0) call.refuse("newShape with -1 next to a size of 0", "sizes that determine -1");
  if (elements % rest != 0)
    call.refuse("newShape with -1 and " + std::to_string(rest) + " elements next to it",
                "a divisor of the " + std::to_string(elements) + " elements of inputShape");
  *open = elements / rest;
  return sizes;
}

void sparse_reshape(inference& call) {
  const shape& indices = call.in[0].dims;
  check_rank(call, 0, 2);
  check_rank(call, 1, 1);
  check_rank(call, 2, 1);
  if (indices[1] != call.in[1].dims[0])
    call.refuse("inputIndices of shape " + to_string(indices) + " and inputShape of " +
                    std::to_string(call.in[1].dims[0]) + " sizes",
                "an index for each axis");
  const std::vector<std::int64_t> sizes = reshaped_sizes(call);
  for (const std::int64_t size : sizes) check_counted(call, size, call.in[0].type);
  call.give({indices[0], static_cast<std::int64_t>(sizes.size())});
  call.give({static_cast<std::int64_t>(sizes.size())});
}

void sparse_segments(inference& call) {
  const shape &data = call.in[0].dims, &ids = call.in[2].dims;
  if (data.rank() < 1) call.refuse("data of rank 0", "rank 1 or more");
  if (data[0] > most_int32)
    call.refuse(std::to_string(data[0]) + " rows of data", "at most 2^31 - 1, which are indexed");
  check_rank(call, 1, 1);
  check_rank(call, 2, 1);
  if (ids[0] != call.in[1].dims[0])
    call.refuse("segmentIds of shape " + to_string(ids) + " and indices of shape " + to_string(call.in[1].dims),
                "an id for each index");
  const std::int64_t segments = with_listed_integers(call.in[2], [&](const auto* id) {
    std::int64_t before = 0;
    for (std::int64_t i = 0; i < ids[0]; before = id[i++])
      if (id[i] < before || id[i] >= most_int32)
        call.refuse("segmentIds with " + std::to_string(id[i]) + " at " + std::to_string(i),
                    "ids that never decrease, from 0 to 2^31 - 2");
    return ids[0] == 0 ? 0 : before + 1;
  });
  call.give(with_row_count(data, segments));
}

void embedding_bag(inference& call) {
  const shape &params = call.in[0].dims, &indices = call.in[1].dims, &offsets = call.in[2].dims;
  if (params.rank() < 1) call.refuse("params of rank 0", "rank 1 or more");
  if (params[0] > most_int32)
    call.refuse(std::to_string(params[0]) + " rows of params", "at most 2^31 - 1, which are indexed");
  check_rank(call, 1, 1);
  check_rank(call, 2, 1);
  if (indices[0] > most_int32)
    call.refuse(std::to_string(indices[0]) + " indices", "at most 2^31 - 1, which offsets count");
  with_listed_integers(call.in[2], [&](const auto* offset) {
    for (std::int64_t bag = 0; bag < offsets[0]; ++bag)
      if (bag == 0 ? offset[0] != 0 : offset[bag] < offset[bag - 1] || offset[bag] > indices[0])
        call.refuse(
            "offsets with " + std::to_string(offset[bag]) + " at " + std::to_string(bag),
            "offsets that begin with 0 and never decrease, up to the " + std::to_string(indices[0]) + " indices");
  });
  if (offsets[0] == 0 && indices[0] > 0)
    call.refuse("no offsets of " + std::to_string(indices[0]) + " indices", "where each bag begins, the first at 0");
  if (call.has(3)) {
    const std::string_view mode = call.attr(place_in(attributes::embedding_bag, "mode")).as_text();
    if (mode != "sum") call.refuse("perSampleWeights with mode " + std::string(mode), "mode sum, which has weights");
    if (!(call.in[3].dims == indices))
      call.refuse("perSampleWeights of shape " + to_string(call.in[3].dims),
                  "a weight for each of the " + std::to_string(indices[0]) + " indices");
  }
  call.give(with_row_count(params, offsets[0]));
}

// ------------------------------------------------------------------------------------------ ragged tensors

std::int64_t ragged_range_size(const inference& call, std::int64_t r) {
  return visit(call.in[0].type, [&]<dtype Type>(dtype_constant<Type> is) -> std::int64_t {
    using T = typename decltype(is)::element;
    if constexpr (kind_of(Type) == dtype_kind::real || (kind_of(Type) == dtype_kind::integer && sizeof(T) >= 4)) {
      const auto at = [&](std::size_t i) {
        return call.elements<T>(i)[call.in[i].dims.rank() == 0 ? 0 : static_cast<std::size_t>(r)];
      };
      const T start = at(0), limit = at(1), delta = at(2);
      const auto refuse = [&](const std::string& wanted) {
        call.refuse("the range from " + std::to_string(start) + " to " + std::to_string(limit) + " by " +
                        std::to_string(delta) + " in row " + std::to_string(r),
                    wanted);
      };
      if (delta == 0) refuse("deltas other than 0");
      if constexpr (kind_of(Type) == dtype_kind::real)
        if (!std::isfinite(start) || !std::isfinite(limit) || !std::isfinite(delta)) refuse("finite numbers");
      if ((delta > 0 && limit <= start) || (delta < 0 && limit >= start)) return 0;
      if constexpr (kind_of(Type) == dtype_kind::real) {
        const double size =
            std::ceil((static_cast<double>(limit) - static_cast<double>(start)) / static_cast<double>(delta));
        if (!(size <= static_cast<double>(most_int32))) refuse("at most 2^31 - 1 elements");
        return static_cast<std::int64_t>(size);
      } else {
        // Distances may be larger than the largest integer.
        const auto distance = [](T from, T to) {
          return static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from);
        };
        const std::uint64_t all = delta > 0 ? distance(start, limit) : distance(limit, start);
        const std::uint64_t step =
            delta > 0 ? static_cast<std::uint64_t>(delta) : 0 - static_cast<std::uint64_t>(delta);
        const std::uint64_t size = (all - 1) / step + 1;
        if (size > static_cast<std::uint64_t>(most_int32)) refuse("at most 2^31 - 1 elements");
        return static_cast<std::int64_t>(size);
      }
    } else {
      call.refuse_element_type(0, dtype::float32);
    }
  });
}

void ragged_range(inference& call) {
  std::int64_t rows = -1;
  for (std::size_t i = 0; i < 3; ++i) {
    const view& x = call.in[i];
    if (x.type != call.in[0].type)
      call.refuse(name_of_operand(call, i) + " of dtype " + std::string(name_of(x.type)),
                  std::string(name_of(call.in[0].type)) + ", as starts has", "cast it");
    if (x.dims.rank() > 1) call.refuse(name_of_operand(call, i) + " of shape " + to_string(x.dims), "rank 0 or 1");
    if (x.dims.rank() == 0) continue;
    if (rows >= 0 && x.dims[0] != rows)
      call.refuse(name_of_operand(call, i) + " of shape " + to_string(x.dims),
                  "a scalar or [" + std::to_string(rows) + "]");
    rows = x.dims[0];
  }
  if (rows < 0) rows = 1;
  std::int64_t elements = 0;
  for (std::int64_t r = 0; r < rows; ++r)
    elements += ragged_range_size(call, r), check_counted(call, elements, dtype::int32);
  call.give({rows + 1});
  call.give({elements}, call.in[0].type);
}

void ragged_gather(inference& call) {
  constexpr attr_place rank = place_in(attributes::ragged_gather, "outputRaggedRank");
  const shape &values = call.in[0].dims, &indices = call.in[1].dims;
  if (values.rank() < 1) call.refuse("paramsDenseValues of rank 0", "rank 1 or more");
  const std::size_t first = 2, last = call.in.size() - 1;
  dtype counter = dtype::int32;
  for (std::size_t i = last; i >= first; --i) {
    check_splits(call, i, i == last ? values[0] : call.in[i + 1].dims[0] - 1);
    if (call.in[i].type == dtype::int64) counter = dtype::int64;
  }
  const std::int64_t levels = static_cast<std::int64_t>(call.in.size() - first);
  const std::int64_t wanted = levels + indices.rank() - 1;
  if (call.attr(rank).as_integer() != wanted)
    call.refuse("outputRaggedRank " + std::to_string(call.attr(rank).as_integer()),
                std::to_string(wanted) + ": " + std::to_string(levels) + " splits and indices of rank " +
                    std::to_string(indices.rank()) + ", less 1");
  const std::int64_t rows = call.in[first].dims[0] - 1, count = indices.size();
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(levels), 0);  // elements after the splits of each level
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t begin = listed_integer(call.in[1], i), end = begin + 1;
    if (begin < 0 || begin >= rows)
      call.refuse("indices with " + std::to_string(begin) + " at " + std::to_string(i),
                  "numbers of rows, from 0 to " + std::to_string(rows - 1));
    for (std::size_t level = 0; level < sizes.size(); ++level) {
      begin = listed_integer(call.in[first + level], begin);
      end = listed_integer(call.in[first + level], end);
      sizes[level] = sum_of_sizes(call, sizes[level], end - begin);
    }
  }
  for (const std::int64_t size : sizes) check_counted(call, size, counter);
  check_counted(call, count, counter);
  std::int64_t outer = 1;
  for (int axis = 0; axis + 1 < indices.rank(); ++axis) call.give({(outer *= indices[axis]) + 1}, counter);
  std::int64_t above = count;
  for (std::size_t level = 0; level < sizes.size(); above = sizes[level++])
    if (level > 0 || indices.rank() > 0) call.give({above + 1}, counter);
  call.give(with_row_count(values, sizes.back()));
}

// ------------------------------------------------------------------------------------------ ragged to dense

ragged_partitions partitions_of(const inference& call) {
  constexpr attr_place types = place_in(attributes::ragged_to_tensor, "rowPartitionTypes");
  std::string_view text = call.attr(types).as_text();
  const auto refuse = [&](std::string_view wanted) {
    call.refuse("rowPartitionTypes " + std::string(call.attr(types).as_text()), wanted);
  };
  ragged_partitions all{.first = 3};
  std::size_t given = 0;
  bool sized = false;
  for (bool more = true; more; ++given) {
    const std::size_t end = text.find_first_of("|,");
    const std::string_view one = text.substr(0, end);
    more = end != std::string_view::npos;
    text.remove_prefix(more ? end + 1 : text.size());
    if (one == "FIRST_DIM_SIZE" && given == 0) sized = true;
    else if (one == "ROW_SPLITS") all.kinds.push_back(ragged_partitions::kind::row_splits);
    else if (one == "VALUE_ROWIDS" && given > 0) all.kinds.push_back(ragged_partitions::kind::value_rowids);
    else
      refuse("ROW_SPLITS or VALUE_ROWIDS joined by | or a comma, of which the first is ROW_SPLITS or FIRST_DIM_SIZE");
  }
  if (given != call.in.size() - 3)
    refuse("a type for each of the " + std::to_string(call.in.size() - 3) + " partitions");
  const view& outermost = call.in[3];
  if (sized) {
    check_rank(call, 3, 0);
    all.rows = listed_integer(outermost, 0);
    all.first = 4;
    if (all.rows < 0) call.refuse("rowPartitionTensors[0], a size of " + std::to_string(all.rows), "0 or more");
  } else {
    check_rank(call, 3, 1);
    all.rows = outermost.dims[0] - 1;
  }
  return all;
}

namespace {

// How many elements the rows of a partition have together, of `parents` rows at most; `widest` becomes the most that a
// row has.
std::int64_t children_of(const inference& call, std::size_t i, ragged_partitions::kind is, std::int64_t parents,
                         std::int64_t& widest) {
  const view& x = call.in[i];
  widest = 0;
  if (is == ragged_partitions::kind::row_splits) {
    check_splits(call, i, most_elements);
    const std::int64_t rows = x.dims[0] - 1;
    if (rows > parents || listed_integer(x, 0) != 0)
      call.refuse(name_of_operand(call, i) + " of " + std::to_string(rows) + " rows from " +
                      std::to_string(listed_integer(x, 0)) + " on",
                  "splits of at most " + std::to_string(parents) + " rows, from 0 on");
    for (std::int64_t r = 0; r < rows; ++r) widest = std::max(widest, listed_integer(x, r + 1) - listed_integer(x, r));
    return listed_integer(x, rows);
  }
  check_rank(call, i, 1);
  with_listed_integers(x, [&](const auto* ids) {
    std::int64_t width = 0;
    for (std::int64_t k = 0; k < x.dims[0]; ++k) {
      if (ids[k] < (k > 0 ? static_cast<std::int64_t>(ids[k - 1]) : 0) || ids[k] >= parents)
        call.refuse(name_of_operand(call, i) + " with " + std::to_string(ids[k]) + " at " + std::to_string(k),
                    "numbers of rows that never decrease, from 0 to " + std::to_string(parents - 1));
      width = k > 0 && ids[k] == ids[k - 1] ? width + 1 : 1;
      widest = std::max(widest, width);
    }
  });
  return x.dims[0];
}

// The shape that is asked for; -1 for sizes that partitions and values decide.
std::vector<std::int64_t> wanted_sizes(const inference& call, std::size_t rank) {
  const view& wanted = call.in[0];
  if (wanted.dims.rank() > 1) call.refuse("shape of shape " + to_string(wanted.dims), "a list of sizes, or -1");
  std::vector<std::int64_t> sizes = listed_integers(wanted);
  if (wanted.dims.rank() == 0) {
    if (sizes[0] != -1) call.refuse("shape " + std::to_string(sizes[0]), "a list of sizes, or -1 for an unknown shape");
    return std::vector<std::int64_t>(rank, -1);
  }
  if (sizes.size() != rank)
    call.refuse("shape of " + std::to_string(sizes.size()) + " sizes",
                std::to_string(rank) + ": those of the partitions, and of the values");
  for (const std::int64_t size : sizes)
    if (size < -1) call.refuse("shape with the size " + std::to_string(size), "sizes of 0 or more, or -1");
  return sizes;
}

}  // namespace

void ragged_to_tensor(inference& call) {
  const shape &values = call.in[1].dims, &fill = call.in[2].dims;
  if (values.rank() < 1) call.refuse("values of rank 0", "rank 1 or more");
  const ragged_partitions parts = partitions_of(call);
  const std::size_t ragged = parts.kinds.size(), rank = ragged + static_cast<std::size_t>(values.rank());
  if (rank > static_cast<std::size_t>(max_rank)) call.refuse(std::to_string(rank) + " axes", "at most 8");
  std::vector<std::int64_t> sizes = wanted_sizes(call, rank);
  if (sizes[0] < 0) sizes[0] = parts.rows;
  std::int64_t rows = parts.rows;
  for (std::size_t level = 0; level < ragged; ++level) {
    std::int64_t widest = 0;
    rows = children_of(call, parts.first + level, parts.kinds[level], rows, widest);
    if (sizes[level + 1] < 0) sizes[level + 1] = widest;
  }
  if (rows != values[0])
    call.refuse("values of shape " + to_string(values), std::to_string(rows) + " rows, as the partitions have");
  for (int axis = 1; axis < values.rank(); ++axis) {
    std::int64_t& size = sizes[ragged + static_cast<std::size_t>(axis)];
    if (size >= 0 && size != values[axis])
      call.refuse("shape with the size " + std::to_string(size) + " for values of shape " + to_string(values),
                  std::to_string(values[axis]) + " or -1");
    size = values[axis];
  }
  const shape inner(values.dims().subspan(1));
  const std::optional<shape> both = broadcast(fill, inner);
  if (!both || !(*both == inner))
    call.refuse("defaultValue of shape " + to_string(fill), "one that broadcasts to a value, " + to_string(inner));
  call.give(shape(sizes));
}

}  // namespace kerngrad::shapes
