// SPDX-License-Identifier: Apache-2.0
#include "tests/graph/op_cases.h"

namespace kgtest {

namespace {

using kg::tensor;

tensor ramp(const kg::shape& dims, float from, float step) {
  return kg::reshape(kg::arange(static_cast<double>(dims.size())) * step + from, dims);
}

// Windows as loops: an image [1, height, width, channels] whose pixels outside are 0.
tensor convolved(const tensor& x, const tensor& w, int stride, int before, std::int64_t out, bool depthwise = false) {
  const std::int64_t channels = depthwise ? w.dims()[2] * w.dims()[3] : w.dims()[3];
  return tensor::build<float>({1, out, out, channels}, [&](std::span<float> y) {
    std::size_t at = 0;
    for (std::int64_t i = 0; i < out; ++i)
      for (std::int64_t j = 0; j < out; ++j)
        for (std::int64_t c = 0; c < channels; ++c, ++at) {
          double sum = 0;
          for (std::int64_t di = 0; di < w.dims()[0]; ++di)
            for (std::int64_t dj = 0; dj < w.dims()[1]; ++dj)
              for (std::int64_t k = 0; k < w.dims()[2]; ++k) {
                const std::int64_t row = i * stride + di - before, column = j * stride + dj - before;
                if (row < 0 || column < 0 || row >= x.dims()[1] || column >= x.dims()[2]) continue;
                if (depthwise && k != c / w.dims()[3]) continue;
                const float weight =
                    depthwise ? w.item<float>(di, dj, k, c % w.dims()[3]) : w.item<float>(di, dj, k, c);
                sum += static_cast<double>(x.item<float>(std::int64_t{0}, row, column, k)) * weight;
              }
          y[at] = static_cast<float>(sum);
        }
  });
}

tensor first_channels(const tensor& x) { return kg::transpose(x, {0, 3, 1, 2}); }

json window(std::string_view pad, std::int64_t stride = 1) {
  return {{"strides", wholes({1, stride, stride, 1})}, {"padding", text(pad)}};
}
json with(json attrs, std::initializer_list<std::pair<std::string, json>> more) {
  for (const auto& [name, value] : more) attrs[name] = value;
  return attrs;
}

// An image, filters for it, and a value for each of the two channels of the result.
const tensor x = ramp({1, 4, 4, 2}, -1, 0.1f), w = ramp({3, 3, 2, 2}, 0.3f, -0.02f),
             deep = ramp({3, 3, 2, 1}, -0.2f, 0.05f);
const tensor bias({0.5f, -2.f}), slopes({0.25f, 0.5f}), half({0.5f, 2.f}), moments({0.1f, -0.3f}), spread({1.5f, 0.7f});

void add_convolutions(std::vector<op_case>& all) {
  const tensor y = convolved(x, w, 1, 1, 4);
  const json explicit_pad = with(window("EXPLICIT", 2), {{"explicit_paddings", wholes({0, 0, 1, 1, 1, 1, 0, 0})}});
  all.insert(
      all.end(),
      {{"Conv2D", window("SAME"), {x, w}, {y}},
       {"Conv2D", window("VALID"), {x, w}, {convolved(x, w, 1, 0, 2)}},
       {"Conv2D", explicit_pad, {x, w}, {convolved(x, w, 2, 1, 2)}},
       {"Conv2D",
        {{"strides", wholes({1, 1, 2, 2})},
         {"padding", text("EXPLICIT")},
         {"explicit_paddings", wholes({0, 0, 0, 0, 1, 1, 1, 1})},
         {"data_format", text("NCHW")}},
        {first_channels(x), w},
        {first_channels(convolved(x, w, 2, 1, 2))}},
       {"DepthwiseConv2dNative", window("SAME"), {x, deep}, {convolved(x, deep, 1, 1, 4, true)}},
       {"DepthwiseConv2d", window("SAME"), {x, deep}, {convolved(x, deep, 1, 1, 4, true)}},
       {"Conv1D",
        {{"stride", whole(1)}, {"padding", text("VALID")}},
        {ramp({1, 5, 2}, 0, 1), kg::ones({2, 2, 1})},
        {tensor({6.f, 14.f, 22.f, 30.f}, {1, 4, 1})}},
       {"Conv2DBackpropInput",
        window("SAME", 2),
        {ints({1, 4, 4, 1}), kg::ones({2, 2, 1, 1}), tensor({1.f, 2.f, 3.f, 4.f}, {1, 2, 2, 1})},
        {tensor({1.f, 1.f, 2.f, 2.f, 1.f, 1.f, 2.f, 2.f, 3.f, 3.f, 4.f, 4.f, 3.f, 3.f, 4.f, 4.f}, {1, 4, 4, 1})}},
       {"Conv3D",
        {{"strides", wholes({1, 1, 1, 1, 1})}, {"padding", text("VALID")}},
        {kg::ones({1, 2, 2, 2, 1}), kg::ones({2, 2, 2, 1, 3})},
        {kg::full({1, 1, 1, 1, 3}, 8.f)}},
       {"Dilation2D",
        {{"strides", wholes({1, 1, 1, 1})}, {"rates", wholes({1, 1, 1, 1})}, {"padding", text("VALID")}},
        {ramp({1, 2, 2, 1}, 0, 1), tensor({0.f, 5.f, 0.f, 0.f}, {2, 2, 1})},
        {tensor({6.f}, {1, 1, 1, 1})}}});
}

void add_fused(std::vector<op_case>& all) {
  const tensor y = convolved(x, w, 1, 1, 4), z = convolved(x, deep, 1, 1, 4, true), biased = y + bias;
  const auto fused = [](std::initializer_list<std::string_view> ops) {
    return with(window("SAME"),
                {{"fused_ops", texts(ops)}, {"leakyrelu_alpha", number(0.1)}, {"epsilon", number(0.01)}});
  };
  const tensor normed = (y - moments) / kg::sqrt(spread + 0.01f) * half + bias;
  const tensor a = ramp({2, 3}, -1, 0.5f), b = ramp({3, 2}, 1, -0.25f), ab = kg::matmul(a, b);
  const json transposed{{"transpose_b", flag(true)}, {"fused_ops", texts({"BiasAdd", "Relu"})}};
  all.insert(all.end(),
             {{"_FusedConv2D", fused({"BiasAdd"}), {x, w, bias}, {biased}},
              {"_FusedConv2D", fused({"BiasAdd", "Relu"}), {x, w, bias}, {kg::relu(biased)}},
              {"_FusedConv2D", fused({"BiasAdd", "Relu6"}), {x, w, bias}, {kg::relu6(biased)}},
              {"_FusedConv2D", fused({"BiasAdd", "Elu"}), {x, w, bias}, {kg::elu(biased)}},
              {"_FusedConv2D", fused({"BiasAdd", "Sigmoid"}), {x, w, bias}, {kg::sigmoid(biased)}},
              {"_FusedConv2D", fused({"BiasAdd", "LeakyRelu"}), {x, w, bias}, {kg::leaky_relu(biased, 0.1)}},
              {"_FusedConv2D", fused({"BiasAdd", "Prelu"}), {x, w, bias, slopes}, {kg::prelu(biased, slopes)}},
              {"_FusedConv2D", fused({"Relu"}), {x, w}, {kg::relu(y)}},
              {"_FusedConv2D", fused({"BiasAdd", "Tanh"}), {x, w, bias}, {kg::tanh(biased)}},
              {"_FusedConv2D", fused({"FusedBatchNorm"}), {x, w, half, bias, moments, spread}, {normed}},
              {"_FusedConv2D",
               fused({"FusedBatchNorm", "LeakyRelu"}),
               {x, w, half, bias, moments, spread},
               {kg::leaky_relu(normed, 0.1)}},
              {"FusedDepthwiseConv2dNative", fused({"BiasAdd", "Relu6"}), {x, deep, bias}, {kg::relu6(z + bias)}},
              {"FusedDepthwiseConv2dNative", fused({"BiasAdd", "Tanh"}), {x, deep, bias}, {kg::tanh(z + bias)}},
              {"_FusedMatMul", {{"fused_ops", texts({"BiasAdd", "Elu"})}}, {a, b, bias}, {kg::elu(ab + bias)}},
              {"_FusedMatMul", {{"fused_ops", texts({"BiasAdd", "Tanh"})}}, {a, b, bias}, {kg::tanh(ab + bias)}},
              {"_FusedMatMul", transposed, {a, kg::transpose(b), bias}, {kg::relu(ab + bias)}},
              {"MatMul", {{"transpose_a", flag(true)}}, {kg::transpose(a), b}, {ab}},
              {"BatchMatMul", {{"adj_y", flag(true)}}, {a, kg::transpose(b)}, {ab}},
              {"BatchMatMulV2", {{"adj_x", flag(true)}}, {kg::transpose(a), b}, {ab}},
              {"Einsum", {{"equation", text("ij,jk->ki")}, {"N", whole(2)}}, {a, b}, {kg::transpose(ab)}}});
}

void add_pools(std::vector<op_case>& all) {
  const tensor p = ramp({1, 2, 2, 1}, 0, 1), volume = kg::reshape(p, {1, 1, 2, 2, 1});
  const json pool = with(window("VALID", 2), {{"ksize", wholes({1, 2, 2, 1})}});
  const json pool3{
      {"ksize", wholes({1, 1, 2, 2, 1})}, {"strides", wholes({1, 1, 2, 2, 1})}, {"padding", text("VALID")}};
  const tensor three({3.f}, {1, 1, 1, 1}), mean({1.5f}, {1, 1, 1, 1});
  all.insert(all.end(), {{"MaxPool", pool, {p}, {three}},
                         {"AvgPool", pool, {p}, {mean}},
                         {"MaxPool3D", pool3, {volume}, {kg::reshape(three, {1, 1, 1, 1, 1})}},
                         {"AvgPool3D", pool3, {volume}, {kg::reshape(mean, {1, 1, 1, 1, 1})}},
                         {"MaxPoolWithArgmax",
                          with(pool, {{"include_batch_in_index", flag(true)}}),
                          {p},
                          {three, ints({3}, {1, 1, 1, 1})}}});
}

void add_norms(std::vector<op_case>& all) {
  const tensor normed = (x - moments) / kg::sqrt(spread + 0.01f) * half + bias;
  const json epsilon{{"epsilon", number(0.01)}, {"is_training", flag(false)}};
  for (const std::string_view op : {"FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"}) {
    all.push_back({op, epsilon, {x, half, bias, moments, spread}, {normed}});
    all.push_back({op,
                   with(epsilon, {{"data_format", text("NCHW")}}),
                   {first_channels(x), half, bias, moments, spread},
                   {first_channels(normed)}});
  }
  const tensor l = tensor({3.f, 4.f}, {1, 1, 1, 2});
  all.insert(
      all.end(),
      {{"BiasAdd", none, {x, bias}, {x + bias}},
       {"BiasAdd", {{"data_format", text("NCHW")}}, {first_channels(x), bias}, {first_channels(x + bias)}},
       {"LRN",
        {{"depth_radius", whole(0)}, {"bias", number(1)}, {"alpha", number(2)}, {"beta", number(1)}},
        {l},
        {tensor({3.f / 19, 4.f / 33}, {1, 1, 1, 2})}},
       {"EuclideanNorm", {{"keep_dims", flag(true)}}, {tensor({3.f, 4.f}, {1, 2}), ints({1})}, {tensor({5.f}, {1, 1})}},
       {"LeakyRelu", {{"alpha", number(0.5)}}, {tensor({-2.f, 2.f})}, {tensor({-1.f, 2.f})}},
       {"ClipByValue", none, {tensor({-2.f, 0.5f, 2.f}), tensor(-1.f), tensor(1.f)}, {tensor({-1.f, 0.5f, 1.f})}}});
}

void add_images(std::vector<op_case>& all) {
  const tensor p = ramp({1, 2, 2, 1}, 0, 1);
  const tensor aligned({0.f, 0.5f, 1.f, 1.f, 1.5f, 2.f, 2.f, 2.5f, 3.f}, {1, 3, 3, 1});
  const json crop{{"method", text("bilinear")}, {"extrapolation_value", number(9)}};
  const json moved{{"interpolation", text("NEAREST")}, {"fill_mode", text("CONSTANT")}};
  all.insert(
      all.end(),
      {{"ResizeBilinear", {{"align_corners", flag(true)}}, {p, ints({3, 3})}, {aligned}},
       {"ResizeNearestNeighbor", none, {p, ints({1, 4})}, {tensor({0.f, 0.f, 1.f, 1.f}, {1, 1, 4, 1})}},
       {"CropAndResize",
        crop,
        {p, tensor({0.f, 0.f, 1.f, 1.f, 5.f, 5.f, 6.f, 6.f}, {2, 4}), ints({0, 0}), ints({1, 1})},
        {tensor({1.5f, 9.f}, {2, 1, 1, 1})}},
       {"ImageProjectiveTransformV3",
        moved,
        {p, tensor({1.f, 0.f, 1.f, 0.f, 1.f, 0.f, 0.f, 0.f}, {1, 8}), ints({2, 2}), tensor(7.f)},
        {tensor({1.f, 7.f, 3.f, 7.f}, {1, 2, 2, 1})}},
       {"DepthToSpace", {{"block_size", whole(2)}, {"data_format", text("NHWC")}}, {kg::reshape(p, {1, 1, 1, 4})}, {p}},
       {"SpaceToBatchND", none, {p, ints({2, 2}), ints({0, 0, 0, 0}, {2, 2})}, {kg::reshape(p, {4, 1, 1, 1})}},
       {"BatchToSpaceND", none, {kg::reshape(p, {4, 1, 1, 1}), ints({2, 2}), ints({0, 0, 0, 0}, {2, 2})}, {p}}});
}

}  // namespace

std::vector<op_case> layer_cases() {
  std::vector<op_case> all;
  add_convolutions(all);
  add_fused(all);
  add_pools(all);
  add_norms(all);
  add_images(all);
  return all;
}

}  // namespace kgtest
