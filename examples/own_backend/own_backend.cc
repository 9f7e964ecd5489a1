// SPDX-License-Identifier: Apache-2.0
// A user-defined backend, twice: at run time, with a memory of its own and kernels for a few ops, and at compile time,
// as a type that says which kernels it replaces.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <iostream>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>
import kerngrad;

using kg::tensor;

bool all_right = true;

void check(const std::string& what, bool right) {
  std::cout << (right ? "  " : "! ") << what << "\n";
  all_right = all_right && right;
}

// ---------------------------------------------------------------------------- the memory

// One block of memory, handed out from its beginning; it starts again when nothing is in use. It stands for whatever
// a host's pointer does not reach: a device, another process. Any thread may call it.
class arena : public kg::storage {
 public:
  explicit arena(std::size_t bytes) : memory_(bytes) {}
  void* allocate(std::size_t bytes) override {
    const std::lock_guard lock(mutex_);
    const std::size_t room = (std::max<std::size_t>(bytes, 1) + 63) / 64 * 64;
    if (memory_.size() - used_ < room)
      kg::fail("arena", std::to_string(bytes) + " bytes", "at most " + std::to_string(memory_.size() - used_));
    ++in_use_;
    return &memory_[std::exchange(used_, used_ + room)];
  }
  void release(void*) noexcept override {
    const std::lock_guard lock(mutex_);
    if (--in_use_ == 0) used_ = 0;
  }
  void write(void* block, const void* from, std::size_t bytes) override {
    std::memcpy(block, from, bytes);
    ++writes_;
  }
  void read(const void* block, void* to, std::size_t bytes) override {
    std::memcpy(to, block, bytes);
    ++reads_;
  }
  int in_use() const { return in_use_; }
  int writes() const { return writes_; }
  int reads() const { return reads_; }

 private:
  std::mutex mutex_;
  std::vector<std::byte> memory_;
  std::size_t used_ = 0;
  std::atomic<int> in_use_ = 0, writes_ = 0, reads_ = 0;
};

// ---------------------------------------------------------------------------- its kernels

// A kernel of the backend reads and writes blocks of the arena: `elements` and `make` say where.
template <class F>
kg::kernel_config on_arena(const char* name, F function) {
  return {.name = name,
          .backend = "arena",
          .run = [function](const kg::kernel_call& call) -> kg::tensor_list {
            const tensor& x = call.input("x");
            const kg::kernel_call::writable y = call.make(x.type(), x.dims());
            const float* from = static_cast<const float*>(call.elements(x));
            std::transform(from, from + x.size(), static_cast<float*>(y.elements), function);
            return {y.result};
          },
          .dtypes = kg::only(kg::dtype::float32)};
}

void at_run_time() {
  std::cout << "a backend at run time\n";
  const auto memory = std::make_shared<arena>(1 << 20);
  kg::register_backend("arena", [memory] { return memory; });
  const kg::registration square = kg::scoped_kernel(on_arena("Square", [](float x) { return x * x; }));
  const kg::registration relu = kg::scoped_kernel(on_arena("Relu", [](float x) { return x > 0 ? x : 0.f; }));
  kg::set_backend("arena");

  const tensor x({-1.f, 2.f, 3.f});
  const tensor y = kg::square(kg::relu(x));
  check("x was written, nothing was read: the result of Relu stayed there",
        memory->writes() == 1 && memory->reads() == 0);
  check("the result comes back when it is looked at", y.to_doubles() == std::vector<double>{0, 4, 9});
  check("once", y.to_doubles()[2] == 9 && memory->reads() == 1);

  // An op that the backend lacks is rejected, unless other backends may help out.
  try {
    kg::sum(y);
    check("Sum is refused", false);
  } catch (const kg::error& refused) {
    std::cout << "  " << refused.what() << "\n";
  }
  std::vector<std::string> trace;
  kg::hooks watch;
  watch.fallback = [&](const kg::fallback_event& e) {
    trace.push_back(std::string(e.op) + ": " + std::string(e.from) + " -> " + std::string(e.to));
  };
  const kg::hook_handle watching = kg::add_hooks(watch);
  kg::set_fallback(kg::fallback::by_priority);
  const auto f = [](const tensor& t) { return kg::sum(kg::square(kg::relu(t))); };
  const tensor slope = kg::grad(f)(x);
  check("the gradient", slope.to_doubles() == std::vector<double>{0, 4, 6});
  for (const std::string& line : trace) std::cout << "  fallback: " << line << "\n";
  check("Sum fell back, Square and Relu did not",
        std::count(trace.begin(), trace.end(), "Sum: arena -> simd") == 1 &&
            std::none_of(trace.begin(), trace.end(), [](const std::string& line) {
              return line.starts_with("Square:") || line.starts_with("Relu:");
            }));
  std::cout << "  writes " << memory->writes() << ", reads " << memory->reads() << "\n";

  const tensor last = kg::square(x);
  kg::remove_backend("arena");
  kg::set_fallback(kg::fallback::refuse);
  check("removed: the best of the others is active", kg::active_backend() == "simd");
  check("a tensor that lives there is readable", last.to_doubles() == std::vector<double>{1, 4, 9});
}

// ---------------------------------------------------------------------------- at compile time

// A type with kernels: what it does not list comes from its base, simd unless it names another one.
struct saturating {
  static constexpr auto kernels = std::tuple(
      kg::kernels_of<"Add">(kg::per_pair<float>([](float a, float b) { return std::clamp(a + b, -1.f, 1.f); })));
};

void at_compile_time() {
  std::cout << "a backend at compile time\n";
  const tensor a({0.25f, 0.75f}), b({0.5f});
  check("a typed call", kg::call_on<"Add", saturating>(a, b).to_doubles() == std::vector<double>{0.75, 1});
  check("what it does not list", kg::call_on<"Multiply", saturating>(a, b).to_doubles() == kg::mul(a, b).to_doubles());
  const std::vector<float> p{0.25f, 0.75f}, q{0.5f, 0.5f};
  std::vector<float> sum(2);
  kg::kernel<"Add", saturating>(std::span<const float>(p), std::span<const float>(q), std::span<float>(sum));
  check("the span API", sum == std::vector<float>{0.75f, 1});
  const auto f = [&](const tensor& t) { return kg::call_on<"Add", saturating>(t, b); };
  check("the gradient is that of the op", kg::grad(f)(a).to_doubles() == std::vector<double>{1, 1});
  check("other calls do not know of it", kg::add(a, b).to_doubles() == std::vector<double>{0.75, 1.25});
}

int main() {
  at_run_time();
  at_compile_time();
  return all_right ? 0 : 1;
}
