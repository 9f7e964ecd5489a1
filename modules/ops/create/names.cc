// SPDX-License-Identifier: Apache-2.0
// Typed names of the ops that create or draw elements. Defaults and meanings are those of their rows (docs/ops.md).
module;
#include "kernels/common/abi.h"
export module kerngrad:ops_create;

import :std;
import :core;
import :op;
import :table;
import :tensor;
import :engine;
import :call;

namespace kerngrad::detail {

template <class T>
concept integer = integer_type<T> && !std::is_same_v<T, bool>;
template <integer T>
constexpr bool is_in_int64(T value) {
  return value < 0 || static_cast<std::uint64_t>(value) < std::uint64_t{1} << 63;
}
// Integers of this size are in int64, and not all of them doubles.
template <integer T>
constexpr bool is_beyond_doubles(T value) {
  constexpr std::int64_t most = std::int64_t{1} << 53;
  const auto same = static_cast<std::int64_t>(value);
  return is_in_int64(value) && (same > most || same < -most);
}

inline tensor int64_number(std::int64_t value) { return tensor(std::vector{value}, shape{}); }
// `arange` of int64, of which a double would round something.
tensor whole_numbers(std::int64_t start, std::int64_t stop, std::int64_t step);

}  // namespace kerngrad::detail

export namespace kerngrad {

/// A tensor of shape `dims` with one value everywhere. An integer dtype drops the fraction. Throws for a number out of
/// the range of an integer dtype.
inline tensor full(const shape& dims, double value, dtype type = dtype::float32) {
  return call<"Fill">(attr<"shape">(dims), attr<"value">(value), attr<"dtype">(type));
}
/// A tensor of shape `dims` with one integer everywhere. int64 holds every integer exactly, also those above 2^53. The
/// rest is as for `full` with a floating-point value.
template <detail::integer T>
tensor full(const shape& dims, T value, dtype type = dtype::float32) {
  if (type != dtype::int64 || !detail::is_beyond_doubles(value)) return full(dims, static_cast<double>(value), type);
  return call<"BroadcastTo">(detail::int64_number(static_cast<std::int64_t>(value)), attr<"shape">(dims));
}
/// A tensor of shape `dims` with zeros; in a text dtype, with empty strings.
inline tensor zeros(const shape& dims, dtype type = dtype::float32) { return full(dims, 0.0, type); }
/// A tensor of shape `dims` with ones.
inline tensor ones(const shape& dims, dtype type = dtype::float32) { return full(dims, 1.0, type); }
/// A tensor with one value everywhere and the shape of x. Its dtype is that of x unless you give one. An integer dtype
/// drops the fraction.
template <class T>
  requires number<T>
tensor full_like(const tensor& x, T value, std::optional<dtype> type = {}) {
  return full(x.dims(), value, type ? *type : x.type());
}
/// The numbers start, start + step, ... before stop. The result is a vector of float32 unless you give a dtype. It is
/// empty if the step leads away from stop. Element i is start + i * step, rounded once. Throws for a step of 0 and for
/// bounds that the dtype cannot hold.
inline tensor arange(double start, double stop, double step = 1, dtype type = dtype::float32) {
  const double end = step == 1 && stop < start ? start : stop;  // by itself the op would count down
  return call<"Range">(attr<"start">(start), attr<"stop">(end), attr<"step">(step), attr<"dtype">(type));
}
/// The numbers start, start + step, ... before stop, for integer bounds and steps. With int64 the numbers are exact,
/// also above 2^53. The rest is as for `arange` with floating-point bounds.
template <detail::integer A, detail::integer B, detail::integer C = int>
tensor arange(A start, B stop, C step = 1, dtype type = dtype::float32) {
  const bool rounded =
      detail::is_beyond_doubles(start) || detail::is_beyond_doubles(stop) || detail::is_beyond_doubles(step);
  const bool kept = detail::is_in_int64(start) && detail::is_in_int64(stop) && detail::is_in_int64(step);
  if (type == dtype::int64 && rounded && kept)
    return detail::whole_numbers(static_cast<std::int64_t>(start), static_cast<std::int64_t>(stop),
                                 static_cast<std::int64_t>(step));
  return arange(static_cast<double>(start), static_cast<double>(stop), static_cast<double>(step), type);
}
/// The numbers 0, 1, ... before stop: a vector of float32 unless you give a dtype.
inline tensor arange(double stop, dtype type = dtype::float32) { return arange(0, stop, 1, type); }
/// `count` evenly spaced numbers from start to stop, both included. The dtype is floating. Throws for a count below 0
/// and for ends that the dtype cannot hold.
inline tensor linspace(double start, double stop, std::int64_t count, dtype type = dtype::float32) {
  return call<"LinSpace">(attr<"start">(start), attr<"stop">(stop), attr<"num">(count), attr<"dtype">(type));
}
/// Uniform random numbers in [low, high). Equal bounds give that number. Floats, or int32 with whole bounds. Throws if
/// low is above high. The same seed gives bitwise identical results on every CPU target.
inline tensor random_uniform(const shape& dims, double low, double high, std::int64_t seed,
                             dtype type = dtype::float32) {
  return call<"RandomUniform">(attr<"shape">(dims), attr<"low">(low), attr<"high">(high), attr<"seed">(seed),
                               attr<"dtype">(type));
}
/// Normal random numbers of floating dtypes. Throws for a standard deviation below 0. The same seed gives bitwise
/// identical results on every CPU target.
inline tensor random_normal(const shape& dims, double mean, double stddev, std::int64_t seed,
                            dtype type = dtype::float32) {
  return call<"RandomNormal">(attr<"shape">(dims), attr<"mean">(mean), attr<"stddev">(stddev), attr<"seed">(seed),
                              attr<"dtype">(type));
}
/// Samples categorical distributions: `samples` int32 outcomes for each row of `logits`. Logits [rows, outcomes] give
/// [rows, samples], logits [outcomes] give [samples]. Rows are logarithms of weights, or weights if `normalized`;
/// weights need not add up to 1. A logit of -infinity never occurs. The same seed gives the same outcomes on every CPU
/// target. Throws for fewer than 2 outcomes, NaN, a logit of +infinity, a negative weight, and a row without a positive
/// weight. No gradient.
inline tensor multinomial(const tensor& logits, std::int64_t samples, double seed, bool normalized = false) {
  const bool one_row = logits.dims().rank() == 1;
  const tensor rows = one_row ? call<"ExpandDims">(logits) : logits;
  const tensor drawn =
      call<"Multinomial">(rows, attr<"numSamples">(samples), attr<"seed">(seed), attr<"normalized">(normalized));
  return one_row ? call<"Reshape">(drawn, attr<"shape">(shape{samples})) : drawn;
}

}  // namespace kerngrad
