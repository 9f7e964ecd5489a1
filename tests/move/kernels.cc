// SPDX-License-Identifier: Apache-2.0
// Copies, gathers, one-hot and scans on every target and their references, against walks over the indices.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <type_traits>
#include <vector>
#include <range/v3/view/cartesian_product.hpp>

#include "kernels/move/move.h"
#include "tests/support/kernels.h"

namespace {
using namespace kerngrad;
using namespace kerngrad::kernels;
using kgtest::edge;
using kgtest::edges;
using kgtest::guarded;
namespace views = ranges::views;

template <class T>
T number(std::uint64_t i) {
  if constexpr (parts_of<T>::count == 2) {
    const auto part = static_cast<typename parts_of<T>::type>(i);
    return {part, -part};
  } else if constexpr (!std::is_arithmetic_v<T>) {  // halves: any finite ones
    T half;
    half.bits = static_cast<std::uint16_t>((i * 37 + 5) % 0x7c00);
    return half;
  } else {
    return static_cast<T>(i * 37 + 5);
  }
}

// Runs f on the tables' kernels with the storage type of each entry, on every target, then on the references.
template <class F>
void each(const std::string& op, F f) {
  const auto table = [&](const auto& entries) {
    for (const entry& e : entries) {
      if (op != e.op || ::testing::Test::HasFatalFailure()) continue;
      if (e.type == dtype::text) continue;  // the entry of another dtype of eight bytes
      SCOPED_TRACE(op + " dtype " + std::to_string(static_cast<int>(e.type)));
      visit_number(e.type, [&](auto is) { f(e.run, e.type, storage_t<decltype(is)::value>{}); });
    }
  };
  kgtest::on_every_target([&](const char*) { table(move_simd); });
  table(reference::move_reference);
}

// An input axis of a copy: its stride in the input and its place in the output.
struct copy_case {
  std::vector<std::int64_t> dims, in_strides, out_strides;
};

template <class T>
void check_copy(run_fn run, const copy_case& c, edge side) {
  copy_geometry g{};
  g.rank = static_cast<int>(c.dims.size());
  std::int64_t in_low = 0, in_high = 0, out_low = 0, out_high = 0, count = 1;
  for (std::size_t a = 0; a < c.dims.size(); ++a) {
    g.dims[a] = c.dims[a];
    g.in_strides[a] = c.in_strides[a];
    g.out_strides[a] = c.out_strides[a];
    count *= c.dims[a];
    if (c.dims[a] == 0) continue;
    const std::int64_t in = (c.dims[a] - 1) * c.in_strides[a], out = (c.dims[a] - 1) * c.out_strides[a];
    (in < 0 ? in_low : in_high) += in;
    (out < 0 ? out_low : out_high) += out;
  }
  g.in_offset = -in_low;
  g.out_offset = -out_low;
  guarded<T> x(static_cast<std::size_t>(count == 0 ? 0 : in_high - in_low + 1), side);
  guarded<T> y(static_cast<std::size_t>(count == 0 ? 0 : out_high - out_low + 1), side);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = number<T>(i + 1);
  const T untouched = number<T>(1000003);
  std::vector<T> want(y.size(), untouched);
  std::fill(y.begin(), y.end(), untouched);
  std::vector<std::int64_t> index(c.dims.size());
  for (std::int64_t n = 0; n < count; ++n) {
    std::int64_t from = g.in_offset, to = g.out_offset;
    for (std::size_t a = 0; a < index.size(); ++a) {
      from += index[a] * g.in_strides[a];
      to += index[a] * g.out_strides[a];
    }
    want[static_cast<std::size_t>(to)] = x[static_cast<std::size_t>(from)];
    for (std::size_t a = index.size(); a-- > 0 && ++index[a] == c.dims[a];) index[a] = 0;
  }
  const void* in[] = {x.data()};
  void* out[] = {y.data()};
  run(in, out, &g);
  for (std::size_t i = 0; i < want.size(); ++i) ASSERT_EQ(want[i], y[i]) << "at " << i << " of " << want.size();
}

std::vector<std::int64_t> row_major(const std::vector<std::int64_t>& dims) {
  std::vector<std::int64_t> strides(dims.size(), 1);
  for (std::size_t a = dims.size(); a-- > 1;) strides[a - 1] = strides[a] * dims[a];
  return strides;
}

copy_case transposed(const std::vector<std::int64_t>& dims, const std::vector<std::size_t>& order) {
  copy_case c{{}, {}, {}};
  const auto strides = row_major(dims);
  for (const std::size_t a : order) {
    c.dims.push_back(dims[a]);
    c.in_strides.push_back(strides[a]);
  }
  c.out_strides = row_major(c.dims);
  return c;
}

std::vector<copy_case> copies() {
  std::vector<copy_case> all;
  for (std::int64_t n = 0; n <= 67; ++n) {
    for (const std::int64_t stride : {1, 0, -1, 2, -3}) all.push_back({{n}, {stride}, {1}});
    all.push_back({{3, n}, {2 * n + 1, 1}, {n, 1}});
    all.push_back({{n}, {1}, {-2}});
  }
  constexpr std::int64_t lengths[] = {259, 300}, strides[] = {1, 0, -1};
  for (const auto& [n, stride] : views::cartesian_product(lengths, strides))
    all.push_back({{2, n}, {stride == 0 ? 1 : n, stride}, {n + 3, 1}});
  constexpr std::int64_t heights[] = {1, 3, 4, 8, 15, 16, 33, 64, 70, 130}, widths[] = {2, 4, 7, 8, 17, 32, 65};
  for (const auto& [rows, columns] : views::cartesian_product(heights, widths))
    all.push_back(transposed({rows, columns}, {1, 0}));
  all.push_back(transposed({3, 20, 9}, {2, 0, 1}));
  all.push_back(transposed({2, 5, 7, 11}, {0, 3, 1, 2}));
  all.push_back(transposed({2, 5, 7, 11}, {3, 2, 1, 0}));
  all.push_back(transposed({2, 3, 2, 3, 2, 3, 2, 3}, {7, 1, 5, 0, 2, 6, 4, 3}));
  all.push_back({{2, 3, 4}, {0, 4, 1}, {12, 4, 1}});  // tiles
  all.push_back({{2, 3, 4}, {0, 1, 0}, {12, 4, 1}});  // broadcast
  all.push_back({{9, 12}, {-12, -1}, {12, 1}});       // reversed both ways
  all.push_back({{9, 12}, {-1, 9}, {12, 1}});         // transposed and reversed
  all.push_back({{4, 5}, {10, 2}, {7, 1}});           // every second column into a wider row
  all.push_back({{4, 5}, {5, 1}, {1, 4}});            // transposed by its output strides
  all.push_back({{4, 0, 5}, {5, 5, 1}, {5, 5, 1}});
  constexpr std::int64_t long_ones[] = {5, 16, 67, 131}, short_ones[] = {2, 3, 4, 5};
  for (const auto& [n, k] : views::cartesian_product(long_ones, short_ones)) {
    all.push_back({{3, n, k}, {n * k + 1, 1, n}, {n * k + 2, k, 1}});     // interleaved
    all.push_back({{3, k, n}, {n * k + 1, 1, k}, {n * k + 2, n, 1}});     // taken apart
    all.push_back({{n, k}, {1, 0}, {k, 1}});                              // every element k times
    all.push_back({{n, k}, {0, 1}, {k, 1}});                              // the same row n times
    all.push_back({{n, k}, {k, -1}, {k, 1}});                             // parts in reverse
    all.push_back({{2, n}, {k * n, k}, {n + 1, 1}});                      // every k-th element
    all.push_back({{n, 2, k}, {k, 0, 1}, {2 * k, k, 1}});                 // short rows twice
    all.push_back({{n, 3, k + 9}, {50, 20, 1}, {3 * k + 27, k + 9, 1}});  // few rows of a long axis
    all.push_back({{2 * n, k}, {7, 1}, {9, 1}});                          // short rows with gaps
  }
  all.push_back({{9000, 2, 2}, {4, 2, 1}, {5, 2, 1}});
  all.push_back({{2000, 30}, {0, 1}, {30, 1}});
  return all;
}

TEST(kernels_move, a_strided_copy_puts_every_element_in_its_place_and_touches_no_other) {
  const std::vector<copy_case> all = copies();
  each("Transpose", [&]<class T>(run_fn run, dtype, T) {
    for (const auto& [c, side] : views::cartesian_product(all, edges)) check_copy<T>(run, c, side);
  });
}

// An axis with its border.
struct padded_axis {
  std::int64_t before, size, after;
};

template <class T>
void check_pad(run_fn run, const std::vector<padded_axis>& axes, edge side) {
  pad_geometry g{};
  g.rank = static_cast<int>(axes.size());
  std::size_t in_count = 1, out_count = 1;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    g.before[a] = axes[a].before;
    g.dims[a] = axes[a].size;
    g.after[a] = axes[a].after;
    in_count *= static_cast<std::size_t>(axes[a].size);
    out_count *= static_cast<std::size_t>(axes[a].before + axes[a].size + axes[a].after);
  }
  const T value = number<T>(1000003);
  g.value = &value;
  guarded<T> x(in_count, side), y(out_count, side);
  for (std::size_t i = 0; i < in_count; ++i) x[i] = number<T>(i + 1);
  std::fill(y.begin(), y.end(), number<T>(999));
  const void* in[] = {x.data()};
  void* out[] = {y.data()};
  run(in, out, &g);
  // The elements of x in their order, met while walking over y.
  std::vector<std::int64_t> index(axes.size());
  std::size_t next = 0;
  for (std::size_t n = 0; n < out_count; ++n) {
    const bool inside = std::equal(index.begin(), index.end(), axes.begin(), [](std::int64_t i, const padded_axis& a) {
      return i >= a.before && i < a.before + a.size;
    });
    ASSERT_EQ(y[n], inside ? x[next] : value) << "at " << n << " of " << out_count;
    next += inside;
    for (std::size_t a = axes.size(); a-- > 0 && ++index[a] == axes[a].before + axes[a].size + axes[a].after;)
      index[a] = 0;
  }
  ASSERT_EQ(next, in_count);
}

TEST(kernels_move, a_border_goes_around_the_elements_and_is_as_wide_as_it_was_asked_for) {
  std::vector<std::vector<padded_axis>> all;
  for (const std::int64_t n : {0, 1, 2, 3, 7, 16, 17, 40, 130}) {
    all.push_back({{0, n, 0}});
    all.push_back({{2, n, 35}});
    for (const std::int64_t rows : {0, 1, 5}) {
      all.push_back({{1, rows, 1}, {1, n, 1}});
      all.push_back({{0, rows, 0}, {0, n, 3}});
      all.push_back({{2, rows, 0}, {20, n, 0}});
    }
  }
  all.push_back({{0, 3, 0}, {1, 4, 2}, {5, 6, 0}});
  all.push_back({{1, 2, 0}, {0, 1, 0}, {0, 3, 7}, {2, 5, 1}});
  all.push_back({{0, 2, 1}, {1, 2, 0}, {1, 1, 1}, {0, 2, 0}, {1, 2, 1}, {0, 1, 1}, {1, 2, 0}, {0, 3, 2}});
  each("PadV2", [&]<class T>(run_fn run, dtype, T) {
    for (const auto& [axes, side] : views::cartesian_product(all, edges)) check_pad<T>(run, axes, side);
  });
}

TEST(kernels_move, every_copying_op_has_a_kernel_for_every_dtype) {
  for (const char* op : {"Transpose",     "Slice",          "Reverse",        "Tile",
                         "BroadcastTo",   "Concat",         "Pack",           "Unpack",
                         "SplitV",        "PadV2",          "Identity",       "Reshape",
                         "ExpandDims",    "GatherV2",       "StridedSlice",   "StridedSliceGrad",
                         "MirrorPad",     "SpaceToBatchND", "BatchToSpaceND", "DepthToSpace",
                         "Diag",          "MatrixBandPart", "GatherNd",       "TensorScatterUpdate",
                         "SparseToDense", "TakeAlongAxis",  "PutAlongAxis"}) {
    int found = 0;
    for (const entry& e : move_simd) found += std::string(op) == e.op && e.run != nullptr;
    const bool takes_text = std::string(op) != "StridedSliceGrad";
    EXPECT_EQ(found, dtype_count - !takes_text) << op;
  }
}

TEST(kernels_move, a_gather_takes_the_rows_that_the_indices_name) {
  each("GatherV2", []<class T>(run_fn run, dtype, T) {
    constexpr std::int64_t inners[] = {0, 1, 2, 3, 7, 16, 33, 100}, counts[] = {0, 1, 5};
    for (const auto& [inner, count] : views::cartesian_product(inners, counts)) {
      const gather_geometry g{3, 4, inner, count, 2};
      guarded<T> x(static_cast<std::size_t>(2 * 3 * 4 * inner)), y(static_cast<std::size_t>(2 * 3 * count * inner));
      guarded<std::int32_t> indices(static_cast<std::size_t>(2 * count));
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = number<T>(i);
      for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<std::int32_t>(i * 7 % 4);
      const void* in[] = {x.data(), indices.data()};
      void* out[] = {y.data()};
      run(in, out, &g);
      for (std::int64_t n = 0; n < 2 * 3 * count * inner; ++n) {
        const std::int64_t i = n % inner, j = n / inner % count, part = n / inner / count;
        const std::int64_t from = (part * 4 + indices[static_cast<std::size_t>(part / 3 * count + j)]) * inner + i;
        ASSERT_EQ(y[static_cast<std::size_t>(n)], x[static_cast<std::size_t>(from)]);
      }
    }
  });
}

TEST(kernels_move, the_adjoint_of_a_gather_adds_what_came_from_the_same_row) {
  each("GatherGrad", []<class T>(run_fn run, dtype, T) {
    if constexpr (std::is_floating_point_v<T>) {
      for (const std::int64_t inner : {0, 1, 3, 16, 37}) {
        const gather_geometry g{2, 5, inner, 9, 2};
        guarded<T> dy(static_cast<std::size_t>(2 * 2 * 9 * inner)), dx(static_cast<std::size_t>(2 * 2 * 5 * inner));
        guarded<std::int32_t> indices(18);
        for (std::size_t i = 0; i < dy.size(); ++i) dy[i] = static_cast<T>(i % 50) - 20;
        for (std::size_t i = 0; i < 18; ++i) indices[i] = static_cast<std::int32_t>(i * i % 4);
        const void* in[] = {dy.data(), indices.data()};
        void* out[] = {dx.data()};
        run(in, out, &g);
        std::vector<long double> want(dx.size());
        for (std::int64_t n = 0; n < 2 * 2 * 9 * inner; ++n) {
          const std::int64_t i = n % inner, j = n / inner % 9, part = n / inner / 9;
          const std::int64_t to = (part * 5 + indices[static_cast<std::size_t>(part / 2 * 9 + j)]) * inner + i;
          want[static_cast<std::size_t>(to)] += dy[static_cast<std::size_t>(n)];
        }
        for (std::size_t i = 0; i < want.size(); ++i) ASSERT_EQ(want[i], static_cast<long double>(dx[i]));
      }
    }
  });
}

TEST(kernels_move, a_scatter_writes_the_rows_that_the_indices_name_and_no_other) {
  each("TensorScatterUpdate", []<class T>(run_fn run, dtype, T) {
    constexpr std::int64_t inners[] = {1, 2, 3, 7, 16, 33, 100};
    constexpr bool either[] = {false, true};
    for (const auto& [inner, same] : views::cartesian_product(inners, either)) {
      const scatter_geometry g{5, inner, same ? 0 : inner};
      guarded<T> x(static_cast<std::size_t>(same ? inner : 5 * inner)), y(static_cast<std::size_t>(6 * inner));
      guarded<std::int32_t> indices(5);
      for (std::size_t i = 0; i < 5; ++i) indices[i] = static_cast<std::int32_t>(i * i % 6);  // 0 1 4 3 4
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = number<T>(i);
      for (std::size_t i = 0; i < y.size(); ++i) y[i] = number<T>(1000 + i);
      const void* in[] = {x.data(), indices.data()};
      void* out[] = {y.data()};
      run(in, out, &g);
      constexpr std::int64_t from[] = {0, 1, -1, 3, 4, -1};  // the last row that goes to each row of y
      for (std::int64_t n = 0; n < 6 * inner; ++n) {
        const std::int64_t row = from[n / inner];
        const std::uint64_t wanted = static_cast<std::uint64_t>(row < 0 ? 1000 + n : row * g.step + n % inner);
        ASSERT_EQ(y[static_cast<std::size_t>(n)], number<T>(wanted)) << "at " << n << ", rows of " << inner;
      }
    }
  });
}

TEST(kernels_move, a_band_keeps_the_diagonals_between_its_bounds) {
  each("MatrixBandPart", []<class T>(run_fn run, dtype, T) {
    constexpr std::int64_t widths[] = {1, 2, 5, 16, 33, 70}, bounds[] = {0, 1, 3, 80};
    for (const auto& [columns, lower, upper, side] : views::cartesian_product(widths, bounds, bounds, edges)) {
      const band_geometry g{11, 2, 6, columns, lower, upper};  // from the third row of a matrix to the next but one
      guarded<T> x(static_cast<std::size_t>(11 * columns), side), y(static_cast<std::size_t>(11 * columns), side);
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = number<T>(i + 1);
      std::fill(y.begin(), y.end(), number<T>(999));
      const void* in[] = {x.data()};
      void* out[] = {y.data()};
      run(in, out, &g);
      for (std::int64_t n = 0; n < 11 * columns; ++n) {
        const std::int64_t diagonal = n % columns - (2 + n / columns) % 6;
        const bool kept = diagonal >= -lower && diagonal <= upper;
        ASSERT_EQ(y[static_cast<std::size_t>(n)], kept ? x[static_cast<std::size_t>(n)] : T{}) << "at " << n;
      }
    }
  });
}

TEST(kernels_move, a_segment_sum_adds_rows_of_the_same_id_and_drops_ids_outside) {
  each("UnsortedSegmentSum", []<class T>(run_fn run, dtype, T) {
    if constexpr (std::is_arithmetic_v<T>) {
      for (const std::int64_t inner : {0, 1, 5, 16, 35}) {
        const segment_geometry g{23, inner, 4};
        guarded<T> x(static_cast<std::size_t>(23 * inner));
        guarded<T> y(static_cast<std::size_t>(4 * inner), edge::begin);  // a negative id would write before it
        guarded<std::int32_t> ids(23);
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<T>(i % 100) - T(30);
        for (std::size_t i = 0; i < 23; ++i) ids[i] = static_cast<std::int32_t>(i * 5 % 7) - 1;  // -1 to 5
        const void* in[] = {x.data(), ids.data()};
        void* out[] = {y.data()};
        run(in, out, &g);
        for (std::int64_t n = 0; n < 4 * inner; ++n) {
          long double want = 0;
          for (std::int64_t r = 0; r < 23; ++r) {
            const auto at = static_cast<std::size_t>(r * inner + n % inner);
            if (ids[static_cast<std::size_t>(r)] == n / inner) want += x[at];
          }
          ASSERT_EQ(want, static_cast<long double>(y[static_cast<std::size_t>(n)]));
        }
      }
    }
  });
}

TEST(kernels_move, one_hot_is_on_at_the_index_and_off_elsewhere) {
  each("OneHot", []<class T>(run_fn run, dtype type, T) {
    if constexpr (std::is_arithmetic_v<T>) {
      for (const std::int64_t inner : {1, 4}) {
        const one_hot_geometry g{6, 5, inner, 1.0, 0.0, type};
        guarded<std::int32_t> indices(static_cast<std::size_t>(6 * inner));
        guarded<T> y(static_cast<std::size_t>(6 * 5 * inner));
        for (std::size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<std::int32_t>(i % 7) - 1;
        const void* in[] = {indices.data()};
        void* out[] = {y.data()};
        run(in, out, &g);
        for (std::int64_t n = 0; n < 6 * 5 * inner; ++n) {
          const std::int64_t o = n / inner / 5, depth = n / inner % 5;
          const bool on = indices[static_cast<std::size_t>(o * inner + n % inner)] == depth;
          ASSERT_EQ(y[static_cast<std::size_t>(n)], static_cast<T>(on ? 1 : 0));
        }
      }
    }
  });
}

template <class T>
void check_scan(run_fn run, bool product, const scan_geometry& g) {
  guarded<T> x(static_cast<std::size_t>(g.outer * g.count * g.inner)), y(x.size());
  std::mt19937 random(7);
  for (T& v : x) {
    if constexpr (std::is_integral_v<T>) {
      v = static_cast<T>(product ? random() | 1 : (std::uint64_t{random()} << 32) | random());
    } else {
      v = static_cast<T>(product ? (random() % 2 == 0 ? 1.25 : -0.8) : static_cast<double>(random() % 2000) / 64 - 9);
    }
  }
  const void* in[] = {x.data()};
  void* out[] = {y.data()};
  run(in, out, &g);
  for (std::int64_t line = 0; line < g.outer * g.inner; ++line) {
    long double carry = product ? 1 : 0, size = carry;
    std::uint64_t wrapped = product ? 1 : 0;
    for (std::int64_t r = 0; r < g.count; ++r) {
      const std::int64_t row = g.reverse ? g.count - 1 - r : r;
      const auto at = static_cast<std::size_t>((line / g.inner * g.count + row) * g.inner + line % g.inner);
      const long double before = carry;
      const std::uint64_t wrapped_before = wrapped;
      carry = product ? carry * x[at] : carry + x[at];
      size = product ? std::fabs(carry) : size + std::fabs(static_cast<long double>(x[at]));
      if constexpr (std::is_integral_v<T>) {
        const auto v = static_cast<std::uint64_t>(static_cast<std::int64_t>(x[at]));
        wrapped = product ? wrapped * v : wrapped + v;
        ASSERT_EQ(y[at], static_cast<T>(g.exclusive ? wrapped_before : wrapped));
      } else {
        const long double eps = static_cast<long double>(g.count) * std::numeric_limits<double>::epsilon();
        const long double want = g.exclusive ? before : carry;
        ASSERT_LE(std::fabs(want - y[at]), eps * (size + 1) * 2 + std::fabs(want) * std::numeric_limits<T>::epsilon());
      }
    }
  }
}

TEST(kernels_move, a_scan_carries_the_sum_or_the_product_along_its_axis) {
  constexpr bool either[] = {false, true};
  constexpr std::int64_t inners[] = {0, 1, 3, 33, 300}, counts[] = {0, 1, 2, 19};
  for (const bool product : either) {
    each(product ? "Cumprod" : "Cumsum", [&]<class T>(run_fn run, dtype, T) {
      if constexpr (std::is_arithmetic_v<T>) {
        for (const auto& [exclusive, reverse, inner, count] : views::cartesian_product(either, either, inners, counts))
          check_scan<T>(run, product, {2, count, inner, exclusive, reverse});
      }
    });
  }
}

// The order that kernels/reduce/scan-inl.h states for a row, written as the recursion s[i] of step k = s[i] + s[i - k].
double stated_sum(const std::vector<float>& row, std::size_t last) {
  double carry = 0;
  for (std::size_t block = 0;; block += 8) {
    const auto s = [&](auto self, std::size_t i, std::size_t step) -> double {
      if (step == 0) return row[block + i];
      const double own = self(self, i, step / 2);
      return i < step ? own : own + self(self, i - step, step / 2);
    };
    if (last < block + 8) return carry + s(s, last - block, 4);
    carry += s(s, 7, 4);
  }
}

TEST(kernels_move, a_running_sum_of_a_row_has_the_stated_order_on_every_target) {
  std::vector<float> x(203);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = std::sin(static_cast<float>(i)) * std::exp(static_cast<float>(i % 60));
  kgtest::on_every_target([&](const char*) {
    for (const bool reverse : {false, true}) {
      const scan_geometry g{1, static_cast<std::int64_t>(x.size()), 1, false, reverse};
      std::vector<float> operand = x, y(x.size());
      if (reverse) std::reverse(operand.begin(), operand.end());
      const void* in[] = {operand.data()};
      void* out[] = {y.data()};
      Cumsum_float32(in, out, &g);
      if (reverse) std::reverse(y.begin(), y.end());
      for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(y[i], static_cast<float>(stated_sum(x, i))) << i;
    }
  });
}

TEST(kernels_move, a_running_product_does_not_overflow_before_its_result_does) {
  const std::vector<double> x = {1e-300, 1e200, 1e200, 1e-200, 1e-200, 1e300, 2, 3, 5};
  kgtest::on_every_target([&](const char*) {
    std::vector<double> y(x.size());
    const scan_geometry g{1, static_cast<std::int64_t>(x.size()), 1, false, false};
    const void* in[] = {x.data()};
    void* out[] = {y.data()};
    Cumprod_float64(in, out, &g);
    double want = 1;
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(y[i], want *= x[i]);
  });
}
}  // namespace
