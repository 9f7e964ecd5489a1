// SPDX-License-Identifier: Apache-2.0
// The C++ standard library's algorithms.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "bench/peers/case.h"

namespace {

// A value and where it was: what argsort and top-k sort.
using pair = std::pair<float, std::int32_t>;
constexpr std::size_t million = 1000000;
constexpr cases::matrix_size rows{64, 1000};

void add_sums() {
  cases::add("cumsum", "1024x1024", [] {
    constexpr std::size_t n = cases::side * cases::side;
    return [x = cases::floats(0, n), y = cases::result(n)] {
      for (std::size_t i = 0; i < n; i += cases::side) std::partial_sum(x + i, x + i + cases::side, y + i);
    };
  });
}

// Rows of pairs, of which the first `kept` are wanted in order.
template <class Order>
void order_pairs(const float* x, std::vector<pair>& pairs, cases::matrix_size size, Order order) {
  for (std::size_t row = 0; row < size.rows; ++row) {
    for (std::size_t i = 0; i < size.columns; ++i) pairs[i] = {x[row * size.columns + i], static_cast<std::int32_t>(i)};
    order(pairs);
  }
}

void add_sorts() {
  for (const cases::matrix_size size : {cases::matrix_size{1, million}, rows}) {
    const std::string name = size.rows == 1 ? cases::size_of(million) : cases::size_of(size);
    cases::add("sort", name, [size] {
      const std::size_t n = size.rows * size.columns;
      return [size, n, x = cases::floats(0, n), y = cases::result(n)] {
        std::copy_n(x, n, y);
        for (std::size_t i = 0; i < n; i += size.columns) std::sort(y + i, y + i + size.columns);
      };
    });
    cases::add("argsort", name, [size] {
      return [size, x = cases::floats(0, size.rows * size.columns), pairs = std::vector<pair>(size.columns)]() mutable {
        order_pairs(x, pairs, size, [](std::vector<pair>& all) { std::sort(all.begin(), all.end()); });
      };
    });
  }
  cases::add("topk10", rows, [] {
    return [x = cases::floats(0, rows.rows * rows.columns), pairs = std::vector<pair>(rows.columns)]() mutable {
      order_pairs(x, pairs, rows, [](std::vector<pair>& all) {
        std::partial_sort(all.begin(), all.begin() + 10, all.end(), std::greater<>());
      });
    };
  });
}

// The different values in order, and for each element which one it is.
void add_unique() {
  for (const std::uint32_t below : {1000u, 1u << 31}) {
    const char* name = below == 1000 ? "unique_few" : "unique";
    cases::add(name, million, [below] {
      return [x = cases::indices(million, below), values = std::vector<std::int32_t>(million),
              inverse = std::vector<std::int32_t>(million)]() mutable {
        values.assign(x, x + million);
        std::sort(values.begin(), values.end());
        values.erase(std::unique(values.begin(), values.end()), values.end());
        for (std::size_t i = 0; i < million; ++i)
          inverse[i] = static_cast<std::int32_t>(std::lower_bound(values.begin(), values.end(), x[i]) - values.begin());
        benchmark::DoNotOptimize(inverse.data());
      };
    });
  }
}

}  // namespace

int main(int argc, char** argv) {
  return cases::run(argc, argv, [] {
    add_sums();
    add_sorts();
    add_unique();
  });
}
