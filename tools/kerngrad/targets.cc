// SPDX-License-Identifier: Apache-2.0
// The SIMD targets that were compiled in, which of them this CPU runs, and what it lacks for the others.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <sstream>

#include "kernels/common/abi.h"
#include "tools/kerngrad/system.h"
#include "tools/kerngrad/tool.h"

namespace tool {
namespace {

/// Features that Highway needs of a CPU for a target, by their names in Linux (hwy/targets.cc).
struct requirement {
  const char *target, *flags;
};
constexpr requirement requirements[] = {
    {"SSE2", "sse sse2"},
    {"SSSE3", "ssse3"},
    {"SSE4", "sse4_1 sse4_2 pclmulqdq aes"},
    {"AVX2", "avx avx2 abm bmi1 bmi2 fma f16c"},
    {"AVX3", "avx512f avx512vl avx512dq avx512bw avx512cd"},
    {"AVX3_DL", "avx512_vnni vpclmulqdq avx512vbmi avx512_vbmi2 vaes avx512_vpopcntdq avx512_bitalg gfni"},
    {"AVX3_ZEN4", "AuthenticAMD avx512_vnni vpclmulqdq avx512vbmi avx512_vbmi2 vaes avx512_bitalg gfni avx512_bf16"},
    {"AVX3_SPR", "avx512_vnni vpclmulqdq avx512vbmi avx512_vbmi2 vaes avx512_bitalg gfni avx512_bf16 avx512_fp16"},
    {"AVX10_2", "avx10"},
    {"NEON_WITHOUT_AES", "asimd"},
    {"NEON", "asimd aes"},
    {"NEON_BF16", "asimdhp asimddp bf16"},
    {"SVE", "sve"},
    {"SVE_256", "sve"},
    {"SVE2", "sve2 sveaes"},
    {"SVE2_128", "sve2 sveaes"},
    {"RVV", "v"},
};

/// Nothing where it is not known what the CPU has.
std::optional<std::vector<std::string>> lacking(const std::string& target) {
  const auto* needs = std::ranges::find(requirements, target, &requirement::target);
  const std::optional<std::set<std::string>> there = words_of_cpu();
  if (needs == std::end(requirements) || !there) return std::nullopt;
  std::vector<std::string> missing;
  std::istringstream flags(needs->flags);
  for (std::string flag; flags >> flag;)
    if (!there->contains(flag)) missing.push_back(flag);
  return missing;
}

/// A line on the dtypes without SIMD kernels, where the option simd_dtypes left some out.
std::string dtypes_text() {
  kg::dtype_set simd{}, reference{};
  for (int t = 0; t < kg::dtype_count; ++t) {
    const kg::dtype type = static_cast<kg::dtype>(t);
    if (!kg::any_dtype.has(type)) continue;  // kernels of text are the same for all targets
    kg::dtype_set& set = kerngrad::kernels::has_simd_kernels(type) ? simd : reference;
    set = set | kg::only(type);
  }
  if (!reference.bits) return {};
  return fmt::format("SIMD kernels: {}; reference kernels: {} (option simd_dtypes)\n", kg::to_string(simd),
                     kg::to_string(reference));
}

}  // namespace

std::string targets_page(bool as_json) {
  json list = json::array();
  std::string text;
  for (const kg::compiled_target& t : kg::compiled_simd_targets()) {
    const std::optional<std::vector<std::string>> missing = t.supported ? std::vector<std::string>() : lacking(t.name);
    list.push_back({{"name", t.name}, {"supported", t.supported}, {"active", t.active}, {"missing", nullptr}});
    std::string why = ": what it has is not known";
    if (missing) {
      list.back()["missing"] = *missing;
      if (!missing->empty()) why = fmt::format(": no {}", fmt::join(*missing, ", "));
      else why = t.supported ? "" : ": Highway does not choose it here, as for vectors of another length";
    }
    text += fmt::format("{}: compiled, {}{}{}\n", t.name, t.supported ? "supported" : "not supported by this CPU",
                        t.active ? ", active" : "", why);
  }
  return as_json ? text_of(list) : text + dtypes_text();
}

}  // namespace tool
