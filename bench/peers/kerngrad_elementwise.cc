// SPDX-License-Identifier: Apache-2.0
// Elementwise ops on tensors, each result fresh.
#include <span>

#include "bench/peers/case.h"
#include "bench/peers/kerngrad.h"
import kerngrad;

namespace {

kg::tensor vector(const float* values, std::size_t n) {
  return kg::tensor(std::span<const float>(values, n), {static_cast<std::int64_t>(n)});
}

struct unary {
  const char* name;
  kg::tensor (*run)(const kg::tensor&);
  bool positive = false;
};
constexpr unary unary_ops[] = {
    {"relu", [](const kg::tensor& x) { return kg::relu(x); }},
    {"exp", [](const kg::tensor& x) { return kg::exp(x); }},
    {"log", [](const kg::tensor& x) { return kg::log(x); }, true},
    {"sigmoid", [](const kg::tensor& x) { return kg::sigmoid(x); }},
    {"tanh", [](const kg::tensor& x) { return kg::tanh(x); }},
    {"erf", [](const kg::tensor& x) { return kg::erf(x); }},
    {"sum", [](const kg::tensor& x) { return kg::sum(x); }},
    {"max", [](const kg::tensor& x) { return kg::max(x); }},
};

struct binary {
  const char* name;
  kg::tensor (*run)(const kg::tensor&, const kg::tensor&);
};
constexpr binary binary_ops[] = {
    {"add", [](const kg::tensor& a, const kg::tensor& b) { return a + b; }},
    {"mul", [](const kg::tensor& a, const kg::tensor& b) { return a * b; }},
};

constexpr auto gelu4 = kg::fuse([](auto x, auto y, auto z) { return x * kg::sigmoid(x) * y + z; });

// The same sum into a ready array and as a fresh tensor: what a block of 64 MB costs once the pool has one.
void add_fresh_block() {
  constexpr std::size_t n = 16000000;
  cases::add("fresh_64mb", n, [] {
    return [a = vector(cases::floats(0, n), n), b = vector(cases::floats(1, n), n)] {
      benchmark::DoNotOptimize(kg::add(a, b).address());
    };
  });
  cases::add("fresh_64mb@into", n, [] {
    return [a = cases::floats(0, n), b = cases::floats(1, n), y = cases::result(n)] {
      kg::kernel<"Add">(std::span<const float>(a, n), std::span<const float>(b, n), std::span<float>(y, n));
    };
  });
}

}  // namespace

void add_elementwise_cases() {
  for (std::size_t n : cases::element_sizes) {
    for (const unary& op : unary_ops)
      cases::add(op.name, n, [&op, n] {
        return [&op, x = vector(op.positive ? cases::positive(n) : cases::floats(0, n), n)] {
          benchmark::DoNotOptimize(op.run(x).address());
        };
      });
    for (const binary& op : binary_ops)
      cases::add(op.name, n, [&op, n] {
        return [&op, a = vector(cases::floats(0, n), n), b = vector(cases::floats(1, n), n)] {
          benchmark::DoNotOptimize(op.run(a, b).address());
        };
      });
    cases::add("gelu4", n, [n] {
      return [x = vector(cases::floats(0, n), n), y = vector(cases::floats(1, n), n),
              z = vector(cases::floats(2, n), n)] { benchmark::DoNotOptimize((x * kg::sigmoid(x) * y + z).address()); };
    });
    cases::add("gelu4@fused", n, [n] {
      return [x = vector(cases::floats(0, n), n), y = vector(cases::floats(1, n), n),
              z = vector(cases::floats(2, n), n)] { benchmark::DoNotOptimize(gelu4(x, y, z).address()); };
    });
  }
  add_fresh_block();
  constexpr std::size_t n = 1000000;
  cases::add("add@two_threads", n, [] {
    return [threads = two_threads(), a = vector(cases::floats(0, n), n), b = vector(cases::floats(1, n), n)] {
      benchmark::DoNotOptimize((a + b).address());
    };
  });
  cases::add("exp@two_threads", n, [] {
    return [threads = two_threads(), x = vector(cases::floats(0, n), n)] {
      benchmark::DoNotOptimize(kg::exp(x).address());
    };
  });
}
