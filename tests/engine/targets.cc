// SPDX-License-Identifier: Apache-2.0
// CPUs that have none of the targets which the library was compiled for: a pin pretends that this is one.
#include <gtest/gtest.h>
#include <cstdint>
#include <string>
#include <string_view>
#include "kernels/common/targets.h"
import kerngrad;

namespace {

namespace kernels = kerngrad::kernels;

// Pins a target that was not compiled in, for as long as it lives.
class cpu_without_targets {
 public:
  cpu_without_targets() {
    kernels::target all[64];
    std::int64_t compiled = 0, absent = 1;
    for (int i = kernels::compiled_targets(all, 64); i-- > 0;) compiled |= all[i].bits;
    while (compiled & absent) absent <<= 1;
    kernels::pin_target(absent);
  }
  cpu_without_targets(const cpu_without_targets&) = delete;
  cpu_without_targets& operator=(const cpu_without_targets&) = delete;
  ~cpu_without_targets() { kernels::unpin_target(); }
};

template <class F>
std::string refusal_of(F call) {
  try {
    call();
  } catch (const kg::error& e) {
    return e.what();
  }
  return "";
}

TEST(a_cpu_without_the_compiled_targets, is_refused_by_every_call_in_one_sentence_that_names_them) {
  const kg::tensor x({1.f, 2.f});
  const std::string best = kg::active_simd_target();
  std::string said;
  {
    const cpu_without_targets pretended;
    said = refusal_of([&] { kg::add(x, x); });
    EXPECT_EQ(said, refusal_of([&] { kg::add(x, x); }));
    EXPECT_EQ(said, refusal_of([&] { kg::active_simd_target(); }));
  }
  EXPECT_NE(said.find("a CPU without any of the SIMD targets of this build"), std::string::npos) << said;
  EXPECT_NE(said.find(best), std::string::npos) << said;
  EXPECT_EQ(kg::add(x, x).to_doubles()[1], 4);
}

TEST(a_cpu_without_the_compiled_targets, is_refused_on_the_callers_thread_when_several_would_work) {
  const kg::tensor x = kg::ones({1 << 20});
  kg::set_num_threads(2);
  {
    const cpu_without_targets pretended;
    EXPECT_NE(refusal_of([&] { kg::add(x, x); }), "");
    EXPECT_NE(refusal_of([&] { kg::sum(x); }), "");
    EXPECT_NE(refusal_of([&] { kg::matmul(kg::reshape(x, {1024, 1024}), kg::reshape(x, {1024, 1024})); }), "");
  }
  kg::set_num_threads(1);
}

// Each target's own kernels run where it is pinned: the place in the tables is the target's.
TEST(pinning_a_target, leads_every_call_to_it) {
  for (const kg::simd_target& target : kg::simd_targets()) {
    kg::set_simd_target(target.name);
    EXPECT_EQ(kg::active_simd_target(), target.name);
  }
  kg::set_simd_target("");
  EXPECT_EQ(kg::active_simd_target(), kg::simd_targets().front().name);
}

}  // namespace
