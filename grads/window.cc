// SPDX-License-Identifier: Apache-2.0
// Gradient rules of the convolutions, poolings and dilations. Their backward kernels are ops with rules of their own,
// so every order works: convolution, its image gradient and its filter gradient are each bilinear, and differentiate
// into each other; the gradients of max pooling and dilation are linear in dy and their adjoints read the same
// positions.
module;
#include "kernels/common/abi.h"
module kerngrad:grads_window;

import :std;
import :core;
import :rule;
import :like;
import :call;
import :ops;

namespace kerngrad::rules {

inline constexpr auto zero_gradient_0 = [](const auto& c) { return c.zeros(0); };
inline constexpr auto zero_gradient_1 = [](const auto& c) { return c.zeros(1); };
inline constexpr auto zero_gradient_2 = [](const auto& c) { return c.zeros(2); };

inline constexpr auto window_rules = family_rules(rule_list{
    rule<"Conv2D">(wrt(keep::in1,
                       [](const auto& c) {
                         return call_like<"Conv2DBackpropInput">(c, c.dy(), c.in(1), attr<"inputShape">(c.dims(0)));
                       }),
                   wrt(keep::in0,
                       [](const auto& c) {
                         return call_like<"Conv2DBackpropFilter">(c, c.in(0), c.dy(), attr<"filterShape">(c.dims(1)));
                       })),
    rule<"Conv2DBackpropInput">(wrt(keep::in1, [](const auto& c) { return call_like<"Conv2D">(c, c.dy(), c.in(1)); }),
                                wrt(keep::in0,
                                    [](const auto& c) {
                                      return call_like<"Conv2DBackpropFilter">(c, c.dy(), c.in(0),
                                                                               attr<"filterShape">(c.dims(1)));
                                    })),
    rule<"Conv2DBackpropFilter">(wrt(keep::in1,
                                     [](const auto& c) {
                                       return call_like<"Conv2DBackpropInput">(c, c.in(1), c.dy(),
                                                                               attr<"inputShape">(c.dims(0)));
                                     }),
                                 wrt(keep::in0, [](const auto& c) { return call_like<"Conv2D">(c, c.in(0), c.dy()); })),
    rule<"DepthwiseConv2dNative">(wrt(keep::in1,
                                      [](const auto& c) {
                                        return call_like<"DepthwiseConv2dNativeBackpropInput">(
                                            c, c.dy(), c.in(1), attr<"inputShape">(c.dims(0)));
                                      }),
                                  wrt(keep::in0,
                                      [](const auto& c) {
                                        return call_like<"DepthwiseConv2dNativeBackpropFilter">(
                                            c, c.in(0), c.dy(), attr<"filterShape">(c.dims(1)));
                                      })),
    rule<"DepthwiseConv2dNativeBackpropInput">(
        wrt(keep::in1, [](const auto& c) { return call_like<"DepthwiseConv2dNative">(c, c.dy(), c.in(1)); }),
        wrt(keep::in0,
            [](const auto& c) {
              return call_like<"DepthwiseConv2dNativeBackpropFilter">(c, c.dy(), c.in(0),
                                                                      attr<"filterShape">(c.dims(1)));
            })),
    rule<"DepthwiseConv2dNativeBackpropFilter">(
        wrt(keep::in1,
            [](const auto& c) {
              return call_like<"DepthwiseConv2dNativeBackpropInput">(c, c.in(1), c.dy(), attr<"inputShape">(c.dims(0)));
            }),
        wrt(keep::in0, [](const auto& c) { return call_like<"DepthwiseConv2dNative">(c, c.in(0), c.dy()); })),

    rule<"MaxPool">(wrt(keep::in0 | keep::out0,
                        [](const auto& c) { return call_like<"MaxPoolGrad">(c, c.dy(), c.in(0), c.out()); })),
    rule<"AvgPool">(wrt(keep::in0, [](const auto& c) { return call_like<"AvgPoolGrad">(c, c.dy(), c.in(0)); })),
    rule<"MaxPoolGrad">(wrt(keep::in1, [](const auto& c) { return call_like<"MaxPoolGather">(c, c.dy(), c.in(1)); }),
                        wrt(keep::nothing, zero_gradient_1), wrt(keep::nothing, zero_gradient_2)),
    rule<"AvgPoolGrad">(wrt(keep::nothing, [](const auto& c) { return call_like<"AvgPool">(c, c.dy()); }),
                        wrt(keep::nothing, zero_gradient_1)),
    rule<"MaxPoolGather">(wrt(keep::in1,
                              [](const auto& c) {
                                return call_like<"MaxPoolGrad">(c, c.dy(), c.in(1), call_like<"MaxPool">(c, c.in(1)));
                              }),
                          wrt(keep::nothing, zero_gradient_1)),
    // The positions are those that MaxPoolGrad finds: there is one rule about equal elements.
    rule<"MaxPoolWithArgmax">(wrt(keep::in0 | keep::out0,
                                  [](const auto& c) { return call_like<"MaxPoolGrad">(c, c.dy(), c.in(0), c.out()); })),

    rule<"Dilation2D">(
        wrt(keep::in0 | keep::in1,
            [](const auto& c) { return call_like<"Dilation2DBackpropInput">(c, c.in(0), c.in(1), c.dy()); }),
        wrt(keep::in0 | keep::in1,
            [](const auto& c) { return call_like<"Dilation2DBackpropFilter">(c, c.in(0), c.in(1), c.dy()); })),
    rule<"Dilation2DBackpropInput">(
        wrt(keep::nothing, zero_gradient_0), wrt(keep::nothing, zero_gradient_1),
        wrt(keep::in0 | keep::in1,
            [](const auto& c) { return call_like<"Dilation2DGatherInput">(c, c.dy(), c.in(0), c.in(1)); })),
    rule<"Dilation2DBackpropFilter">(
        wrt(keep::nothing, zero_gradient_0), wrt(keep::nothing, zero_gradient_1),
        wrt(keep::in0 | keep::in1,
            [](const auto& c) { return call_like<"Dilation2DGatherFilter">(c, c.dy(), c.in(0), c.in(1)); })),
    rule<"Dilation2DGatherInput">(
        wrt(keep::in1 | keep::in2,
            [](const auto& c) { return call_like<"Dilation2DBackpropInput">(c, c.in(1), c.in(2), c.dy()); }),
        wrt(keep::nothing, zero_gradient_1), wrt(keep::nothing, zero_gradient_2)),
    rule<"Dilation2DGatherFilter">(
        wrt(keep::in1 | keep::in2,
            [](const auto& c) { return call_like<"Dilation2DBackpropFilter">(c, c.in(1), c.in(2), c.dy()); }),
        wrt(keep::nothing, zero_gradient_1), wrt(keep::nothing, zero_gradient_2)),
});

}  // namespace kerngrad::rules
