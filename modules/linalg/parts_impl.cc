// SPDX-License-Identifier: Apache-2.0
// Checks of operands and the axes of stacks.
module;
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>
#include "kernels/common/abi.h"
#include "modules/linalg/lapack.h"
module kerngrad.linalg;

#include "modules/linalg/parts.h"

namespace kerngrad::linalg::detail {

void function::refuse(std::string_view got, std::string_view wanted, std::string_view advice) const {
  fail("kg::linalg::" + std::string(name), got, wanted, advice);
}

std::string shaped(std::string_view operand, const tensor& x) {
  return "operand " + std::string(operand) + " of shape " + to_string(x.dims());
}

tensor function::numbers(std::string_view operand, const tensor& x) const {
  if (!x.defined()) refuse("operand " + std::string(operand) + ", an undefined tensor", "a tensor");
  if ((integral | boolean_only).has(x.type())) return cast(x, dtype::float64);
  if (!lapack_dtypes.has(x.type()))
    refuse("operand " + std::string(operand) + " of dtype " + std::string(name_of(x.type())),
           "float32, float64, complex64, complex128, an integer dtype or bool", "cast it");
  return x;
}

void function::numbers(tensor& a, std::string_view a_name, tensor& b, std::string_view b_name) const {
  a = numbers(a_name, a), b = numbers(b_name, b);
  const dtype both = promote(a.type(), b.type());
  a = cast(a, both), b = cast(b, both);
}

void function::matrices(std::string_view operand, const tensor& x) const {
  if (x.rank() < 2) refuse(shaped(operand, x), "rank 2 or more: matrices in the last two axes");
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (rows_of(x.dims()) > most || columns_of(x.dims()) > most)
    refuse(shaped(operand, x), "matrices with at most 2^31 - 1 rows and columns, which LAPACK can count");
}

void function::square(std::string_view operand, const tensor& x) const {
  matrices(operand, x);
  if (rows_of(x.dims()) != columns_of(x.dims())) refuse(shaped(operand, x), "square matrices");
}

void function::right_side(const tensor& a, std::int64_t rows, const tensor& b) const {
  if (b.rank() == 0) refuse(shaped("b", b), "a vector or matrices");
  if (b.rank() > 1) matrices("b", b);
  const bool vector = b.rank() == 1;
  if ((vector ? b.dims()[0] : rows_of(b.dims())) != rows)
    refuse(shaped("a", a) + " and " + shaped("b", b), "as many rows in b as a has equations, " + std::to_string(rows));
  if (!vector && !broadcast(batch_of(a.dims()), batch_of(b.dims())))
    refuse(shaped("a", a) + " and " + shaped("b", b), "batch axes that broadcast");
}

void function::passed(const tensor& info, std::string_view the_matrix, std::string_view pivot_is,
                      std::string_view wanted, std::string_view advice) const {
  const std::span<const std::int32_t> all = info.data<std::int32_t>();
  std::int32_t any = 0;  // without an early end, so that the compiler can use vectors
  for (const std::int32_t at : all) any |= at;
  if (any == 0) return;
  const auto first = std::ranges::find_if(all, [](std::int32_t at) { return at != 0; });
  std::string where;
  if (std::int64_t flat = first - all.begin(); info.rank() > 0) {
    std::vector<std::int64_t> index(info.dims().begin(), info.dims().end());
    for (std::size_t axis = index.size(); axis-- > 0;) {
      const std::int64_t size = index[axis];
      index[axis] = flat % size, flat /= size;
    }
    where = " at batch index " + to_string(shape(index));
  }
  refuse(std::string(the_matrix) + where + ": pivot " + std::to_string(*first - 1) + " " + std::string(pivot_is),
         wanted, advice);
}

shape with_axes(const shape& batch, std::initializer_list<std::int64_t> more) {
  std::vector<std::int64_t> sizes(batch.begin(), batch.end());
  sizes.insert(sizes.end(), more.begin(), more.end());
  return shape(sizes);
}

std::int64_t matrix_at(const shape& operand_batch, const shape& batch, std::int64_t i) {
  std::int64_t at = 0, stride = 1;
  for (int axis = batch.rank() - 1, own = operand_batch.rank() - 1; own >= 0; --axis, --own) {
    const std::int64_t index = i % batch[axis];
    i /= batch[axis];
    if (operand_batch[own] != 1) at += index * stride;
    stride *= operand_batch[own];
  }
  return at;
}

shape common_batch(const inference& call, const shape& a, const shape& b) {
  const std::optional<shape> both = broadcast(batch_of(a), batch_of(b));
  if (!both) call.refuse("shapes " + to_string(a) + " and " + to_string(b), "batch axes that broadcast");
  return *both;
}

tensor like_right_side(const tensor& x, const tensor& b) { return b.rank() == 1 ? squeeze(x, {-1}) : x; }

namespace {

// Calls f with a zero of the type of x's parts.
template <class F>
auto with_part_type(const tensor& x, F f) {
  return part_type(x.type()) == dtype::float64 ? f(double{}) : f(float{});
}

// Exponent of the least unit, which is normal and has an inverse in range.
template <class T> constexpr int least_unit = std::numeric_limits<T>::min_exponent - 1;
// Numbers from 2^-near to 2^(near + 1) stay as they are. LAPACK's results are then those at another power of two.
// Farther from 1 LAPACK scales by numbers that are no powers of two, and chooses another order of eigenvalues.
constexpr int near = 20;
// Largest exponent whose sums, and the growth of pivots, stay in range.
template <class T> constexpr int most_of_sums = std::numeric_limits<T>::max_exponent - 24;

// The unit nearest to 1 in which a number has an exponent in these bounds; 1 for 0, infinity and NaN.
template <class T>
T unit_of(T number, int least, int most) {
  if (!(number > 0) || number > std::numeric_limits<T>::max()) return 1;
  const int exponent = std::ilogb(number);
  return std::ldexp(T(1), std::max(exponent - std::clamp(exponent, least, most), least_unit<T>));
}

// Units by unit(largest element) of each matrix; undefined if all are 1.
template <class F>
tensor units_of(const tensor& x, F unit) {
  const tensor given = stop_gradient(x);
  const tensor sizes = complex_only.has(x.type()) ? maximum(abs(real(given)), abs(imag(given))) : abs(given);
  const tensor most = max(sizes, {-2, -1}, true);
  bool all_one = true;
  const tensor found = with_part_type(x, [&](auto zero) {
    using T = decltype(zero);
    const std::span<const T> from = most.data<T>();
    return tensor::build<T>(most.dims(), [&](std::span<T> to) {
      for (std::size_t i = 0; i < to.size(); ++i) to[i] = unit(from[i]), all_one = all_one && to[i] == 1;
    });
  });
  return all_one ? tensor() : found;
}

template <class T>
bool has_large(std::span<const T> all) {
  const part_of<T> most = std::ldexp(part_of<T>(1), most_of_sums<part_of<T>>);
  bool large = false;  // without an early end, so that the compiler can use vectors
  for (const T& v : all) {
    if constexpr (is_complex<T>) large |= std::max(std::abs(v.real()), std::abs(v.imag())) > most;
    else large |= std::abs(v) > most;
  }
  return large;
}

}  // namespace

in_units in_matrix_units(const tensor& x) {
  if (x.size() == 0) return {x, {}};
  const tensor unit = units_of(x, [](auto number) { return unit_of(number, -near, near); });
  return {over_unit(x, unit), unit};
}

in_units in_sum_units(const tensor& x) {
  const bool large = with_part_type(x, [&](auto zero) {
    using T = decltype(zero);
    return complex_only.has(x.type()) ? has_large(x.data<std::complex<T>>()) : has_large(x.data<T>());
  });
  if (!large) return {x, {}};
  const tensor unit = units_of(x, [](auto number) {
    using T = decltype(number);
    return unit_of(number, std::numeric_limits<T>::min_exponent * 2, most_of_sums<T>);
  });
  if (!unit.defined()) return {x, {}};
  // Matrices with elements that would round, because these are so small, stay as they are.
  const tensor given = stop_gradient(x), exact = all(over_unit(given, unit) * unit == given, {-2, -1}, true);
  const tensor exact_unit = where(exact, unit, ones_like(unit));
  return {over_unit(x, exact_unit), exact_unit};
}

tensor times_unit(const tensor& y, const tensor& unit) { return unit.defined() ? y * unit : y; }
tensor values_times_unit(const tensor& values, const tensor& unit) {
  return unit.defined() ? values * squeeze(unit, {-1}) : values;
}
// The inverse of a power of two is exact.
tensor over_unit(const tensor& y, const tensor& unit) { return unit.defined() ? y * (1 / unit) : y; }

tensor identities(const tensor& like) {
  const std::int64_t n = columns_of(like.dims());
  return broadcast_to(eye(n, n, 0, like.type()), like.dims());
}

}  // namespace kerngrad::linalg::detail
