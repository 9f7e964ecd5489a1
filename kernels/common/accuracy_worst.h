// SPDX-License-Identifier: Apache-2.0
// The largest error of every math function and where it is, on the best target of the machine that measured it.
// Made by `./dev accuracy --rows kernels/common/accuracy_worst.h`; tests/elementwise/math.cc measures each again.
#pragma once
#include "kernels/common/accuracy.h"

namespace kerngrad::kernels {

// clang-format off
inline constexpr accuracy_worst accuracy_measured[] = {
    {"Exp", dtype::float32, 0.9091, 0x1.4cc98p+2, 0, "AVX3", true},
    {"Exp", dtype::float64, 0.8438, -0x1.2f8f5c28f5c28p+6, 0, "AVX3", false},
    {"Expm1", dtype::float32, 1.0468, 0x1.1146f2p+4, 0, "AVX3", true},
    {"Expm1", dtype::float64, 1.0337, 0x1.292a30552b30cp+5, 0, "AVX3", false},
    {"Log", dtype::float32, 0.7514, 0x1.10529p+0, 0, "AVX3", true},
    {"Log", dtype::float64, 0.7520, 0x1.461c2038c8364p+0, 0, "AVX3", false},
    {"Log1p", dtype::float32, 0.7529, 0x1.0ae2e6p-5, 0, "AVX3", true},
    {"Log1p", dtype::float64, 0.7803, 0x1.a5dd36182e983p-2, 0, "AVX3", false},
    {"Sin", dtype::float32, 1.4745, -0x1.8b4886p+12, 0, "AVX3", false},
    {"Sin", dtype::float64, 0.7690, -0x1.afdc28f5c28f5p+7, 0, "AVX3", false},
    {"Cos", dtype::float32, 1.4803, -0x1.64e184p+12, 0, "AVX3", false},
    {"Cos", dtype::float64, 0.7651, -0x1.3d33333333334p+6, 0, "AVX3", false},
    {"Tan", dtype::float32, 0.0000, 0x1.ca40ccp+17, 0, "AVX3", false},
    {"Tan", dtype::float64, 2.0737, 0x1.228240b777be2p+7, 0, "AVX3", false},
    {"Asin", dtype::float32, 0.6141, -0x1.d21a0ep-2, 0, "AVX3", false},
    {"Asin", dtype::float64, 2.0166, 0x1.0e96ad9da0efep-1, 0, "AVX3", false},
    {"Acos", dtype::float32, 0.6053, 0x1.2a72bep-1, 0, "AVX3", false},
    {"Acos", dtype::float64, 1.0396, -0x1.00037ec8e8ed4p-1, 0, "AVX3", false},
    {"Atan", dtype::float32, 0.9766, -0x1.2464e6p+0, 0, "AVX3", false},
    {"Atan", dtype::float64, 1.7520, 0x1.b2870f0bc1e1dp-2, 0, "AVX3", false},
    {"Atan2", dtype::float32, 0.9020, 0x1.21e00cp-14, 0x1.410c2ap-14, "AVX3", false},
    {"Atan2", dtype::float64, 2.0620, -0x1.2c2f14992ab5ap-51, 0x1.4b18eb6571027p-50, "AVX3", false},
    {"Sinh", dtype::float32, 1.5823, 0x1.6a8e0cp+0, 0, "AVX3", false},
    {"Sinh", dtype::float64, 1.5107, 0x1.6e091ed4440e7p+0, 0, "AVX3", false},
    {"Cosh", dtype::float32, 1.4254, -0x1.e8b5acp+1, 0, "AVX3", false},
    {"Cosh", dtype::float64, 1.3760, 0x1.eea588738ab6cp+1, 0, "AVX3", false},
    {"Tanh", dtype::float32, 1.0734, 0x1.ff5a4ep-4, 0, "AVX3", true},
    {"Tanh", dtype::float64, 1.4341, 0x1.1d97f62b679c2p-1, 0, "AVX3", false},
    {"Asinh", dtype::float32, 0.7420, 0x1.001b9p-4, 0, "AVX3", false},
    {"Asinh", dtype::float64, 1.4980, 0x1.dfd60e94ebba3p-3, 0, "AVX3", false},
    {"Acosh", dtype::float32, 0.7394, 0x1.0021ecp+0, 0, "AVX3", false},
    {"Acosh", dtype::float64, 1.6357, 0x1.0732df50592d7p+0, 0, "AVX3", false},
    {"Atanh", dtype::float32, 0.5634, 0x1.5aa52ep-4, 0, "AVX3", false},
    {"Atanh", dtype::float64, 1.8140, -0x1.fb7095dbf8861p-7, 0, "AVX3", false},
    {"Erf", dtype::float32, 1.4043, 0x1.1259cap-4, 0, "AVX3", true},
    {"Erf", dtype::float64, 0.9453, 0x1.ff8769ec29072p-1, 0, "AVX3", false},
    {"Sigmoid", dtype::float32, 2.2809, -0x1.36edccp+0, 0, "AVX3", true},
    {"Sigmoid", dtype::float64, 2.0503, -0x1.bae147ae147d8p+1, 0, "AVX3", false},
    {"Softplus", dtype::float32, 1.8513, 0x1.6781cp-7, 0, "AVX3", true},
    {"Softplus", dtype::float64, 1.4712, 0x1.9b4da202aa1a1p-2, 0, "AVX3", false},
    {"Gelu", dtype::float32, 2.8558, -0x1.509772p+0, 0, "AVX3", false},
    {"Gelu", dtype::float64, 3.3848, -0x1.836113404b176p-1, 0, "AVX3", false},
    {"Silu", dtype::float32, 2.4031, -0x1.0af0b8p+4, 0, "AVX3", true},
    {"Silu", dtype::float64, 1.9478, -0x1.ffdd0c26d8513p-37, 0, "AVX3", false},
    {"Elu", dtype::float32, 0.8204, -0x1.174c5ap-2, 0, "AVX3", true},
    {"Elu", dtype::float64, 0.7920, -0x1.23c9eecbf86afp-2, 0, "AVX3", false},
    {"Selu", dtype::float32, 1.7491, -0x1.44af82p-2, 0, "AVX3", false},
    {"Selu", dtype::float64, 2.6543, -0x1.4f9bf2c8957c1p-2, 0, "AVX3", false},
    {"Rsqrt", dtype::float32, 0.5000, 0x1.13e07p-129, 0, "AVX3", true},
    {"Rsqrt", dtype::float64, 0.0000, 0x1.33eff19503774p-977, 0, "AVX3", false},
    {"Pow", dtype::float32, 0.5248, 0x1.0002c8p+0, -0x1.f2f8aep+20, "AVX3", false},
    {"Pow", dtype::float64, 1.0811, 0x1.4477bc55d680fp-31, -0x1.e0b3b2ae97adap+3, "AVX3", false},
    {"Round", dtype::float32, 0.0000, 0, 0, "AVX3", true},
    {"Round", dtype::float64, 0.0000, 0, 0, "AVX3", false},
};
// clang-format on

}  // namespace kerngrad::kernels
