// SPDX-License-Identifier: Apache-2.0
// Linear filters: an op for one filter along the last axis, whose gradient is the filter of the reversed signal.
module;
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>
#include "kernels/common/abi.h"
#include "kernels/common/scratch.h"
#include "kernels/common/sizes.h"
module kerngrad;

import :composed_checks;
import :composed_last_axis;
import :tape;

namespace kerngrad {

using detail::composed;
using detail::last_axis_part;
using detail::shaped;

// ------------------------------------------------------------------------------------------ the op

namespace {

constexpr operand filter_operands[] = {
    {"b", wide_floats}, {"a", wide_floats}, {"x", wide_floats}, {"initial", wide_floats}};

void infer_filtered(inference& call) { call.give(call.in[2].dims); }

// w[t] = sum of b[k] x[t - k], the elements before x being 0, for `count` elements from `begin` on.
template <class T>
void add_taps(std::span<const T> b, const T* x, std::int64_t begin, std::int64_t count, double* w) {
  for (std::int64_t k = 0; k < std::ssize(b); ++k) {
    const double tap = b[static_cast<std::size_t>(k)];
    for (std::int64_t t = std::max<std::int64_t>(0, k - begin); t < count; ++t) w[t] += tap * x[begin + t - k];
  }
}

// y[t] = w[t] - sum of a[k] y[t - k] in place; the elements before w are results.
void feed_back(std::span<const double> a, std::int64_t count, double* w) {
  for (std::int64_t t = 0; t < count; ++t)
    for (std::size_t k = 1; k < a.size(); ++k) w[t] -= a[k] * w[t - static_cast<std::int64_t>(k)];
}

// Both for a second-order section. The sums of x wait for no result, so that they cost nothing.
template <class T>
void run_section(std::span<const T> b, std::span<const double> a, const T* x, std::int64_t begin, std::int64_t count,
                 double* w) {
  const double b0 = b[0], b1 = b[1], b2 = b[2], a1 = a[1], a2 = a[2];
  double x1 = begin > 0 ? x[begin - 1] : 0, x2 = begin > 1 ? x[begin - 2] : 0, y1 = w[-1], y2 = w[-2];
  for (std::int64_t t = 0; t < count; ++t) {
    const double x0 = x[begin + t];
    const double y = (w[t] + b0 * x0 + b1 * x1 + b2 * x2 - a2 * y2) - a1 * y1;
    x2 = x1, x1 = x0, y2 = y1, y1 = y, w[t] = y;
  }
}

/// y[t] = sum of b[k] x[t - k] + initial[t] - sum over k > 0 of a[k] y[t - k]; a[0] is not read and stands for 1.
struct LinearFilter {
  static constexpr op_row row{.name = "LinearFilter",
                              .doc = "The linear filter with coefficients b and a along the last axis.",
                              .group = family::window,
                              .operands = filter_operands,
                              .infer = infer_filtered,
                              .cost = 8};

  template <class T>
  static void run(const launch_call& c) {
    const std::span<const T> b = elements_in<T>(c, 0), a = elements_in<T>(c, 1), x = elements_in<T>(c, 2),
                             initial = elements_in<T>(c, 3);
    const std::span<T> y = elements_out<T>(c);
    const shape& dims = c.out[0].dims;
    if (y.empty()) return;
    const std::int64_t n = dims[dims.rank() - 1], rows = dims.size() / n;
    const std::int64_t given = std::ssize(initial) / rows, used = std::min(given, n), before = std::ssize(a) - 1;
    constexpr std::int64_t block = 512;
    kernels::scratch<double> coefficients(before + 1), room(kernels::sum_of(before, block));
    const std::span<const double> feedback(coefficients.data(), a.size());
    std::copy(a.begin(), a.end(), coefficients.data());
    double *const past = room.data(), *const here = past + before;  // results before a block, and the block
    for (std::int64_t row = 0; row < rows; ++row) {
      std::fill_n(past, before, 0.0);
      for (std::int64_t begin = 0; begin < n; begin += block) {
        const std::int64_t count = std::min(block, n - begin);
        if (begin > 0) std::copy_n(past + block, before, past);
        std::fill_n(here, block, 0.0);
        for (std::int64_t t = 0; t < std::min(used - begin, count); ++t)
          here[t] = initial[static_cast<std::size_t>(row * given + begin + t)];
        const T* const from = x.data() + row * n;
        if (b.size() == 3 && a.size() == 3) {
          run_section<T>(b, feedback, from, begin, count, here);
        } else {
          add_taps(b, from, begin, count, here);
          feed_back(feedback, count, here);
        }
        for (std::int64_t t = 0; t < count; ++t)
          y[static_cast<std::size_t>(row * n + begin + t)] = static_cast<T>(here[t]);
      }
    }
  }
  static constexpr auto kernels = on_calls<wide_floats>([]<class T>(const launch_call& c) { run<T>(c); });

  // The adjoint of the feedback: the same filter from the end of the signal.
  static tensor reversed(const tensor& b, const tensor& a, const tensor& dy) {
    std::vector<std::int64_t> none(dy.dims().begin(), dy.dims().end());
    none.back() = 0;
    return reverse(call<LinearFilter>(b, a, reverse(dy, -1), zeros(shape(none), dy.type())), -1);
  }
  template <class C>
  static tensor fed_back(const C& c) {
    return c.template once<0>([&] { return reversed(ones({1}, c.dy().type()), c.in(1), c.dy()); });
  }
  // For each k from `first` on the sum of v[t] z[t - k].
  static tensor correlated(const tensor& v, const tensor& z, std::int64_t first, std::int64_t count) {
    const std::int64_t n = v.dims()[v.rank() - 1];
    tensor_list sums;
    for (std::int64_t k = first; k < count; ++k)
      sums.push_back(k < n ? sum(last_axis_part(v, k, n - k) * last_axis_part(z, 0, n - k)) : zeros({}, v.type()));
    return stack(std::span<const tensor>(sums.begin(), sums.end()));
  }

  static constexpr auto gradient = gradient_of(
      wrt(keep::in1 | keep::in2, [](const auto& c) { return correlated(fed_back(c), c.in(2), 0, c.dims(0)[0]); }),
      wrt(keep::in1 | keep::out0,
          [](const auto& c) {
            const std::int64_t count = c.dims(1)[0];
            const tensor first = zeros({1}, c.dy().type());
            return count == 1 ? first : concat({first, neg(correlated(fed_back(c), c.out(), 1, count))}, 0);
          }),
      wrt(keep::in0 | keep::in1, [](const auto& c) { return reversed(c.in(0), c.in(1), c.dy()); }),
      wrt(keep::in1, [](const auto& c) {
        const shape& initial = c.dims(3);
        return detail::last_axis_resized(fed_back(c), initial[initial.rank() - 1]);
      }));
};

// ------------------------------------------------------------------------------------------ along any axis

dtype filter_type(const composed& call, std::initializer_list<std::pair<std::string_view, const tensor*>> operands) {
  dtype type = dtype::float32;
  for (const auto& [name, x] : operands) {
    if (!x->defined() && name == "initial") continue;
    call.real(name, *x);
    type = promote(type, x->type());
  }
  return detail::spectral_type(type);
}

void check_coefficients(const composed& call, std::string_view name, const tensor& x) {
  call.rank(name, x, 1, 1);
  if (x.size() == 0) call.refuse(shaped(name, x), "one coefficient or more");
}

shape with_last(const shape& dims, std::int64_t last) {
  std::vector<std::int64_t> sizes(dims.begin(), dims.end());
  sizes.back() = last;
  return shape(sizes);
}

// One filter for rows; the state may be undefined.
tensor filtered(const tensor& b, const tensor& a, const tensor& rows, const tensor& initial) {
  return call<LinearFilter>(b, a, rows, initial.defined() ? initial : zeros(with_last(rows.dims(), 0), rows.type()));
}

}  // namespace

namespace {

// [order, order]: element (l, k) is coefficient k + order - l, by which the state's element k gathers element l of the
// last `order` ones, and 0 where k is above l.
tensor coefficients_of_state(const tensor& coefficients, std::int64_t order) {
  std::vector<std::int32_t> indices;
  for (std::int64_t l = 0; l < order; ++l)
    for (std::int64_t k = 0; k < order; ++k)
      indices.push_back(static_cast<std::int32_t>(k <= l ? k + order - l : order + 1));
  const tensor padded = detail::last_axis_resized(coefficients, order + 2);
  return gather(padded, tensor(indices, shape{order, order}));
}

// The state of the direct form II transposed after rows x gave rows y.
tensor state_after(const tensor& b, const tensor& a, const tensor& x, const tensor& y, const tensor& initial) {
  const std::int64_t order = std::max(a.size(), b.size()) - 1, n = x.dims()[x.rank() - 1];
  std::vector<std::int64_t> dims(x.dims().begin(), x.dims().end());
  dims.back() = order;
  const auto last = [&](const tensor& rows) {
    return reshape(detail::last_axis_part(detail::last_axis_padded(rows, order, 0), n, order),
                   {rows.size() / std::max<std::int64_t>(n, 1), order});
  };
  if (order == 0 || x.size() == 0) return initial.defined() ? initial : zeros(shape(dims), x.type());
  const tensor gathered =
      matmul(last(x), coefficients_of_state(b, order)) - matmul(last(y), coefficients_of_state(a, order));
  const tensor state = reshape(gathered, shape(dims));
  if (!initial.defined() || n >= order) return state;
  return state + detail::last_axis_padded(detail::last_axis_part(initial, n, order - n), 0, n);
}

// lfilter by the name of the caller. The state is undefined unless it is wanted.
filtered_signal filtered_along(const composed& call, const tensor& b, const tensor& a, const tensor& x,
                               const filter_options& options, bool with_state) {
  check_coefficients(call, "b", b);
  check_coefficients(call, "a", a);
  call.rank("x", x, 1);
  const dtype type = filter_type(call, {{"b", &b}, {"a", &a}, {"x", &x}, {"initial", &options.initial}});
  const int axis = call.axis(options.axis.value(), x.rank());
  const tensor rows = detail::axis_last(cast(x, type), axis);
  tensor initial;
  if (options.initial.defined()) {
    call.rank("initial", options.initial, x.rank(), x.rank());
    initial = detail::axis_last(cast(options.initial, type), axis);
    const shape wanted = with_last(rows.dims(), std::max(a.size(), b.size()) - 1);
    if (initial.dims() != wanted)
      call.refuse(shaped("initial", options.initial), to_string(wanted) + " with the axis as the last one");
  }
  const tensor head = last_axis_part(cast(a, type), 0, 1), taps = cast(b, type) / head, feedback = cast(a, type) / head;
  const tensor y = filtered(taps, feedback, rows, initial);
  tensor state;
  if (with_state) state = detail::axis_back(state_after(taps, feedback, rows, y, initial), axis);
  return {detail::axis_back(y, axis), state};
}

}  // namespace

tensor lfilter(const tensor& b, const tensor& a, const tensor& x, const filter_options& options) {
  return filtered_along({"lfilter"}, b, a, x, options, false).y;
}
filtered_signal lfilter_with_state(const tensor& b, const tensor& a, const tensor& x, const filter_options& options) {
  return filtered_along({"lfilter_with_state"}, b, a, x, options, true);
}

namespace {

// b and a of each section, divided by the first of a.
struct section {
  tensor b, a;
};
std::vector<section> sections_of(const composed& call, const tensor& sos, dtype type) {
  call.rank("sos", sos, 2, 2);
  if (sos.dims()[1] != 6 || sos.dims()[0] == 0) call.refuse(shaped("sos", sos), "[sections, 6]");
  std::vector<section> all;
  for (std::int64_t i = 0; i < sos.dims()[0]; ++i) {
    const tensor row = cast(reshape(slice(sos, {i, 0}, {1, 6}), {6}), type), head = slice(row, {3}, {1});
    all.push_back({slice(row, {0}, {3}) / head, slice(row, {3}, {3}) / head});
  }
  return all;
}

}  // namespace

namespace {

constexpr operand section_operands[] = {{"sections", wide_floats}, {"x", wide_floats}, {"initial", wide_floats}};
void infer_sections(inference& call) { call.give(call.in[1].dims); }

/// Second-order sections one after the other: b and a of each, a[0] of which is not read and stands for 1. Each element
/// passes all sections before the next one, so that they run side by side in the processor.
struct SectionFilter {
  static constexpr op_row row{.name = "SectionFilter",
                              .doc = "Second-order sections, one after the other, along the last axis.",
                              .group = family::window,
                              .operands = section_operands,
                              .infer = infer_sections,
                              .no_gradient = "a recorded call is a LinearFilter for each section",
                              .cost = 16};

  struct state {
    double b0, b1, b2, a1, a2, x1 = 0, x2 = 0, y1 = 0, y2 = 0;
    // `more` is what the initial state adds to this result.
    double next(double x0, double more) {
      const double y = (more + b0 * x0 + b1 * x1 + b2 * x2 - a2 * y2) - a1 * y1;
      x2 = x1, x1 = x0, y2 = y1, y1 = y;
      return y;
    }
  };
  // Copies of the states are in registers where their number is known.
  template <int Count, class T>
  static void run_block(state* from, const double* initial, std::int64_t begin, std::int64_t count, double* w) {
    state all[Count];
    std::copy_n(from, Count, all);
    std::int64_t t = 0;
    for (; t < std::min<std::int64_t>(2 - begin, count); ++t)
      for (int k = 0; k < Count; ++k) w[t] = all[k].next(w[t], initial ? initial[2 * k + begin + t] : 0);
    for (; t < count; ++t) {
      double value = w[t];
      for (int k = 0; k < Count; ++k) value = all[k].next(value, 0);
      w[t] = value;
    }
    std::copy_n(all, Count, from);
  }
  template <class T>
  static void run(const launch_call& c) {
    const std::span<const T> sections = elements_in<T>(c, 0), x = elements_in<T>(c, 1), initial = elements_in<T>(c, 2);
    const std::span<T> y = elements_out<T>(c);
    const shape& dims = c.out[0].dims;
    if (y.empty()) return;
    const std::int64_t n = dims[dims.rank() - 1], rows = dims.size() / n, count = std::ssize(sections) / 6;
    constexpr std::int64_t block = 512, together = 4;
    kernels::scratch<state> states(count);
    kernels::scratch<double> room(block), begin_of(kernels::product_of(2, count));
    for (std::int64_t row = 0; row < rows; ++row) {
      for (std::int64_t k = 0; k < count; ++k) {
        const T* s = sections.data() + 6 * k;
        states.data()[k] = {s[0], s[1], s[2], s[4], s[5]};
        for (int i = 0; i < 2 && !initial.empty(); ++i)
          begin_of.data()[2 * k + i] = initial[static_cast<std::size_t>((k * rows + row) * 2 + i)];
      }
      for (std::int64_t begin = 0; begin < n; begin += block) {
        const std::int64_t size = std::min(block, n - begin);
        std::copy_n(x.data() + row * n + begin, size, room.data());
        for (std::int64_t k = 0; k < count; k += together) {
          state* const at = states.data() + k;
          const double* const more = initial.empty() ? nullptr : begin_of.data() + 2 * k;
          const std::int64_t left = std::min(count - k, together);
          const auto run_some = left == 1   ? run_block<1, T>
                                : left == 2 ? run_block<2, T>
                                : left == 3 ? run_block<3, T>
                                            : run_block<4, T>;
          run_some(at, more, begin, size, room.data());
        }
        for (std::int64_t t = 0; t < size; ++t)
          y[static_cast<std::size_t>(row * n + begin + t)] = static_cast<T>(room.data()[t]);
      }
    }
  }
  static constexpr auto kernels = on_calls<wide_floats>([]<class T>(const launch_call& c) { run<T>(c); });
};

// Rows by all sections; the states may be undefined.
tensor in_sections(std::span<const section> sections, tensor rows, const tensor& states) {
  if (!detail::recording_now()) {
    tensor_list all;
    for (const section& each : sections) all.push_back(concat({each.b, each.a}, 0));
    const tensor initial = states.defined() ? states : zeros({0}, rows.type());
    return call<SectionFilter>(stack(std::span<const tensor>(all.begin(), all.end())), rows, initial);
  }
  for (std::size_t i = 0; i < sections.size(); ++i) {
    tensor state;
    if (states.defined()) state = gather(states, tensor(static_cast<std::int64_t>(i)), 0);
    rows = filtered(sections[i].b, sections[i].a, rows, state);
  }
  return rows;
}

// sosfilt by the name of the caller.
filtered_signal filtered_by_sections(const composed& call, const tensor& sos, const tensor& x,
                                     const filter_options& options, bool with_state) {
  call.rank("x", x, 1, max_rank - 1);
  const dtype type = filter_type(call, {{"sos", &sos}, {"x", &x}, {"initial", &options.initial}});
  const int axis = call.axis(options.axis.value(), x.rank());
  const std::vector<section> sections = sections_of(call, sos, type);
  tensor rows = detail::axis_last(cast(x, type), axis), states = options.initial;
  const shape wanted = with_last(rows.dims(), 2);
  if (states.defined()) {
    call.rank("initial", states, x.rank() + 1, x.rank() + 1);
    states = detail::axis_last(cast(states, type), axis + 1);
    std::vector<std::int64_t> all(wanted.begin(), wanted.end());
    all.insert(all.begin(), std::ssize(sections));
    if (states.dims() != shape(all))
      call.refuse(shaped("initial", options.initial), to_string(shape(all)) + " with the axis as the last one");
  }
  if (!with_state) return {detail::axis_back(in_sections(sections, rows, states), axis), {}};
  std::vector<tensor> after;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    const auto& [b, a] = sections[i];
    tensor state;
    if (states.defined()) state = gather(states, tensor(static_cast<std::int64_t>(i)), 0);
    const tensor y = filtered(b, a, rows, state);
    after.push_back(detail::axis_back(state_after(b, a, rows, y, state), axis));
    rows = y;
  }
  return {detail::axis_back(rows, axis), stack(after)};
}

}  // namespace

tensor sosfilt(const tensor& sos, const tensor& x, const filter_options& options) {
  return filtered_by_sections({"sosfilt"}, sos, x, options, false).y;
}
filtered_signal sosfilt_with_state(const tensor& sos, const tensor& x, const filter_options& options) {
  return filtered_by_sections({"sosfilt_with_state"}, sos, x, options, true);
}

// ------------------------------------------------------------------------------------------ forward and backward

namespace {

// The state of a filter after ones for ever, divided by the first element: each state is what the sum of the later
// coefficients, b - a * gain, has gathered.
tensor steady_state(const tensor& b, const tensor& a) {
  const std::int64_t order = std::max(a.size(), b.size()) - 1;
  const tensor taps = detail::last_axis_resized(b, order + 1), feedback = detail::last_axis_resized(a, order + 1);
  const tensor later = taps - feedback * (sum(b) / sum(a));
  return last_axis_part(reverse(cumsum(reverse(later, -1), -1), -1), 1, order);
}

// 2 x[end] - x beyond the ends.
tensor reflected(const tensor& rows, std::int64_t count) {
  if (count == 0) return rows;
  const std::int64_t n = rows.dims()[rows.rank() - 1];
  const tensor first = last_axis_part(rows, 0, 1), last = last_axis_part(rows, n - 1, 1);
  return concat({first * 2 - reverse(last_axis_part(rows, 1, count), -1), rows,
                 last * 2 - reverse(last_axis_part(rows, n - 1 - count, count), -1)},
                -1);
}

std::int64_t padding_of(const composed& call, const tensor& x, int axis, const filtfilt_options& options,
                        std::int64_t usual) {
  const std::int64_t padding = options.padding.value_or(usual);
  if (padding < 0 || padding >= x.dims()[axis])
    call.refuse("padding " + std::to_string(padding) + " for " + shaped("x", x),
                "0 or more, and fewer than the axis has elements", "give another padding");
  return padding;
}

// Every section from the state that it would have if the first element had always been there.
tensor from_steady_state(std::span<const section> sections, tensor rows) {
  for (const section& each : sections) {
    const tensor first = last_axis_part(rows, 0, 1);
    rows = filtered(each.b, each.a, rows, steady_state(each.b, each.a) * first);
  }
  return rows;
}

tensor both_ways(std::span<const section> sections, const tensor& rows, std::int64_t padding) {
  const tensor forward = from_steady_state(sections, reflected(rows, padding));
  const tensor back = reverse(from_steady_state(sections, reverse(forward, -1)), -1);
  return last_axis_part(back, padding, rows.dims()[rows.rank() - 1]);
}

}  // namespace

tensor filtfilt(const tensor& b, const tensor& a, const tensor& x, const filtfilt_options& options) {
  constexpr composed call{"filtfilt"};
  check_coefficients(call, "b", b);
  check_coefficients(call, "a", a);
  call.rank("x", x, 1);
  const dtype type = filter_type(call, {{"b", &b}, {"a", &a}, {"x", &x}});
  const int axis = call.axis(options.axis.value(), x.rank());
  const std::int64_t padding = padding_of(call, x, axis, options, 3 * std::max(a.size(), b.size()));
  const tensor head = last_axis_part(cast(a, type), 0, 1);
  const section whole[] = {{cast(b, type) / head, cast(a, type) / head}};
  return detail::axis_back(both_ways(whole, detail::axis_last(cast(x, type), axis), padding), axis);
}

tensor sosfiltfilt(const tensor& sos, const tensor& x, const filtfilt_options& options) {
  constexpr composed call{"sosfiltfilt"};
  call.rank("x", x, 1);
  const dtype type = filter_type(call, {{"sos", &sos}, {"x", &x}});
  const int axis = call.axis(options.axis.value(), x.rank());
  const std::vector<section> sections = sections_of(call, sos, type);
  // SciPy does not count coefficients at 0 that all sections have.
  const auto zeros_at = [&](std::int64_t column) {
    return sum(cast(slice(sos, {0, column}, {-1, 1}) == 0, dtype::int64)).item<std::int64_t>();
  };
  const std::int64_t usual = 3 * (2 * std::ssize(sections) + 1 - std::min(zeros_at(2), zeros_at(5)));
  const std::int64_t padding = padding_of(call, x, axis, options, usual);
  return detail::axis_back(both_ways(sections, detail::axis_last(cast(x, type), axis), padding), axis);
}

}  // namespace kerngrad
