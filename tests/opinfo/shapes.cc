// SPDX-License-Identifier: Apache-2.0
// Calls that move elements and change shapes.
#include <algorithm>

#include "tests/opinfo/sample.h"

namespace opinfo {

namespace {

using in = const sample&;
using sizes = std::vector<std::int64_t>;

std::int64_t from_front(std::int64_t axis, int rank) { return axis < 0 ? axis + std::max(rank, 1) : axis; }

sizes sizes_of(const kg::tensor& x) { return {x.dims().begin(), x.dims().end()}; }

// ---- one tensor in another shape

results flattened(in s) {
  const kg::tensor x = s.x();
  if (x.rank() == 0) return list_of(kg::flatten(x));
  const auto first = from_front(s.whole("start_dim", 1, 0), x.rank());
  const auto last = from_front(s.whole("end_dim", 2, -1), x.rank());
  if (first > last || last >= x.rank()) throw skip{"axes out of order"};
  sizes dims = sizes_of(x);
  dims.erase(dims.begin() + first + 1, dims.begin() + last + 1);
  std::int64_t size = 1;
  for (auto axis = first; axis <= last; ++axis) size *= x.dims()[static_cast<int>(axis)];
  dims[static_cast<std::size_t>(first)] = size;
  return list_of(kg::reshape(x, kg::shape(dims)));
}

kg::tensor to_shape(const kg::tensor& x, const sizes& wanted) {
  const std::span<const std::int64_t> all(wanted);
  if (std::ranges::count(wanted, -1) == 0) return kg::reshape(x, kg::shape(wanted));
  if (std::ranges::count(wanted, -1) > 1) throw skip{"several sizes that are not given"};
  if (x.size() == 0 && std::ranges::count(wanted, 0) > 0) throw skip{"a size that follows from no elements"};
  sizes dims(all.begin(), all.end());
  std::int64_t rest = x.size();
  for (const std::int64_t size : dims)
    if (size > 0) rest /= size;
  std::ranges::replace(dims, -1, rest);
  return kg::reshape(x, kg::shape(dims));
}

results unflattened(in s) {
  const kg::tensor x = s.x();
  const auto axis = from_front(s.whole("dim", 1), x.rank());
  sizes dims = sizes_of(x);
  const sizes parts = s.list("sizes", 2);
  dims.erase(dims.begin() + axis);
  dims.insert(dims.begin() + axis, parts.begin(), parts.end());
  return list_of(to_shape(x, dims));
}

results expanded(const kg::tensor& x, sizes dims) {
  const auto missing = static_cast<std::int64_t>(dims.size()) - x.rank();
  for (std::size_t i = 0; i < dims.size(); ++i)
    if (dims[i] == -1 && static_cast<std::int64_t>(i) >= missing)
      dims[i] = x.dims()[static_cast<int>(static_cast<std::int64_t>(i) - missing)];
  return list_of(kg::broadcast_to(x, kg::shape(dims)));
}

results all_broadcast(in s) {
  results all = s.all_tensors();
  kg::shape dims;
  for (const kg::tensor& x : all) {
    const auto both = kg::broadcast(dims, x.dims());
    if (!both) throw skip{"shapes that do not broadcast"};
    dims = *both;
  }
  for (kg::tensor& x : all) x = kg::broadcast_to(x, dims);
  return all;
}

kg::tensor at_least(const kg::tensor& x, int rank) {
  if (x.rank() >= rank) return x;
  if (rank == 3 && x.rank() == 2) return kg::expand_dims(x, -1);
  const kg::tensor matrix = rank >= 2 && x.rank() == 0 ? kg::reshape(x, {1, 1}) : x;
  if (rank == 1) return kg::reshape(x, {1});
  const kg::tensor flat = matrix.rank() == 1 ? kg::expand_dims(matrix, 0) : matrix;
  return rank == 3 ? kg::expand_dims(flat, -1) : flat;
}

template <int Rank>
results all_at_least(in s) {
  results all;
  for (const kg::tensor& x : s.all_tensors()) all.push_back(at_least(x, Rank));
  return all;
}

results summed_to(in s) {
  const sizes wanted = s.rest(1);
  const kg::tensor x = s.x();
  const auto missing = x.rank() - static_cast<int>(wanted.size());
  sizes over;
  for (int axis = 0; axis < x.rank(); ++axis)
    if (axis < missing || wanted[static_cast<std::size_t>(axis - missing)] != x.dims()[axis]) over.push_back(axis);
  return list_of(kg::reshape(kg::sum(x, over), kg::shape(wanted)));
}

// ---- order of elements

kg::tensor quarter_turns(const kg::tensor& x, std::int64_t count, std::int64_t a, std::int64_t b) {
  switch ((count % 4 + 4) % 4) {
    case 1: return kg::reverse(kg::swapaxes(x, a, b), a);
    case 2: return kg::reverse(x, {a, b});
    case 3: return kg::swapaxes(kg::reverse(x, a), a, b);
    default: return x;
  }
}

results turned(in s) {
  const sizes over = s.has("dims", 2) ? s.list("dims", 2) : sizes{0, 1};
  if (over.size() != 2 || over[0] == over[1]) throw skip{"a turn of other than two axes"};
  return list_of(quarter_turns(s.x(), s.whole("k", 1, 1), over.at(0), over.at(1)));
}

results rolled(in s) {
  const sizes shifts = s.list("shifts", 1);
  const sizes over = s.has("dims", 2) ? s.list("dims", 2) : sizes();
  if (!over.empty()) return list_of(kg::roll(s.x(), shifts, over));
  if (shifts.size() != 1) throw skip{"several shifts without axes"};
  return list_of(kg::roll(s.x(), shifts[0]));
}

results tiled(in s, bool same_rank) {
  const kg::tensor x = s.x();
  sizes counts = s.rest(1);
  if (same_rank)
    while (static_cast<int>(counts.size()) < x.rank()) counts.insert(counts.begin(), 1);
  sizes dims = sizes_of(x);
  while (dims.size() < counts.size()) dims.insert(dims.begin(), 1);
  return list_of(kg::tile(kg::reshape(x, kg::shape(dims)), counts));
}

results repeated(in s) {
  const std::int64_t count = s.whole("repeats", 1);
  return list_of(s.has("dim", 2) ? kg::repeat(s.x(), count, s.whole("dim", 2)) : kg::repeat(s.x(), count));
}

// ---- several tensors in one, and one in several

results joined(in s, int axis, int rank) {
  std::vector<kg::tensor> parts;
  for (const kg::tensor& x : s.tensors()) parts.push_back(at_least(x, rank));
  return list_of(kg::concat(parts, !parts.empty() && parts[0].rank() == 1 ? 0 : axis));
}

results columns(in s) {
  std::vector<kg::tensor> parts;
  for (const kg::tensor& x : s.tensors()) parts.push_back(x.rank() < 2 ? kg::reshape(x, {x.size(), 1}) : x);
  return list_of(kg::concat(parts, 1));
}

// The sizes of parts that begin at some indices.
sizes between(const sizes& starts, std::int64_t size) {
  sizes parts;
  std::int64_t from = 0;
  for (std::int64_t start : starts) {
    start = std::clamp<std::int64_t>(start < 0 ? start + size : start, 0, size);
    parts.push_back(std::max<std::int64_t>(start - from, 0));
    from = std::max(from, start);
  }
  parts.push_back(size - from);
  return parts;
}

results in_parts(const kg::tensor& x, const json& how, std::int64_t axis) {
  const std::int64_t size = x.dims()[static_cast<int>(axis)];
  if (how.is_array()) {
    if (!how.empty() && !how[0].is_number_integer()) throw skip{"indices in a tensor"};
    return list_of(kg::split(x, between(how.get<sizes>(), size), axis));
  }
  if (!how.is_number_integer()) throw skip{"indices in a tensor"};
  const auto count = how.get<std::int64_t>();
  if (count < 1) throw skip{"no parts"};
  sizes parts;
  for (std::int64_t i = 0; i < count; ++i) parts.push_back(size / count + (i < size % count));
  return list_of(kg::split(x, parts, axis));
}

results parts_of_size(const kg::tensor& x, std::int64_t part, std::int64_t axis) {
  sizes parts;
  for (std::int64_t left = x.dims()[static_cast<int>(axis)]; left > 0; left -= part)
    parts.push_back(std::min(part, left));
  return list_of(kg::split(x, parts, axis));
}

results chunked(in s) {
  const kg::tensor x = s.x();
  const auto axis = from_front(s.whole("dim", 2, 0), x.rank());
  const auto count = s.whole("chunks", 1), size = x.dims()[static_cast<int>(axis)];
  return parts_of_size(x, (size + count - 1) / count, axis);
}

results split(in s) {
  const kg::tensor x = s.x();
  const auto axis = from_front(s.whole("dim", 2, 0), x.rank());
  if (s.raw("split_size_or_sections", 1).is_array()) return list_of(kg::split(x, s.list("", 1), axis));
  return parts_of_size(x, s.whole("split_size_or_sections", 1), axis);
}

// ---- padding

sizes pairs_of(const sizes& from_the_last, int rank) {
  sizes pairs(static_cast<std::size_t>(2 * rank), 0);
  for (std::size_t i = 0; i + 1 < from_the_last.size(); i += 2) {
    const std::size_t axis = static_cast<std::size_t>(rank) - 1 - i / 2;
    pairs.at(2 * axis) = from_the_last[i];
    pairs.at(2 * axis + 1) = from_the_last[i + 1];
  }
  if (std::ranges::any_of(pairs, [](std::int64_t size) { return size < 0; })) throw skip{"negative padding"};
  return pairs;
}

results padded(in s) {
  const sizes pairs = pairs_of(s.list("pad", 1), s.x().rank());
  const std::string mode = s.text("mode", 2, "constant");
  if (mode == "constant") return list_of(kg::pad(s.x(), pairs, s.number("value", 3, 0)));
  const kg::pad_mode how = mode == "reflect"     ? kg::pad_mode::reflect
                           : mode == "replicate" ? kg::pad_mode::edge
                                                 : kg::pad_mode::wrap;
  return list_of(kg::pad(s.x(), pairs, how));
}

// ---- pixels and channels

results shuffled(in s, bool back) {
  const auto r = s.whole(back ? "downscale_factor" : "upscale_factor", 1);
  const kg::tensor x = s.x();
  if (x.rank() < 3) return list_of(kg::reshape(x, {r, -1, r}));
  sizes dims = sizes_of(x), order;
  const auto c = dims[dims.size() - 3], h = dims[dims.size() - 2], w = dims[dims.size() - 1];
  sizes batch(dims.begin(), dims.end() - 3), middle = batch, last = batch;
  const auto n = static_cast<std::int64_t>(batch.size());
  for (std::int64_t i = 0; i < n; ++i) order.push_back(i);
  for (const std::int64_t i : back ? sizes{0, 2, 4, 1, 3} : sizes{0, 3, 1, 4, 2}) order.push_back(n + i);
  for (const std::int64_t size : back ? sizes{c, h / r, r, w / r, r} : sizes{c / (r * r), r, r, h, w})
    middle.push_back(size);
  for (const std::int64_t size : back ? sizes{c * r * r, h / r, w / r} : sizes{c / (r * r), h * r, w * r})
    last.push_back(size);
  return list_of(kg::reshape(kg::transpose(kg::reshape(x, kg::shape(middle)), order), kg::shape(last)));
}

kg::tensor last_two_exchanged(const kg::tensor& x) { return kg::swapaxes(x, -2, -1); }

constexpr call_line lines[] = {
    {"shapes", "reshape", [](in s) { return list_of(to_shape(s.x(), s.list("shape", 1))); }},
    {"shapes", "view", [](in s) { return list_of(to_shape(s.x(), s.rest(1))); }},
    {"shapes", "reshape_as", [](in s) { return list_of(kg::reshape(s.x(), s.x(1).dims())); }},
    {"shapes", "view_as", [](in s) { return list_of(kg::reshape(s.x(), s.x(1).dims())); }},
    {"shapes", "resize_as_", [](in s) { return list_of(kg::reshape(s.x(), s.x(1).dims())); }},
    {"shapes", "flatten", flattened},
    {"shapes", "unflatten", unflattened},
    {"shapes", "squeeze",
     [](in s) {
       const kg::tensor x = s.x();
       if (!s.has("dim", 1)) return list_of(kg::squeeze(x));
       const auto axis = from_front(s.whole("dim", 1), x.rank());
       return list_of(x.rank() == 0 || x.dims()[static_cast<int>(axis)] != 1 ? x : kg::squeeze(x, axis));
     }},
    {"shapes", "unsqueeze", [](in s) { return list_of(kg::expand_dims(s.x(), s.whole("dim", 1))); }},
    {"shapes", "expand", [](in s) { return expanded(s.x(), s.rest(1)); }},
    {"shapes", "broadcast_to", [](in s) { return expanded(s.x(), s.list("shape", 1)); }},
    {"shapes", "expand_as", [](in s) { return list_of(kg::broadcast_to(s.x(), s.x(1).dims())); }},
    {"shapes", "broadcast_tensors", all_broadcast},
    {"shapes", "sum_to_size", summed_to},
    {"shapes", "atleast_1d", all_at_least<1>},
    {"shapes", "atleast_2d", all_at_least<2>},
    {"shapes", "atleast_3d", all_at_least<3>},
    {"shapes", "permute", [](in s) { return list_of(kg::transpose(s.x(), s.list("dims", 1))); }},
    {"shapes", "transpose", [](in s) { return list_of(kg::swapaxes(s.x(), s.whole("dim0", 1), s.whole("dim1", 2))); }},
    {"shapes", "movedim",
     [](in s) { return list_of(kg::moveaxis(s.x(), s.list("source", 1), s.list("destination", 2))); }},
    {"shapes", "T", [](in s) { return list_of(kg::transpose(s.x())); }},
    {"shapes", "H", [](in s) { return list_of(kg::conj(kg::transpose(s.x()))); }},
    {"shapes", "mT", [](in s) { return list_of(last_two_exchanged(s.x())); }},
    {"shapes", "mH", [](in s) { return list_of(kg::conj(last_two_exchanged(s.x()))); }},
    {"shapes", "roll", rolled},
    {"shapes", "flip", [](in s) { return list_of(kg::flip(s.x(), s.list("dims", 1))); }},
    {"shapes", "rot90", turned},
    {"shapes", "tile", [](in s) { return tiled(s, true); }},
    {"shapes", "repeat", [](in s) { return tiled(s, false); }},
    {"shapes", "repeat_interleave", repeated},
    {"shapes", "cat", [](in s) { return list_of(kg::concat(s.tensors(), s.whole("dim", 1, 0))); }},
    {"shapes", "stack", [](in s) { return list_of(kg::stack(s.tensors(), s.whole("dim", 1, 0))); }},
    {"shapes", "hstack", [](in s) { return joined(s, 1, 1); }},
    {"shapes", "vstack", [](in s) { return joined(s, 0, 2); }},
    {"shapes", "dstack", [](in s) { return joined(s, 2, 3); }},
    {"shapes", "column_stack", columns},
    {"shapes", "split", split},
    {"shapes", "split_with_sizes", split},
    {"shapes", "chunk", chunked},
    {"shapes", "tensor_split",
     [](in s) { return in_parts(s.x(), s.raw("", 1), from_front(s.whole("dim", 2, 0), s.x().rank())); }},
    {"shapes", "hsplit", [](in s) { return in_parts(s.x(), s.raw("", 1), s.x().rank() == 1 ? 0 : 1); }},
    {"shapes", "vsplit", [](in s) { return in_parts(s.x(), s.raw("", 1), 0); }},
    {"shapes", "dsplit", [](in s) { return in_parts(s.x(), s.raw("", 1), 2); }},
    {"shapes", "unbind", [](in s) { return list_of(kg::unstack(s.x(), s.whole("dim", 1, 0))); }},
    {"shapes", "contiguous", [](in s) { return list_of(kg::identity(s.x())); }},
    {"shapes", "resolve_conj", [](in s) { return list_of(kg::identity(s.x())); }},
    {"shapes", "resolve_neg", [](in s) { return list_of(kg::identity(s.x())); }},
    {"shapes", "tril", [](in s) { return list_of(kg::tril(s.x(), s.whole("diagonal", 1, 0))); }},
    {"shapes", "triu", [](in s) { return list_of(kg::triu(s.x(), s.whole("diagonal", 1, 0))); }},
    {"shapes", "diagonal",
     [](in s) {
       return list_of(kg::diagonal(s.x(), s.whole("offset", 1, 0), s.whole("dim1", 2, 0), s.whole("dim2", 3, 1)));
     }},
    {"shapes", "nn.functional.pad", padded},
    {"shapes", "constant_pad_nd",
     [](in s) { return list_of(kg::pad(s.x(), pairs_of(s.list("pad", 1), s.x().rank()), s.number("value", 2, 0))); }},
    {"shapes", "nn.functional.pixel_shuffle", [](in s) { return shuffled(s, false); }},
    {"shapes", "nn.functional.pixel_unshuffle", [](in s) { return shuffled(s, true); }},
    {"shapes", "unfold",
     [](in s) {
       const auto axis = s.whole("dimension", 1), size = s.whole("size", 2), step = s.whole("step", 3);
       if (s.x().rank() == 0) throw skip{"windows of a scalar"};
       const kg::tensor frames = kg::frame(kg::moveaxis(s.x(), axis, -1), size, step);
       return list_of(kg::moveaxis(frames, -2, axis < 0 ? axis - 1 : axis));
     }},
};

}  // namespace

std::span<const call_line> shapes_calls() { return lines; }

}  // namespace opinfo
