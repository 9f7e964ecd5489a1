// SPDX-License-Identifier: Apache-2.0
#include "kernels/onednn/plan.h"

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <unordered_map>

#include "kernels/onednn/onednn.h"
#include "kernels/common/per_thread.h"

namespace kerngrad::kernels::onednn {
namespace {

// Plans that a thread keeps; with more geometries than that it starts again. A ResNet-50 in training has about 80, and
// oneDNN itself keeps the code of the last 1024 primitives of the process.
constexpr std::size_t most_plans = 256;

struct key_hash {
  std::size_t operator()(const plan_key& key) const {
    std::uint64_t h = 0;
    for (const std::int64_t v : key) h = (h ^ static_cast<std::uint64_t>(v)) * 0x9e3779b97f4a7c15u, h ^= h >> 29;
    return static_cast<std::size_t>(h);
  }
};

constexpr std::align_val_t alignment{64};  // a cache line, and oneDNN's widest vector
struct aligned_release {
  void operator()(std::byte* p) const { ::operator delete(p, alignment); }
};

// State that a thread keeps from call to call.
struct kept_by_thread {
  std::unique_ptr<std::byte, aligned_release> buffer;
  std::size_t buffer_size = 0;
  dnnl::stream stream{engine()};
  plan none;
  std::unordered_map<plan_key, plan, key_hash> plans;
};
kept_by_thread& kept() { return thread_object<kept_by_thread>::get(); }

// Memory of this thread for one reordered operand; its content is lost at the next request.
void* reorder_buffer(std::size_t bytes) {
  kept_by_thread& mine = kept();
  if (mine.buffer_size < bytes) {
    mine.buffer_size = 0;
    mine.buffer.reset();
    mine.buffer.reset(static_cast<std::byte*>(::operator new(bytes, alignment)));
    mine.buffer_size = bytes;
  }
  return mine.buffer.get();
}

void run_or_throw(plan& p, const void* const* in, void* out) {
  std::unordered_map<int, dnnl::memory> arguments;
  dnnl::stream& stream = kept().stream;
  for (std::size_t i = 0; i < p.in.size(); ++i) {
    plan_operand& operand = p.in[i];
    // oneDNN has one type for what is read and what is written; it does not write its inputs.
    void* data = const_cast<void*>(in[i]);
    if (operand.reorder) {
      operand.plain.set_data_handle(data);
      operand.memory.set_data_handle(reorder_buffer(operand.memory.get_desc().get_size()));
      operand.reorder.execute(stream, {{DNNL_ARG_FROM, operand.plain}, {DNNL_ARG_TO, operand.memory}});
    } else {
      operand.memory.set_data_handle(data);
    }
    arguments.emplace(operand.argument, operand.memory);
  }
  void* result = p.out.reorder ? reorder_buffer(p.out.memory.get_desc().get_size()) : out;
  p.out.memory.set_data_handle(result);
  arguments.emplace(p.out.argument, p.out.memory);
  p.primitive.execute(stream, arguments);
  if (p.out.reorder) {
    p.out.plain.set_data_handle(out);
    p.out.reorder.execute(stream, {{DNNL_ARG_FROM, p.out.memory}, {DNNL_ARG_TO, p.out.plain}});
  }
  stream.wait();
}

}  // namespace

const dnnl::engine& engine() {
  static const dnnl::engine cpu(dnnl::engine::kind::cpu, 0);
  return cpu;
}

const dnnl::primitive_attr& attributes() {
  static const dnnl::primitive_attr strict = [] {
    dnnl::primitive_attr a;
    a.set_fpmath_mode(dnnl::fpmath_mode::strict);
    return a;
  }();
  return strict;
}

plan_operand plain_operand(int argument, const dnnl::memory::desc& layout) {
  return {argument, dnnl::memory(layout, engine(), DNNL_MEMORY_NONE), {}, {}};
}

plan_operand reordered_operand(int argument, const dnnl::memory::desc& plain, const dnnl::memory::desc& wanted,
                               bool is_input) {
  if (wanted == plain) return plain_operand(argument, plain);
  const dnnl::memory::desc &from = is_input ? plain : wanted, &to = is_input ? wanted : plain;
  plan_operand operand = plain_operand(argument, wanted);
  operand.plain = dnnl::memory(plain, engine(), DNNL_MEMORY_NONE);
  operand.reorder = dnnl::reorder(dnnl::reorder::primitive_desc(engine(), from, engine(), to, attributes()));
  return operand;
}

bool is_reference(const dnnl::primitive_desc_base& description) {
  return std::strncmp(description.impl_info_str(), "ref", 3) == 0;
}

plan& no_plan() { return kept().none; }

plan& plan_for(const plan_key& key, plan (*build)(plan_kind kind, const void* geometry), const void* geometry) {
  std::unordered_map<plan_key, plan, key_hash>& plans = kept().plans;
  if (const auto at = plans.find(key); at != plans.end()) return at->second;
  plan made;
  try {
    made = build(static_cast<plan_kind>(key[0]), geometry);
  } catch (const dnnl::error& e) {
    if (e.status == dnnl_out_of_memory) throw std::bad_alloc{};
    made = {};
  }
  if (plans.size() >= most_plans) plans.clear();
  return plans.emplace(key, std::move(made)).first->second;
}

void run(plan& p, const void* const* in, void* out) {
  try {
    run_or_throw(p, in, out);
  } catch (const dnnl::error&) {
    throw std::bad_alloc{};
  }
}

const char* implementation(const char* op, const void* geometry) {
  const auto is = [op](const char* name) { return std::strcmp(op, name) == 0; };
  const auto of_window = [geometry](plan_kind kind) {
    return conv_plan(kind, *static_cast<const window_geometry*>(geometry)).implementation.c_str();
  };
  if (is("BatchMatMul")) return matmul_plan(*static_cast<const matmul_geometry*>(geometry)).implementation.c_str();
  if (is("Conv2D")) return of_window(output_plan);
  if (is("Conv2DBackpropInput")) return of_window(input_plan);
  if (is("Conv2DBackpropFilter")) return of_window(filter_plan);
  if (is("Softmax")) return softmax_plan(*static_cast<const reduce_geometry*>(geometry)).implementation.c_str();
  return "";
}

}  // namespace kerngrad::kernels::onednn
