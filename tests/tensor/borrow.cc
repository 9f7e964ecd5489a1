// SPDX-License-Identifier: Apache-2.0
// Elements that are borrowed: used where they lie, never written, let go of once, not counted. And those that lie
// otherwise than a tensor's: copied once.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <span>
#include <thread>
#include <type_traits>
#include <vector>
#include <version>
#ifdef __cpp_lib_mdspan
#include <mdspan>
#endif

#if __has_include(<eigen3/Eigen/Core>)
#include <eigen3/Eigen/Core>
#define KG_EIGEN 1
#else
#define KG_EIGEN 0
#endif

#include "tests/support/arena.h"
#include "tests/support/refusal.h"
#include "tests/support/sealed.h"

namespace {

using kg::tensor;
using kgtest::accepted;
using kgtest::refusal;
using kgtest::says;
using kgtest::seal;
using doubles = std::vector<double>;
using floats = std::vector<float>;

// 1, 2, 3, ...
template <class T = float>
std::vector<T> counted(std::size_t n) {
  std::vector<T> v(n);
  std::iota(v.begin(), v.end(), T{1});
  return v;
}
doubles counted_doubles(std::size_t n) { return counted<double>(n); }

// ------------------------------------------------------------------------------------------ where they lie

TEST(borrowed_elements, are_used_where_they_lie) {
  const auto v = std::make_shared<const floats>(counted(6));
  const tensor z = kg::borrow(std::span<const float>(*v), {2, 3}, v);
  EXPECT_EQ(z.data<float>().data(), v->data());
  EXPECT_EQ(z.dims(), (kg::shape{2, 3}));
  EXPECT_EQ(kg::sum(z, 1).to_doubles(), (doubles{6, 15}));
  EXPECT_EQ(kg::reshape(z, {3, 2}).address(), v->data());
  EXPECT_EQ(z(1).address(), v->data() + 3);
  EXPECT_TRUE(z.shares_with(z(1)));
  EXPECT_FALSE(z(0).shares_with(z(1)));
}

TEST(borrowed_elements, are_those_of_any_container_and_of_a_pointer) {
  const floats v = counted(6);
  const float plain[] = {1, 2, 3, 4, 5, 6};
  const std::array<std::int64_t, 6> whole{1, 2, 3, 4, 5, 6};
  float changing[] = {1, 2, 3, 4, 5, 6};
  float* const first = changing;
  const std::shared_ptr<float[]> block(new float[6]{1, 2, 3, 4, 5, 6});
  const tensor all[] = {kg::borrow(v, {6}),
                        kg::borrow(plain, {6}),
                        kg::borrow(whole, {6}),
                        kg::borrow(std::span(v).first(6), {6}),
                        kg::borrow(v.data(), {6}),
                        kg::borrow(first, {6}),
                        kg::borrow(block.get(), {6}, block)};
  const void* const places[] = {v.data(), plain, whole.data(), v.data(), v.data(), changing, block.get()};
  for (std::size_t i = 0; i < std::size(all); ++i) {
    EXPECT_EQ(all[i].address(), places[i]) << i;
    EXPECT_EQ(all[i].to_doubles(), counted_doubles(6)) << i;
  }
}

TEST(borrowed_elements, may_be_of_every_dtype_and_of_none) {
  const bool truths[] = {true, false};
  const kg::float16 halves[] = {kg::float16(1.f), kg::float16(0.5f)};
  const kg::complex64 pairs[] = {{1, 2}, {3, 4}};
  EXPECT_EQ(kg::borrow(truths, {2}).to_doubles(), (doubles{1, 0}));
  EXPECT_EQ(kg::cast(kg::borrow(halves, {2}), kg::dtype::float32).to_doubles(), (doubles{1, 0.5}));
  EXPECT_EQ(kg::real(kg::borrow(pairs, {2})).to_doubles(), (doubles{1, 3}));
  const tensor none = kg::borrow(std::span<const float>(), {0, 3});
  EXPECT_EQ(none.size(), 0);
  EXPECT_EQ(kg::exp(none).dims(), (kg::shape{0, 3}));
}

TEST(borrowed_elements, need_no_more_alignment_than_their_type) {
  const auto v = seal(counted(70));
  for (std::size_t first : {1, 2, 3, 5}) {
    const std::span part(v->data() + first, 64);
    const tensor z = kg::borrow(part, {64}, v);
    EXPECT_EQ((z + z).to_doubles(), (tensor(floats(part.begin(), part.end())) * 2).to_doubles()) << first;
  }
}

TEST(an_adopted_vector, is_the_tensors_from_then_on) {
  floats v = counted(6);
  const float* const place = v.data();
  const tensor z = kg::adopt(std::move(v), {3, 2});
  EXPECT_EQ(z.address(), place);
  EXPECT_EQ(z.to_doubles(), counted_doubles(6));
  EXPECT_EQ(kg::adopt(counted<std::int32_t>(4)).dims(), (kg::shape{4}));
  EXPECT_TRUE(says(refusal([] { return kg::adopt(counted(6), {4}); }), {"6 elements", "4 for shape [4]"}));
}

// ------------------------------------------------------------------------------------------ never written

// Elements that end the program when they are written, and a tensor that is their only one.
struct sealed_tensor {
  std::shared_ptr<const kgtest::sealed<float>> memory = seal(counted(64));
  tensor z = kg::borrow(memory->data(), {8, 8}, memory);
  const doubles before = counted_doubles(64);
  void check() const { EXPECT_EQ(kg::borrow(memory->data(), {64}).to_doubles(), before); }
};

TEST(borrowed_elements, are_not_what_a_temporary_gives_to_its_result) {
  const tensor other = kg::ones({8, 8});
  const auto takes = [&](auto call) {
    sealed_tensor s;
    const void* const place = s.z.address();
    EXPECT_NE(call(std::move(s.z)).address(), place);
    s.check();
  };
  takes([](tensor&& x) { return kg::exp(std::move(x)); });
  takes([](tensor&& x) { return -std::move(x); });
  takes([&](tensor&& x) { return std::move(x) + other; });
  takes([&](tensor&& x) { return other * std::move(x); });
  takes([](tensor&& x) { return std::move(x) * 2; });
  takes([](tensor&& x) { return 1 - std::move(x); });
  takes([](tensor&& x) { return kg::exp(kg::reshape(std::move(x), {64})); });
  takes([](tensor&& x) { return kg::exp(std::move(x)(kg::range(0, 2))); });
  takes([](tensor&& x) { return kg::softmax(std::move(x)); });
  takes([](tensor&& x) { return kg::clip(std::move(x), 2, 3); });
  takes([](tensor&& x) {
    x += 1;
    return std::move(x);
  });
}

TEST(borrowed_elements, that_only_a_view_holds_are_not_written_either) {
  for (const bool part : {false, true}) {
    sealed_tensor s;
    tensor v = part ? s.z(kg::range(2, 4)) : kg::reshape(s.z, {64});
    s.z = tensor();
    const tensor y = kg::exp(std::move(v));
    s.check();
  }
}

TEST(borrowed_elements, are_not_changed_at_a_place) {
  sealed_tensor s;
  const tensor y = std::move(s.z).at(1).add(100);
  EXPECT_EQ(y.item<float>(1, 0), 109);
  s.check();
  sealed_tensor t;
  EXPECT_EQ(std::move(t.z).at(0, 0).set(7).item<float>(0, 0), 7);
  t.check();
}

TEST(borrowed_elements, are_not_what_a_walk_adds_gradients_into) {
  const sealed_tensor s;
  tensor lent = kg::borrow(s.memory->data(), {8, 8}, s.memory);
  // The first gradient of x to arrive is a borrowed tensor that nobody else has; the second is added to it.
  const auto rule = kg::custom_grad([&](const tensor& x) {
    return kg::with_gradient(x * 1, [&](const tensor&) {
      std::vector<tensor> only;
      only.push_back(std::move(lent));
      return only;
    });
  });
  const tensor x = kg::ones({8, 8});
  const tensor g = kg::grad([&](const tensor& t) { return kg::sum(t * 3) + kg::sum(rule(t)); })(x);
  EXPECT_FALSE(lent.defined());
  EXPECT_EQ(g.to_doubles(), (kg::borrow(s.memory->data(), {64}) + 3).to_doubles());
  s.check();
}

TEST(borrowed_elements, are_not_what_an_optimizer_steps_in) {
  const auto steps = [](kg::optimizer&& by) {
    const sealed_tensor s;
    const kg::variable w(kg::borrow(s.memory->data(), {8, 8}, s.memory), "w");
    by.minimize([&] { return kg::sum(w.value()); });
    auto state = by.state();
    for (auto& [name, value] : state)
      if (value.dims() == kg::shape{8, 8}) value = kg::borrow(s.memory->data(), {8, 8}, s.memory);
    const kg::variable list[] = {w};
    by.set_state(state, list);
    state = {};
    by.minimize([&] { return kg::sum(w.value()); });
    EXPECT_LT(w.value().item<float>(0, 0), 1);
    s.check();
  };
  steps(kg::sgd(0.1));
  steps(kg::momentum(0.1, 0.9));
  steps(kg::adam(0.1));
  steps(kg::adam_w(0.1));
}

TEST(borrowed_elements, are_not_written_by_fused_functions_and_kernels_of_bounded_size) {
  sealed_tensor s;
  constexpr auto fused = kg::fuse([](auto a, auto b) { return kg::exp(a - b) * a; });
  const tensor x(counted(64), {8, 8});
  EXPECT_EQ(fused(tensor(s.z), std::move(s.z)).to_doubles(), fused(x, x).to_doubles());
  s.check();
  sealed_tensor t;
  EXPECT_EQ(kg::unique(kg::reshape(std::move(t.z), {64}))[0].to_doubles(), counted_doubles(64));
  t.check();
}

TEST(borrowed_elements, are_not_written_by_kernels_of_the_programs_own) {
  kg::register_kernel(
      {.name = "GivesBack", .run = [](const kg::kernel_call& call) -> kg::tensor_list { return {call.input("x")}; }});
  sealed_tensor s;
  tensor y = kg::run_kernel("GivesBack", {{"x", std::move(s.z)}});
  EXPECT_EQ(y.address(), s.memory->data());
  y = kg::exp(std::move(y));
  s.check();
  kg::unregister_kernel("GivesBack");
}

// ------------------------------------------------------------------------------------------ how long they live

TEST(a_keep_alive, goes_with_the_last_tensor_that_has_the_elements) {
  auto v = std::make_shared<floats>(counted(6));
  const std::weak_ptr<floats> alive = v;
  tensor z = kg::borrow(*v, {2, 3}, v);
  v.reset();
  tensor row = z(1), copy = z;
  z = tensor();
  copy = tensor();
  EXPECT_EQ(row.to_doubles(), (doubles{4, 5, 6}));
  EXPECT_FALSE(alive.expired());
  std::thread([last = std::move(row)]() mutable { last = tensor(); }).join();
  EXPECT_TRUE(alive.expired());
}

TEST(a_keep_alive, is_held_by_a_recording_and_goes_when_a_call_is_refused) {
  auto v = std::make_shared<floats>(counted(6));
  std::weak_ptr<floats> alive = v;
  {
    const auto [value, back] = kg::vjp([&](const tensor& x) { return x * kg::borrow(*v, {6}, v); })(kg::ones({6}));
    v.reset();
    EXPECT_FALSE(alive.expired());
    EXPECT_EQ(back(kg::ones({6}))[0].to_doubles(), counted_doubles(6));
  }
  EXPECT_TRUE(alive.expired());

  v = std::make_shared<floats>(counted(6));
  alive = v;
  EXPECT_NE(refusal([&] { return kg::borrow(*v, {7}, v); }), accepted);
  v.reset();
  EXPECT_TRUE(alive.expired());
}

TEST(a_keep_alive, may_use_tensors_when_it_goes) {
  double seen = 0;
  const floats v = counted(4);
  {
    const std::shared_ptr<const void> owner(v.data(), [&](const void*) { seen = kg::sum(kg::ones({100})).item(); });
    const tensor z = kg::borrow(v, {4}, owner);
  }
  EXPECT_EQ(seen, 100);
}

TEST(borrowed_elements, count_as_a_view_and_no_bytes) {
  const floats v = counted(1000);
  const kg::memory_scope scope;
  kg::reset_peak_memory();
  const kg::memory_info before = kg::memory();
  {
    const tensor z = kg::borrow(v, {1000}), row = z(kg::range(0, 10));
    const kg::memory_info now = kg::memory();
    EXPECT_EQ(now.live_tensors, before.live_tensors + 2);
    EXPECT_EQ(now.live_buffers, before.live_buffers);
    EXPECT_EQ(now.live_bytes, before.live_bytes);
    EXPECT_EQ(now.peak_bytes, before.live_bytes);
  }
  const kg::memory_info after = kg::memory();
  EXPECT_EQ(after.live_tensors, before.live_tensors);
  EXPECT_EQ(after.live_buffers, before.live_buffers);
  EXPECT_EQ(after.live_bytes, before.live_bytes);
}

TEST(borrowed_elements, are_nothing_that_a_memory_limit_counts) {
  const floats v = counted(1000);
  kg::set_memory_limit(kg::memory().live_bytes + 100);
  EXPECT_EQ(refusal([&] { return kg::borrow(v, {1000}); }), accepted);
  EXPECT_NE(refusal([&] { return kg::adopt(counted(1000)) + 1; }), accepted);
  kg::set_memory_limit(kg::unlimited);
}

TEST(borrowed_elements, reach_a_backend_with_a_memory_of_its_own) {
  const auto memory = std::make_shared<kgtest::arena>();
  kg::register_backend("device", [memory]() -> std::shared_ptr<kg::storage> { return memory; }, 5);
  kg::register_kernel(kgtest::arena_kernel("Neg", "device", memory, [](float x) { return -x; }));
  {
    sealed_tensor s;
    const kg::backend_scope scope("device");
    const tensor y = kg::run_kernel("Neg", {{"x", s.z}});
    EXPECT_EQ(y.item<float>(7, 7), -64);
    EXPECT_EQ(memory->written, 1);
    kg::run_kernel("Neg", {{"x", s.z}});
    EXPECT_EQ(memory->written, 1) << "the copy there is kept";
    s.check();
  }
  kgtest::forget("device");
  EXPECT_EQ(memory->live(), 0u);
}

// ------------------------------------------------------------------------------------------ what is rejected

TEST(memory_that_does_not_fit, is_refused_in_one_sentence) {
  const floats v = counted(6);
  const auto* bytes = reinterpret_cast<const std::byte*>(v.data());
  const auto crooked = reinterpret_cast<std::uintptr_t>(bytes + 2);
  EXPECT_TRUE(says(refusal([&] { return kg::borrow(v, {2, 4}); }), {"borrow", "6 elements", "8 for shape [2, 4]"}));
  EXPECT_TRUE(says(refusal([&] { return kg::borrow(reinterpret_cast<const float*>(crooked), {4}); }),
                   {"borrow", "float32 [4]", "2 bytes", "multiple of 4"}));
  EXPECT_TRUE(says(refusal([&] { return kg::borrow(static_cast<const float*>(nullptr), {4}); }), {"null pointer"}));
  EXPECT_TRUE(says(refusal([&] { return kg::borrow(v, {6}, std::shared_ptr<floats>()); }), {"empty keep_alive"}));
}

// ------------------------------------------------------------------------------------------ mdspan

// The interface of std::mdspan with strides, by another hand.
template <class T, std::size_t Rank>
struct strided {
  struct extents_type {
    std::array<int, Rank> sizes;
    static constexpr std::size_t rank() { return Rank; }
    int extent(std::size_t i) const { return sizes[i]; }
  };
  using element_type = T;
  using reference = T&;
  T* first;
  extents_type sizes;
  std::array<int, Rank> strides;
  bool regular = true;
  T* data_handle() const { return first; }
  const extents_type& extents() const { return sizes; }
  int stride(std::size_t i) const { return strides[i]; }
  bool is_strided() const { return regular; }
};

TEST(an_mdspan, is_borrowed_where_it_is_row_major_and_copied_where_it_is_not) {
  const floats v = counted(24);
  const tensor whole(v, {2, 3, 4});
  using grid = strided<const float, 3>;
  const auto borrowed = [&](int first, std::array<int, 3> sizes, std::array<int, 3> strides) {
    return kg::borrow(grid{v.data() + first, {sizes}, strides});
  };
  const tensor same = borrowed(0, {2, 3, 4}, {12, 4, 1});
  EXPECT_EQ(same.address(), v.data());
  EXPECT_EQ(borrowed(4, {1, 2, 4}, {-77, 4, 1}).address(), v.data() + 4) << "an axis of size 1 has no stride";
  struct {
    const char* what;
    tensor made, wanted;
  } const cases[] = {
      {"all", same, whole},
      {"transposed", borrowed(0, {4, 3, 2}, {1, 4, 12}), kg::transpose(whole)},
      {"every second", borrowed(1, {2, 3, 2}, {12, 4, 2}), whole(kg::all, kg::all, kg::range(1, 4, 2))},
      {"backwards", borrowed(23, {2, 3, 4}, {-12, -4, -1}), kg::reverse(whole, {0, 1, 2})},
      {"repeated", borrowed(0, {2, 3, 4}, {0, 4, 1}), kg::stack({whole(0), whole(0)})},
      {"none", borrowed(0, {2, 0, 4}, {12, 4, 1}), kg::zeros({2, 0, 4})},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(c.made.dims(), c.wanted.dims()) << c.what;
    EXPECT_EQ(c.made.to_doubles(), c.wanted.to_doubles()) << c.what;
  }
}

TEST(an_mdspan, that_is_copied_needs_no_keep_alive_and_lets_it_go) {
  auto v = std::make_shared<floats>(counted(6));
  const std::weak_ptr<floats> alive = v;
  const tensor z = kg::borrow(strided<float, 2>{v->data(), {{3, 2}}, {1, 3}}, v);
  v.reset();
  EXPECT_TRUE(alive.expired());
  EXPECT_EQ(z.to_doubles(), (doubles{1, 4, 2, 5, 3, 6}));
}

TEST(an_mdspan, whose_layout_has_no_strides_or_impossible_ones_is_refused) {
  float v[4] = {};
  EXPECT_TRUE(says(refusal([&] { return kg::borrow(strided<float, 1>{v, {{4}}, {1}, false}); }), {"no strides"}));
  struct far : strided<float, 1> {
    std::int64_t stride(std::size_t) const { return std::int64_t{1} << 62; }
  };
  EXPECT_TRUE(
      says(refusal([&] { return kg::borrow(far{{v, {{4}}, {1}}}); }), {"stride 4611686018427387904", "axis 0"}));
}

#ifdef __cpp_lib_mdspan
static_assert(std::is_same_v<kg::mdspan_of<float, 2>, std::mdspan<const float, std::dextents<std::int64_t, 2>>>);
#endif

TEST(an_mdspan, of_a_tensor_shows_its_elements_with_their_indices) {
  const tensor x(counted<double>(24), {2, 3, 4});
  const auto m = kg::as_mdspan<double, 3>(x);
  EXPECT_EQ(m.data_handle(), x.address());
  EXPECT_EQ(m.rank(), 3u);
  EXPECT_EQ(m.extent(1), 3);
  EXPECT_EQ(m.extents().extent(2), 4);
  EXPECT_EQ(m.stride(0), 12);
  EXPECT_EQ(m.size(), 24u);
  EXPECT_FALSE(m.empty());
  EXPECT_EQ((m[std::array<std::int64_t, 3>{1, 2, 3}]), 24);
  EXPECT_EQ(kg::borrow(m).address(), x.address()) << "and back";
  const tensor scalar(2.5f);
  EXPECT_EQ((kg::as_mdspan<float, 0>(scalar)[std::array<std::int64_t, 0>{}]), 2.5f);
  EXPECT_TRUE(says(refusal([&] { return kg::as_mdspan<double, 2>(x); }), {"as_mdspan", "[2, 3, 4]", "rank 2"}));
  EXPECT_TRUE(says(refusal([&] { return kg::as_mdspan<float, 3>(x); }), {"float64 read as float32"}));
}

// ------------------------------------------------------------------------------------------ Eigen

#if KG_EIGEN
TEST(a_matrix_of_eigen, is_borrowed_where_it_is_row_major_and_copied_where_it_is_not) {
  floats v = counted(6);
  using rows = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Eigen::Map<rows> by_rows(v.data(), 2, 3);
  const Eigen::Map<Eigen::MatrixXf> by_columns(v.data(), 2, 3);
  const Eigen::Map<Eigen::VectorXf, 0, Eigen::InnerStride<2>> every_second(v.data(), 3);
  const Eigen::VectorXf whole = Eigen::VectorXf::LinSpaced(3, 1, 3);
  EXPECT_EQ(kg::borrow(by_rows).address(), v.data());
  EXPECT_EQ(kg::borrow(by_rows).dims(), (kg::shape{2, 3}));
  EXPECT_EQ(kg::borrow(by_columns).to_doubles(), (doubles{1, 3, 5, 2, 4, 6}));
  EXPECT_EQ(kg::borrow(by_columns.row(1)).to_doubles(), (doubles{2, 4, 6}));
  EXPECT_EQ(kg::borrow(every_second).to_doubles(), (doubles{1, 3, 5}));
  EXPECT_EQ(kg::borrow(whole).dims(), (kg::shape{3}));
  EXPECT_EQ(kg::borrow(whole).address(), whole.data());
}
#endif

}  // namespace
