// SPDX-License-Identifier: Apache-2.0
// A storage whose blocks are numbers, not addresses: a kernel that takes one for memory of the host crashes. It counts
// what is done with it, and throws where it is told to.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

import kerngrad;

namespace kgtest {

class arena : public kg::storage {
 public:
  int allocated = 0, released = 0, written = 0, fetched = 0;
  std::string fails_in;  ///< "allocate", "write" or "read" throws

  void* allocate(std::size_t bytes) override {
    const std::lock_guard lock(mutex_);
    if (fails_in == "allocate") throw std::runtime_error("the arena is full");
    ++allocated;
    blocks_[++last_].resize(bytes);
    return reinterpret_cast<void*>(last_);
  }
  void release(void* block) noexcept override {
    const std::lock_guard lock(mutex_);
    ++released;
    if (blocks_.erase(reinterpret_cast<std::uintptr_t>(block)) != 1) misused = true;
  }
  void write(void* block, const void* from, std::size_t bytes) override {
    const std::lock_guard lock(mutex_);
    if (fails_in == "write") throw std::runtime_error("the arena does not take it");
    ++written;
    if (bytes) std::memcpy(found(block).data(), from, bytes);
  }
  void read(const void* block, void* to, std::size_t bytes) override {
    const std::lock_guard lock(mutex_);
    if (fails_in == "read") throw std::runtime_error("the arena does not give it");
    ++fetched;
    if (bytes) std::memcpy(to, found(block).data(), bytes);
  }

  /// The elements of a block, for kernels that know the arena.
  template <class T>
  T* elements(const void* block) {
    const std::lock_guard lock(mutex_);
    return reinterpret_cast<T*>(found(block).data());
  }
  std::size_t live() const { return blocks_.size(); }
  bool misused = false;  ///< a block was released that was none

 private:
  std::vector<std::byte>& found(const void* block) { return blocks_.at(reinterpret_cast<std::uintptr_t>(block)); }
  std::mutex mutex_;
  std::map<std::uintptr_t, std::vector<std::byte>> blocks_;
  std::uintptr_t last_ = 0;
};

/// A kernel of an arena's backend: `f` of each element of the operands, which have one shape or are scalars.
template <class F>
kg::kernel_config arena_kernel(std::string name, std::string backend, std::shared_ptr<arena> memory, F f) {
  kg::kernel_config config;
  config.name = std::move(name);
  config.backend = std::move(backend);
  config.dtypes = kg::only(kg::dtype::float32);
  config.run = [memory, f](const kg::kernel_call& call) -> kg::tensor_list {
    std::vector<const float*> in;
    std::vector<std::int64_t> step;
    kg::shape dims;
    for (const kg::operand_ref& x : call.operands()) {
      in.push_back(memory->elements<float>(call.elements(x.tensors[0])));
      step.push_back(x.tensors[0].size() == 1 ? 0 : 1);
      if (in.size() == 1 || step.back()) dims = x.tensors[0].dims();
    }
    const kg::kernel_call::writable y = call.make(kg::dtype::float32, dims);
    float* to = memory->elements<float>(y.elements);
    for (std::int64_t i = 0; i < dims.size(); ++i) {
      if constexpr (std::is_invocable_v<F, float, float>) to[i] = f(in[0][i * step[0]], in[1][i * step[1]]);
      else to[i] = f(in[0][i * step[0]]);
    }
    return {y.result};
  };
  return config;
}

/// Everything as it was before, whatever a test has registered.
inline void forget(const std::string& backend) {
  kg::set_fallback(kg::fallback::refuse);
  for (const kg::kernel_info& k : kg::kernels_for_backend(backend)) kg::unregister_kernel(k.name, backend);
  for (const kg::backend_info& b : kg::backends())
    if (b.name == backend) kg::remove_backend(backend);
  kg::set_backend(kg::backend::simd);
}

}  // namespace kgtest
