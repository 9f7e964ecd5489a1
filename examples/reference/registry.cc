// SPDX-License-Identifier: Apache-2.0
// Backends, kernels and gradients that a program adds, what runs by name, packs, hooks and traces.
#include <algorithm>
#include <cstddef>
#include <iostream>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "example.h"

import kerngrad;

namespace {

void a_backend_comes_alive() {
  kg::register_backend("mine", nullptr);  // no factory: its kernels work on the host's memory
  std::cout << kg::backends().front().name << " alive: " << kg::backends().front().alive << "\n";
  kg::set_backend("mine");
  std::cout << kg::backends().front().name << " alive: " << kg::backends().front().alive << "\n";
  kg::remove_backend("mine");
}
const example for_a_backend_comes_alive{"kg::register_backend kg::backends", a_backend_comes_alive};

void the_best_that_is_left_becomes_active() {
  kg::register_backend("mine", nullptr);
  kg::set_backend("mine");
  kg::remove_backend("mine");
  std::cout << kg::active_backend() << "\n";
}
const example for_the_best_that_is_left_becomes_active{"kg::remove_backend", the_best_that_is_left_becomes_active};

void the_backend_that_calls_run_on() {
  kg::set_backend("reference");
  std::cout << kg::active_backend() << "\n";
  kg::set_backend(kg::backend::simd);
  std::cout << kg::active_backend() << "\n";
}
const example for_the_backend_that_calls_run_on{"kg::set_backend kg::active_backend", the_backend_that_calls_run_on};

void calls_of_one_thread_on_another_backend() {
  {
    const kg::backend_scope here("reference");
    std::cout << kg::active_backend() << "\n";
  }
  std::cout << kg::active_backend() << "\n";
}
const example for_calls_of_one_thread_on_another_backend{"kg::backend_scope", calls_of_one_thread_on_another_backend};

void the_highest_priority_wins() {
  kg::register_backend("mine", nullptr, 5);  // simd has priority 1
  std::cout << kg::set_best_backend() << "\n";
  kg::remove_backend("mine");
}
const example for_the_highest_priority_wins{"kg::set_best_backend", the_highest_priority_wins};

void a_table_of_kernels() {
  constexpr auto linear = kg::per_element<float>([](float x) { return 1 + x; });
  const kg::kernels::entry table[] = {{"Exp", linear.type, linear.slot.run, linear.slot.flat1, nullptr}};
  kg::register_kernel_table("near zero", table);
  kg::set_backend("near zero");
  std::cout << kg::exp(kg::tensor({0.f, 0.25f})) << "\n";
  kg::remove_backend("near zero");
}
const example for_a_table_of_kernels{"kg::register_kernel_table", a_table_of_kernels};

void what_a_backend_lacks() {
  kg::register_backend("mine", nullptr);
  kg::set_backend("mine");
  kg::set_fallback(kg::fallback::by_priority);
  std::cout << kg::neg(kg::tensor({1, -2})) << "\n";  // by simd: "mine" has no kernels
  std::cout << "by priority: " << (kg::active_fallback() == kg::fallback::by_priority) << "\n";
  kg::set_fallback(kg::fallback::refuse);
  kg::remove_backend("mine");
}
const example for_what_a_backend_lacks{"kg::set_fallback kg::active_fallback", what_a_backend_lacks};

// ------------------------------------------------------------------------------------------ kernels of custom ops

void a_kernel_of_one_element_and_a_number() {
  constexpr auto scaled = kg::per_element<float>([](float x, double by) { return x * static_cast<float>(by); });
  std::cout << kg::name_of(scaled.type) << " with " << scaled.numbers << " attribute\n";
}
const example for_a_kernel_of_one_element_and_a_number{"kg::per_element", a_kernel_of_one_element_and_a_number};

void a_kernel_of_two_elements() {
  constexpr auto distance = kg::per_pair<float>([](float a, float b) { return a > b ? a - b : b - a; });
  const float a[] = {1, 5}, b[] = {4, 3};
  float y[2];
  distance.slot.flat2(a, b, y, 2);  // as the engine calls it for operands of one shape
  std::cout << y[0] << " " << y[1] << "\n";
}
const example for_a_kernel_of_two_elements{"kg::per_pair", a_kernel_of_two_elements};

void a_kernel_on_a_call() {
  constexpr auto differences = kg::on_call<float>([](const kg::launch_call& c) {
    const std::span<const float> x = kg::elements_in<float>(c, 0);
    const std::span<float> y = kg::elements_out<float>(c);
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i + 1] - x[i];
  });
  std::cout << kg::name_of(differences.type) << "\n";
}
const example for_a_kernel_on_a_call{"kg::on_call kg::elements_in kg::elements_out", a_kernel_on_a_call};

void kernels_on_calls_of_a_set() {
  constexpr auto kernels = kg::on_calls<kg::wide_floats>([]<class T>(const kg::launch_call& c) {
    std::ranges::reverse_copy(kg::elements_in<T>(c, 0), kg::elements_out<T>(c).begin());
  });
  for (const kg::own_kernel& kernel : kernels) std::cout << kg::name_of(kernel.type) << "\n";
}
const example for_kernels_on_calls_of_a_set{"kg::on_calls", kernels_on_calls_of_a_set};

void one_kernel_a_dtype() {
  constexpr auto cube = [](auto x) { return x * x * x; };
  constexpr auto kernels = kg::kernel_list(kg::per_element<float>(cube), kg::per_element<double>(cube));
  for (const kg::own_kernel& kernel : kernels) std::cout << kg::name_of(kernel.type) << "\n";
}
const example for_one_kernel_a_dtype{"kg::kernel_list", one_kernel_a_dtype};

void another_kernel_of_a_known_op() {
  constexpr auto saturating =
      kg::kernels_of<"Add">(kg::per_pair<float>([](float a, float b) { return a + b < 1 ? a + b : 1; }));
  const float a = 0.75f, b = 0.5f;
  float y;
  saturating.list[0].slot.flat2(&a, &b, &y, 1);
  std::cout << y << "\n";
}
const example for_another_kernel_of_a_known_op{"kg::kernels_of", another_kernel_of_a_known_op};

// ------------------------------------------------------------------------------------------ by name

void a_kernel_by_name() {
  const auto run = [](const kg::kernel_call& call) -> kg::tensor_list { return {call.input("x") * 2}; };
  kg::register_kernel({.name = "Twice", .run = run});
  std::cout << kg::run_kernel("Twice", {{"x", kg::tensor({1, 2})}}) << "\n";
  kg::unregister_kernel("Twice");
}
const example for_a_kernel_by_name{"kg::register_kernel", a_kernel_by_name};

void the_built_in_kernel_is_back() {
  const auto same = [](const kg::kernel_call& call) -> kg::tensor_list { return {call.input("x")}; };
  kg::register_kernel({.name = "Neg", .run = same}, kg::existing::replace);
  std::cout << kg::run_kernel("Neg", {{"x", kg::tensor(1)}}).item() << "\n";
  kg::unregister_kernel("Neg");
  std::cout << kg::run_kernel("Neg", {{"x", kg::tensor(1)}}).item() << "\n";
}
const example for_the_built_in_kernel_is_back{"kg::unregister_kernel", the_built_in_kernel_is_back};

void another_gradient() {
  const auto straight = [](const kg::gradient_call& call) -> std::vector<kg::named_operand> {
    return {{"x", call.dy()}};
  };
  const auto f = [](const kg::tensor& x) { return kg::round(x); };
  kg::register_gradient({.name = "Round", .run = straight}, kg::existing::replace);
  std::cout << kg::grad(f)(kg::tensor(0.4f)).item() << "\n";
  kg::unregister_gradient("Round");
  std::cout << kg::grad(f)(kg::tensor(0.4f)).item() << "\n";
}
const example for_another_gradient{"kg::register_gradient kg::unregister_gradient", another_gradient};

void kernels_of_one_backend_for_another() {
  const auto run = [](const kg::kernel_call& call) -> kg::tensor_list { return {call.input("x") * 2}; };
  kg::register_kernel({.name = "Twice", .run = run});
  std::cout << kg::copy_registered_kernels("simd", "reference") << " kernel, ";
  std::cout << "found there: " << kg::get_kernel("Twice", "reference").has_value() << "\n";
  for (const char* backend : {"simd", "reference"}) kg::unregister_kernel("Twice", backend);
}
const example for_kernels_of_one_backend_for_another{"kg::copy_registered_kernels", kernels_of_one_backend_for_another};

void what_a_call_by_name_would_run() {
  const auto found = kg::get_kernel("Sqrt");
  std::cout << kg::to_string(found->dtypes) << ", built in: " << found->known << "\n";
  std::cout << kg::get_kernel("SquareRoot").has_value() << "\n";
}
const example for_what_a_call_by_name_would_run{"kg::get_kernel", what_a_call_by_name_would_run};

void a_registered_gradient() {
  const auto run = [](const kg::gradient_call& call) -> std::vector<kg::named_operand> { return {{"x", call.dy()}}; };
  const kg::registration here = kg::scoped_gradient({.name = "Round", .run = run}, kg::existing::replace);
  const auto found = kg::get_gradient("Round");
  std::cout << found->name << ", in place of the op's own: " << found->replaces << "\n";
  std::cout << kg::get_gradient("Floor").has_value() << "\n";
}
const example for_a_registered_gradient{"kg::get_gradient", a_registered_gradient};

void names_with_and_without_gradient() {
  std::cout << kg::has_gradient("Exp") << " " << kg::has_gradient("ArgMax") << "\n";
}
const example for_names_with_and_without_gradient{"kg::has_gradient", names_with_and_without_gradient};

void what_a_backend_has() {
  const auto run = [](const kg::kernel_call& call) -> kg::tensor_list { return {call.input("x")}; };
  const kg::registration here = kg::scoped_kernel({.name = "Same", .backend = "mine", .run = run});
  for (const kg::kernel_info& kernel : kg::kernels_for_backend("mine")) std::cout << kernel.name << "\n";
}
const example for_what_a_backend_has{"kg::kernels_for_backend", what_a_backend_has};

void what_a_row_says() {
  const kg::op_row* row = kg::row_named("LeakyRelu");
  std::cout << row->doc << "\n"
            << row->attrs[0].name << ": " << row->attrs[0].doc << ", " << row->attrs[0].fallback << "\n";
}
const example for_what_a_row_says{"kg::row_named", what_a_row_says};

void ops_by_their_beginning() {
  for (const std::string& name : kg::op_names())
    if (name.starts_with("Cum")) std::cout << name << "\n";
}
const example for_ops_by_their_beginning{"kg::op_names", ops_by_their_beginning};

void all_results_by_name() {
  const std::vector<kg::named_operand> operands{{"value", kg::tensor{{1, 2}, {3, 4}}}};
  const std::vector<kg::named_attribute> attrs{{"axis", 1}};
  for (const kg::tensor& part : kg::run_kernel_list("Unpack", operands, attrs)) std::cout << part << "\n";
}
const example for_all_results_by_name{"kg::run_kernel_list", all_results_by_name};

void a_kernel_that_is_looked_up_once() {
  const kg::kernel_handle leaky = kg::find_kernel("LeakyRelu", {{"alpha", 0.5}});
  std::cout << leaky({{"x", kg::tensor({-2.f, 3.f})}}) << "\n";
  const std::vector<float> x{-4, 1};
  std::vector<float> y(2);
  leaky(std::span<const float>(x), std::span<float>(y));  // the kernel's own function
  std::cout << y[0] << " " << y[1] << "\n";
}
const example for_a_kernel_that_is_looked_up_once{"kg::find_kernel", a_kernel_that_is_looked_up_once};

// ------------------------------------------------------------------------------------------ packs, hooks, traces

void a_pack_is_not_searched_for() {
  try {
    kg::load_pack("softshrink.so");
  } catch (const kg::error& e) {
    std::cout << e.what() << "\n";
  }
}
const example for_a_pack_is_not_searched_for{"kg::load_pack", a_pack_is_not_searched_for};

void no_pack_is_loaded_at_first() { std::cout << kg::loaded_packs().size() << " packs\n"; }
const example for_no_pack_is_loaded_at_first{"kg::loaded_packs", no_pack_is_loaded_at_first};

void which_kernels_run() {
  kg::hooks watch;
  watch.end = [](const kg::kernel_event& e) { std::cout << e.op << (e.backward ? " backward\n" : "\n"); };
  const kg::hook_handle watching = kg::add_hooks(std::move(watch));
  kg::grad([](const kg::tensor& x) { return kg::sum(kg::exp(x)); })(kg::tensor({1.f, 2.f}));
}
const example for_which_kernels_run{"kg::add_hooks", which_kernels_run};

void a_trace_of_a_profile() {
  const kg::profile_result ran = kg::profile([] { kg::exp(kg::tensor({1.f, 2.f})); });
  std::ostringstream trace;  // or the path of a file
  kg::write_chrome_trace(ran, trace);
  const std::string json = trace.str();
  std::cout << json.substr(json.find("\"in\":"), 42) << "\n";
}
const example for_a_trace_of_a_profile{"kg::write_chrome_trace", a_trace_of_a_profile};

}  // namespace
