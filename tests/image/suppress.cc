// SPDX-License-Identifier: Apache-2.0
// Non-maximum suppression against its definition in long double, on every target, between guard pages.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <random>
#include <vector>
#include <range/v3/view/cartesian_product.hpp>

#include "kernels/image/suppress.h"
#include "tests/support/kernels.h"

namespace {
using namespace kerngrad::kernels;
using kerngrad::dtype;
using kgtest::guarded;
namespace views = ranges::views;

template <class T>
run_fn kernel(bool simd) {
  if (sizeof(T) == 4) return simd ? NonMaxSuppression_float32 : reference::NonMaxSuppression_float32;
  return simd ? NonMaxSuppression_float64 : reference::NonMaxSuppression_float64;
}

struct taken {
  std::vector<std::int32_t> numbers;
  std::vector<double> scores;
};

// ------------------------------------------------------------------------------------------ the definition

template <class T>
long double overlap(const T* a, const T* b) {
  long double inside = 1, of_a = 1, of_b = 1;
  for (int side : {0, 1}) {
    const auto low = [&](const T* box) -> long double { return std::min(box[side], box[side + 2]); };
    const auto high = [&](const T* box) -> long double { return std::max(box[side], box[side + 2]); };
    const long double a1 = low(a), a2 = high(a), b1 = low(b), b2 = high(b);
    inside *= std::max(0.0L, std::min(a2, b2) - std::max(a1, b1));
    of_a *= a2 - a1;
    of_b *= b2 - b1;
  }
  return of_a > 0 && of_b > 0 ? inside / (of_a + of_b - inside) : 0;
}

// Candidates in turn: the next one is taken, dropped, or put back with a lower score.
template <class T>
taken definition(const suppress_geometry& g, const T* boxes, const T* scores) {
  struct candidate {
    long double score;
    std::int32_t box;
    std::size_t compared;
  };
  std::vector<candidate> waiting;
  for (std::int32_t i = 0; i < g.boxes; ++i)
    if (scores[i] > g.score_threshold) waiting.push_back({scores[i], i, 0});
  taken all;
  while (!waiting.empty() && static_cast<std::int64_t>(all.numbers.size()) < g.most) {
    const auto next = std::min_element(waiting.begin(), waiting.end(), [](const candidate& a, const candidate& b) {
      return a.score > b.score || (a.score == b.score && a.box < b.box);
    });
    candidate now = *next;
    waiting.erase(next);
    long double score = now.score;
    bool dropped = false;
    for (; now.compared < all.numbers.size(); ++now.compared) {
      const long double o = overlap(boxes + 4 * all.numbers[now.compared], boxes + 4 * now.box);
      dropped = dropped || o >= g.iou_threshold;
      if (g.sigma > 0) score *= std::exp(-o * o / (2 * g.sigma));
    }
    if (dropped || !(score > g.score_threshold)) continue;
    if (score == now.score) {
      all.numbers.push_back(now.box);
      all.scores.push_back(static_cast<double>(score));
    } else {
      waiting.push_back({score, now.box, now.compared});
    }
  }
  return all;
}

// ------------------------------------------------------------------------------------------ checks

template <class T>
taken run(const suppress_geometry& given, const std::vector<T>& boxes, const std::vector<T>& scores, bool simd,
          kgtest::edge side = kgtest::edge::end) {
  suppress_geometry g = given;
  std::int64_t selected = -1;
  g.boxes = static_cast<std::int64_t>(scores.size());
  g.capacity = std::max(given.capacity, std::min(g.most, g.boxes));
  g.selected = &selected;
  guarded<T> b(boxes.size(), side), s(scores.size(), side), y(static_cast<std::size_t>(g.capacity), side);
  guarded<std::int32_t> numbers(static_cast<std::size_t>(g.capacity), side);
  std::copy(boxes.begin(), boxes.end(), b.begin());
  std::copy(scores.begin(), scores.end(), s.begin());
  const void* in[] = {b.data(), s.data()};
  void* out[] = {numbers.data(), y.data()};
  kernel<T>(simd)(in, out, &g);
  for (std::int64_t i = selected; i < g.capacity; ++i) {
    EXPECT_EQ(numbers.data()[i], 0) << i;
    EXPECT_EQ(y.data()[i], 0) << i;
  }
  void* numbers_only[] = {numbers.data(), nullptr};
  kernel<T>(simd)(in, numbers_only, &g);
  return {{numbers.begin(), numbers.begin() + selected}, {y.begin(), y.begin() + selected}};
}

template <class T>
void check_drawn(bool simd) {
  constexpr std::int64_t counts[] = {0, 1, 2, 7, 40, 150};
  constexpr double thresholds[] = {0.0, 0.1, 0.5, 1.0}, least_scores[] = {-0.4, 0.2}, sigmas[] = {0.0, 0.1, 0.8};
  constexpr std::int64_t mosts[] = {0, 5, 1000};
  std::mt19937 random(3);
  const auto draw = [&] { return static_cast<T>(static_cast<double>(random()) / 4294967296.0); };
  for (const std::int64_t count : counts) {
    std::vector<T> boxes, scores;
    for (std::int64_t i = 0; i < count; ++i) {
      const T y = draw(), x = draw(), height = draw() / 2, width = draw() / 2;
      if (i % 2 == 0) boxes.insert(boxes.end(), {y, x, y + height, x + width});
      else boxes.insert(boxes.end(), {y + height, x, y, x + width});
      scores.push_back(i % 5 == 4 ? scores[static_cast<std::size_t>(i) - 3] : draw() * 2 - 1);
    }
    for (const auto& [most, over, least, sigma] : views::cartesian_product(mosts, thresholds, least_scores, sigmas)) {
      SCOPED_TRACE(::testing::Message() << count << " boxes, at most " << most << ", overlap " << over << ", score "
                                        << least << ", sigma " << sigma);
      const suppress_geometry g{count, most, count % 2 == 0 ? 0 : most, over, least, sigma, nullptr};
      const taken wanted = definition<T>(g, boxes.data(), scores.data());
      const taken got = run<T>(g, boxes, scores, simd, most == 5 ? kgtest::edge::begin : kgtest::edge::end);
      ASSERT_EQ(got.numbers, wanted.numbers);
      const double near = 4 * static_cast<double>(std::numeric_limits<T>::epsilon());
      for (std::size_t i = 0; i < wanted.scores.size(); ++i) ASSERT_NEAR(got.scores[i], wanted.scores[i], near) << i;
    }
  }
}

TEST(kernels_suppress, take_the_boxes_of_the_definition) {
  kgtest::on_every_target([](const char*) {
    check_drawn<float>(true);
    check_drawn<double>(true);
  });
}
TEST(kernels_suppress, of_the_reference_take_the_boxes_of_the_definition) {
  check_drawn<float>(false);
  check_drawn<double>(false);
}

constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
using numbers = std::vector<std::int32_t>;

struct special_case {
  const char* what;
  std::vector<double> boxes, scores;
  suppress_geometry g;
  numbers wanted;
};
const suppress_geometry half{0, 9, 0, 0.5, -inf, 0, nullptr};
suppress_geometry half_with(double threshold, double score, double sigma) {
  return {0, 9, 0, threshold, score, sigma, nullptr};
}
const std::vector<special_case> special_cases = {
    {"equal scores: the first", {0, 0, 1, 1, 0, 0, 1, 1, 5, 5, 6, 6}, {1, 1, 1}, half, {0, 2}},
    {"an overlap of exactly the threshold", {0, 0, 1, 1, 0, 0, 1, 2}, {2, 1}, half, {0}},
    {"and of a little less", {0, 0, 1, 1, 0, 0, 1, 2.0000001}, {2, 1}, half, {0, 1}},
    {"scores of NaN and minus infinity are not taken", {0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5}, {nan, -inf, 0}, half, {2}},
    {"scores of infinity are", {0, 0, 1, 1, 0, 0, 1, 1}, {1, inf}, half, {1}},
    {"a threshold of NaN takes nothing", {0, 0, 1, 1}, {1}, half_with(0.5, nan, 0), {}},
    {"the score must be above the threshold", {0, 0, 1, 1, 5, 5, 6, 6}, {0.5, 0.75}, half_with(0.5, 0.5, 0), {1}},
    {"boxes with NaN overlap nothing", {0, nan, 1, 1, 0, 0, 1, 1, 0, 0, nan, 1}, {1, 2, 3}, half, {2, 1, 0}},
    {"nor do boxes without an area", {0, 0, 0, 1, 0, 0, 0, 1}, {1, 2}, half, {1, 0}},
    {"infinite boxes overlap by no number", {-inf, 0, inf, 1, -inf, 0, inf, 1, 0, 0, 1, 1}, {1, 2, 3}, half, {2, 1, 0}},
    {"at a threshold of 0 one is taken", {0, 0, 1, 1, 5, 5, 6, 6}, {1, 2}, half_with(0, -inf, 0), {1}},
    {"at a threshold of 1 all but equal ones",
     {0, 0, 3, 3, 0, 0, 3, 3, 0, 0, 3, 2},
     {3, 2, 1},
     half_with(1, -inf, 0),
     {0, 2}},
    {"softly: a score that falls to the threshold goes",
     {0, 0, 1, 1, 0, 0, 1, 2},
     {1, 0.9},
     half_with(1, 0.8, 0.5),
     {0}}};

TEST(kernels_suppress, follow_their_rules_for_equal_empty_and_infinite_boxes) {
  const auto check = [](bool simd) {
    for (const special_case& c : special_cases)
      EXPECT_EQ(run<double>(c.g, c.boxes, c.scores, simd).numbers, c.wanted) << c.what;
  };
  kgtest::on_every_target([&](const char*) { check(true); });
  check(false);
}

TEST(kernels_suppress, name_the_same_kernels_on_both_sides) {
  ASSERT_EQ(std::size(suppress_simd), std::size(reference::suppress_reference));
  for (std::size_t i = 0; i < std::size(suppress_simd); ++i) {
    EXPECT_STREQ(suppress_simd[i].op, reference::suppress_reference[i].op);
    EXPECT_EQ(suppress_simd[i].type, reference::suppress_reference[i].type);
  }
}

}  // namespace
