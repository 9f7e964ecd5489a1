// SPDX-License-Identifier: Apache-2.0
// Launchers of the fused layers. The product's kernel gives a part of the result, the layer's own kernel finishes it
// while it is in a cache; several threads take a part each. Parts are cut so that the product's sums are those of the
// whole.
module;
#include <algorithm>
#include "kernels/common/abi.h"
#include "kernels/common/chunks.h"
#include "kernels/fused/fused.h"
#include "kernels/common/sizes.h"
#include "kernels/window/conv.h"
#include "kernels/window/conv_finish.h"
#include "kernels/window/window.h"
module kerngrad;

import :geometry;

namespace kerngrad::launch {
namespace {

// Bytes of result between a product and its finish: half a second-level cache, or a first-level one for products that
// are not slower than the cache. A part of a packed product is long enough to outweigh packing its right side again.
constexpr std::int64_t half_of_second_level = 512 << 10, first_level = 28 << 10, least_packed_rows = 512;

std::int64_t width_of(const view& x) { return static_cast<std::int64_t>(size_of(x.type)); }
view part_of(const view& x, std::int64_t offset, const shape& dims) {
  return {static_cast<std::byte*>(x.data) + offset * width_of(x), dims, x.type};
}

// The same call, on the kernel of another op.
template <fixed_string Op>
launch_call with_kernel_of(const launch_call& c) {
  return {.call = c.call,
          .kernel = kernel_of<Op>(c.from, c.call.compute),
          .from = c.from,
          .built_in = true,
          .in = c.in.first(2),
          .out = c.out};
}

/// Bias and activation of one call.
class finish {
 public:
  finish(const launch_call& c, const shapes::finish_attrs& at, bool channels_first)
      : c_(c), slope_(c.call.attr(at.leaky_slope).as_number()) {
    const std::string_view activation = c.call.attr(at.activation).as_text();
    while (name_of(after_) != activation) after_ = static_cast<kerngrad::activation>(static_cast<int>(after_) + 1);
    for (std::size_t k : {std::size_t{0}, std::size_t{1}}) {
      const std::size_t i = shapes::fused_bias + k;
      if (!c.call.has(i)) continue;
      operands_[k] = c.in[i].data;
      dims_[k] = shapes::aligned_to_channels(c.in[i].dims, channels_first);
    }
  }
  bool changes_nothing() const { return after_ == kerngrad::activation::linear && !operands_[0]; }
  /// Bias and weights are the same for every row of the result.
  bool is_by_column() const { return is_row(dims_[0]) && is_row(dims_[1]); }

  /// Finishes all of the result.
  void all() const {
    if (changes_nothing()) return;
    const shape& y = c_.out[0].dims;
    const std::int64_t columns = y[y.rank() - 1];
    if (is_by_column()) rows(c_.out[0].data, y.size() / columns, columns);
    else run(operands_, c_.out[0].data, detail::broadcast_walk<3>(y, {y, dims_[0], dims_[1]}));
  }
  /// Finishes a part of it, [rows, columns], of a call that is by column.
  void rows(void* y, std::int64_t rows, std::int64_t columns) const { part(y, {rows, columns, 0, columns}); }
  /// The same for some channels of pixels.
  void part(void* y, const kernels::pixel_part& of) const {
    operand_array operands = operands_;
    std::int64_t moves[2];
    for (std::size_t k : {std::size_t{0}, std::size_t{1}}) {
      moves[k] = dims_[k].size() > 1;
      if (moves[k]) operands[k] = detail::advanced(operands[k], of.first * width_of(c_.out[0]));
    }
    run(operands, y, {2, {of.pixels, of.channels}, {{of.pitch, 1}, {0, moves[0]}, {0, moves[1]}}});
  }

 private:
  using operand_array = std::array<const void*, 2>;
  static bool is_row(const shape& dims) { return dims.rank() == 0 || dims.size() == dims[dims.rank() - 1]; }
  void run(const operand_array& operands, void* y, const kernels::broadcast_geometry& walk) const {
    const kernels::fused_geometry g{walk, after_, slope_};
    void* out[] = {y};
    c_.kernel.run(operands.data(), out, &g);
  }

  const launch_call& c_;
  const double slope_;
  kerngrad::activation after_{};
  operand_array operands_{};
  std::array<shape, 2> dims_;
};

/// `total` items in as many equal parts as leave each at least `least`.
struct equal_parts {
  std::int64_t total, count;
  equal_parts(std::int64_t all, std::int64_t least)
      : total(all), count(std::max<std::int64_t>(1, all / std::max<std::int64_t>(1, least))) {}
  std::int64_t begin(std::int64_t i) const { return total * i / count; }
  std::int64_t size(std::int64_t i) const { return begin(i + 1) - begin(i); }
};

/// Calls part(i) for the first `count` parts of a layer, by several threads where all of its products are worth them.
template <class Part>
void run_parts(const launch_call& c, std::int64_t count, std::int64_t products, const Part& part) {
  kernels::run_in_chunks(count, detail::split_cost(c) == detail::never_split ? 0 : products, part);
}

}  // namespace

void fused_matmul(const launch_call& c) {
  const launch_call product = with_kernel_of<"BatchMatMul">(c);
  const finish after(c, shapes::matmul_finish, false);
  const view &a = c.in[0], &y = c.out[0];
  const bool one_product = a.dims.rank() == 2 && c.in[1].dims.rank() == 2;
  const bool has_parts = one_product && y.dims[0] >= 2 * least_packed_rows &&
                         !c.call.attr(place_in(attributes::matmul, "transposeA")).as_bool();
  if (!has_parts || !after.is_by_column() || after.changes_nothing()) {
    matmul(product);
    return after.all();
  }
  const std::int64_t k = a.dims[1], n = y.dims[1];
  const equal_parts rows(y.dims[0], std::max(least_packed_rows, half_of_second_level / (n * width_of(y))));
  run_parts(c, rows.count, kernels::saturated_product(y.dims[0], n, k), [&](std::int64_t i) {
    const std::int64_t begin = rows.begin(i), count = rows.size(i);
    const view in[] = {part_of(a, begin * k, {count, k}), c.in[1]};
    view out[] = {part_of(y, begin * n, {count, n})};
    matmul({.call = c.call, .kernel = product.kernel, .from = c.from, .built_in = true, .in = in, .out = out});
    after.rows(out[0].data, count, n);
  });
}

namespace {

/// Rows [begin, begin + count) of a convolution's result as a convolution of their own; `skipped` rows of the image lie
/// above those that it reads.
struct strip {
  kernels::window_geometry window;
  std::int64_t skipped;
  strip(const kernels::window_geometry& g, std::int64_t begin, std::int64_t count) : window(g) {
    const std::int64_t first = begin * g.stride_h - g.pad_top;  // row of the image under the top of the first window
    const std::int64_t reach = kernels::sum_of(kernels::product_of(count - 1, g.stride_h),
                                               kernels::product_of(g.filter_h - 1, g.dilation_h), 1);
    skipped = std::max<std::int64_t>(first, 0);
    window.batch = 1;
    window.out_h = count;
    window.pad_top = skipped - first;
    window.in_h = std::clamp<std::int64_t>(reach - window.pad_top, 1, g.in_h - skipped);
  }
};

// Images one after the other, each in strips, or several together where they are small.
void run_in_parts(const launch_call& c, const kernel_slot& kernel, const kernels::window_geometry& g,
                  const finish& after, std::int64_t bytes, std::int64_t least_pixels) {
  const view &x = c.in[0], &y = c.out[0];
  const std::int64_t image_in = g.in_h * g.in_w * g.in_c, row_out = g.out_w * g.out_c, image_out = g.out_h * row_out;
  const auto run = [&](const kernels::window_geometry& window, std::int64_t from, std::int64_t to) {
    const void* in[] = {part_of(x, from, {}).data, c.in[1].data};
    void* out[] = {part_of(y, to, {}).data};
    kernel.run(in, out, &window);
    after.rows(out[0], window.batch * window.out_h * g.out_w, g.out_c);
  };
  const std::int64_t pixels = std::max(least_pixels, bytes / (g.out_c * width_of(y)));
  const std::int64_t products = kernels::saturated_product(g.batch, image_out, c.in[1].dims.size() / g.out_c);
  if (pixels >= g.out_h * g.out_w) {
    const equal_parts images(g.batch, pixels / (g.out_h * g.out_w));
    return run_parts(c, images.count, products, [&](std::int64_t i) {
      kernels::window_geometry window = g;
      window.batch = images.size(i);
      run(window, images.begin(i) * image_in, images.begin(i) * image_out);
    });
  }
  const equal_parts strips(g.out_h, (pixels + g.out_w - 1) / g.out_w);
  run_parts(c, kernels::product_of(g.batch, strips.count), products, [&](std::int64_t i) {
    const std::int64_t image = i / strips.count, begin = strips.begin(i % strips.count);
    const strip s(g, begin, strips.size(i % strips.count));
    run(s.window, image * image_in + s.skipped * g.in_w * g.in_c, image * image_out + begin * row_out);
  });
}

// The library's own convolution finishes its parts itself; null: another kernel.
kernels::run_fn finished_by(kernels::run_fn conv) {
  if (conv == kernels::Conv2D_float32) return kernels::FinishedConv2D_float32;
  return conv == kernels::Conv2D_float64 ? kernels::FinishedConv2D_float64 : nullptr;
}

}  // namespace

void fused_conv(const launch_call& c) {
  const bool depthwise = c.call.row.depthwise;
  const launch_call product = depthwise ? with_kernel_of<"DepthwiseConv2dNative">(c) : with_kernel_of<"Conv2D">(c);
  const bool channels_first = shapes::is_channels_first(c.call);
  const finish after(c, shapes::conv_finish, channels_first);
  const kernels::window_geometry& g = detail::resolved(c, resolved_geometry::kind::window).window;
  const bool empty =
      std::any_of(product.in.begin(), product.in.end(), [](const view& x) { return x.dims.size() == 0; });
  const bool by_part = !channels_first && after.is_by_column() && !after.changes_nothing() && !empty;
  // Several threads finish: the kernel has to be the library's own, too.
  if (const kernels::run_fn finished = by_part && c.built_in ? finished_by(product.kernel.run) : nullptr) {
    const auto part = [](const void* of, void* y, const kernels::pixel_part& pixels) {
      static_cast<const finish*>(of)->part(y, pixels);
    };
    const kernels::finished_geometry whole{g, {part, &after}};
    const void* in[] = {c.in[0].data, c.in[1].data};
    void* out[] = {c.out[0].data};
    return finished(in, out, &whole);
  }
  // Windows below the image, which explicit padding can give, and empty images have no rows to cut a strip from.
  const bool has_strips = std::max<std::int64_t>((g.out_h - 1) * g.stride_h - g.pad_top, 0) < g.in_h;
  if (!by_part || !has_strips) {
    conv(product);
    return after.all();
  }
  run_in_parts(c, product.kernel, g, after, depthwise ? first_level : half_of_second_level,
               depthwise ? 1 : least_packed_rows);
}

}  // namespace kerngrad::launch
