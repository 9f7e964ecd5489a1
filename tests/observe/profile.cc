// SPDX-License-Identifier: Apache-2.0
// Profiles: what ran, on what, in which order, how it is summed up and written down.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <locale>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/refusal.h"

namespace {

using kg::dtype;
using kg::profile_result;
using kg::tensor;
using kgtest::accepted;
using kgtest::refusal;
using names = std::vector<std::string>;

tensor six() { return tensor({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}, {2, 3}); }
tensor three() { return tensor({1.f, 2.f, 3.f}); }

names ops_of(const profile_result& p) {
  names all;
  for (const kg::kernel_run& run : p.runs) all.push_back(run.op);
  return all;
}

// A kernel that runs two others.
kg::registration adds_twice(const std::string& name) {
  kg::kernel_config config;
  config.name = name;
  config.run = [](const kg::kernel_call& call) -> kg::tensor_list {
    const tensor& x = call.input("x");
    return {kg::add(kg::add(x, x), x)};
  };
  return kg::scoped_kernel(std::move(config));
}

TEST(a_profile, lists_the_kernels_in_the_order_of_the_calls_with_what_they_worked_on) {
  const tensor a = six(), b = three();
  const profile_result p = kg::profile([&] { kg::sum(kg::exp(a + b), {1}); });
  ASSERT_EQ(ops_of(p), (names{"Add", "Exp", "Sum"}));
  const kg::kernel_run& add = p.runs[0];
  EXPECT_EQ(add.backend, "simd");
  EXPECT_EQ(add.target, kg::active_simd_target());
  EXPECT_EQ(add.compute, dtype::float32);
  ASSERT_EQ(add.in.size(), 2u);
  EXPECT_EQ(add.in[0], a.signature());
  EXPECT_EQ(add.in[1], b.signature());
  ASSERT_EQ(add.out.size(), 1u);
  EXPECT_EQ(add.out[0], a.signature());
  for (std::size_t i = 0; i < p.runs.size(); ++i) {
    EXPECT_FALSE(p.runs[i].backward);
    EXPECT_EQ(p.runs[i].depth, 0);
    EXPECT_GE(p.runs[i].ns, 0);
    EXPECT_GE(p.runs[i].begin_ns, i == 0 ? 0 : p.runs[i - 1].begin_ns + p.runs[i - 1].ns);
  }
  EXPECT_GE(p.wall_ns, p.runs[2].begin_ns + p.runs[2].ns);
}

TEST(a_profile, counts_every_operand_and_result_once_in_its_bytes) {
  const tensor a = six(), b = three(), wide({1., 2., 3., 4.}, {2, 2}), flags({true, false, true});
  const profile_result p = kg::profile([&] {
    kg::add(a, b);
    kg::mul(a, a);
    kg::sum(wide);
    kg::where(flags, b, b);
  });
  ASSERT_EQ(ops_of(p), (names{"Add", "Multiply", "Sum", "Select"}));
  EXPECT_EQ(p.runs[0].bytes, (6 + 3 + 6) * 4);
  EXPECT_EQ(p.runs[1].bytes, (6 + 6 + 6) * 4);
  EXPECT_EQ(p.runs[2].bytes, (4 + 1) * 8);
  EXPECT_EQ(p.runs[3].bytes, 3 * 1 + (3 + 3 + 3) * 4);
}

TEST(a_profile, shows_casts_of_promotion_and_no_reshapes) {
  const tensor whole({1, 2, 3}), x = three();
  const profile_result p = kg::profile([&] { kg::reshape(kg::add(whole, x), {3, 1}); });
  ASSERT_EQ(ops_of(p), (names{"Cast", "Add"}));
  EXPECT_EQ(p.runs[1].in[0].type, dtype::float32);
}

TEST(a_profile, tells_the_walk_back_from_the_way_forward) {
  const tensor x = three();
  std::size_t seen = 0;
  kg::hooks counting;
  counting.end = [&](const kg::kernel_event&) { ++seen; };
  const kg::hook_handle added = kg::add_hooks(counting);
  auto slope = kg::grad([](const tensor& t) { return kg::sum(kg::sin(t)); });
  const profile_result p = kg::profile([&] { slope(x); });
  EXPECT_EQ(p.runs.size(), seen);
  const names ops = ops_of(p);
  const auto run_of = [&](const char* op) {
    const auto at = std::find(ops.begin(), ops.end(), op);
    EXPECT_NE(at, ops.end()) << op;
    EXPECT_EQ(std::count(ops.begin(), ops.end(), op), 1) << op;
    return p.runs[static_cast<std::size_t>(at - ops.begin())];
  };
  EXPECT_FALSE(run_of("Sin").backward);
  EXPECT_FALSE(run_of("Sum").backward);
  EXPECT_TRUE(run_of("Cos").backward) << "the derivative of the sine";
  EXPECT_TRUE(std::is_sorted(p.runs.begin(), p.runs.end(),
                             [](const kg::kernel_run& a, const kg::kernel_run& b) { return a.backward < b.backward; }));
}

TEST(a_profile, names_the_backend_and_no_target_where_there_is_none) {
  const kg::backend_scope scope("reference");
  const profile_result p = kg::profile([] { kg::exp(three()); });
  ASSERT_EQ(p.runs.size(), 1u);
  EXPECT_EQ(p.runs[0].backend, "reference");
  EXPECT_EQ(p.runs[0].target, "");
}

TEST(a_profile, notes_calls_that_fell_back_to_another_backend) {
  struct empty_backend {
    empty_backend() {
      kg::register_backend("without_kernels", nullptr);
      kg::set_fallback(kg::fallback::by_priority);
    }
    ~empty_backend() {
      kg::set_fallback(kg::fallback::refuse);
      kg::remove_backend("without_kernels");
    }
  } registered;
  const kg::backend_scope scope("without_kernels");
  const tensor x({1., 2.});
  const profile_result p = kg::profile([&] { kg::exp(x); });
  ASSERT_EQ(p.fallbacks.size(), 1u);
  EXPECT_EQ(p.fallbacks[0].op, "Exp");
  EXPECT_EQ(p.fallbacks[0].from, "without_kernels");
  EXPECT_EQ(p.fallbacks[0].to, "simd");
  EXPECT_EQ(p.fallbacks[0].compute, dtype::float64);
  ASSERT_EQ(p.runs.size(), 1u);
  EXPECT_EQ(p.runs[0].backend, "simd");
  EXPECT_NE(to_string(p).find("fallback: Exp float64 from without_kernels to simd"), std::string::npos);
}

TEST(a_profile, orders_a_kernel_before_those_that_it_runs) {
  const kg::registration registered = adds_twice("Thrice");
  const tensor x = three();
  const profile_result p = kg::profile([&] {
    kg::run_kernel("Thrice", {x});
    kg::exp(x);
  });
  ASSERT_EQ(ops_of(p), (names{"Thrice", "Add", "Add", "Exp"}));
  const int depths[] = {0, 1, 1, 0};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(p.runs[i].depth, depths[i]) << i;
  EXPECT_GE(p.runs[0].ns, p.runs[1].ns + p.runs[2].ns);
}

TEST(a_profile, shows_a_registered_kernel_with_the_dtype_of_its_first_operand) {
  const kg::registration registered = adds_twice("Thrice");
  const tensor x({1., 2.});
  const profile_result p = kg::profile([&] { kg::run_kernel("Thrice", {x}); });
  EXPECT_EQ(p.runs.at(0).compute, dtype::float64);
  EXPECT_EQ(p.runs.at(0).bytes, 2 * 2 * 8);
}

TEST(a_profile, inside_another_sees_its_own_part_and_the_outer_one_sees_all) {
  const tensor x = three();
  profile_result inner;
  const profile_result outer = kg::profile([&] {
    kg::exp(x);
    inner = kg::profile([&] { kg::sin(x); });
    kg::cos(x);
  });
  EXPECT_EQ(ops_of(inner), names{"Sin"});
  EXPECT_EQ(ops_of(outer), (names{"Exp", "Sin", "Cos"}));
  EXPECT_GE(outer.wall_ns, inner.wall_ns);
}

TEST(a_profile, of_a_function_that_throws_is_gone_with_the_exception) {
  const tensor x = three();
  profile_result after;
  const profile_result outer = kg::profile([&] {
    EXPECT_THROW(kg::profile([&] {
                   kg::exp(x);
                   throw std::runtime_error("on purpose");
                 }),
                 std::runtime_error);
    after = kg::profile([&] { kg::sin(x); });
  });
  EXPECT_EQ(ops_of(after), names{"Sin"});
  EXPECT_EQ(ops_of(outer), (names{"Exp", "Sin"}));
}

TEST(a_profile, has_no_run_of_a_call_that_was_refused) {
  const profile_result p =
      kg::profile([] { EXPECT_NE(refusal([] { return kg::add(three(), tensor({1.f, 2.f})); }), accepted); });
  EXPECT_TRUE(p.runs.empty());
  EXPECT_EQ(p.net_bytes, 0);
}

TEST(a_profile, is_of_its_thread_alone) {
  const tensor x = three();
  profile_result theirs;
  const profile_result mine = kg::profile([&] {
    std::thread([&] {
      kg::exp(x);
      theirs = kg::profile([&] { kg::sin(x); });
    }).join();
    kg::cos(x);
  });
  EXPECT_EQ(ops_of(mine), names{"Cos"});
  EXPECT_EQ(ops_of(theirs), names{"Sin"});
  EXPECT_NE(mine.thread, theirs.thread);
  EXPECT_EQ(mine.thread, kg::profile([] {}).thread);
}

TEST(a_profile, gives_peak_and_net_of_the_memory_that_its_thread_took) {
  tensor kept;
  const std::int64_t before = kg::memory().live_bytes;
  const profile_result p = kg::profile([&] {
    tensor first(std::vector<float>(1000));
    const tensor second(std::vector<float>(500));
    first = tensor();
    kept = tensor(std::vector<float>(250));
  });
  std::vector<std::int64_t> bytes;
  for (const kg::memory_sample& sample : p.memory) bytes.push_back(sample.bytes);
  EXPECT_EQ(bytes, (std::vector<std::int64_t>{4000, 6000, 2000, 3000, 1000}));
  EXPECT_EQ(p.peak_bytes, 6000);
  EXPECT_EQ(p.net_bytes, 1000);
  EXPECT_EQ(p.begin_bytes, before);
  const profile_result drop = kg::profile([&] { kept = tensor(); });
  EXPECT_EQ(drop.net_bytes, -1000);
  EXPECT_EQ(drop.peak_bytes, 0);
}

// ------------------------------------------------------------------------------------------ sums

profile_result written_by_hand() {
  profile_result p;
  p.thread = 7, p.begin_bytes = 100, p.peak_bytes = 64, p.net_bytes = -8, p.wall_ns = 1234567;
  const kg::signature s{{2, 3}, dtype::float32};
  const auto run = [&](std::string op, std::int64_t begin, std::int64_t ns, bool backward) {
    p.runs.push_back({std::move(op), "simd", "AVX2", dtype::float32, {s, s}, {s}, 72, begin, ns, 0, backward});
  };
  run("Mul", 5, 1000, false), run("Add", 1005, 10, false), run("Add", 1000001, 40, true), run("Add", 1000100, 20, true);
  p.runs.push_back({"Add", "reference", "", dtype::float32, {s, s}, {s}, 72, 1000200, 0, 0, true});
  p.memory = {{3, 64}, {1000300, -8}};
  return p;
}

TEST(totals_of_a_profile, sum_up_each_kernel_and_begin_with_the_longest) {
  const std::vector<kg::kernel_total> all = written_by_hand().totals();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].op, "Mul");
  EXPECT_EQ(all[0].median_ns, 1000);
  EXPECT_EQ(all[1].op, "Add");
  EXPECT_EQ(all[1].calls, 3);
  EXPECT_EQ(all[1].total_ns, 70);
  EXPECT_EQ(all[1].min_ns, 10);
  EXPECT_EQ(all[1].median_ns, 20);
  EXPECT_EQ(all[1].bytes, 216);
  EXPECT_DOUBLE_EQ(all[1].gigabytes_per_second(), 216. / 70);
  EXPECT_EQ(all[2].backend, "reference") << "another kernel of the same op";
  EXPECT_EQ(all[2].gigabytes_per_second(), 0) << "not infinite where the clock saw no time pass";
}

TEST(the_median_of_a_total, is_between_the_middle_two_of_an_even_number) {
  profile_result p;
  for (std::int64_t ns : {90, 10, 20, 30}) p.runs.push_back({"Exp", "simd", "", dtype::float32, {}, {}, 0, 0, ns});
  EXPECT_EQ(p.totals()[0].median_ns, 25);
}

TEST(a_profile_as_text, is_a_table_in_columns) {
  EXPECT_EQ(to_string(written_by_hand()),
            "5 kernels in 1234.567 us, peak 64 bytes, net -8 bytes\n"
            "kernel                 calls  total us  min us  median us  bytes  GB/s\n"
            "Mul float32 simd AVX2      1     1.000   1.000      1.000     72  0.07\n"
            "Add float32 simd AVX2      3     0.070   0.010      0.020    216  3.09\n"
            "Add float32 reference      1     0.000   0.000      0.000     72  0.00\n");
  EXPECT_EQ(to_string(kg::profile([] {})).find("0 kernels in "), 0u);
}

// ------------------------------------------------------------------------------------------ traces

nlohmann::json parsed(const profile_result& p) {
  std::ostringstream out;
  kg::write_chrome_trace(p, out);
  return nlohmann::json::parse(out.str());
}

std::vector<nlohmann::json> events_of(const nlohmann::json& trace, const char* phase) {
  std::vector<nlohmann::json> all;
  for (const nlohmann::json& e : trace["traceEvents"])
    if (e["ph"] == phase) all.push_back(e);
  return all;
}

TEST(a_trace, has_a_slice_for_each_run_and_a_counter_of_live_bytes) {
  const nlohmann::json trace = parsed(written_by_hand());
  const auto slices = events_of(trace, "X"), counters = events_of(trace, "C");
  ASSERT_EQ(slices.size(), 5u);
  EXPECT_EQ(slices[1]["name"], "Add");
  EXPECT_EQ(slices[1]["ts"], 1.005);
  EXPECT_EQ(slices[1]["dur"], 0.01);
  EXPECT_EQ(slices[1]["cat"], "forward");
  EXPECT_EQ(slices[2]["cat"], "backward");
  EXPECT_EQ(slices[2]["ts"], 1000.001);
  EXPECT_EQ(slices[0]["tid"], 7);
  EXPECT_TRUE(slices[0]["pid"].is_number_integer());
  const nlohmann::json args = {{"backend", "simd"},         {"target", "AVX2"},
                               {"compute", "float32"},      {"in", {"float32 [2, 3]", "float32 [2, 3]"}},
                               {"out", {"float32 [2, 3]"}}, {"bytes", 72}};
  EXPECT_EQ(slices[0]["args"], args);
  ASSERT_EQ(counters.size(), 3u);
  EXPECT_EQ(counters[0]["args"]["bytes"], 100);
  EXPECT_EQ(counters[1]["args"]["bytes"], 164);
  EXPECT_EQ(counters[2]["args"]["bytes"], 92);
  EXPECT_EQ(trace["traceEvents"].size(), 8u);
}

TEST(a_trace, is_the_same_whatever_the_locale_of_the_stream) {
  struct grouping : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  std::ostringstream plain, local;
  local.imbue(std::locale(std::locale::classic(), new grouping));
  local << 1234567;
  ASSERT_EQ(local.str(), "1.234.567");
  local.str("");
  kg::write_chrome_trace(written_by_hand(), plain);
  kg::write_chrome_trace(written_by_hand(), local);
  EXPECT_EQ(local.str(), plain.str());
}

TEST(a_trace, keeps_names_that_json_cannot_hold_as_they_are) {
  const std::pair<std::string, std::string> names_and_wanted[] = {
      {"a \"quoted\" \\ name", "a \"quoted\" \\ name"},
      {std::string("line\n tab\t zero") + '\0' + "\x1f.", std::string("line\n tab\t zero") + '\0' + "\x1f."},
      {"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},  // of 2, 3 and 4 bytes
      {"\xff \xc3", "\xef\xbf\xbd \xef\xbf\xbd"},                                            // no UTF-8
      {"\xc0\x80", "\xef\xbf\xbd\xef\xbf\xbd"},                                              // overlong
      {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}};                             // a surrogate
  for (const auto& [name, wanted] : names_and_wanted) {
    profile_result p;
    p.runs.push_back({name, name, name, dtype::float32, {}, {}});
    const nlohmann::json slice = events_of(parsed(p), "X").at(0);
    EXPECT_EQ(slice["name"].get<std::string>(), wanted);
    EXPECT_EQ(slice["args"]["backend"].get<std::string>(), wanted);
  }
}

TEST(a_trace, of_a_real_profile_has_its_runs) {
  const tensor x = three();
  const profile_result p = kg::profile([&] { kg::grad([](const tensor& t) { return kg::sum(kg::exp(t) * t); })(x); });
  const auto slices = events_of(parsed(p), "X");
  ASSERT_EQ(slices.size(), p.runs.size());
  for (std::size_t i = 0; i < slices.size(); ++i) {
    EXPECT_EQ(slices[i]["name"], p.runs[i].op);
    EXPECT_NEAR(slices[i]["dur"].get<double>() * 1000, static_cast<double>(p.runs[i].ns), 1e-3);
  }
}

TEST(a_trace, that_cannot_be_written_is_refused) {
  std::ostringstream broken;
  broken.setstate(std::ios::badbit);
  EXPECT_NE(refusal([&] { return kg::write_chrome_trace(written_by_hand(), broken), 0; }), accepted);
  const std::string text =
      refusal([] { return kg::write_chrome_trace(written_by_hand(), "/there/is/no/such/folder/trace.json"), 0; });
  EXPECT_NE(text.find("/there/is/no/such/folder/trace.json"), std::string::npos);
}

}  // namespace
