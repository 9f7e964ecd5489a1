// SPDX-License-Identifier: Apache-2.0
// Calls of Fourier transforms: along one axis, along several, and of Hermitian operands.
#include <algorithm>

#include "tests/opinfo/sample.h"

namespace opinfo {

namespace {

using in = const sample&;
using sizes = std::vector<std::int64_t>;

kg::fft_norm norm_of(in s, int place) {
  const std::string name = s.text("norm", place, "backward");
  return name == "ortho" ? kg::fft_norm::ortho : name == "forward" ? kg::fft_norm::forward : kg::fft_norm::backward;
}

kg::fft_norm other(kg::fft_norm norm) {
  if (norm == kg::fft_norm::ortho) return norm;
  return norm == kg::fft_norm::backward ? kg::fft_norm::forward : kg::fft_norm::backward;
}

kg::tensor as_complex(const kg::tensor& x) {
  if (kg::complex_only.has(x.type())) return x;
  const kg::tensor real = kg::cast(x, kg::dtype::float32);
  return kg::complex(real, kg::zeros_like(real));
}

kg::tensor as_real(const kg::tensor& x) { return kg::floating.has(x.type()) ? x : kg::cast(x, kg::dtype::float32); }

// Rows cut to n, or padded with zeros.
kg::tensor of_length(const kg::tensor& x, std::int64_t n) {
  const std::int64_t size = x.dims()[x.rank() - 1];
  if (n == size) return x;
  if (n < size) return x(kg::ellipsis, kg::range(0, n));
  sizes pairs(static_cast<std::size_t>(2 * x.rank()), 0);
  pairs.back() = n - size;
  return kg::pad(x, pairs);
}

// One transform along an axis; n is 0 where it is the axis's size.
using transform = kg::tensor (*)(const kg::tensor&, std::int64_t n, kg::fft_norm);

kg::tensor forward(const kg::tensor& x, std::int64_t n, kg::fft_norm norm) {
  return kg::fft(n ? of_length(as_complex(x), n) : as_complex(x), norm);
}
kg::tensor inverse(const kg::tensor& x, std::int64_t n, kg::fft_norm norm) {
  return kg::ifft(n ? of_length(as_complex(x), n) : as_complex(x), norm);
}
kg::tensor of_real(const kg::tensor& x, std::int64_t n, kg::fft_norm norm) { return kg::rfft(as_real(x), n, norm); }
kg::tensor to_real(const kg::tensor& x, std::int64_t n, kg::fft_norm norm) { return kg::irfft(as_complex(x), n, norm); }
kg::tensor of_hermitian(const kg::tensor& x, std::int64_t n, kg::fft_norm norm) {
  return kg::irfft(kg::conj(as_complex(x)), n, other(norm));
}
kg::tensor to_hermitian(const kg::tensor& x, std::int64_t n, kg::fft_norm norm) {
  return kg::conj(kg::rfft(as_real(x), n, other(norm)));
}

kg::tensor along(const kg::tensor& x, std::int64_t axis, transform f, std::int64_t n, kg::fft_norm norm) {
  return kg::moveaxis(f(kg::moveaxis(x, axis, -1), n, norm), -1, axis);
}

template <transform F>
results over_one(in s) {
  const auto n = s.whole("n", 1, 0), axis = s.whole("dim", 2, -1);
  return list_of(along(s.x(), axis, F, n, norm_of(s, 3)));
}

struct axes_and_sizes {
  sizes axes, n;
};

axes_and_sizes several(in s, int count) {
  axes_and_sizes all;
  const int rank = s.x().rank();
  if (s.has("s", 1)) all.n = s.list("s", 1);
  if (s.has("dim", 2)) {
    all.axes = s.list("dim", 2);
  } else {
    const int over = count ? count : all.n.empty() ? rank : static_cast<int>(all.n.size());
    for (int i = rank - over; i < rank; ++i) all.axes.push_back(i);
  }
  all.n.resize(all.axes.size(), 0);
  for (std::int64_t& size : all.n) size = size == -1 ? 0 : size;
  return all;
}

// Count axes from the last on, all of them where it is 0: `Last` along the last one, `Rest` along the others. Results
// that are real come last, and operands that are real first.
template <transform Last, transform Rest, bool RealFirst>
results over_several(in s, int count) {
  const auto [axes, n] = several(s, count);
  const kg::fft_norm norm = norm_of(s, 3);
  kg::tensor x = s.x();
  if (axes.empty()) return list_of(x);
  if (RealFirst) x = along(x, axes.back(), Last, n.back(), norm);
  for (std::size_t i = axes.size() - 1; i-- > 0;) x = along(x, axes[i], Rest, n[i], norm);
  if (!RealFirst) x = along(x, axes.back(), Last, n.back(), norm);
  return list_of(x);
}

results shifted(in s, bool back) {
  const kg::tensor x = s.x();
  sizes over, shifts;
  if (s.has("dim", 1)) over = s.list("dim", 1);
  else
    for (int i = 0; i < x.rank(); ++i) over.push_back(i);
  for (const std::int64_t axis : over) {
    const std::int64_t size = x.dims()[static_cast<int>(axis < 0 ? axis + x.rank() : axis)];
    shifts.push_back(back ? -(size / 2) : size / 2);
  }
  return list_of(kg::roll(x, shifts, over));
}

constexpr call_line lines[] = {
    {"signals", "fft.fft", over_one<forward>},
    {"signals", "fft.ifft", over_one<inverse>},
    {"signals", "fft.rfft", over_one<of_real>},
    {"signals", "fft.irfft", over_one<to_real>},
    {"signals", "fft.hfft", over_one<of_hermitian>},
    {"signals", "fft.ihfft", over_one<to_hermitian>},
    {"signals", "fft.fft2", [](in s) { return over_several<forward, forward, true>(s, 2); }},
    {"signals", "fft.fftn", [](in s) { return over_several<forward, forward, true>(s, 0); }},
    {"signals", "fft.ifft2", [](in s) { return over_several<inverse, inverse, true>(s, 2); }},
    {"signals", "fft.ifftn", [](in s) { return over_several<inverse, inverse, true>(s, 0); }},
    {"signals", "fft.rfft2", [](in s) { return over_several<of_real, forward, true>(s, 2); }},
    {"signals", "fft.rfftn", [](in s) { return over_several<of_real, forward, true>(s, 0); }},
    {"signals", "fft.irfft2", [](in s) { return over_several<to_real, inverse, false>(s, 2); }},
    {"signals", "fft.irfftn", [](in s) { return over_several<to_real, inverse, false>(s, 0); }},
    {"signals", "fft.hfft2", [](in s) { return over_several<of_hermitian, forward, false>(s, 2); }},
    {"signals", "fft.hfftn", [](in s) { return over_several<of_hermitian, forward, false>(s, 0); }},
    {"signals", "fft.ihfft2", [](in s) { return over_several<to_hermitian, inverse, true>(s, 2); }},
    {"signals", "fft.ihfftn", [](in s) { return over_several<to_hermitian, inverse, true>(s, 0); }},
    {"signals", "fft.fftshift", [](in s) { return shifted(s, false); }},
    {"signals", "fft.ifftshift", [](in s) { return shifted(s, true); }},
};

}  // namespace

std::span<const call_line> signals_calls() { return lines; }

}  // namespace opinfo
