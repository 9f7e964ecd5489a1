// SPDX-License-Identifier: Apache-2.0
// Convolution by register tiles that walk an image, framed with zeros or cut to the taps that a pixel reaches. Private
// to kernels/; included once per target. A pixel's sum runs over its taps row by row on either way, and a padding of
// zeros adds nothing to it, so both give bitwise identical results wherever no weight is infinite or NaN.
#if defined(KERNGRAD_KERNELS_CONV_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef KERNGRAD_KERNELS_CONV_INL_H_
#undef KERNGRAD_KERNELS_CONV_INL_H_
#else
#define KERNGRAD_KERNELS_CONV_INL_H_
#endif

#include <algorithm>
#include <atomic>
#include <span>
#include <vector>

#include "kernels/common/each_thread.h"
#include "kernels/window/conv_plan.h"
#include "kernels/matmul/gemm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace kerngrad::kernels::HWY_NAMESPACE {
namespace {

/// Packs the weights of the taps into panels of tile_columns, those of some channels of the result. `swap` exchanges
/// in_c and out_c for the gradient.
template <class T>
void pack_filter(const direct_plan<T>& plan, bool swap, channel_range channels, T* panels) {
  const std::ptrdiff_t k = plan.src_channels;
  for (std::ptrdiff_t j = channels.low; j < channels.high; j += tile_columns<T>()) {
    const std::ptrdiff_t width = std::min(tile_columns<T>(), channels.high - j), padded = whole_vectors<T>(width);
    T* panel = panels + j * plan.depth();
    for (const filter_tap<T>& tap : plan.taps) {
      if (swap) {
        pack_transposed(tap.weights + j * plan.w_row, plan.w_row, width, k, panel, padded);
        clear_columns(panel, k, width, padded);
      } else {
        pack_rows(tap.weights + j, plan.w_row, k, width, panel, padded);
      }
      panel += k * padded;
    }
  }
}

template <class T>
std::ptrdiff_t packed_size(const direct_plan<T>& plan) {
  return product_of(plan.depth(), whole_vectors<T>(plan.dst_channels));
}

/// The filter of some plans, packed, for the channels that a thread is at. Each thread packs its own: what another one
/// has just written takes longer to come from that one's cache than packing it takes.
template <class T>
class packed_filter {
 public:
  const T* of(std::span<const direct_plan<T>> plans, bool swap, channel_range channels) {
    if (packed_ == channels) return room_.data();
    T* const panels = room_.reach(plans.back().panels_at + packed_size(plans.back()));
    for (const direct_plan<T>& plan : plans) pack_filter(plan, swap, channels, panels + plan.panels_at);
    packed_ = channels;
    return panels;
  }

 private:
  scratch<T> room_;
  channel_range packed_{0, 0};
};

/// The channels of a result in parts of whole panels. If there are fewer pixels than channels, the filter is larger
/// than the images, so threads take channels: else each would read all of the filter. Parts cost nothing besides, so
/// they may be small.
template <class T>
even_parts channel_parts(std::ptrdiff_t channels, std::int64_t pixels, std::int64_t products) {
  const std::ptrdiff_t panels = (channels + tile_columns<T>() - 1) / tile_columns<T>();
  const std::int64_t worth = pixels < channels ? std::max<std::int64_t>(1, products / (products_of_chunk / 8)) : 1;
  return {panels, (panels + std::min(worth, panels) - 1) / std::min(worth, panels)};
}

/// The windows of `rows` rows of pixels as rows of a matrix, for images so narrow that tiles along a row would be
/// wasted. Rows are a vector longer than need be, lest those of a power of two all fall into one cache set.
template <class T>
const T* gather_windows(const direct_plan<T>& plan, image_view<T> src, std::ptrdiff_t rows,
                        const std::vector<std::ptrdiff_t>& offsets, std::ptrdiff_t row_length, scratch<T>& room) {
  const std::ptrdiff_t length = plan.run_length(src);
  T* windows = room.reach(product_of(rows, plan.columns, row_length));
  T* row = windows;
  for (std::ptrdiff_t y = 0; y < rows; ++y) {
    for (std::ptrdiff_t x = 0; x < plan.columns; ++x, row += row_length) {
      T* to = row;
      const T* window = src.data + y * plan.row_stride * src.pitch + x * plan.column_stride * src.pixel;
      for (const std::ptrdiff_t offset : offsets) to = std::copy_n(window + offset, length, to);
    }
  }
  return windows;
}

/// Pixels in lines, one tile after the other along each: where lines and pixels lie in source and result.
template <class T>
struct tile_lines {
  const T* from;
  T* to;
  std::ptrdiff_t lines, from_line, to_line, pixels;
};

/// All tiles of those lines; `tile` has what they share, a_step and ldc from pixel to pixel. Without `panels` the taps'
/// weights follow each other.
template <class T>
void run_tiles(const direct_plan<T>& plan, const T* panels, channel_range channels, tile_args<T> tile,
               const tile_lines<T>& at) {
  const bool packed = panels != nullptr;
  const tile_kind kind{.strided = true, .narrow = !packed && plan.dst_channels % lanes<T>() != 0};
  for (std::ptrdiff_t j = channels.low; j < channels.high; j += tile_columns<T>()) {
    tile.columns = std::min(tile_columns<T>(), channels.high - j);
    const std::ptrdiff_t whole = whole_vectors<T>(tile.columns);
    tile.ldb = packed ? whole : plan.w_row;
    tile.b = packed ? panels + plan.panels_at + j * plan.depth() : plan.taps.front().weights + j;
    const int vectors = static_cast<int>(whole / lanes<T>());
    for (std::ptrdiff_t y = 0; y < at.lines; ++y) {
      for_even_parts(at.pixels, most_tile_rows(vectors), [&](std::ptrdiff_t x, std::ptrdiff_t pixels) {
        tile.a = at.from + y * at.from_line + x * tile.a_step;
        tile.c = at.to + y * at.to_line + x * tile.ldc + j;
        gemm_tile(static_cast<int>(pixels), vectors, kind, tile);
      });
    }
  }
}

/// Computes some channels of `rows` rows of output pixels from row `first_row` on; src begins with the frame of the
/// first of them.
template <class T>
void direct_conv(const direct_plan<T>& plan, const T* panels, channel_range channels, image_view<T> src,
                 std::ptrdiff_t first_row, std::ptrdiff_t rows, T* dst, scratch<T>& gathered) {
  constexpr std::ptrdiff_t gathered_most = 1 << 18;  // elements, or a row of pixels
  const std::ptrdiff_t columns = plan.columns, row_step = plan.row_stride * src.pitch, no_offset = 0;
  const std::vector<std::ptrdiff_t> offsets = plan.offsets(src);
  tile_args<T> tile{};
  tile.runs = static_cast<std::ptrdiff_t>(offsets.size());
  tile.run_length = plan.run_length(src);
  tile.run_offsets = offsets.data();
  tile.a_step = plan.column_stride * src.pixel;
  tile.ldc = plan.dst_pixel;
  T* const to = dst + plan.dst_offset + first_row * plan.dst_row;
  tile_lines<T> at{src.data, to, rows, row_step, plan.dst_row, columns};
  const bool one_line = plan.dst_row == columns * plan.dst_pixel;  // the rows of the result are one long row
  if (one_line && row_step == columns * tile.a_step) {
    at.pixels = columns * rows;
    at.lines = 1;
  } else if (one_line && columns <= tile_rows / 2 && rows > 1) {
    tile.run_length = plan.depth();
    tile.a_step = tile.run_length + lanes<T>();
    tile.runs = 1;
    tile.run_offsets = &no_offset;
    const std::ptrdiff_t most = std::max<std::ptrdiff_t>(1, gathered_most / (columns * tile.a_step));
    for_even_parts(rows, most, [&](std::ptrdiff_t y, std::ptrdiff_t count) {
      const image_view<T> part{src.data + y * row_step, src.pitch, src.slice, src.pixel};
      const T* windows = gather_windows(plan, part, count, offsets, tile.a_step, gathered);
      run_tiles(plan, panels, channels, tile, {windows, at.to + y * plan.dst_row, 1, 0, 0, columns * count});
    });
    return;
  } else if (columns < rows && columns <= tile_rows / 2) {  // tiles down the columns are higher
    tile.a_step = std::exchange(at.from_line, tile.a_step);
    tile.ldc = std::exchange(at.to_line, tile.ldc);
    at.pixels = std::exchange(at.lines, columns);
  }
  run_tiles(plan, panels, channels, tile, at);
}

/// True if no element is infinite or NaN.
template <class T>
bool all_finite(const T* p, std::ptrdiff_t count) {
  const hn::ScalableTag<T> d;
  const std::ptrdiff_t L = lanes<T>();
  const auto zero = hn::Zero(d);
  auto sum0 = zero, sum1 = zero, sum2 = zero, sum3 = zero;
  std::ptrdiff_t i = 0;
  for (; i + 4 * L <= count; i += 4 * L) {
    sum0 = hn::MulAdd(hn::LoadU(d, p + i), zero, sum0);
    sum1 = hn::MulAdd(hn::LoadU(d, p + i + L), zero, sum1);
    sum2 = hn::MulAdd(hn::LoadU(d, p + i + 2 * L), zero, sum2);
    sum3 = hn::MulAdd(hn::LoadU(d, p + i + 3 * L), zero, sum3);
  }
  for (; i + L <= count; i += L) sum0 = hn::MulAdd(hn::LoadU(d, p + i), zero, sum0);
  T rest = 0;
  for (; i < count; ++i) rest += p[i] * T{0};
  const auto all = hn::Add(hn::Add(sum0, sum1), hn::Add(sum2, sum3));
  return hn::AllTrue(d, hn::Eq(all, zero)) && rest == 0;
}

/// Finishes some channels of rows of a plan whose rows of pixels are one long row.
template <class T>
void finish_rows(const conv_job<T>& job, const direct_plan<T>& plan, channel_range channels, std::ptrdiff_t first,
                 std::ptrdiff_t rows, T* dst) {
  T* const y = dst + plan.dst_offset + first * plan.dst_row + channels.low;
  job.after->run(job.after->context, y, {rows * plan.columns, plan.dst_pixel, channels.low, channels.count()});
}

/// Finishes `pixels` dense pixels of a result that is in no cache.
template <class T>
void finish_all(const conv_finish& after, T* y, std::ptrdiff_t pixels, std::ptrdiff_t channels) {
  constexpr std::ptrdiff_t elements_of_chunk = 1 << 14, products_of_element = 16;  // by what its memory takes
  const even_parts parts(pixels,
                         std::max<std::ptrdiff_t>(1, elements_of_chunk / std::max<std::ptrdiff_t>(1, channels)));
  run_in_chunks(parts.count, saturated_product(pixels, channels, products_of_element), [&](std::ptrdiff_t i) {
    after.run(after.context, y + parts.begin(i) * channels, {parts.size(i), channels, 0, channels});
  });
}

/// Computes each pixel by the taps that it reaches, straight from the images.
template <class T>
void run_cut(const conv_job<T>& job) {
  job.clear_results();
  const channel_range all{0, job.dst_channels};
  for (const pixel_lattice& l : job.lattices) {
    const std::vector<tap_run> columns = l.right.runs();
    for (const tap_run& r : l.down.runs()) {
      for (const tap_run& c : columns) {
        const std::ptrdiff_t top = r.first * l.down.stride + l.down.at(r.low);
        const std::ptrdiff_t left = c.first * l.right.stride + l.right.at(c.low);
        const direct_plan<T> plan = job.plan(l, r, c, l.down.at(r.low), l.right.at(c.low));
        const std::ptrdiff_t pitch = job.src_columns * job.src_pixel;
        const image_chunks chunks(job.images, r.count, saturated_product(c.count, packed_size(plan)), any_number);
        of_each_thread<packed_filter<T>> packed;
        run_in_chunks(chunks.count(), chunks.products(), [&](std::ptrdiff_t chunk) {
          const T* const panels = packed.mine().of({&plan, 1}, job.swap, all);
          scratch<T> gathered;
          chunks.visit(chunk, [&](image_rows part) {
            const T* first =
                job.src_image(part.image) + (top + part.first * plan.row_stride) * pitch + left * job.src_pixel;
            direct_conv(plan, panels, all, {first, pitch, job.slice, job.src_pixel}, part.first, part.rows,
                        job.dst_image(part.image), gathered);
          });
        });
      }
    }
  }
}

/// True if those channels of all pixels of some rows of a lattice are finite whose windows the image cuts.
template <class T>
bool cut_pixels_are_finite(const pixel_lattice& l, std::ptrdiff_t first, std::ptrdiff_t rows, channel_range channels,
                           const T* dst) {
  const std::ptrdiff_t count = channels.count();
  const auto finite = [&](const T* row, std::ptrdiff_t begin, std::ptrdiff_t end) {
    row += channels.low;
    if (l.dst_pixel == count) return all_finite(row + begin * count, (end - begin) * count);
    for (; begin < end; ++begin) {
      if (!all_finite(row + begin * l.dst_pixel, count)) return false;
    }
    return true;
  };
  for (std::ptrdiff_t y = first; y < first + rows; ++y) {
    const T* row = dst + l.dst_offset + y * l.dst_row;
    const bool whole = y >= l.down.whole_low() && y < l.down.whole_high();
    const std::ptrdiff_t low = whole ? l.right.whole_low() : l.right.count;
    const std::ptrdiff_t high = whole ? l.right.whole_high() : l.right.count;
    if (!finite(row, 0, low) || !finite(row, high, l.right.count)) return false;
  }
  return true;
}

/// The plans of whole windows over framed images, their panels one after the other.
template <class T>
std::vector<direct_plan<T>> framed_plans(const conv_job<T>& job, const frame_of_rows& frames) {
  std::vector<direct_plan<T>> plans;
  std::ptrdiff_t size = 0;
  for (const pixel_lattice& l : job.lattices) {
    direct_plan<T>& plan =
        plans.emplace_back(job.plan(l, {0, l.down.count, 0, l.down.taps()}, {0, l.right.count, 0, l.right.taps()},
                                    -frames.all.top, -frames.all.left));
    plan.panels_at = size;
    size = sum_of(size, packed_size(plan));
  }
  return plans;
}

/// Computes whole windows over images framed with zeros. With `look`, whether all pixels with zeros in their windows
/// are finite; else true.
template <class T>
bool run_framed(const conv_job<T>& job, const frame_of_rows& frames, bool look) {
  if (!job.covered) job.clear_results();
  const std::vector<direct_plan<T>> plans = framed_plans(job, frames);
  std::int64_t products_per_row = 0, pixels = 0;
  for (const direct_plan<T>& plan : plans) {
    products_per_row = saturated_sum(products_per_row, saturated_product(plan.columns, packed_size(plan)));
    pixels = saturated_sum(pixels, saturated_product(job.images, plan.rows, plan.columns));
  }
  const auto lies_flat = [&](const direct_plan<T>& p) {
    const auto last = static_cast<std::ptrdiff_t>(p.taps.size()) - 1;
    return p.taps.back().weights - p.taps.front().weights == last * job.w_rows() * job.w_row;
  };
  const bool pack = !job.keep_flat || !lies_flat(plans.front());
  of_each_thread<packed_filter<T>> packed;
  const std::int64_t products = saturated_product(job.images, frames.rows, products_per_row);
  const even_parts parts = channel_parts<T>(job.dst_channels, pixels, products);
  const image_chunks chunks(job.images, frames.rows, products_per_row / parts.count, any_number);
  std::atomic<bool> finite = true;
  run_in_chunks(parts.count * chunks.count(), products, [&](std::ptrdiff_t i) {
    const std::ptrdiff_t some = i / chunks.count();
    const channel_range channels{
        parts.begin(some) * tile_columns<T>(),
        std::min((parts.begin(some) + parts.size(some)) * tile_columns<T>(), job.dst_channels)};
    const T* const panels = pack ? packed.mine().of(plans, job.swap, channels) : nullptr;
    scratch<T> image, gathered;
    chunks.visit(i % chunks.count(), [&](image_rows part) {
      const image_view<T> src =
          framed(job.stored(part.image), frames.part(part.first, part.rows), image, job.slices(), job.slice);
      T* dst = job.dst_image(part.image);
      for (std::size_t p = 0; p < plans.size(); ++p) {
        const std::ptrdiff_t count = std::min(plans[p].rows - part.first, part.rows);
        if (count <= 0) continue;
        direct_conv(plans[p], panels, channels, src, part.first, count, dst, gathered);
        if (look && !cut_pixels_are_finite(job.lattices[p], part.first, count, channels, dst)) {
          finite.store(false, std::memory_order_relaxed);
        }
        if (job.after) finish_rows(job, plans[p], channels, part.first, count, dst);
      }
    });
  });
  return finite.load(std::memory_order_relaxed);
}

/// True if no weight is infinite or NaN.
template <class T>
bool has_finite_weights(const conv_job<T>& job) {
  const std::ptrdiff_t length = job.swap ? job.src_channels : job.dst_channels;
  const std::ptrdiff_t rows = job.filter_h * job.filter_w * job.w_rows();
  return std::all_of(job.w.begin(), job.w.end(), [&](const T* w) {
    if (job.w_row == length) return all_finite(w, rows * length);
    for (std::ptrdiff_t r = 0; r < rows; ++r) {
      if (!all_finite(w + r * job.w_row, length)) return false;
    }
    return true;
  });
}

/// Computes the job by the way that suits it; whether that finished it, too. The cheaper of two questions about
/// infinite weights is asked: weights beforehand, or afterwards the pixels that a product of one with a padding's zero
/// would have made NaN.
template <class T>
bool run_conv(const conv_job<T>& job) {
  const frame_of_rows frames(job.lattices);
  if (frames.all.inside(job.src_rows, job.src_columns)) return run_framed(job, frames, false);
  if (frames.all.is_worth_copying(job.src_rows * job.src_columns, job.filter_h * job.filter_w)) {
    std::int64_t cut = 0;
    for (const pixel_lattice& l : job.lattices) cut += l.cut_pixels();
    const bool ask_first =
        saturated_product(job.slices(), job.weights_of_slice()) <= saturated_product(cut, job.images, job.dst_channels);
    if (!ask_first || has_finite_weights(job)) {
      if (run_framed(job, frames, !ask_first) || has_finite_weights(job)) return true;
    }
  }
  run_cut(job);
  return false;
}

}  // namespace
}  // namespace kerngrad::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif  // include guard per target
