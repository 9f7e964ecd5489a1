// SPDX-License-Identifier: Apache-2.0
// Three ops that are each other's gradients: a gather with weights, its transpose, and the products that are the
// gradient of the weights. So every order is one of the three again.
module;
#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>
#include "kernels/common/abi.h"
#include "kernels/common/parallel.h"
#include "kernels/common/sizes.h"
module kerngrad;

import :composed_checks;
import :composed_interpolation;

namespace kerngrad {
namespace {

constexpr operand gather_operands[] = {
    {"x", wide_floats}, {"indices", only(dtype::int32), role::own}, {"weights", wide_floats}};
constexpr operand scatter_operands[] = {
    {"dy", wide_floats}, {"indices", only(dtype::int32), role::own}, {"weights", wide_floats}};
constexpr operand product_operands[] = {
    {"x", wide_floats}, {"indices", only(dtype::int32), role::own}, {"dy", wide_floats}};
constexpr attr_spec elements_of_x[] = {
    {.name = "elements", .kind = attr_kind::integer, .doc = "number of elements of x", .required = true, .least = 0}};

void infer_gathered(inference& call) { call.give({call.in[0].dims[0], call.in[1].dims[2], call.in[0].dims[2]}); }
void infer_scattered(inference& call) {
  call.give({call.in[0].dims[0], call.attr(place_in(elements_of_x, "elements")).as_integer(), call.in[0].dims[2]});
}
void infer_products(inference& call) { call.give(call.in[1].dims); }

// Sizes, and the distance of one image's indices from the next one's: 0 where one list serves all images.
struct gather_sizes {
  std::int64_t batch, elements, points, taps, channels, next;
};
gather_sizes sizes_of(const launch_call& c, const shape& x, std::int64_t elements) {
  const shape& at = c.in[1].dims;
  return {x[0], elements, at[2], at[1], x[2], at[0] == 1 ? 0 : at[1] * at[2]};
}

// Points of one task: enough work for a thread, whatever the number of threads.
std::int64_t points_of_task(const gather_sizes& n) {
  return std::max<std::int64_t>(1, 32768 / std::max<std::int64_t>(1, n.taps * (n.channels + 1)));
}

template <class T>
struct gather_arrays {
  const T* x;
  const std::int32_t* indices;
  const T* weights;
};

// A number of channels that the compiler knows, or 0: sums of few channels stay in registers.
template <class T, int kChannels>
void gather_points(const gather_sizes& n, const gather_arrays<T>& in, std::int64_t begin, std::int64_t end, T* y) {
  const std::int64_t channels = kChannels ? kChannels : n.channels;
  for (std::int64_t p = begin; p < end; ++p) {
    T fixed[kChannels ? kChannels : 1] = {};
    T* const sums = kChannels ? fixed : y + p * channels;
    if (!kChannels) std::fill_n(sums, channels, T{0});
    for (std::int64_t k = p; k < n.taps * n.points; k += n.points) {
      if (in.indices[k] < 0) continue;
      const T* const from = in.x + in.indices[k] * channels;
      const T weight = in.weights[k];
      for (std::int64_t c = 0; c < channels; ++c) sums[c] += weight * from[c];
    }
    if (kChannels) std::copy_n(sums, channels, y + p * channels);
  }
}

template <class T>
using gather_run = void (*)(const gather_sizes&, const gather_arrays<T>&, std::int64_t, std::int64_t, T*);
template <class T>
gather_run<T> gather_for(std::int64_t channels) {
  switch (channels) {
    case 1: return gather_points<T, 1>;
    case 2: return gather_points<T, 2>;
    case 3: return gather_points<T, 3>;
    case 4: return gather_points<T, 4>;
    default: return gather_points<T, 0>;
  }
}

tensor scattered(const tensor& dy, const tensor& indices, const tensor& weights, std::int64_t elements);
tensor products_of(const tensor& x, const tensor& indices, const tensor& dy);

/// y[b, p, c] = sum over k of weights[b, k, p] x[b, indices[b, k, p], c].
struct WeightedGather {
  static constexpr op_row row{.name = "WeightedGather",
                              .doc = "Sums of elements at indices with weights.",
                              .group = family::image,
                              .operands = gather_operands,
                              .infer = infer_gathered,
                              .cost = 8};
  template <class T>
  static void run(const launch_call& c) {
    const gather_sizes n = sizes_of(c, c.in[0].dims, c.in[0].dims[1]);
    const std::span<const T> x = elements_in<T>(c, 0), weights = elements_in<T>(c, 2);
    const std::span<const std::int32_t> indices = elements_in<std::int32_t>(c, 1);
    const std::span<T> y = elements_out<T>(c);
    if (y.empty()) return;
    const std::int64_t step = points_of_task(n), tasks = (n.points + step - 1) / step;
    const gather_run<T> of = gather_for<T>(n.channels);
    kernels::parallel_chunks(static_cast<std::size_t>(n.batch * tasks), [&](std::size_t task) {
      const std::int64_t b = static_cast<std::int64_t>(task) / tasks,
                         begin = static_cast<std::int64_t>(task) % tasks * step;
      of(n, {x.data() + b * n.elements * n.channels, indices.data() + b * n.next, weights.data() + b * n.next}, begin,
         std::min(begin + step, n.points), y.data() + b * n.points * n.channels);
    });
  }
  static constexpr auto kernels = on_calls<wide_floats>([]<class T>(const launch_call& c) { run<T>(c); });
  static constexpr auto gradient = gradient_of(
      wrt(keep::in1 | keep::in2, [](const auto& c) { return scattered(c.dy(), c.in(1), c.in(2), c.dims(0)[1]); }),
      constant_operand(),
      wrt(keep::in0 | keep::in1, [](const auto& c) { return products_of(c.in(0), c.in(1), c.dy()); }));
};

/// x[b, i, c] = sum of weights[b, k, p] dy[b, p, c] where indices[b, k, p] is i: the transpose of WeightedGather.
struct WeightedScatter {
  static constexpr op_row row{.name = "WeightedScatter",
                              .doc = "The transpose of WeightedGather.",
                              .group = family::image,
                              .operands = scatter_operands,
                              .attrs = elements_of_x,
                              .infer = infer_scattered,
                              .cost = 8};
  template <class T>
  static void run(const launch_call& c) {
    const gather_sizes n = sizes_of(c, c.in[0].dims, c.out[0].dims[1]);
    const std::span<const T> dy = elements_in<T>(c, 0), weights = elements_in<T>(c, 2);
    const std::span<const std::int32_t> indices = elements_in<std::int32_t>(c, 1);
    const std::span<T> x = elements_out<T>(c);
    std::ranges::fill(x, T{0});
    // Images are independent, so that each has one order of its sums.
    kernels::parallel_chunks(static_cast<std::size_t>(n.batch), [&](std::size_t image) {
      const std::int64_t b = static_cast<std::int64_t>(image);
      T* const to = x.data() + b * n.elements * n.channels;
      const T* from = dy.data() + b * n.points * n.channels;
      for (std::int64_t p = 0; p < n.points; ++p, from += n.channels)
        for (std::int64_t k = p; k < n.taps * n.points; k += n.points) {
          const std::int32_t index = indices[static_cast<std::size_t>(b * n.next + k)];
          if (index < 0) continue;
          const T weight = weights[static_cast<std::size_t>(b * n.next + k)];
          for (std::int64_t i = 0; i < n.channels; ++i) to[index * n.channels + i] += weight * from[i];
        }
    });
  }
  static constexpr auto kernels = on_calls<wide_floats>([]<class T>(const launch_call& c) { run<T>(c); });
  static constexpr auto gradient = gradient_of(
      wrt(keep::in1 | keep::in2, [](const auto& c) { return detail::weighted_gather(c.dy(), c.in(1), c.in(2)); }),
      constant_operand(),
      wrt(keep::in0 | keep::in1, [](const auto& c) { return products_of(c.dy(), c.in(1), c.in(0)); }));
};

/// weights[b, k, p] = sum over c of x[b, indices[b, k, p], c] dy[b, p, c], added up over images that share indices.
struct WeightedProducts {
  static constexpr op_row row{.name = "WeightedProducts",
                              .doc = "The gradient of the weights of WeightedGather.",
                              .group = family::image,
                              .operands = product_operands,
                              .infer = infer_products,
                              .cost = 8};
  template <class T>
  static void run(const launch_call& c) {
    const gather_sizes n = sizes_of(c, c.in[0].dims, c.in[0].dims[1]);
    const std::span<const T> x = elements_in<T>(c, 0), dy = elements_in<T>(c, 2);
    const std::span<const std::int32_t> indices = elements_in<std::int32_t>(c, 1);
    const std::span<T> y = elements_out<T>(c);
    const std::int64_t step = points_of_task(n), lists = n.next ? n.batch : 1, tasks = (n.points + step - 1) / step,
                       images = n.next ? 1 : n.batch;
    kernels::parallel_chunks(static_cast<std::size_t>(lists * tasks), [&](std::size_t task) {
      const std::int64_t list = static_cast<std::int64_t>(task) / tasks,
                         begin = static_cast<std::int64_t>(task) % tasks * step, end = std::min(begin + step, n.points);
      for (std::int64_t tap = 0; tap < n.taps; ++tap)
        for (std::int64_t p = begin; p < end; ++p) {
          const std::int64_t k = list * n.next + tap * n.points + p, index = indices[static_cast<std::size_t>(k)];
          T sum = 0;
          for (std::int64_t image = list; image < list + images && index >= 0; ++image) {
            const T* const left = x.data() + (image * n.elements + index) * n.channels;
            const T* const right = dy.data() + (image * n.points + p) * n.channels;
            for (std::int64_t i = 0; i < n.channels; ++i) sum += left[i] * right[i];
          }
          y[static_cast<std::size_t>(k)] = sum;
        }
    });
  }
  static constexpr auto kernels = on_calls<wide_floats>([]<class T>(const launch_call& c) { run<T>(c); });
  static constexpr auto gradient = gradient_of(
      wrt(keep::in1 | keep::in2, [](const auto& c) { return scattered(c.in(2), c.in(1), c.dy(), c.dims(0)[1]); }),
      constant_operand(),
      wrt(keep::in0 | keep::in1, [](const auto& c) { return detail::weighted_gather(c.in(0), c.in(1), c.dy()); }));
};

tensor scattered(const tensor& dy, const tensor& indices, const tensor& weights, std::int64_t elements) {
  return call<WeightedScatter>(dy, indices, weights, attr<"elements">(elements));
}
tensor products_of(const tensor& x, const tensor& indices, const tensor& dy) {
  return call<WeightedProducts>(x, indices, dy);
}

}  // namespace

namespace detail {

tensor weighted_gather(const tensor& x, const tensor& indices, const tensor& weights) {
  return call<WeightedGather>(x, indices, weights);
}

tensor interpolated_axis(const tensor& x, int axis, std::int64_t points, std::int64_t taps,
                         const std::function<axis_tap(std::int64_t i, std::int64_t k)>& tap_of) {
  std::int64_t before = 1, after = 1;
  std::vector<std::int64_t> dims(x.dims().begin(), x.dims().end());
  for (int i = 0; i < axis; ++i) before *= dims[static_cast<std::size_t>(i)];
  for (int i = axis + 1; i < x.rank(); ++i) after *= dims[static_cast<std::size_t>(i)];
  const shape list{1, taps, points};
  tensor weights;
  const tensor indices = tensor::build<std::int32_t>(list, [&](std::span<std::int32_t> to) {
    weights = tensor::build<double>(list, [&](std::span<double> to_weights) {
      for (std::int64_t k = 0, at = 0; k < taps; ++k)
        for (std::int64_t i = 0; i < points; ++i, ++at) {
          const axis_tap tap = tap_of(i, k);
          to[static_cast<std::size_t>(at)] = static_cast<std::int32_t>(tap.index);
          to_weights[static_cast<std::size_t>(at)] = tap.weight;
        }
    });
  });
  const tensor y = weighted_gather(reshape(x, {before, x.dims()[axis], after}), indices, cast(weights, x.type()));
  dims[static_cast<std::size_t>(axis)] = points;
  return reshape(y, shape(dims));
}

}  // namespace detail
}  // namespace kerngrad
