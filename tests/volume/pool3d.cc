// SPDX-License-Identifier: Apache-2.0
// Pooling of volumes and its gradients against the definition written out here, on every target.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels/volume/pool3d.h"
#include "tests/support/kernels.h"

namespace {
using namespace kerngrad::kernels;
using kerngrad::dtype;

template <class T>
constexpr dtype type_of = std::is_integral_v<T> ? dtype::int32
                          : sizeof(T) == 4      ? dtype::float32
                                                : dtype::float64;

template <class T>
run_fn kernel(const std::string& op, bool simd) {
  for (const entry& e :
       simd ? std::vector<entry>(std::begin(pool3d_simd), std::end(pool3d_simd))
            : std::vector<entry>(std::begin(reference::pool3d_reference), std::end(reference::pool3d_reference))) {
    if (e.op == op && e.type == type_of<T>) return e.run;
  }
  return nullptr;
}

// The inputs inside that an output index sees on an axis.
std::vector<std::int64_t> seen_by(const volume_axis& a, std::int64_t o) {
  std::vector<std::int64_t> found;
  for (std::int64_t k = 0; k < a.filter; ++k) {
    const std::int64_t at = o * a.stride - a.pad + k * a.dilation;
    if (at >= 0 && at < a.in) found.push_back(at);
  }
  return found;
}

using window = std::vector<std::size_t>;

// For every element of the result, the elements of the volume that its window covers, in row-major order.
std::vector<window> windows(const volume_geometry& g) {
  std::vector<window> all;
  for (std::int64_t b = 0; b < g.batch; ++b)
    for (std::int64_t oz = 0; oz < g.depth.out; ++oz)
      for (std::int64_t oy = 0; oy < g.height.out; ++oy)
        for (std::int64_t ox = 0; ox < g.width.out; ++ox)
          for (std::int64_t c = 0; c < g.in_c; ++c) {
            window& covered = all.emplace_back();
            for (const std::int64_t iz : seen_by(g.depth, oz))
              for (const std::int64_t iy : seen_by(g.height, oy))
                for (const std::int64_t ix : seen_by(g.width, ox))
                  covered.push_back(static_cast<std::size_t>(
                      (((b * g.depth.in + iz) * g.height.in + iy) * g.width.in + ix) * g.in_c + c));
          }
  return all;
}

// x, and operands of the shapes of x and of the output; `special` sprinkles NaN, infinities, zeros and equal values.
template <class T>
struct operands {
  kgtest::guarded<T> x, source, dy, y, dx;
  operands(const volume_geometry& g, kgtest::edge side, bool special)
      : x(static_cast<std::size_t>(g.batch * g.depth.in * g.in_slice()), side),
        source(x.size(), side),
        dy(static_cast<std::size_t>(g.batch * g.depth.out * g.out_slice()), side),
        y(dy.size(), side),
        dx(x.size(), side) {
    std::mt19937 random(3);
    for (T& v : x) {
      v = special ? static_cast<T>(static_cast<int>(random() % 3) - 1)
                  : static_cast<T>(static_cast<double>(random()) / 4294967296.0 * 1000 - 500);
      if constexpr (!std::is_integral_v<T>) {
        const unsigned kind = special ? random() % 8 : 8;
        if (kind < 2) v = std::numeric_limits<T>::quiet_NaN();
        if (kind == 2) v = -std::numeric_limits<T>::infinity();
        if (kind == 3) v = -T{0};
      }
    }
    for (T& v : source) v = static_cast<T>(random() % 1000);
    for (T& v : dy) v = static_cast<T>(static_cast<double>(random()) / 4294967296.0 - 0.5);
    for (auto* result : {&y, &dx}) std::fill(result->begin(), result->end(), T{77});
  }
  void run(const std::string& op, bool simd, const volume_geometry& g, std::vector<const void*> in, T* result) const {
    void* out[] = {result};
    kernel<T>(op, simd)(in.data(), out, &g);
  }
  // Index of the first maximum in the window, or none.
  const std::size_t* first_maximum(const window& covered) const {
    const std::size_t* best = nullptr;
    for (const std::size_t& at : covered) {
      if (x[at] == x[at] && (best == nullptr || x[at] > x[*best])) best = &at;
    }
    return best;
  }
};

template <class T>
void check_max(const volume_geometry& g, kgtest::edge side, bool special, bool simd) {
  operands<T> o(g, side, special);
  const std::vector<window> all = windows(g);
  const T lowest = std::is_integral_v<T> ? std::numeric_limits<T>::lowest() : -std::numeric_limits<T>::infinity();
  o.run("MaxPool3D", simd, g, {o.x.data()}, o.y.data());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t* best = o.first_maximum(all[i]);
    const T wanted = best ? o.x[*best] : lowest;
    ASSERT_EQ(o.y[i], wanted) << i;
    if constexpr (!std::is_integral_v<T>) ASSERT_EQ(std::signbit(o.y[i]), std::signbit(wanted)) << i;
  }
}

template <class T>
void expect_sums(const kgtest::guarded<T>& got, const std::vector<long double>& sums,
                 const std::vector<long double>& sizes) {
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const long double bound = 1e-30L + 70 * std::numeric_limits<T>::epsilon() * sizes[i];
    ASSERT_LE(std::fabs(static_cast<long double>(got[i]) - sums[i]), bound) << i;
  }
}

template <class T>
void check_max_gradients(const volume_geometry& g, kgtest::edge side, bool special, bool simd) {
  operands<T> o(g, side, special);
  const std::vector<window> all = windows(g);
  o.run("MaxPool3DGather", simd, g, {o.source.data(), o.x.data()}, o.y.data());
  o.run("MaxPool3DGrad", simd, g, {o.dy.data(), o.x.data(), nullptr}, o.dx.data());
  std::vector<long double> dx(o.x.size()), size(o.x.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t* best = o.first_maximum(all[i]);
    ASSERT_EQ(o.y[i], best ? o.source[*best] : T{0}) << i;
    if (!best) continue;
    dx[*best] += o.dy[i];
    size[*best] += std::fabs(static_cast<long double>(o.dy[i]));
  }
  expect_sums(o.dx, dx, size);
}

template <class T>
void check_average(const volume_geometry& g, kgtest::edge side, bool special, bool simd) {
  operands<T> o(g, side, special);
  const std::vector<window> all = windows(g);
  o.run("AvgPool3D", simd, g, {o.x.data()}, o.y.data());
  o.run("AvgPool3DGrad", simd, g, {o.dy.data(), nullptr}, o.dx.data());
  std::vector<long double> dx(o.x.size()), dx_size(o.x.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    long double sum = 0, size = 0;
    for (const std::size_t at : all[i]) {
      sum += o.x[at];
      size += std::fabs(static_cast<long double>(o.x[at]));
      dx[at] += static_cast<long double>(o.dy[i]) / all[i].size();
      dx_size[at] += std::fabs(static_cast<long double>(o.dy[i]));
    }
    const long double wanted = all[i].empty() ? 0 : sum / all[i].size();
    const long double got = o.y[i];
    if (std::isnan(wanted) || std::isinf(wanted)) {
      ASSERT_TRUE(std::isnan(wanted) ? std::isnan(got) : got == wanted) << i << ": " << got;
    } else {
      ASSERT_LE(std::fabs(got - wanted), 1e-30L + 2 * std::numeric_limits<T>::epsilon() * size) << i;
    }
  }
  expect_sums(o.dx, dx, dx_size);
}

std::vector<volume_geometry> geometries() {
  constexpr std::int64_t channels[] = {1, 2, 3, 5, 8, 16, 17, 33}, sizes[] = {1, 2, 4, 5}, filters[] = {1, 2, 3};
  std::vector<volume_geometry> list;
  std::mt19937 random(11);
  const auto pick = [&](const auto& from) { return from[random() % std::size(from)]; };
  for (int i = 0; i < 80; ++i) {
    const auto axis = [&]() -> volume_axis {
      const std::int64_t in = pick(sizes), filter = pick(filters), stride = pick(filters), dilation = 1 + random() % 2;
      const std::int64_t reach = (filter - 1) * dilation + 1, before = random() % (reach + 2), after = random() % 3;
      return {in,    std::max<std::int64_t>(0, in + before + after - reach + stride) / stride, filter, stride, dilation,
              before};
    };
    const std::int64_t c = pick(channels);
    list.push_back({2, c, c, axis(), axis(), axis()});
  }
  const volume_axis half{4, 2, 2, 2, 1, 0};
  list.push_back({2, 64, 64, half, half, half});
  list.push_back({0, 3, 3, half, half, half});
  list.push_back({1, 3, 3, {4, 0, 2, 2, 1, 0}, half, half});
  list.push_back({1, 20, 20, half, {0, 2, 2, 2, 1, 0}, half});
  list.push_back({1, 0, 0, half, half, half});
  return list;
}

template <class T>
void check_everywhere(bool simd) {
  for (const volume_geometry& g : geometries()) {
    SCOPED_TRACE(::testing::Message() << "in " << g.depth.in << 'x' << g.height.in << 'x' << g.width.in << 'x' << g.in_c
                                      << " filter " << g.depth.filter << 'x' << g.height.filter << 'x' << g.width.filter
                                      << " pad " << g.depth.pad << ' ' << g.height.pad << ' ' << g.width.pad);
    for (const kgtest::edge side : kgtest::edges) {
      for (const bool special : {false, true}) {
        check_max<T>(g, side, special, simd);
        if constexpr (!std::is_integral_v<T>) {
          check_max_gradients<T>(g, side, special, simd);
          check_average<T>(g, side, special, simd);
        }
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST(Pool3D, TakesMaximaAndMeansOfTheElementsInside) {
  kgtest::on_every_target([](const char*) {
    check_everywhere<float>(true);
    check_everywhere<double>(true);
    check_everywhere<std::int32_t>(true);
  });
}
TEST(Pool3DReference, FollowsTheSameRules) {
  check_everywhere<float>(false);
  check_everywhere<double>(false);
  check_everywhere<std::int32_t>(false);
}
TEST(Pool3DTables, NameTheSameKernelsOnBothSides) {
  ASSERT_EQ(std::size(pool3d_simd), std::size(reference::pool3d_reference));
  for (std::size_t i = 0; i < std::size(pool3d_simd); ++i) {
    EXPECT_STREQ(pool3d_simd[i].op, reference::pool3d_reference[i].op);
    EXPECT_EQ(pool3d_simd[i].type, reference::pool3d_reference[i].type);
  }
}

}  // namespace
