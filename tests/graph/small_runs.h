// SPDX-License-Identifier: Apache-2.0
// Runs of models that nobody has checked: with few elements, and whatever comes of it.
#pragma once
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "tests/graph/one_op.h"

namespace kgtest {

/// A tensor of that shape and dtype with small elements; nothing where it would have many.
inline std::optional<kg::tensor> small_tensor(std::vector<std::int64_t> dims, kg::dtype type) {
  std::int64_t size = 1;
  for (std::int64_t& d : dims) {
    if (d < 0) d = 2;
    if (d > 4096 || (size *= d) > 4096) return {};
  }
  if (dims.size() > 8) return {};
  std::vector<std::string> texts;
  if (type == kg::dtype::text) {
    for (std::int64_t i = 0; i < size; ++i) texts.push_back("text " + std::to_string(i));
    return kg::tensor(texts, kg::shape(dims));
  }
  std::vector<double> values;
  for (std::int64_t i = 0; i < (type == kg::dtype::complex64 ? 2 : 1) * size; ++i)
    values.push_back(type == kg::dtype::float32 ? static_cast<double>(i % 7) / 4 - 0.5 : static_cast<double>(i % 3));
  return kg::testkit::from_doubles(values, kg::shape(dims), type);
}

/// Inputs for all ports of a model.
inline std::optional<std::vector<kg::named_operand>> small_inputs(const kg::graph::model& m) {
  std::vector<kg::named_operand> inputs;
  for (const kg::graph::port& p : m.inputs()) {
    const std::optional<kg::tensor> x = small_tensor(p.dims, p.type);
    if (!x) return {};
    inputs.emplace_back(p.key, *x);
  }
  return inputs;
}

/// Complaint about a run: an exception that is no `error`. Empty if it threw an `error` or gave results.
template <class F>
std::string complaint_of_run(F run) {
  try {
    static_cast<void>(run());
  } catch (const kg::error& e) {
    if (e.op().empty() || e.got().empty() || e.wanted().empty()) return std::string("half a sentence: ") + e.what();
  } catch (const std::exception& e) {
    return std::string("another exception: ") + e.what();
  }
  return "";
}

/// Two runs with small inputs, so that the kept plan is used, too.
inline std::string complaint_of_runs(const kg::graph::model& m) {
  const std::optional<std::vector<kg::named_operand>> inputs = small_inputs(m);
  if (!inputs) return "";
  const std::string first = complaint_of_run([&] { return m(*inputs); });
  return first.empty() ? complaint_of_run([&] { return m(*inputs); }) : first;
}

/// A limit of memory for what is done while it lives.
class memory_limit_scope {
 public:
  explicit memory_limit_scope(std::int64_t bytes) : before_(kg::memory_limit()) {
    kg::set_memory_limit(kg::memory().live_bytes + bytes);
  }
  memory_limit_scope(const memory_limit_scope&) = delete;
  memory_limit_scope& operator=(const memory_limit_scope&) = delete;
  ~memory_limit_scope() { kg::set_memory_limit(before_); }

 private:
  std::int64_t before_;
};

}  // namespace kgtest
