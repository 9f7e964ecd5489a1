// SPDX-License-Identifier: Apache-2.0
// Dtypes and shapes, memory in and out of tensors, typed calls, SIMD targets, threads.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <iomanip>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "example.h"

import kerngrad;

namespace {

void what_an_error_says() {
  try {
    kg::fail("trace", "a tensor of shape [2, 3]", "a square matrix", "slice it");
  } catch (const kg::error& e) {
    std::cout << e.what() << "\n" << e.op() << ": " << e.wanted() << "\n";
  }
}
const example for_what_an_error_says{"kg::fail", what_an_error_says};

void dtypes_have_names() {
  const auto type = kg::dtype_named("float64");
  std::cout << (type == kg::dtype::float64) << " " << kg::dtype_named("double").has_value() << "\n";
}
const example for_dtypes_have_names{"kg::dtype_named", dtypes_have_names};

void not_every_number_is_a_dtype() {
  std::cout << kg::is_dtype(kg::dtype::int32) << " " << kg::is_dtype(static_cast<kg::dtype>(99)) << "\n";
}
const example for_not_every_number_is_a_dtype{"kg::is_dtype", not_every_number_is_a_dtype};

void what_elements_are() {
  for (const kg::dtype type : {kg::dtype::uint8, kg::dtype::int16, kg::dtype::bfloat16, kg::dtype::complex64})
    std::cout << kg::name_of(type) << ": " << kg::size_of(type) << " bytes, " << kg::parts_of(type)
              << " numbers, a half: " << (kg::kind_of(type) == kg::dtype_kind::half)
              << ", negative integers: " << kg::is_signed_integer(type) << "\n";
}
const example for_what_elements_are{"kg::size_of kg::kind_of kg::parts_of kg::is_signed_integer", what_elements_are};

void sets_of_dtypes() {
  const kg::dtype_set both = kg::only(kg::dtype::int32) | kg::only(kg::dtype::float32);
  std::cout << kg::to_string(both) << ": " << both.has(kg::dtype::int32) << " " << both.has(kg::dtype::int64) << "\n";
}
const example for_sets_of_dtypes{"kg::only", sets_of_dtypes};

void common_dtypes() {
  std::cout << kg::name_of(kg::promote(kg::dtype::int64, kg::dtype::float32)) << "\n"
            << kg::name_of(kg::promote(kg::dtype::float16, kg::dtype::bfloat16)) << "\n"
            << kg::name_of(kg::promote(kg::dtype::complex64, kg::dtype::float64)) << "\n";
}
const example for_common_dtypes{"kg::promote", common_dtypes};

void shapes_broadcast_from_the_last_axis() {
  std::cout << kg::to_string(*kg::broadcast({2, 1}, {3})) << "\n";
  std::cout << kg::broadcast({2}, {3}).has_value() << "\n";
}
const example for_shapes_broadcast_from_the_last_axis{"kg::broadcast", shapes_broadcast_from_the_last_axis};

void a_shape_within_a_bound() {
  const kg::shape bound{4, 3};
  std::cout << kg::is_within({2, 3}, bound) << " " << kg::is_within({5, 3}, bound) << " " << kg::is_within({3}, bound)
            << "\n";
}
const example for_a_shape_within_a_bound{"kg::is_within", a_shape_within_a_bound};

// ------------------------------------------------------------------------------------------ elements

void elements_are_used_where_they_lie() {
  const std::vector<float> values{1, 2, 3, 4};  // must outlive x
  const kg::tensor x = kg::borrow(values, {2, 2});
  std::cout << x << "\nthe same memory: " << (x.address() == values.data()) << "\n";
}
const example for_elements_are_used_where_they_lie{"kg::borrow", elements_are_used_where_they_lie};

void a_tensor_owns_a_vector() {
  std::vector<std::int32_t> values{1, 2, 3, 4, 5, 6};
  std::cout << kg::adopt(std::move(values), {2, 3}) << "\n";
}
const example for_a_tensor_owns_a_vector{"kg::adopt", a_tensor_owns_a_vector};

void elements_with_their_indices() {
  const kg::tensor x{{1, 2, 3}, {4, 5, 6}};
  const auto m = kg::as_mdspan<std::int32_t, 2>(x);
  std::cout << m.extent(0) << " x " << m.extent(1) << ", " << m[std::array<std::int64_t, 2>{1, 2}] << "\n";
}
const example for_elements_with_their_indices{"kg::as_mdspan", elements_with_their_indices};

void a_column_major_array_of_another_library() {
  float values[] = {1, 2, 3, 4, 5, 6};
  std::int64_t dims[] = {3, 2}, strides[] = {1, 3};
  kg::dlpack::managed_tensor given{
      {values, {kg::dlpack::on_host, 0}, 2, {kg::dlpack::as_float, 32, 1}, dims, strides, 0}, nullptr, nullptr};
  std::cout << kg::from_dlpack(&given) << "\n";
}
const example for_a_column_major_array_of_another_library{"kg::from_dlpack", a_column_major_array_of_another_library};

void another_library_gets_a_tensor() {
  const kg::tensor x = kg::tensor{{1.f, 2.f, 3.f}};
  const auto given = kg::to_dlpack(x);  // given.release() hands it over
  const kg::dlpack::managed_tensor_versioned& whole = *given;
  const kg::dlpack::array& elements = whole.dl_tensor;
  std::cout << elements.shape[0] << " x " << elements.shape[1] << ", " << +elements.dtype.bits
            << " bits, the same memory: " << (elements.data == x.address()) << "\n";
}
const example for_another_library_gets_a_tensor{"kg::to_dlpack", another_library_gets_a_tensor};

void a_stream_says_how_elements_are_written() {
  const kg::tensor x{{3.14159f, -2.71828f}, {10.f, 0.5f}};
  std::cout << x << "\n"
            << std::fixed << std::setprecision(2) << x << "\n"
            << std::defaultfloat << std::setprecision(6);
}
const example for_a_stream_says_how_elements_are_written{"kg::operator<<", a_stream_says_how_elements_are_written};

// ------------------------------------------------------------------------------------------ memory

void a_limit_refuses_what_would_pass_it() {
  kg::set_memory_limit(kg::memory().live_bytes + 1000);
  try {
    kg::zeros({1000});
  } catch (const kg::error& e) {
    std::cout << e.got() << "\n";
  }
  kg::set_memory_limit(kg::unlimited);
  std::cout << "unlimited: " << (kg::memory_limit() == kg::unlimited) << "\n";
}
const example for_a_limit_refuses_what_would_pass_it{"kg::memory_limit", a_limit_refuses_what_would_pass_it};

void a_budget_bounds_one_thread() {
  const kg::memory_budget budget(4000);
  const kg::counted_memory cache(1000);  // of a cache of the program's
  try {
    kg::zeros({1000});
  } catch (const kg::error& e) {
    std::cout << e.what() << "\n";
  }
}
const example for_a_budget_bounds_one_thread{"kg::memory_budget kg::counted_memory", a_budget_bounds_one_thread};

void freed_blocks_wait_for_reuse() {
  const std::int64_t usual = kg::cache_limit(), four_megabytes = 1 << 22;
  kg::zeros({1 << 20});  // freed at once
  std::cout << "kept: " << (kg::memory().cached_bytes >= four_megabytes) << "\n";
  kg::set_cache_limit(0);
  std::cout << "kept: " << (kg::memory().cached_bytes >= four_megabytes) << "\n";
  kg::set_cache_limit(usual);
}
const example for_freed_blocks_wait_for_reuse{"kg::set_cache_limit kg::cache_limit", freed_blocks_wait_for_reuse};

void blocks_of_an_allocator_of_the_program() {
  static int taken = 0;
  kg::set_allocator({[](void*, std::size_t bytes) { return ++taken, std::aligned_alloc(64, (bytes + 63) / 64 * 64); },
                     [](void*, void* block, std::size_t) { --taken, std::free(block); }});
  const kg::tensor x({1.f, 2.f, 3.f});  // has its block to the end
  kg::set_allocator({});
  std::cout << taken << " block\n";
}
const example for_blocks_of_an_allocator_of_the_program{"kg::set_allocator", blocks_of_an_allocator_of_the_program};

void a_freed_block_is_taken_again() {
  kg::release_cached_memory();
  const std::int64_t before = kg::allocations().system_calls;
  for (int i = 0; i < 3; ++i) kg::zeros({1 << 20});
  std::cout << kg::allocations().system_calls - before << " block from the system\n";
}
const example for_a_freed_block_is_taken_again{"kg::allocations", a_freed_block_is_taken_again};

void a_view_and_a_copy_take_no_memory() {
  const kg::memory_info before = kg::memory();
  const kg::tensor x = kg::zeros({1000}), view = kg::reshape(x, {10, 100}), copy = x;
  const kg::memory_info now = kg::memory();
  std::cout << now.live_tensors - before.live_tensors << " tensors, " << now.live_buffers - before.live_buffers
            << " buffer, " << now.live_bytes - before.live_bytes << " bytes\n";
}
const example for_a_view_and_a_copy_take_no_memory{"kg::memory", a_view_and_a_copy_take_no_memory};

void the_most_that_a_call_takes() {
  kg::reset_peak_memory();
  const std::int64_t before = kg::memory().live_bytes;
  kg::sum(kg::zeros({1000}));
  std::cout << kg::memory().peak_bytes - before << " bytes\n";
}
const example for_the_most_that_a_call_takes{"kg::reset_peak_memory", the_most_that_a_call_takes};

void what_was_kept_for_reuse_goes_back() {
  kg::zeros({1 << 20});
  std::cout << "some kept: " << (kg::memory().cached_bytes > 0) << "\n";
  kg::release_cached_memory();
  std::cout << kg::memory().cached_bytes << " bytes kept\n";
}
const example for_what_was_kept_for_reuse_goes_back{"kg::release_cached_memory", what_was_kept_for_reuse_goes_back};

// ------------------------------------------------------------------------------------------ calls

void a_typed_call() {
  const kg::tensor x{{1, 2, 3}, {4, 5, 6}};
  std::cout << kg::call<"Sum">(x, kg::attr<"axis">(1), kg::attr<"keepDims">(true)) << "\n";
}
const example for_a_typed_call{"kg::call", a_typed_call};

void an_attribute_knows_its_kind() {
  const auto axes = kg::attr<"axis">({0, 1});
  const auto slope = kg::attr<"alpha">(0.5);
  std::cout << axes.name << " " << kg::name_of(axes.kind) << " " << kg::to_string(axes.value) << "\n"
            << slope.name << " " << kg::name_of(slope.kind) << " " << kg::to_string(slope.value) << "\n";
}
const example for_an_attribute_knows_its_kind{"kg::attr", an_attribute_knows_its_kind};

void all_results_of_a_call() {
  const kg::tensor x({1, 2, 3});
  for (const kg::tensor& part : kg::call_list<"SplitV">(std::vector{x}, kg::attr<"numOrSizeSplits">({1, 2})))
    std::cout << part << "\n";
}
const example for_all_results_of_a_call{"kg::call_list", all_results_of_a_call};

// ------------------------------------------------------------------------------------------ SIMD targets, threads

void a_target_is_set() {
  const std::string best = kg::simd_targets().front().name, last = kg::simd_targets().back().name;
  kg::set_simd_target(last);
  std::cout << "on the last: " << (kg::active_simd_target() == last) << "\n";
  kg::set_simd_target("");
  std::cout << "on the best: " << (kg::active_simd_target() == best) << "\n";
}
const example for_a_target_is_set{"kg::set_simd_target kg::active_simd_target kg::simd_targets", a_target_is_set};

void targets_that_are_compiled_in() {
  for (const kg::compiled_target& target : kg::compiled_simd_targets())
    if (target.active) std::cout << "this CPU runs the active one: " << target.supported << "\n";
}
const example for_targets_that_are_compiled_in{"kg::compiled_simd_targets", targets_that_are_compiled_in};

void the_number_of_threads_in_force() {
  kg::set_num_threads(4);
  std::cout << kg::num_threads() << " threads\n";
  kg::set_num_threads(1);
}
const example for_the_number_of_threads_in_force{"kg::num_threads", the_number_of_threads_in_force};

void a_pool_of_the_program_runs_the_tasks() {
  std::size_t most = 0;
  kg::set_num_threads(2);
  kg::set_thread_pool([&](std::size_t count, const std::function<void(std::size_t)>& task) {
    most = count;
    for (std::size_t i = 0; i < count; ++i) task(i);  // a pool would run them at the same time
  });
  kg::exp(kg::zeros({1 << 20}));
  kg::set_thread_pool({});
  kg::set_num_threads(1);
  std::cout << "several tasks: " << (most > 1) << "\n";
}
const example for_a_pool_of_the_program_runs_the_tasks{"kg::set_thread_pool", a_pool_of_the_program_runs_the_tasks};

void axes_that_are_not_named() {
  const kg::tensor x = kg::reshape(kg::arange(24), {2, 3, 4});
  std::cout << x(kg::ellipsis, 0).dims() << " " << x(kg::newaxis, 1).dims() << "\n";
}
const example for_axes_that_are_not_named{"kg::ellipsis kg::newaxis", axes_that_are_not_named};

// ------------------------------------------------------------------------------------------ elements

void elements_that_C_has_no_types_for() {
  std::cout << kg::tensor({kg::float16(0.1)}) << "\n"
            << kg::tensor({kg::bfloat16(0.1)}) << "\n"
            << kg::tensor({kg::complex64{1, -2}}) << "\n"
            << kg::tensor({kg::complex128{0, 1}}) << "\n";
}
const example for_elements_that_C_has_no_types_for{"kg::float16 kg::bfloat16 kg::complex64 kg::complex128",
                                                   elements_that_C_has_no_types_for};

void the_dtype_of_a_C_type() {
  std::cout << kg::name_of(kg::dtype_of<float>) << " " << kg::name_of(kg::dtype_of_type<long long>::value) << "\n";
}
const example for_the_dtype_of_a_C_type{"kg::dtype_of kg::dtype_of_type", the_dtype_of_a_C_type};

void a_dtype_becomes_a_type() {
  const auto bytes = []<kg::dtype Type>(kg::dtype_constant<Type> is) { return sizeof(typename decltype(is)::element); };
  for (const kg::dtype type : {kg::dtype::uint8, kg::dtype::float64})
    std::cout << kg::visit_number(type, bytes) << "\n";
}
const example for_a_dtype_becomes_a_type{"kg::dtype_constant kg::visit_number", a_dtype_becomes_a_type};

void sizes_of_all_elements() {
  for (int i = 0; i < kg::dtype_count; ++i)
    std::cout << kg::visit(static_cast<kg::dtype>(i), [](auto is) { return sizeof(typename decltype(is)::element); })
              << " ";
  std::cout << "\n" << "at most " << kg::max_rank << " axes\n";
}
const example for_sizes_of_all_elements{"kg::visit kg::dtype_count kg::max_rank", sizes_of_all_elements};

}  // namespace
