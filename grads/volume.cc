// SPDX-License-Identifier: Apache-2.0
// Gradient rules of the convolutions and poolings of volumes; as those of images (grads/window.cc), so that every order
// works.
module;
#include "kernels/common/abi.h"
module kerngrad:grads_volume;

import :std;
import :core;
import :rule;
import :like;
import :call;
import :ops;

namespace kerngrad::rules {

template <class C, class V>
auto convolve_to_volume(const C& c, const V& dy, const V& filter) {
  return call_like<"Conv3DBackpropInputV2">(c, dy, filter, attr<"inputShape">(c.dims(0)));
}
template <class C, class V>
auto convolve_to_filter(const C& c, const V& x, const V& dy) {
  return call_like<"Conv3DBackpropFilterV2">(c, x, dy, attr<"filterShape">(c.dims(1)));
}

inline constexpr auto volume_rules = family_rules(rule_list{
    rule<"Conv3D">(wrt(keep::in1, [](const auto& c) { return convolve_to_volume(c, c.dy(), c.in(1)); }),
                   wrt(keep::in0, [](const auto& c) { return convolve_to_filter(c, c.in(0), c.dy()); })),
    rule<"Conv3DBackpropInputV2">(wrt(keep::in1, [](const auto& c) { return call_like<"Conv3D">(c, c.dy(), c.in(1)); }),
                                  wrt(keep::in0, [](const auto& c) { return convolve_to_filter(c, c.dy(), c.in(0)); })),
    rule<"Conv3DBackpropFilterV2">(
        wrt(keep::in1, [](const auto& c) { return convolve_to_volume(c, c.in(1), c.dy()); }),
        wrt(keep::in0, [](const auto& c) { return call_like<"Conv3D">(c, c.in(0), c.dy()); })),

    rule<"MaxPool3D">(wrt(keep::in0 | keep::out0,
                          [](const auto& c) { return call_like<"MaxPool3DGrad">(c, c.dy(), c.in(0), c.out()); })),
    rule<"AvgPool3D">(wrt(keep::in0, [](const auto& c) { return call_like<"AvgPool3DGrad">(c, c.dy(), c.in(0)); })),
    rule<"MaxPool3DGrad">(
        wrt(keep::in1, [](const auto& c) { return call_like<"MaxPool3DGather">(c, c.dy(), c.in(1)); }),
        wrt(keep::nothing, [](const auto& c) { return c.zeros(1); }),
        wrt(keep::nothing, [](const auto& c) { return c.zeros(2); })),
    rule<"AvgPool3DGrad">(wrt(keep::nothing, [](const auto& c) { return call_like<"AvgPool3D">(c, c.dy()); }),
                          wrt(keep::nothing, [](const auto& c) { return c.zeros(1); })),
    rule<"MaxPool3DGather">(wrt(keep::in1,
                                [](const auto& c) {
                                  return call_like<"MaxPool3DGrad">(c, c.dy(), c.in(1),
                                                                    call_like<"MaxPool3D">(c, c.in(1)));
                                }),
                            wrt(keep::nothing, [](const auto& c) { return c.zeros(1); })),
});

}  // namespace kerngrad::rules
