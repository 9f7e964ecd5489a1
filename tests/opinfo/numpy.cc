// SPDX-License-Identifier: Apache-2.0
// Calls of functions of NumPy and SciPy that PyTorch lacks.
#include "tests/opinfo/sample.h"

namespace opinfo {

namespace {

using in = const sample&;

kg::tensor as_image(const kg::tensor& x) { return kg::reshape(x, {1, x.dims()[0], x.dims()[1], 1}); }

kg::tensor as_matrix(const kg::tensor& y) { return kg::reshape(y, {y.dims()[1], y.dims()[2]}); }

// Along the only axis of lists: with the second one reversed where it is a convolution, of which all parts count.
kg::tensor convolved(in s, bool reversed) {
  const kg::tensor x = kg::reshape(s.x(), {-1, 1}), w = reversed ? kg::flip(s.x(1)) : s.x(1);
  const int around = reversed ? static_cast<int>(w.size()) - 1 : 0;
  return kg::ravel(kg::conv1d(x, kg::reshape(w, {-1, 1, 1}), {.pad = kg::padding(0, 0, around, around)}));
}

// The map of rows and columns as one of x and y: SciPy's matrix takes a position of the result to one of the image.
kg::tensor map_of(const kg::tensor& matrix, const kg::tensor& offset) {
  const kg::tensor zero = kg::zeros({}, matrix.type());
  return kg::reshape(
      kg::stack({matrix(1, 1), matrix(1, 0), offset(1), matrix(0, 1), matrix(0, 0), offset(0), zero, zero}), {1, 8});
}

constexpr call_line lines[] = {
    {"reductions", "np.median", [](in s) { return list_of(kg::median(s.x(), s.axes("axis", 1))); }},
    {"reductions", "np.percentile",
     [](in s) { return list_of(kg::quantile(s.x(), s.number("q", 1) / 100, s.axes("axis", 2))); }},
    {"reductions", "scipy.special.logsumexp",
     [](in s) { return list_of(kg::logsumexp(kg::moveaxis(s.x(), s.whole("axis", 1), -1))); }},
    {"reductions", "scipy.ndimage.sum_labels",
     [](in s) { return list_of(kg::segment_sum(s.x(), s.x(1), s.whole("index", 2))); }},
    {"reductions", "scipy.ndimage.mean",
     [](in s) { return list_of(kg::segment_mean(s.x(), s.x(1), s.whole("index", 2))); }},
    {"reductions", "scipy.ndimage.maximum",
     [](in s) { return list_of(kg::segment_max(s.x(), s.x(1), s.whole("index", 2))); }},
    {"reductions", "scipy.ndimage.minimum",
     [](in s) { return list_of(kg::segment_min(s.x(), s.x(1), s.whole("index", 2))); }},
    {"signals", "np.convolve", [](in s) { return list_of(convolved(s, true)); }},
    {"signals", "np.correlate", [](in s) { return list_of(convolved(s, false)); }},
    {"signals", "scipy.signal.correlate2d",
     [](in s) {
       const kg::tensor filter = kg::reshape(s.x(1), {s.x(1).dims()[0], s.x(1).dims()[1], 1, 1});
       return list_of(as_matrix(kg::conv2d(as_image(s.x()), filter)));
     }},
    {"signals", "scipy.ndimage.grey_dilation",
     [](in s) { return list_of(as_matrix(kg::dilation2d(as_image(s.x()), kg::expand_dims(s.x(1), -1)))); }},
    {"signals", "scipy.ndimage.affine_transform",
     [](in s) {
       return list_of(as_matrix(kg::transform(as_image(s.x()), map_of(s.x(1), s.x(2)), {.bilinear = true})));
     }},
};

}  // namespace

std::span<const call_line> numpy_calls() { return lines; }

}  // namespace opinfo
