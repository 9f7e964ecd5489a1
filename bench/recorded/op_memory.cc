// SPDX-License-Identifier: Apache-2.0
// Prints the peak memory of each op, at two sizes, on one thread. A line has the op, the variant of its call and, for
// each size, bytes of the largest operand or result and the peak of the value and of the gradient. Peaks count beyond
// operands and results. A gradient that there is not is "none". tests/bench/op_memory.py reads the lines.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

import kerngrad;
import kerngrad.testkit;
#include "bench/calls/calls.h"

namespace {

using kg::tensor;

constexpr std::int64_t sizes[] = {1 << 18, 1 << 20};
/// Kernels of wider vectors may keep more. A target that many CPUs have gives them one record.
constexpr std::string_view common_target = "AVX2";

/// Bytes of a call.
struct peaks {
  std::int64_t largest, value;
  std::optional<std::int64_t> gradient;
};

/// The most that `f` held at a time, without what its result holds. The first call is not measured: it fills tables.
template <class F>
std::int64_t peak_of(const F& f) {
  f();
  kg::reset_peak_memory();
  [[maybe_unused]] const auto result = f();
  const kg::memory_info at = kg::memory();
  return at.peak_bytes - at.live_bytes;
}

class one_call {
 public:
  one_call(const kg::op_row& row, const kg::testkit::sample& call, kg::dtype type)
      : row_(row),
        operands_(kg::testkit::operands_for(row, call, type)),
        attrs_(kg::testkit::attributes_for(row, call, type)) {
    for (const kg::named_operand& operand : operands_)
      for (const tensor& x : operand.tensors)
        if (kg::differentiable.has(x.type())) leaves_.push_back(x);
  }

  peaks measured() const {
    peaks all{largest(), peak_of([&] { return results(leaves_); }), {}};
    if (row_.no_gradient.empty() && !leaves_.empty()) all.gradient = gradient();
    return all;
  }

 private:
  /// The results for other values of the differentiable operands.
  kg::tensor_list results(std::span<const tensor> leaves) const {
    std::vector<kg::named_operand> with = operands_;
    std::size_t at = 0;
    for (kg::named_operand& operand : with)
      for (tensor& x : operand.tensors)
        if (kg::differentiable.has(x.type())) x = leaves[at++];
    return kg::run_kernel_list(row_.name, with, attrs_);
  }

  static tensor first_differentiable(const kg::tensor_list& results) {
    for (int k = 0; k < results.size(); ++k)
      if (kg::differentiable.has(results[k].type())) return results[k];
    return {};
  }

  std::int64_t largest() const {
    std::int64_t most = 0;
    const auto add = [&](const tensor& x) {
      most = std::max(most, x.size() * static_cast<std::int64_t>(kg::size_of(x.type())));
    };
    for (const kg::named_operand& operand : operands_) std::ranges::for_each(operand.tensors, add);
    const kg::tensor_list made = results(leaves_);
    for (int k = 0; k < made.size(); ++k) add(made[k]);
    return most;
  }

  std::optional<std::int64_t> gradient() const {
    const tensor y = first_differentiable(results(leaves_));
    if (!y.defined()) return {};  // a cast to integers
    const tensor dy = kg::ones_like(y);
    const auto value = [&](std::span<const tensor> xs) { return first_differentiable(results(xs)); };
    return peak_of([&] {
      const kg::value_and_pullback_list made = kg::vjp_of(value, leaves_);
      return std::pair(made.value, made.back(dy));
    });
  }

  const kg::op_row& row_;
  std::vector<kg::named_operand> operands_;
  std::vector<kg::named_attribute> attrs_;
  std::vector<tensor> leaves_;
};

/// float32, or the first dtype that the op takes.
kg::dtype dtype_of(const kg::op_row& row) {
  for (int t = 0; t < kg::dtype_count; ++t) {
    const auto type = static_cast<kg::dtype>(t);
    const bool is_taken = std::ranges::all_of(
        row.operands, [&](const kg::operand& o) { return o.part != kg::role::value || o.types.has(type); });
    if (is_taken && kg::slot_of(kg::backend::simd, kg::find_op(row.name), type).exists()) return type;
  }
  return kg::dtype::float32;
}

void print(const kg::op_row& row, const std::string& variant, const std::vector<peaks>& all) {
  std::string line = std::string(row.name) + "\t" + variant;
  for (const peaks& one : all)
    line += "\t" + std::to_string(one.largest) + "\t" + std::to_string(one.value) + "\t" +
            (one.gradient ? std::to_string(*one.gradient) : "none");
  std::puts(line.c_str());
}

void measure(const kg::op_row& row) {
  const kg::dtype type = dtype_of(row);
  const kgbench::geometries smaller = kgbench::calls_of(row, type, sizes[0]);
  const kgbench::geometries larger = kgbench::calls_of(row, type, sizes[1]);
  if (smaller.empty()) {  // the result is the operand's elements, at every size
    const peaks shared = one_call(row, kg::testkit::samples_of(row)[0], kg::dtype::float32).measured();
    return print(row, "", {shared, shared});
  }
  for (std::size_t v = 0; v < smaller.size(); ++v)
    print(row, smaller[v].variant,
          {one_call(row, smaller[v].call, type).measured(), one_call(row, larger[v].call, type).measured()});
}

}  // namespace

int main(int argc, char** argv) {
  kg::set_num_threads(1);
  for (const kg::simd_target& target : kg::simd_targets())
    if (target.name == common_target) kg::set_simd_target(common_target);
  int code = EXIT_SUCCESS;
  for (const kg::op_row& row : kg::op_table) try {
      if (argc < 2 || row.name == argv[1]) measure(row);
    } catch (const kg::error& e) {
      std::fprintf(stderr, "%s: %s\n", std::string(row.name).c_str(), e.what());
      code = EXIT_FAILURE;
    }
  return code;
}
