// SPDX-License-Identifier: Apache-2.0
// Checks of bits and memory of an op: operands stay as they were, results are the same wherever operands lie, and
// nothing stays behind.
module;
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <string>
#include <utility>
#include <vector>
#include <range/v3/view/enumerate.hpp>
#include <range/v3/view/zip.hpp>
#include "kernels/common/abi.h"
module kerngrad.testkit;

namespace kerngrad::testkit::detail {
namespace {

namespace views = ranges::views;

// The calls of a session that the active backend can make.
std::vector<prepared> possible_calls(const session& s, bool long_ones) {
  std::vector<prepared> possible;
  for (prepared& call : s.calls(long_ones)) {
    try {
      s.run(call);
      possible.push_back(std::move(call));
    } catch (const std::exception&) {  // check::results has it
    }
  }
  return possible;
}

// ------------------------------------------------------------------------------------------ aliasing

bool share_memory(const named_operand& operand, const tensor_list& results) {
  for (const tensor& x : operand.tensors)
    for (int k = 0; k < results.size(); ++k)
      if (x.size() > 0 && x.shares_with(results[k])) return true;
  return false;
}

void judge_operands(session& s, const prepared& call) {
  const std::vector<named_operand> before = copies_of(call.operands);
  const tensor_list results = s.run(call);
  s.found.counted(check::aliasing);
  for (const auto& [was, is] : views::zip(before, call.operands)) {
    for (const auto& [x, y] : views::zip(was.tensors, is.tensors))
      if (!same_bits(x, y))
        s.found.add(check::aliasing, call.label, "operand " + was.name + " changed by the call",
                    "operands that stay as they were");
    // A reshape is a second header of the same elements.
    if (s.row.convention != convention::copy && share_memory(is, results))
      s.found.add(check::aliasing, call.label, "a result in the memory of operand " + was.name,
                  "memory of its own: tensors never change");
  }
}

// The positions of all tensors of a call that are like the first one.
struct tensor_position {
  std::size_t operand, item;
};
std::vector<tensor_position> like_first(const prepared& call) {
  std::vector<tensor_position> alike;
  for (const auto& [i, o] : views::enumerate(call.operands))
    for (const auto& [j, x] : views::enumerate(o.tensors))
      if (x.defined() && x.signature() == call.operands[0].tensors[0].signature()) alike.push_back({i, j});
  return alike;
}

void judge_one_tensor_as_several(session& s, const prepared& call) {
  if (call.operands.empty() || call.operands[0].tensors.empty()) return;
  const std::vector<tensor_position> alike = like_first(call);
  if (alike.size() < 2) return;
  const tensor one = call.operands[0].tensors[0];
  prepared shared = call, copied = call;
  for (const tensor_position& at : alike) {
    shared.operands[at.operand].tensors[at.item] = one;
    copied.operands[at.operand].tensors[at.item] = copy_of(one);
  }
  s.found.counted(check::aliasing);
  if (!same_bits(s.run(shared), s.run(copied)))
    s.found.add(check::aliasing, call.label, "another result with one tensor as several operands",
                "that with equal tensors");
}

// ------------------------------------------------------------------------------------------ determinism

void judge_runs(session& s, const prepared& call) {
  const tensor_list first = s.run(call);
  poison(first);
  s.found.counted(check::determinism);
  if (!same_bits(first, s.run(call)))
    return s.found.add(check::determinism, call.label, "other bits at the second run", "the same bits");
  {
    const backend_scope long_way(s.how.backend);  // the engine's way where a thread chose a backend of its own
    poison(first);
    if (!same_bits(first, s.run(call)))
      return s.found.add(check::determinism, call.label, "other bits in a backend_scope", "the same bits");
  }
  // Copies that are held lie in other blocks: at other multiples of 64 bytes.
  std::vector<std::vector<named_operand>> held;
  for (int i = 0; i < 4; ++i) {
    held.push_back(copies_of(call.operands));
    const prepared moved{call.label, call.type, held.back(), call.attrs};
    poison(first);
    if (!same_bits(first, s.run(moved)))
      return s.found.add(check::determinism, call.label, "other bits with the operands at another address",
                         "the same bits");
  }
}

// The kernel on spans: from every offset within a cache line to the end of an array, what the tensor call gives there.
template <class T>
void judge_spans(session& s, const prepared& call, const kernel_handle& kernel) {
  const tensor a = call.operands[0].tensors[0], b = call.operands.back().tensors[0];
  const tensor whole = s.run(call).front();
  const auto n = static_cast<std::size_t>(a.size());
  if (!(whole.signature() == a.signature()) || !(b.signature() == a.signature())) return;
  for (std::size_t from = 0; from < std::min<std::size_t>(n, 64 / sizeof(T)); ++from) {
    std::vector<T> y(n - from);
    const std::span<const T> left = a.data<T>().subspan(from), right = b.data<T>().subspan(from);
    try {
      if (call.operands.size() == 1) kernel(left, std::span<T>(y));
      else kernel(left, right, std::span<T>(y));
    } catch (const error&) {  // no elementwise form for this dtype
      return;
    }
    s.found.counted(check::determinism);
    if (std::memcmp(y.data(), whole.data<T>().data() + from, y.size() * sizeof(T)) != 0)
      return s.found.add(check::determinism, call.label + " from element " + std::to_string(from) + " on",
                         "other bits than in the middle of a longer call", "the same bits");
  }
}

void judge_positions(session& s, const prepared& call) {
  const bool elementwise = s.row.is_unary() || s.row.is_binary();
  if (!elementwise || !call.attrs.empty() || call.operands.empty() || call.operands.size() > 2) return;
  std::optional<kernel_handle> kernel;
  try {
    kernel = find_kernel(s.row.name);
  } catch (const error&) {  // an attribute has no default
    return;
  }
  visit(call.operands[0].tensors[0].type(), [&]<dtype Type>(dtype_constant<Type> is) {
    using T = typename decltype(is)::element;
    if constexpr (!std::is_same_v<T, bool> && !std::is_same_v<T, text>)
      judge_spans<T>(s, call, *kernel);  // no vector of them has an array
  });
}

// ------------------------------------------------------------------------------------------ memory

template <class F>
void judge_balance(session& s, const std::string& label, F part) {
  part();  // what is made once and kept, is made now
  const memory_info before = memory();
  part();
  const memory_info after = memory();
  s.found.counted(check::memory);
  if (after.live_buffers != before.live_buffers || after.live_bytes != before.live_bytes)
    s.found.add(check::memory, label,
                std::to_string(after.live_buffers - before.live_buffers) + " live tensors more, of " +
                    std::to_string(after.live_bytes - before.live_bytes) + " bytes",
                "as many as before");
}

}  // namespace

void check_aliasing(session& s) {
  for (const prepared& call : possible_calls(s, false)) {
    judge_operands(s, call);
    judge_one_tensor_as_several(s, call);
  }
}

void check_determinism(session& s) {
  for (const prepared& call : possible_calls(s, true)) {
    judge_runs(s, call);
    judge_positions(s, call);
  }
}

void check_memory(session& s) {
  const std::vector<prepared> calls = possible_calls(s, false);
  for (const prepared& call : calls) judge_balance(s, call.label, [&] { s.run(call); });
  if (!s.row.no_gradient.empty()) return;
  for (const prepared& call : calls) {
    const differentiated drawn(s.row, call);
    const results_of f = drawn.function();
    const std::optional<int> k = drawn.leaves.empty() ? std::nullopt : first_differentiable(f(drawn.leaves));
    if (!k) continue;
    const auto first = [&](std::span<const tensor> xs) { return f(xs)[*k]; };
    judge_balance(s, "the gradient of " + call.label, [&] { value_and_grads_of(first, drawn.leaves); });
  }
}

}  // namespace kerngrad::testkit::detail
