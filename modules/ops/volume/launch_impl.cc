// SPDX-License-Identifier: Apache-2.0
// Launchers of the convolutions and poolings of volumes.
module;
#include <algorithm>
#include "kernels/common/abi.h"
#include "kernels/common/parallel.h"
#include "kernels/common/sizes.h"
#include "kernels/volume/volume.h"
module kerngrad;

import :geometry;
import :tape;

namespace kerngrad::launch {
namespace {

const kernels::volume_geometry& volume_of(const launch_call& c) {
  return detail::resolved(c, resolved_geometry::kind::volume).volume;
}

bool is_ncdhw(const launch_call& c) { return c.call.attr("dataFormat").as_text() == "NCDHW"; }

/// The operands and the result of a call with the channels of volumes last: as they are, or copies of NCDHW ones. The
/// others, filters, are as they are.
class channels_last {
 public:
  channels_last(const launch_call& c, std::span<const bool> volumes, bool result) : call_(c) {
    const bool moves = is_ncdhw(c);
    for (std::size_t i = 0; i < c.in.size(); ++i) {
      in_[i] = c.in[i].data;
      if (!moves || !volumes[i]) continue;
      void* copy = room(i, moved_shape(c.in[i].dims), c.in[i].type);
      detail::permute(c, in_[i], copy, c.in[i].type, c.in[i].dims, to_last);
      in_[i] = copy;
    }
    moves_result_ = moves && result;
    out_ = moves_result_ ? room(c.in.size(), moved_shape(c.out[0].dims), c.out[0].type) : c.out[0].data;
  }
  const void* const* in() const { return in_; }
  void* out() const { return out_; }
  /// Puts the result into the layout of the call.
  void finish() const {
    if (!moves_result_) return;
    detail::permute(call_, out_, call_.out[0].data, call_.out[0].type, moved_shape(call_.out[0].dims), to_first);
  }

 private:
  static constexpr std::array<int, 5> to_last{0, 2, 3, 4, 1}, to_first{0, 4, 1, 2, 3};
  static shape moved_shape(const shape& x) { return {x[0], x[2], x[3], x[4], x[1]}; }
  void* room(std::size_t i, const shape& dims, dtype type) {
    rooms_[i] = tensor_access::adopt(detail::allocate(type, dims));
    return tensor_access::buffer(rooms_[i])->data;
  }

  const launch_call& call_;
  tensor rooms_[4];
  const void* in_[3];
  void* out_;
  bool moves_result_;
};

// A convolution, in one piece: its kernel splits the work.
void run_volume(const launch_call& c, std::array<bool, 2> volumes, bool result) {
  if (detail::filled_without_products(c)) return;
  const channels_last moved(c, volumes, result);
  void* out[] = {moved.out()};
  c.kernel.run(moved.in(), out, &volume_of(c));
  moved.finish();
}

/// Calls run(geometry, volume, slice) for chunks of slices of the result, or of whole volumes where windows give back
/// to what their neighbours see; once with everything where that is not worth it.
template <class Run>
void in_slices(const launch_call& c, const kernels::volume_geometry& g, bool whole, const Run& run) {
  const std::int64_t taps = kernels::saturated_product(g.depth.filter, g.height.filter, g.width.filter);
  const double cost = static_cast<double>(std::max(std::int64_t{1}, taps));
  const std::int64_t count = kernels::saturated_product(g.batch, g.depth.out, g.out_slice());
  if (!detail::worth_splitting(c, count, cost)) return run(g, 0, 0);
  const std::int64_t most = whole ? g.depth.out : detail::chunk_elements(cost) / g.out_slice();
  const std::int64_t slices = std::clamp(most, std::int64_t{1}, g.depth.out);
  const std::int64_t pieces = (g.depth.out + slices - 1) / slices;
  kernels::parallel_chunks(kernels::extent(g.batch, pieces), [&](std::size_t chunk) {
    const std::int64_t volume = static_cast<std::int64_t>(chunk) / pieces;
    const std::int64_t first = static_cast<std::int64_t>(chunk) % pieces * slices;
    kernels::volume_geometry part = g;
    part.batch = 1;
    part.depth.out = std::min(slices, g.depth.out - first);
    part.depth.pad = g.depth.pad - first * g.depth.stride;  // below 0: the first window starts inside the volume
    run(part, volume, first);
  });
}

// Poolings and their gradients: operands and result are shaped like x or like y.
void run_pooling(const launch_call& c, bool to_x) {
  constexpr bool volumes[] = {true, true, true};
  const channels_last moved(c, volumes, true);
  const kernels::volume_geometry& g = volume_of(c);
  const auto size = static_cast<std::int64_t>(size_of(c.out[0].type));
  const std::int64_t x = g.depth.in * g.in_slice() * size, slice = g.out_slice() * size;
  in_slices(c, g, to_x, [&](const kernels::volume_geometry& part, std::int64_t volume, std::int64_t first) {
    const std::int64_t in_x = volume * x, in_y = (volume * g.depth.out + first) * slice;
    const void* in[3];
    for (std::size_t i = 0; i < c.in.size(); ++i) {
      const bool like_y = to_x && i != 1;  // dy, input, output
      in[i] = detail::advanced(moved.in()[i], like_y ? in_y : in_x);
    }
    void* out[] = {detail::advanced(moved.out(), to_x ? in_x : in_y)};
    c.kernel.run(in, out, &part);
  });
  moved.finish();
}

}  // namespace

void volume_conv(const launch_call& c) { run_volume(c, {true, false}, true); }
void volume_conv_input(const launch_call& c) { run_volume(c, {true, false}, true); }
void volume_conv_filter(const launch_call& c) { run_volume(c, {true, true}, false); }
void volume_pool(const launch_call& c) { run_pooling(c, false); }
void volume_pool_grad(const launch_call& c) { run_pooling(c, true); }

}  // namespace kerngrad::launch
