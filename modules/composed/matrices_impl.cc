// SPDX-License-Identifier: Apache-2.0
module;
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>
#include "kernels/common/abi.h"
#include "kernels/common/sizes.h"
module kerngrad;

import :composed_checks;
import :composed_scaling;

namespace kerngrad {

using detail::axis_bits;
using detail::composed;
using detail::shaped;
using sizes_of = std::vector<std::int64_t>;

// ------------------------------------------------------------------------------------------ products

namespace {
// By reshape, so that a program with products carries no other op for vectors.
tensor row_of_vector(const tensor& v) { return reshape(v, {1, v.size()}); }
tensor column_of_vector(const tensor& v) { return reshape(v, {v.size(), 1}); }
}  // namespace

tensor dot(const tensor& t1, const tensor& t2) {
  constexpr composed call{"dot"};
  call.numbers("t1", t1);
  call.numbers("t2", t2);
  call.rank("t1", t1, 1, 2);
  call.rank("t2", t2, 1, 2);
  const std::int64_t inner = t1.dims()[t1.rank() - 1];
  if (inner != t2.dims()[0]) call.refuse(shaped("t1", t1) + " and " + shaped("t2", t2), "equal inner sizes");
  const tensor a = t1.rank() == 1 ? row_of_vector(t1) : t1, b = t2.rank() == 1 ? column_of_vector(t2) : t2;
  sizes_of sizes;
  if (t1.rank() == 2) sizes.push_back(t1.dims()[0]);
  if (t2.rank() == 2) sizes.push_back(t2.dims()[1]);
  return reshape(matmul(a, b), shape(sizes));
}

tensor detail::product_with_vector(const tensor& a, const tensor& b, bool transpose_a, bool transpose_b) {
  constexpr composed call{"matmul"};
  const bool row = a.rank() == 1, column = b.rank() == 1;
  if ((row && transpose_a) || (column && transpose_b))
    call.refuse("a vector that is to be transposed", "a matrix", "leave the transposition out");
  if (a.rank() == 0 || b.rank() == 0) call.refuse(shaped("a", a) + " and " + shaped("b", b), "ranks of 1 or more");
  const tensor y = matmul(row ? row_of_vector(a) : a, column ? column_of_vector(b) : b, transpose_a, transpose_b);
  sizes_of sizes(y.dims().begin(), y.dims().end());
  if (column) sizes.pop_back();
  if (row) sizes.erase(sizes.end() - (column ? 1 : 2));
  return reshape(y, shape(sizes));
}

tensor outer(const tensor& a, const tensor& b) { return outer_product(flatten(a), flatten(b)); }

tensor outer_product(const tensor& v1, const tensor& v2) {
  constexpr composed call{"outer_product"};
  call.rank("v1", v1, 1, 1);
  call.rank("v2", v2, 1, 1);
  return expand_dims(v1, 1) * expand_dims(v2, 0);
}

namespace {

// The diagonals of the last two axes' matrices, `offset` columns right of the main one.
tensor last_diagonal(const tensor& x, std::int64_t offset) {
  const std::int64_t rows = x.dims()[x.rank() - 2], columns = x.dims()[x.rank() - 1];
  const std::int64_t right = std::clamp<std::int64_t>(offset, 0, columns),
                     down = -std::clamp(offset, -rows, std::int64_t{0});
  const std::int64_t length = std::min(rows - down, columns - right);
  sizes_of sizes(x.dims().begin(), x.dims().end() - 2);
  sizes.push_back(kernels::product_of(rows, columns));
  // Every (columns + 1)-th element of the matrix as one row, up to the last of the diagonal.
  const std::int64_t first = down * columns + right, end = length ? first + (length - 1) * (columns + 1) + 1 : first;
  const tensor flat = reshape(x, shape(sizes));
  const std::uint32_t first_axis_is_all = 1;
  return strided_slice(flat, {0, first}, {0, end}, {1, columns + 1}, {.ellipsis = first_axis_is_all});
}

// t where an element of a matrix of x's last two axes lies at most `offset` above the main diagonal, else e.
tensor up_to_diagonal(const tensor& x, std::int64_t offset, const tensor& t, const tensor& e) {
  const std::int64_t rows = x.dims()[x.rank() - 2], columns = x.dims()[x.rank() - 1];
  return where(detail::columns_less_rows(rows, columns) <= std::clamp(offset, -rows, columns), t, e);
}

}  // namespace

tensor trace(const tensor& x) {
  constexpr composed call{"trace"};
  call.rank("x", x, 2);
  return sum(last_diagonal(x, 0), -1);
}

tensor diagonal(const tensor& x, std::int64_t offset, axis_index rows, axis_index columns) {
  constexpr composed call{"diagonal"};
  call.rank("x", x, 2);
  const int row_axis = call.axis(rows.value(), x.rank()), column_axis = call.axis(columns.value(), x.rank());
  if (row_axis == column_axis) call.refuse("axis " + std::to_string(row_axis) + " for rows and columns", "two axes");
  return last_diagonal(moveaxis(x, {row_axis, column_axis}, {-2, -1}), offset);
}

tensor tril(const tensor& x, std::int64_t offset) {
  constexpr composed call{"tril"};
  call.rank("x", x, 2);
  call.numbers("x", x);
  return up_to_diagonal(x, offset, x, zeros({}, x.type()));
}

tensor triu(const tensor& x, std::int64_t offset) {
  constexpr composed call{"triu"};
  call.rank("x", x, 2);
  call.numbers("x", x);
  const std::int64_t below = offset == std::numeric_limits<std::int64_t>::min() ? offset : offset - 1;
  return up_to_diagonal(x, below, zeros({}, x.type()), x);
}

// ------------------------------------------------------------------------------------------ norms

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

// The root of the sum of squares. Integers are computed in float32; of complex numbers the magnitudes count.
tensor root_of_squares(const tensor& x, const axes& over) {
  const tensor floats = (integral | boolean_only).has(x.type()) ? cast(x, dtype::float32) : x;
  return root_of(squares_of(detail::is_complex(x) ? complex_abs(floats) : floats, over, detail::sum_of_squares));
}

// Magnitudes that are added up and compared: of integers in float64, which has the magnitude of the least one, and
// whose sums do not wrap.
tensor magnitudes(const tensor& x) {
  return abs((integral | boolean_only).has(x.type()) ? cast(x, dtype::float64) : x);
}

[[noreturn]] void refuse_order(const composed& call, const norm_order& order, std::string_view of,
                               std::string_view wanted) {
  const attr_value value = order.name().empty() ? attr_value(order.number()) : attr_value(order.name());
  call.refuse("order " + to_string(value) + " for " + std::string(of), wanted);
}

// The greatest or the least value over axes, `reduced` as bits. Throws where there is none.
tensor extreme(const composed& call, const tensor& values, bool greatest, const axes& over, axis_bits reduced) {
  const tensor kept = greatest ? max(values, over, true) : min(values, over, true);
  if (kept.size() > 0 && call.elements_of(reduced, values.dims()) == 0)
    call.refuse(greatest ? "the greatest of no elements" : "the least of no elements", "an axis of size 1 or more",
                "test the size first");
  return kept;
}

// The p-th root of the sum of p-th powers. Powers are taken of shares of the greatest magnitude, so that they stay in
// range; the norm does not depend on that number, which therefore needs no gradient.
tensor power_norm(const composed& call, const tensor& x, double p, const axes& over, axis_bits reduced) {
  const tensor all = magnitudes(x);
  if (call.elements_of(reduced, x.dims()) == 0) return sum(all, over, true);
  const tensor greatest = detach(max(all, over, true));
  const tensor unit = where(logical_and(greatest > 0, is_finite(greatest)), greatest, ones_like(greatest));
  // The derivative of a power below 1 is infinite at 0. Zeros are constants, so that their gradient is 0.
  const tensor zero = all == 0;
  const tensor powers = pow(where(zero, ones_like(all), all / unit), p);
  const tensor total = sum(where(zero, full_like(all, p > 0 ? 0 : infinite), powers), over, true);
  const tensor none = total == 0;
  const tensor of_none = full_like(total, p > 0 ? 0 : infinite);
  return where(none, of_none, unit * pow(where(none, ones_like(total), total), 1 / p));
}

tensor vector_norm(const composed& call, const tensor& x, const norm_order& order, const axes& over,
                   axis_bits reduced) {
  const double p = order.number();
  if (order.name() == "euclidean" || (order.name().empty() && p == 2)) return root_of_squares(x, over);
  if (order.name().empty() && p == 1) return sum(magnitudes(x), over, true);
  if (order.name().empty() && (p == infinite || p == -infinite))
    return extreme(call, magnitudes(x), p > 0, over, reduced);
  if (!order.name().empty() || std::isnan(p)) refuse_order(call, order, "vectors", "\"euclidean\" or a number");
  if (p == 0) return sum(cast(cast(x, dtype::boolean), magnitudes(x).type()), over, true);
  return power_norm(call, x, p, over, reduced);
}

tensor matrix_norm(const composed& call, const tensor& x, const norm_order& order, int rows, int columns) {
  const double p = order.number();
  if (order.name() == "euclidean" || order.name() == "fro") return root_of_squares(x, {rows, columns});
  if (!order.name().empty() || (p != 1 && p != infinite && p != -infinite))
    refuse_order(call, order, "matrices", "\"euclidean\", \"fro\", 1, infinity or -infinity");
  const int added = p == 1 ? rows : columns, compared = p == 1 ? columns : rows;
  return extreme(call, sum(magnitudes(x), added, true), p > 0, compared, axis_bits{1} << compared);
}

// Halves are computed in float32 and rounded once.
tensor norm_of(const composed& call, const tensor& operand, const norm_order& order, const axes& over, bool keep_dims) {
  call.numbers("x", operand);
  const tensor x = detail::widened(operand);
  const attr_value& value = over.value();
  if (x.rank() == 0 && !value.given()) return detail::narrowed(magnitudes(x), operand.type());
  const axis_bits reduced = call.axes_of(over, x.rank());  // distinct
  const std::size_t count = value.kind() == attr_kind::list ? value.as_list().size() : 1;
  const bool as_vector = !value.given() || count == 1;
  if (!as_vector && count != 2)
    call.refuse(std::to_string(count) + " axes", "one for vectors, two for matrices, or none for all elements");
  tensor y;
  if (as_vector) y = vector_norm(call, x, order, over, reduced);
  else {
    const std::span<const std::int64_t> named = value.as_list();
    y = matrix_norm(call, x, order, call.axis(named[0], x.rank()), call.axis(named[1], x.rank()));
  }
  return detail::narrowed(keep_dims ? y : squeeze(y, over), operand.type());
}

}  // namespace

tensor norm(const tensor& x, norm_order order, const axes& over, bool keep_dims) {
  return norm_of(composed{"norm"}, x, order, over, keep_dims);
}
tensor euclidean_norm(const tensor& x, const axes& over, bool keep_dims) {
  return norm_of(composed{"euclidean_norm"}, x, "euclidean", over, keep_dims);
}

// ------------------------------------------------------------------------------------------ counts

tensor confusion_matrix(const tensor& labels, const tensor& predictions, std::int64_t classes) {
  constexpr composed call{"confusion_matrix"};
  call.rank("labels", labels, 1, 1);
  call.rank("predictions", predictions, 1, 1);
  call.one_shape("labels", labels, "predictions", predictions);
  call.real("labels", labels);
  call.real("predictions", predictions);
  constexpr std::int64_t most = 46340;  // the square is an int32
  if (classes < 1 || classes > most) call.refuse(std::to_string(classes) + " classes", "1 to 46340");
  if (labels.size() > std::numeric_limits<std::int32_t>::max())
    call.refuse(std::to_string(labels.size()) + " labels, counted in int32", "at most 2^31 - 1", "count parts of them");
  for (const auto& [name, numbers] : {std::pair("labels", &labels), std::pair("predictions", &predictions)})
    if (floating.has(numbers->type()) && any(is_nan(*numbers)).item() != 0)
      call.refuse("NaN among " + std::string(name), "numbers of classes", "leave such elements out");
  const tensor row = cast(labels, dtype::int64), column = cast(predictions, dtype::int64);
  const auto counted = [&](const tensor& number) { return logical_and(number >= 0, number < classes); };
  const tensor cell = where(logical_and(counted(row), counted(column)), row * classes + column,
                            tensor(std::int64_t{-1}));  // which no segment has
  const std::int64_t cells = kernels::product_of(classes, classes);
  const tensor counts = segment_sum(ones(labels.dims(), dtype::int32), cell, cells);
  return reshape(counts, {classes, classes});
}

// ------------------------------------------------------------------------------------------ bases

tensor_list gram_schmidt(std::span<const tensor> xs) {
  constexpr composed call{"gram_schmidt"};
  if (xs.empty()) call.refuse("no vectors", "at least one");
  for (std::size_t i = 0; i < xs.size(); ++i) {
    const std::string operand = "xs[" + std::to_string(i) + "]";
    call.rank(operand, xs[i], 1, 1);
    call.floating(operand, xs[i]);
    call.one_shape("xs[0]", xs[0], operand, xs[i]);
  }
  if (static_cast<std::int64_t>(xs.size()) > xs[0].size())
    call.refuse(std::to_string(xs.size()) + " vectors of " + std::to_string(xs[0].size()) + " elements",
                "at most as many vectors as elements");
  tensor_list basis;
  for (const tensor& vector : xs) {
    tensor x = detail::in_square_units(detail::widened(vector), all_axes).x;  // which span the same
    for (const tensor& y : basis) x = x - sum(y * x) * y;
    basis.push_back(x / root_of_squares(x, all_axes));
  }
  tensor_list results;
  for (int i = 0; i < basis.size(); ++i)
    results.push_back(detail::narrowed(basis[i], xs[static_cast<std::size_t>(i)].type()));
  return results;
}

tensor gram_schmidt(const tensor& xs) {
  constexpr composed call{"gram_schmidt"};
  call.rank("xs", xs, 2, 2);
  if (xs.dims()[0] == 0) call.refuse("no vectors", "at least one");
  const tensor_list rows = unstack(xs);
  const tensor_list basis = gram_schmidt(std::span<const tensor>(rows.begin(), rows.end()));
  return stack(std::span<const tensor>(basis.begin(), basis.end()));
}

// ------------------------------------------------------------------------------------------ decompositions

namespace {

// Rows [row, row + rows) and columns [column, column + columns) of each matrix in the last two axes.
tensor block(const tensor& x, std::int64_t row, std::int64_t column, std::int64_t rows, std::int64_t columns) {
  sizes_of begin(static_cast<std::size_t>(x.rank()), 0), size(x.dims().begin(), x.dims().end());
  begin.end()[-2] = row, begin.end()[-1] = column;
  size.end()[-2] = rows, size.end()[-1] = columns;
  return slice(x, begin, size);
}

// The reflection I - tau * w * w' that turns a column into a multiple of (1, 0, 0, ...); w begins with 1.
struct reflection {
  tensor tau, w;
};

// The sign is that of the sum which does not cancel. A column of zeros stays: tau is 0. The reflection of a multiple of
// a column is that of the column.
reflection reflection_of(const tensor& numbers, std::int64_t count) {
  const tensor column = detail::in_square_units(numbers, -2).x;
  const tensor squares = sum(square(column), -2, true), one = ones_like(squares);
  const tensor nothing = squares == 0;
  const tensor length = sqrt(where(nothing, one, squares)), first = block(column, 0, 0, 1, 1);
  const tensor sign = where(first > 0, neg(one), one);
  const tensor pivot = where(nothing, one, first - sign * length);
  const tensor tau = where(nothing, zeros_like(one), neg(sign * pivot / length));
  if (count == 1) return {tau, one};
  return {tau, concat({one, block(column, 1, 0, count - 1, 1) / pivot}, -2)};
}

// The first columns of the product of reflections. From the last one on each acts on the rows and columns that later
// ones have changed, and one more; no more than these columns are ever held.
tensor product_of(std::span<const reflection> reflections, std::int64_t rows, std::int64_t columns, dtype type,
                  const shape& batch) {
  std::int64_t j = std::ssize(reflections);
  tensor q = eye(rows - j, columns - j, 0, type, batch);
  while (j-- > 0) {
    check_stop("qr");
    sizes_of row_before(static_cast<std::size_t>(2 * q.rank()), 0);
    row_before.end()[-4] = 1;
    const tensor from = concat({eye(rows - j, 1, 0, type, batch), pad(q, row_before)}, -1);
    const reflection& next = reflections[static_cast<std::size_t>(j)];
    q = from - matmul(next.tau * next.w, matmul(next.w, from, true));
  }
  return q;
}

}  // namespace

qr_parts qr(const tensor& x, bool full_matrices) {
  constexpr composed call{"qr"};
  call.rank("x", x, 2);
  call.floating("x", x);
  if (halves.has(x.type())) {
    const auto [q, r] = qr(detail::widened(x), full_matrices);
    return {detail::narrowed(q, x.type()), detail::narrowed(r, x.type())};
  }
  const std::int64_t m = x.dims()[x.rank() - 2], n = x.dims()[x.rank() - 1], steps = std::min(m, n);
  const shape batch(x.dims().dims().first(static_cast<std::size_t>(x.rank() - 2)));
  const auto [scaled, unit] = detail::in_product_units(x, {-2, -1});
  tensor r = scaled;
  std::vector<reflection> reflections;
  for (std::int64_t j = 0; j < steps; ++j) {
    check_stop("qr");
    const auto [tau, w] = reflections.emplace_back(reflection_of(block(r, j, j, m - j, 1), m - j));
    const tensor below = block(r, j, 0, m - j, n);
    const tensor turned = below - matmul(tau * w, matmul(w, below, true));
    r = j == 0 ? turned : concat({block(r, 0, 0, j, n), turned}, -2);
  }
  // Below the diagonal the reflections leave rounding.
  r = detail::times_unit(band_part(r, 0, -1), unit);
  const bool whole = full_matrices || m <= n;
  return {product_of(reflections, m, whole ? m : n, x.type(), batch), whole ? r : block(r, 0, 0, n, n)};
}

}  // namespace kerngrad
