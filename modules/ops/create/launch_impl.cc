// SPDX-License-Identifier: Apache-2.0
// Launchers of the ops that create and draw elements.
module;
#include <algorithm>
#include <bit>
#include <cmath>
#include "kernels/common/abi.h"
#include "kernels/create/create.h"
#include "kernels/create/multinomial.h"
#include "kernels/create/random.h"
#include "kernels/text/text.h"
module kerngrad;

import :geometry;

namespace kerngrad::launch {

using namespace detail;

void fill(const launch_call& c) {
  const attr_value& value = c.call.attr(place_in(attributes::fill, "value"));
  if (c.out[0].type == dtype::text) {
    std::fill_n(static_cast<text*>(c.out[0].data), c.out[0].dims.size(), c.texts->put(value.as_text()));
    return;
  }
  fill_with(c, c.out[0].data, c.out[0].type, c.out[0].dims.size(), value.as_number());
}

void zeros_like(const launch_call& c) { fill_with(c, c.out[0].data, c.out[0].type, c.out[0].dims.size(), 0); }
void ones_like(const launch_call& c) { fill_with(c, c.out[0].data, c.out[0].type, c.out[0].dims.size(), 1); }

void range(const launch_call& c) {
  run_kernel_of(c, kernels::range_geometry{c.out[0].dims.size(), c.call.attr(shapes::range_start).as_number(),
                                           shapes::range_step(c.call)});
}

void linspace(const launch_call& c) {
  run_kernel_of(c, kernels::linspace_geometry{c.out[0].dims.size(),
                                              c.call.attr(place_in(attributes::linspace, "start")).as_number(),
                                              c.call.attr(place_in(attributes::linspace, "stop")).as_number()});
}

void random(const launch_call& c) {
  constexpr shapes::random_attrs at = shapes::drawn;
  const kernels::random_geometry all{.count = c.out[0].dims.size(),
                                     .seed = static_cast<std::uint64_t>(c.call.attrs[at.seed].as_integer()),
                                     .offset = 0,
                                     .low = c.call.attrs[at.first].as_number(),
                                     .high = c.call.attrs[at.second].as_number()};
  const std::int64_t size = static_cast<std::int64_t>(size_of(c.out[0].type));
  // A range can be drawn in any pieces: the numbers are counted. Chunks are of whole blocks of the generator.
  const double cost = c.call.row.cost;
  in_chunks(all.count, worth_splitting(c, all.count, cost) ? chunk_elements(cost) : all.count, all.count * size,
            [&](std::int64_t begin, std::int64_t count) {
              kernels::random_geometry g = all;
              g.offset = static_cast<std::uint64_t>(begin);
              g.count = count;
              void* out[] = {advanced(c.out[0].data, begin * size)};
              c.kernel.run(nullptr, out, &g);
            });
}

namespace {

// Every row has weight, and none that is not a number.
template <class T>
void check_weights(const launch_call& c, const T* x, bool normalized) {
  const std::int64_t rows = c.in[0].dims[0], outcomes = c.in[0].dims[1];
  const auto refuse = [&](std::int64_t row, const std::string& got) {
    c.call.refuse(got + " in row " + std::to_string(row), normalized ? "weights from 0 with a finite sum above it"
                                                                     : "logits below infinity, one of them finite");
  };
  for (std::int64_t row = 0; row < rows; ++row, x += outcomes) {
    double sum = 0;
    for (std::int64_t e = 0; e < outcomes; ++e) {
      const double value = static_cast<double>(x[e]);
      const bool sound = normalized ? value >= 0 : value < std::numeric_limits<double>::infinity();
      if (!sound) refuse(row, (normalized ? "weight " : "logit ") + to_string(attr_value(value)));
      sum += normalized ? value : std::isfinite(value) ? 1 : 0;
    }
    if (!(sum > 0) || std::isinf(sum))
      refuse(row, normalized ? "weights with the sum " + to_string(attr_value(sum)) : "no finite logit");
  }
}

}  // namespace

void multinomial(const launch_call& c) {
  const bool normalized = c.call.attr(place_in(attributes::multinomial, "normalized")).as_bool();
  // Logits are read on the host and rejected before anything is drawn.
  if (c.in[0].type == dtype::float32) check_weights(c, static_cast<const float*>(c.in[0].data), normalized);
  else check_weights(c, static_cast<const double*>(c.in[0].data), normalized);
  const double seed = c.call.attr(place_in(attributes::multinomial, "seed")).as_number();
  run_kernel_of(c, kernels::multinomial_geometry{.rows = c.in[0].dims[0],
                                                 .outcomes = c.in[0].dims[1],
                                                 .samples = c.out[0].dims[1],
                                                 .seed = std::bit_cast<std::uint64_t>(seed + 0.0),  // -0 is 0
                                                 .normalized = normalized});
}

}  // namespace kerngrad::launch
