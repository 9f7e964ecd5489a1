// SPDX-License-Identifier: Apache-2.0
// Calls of Fourier transforms: along one axis, along several, and of Hermitian operands.
#include <optional>

#include "tests/opinfo/sample.h"

namespace opinfo {

namespace {

using in = const sample&;
using sizes = std::vector<std::int64_t>;

kg::fft_norm norm_of(in s, int place) {
  const std::string name = s.text("norm", place, "backward");
  return name == "ortho" ? kg::fft_norm::ortho : name == "forward" ? kg::fft_norm::forward : kg::fft_norm::backward;
}

// One transform along an axis; n is 0 where it is the axis's size.
using transform = kg::tensor (*)(const kg::tensor&, const kg::fft_options&);

constexpr transform forward = kg::fft, inverse = kg::ifft, of_real = kg::rfft, to_real = kg::irfft,
                    of_hermitian = kg::hfft, to_hermitian = kg::ihfft;

kg::tensor along(const kg::tensor& x, std::int64_t axis, transform f, std::int64_t n, kg::fft_norm norm) {
  return f(x, {.n = n ? std::optional(n) : std::nullopt, .axis = axis, .norm = norm});
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
  const sizes named = s.has("dim", 1) ? s.list("dim", 1) : sizes{};
  const kg::axes over = s.has("dim", 1) ? kg::axes(named) : kg::all_axes;
  return list_of(back ? kg::ifftshift(s.x(), over) : kg::fftshift(s.x(), over));
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
