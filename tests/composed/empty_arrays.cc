// SPDX-License-Identifier: Apache-2.0
// Composed functions on tensors without elements whose other axes are of any size: they end soon, with a result or an
// error. tests/engine/empty_and_huge.cc has the ops.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/support/calls_apart.h"

import kerngrad;

namespace {

using kg::tensor;

struct named_function {
  const char* name;
  std::function<void(const tensor&)> run;
};

template <class F>
std::function<void(const tensor&)> with_gradient(F f) {
  return [f](const tensor& x) { kg::grad([f](const tensor& t) { return kg::sum(f(t)); })(x); };
}

const std::vector<named_function>& functions() {
  static const std::vector<named_function> all = {
      {"to_string", [](const tensor& x) { to_string(x); }},
      {"to_doubles", [](const tensor& x) { static_cast<void>(x.to_doubles()); }},
      {"indexing", with_gradient([](const tensor& x) { return x(0); })},
      {"a range", with_gradient([](const tensor& x) { return x(kg::range(0, -1)); })},
      {"a step", with_gradient([](const tensor& x) { return x(kg::range(0, -1, 3)); })},
      {"an update", [](const tensor& x) { x.at(kg::range(0, -1)).set(kg::zeros({1})); }},
      {"roll", with_gradient([](const tensor& x) { return kg::roll(x, 1); })},
      {"roll of an axis", with_gradient([](const tensor& x) { return kg::roll(x, 1, 0); })},
      {"repeat", with_gradient([](const tensor& x) { return kg::repeat(x, 2); })},
      {"repeat of an axis", with_gradient([](const tensor& x) { return kg::repeat(x, 2, 0); })},
      {"diff", with_gradient([](const tensor& x) { return kg::diff(x); })},
      {"diff of order 2", with_gradient([](const tensor& x) { return kg::diff(x, 2, 0); })},
      {"meshgrid", [](const tensor& x) { kg::meshgrid(std::vector{kg::flatten(x), x}); }},
      {"take", with_gradient([](const tensor& x) { return kg::take(x, kg::zeros({0}, kg::dtype::int32), 0); })},
      {"trace", with_gradient([](const tensor& x) { return kg::trace(x); })},
      {"norm", with_gradient([](const tensor& x) { return kg::norm(x); })},
      {"norm of rows", with_gradient([](const tensor& x) { return kg::norm(x, 1, kg::axes{-1}); })},
      {"diagonal", with_gradient([](const tensor& x) { return kg::diagonal(x); })},
      {"tril", with_gradient([](const tensor& x) { return kg::tril(x); })},
      {"gram_schmidt", with_gradient([](const tensor& x) { return kg::gram_schmidt(x); })},
      {"qr", [](const tensor& x) { kg::qr(x); }},
      {"a full qr", [](const tensor& x) { kg::qr(x, true); }},
      {"matmul with itself", with_gradient([](const tensor& x) { return kg::matmul(x, x, true, false); })},
      {"outer", with_gradient([](const tensor& x) { return kg::outer(x, x); })},
      {"rms_norm", with_gradient([](const tensor& x) { return kg::rms_norm(x); })},
      {"group_norm", with_gradient([](const tensor& x) { return kg::group_norm(x, 1); })},
      {"instance_norm", with_gradient([](const tensor& x) { return kg::instance_norm(x); })},
      {"batch_norm_training", [](const tensor& x) { kg::batch_norm_training(x); }},
      {"quantile", with_gradient([](const tensor& x) { return kg::quantile(x, 0.3, kg::axes{-1}); })},
      {"median", with_gradient([](const tensor& x) { return kg::median(x); })},
      {"frame", with_gradient([](const tensor& x) { return kg::frame(x, 4, 2); })},
      {"stft", [](const tensor& x) { kg::stft(x, 8, 4); }},
      {"rfft", with_gradient([](const tensor& x) { return kg::real(kg::rfft(x)); })},
      {"moments", [](const tensor& x) { kg::moments(x); }},
      {"variance of an axis", with_gradient([](const tensor& x) { return kg::variance(x, kg::axes{0}); })},
      {"in_top_k", [](const tensor& x) { kg::in_top_k(x, kg::zeros({x.dims()[0]}, kg::dtype::int32)); }},
      {"count_nonzero", [](const tensor& x) { kg::count_nonzero(x); }},
      {"dropout", with_gradient([](const tensor& x) { return kg::dropout(x, 0.5, 3); })},
      {"softmax_cross_entropy_loss",
       with_gradient([](const tensor& x) { return kg::softmax_cross_entropy_loss(x, x); })},
      {"huber_loss", with_gradient([](const tensor& x) { return kg::huber_loss(x, x); })},
      {"list_difference", [](const tensor& x) { kg::list_difference(kg::flatten(x), kg::flatten(x)); }},
      {"all_close", [](const tensor& x) { kg::all_close(x, x); }},
      {"unstack", [](const tensor& x) { kg::unstack(x); }},
      {"split", [](const tensor& x) { kg::split(x, 2); }},
      {"conv1d",
       with_gradient([](const tensor& x) { return kg::conv1d(x, kg::zeros({3, x.dims()[x.rank() - 1], 1})); })},
      {"jacobian", [](const tensor& x) { kg::jacobian([](const tensor& t) { return kg::exp(t); })(x); }},
      {"fuse", with_gradient([](const tensor& x) { return kg::fuse([](auto a) { return kg::exp(a) * a; })(x); })},
  };
  return all;
}

std::vector<kg::shape> empty_shapes() {
  std::vector<kg::shape> all;
  for (const std::int64_t huge : {std::int64_t{1} << 31, std::int64_t{1} << 33, std::int64_t{1} << 40})
    for (const kg::shape& dims : std::vector<kg::shape>{{0, huge},
                                                        {huge, 0},
                                                        {huge, 0, 3},
                                                        {huge, 3, 0},
                                                        {0, 3, huge},
                                                        {3, huge, 0},
                                                        {1, huge, 0, 2},
                                                        {huge, 2, 0, 2}})
      all.push_back(dims);
  return all;
}

TEST(composed_functions, of_tensors_without_elements_end_soon_with_a_result_or_an_error) {
  const std::vector<kg::shape> shapes = empty_shapes();
  const std::size_t count = functions().size() * shapes.size();
  const auto function_of = [&](std::size_t i) -> const named_function& { return functions()[i / shapes.size()]; };
  const auto dims_of = [&](std::size_t i) -> const kg::shape& { return shapes[i % shapes.size()]; };
  kgtest::calls_apart apart;
  for (std::size_t next = 0; next < count; ++next) {
    next = apart.run(next, count, [&](std::size_t i) {
      kg::set_memory_limit(kg::memory().live_bytes + (std::int64_t{64} << 20));
      try {
        function_of(i).run(kg::zeros(dims_of(i)));
      } catch (const kg::error&) {
      }
    });
    if (next < count)
      ADD_FAILURE() << function_of(next).name << " of " << to_string(dims_of(next)) << ": " << apart.problem();
  }
}

}  // namespace
