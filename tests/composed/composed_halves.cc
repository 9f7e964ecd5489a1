// SPDX-License-Identifier: Apache-2.0
// Composed functions of float16 and bfloat16 compute in float32 and round once. The oracle is the same function in
// float64: a result is as far from it as one rounding is, and what float32 errs by.
#include <algorithm>

#include "tests/composed/support.h"

namespace {

using kg::dtype;
using kg::tensor;
using kgtest::doubles;
using kgtest::uniform;

using operands = std::vector<tensor>;

struct half_case {
  const char* name;
  operands in;  // of float64
  std::function<kg::tensor_list(const operands&)> f;
};

kg::tensor_list as_list(const kg::moments_parts& parts) { return {parts.mean, parts.variance}; }

const tensor wide_range = uniform({3, 40}, 1, -200, 200), image = uniform({2, 3, 3, 4}, 2, -90, 110),
             channels = uniform({4}, 3, 0.5, 1.5), offsets = uniform({4}, 4), labels = uniform({6, 5}, 5, 0, 1),
             guesses = uniform({6, 5}, 6, 0.01, 0.99), weights = uniform({6, 1}, 7, 0.1, 3);

const half_case statistics[] = {
    {"moments", {wide_range}, [](const operands& x) { return as_list(kg::moments(x[0], 1)); }},
    {"variance",
     {wide_range},
     [](const operands& x) { return kg::tensor_list{kg::variance(x[0] * 0.5, 0, false, 1)}; }},
    {"standard_deviation",
     {wide_range},
     [](const operands& x) { return kg::tensor_list{kg::standard_deviation(x[0])}; }},
    {"quantile", {wide_range}, [](const operands& x) { return kg::tensor_list{kg::quantile(x[0], 0.37, 1)}; }},
    {"median", {wide_range}, [](const operands& x) { return kg::tensor_list{kg::median(x[0], 1)}; }},
    {"moving_average",
     {wide_range, uniform({3, 40}, 8)},
     [](const operands& x) { return kg::tensor_list{kg::moving_average(x[0], x[1], 0.3, {.step = 2})}; }},
    {"diff", {wide_range}, [](const operands& x) { return kg::tensor_list{kg::diff(x[0], 3)}; }},
    {"log_add_exp",
     {wide_range, uniform({3, 40}, 9)},
     [](const operands& x) { return kg::tensor_list{kg::log_add_exp(x[0], x[1])}; }},
};

const half_case norms[] = {
    {"norm", {wide_range}, [](const operands& x) { return kg::tensor_list{kg::norm(x[0])}; }},
    {"norm of order 1", {wide_range}, [](const operands& x) { return kg::tensor_list{kg::norm(x[0], 1, {0, 1})}; }},
    {"euclidean_norm", {wide_range}, [](const operands& x) { return kg::tensor_list{kg::euclidean_norm(x[0], 1)}; }},
    {"rms_norm",
     {image, channels},
     [](const operands& x) { return kg::tensor_list{kg::rms_norm(x[0], {.scale = x[1]})}; }},
    {"group_norm",
     {image, channels, offsets},
     [](const operands& x) { return kg::tensor_list{kg::group_norm(x[0], 2, {.scale = x[1], .offset = x[2]})}; }},
    {"instance_norm", {image}, [](const operands& x) { return kg::tensor_list{kg::instance_norm(x[0])}; }},
    {"batch_norm_training",
     {image, channels, offsets},
     [](const operands& x) {
       const auto parts = kg::batch_norm_training(x[0], {.scale = x[1], .offset = x[2]});
       return kg::tensor_list{parts.result, parts.mean, parts.variance};
     }},
    {"gram_schmidt", {uniform({3, 5}, 10)}, [](const operands& x) { return kg::tensor_list{kg::gram_schmidt(x[0])}; }},
    {"qr",
     {uniform({5, 3}, 11)},
     [](const operands& x) {
       const auto [q, r] = kg::qr(x[0]);
       return kg::tensor_list{q, r};
     }},
};

// Each loss, with weights, in each reduction.
template <class F>
half_case loss_case(const char* name, F loss) {
  return {name, {labels, guesses, weights}, [loss](const operands& x) {
            kg::tensor_list all;
            for (const kg::loss_reduction how : {kg::loss_reduction::none, kg::loss_reduction::mean,
                                                 kg::loss_reduction::sum, kg::loss_reduction::sum_by_nonzero_weights})
              all.push_back(loss(x[0], x[1], x[2], how));
            return all;
          }};
}
#define KG_LOSS(name, ...)                                                                         \
  loss_case(#name, [](const tensor& y, const tensor& p, const tensor& w, kg::loss_reduction how) { \
    return kg::name(y, p, __VA_ARGS__{.weights = w, .reduction = how});                            \
  })
const half_case losses[] = {
    KG_LOSS(absolute_difference),
    KG_LOSS(mean_squared_error),
    KG_LOSS(hinge_loss),
    KG_LOSS(huber_loss),
    KG_LOSS(log_loss),
    KG_LOSS(cosine_distance, 1, ),
    KG_LOSS(sigmoid_cross_entropy),
    loss_case("softmax_cross_entropy_loss",
              [](const tensor& y, const tensor& p, const tensor& w, kg::loss_reduction how) {
                return kg::softmax_cross_entropy_loss(y, p, {.weights = kg::squeeze(w, 1), .reduction = how});
              }),
    loss_case("compute_weighted_loss",
              [](const tensor& y, const tensor&, const tensor& w, kg::loss_reduction how) {
                return kg::compute_weighted_loss(y, {.weights = w, .reduction = how});
              }),
};

const half_case layers[] = {
    {"dropout", {wide_range}, [](const operands& x) { return kg::tensor_list{kg::dropout(x[0], 0.3, 4)}; }},
    {"separable_conv2d",
     {image, uniform({2, 2, 4, 2}, 12), uniform({1, 1, 8, 3}, 13)},
     [](const operands& x) { return kg::tensor_list{kg::separable_conv2d(x[0], x[1], x[2])}; }},
    {"basic_lstm_cell",
     {uniform({6, 16}, 14), uniform({16}, 15), uniform({3, 2}, 16), uniform({3, 4}, 17), uniform({3, 4}, 18)},
     [](const operands& x) {
       const auto [c, h] = kg::basic_lstm_cell(1, x[0], x[1], x[2], x[3], x[4]);
       return kg::tensor_list{c, h};
     }},
    {"rgb_to_grayscale",
     {uniform({5, 5, 3}, 19, 0, 255)},
     [](const operands& x) { return kg::tensor_list{kg::rgb_to_grayscale(x[0])}; }},
};

operands cast_all(const operands& from, dtype type) {
  operands to;
  for (const tensor& x : from) to.push_back(kg::cast(x, type));
  return to;
}

void expect_one_rounding(const half_case& of, dtype type, double unit) {
  SCOPED_TRACE(std::string(of.name) + " of " + std::string(name_of(type)));
  const operands in = cast_all(of.in, type);
  const kg::tensor_list got = of.f(in), wanted = of.f(cast_all(in, dtype::float64));
  ASSERT_EQ(got.size(), wanted.size());
  for (int k = 0; k < got.size(); ++k) {
    ASSERT_EQ(got[k].type(), type) << "result " << k;
    const doubles a = got[k].to_doubles(), b = wanted[k].to_doubles();
    ASSERT_EQ(a.size(), b.size());
    double largest = 0;
    for (const double v : b) largest = std::max(largest, std::fabs(v));
    for (std::size_t i = 0; i < a.size(); ++i)
      ASSERT_LE(std::fabs(a[i] - b[i]), std::fabs(b[i]) * unit * 1.01 + largest * 2e-6)
          << "element " << i << " of result " << k << ": " << a[i] << " and not " << b[i];
  }
}

// Half a unit in the last place, as a part of the number.
constexpr double unit_of_float16 = 0x1p-11, unit_of_bfloat16 = 0x1p-8;

template <std::size_t N>
void expect_one_rounding(const half_case (&cases)[N]) {
  for (const half_case& of : cases) {
    expect_one_rounding(of, dtype::float16, unit_of_float16);
    expect_one_rounding(of, dtype::bfloat16, unit_of_bfloat16);
  }
}

TEST(composed_halves, statistics_round_once) { expect_one_rounding(statistics); }
TEST(composed_halves, norms_and_bases_round_once) { expect_one_rounding(norms); }
TEST(composed_halves, losses_round_once) { expect_one_rounding(losses); }
TEST(composed_halves, layers_round_once) { expect_one_rounding(layers); }

TEST(composed_halves, squares_do_not_leave_the_range_on_the_way) {
  const tensor x = kg::cast(tensor{{300., 400.}}, dtype::float16);
  const auto of = [](const tensor& y) { return kg::cast(y, dtype::float64).to_doubles(); };
  EXPECT_EQ(of(kg::norm(x)), doubles{500});
  EXPECT_EQ(of(kg::euclidean_norm(x, 1)), doubles{500});
  EXPECT_EQ(of(kg::standard_deviation(x)), doubles{50});
  EXPECT_EQ(of(kg::rms_norm(x)),
            of(kg::cast(tensor({300 / std::sqrt(125000.), 400 / std::sqrt(125000.)}), dtype::float16)));
  EXPECT_EQ(of(kg::batch_norm_training(kg::transpose(x * 4), {.epsilon = 0}).result), (doubles{-1, 1}));
  EXPECT_EQ(of(kg::group_norm(x * 4, 1, {.epsilon = 0})), (doubles{-1, 1}));
  EXPECT_EQ(of(kg::instance_norm(kg::reshape(x * 4, {1, 2, 1}), {.epsilon = 0})), (doubles{-1, 1}));
  const tensor many = kg::full({70000}, 1, dtype::float16);
  EXPECT_EQ(kg::mean_squared_error(many, many * 3, {.weights = many, .reduction = kg::loss_reduction::mean}).item(), 4);
}

TEST(updates, of_halves_at_one_index_are_added_up_in_float32) {
  for (const dtype type : {dtype::float16, dtype::bfloat16}) {
    const tensor x = kg::zeros({2}, type);
    // Sums of ones stop at 2048 or 256 where each is rounded to the dtype; 4096 is one of both.
    EXPECT_EQ(kg::cast(x.at(kg::zeros({4096}, dtype::int32)).add(kg::ones({4096}, type)), dtype::float64).to_doubles(),
              (doubles{4096, 0}));
    // The sum, 2049 or 257, is one of neither dtype: rounded before it is added, it would give another result.
    const double odd = type == dtype::float16 ? 2049 : 257;
    const tensor parts = kg::cast(tensor({odd - 1, 1.}), type), at = kg::zeros({2}, dtype::int32);
    EXPECT_EQ(kg::cast(kg::ones({1}, type).at(at).add(parts), dtype::float64).to_doubles(), doubles{odd + 1});
  }
}

}  // namespace
