// SPDX-License-Identifier: Apache-2.0
// Calls that take elements by their indices, and set them.
#include <algorithm>
#include <variant>

#include "tests/opinfo/sample.h"

namespace opinfo {

namespace {

using in = const sample&;
using sizes = std::vector<std::int64_t>;

// x with the first elements of each axis as many as the indices have, but for one axis.
kg::tensor like_indices(const kg::tensor& x, const kg::tensor& indices, std::int64_t axis) {
  if (axis < 0) axis += x.rank();
  sizes size(x.dims().begin(), x.dims().end());
  for (int i = 0; i < x.rank(); ++i)
    if (i != axis) size[static_cast<std::size_t>(i)] = indices.dims()[i];
  return kg::slice(x, sizes(size.size(), 0), size);
}

// A scalar as a list, and its index.
kg::tensor listed(const kg::tensor& x) { return x.rank() == 0 ? kg::reshape(x, {1}) : x; }

results gathered(in s) {
  const auto axis = s.whole("dim", 1);
  const kg::tensor x = listed(s.x()), indices = listed(s.x(2));
  s.truth("sparse_grad", 3);
  if (indices.size() == 0) throw skip{"no indices"};
  const kg::tensor y = kg::take_along_axis(like_indices(x, indices, axis), indices, axis);
  return list_of(s.x(2).rank() == 0 ? kg::reshape(y, {}) : y);
}

// Every index of a tensor of indices, one row each, with those along an axis in place of its own.
kg::tensor rows_of(const kg::tensor& indices, std::int64_t axis) {
  if (axis < 0) axis += indices.rank();
  const kg::tensor places = kg::cast(kg::nonzero(kg::ones(indices.dims())), kg::dtype::int64);
  results columns = list_of(kg::unstack(places, 1));
  columns[static_cast<std::size_t>(axis)] = kg::ravel(kg::cast(indices, kg::dtype::int64));
  return kg::stack(columns, 1);
}

using scatterer = kg::tensor (*)(const kg::tensor&, const kg::tensor&, const kg::tensor&);

results scattered(in s, scatterer scatter) {
  const auto axis = s.whole("dim", 1);
  const kg::tensor x = listed(s.x()), indices = listed(s.x(2));
  if (indices.size() == 0) throw skip{"no indices"};
  kg::tensor source;
  if (s.is_number(3)) source = kg::full_like(indices, s.number("value", 3), x.type());
  else source = like_indices(kg::broadcast_to(listed(s.x(3)), listed(s.x(3)).dims()), indices, -1 - x.rank());
  const kg::tensor updates = kg::ravel(kg::slice(source, sizes(static_cast<std::size_t>(x.rank()), 0),
                                                 sizes(indices.dims().begin(), indices.dims().end())));
  const kg::tensor y = scatter(x, rows_of(indices, axis), updates);
  return list_of(s.x().rank() == 0 ? kg::reshape(y, {}) : y);
}

scatterer reduction_of(const std::string& name) {
  if (name.empty()) return kg::tensor_scatter_update;
  if (name == "add" || name == "sum") return kg::scatter_add;
  if (name == "multiply" || name == "prod") return kg::scatter_mul;
  if (name == "amax") return kg::scatter_max;
  if (name == "amin") return kg::scatter_min;
  throw skip{"the reduction " + name};
}

// Slices of x along an axis changed by those of another tensor.
results slices_changed(in s, const kg::tensor& source, scatterer scatter) {
  const auto axis = s.whole("dim", 1);
  const kg::tensor x = kg::moveaxis(listed(s.x()), axis, 0);
  const kg::tensor indices = kg::reshape(listed(s.x(2)), {-1, 1});
  if (indices.size() == 0) throw skip{"no indices"};
  sizes dims(x.dims().begin(), x.dims().end());
  dims[0] = indices.dims()[0];
  const kg::tensor updates =
      source.rank() == 0 ? kg::broadcast_to(source, kg::shape(dims)) : kg::moveaxis(listed(source), axis, 0);
  const kg::tensor y = kg::moveaxis(scatter(x, indices, updates), 0, axis);
  return list_of(s.x().rank() == 0 ? kg::reshape(y, {}) : y);
}

kg::tensor number_or_tensor(in s, const char* name, int place, kg::dtype type) {
  return s.is_number(place) ? kg::full(kg::shape{}, s.number(name, place), type) : s.x(place);
}

// A slice of an axis as begins and sizes of all axes.
kg::tensor stretch(const kg::tensor& x, std::int64_t axis, std::int64_t start, std::int64_t length) {
  if (axis < 0) axis += x.rank();
  const std::int64_t size = x.dims()[static_cast<int>(axis)];
  sizes begin(static_cast<std::size_t>(x.rank()), 0), count(x.dims().begin(), x.dims().end());
  begin[static_cast<std::size_t>(axis)] = start < 0 ? start + size : start;
  count[static_cast<std::size_t>(axis)] = length;
  return kg::slice(x, begin, count);
}

// Start, stop and step of Python, as indices.
kg::tensor sliced(const kg::tensor& x, std::int64_t axis, const json& start, const json& stop, std::int64_t step) {
  const kg::tensor front = kg::moveaxis(x, axis, 0);
  const std::int64_t size = front.dims()[0];
  const auto bound = [&](const json& value, std::int64_t otherwise) {
    const std::int64_t at = value.is_null() ? otherwise : value.get<std::int64_t>();
    return std::clamp<std::int64_t>(at < 0 ? at + size : at, 0, size);
  };
  const std::int64_t from = bound(start, 0);
  return kg::moveaxis(front(kg::range(from, std::max(from, bound(stop, size)), step)), 0, axis);
}

const json& or_null(in s, const char* name, int place) {
  static const json nothing;
  return s.has(name, place) ? s.raw(name, place) : nothing;
}

// ---- x[...] of Python

using index = std::variant<std::int64_t, kg::range, kg::new_axis, kg::other_axes, kg::tensor>;

index index_of(in s, const json& part) {
  if (part.is_number_integer()) return part.get<std::int64_t>();
  if (part.is_null()) return kg::newaxis;
  if (part.is_array() && std::ranges::all_of(part, [](const json& at) { return at.is_number_integer(); }))
    return kg::tensor(part.get<std::vector<std::int64_t>>());
  if (part.contains("ellipsis")) return kg::ellipsis;
  if (part.contains("tensor")) return s.at(part);
  if (!part.contains("slice")) throw skip{"an index of another kind"};
  const json& bounds = part.at("slice");
  const std::int64_t step = bounds[2].is_null() ? 1 : bounds[2].get<std::int64_t>();
  const std::int64_t from = bounds[0].is_null() ? 0 : bounds[0].get<std::int64_t>();
  if (bounds[1].is_null()) return kg::range(from, kg::end, step);
  return kg::range(from, bounds[1].get<std::int64_t>(), step);
}

results indexed(in s) {
  const json& how = s.raw("", 1);
  std::vector<index> parts;
  if (how.is_array())
    for (const json& part : how) parts.push_back(index_of(s, part));
  else parts.push_back(index_of(s, how));
  const kg::tensor x = s.x();
  const auto taken = [&](const auto&... at) { return x(at...); };
  switch (parts.size()) {
    case 1: return list_of(std::visit(taken, parts[0]));
    case 2: return list_of(std::visit(taken, parts[0], parts[1]));
    case 3: return list_of(std::visit(taken, parts[0], parts[1], parts[2]));
    default: throw skip{"another number of indices"};
  }
}

constexpr call_line lines[] = {
    {"elements", "__getitem__", indexed},
    {"elements", "gather", gathered},
    {"elements", "take", [](in s) { return list_of(kg::take(s.x(), s.x(1))); }},
    {"elements", "take_along_dim",
     [](in s) {
       if (!s.has("dim", 2)) return list_of(kg::take(s.x(), kg::ravel(s.x(1))));
       return list_of(kg::take_along_axis(s.x(), s.x(1), s.whole("dim", 2)));
     }},
    {"elements", "index_select",
     [](in s) {
       const kg::tensor y = kg::gather(listed(s.x()), listed(s.x(2)), s.whole("dim", 1));
       return list_of(s.x().rank() == 0 ? kg::reshape(y, {}) : y);
     }},
    {"elements", "index_add",
     [](in s) {
       if (!s.has("alpha")) return slices_changed(s, s.x(3), kg::scatter_add);
       return slices_changed(s, s.x(3) * s.number("alpha", -1), kg::scatter_add);
     }},
    {"elements", "index_copy", [](in s) { return slices_changed(s, s.x(3), kg::tensor_scatter_update); }},
    {"elements", "index_fill",
     [](in s) { return slices_changed(s, number_or_tensor(s, "value", 3, s.x().type()), kg::tensor_scatter_update); }},
    {"elements", "masked_fill",
     [](in s) {
       const kg::tensor x = s.x(), value = number_or_tensor(s, "value", 2, x.type());
       return list_of(kg::where(s.x(1), kg::cast(value, x.type()), x));
     }},
    {"elements", "masked_select",
     [](in s) {
       const auto both = kg::broadcast(s.x().dims(), s.x(1).dims());
       if (!both) throw skip{"shapes that do not broadcast"};
       return list_of(
           kg::boolean_mask(kg::flatten(kg::broadcast_to(s.x(), *both)), kg::flatten(kg::broadcast_to(s.x(1), *both))));
     }},
    {"elements", "where", [](in s) { return list_of(kg::where(s.x(1), s.x(0), s.x(2))); }},
    {"elements", "scatter", [](in s) { return scattered(s, reduction_of(s.text("reduce", 4, ""))); }},
    {"elements", "scatter_add", [](in s) { return scattered(s, kg::scatter_add); }},
    {"elements", "scatter_reduce",
     [](in s) {
       if (!s.truth("include_self", 5, true)) throw skip{"a reduction without the element itself"};
       return scattered(s, reduction_of(s.text("reduce", 4, "")));
     }},
    {"elements", "select",
     [](in s) {
       const auto axis = s.whole("dim", 1);
       return list_of(kg::squeeze(stretch(s.x(), axis, s.whole("index", 2), 1), axis));
     }},
    {"elements", "narrow",
     [](in s) {
       const std::int64_t start = s.is_number(2) ? s.whole("start", 2) : static_cast<std::int64_t>(s.x(2).item());
       return list_of(stretch(s.x(), s.whole("dim", 1), start, s.whole("length", 3)));
     }},
    {"elements", "narrow_copy",
     [](in s) { return list_of(stretch(s.x(), s.whole("dim", 1), s.whole("start", 2), s.whole("length", 3))); }},
    {"elements", "slice",
     [](in s) {
       return list_of(
           sliced(s.x(), s.whole("dim", 1, 0), or_null(s, "start", 2), or_null(s, "end", 3), s.whole("step", 4, 1)));
     }},
    {"elements", "select_scatter",
     [](in s) {
       const auto axis = s.whole("dim", 2);
       const kg::tensor x = kg::moveaxis(s.x(), axis, 0);
       return list_of(kg::moveaxis(x.at(s.whole("index", 3)).set(s.x(1)), 0, axis));
     }},
    {"elements", "nonzero",
     [](in s) {
       const kg::tensor places = kg::nonzero(s.x());
       return s.truth("as_tuple", 1) ? list_of(kg::unstack(places, 1)) : list_of(places);
     }},
};

}  // namespace

std::span<const call_line> elements_calls() { return lines; }

}  // namespace opinfo
