// SPDX-License-Identifier: Apache-2.0
// Tensors that are made, indexed, changed, borrowed, printed and drawn, texts, and fused functions that run out of
// memory.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/failing_memory.h"
#include "tests/support/refusal.h"

namespace {

using kg::tensor;
using kgtest::refusal;
using kgtest::sweep;
using texts = std::vector<std::string>;

std::string nothing() { return {}; }

// Calls that keep nothing but caches.
void sweep_calls(const std::vector<std::pair<std::string, std::function<void()>>>& all) {
  for (const auto& [name, run] : all) sweep({.name = name, .run = run, .state = nothing});
}

// ------------------------------------------------------------------------------------------ indices and updates

TEST(out_of_memory, ends_indexing_and_updates_without_a_trace) {
  const tensor x({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}, {2, 3}), values({10.f, 20.f, 30.f});
  const tensor rows({1, 0, 1}), columns({2, 0, 1}), mask = x > 2, strings({"a", "bc", "d"});
  sweep_calls({
      {"a mask", [&] { static_cast<void>(x(mask)); }},
      {"a mask of rows", [&] { static_cast<void>(x(tensor({true, false}))); }},
      {"two index tensors", [&] { static_cast<void>(x(rows, columns)); }},
      {"an index tensor with a range", [&] { static_cast<void>(x(rows, kg::range(1, 3))); }},
      {"a list of indices of texts", [&] { static_cast<void>(strings(rows)); }},
      {"set by a mask", [&] { static_cast<void>(x.at(mask).set(0)); }},
      {"set by index tensors", [&] { static_cast<void>(x.at(rows, columns).set(values)); }},
      {"add where indices repeat", [&] { static_cast<void>(x.at(rows).add(values)); }},
      {"multiply where indices repeat", [&] { static_cast<void>(x.at(rows).multiply(values)); }},
      {"max where indices repeat", [&] { static_cast<void>(x.at(rows).max(values)); }},
      {"gradients of an update",
       [&] {
         kg::grads([&](const tensor& a, const tensor& b) { return kg::sum(a.at(rows).multiply(b)); })(x, values);
       }},
      {"gradients of a mask", [&] { kg::grad([&](const tensor& a) { return kg::sum(a(mask)); })(x); }},
      {"an index that is out of range", [&] { static_cast<void>(refusal([&] { return x(7); })); }},
  });
}

TEST(an_update, of_a_tensor_that_runs_out_of_memory_leaves_its_elements) {
  tensor x;
  sweep({.name = "assignment",
         .run = [&] { x = x.at(kg::range(0, 1)).set(tensor({7.f, 8.f, 9.f})).at(0, 1).add(1); },
         .prepare = [&] { x = tensor({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}, {2, 3}); },
         .undo = [&] { x = tensor(); },
         .state = [&] { return to_string(x); }});
}

// ------------------------------------------------------------------------------------------ elements of others

TEST(out_of_memory, lets_go_of_lent_elements_once) {
  const std::vector<float> six{1, 2, 3, 4, 5, 6};
  std::shared_ptr<const std::vector<float>> owner;
  std::vector<float> given;
  int deleted = 0, handed_over = 0;
  struct foreign {
    float elements[6] = {1, 2, 3, 4, 5, 6};
    std::int64_t dims[2] = {3, 2}, strides[2] = {1, 3};
    kg::dlpack::managed_tensor managed{};
  } from;
  from.managed.dl_tensor = {
      from.elements, {kg::dlpack::on_host, 0}, 2, {kg::dlpack::as_float, 32, 1}, from.dims, from.strides, 0};
  from.managed.manager_ctx = &deleted;
  from.managed.deleter = [](kg::dlpack::managed_tensor* self) { ++*static_cast<int*>(self->manager_ctx); };
  const auto balance = [&] { return std::to_string(deleted - handed_over) + " " + std::to_string(owner.use_count()); };
  const auto one = [&](const std::string& name, const std::function<void()>& run) {
    sweep({.name = name,
           .run = run,
           .prepare =
               [&] {
                 owner = std::make_shared<const std::vector<float>>(six);
                 given = six;
               },
           .undo =
               [&] {
                 EXPECT_EQ(balance(), "0 1") << name;
                 owner.reset(), std::vector<float>().swap(given);
               },
           .state = balance});
  };
  one("a borrowed vector", [&] { static_cast<void>(kg::borrow(std::span<const float>(*owner), {2, 3}, owner) + 1); });
  one("a view of a borrowed vector",
      [&] { kg::reshape(kg::borrow(std::span<const float>(*owner), {2, 3}, owner), {6})(2); });
  one("an adopted vector", [&] { kg::adopt(std::move(given), {2, 3}); });
  one("a tensor from DLPack", [&] {
    ++handed_over;
    kg::from_dlpack(&from.managed);
  });
  one("a tensor to DLPack and back", [&] { kg::from_dlpack(kg::to_dlpack(tensor(six)).release()); });
}

// ------------------------------------------------------------------------------------------ texts

TEST(out_of_memory, ends_ops_on_texts_without_a_trace) {
  const std::string long_text(100, 'x');
  const tensor words({"pigs on the wing", "", "animals"}), blank(" "), splits({0, 2, 3});
  const tensor numbers({1.5f, -2.f});
  sweep_calls({
      {"a tensor of texts", [&] { tensor(texts{long_text, "b", long_text}); }},
      {"copies as strings", [&] { words.to_texts(); }},
      {"string_split", [&] { kg::string_split(words, blank); }},
      {"string_ngrams", [&] { kg::string_ngrams(words, splits, {2}, {.pad_width = -1}); }},
      {"string_to_hash_bucket_fast", [&] { kg::string_to_hash_bucket_fast(words, 10); }},
      {"unique", [&] { kg::unique(words); }},
      {"concat", [&] { kg::concat({words, words}, 0); }},
      {"where", [&] { kg::where(tensor({true, false, true}), words, words); }},
      {"a comparison", [&] { static_cast<void>(words == words); }},
      {"gather", [&] { kg::gather(words, tensor({2, 0})); }},
      {"printing", [&] { std::ostringstream() << words << numbers; }},
      {"an explanation", [&] { to_string(kg::explain("Add", {{"a", numbers}, {"b", numbers}})); }},
  });
}

// ------------------------------------------------------------------------------------------ fused functions

TEST(out_of_memory, ends_fused_functions_and_watches_without_a_trace) {
  const tensor x({0.5f, 1.f, 2.f, 3.f, 4.f, 5.f}, {2, 3}), row({1.f, 2.f, 3.f});
  const auto rows = kg::fuse([](auto a, auto b) { return kg::sum(kg::exp(a) * b, 1); });
  const auto layer = [&](const tensor& t) {
    return kg::fused_matmul(t, kg::transpose(x), {.activation = kg::activation::relu});
  };
  sweep_calls({
      {"an expression made at run time",
       [&] { kg::fuse(2, [](std::span<const kg::symbol> s) { return kg::tanh(s[0]) * s[1] + 1; })(x, row); }},
      {"a gradient of an expression",
       [&] {
         const kg::fused_expression f = kg::fuse(
             1, [](std::span<const kg::symbol> s) { return kg::call("LeakyRelu", {s[0] * 2}, {{"alpha", 0.25}}); });
         kg::grad([&](const tensor& t) { return kg::sum(f(t)); })(x);
       }},
      {"a fused reduction", [&] { rows(x, row); }},
      {"a gradient of a fused reduction", [&] { kg::grad([&](const tensor& t) { return kg::sum(rows(t, row)); })(x); }},
      {"a fused layer", [&] { layer(x); }},
      {"a gradient of a fused layer", [&] { kg::grad([&](const tensor& t) { return kg::sum(layer(t)); })(x); }},
      {"a check for NaN",
       [&] {
         const kg::nan_check here;
         static_cast<void>(x + row);
       }},
      {"a trace",
       [&] {
         std::ostringstream out;
         kg::write_chrome_trace(kg::profile([&] { static_cast<void>(x * row); }), out);
       }},
      {"random numbers", [&] { kg::random_normal({3, 4}, 0, 1, 1), kg::random_uniform({3}, 0, 1, 2); }},
  });
}

TEST(out_of_memory, leaves_a_generator_at_its_number) {
  kg::generator random;
  const tensor weights({0.5f, 0.25f, 0.25f}), x({1.f, 2.f, 3.f});
  const auto one = [&](const std::string& name, const std::function<void()>& run) {
    sweep({.name = name,
           .run = run,
           .prepare = [&] { random = kg::generator(7); },
           .state = [&] { return to_string(random.state()); }});
  };
  one("normal numbers", [&] { random.normal({300}); });
  one("uniform numbers", [&] { random.uniform({300}); });
  one("integers", [&] { random.integers({300}, 0, 5); });
  one("a permutation", [&] { random.permutation(x); });
  one("a choice", [&] { random.choice(3, {2}, {.replace = false, .weights = weights}); });
  one("generators of one", [&] { random.split(20); });
}

// Kernels with tables, scratch memory and lists, by several threads.
TEST(out_of_memory, ends_ops_with_scratch_memory_without_a_trace) {
  const tensor image = kg::ones({1, 8, 8, 2}), filter = kg::ones({3, 3, 2, 4}), square = kg::ones({12, 12});
  const tensor boxes({0.f, 0.f, 1.f, 1.f, 0.f, 0.f, .9f, 1.f}, {2, 4}), scores({.5f, .75f});
  sweep_calls({
      {"a convolution", [&] { kg::conv2d(image, filter, {.pad = kg::same}); }},
      {"gradients of a convolution",
       [&] { kg::grads([](const tensor& a, const tensor& b) { return kg::sum(kg::conv2d(a, b)); })(image, filter); }},
      {"pooling", [&] { kg::max_pool(image, 2); }},
      {"an FFT", [&] { kg::rfft(square); }},
      {"a sort", [&] { kg::top_k(square, 3); }},
      {"einsum", [&] { kg::einsum("ij,jk->ik", square, square); }},
      {"non-maximum suppression", [&] { kg::non_max_suppression(boxes, scores, 2); }},
      {"an inverse", [&] { kg::qr(square + kg::eye(12)); }},
      {"a split", [&] { kg::split(square, 3, 0); }},
  });
}

TEST(out_of_memory, ends_ops_by_several_threads_without_a_trace) {
  const tensor large = kg::ones({1 << 19}), square = kg::ones({192, 192});
  kg::set_num_threads(3);
  sweep_calls({
      {"elements by threads", [&] { kg::exp(large); }},
      {"a sum by threads", [&] { kg::sum(large); }},
      {"a product by threads", [&] { kg::matmul(square, square); }},
  });
  kg::set_num_threads(1);
}

}  // namespace
