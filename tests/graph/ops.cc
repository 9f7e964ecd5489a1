// SPDX-License-Identifier: Apache-2.0
// Every graph op that the table maps: a node of it gives what its definition says. Values are by hand, or those of the
// typed function that the op names.
#include <algorithm>
#include <iterator>
#include <set>

#include "tests/graph/op_cases.h"

namespace {

using namespace kgtest;
using kg::tensor;

void expect_equal(const op_case& item, const list& got) {
  ASSERT_EQ(got.size(), item.wanted.size()) << item.op;
  for (std::size_t k = 0; k < got.size(); ++k) {
    EXPECT_EQ(got[k].signature(), item.wanted[k].signature()) << item.op << " " << item.attrs << " result " << k;
    if (!(got[k].signature() == item.wanted[k].signature())) continue;
    if (got[k].type() == kg::dtype::text) EXPECT_EQ(got[k].to_texts(), item.wanted[k].to_texts()) << item.op;
    else if (got[k].type() == kg::dtype::complex64)
      EXPECT_TRUE(kg::all_close(kg::real(got[k]), kg::real(item.wanted[k])) &&
                  kg::all_close(kg::imag(got[k]), kg::imag(item.wanted[k]), {.atol = 1e-5}))
          << item.op;
    else
      EXPECT_TRUE(kg::all_close(got[k], item.wanted[k], {.equal_nan = true}))
          << item.op << " " << item.attrs << " result " << k << ": " << kg::to_string(got[k]) << " wanted "
          << kg::to_string(item.wanted[k]);
  }
}

const tensor m({0.1f, 0.5f, 0.25f, 0.9f}, {2, 2}), n({0.3f, -0.2f, 2.f, 1.5f}, {2, 2});

// ------------------------------------------------------------------------------------------ arithmetic, basic_math

using one = tensor (*)(const tensor&);
struct unary_case {
  std::string_view op;
  one f;
};
const unary_case unary_cases[] = {
    {"Abs", [](const tensor& x) { return kg::abs(x); }},
    {"Acos", [](const tensor& x) { return kg::acos(x); }},
    {"Acosh", [](const tensor& x) { return kg::acosh(x); }},
    {"Asin", [](const tensor& x) { return kg::asin(x); }},
    {"Asinh", [](const tensor& x) { return kg::asinh(x); }},
    {"Atan", [](const tensor& x) { return kg::atan(x); }},
    {"Atanh", [](const tensor& x) { return kg::atanh(x); }},
    {"Ceil", [](const tensor& x) { return kg::ceil(x); }},
    {"Cos", [](const tensor& x) { return kg::cos(x); }},
    {"Cosh", [](const tensor& x) { return kg::cosh(x); }},
    {"Elu", [](const tensor& x) { return kg::elu(x); }},
    {"Erf", [](const tensor& x) { return kg::erf(x); }},
    {"Exp", [](const tensor& x) { return kg::exp(x); }},
    {"Expm1", [](const tensor& x) { return kg::expm1(x); }},
    {"Floor", [](const tensor& x) { return kg::floor(x); }},
    {"IsFinite", [](const tensor& x) { return kg::is_finite(x); }},
    {"IsInf", [](const tensor& x) { return kg::is_inf(x); }},
    {"IsNan", [](const tensor& x) { return kg::is_nan(x); }},
    {"Log", [](const tensor& x) { return kg::log(x); }},
    {"Log1p", [](const tensor& x) { return kg::log1p(x); }},
    {"LogSoftmax", [](const tensor& x) { return kg::log_softmax(x); }},
    {"Neg", [](const tensor& x) { return kg::neg(x); }},
    {"OnesLike", [](const tensor& x) { return kg::ones_like(x); }},
    {"Reciprocal", [](const tensor& x) { return kg::reciprocal(x); }},
    {"Relu", [](const tensor& x) { return kg::relu(x); }},
    {"Relu6", [](const tensor& x) { return kg::relu6(x); }},
    {"Round", [](const tensor& x) { return kg::round(x); }},
    {"Rsqrt", [](const tensor& x) { return kg::rsqrt(x); }},
    {"Selu", [](const tensor& x) { return kg::selu(x); }},
    {"Sigmoid", [](const tensor& x) { return kg::sigmoid(x); }},
    {"Sign", [](const tensor& x) { return kg::sign(x); }},
    {"Sin", [](const tensor& x) { return kg::sin(x); }},
    {"Sinh", [](const tensor& x) { return kg::sinh(x); }},
    {"Softmax", [](const tensor& x) { return kg::softmax(x); }},
    {"Softplus", [](const tensor& x) { return kg::softplus(x); }},
    {"Sqrt", [](const tensor& x) { return kg::sqrt(x); }},
    {"Square", [](const tensor& x) { return kg::square(x); }},
    {"Tan", [](const tensor& x) { return kg::tan(x); }},
    {"Tanh", [](const tensor& x) { return kg::tanh(x); }},
    {"ZerosLike", [](const tensor& x) { return kg::zeros_like(x); }},
};

using two = tensor (*)(const tensor&, const tensor&);
struct binary_case {
  std::string_view op;
  two f;
};
const binary_case binary_cases[] = {
    {"Add", [](const tensor& a, const tensor& b) { return a + b; }},
    {"AddV2", [](const tensor& a, const tensor& b) { return a + b; }},
    {"Sub", [](const tensor& a, const tensor& b) { return a - b; }},
    {"Mul", [](const tensor& a, const tensor& b) { return a * b; }},
    {"RealDiv", [](const tensor& a, const tensor& b) { return a / b; }},
    {"Div", [](const tensor& a, const tensor& b) { return a / b; }},
    {"DivNoNan", [](const tensor& a, const tensor& b) { return a / b; }},
    {"FloorDiv", [](const tensor& a, const tensor& b) { return kg::floor(a / b); }},
    {"FloorMod", [](const tensor& a, const tensor& b) { return a - b * kg::floor(a / b); }},
    {"Mod", [](const tensor& a, const tensor& b) { return a - b * kg::floor(a / b); }},
    {"Maximum", [](const tensor& a, const tensor& b) { return kg::where(a > b, a, b); }},
    {"Minimum", [](const tensor& a, const tensor& b) { return kg::where(a > b, b, a); }},
    {"Pow", [](const tensor& a, const tensor& b) { return kg::exp(b * kg::log(a)); }},
    {"SquaredDifference", [](const tensor& a, const tensor& b) { return kg::square(a - b); }},
    {"Atan2", [](const tensor& a, const tensor& b) { return kg::atan2(a, b); }},
    {"Prelu", [](const tensor& a, const tensor& b) { return kg::where(a > 0, a, a * b); }},
    {"Equal", [](const tensor& a, const tensor& b) { return kg::equal(a, b); }},
    {"NotEqual", [](const tensor& a, const tensor& b) { return kg::not_equal(a, b); }},
    {"Greater", [](const tensor& a, const tensor& b) { return a > b; }},
    {"GreaterEqual", [](const tensor& a, const tensor& b) { return a >= b; }},
    {"Less", [](const tensor& a, const tensor& b) { return a < b; }},
    {"LessEqual", [](const tensor& a, const tensor& b) { return a <= b; }},
    {"Complex", [](const tensor& a, const tensor& b) { return kg::complex(a, b); }},
};

// ------------------------------------------------------------------------------------------ all else

std::vector<op_case> all_cases() {
  std::vector<op_case> all = layer_cases();
  for (op_case& item : element_cases()) all.push_back(std::move(item));
  for (const unary_case& item : unary_cases) all.push_back({item.op, none, {m}, {item.f(m)}});
  for (const binary_case& item : binary_cases) all.push_back({item.op, none, {m, n}, {item.f(m, n)}});
  return all;
}

TEST(GraphOps, GiveWhatTheirDefinitionsSay) {
  for (const op_case& item : all_cases()) {
    SCOPED_TRACE(std::string(item.op) + " " + item.attrs.dump());
    try {
      expect_equal(item, run_op(item.op, item.attrs, item.inputs, item.wanted.size()));
    } catch (const std::exception& e) {
      ADD_FAILURE() << e.what();
    }
  }
}

// TensorFlow floors the rounded quotient, where kg::floor_div floors the exact one; integers have no other.
TEST(GraphOps, FloorDivFloorsTheRoundedQuotient) {
  const tensor a({1.f, 1.f, -1.f, 7.f}), b({0.1f, -0.1f, 0.1f, 2.f});
  for (const json& attrs : {none, json{{"T", {{"type", "DT_FLOAT"}}}}})
    EXPECT_EQ(run_op("FloorDiv", attrs, {a, b}, 1)[0].to_doubles(), (std::vector<double>{10, -10, -10, 3}));
  EXPECT_EQ(kg::floor_div(a, b).to_doubles(), (std::vector<double>{9, -10, -10, 3}));
  for (const json& attrs : {none, json{{"T", {{"type", "DT_INT32"}}}}})
    EXPECT_EQ(run_op("FloorDiv", attrs, {ints({7, -7}), ints({2, 2})}, 1)[0].to_doubles(),
              (std::vector<double>{3, -4}));
}

// True if `record` takes the case: not what has its results from shapes alone, what sorts, or texts.
bool is_recorded(const op_case& item) {
  constexpr std::string_view others[] = {"ListDiff", "Rank", "Shape", "ShapeN", "Size"};
  const auto is_text = [](const tensor& x) { return x.type() == kg::dtype::text; };
  return std::find(std::begin(others), std::end(others), item.op) == std::end(others) &&
         std::none_of(item.inputs.begin(), item.inputs.end(), is_text) &&
         std::none_of(item.wanted.begin(), item.wanted.end(), is_text);
}

// With elements of its own, as `record` wants its examples.
tensor own(const tensor& x) {
  return x.type() == kg::dtype::float32 ? kg::cast(kg::cast(x, kg::dtype::float64), kg::dtype::float32) : x;
}

// Result of a model of the case's calls that was recorded, saved and loaded.
list recorded(const op_case& item) {
  const kg::graph::model once = model_of_op(item.op, item.attrs, item.inputs);
  std::vector<std::string> names, wanted;
  std::vector<kg::named_operand> in;
  for (std::size_t i = 0; i < item.inputs.size(); ++i) {
    names.push_back("x" + std::to_string(i));
    in.emplace_back(names.back(), own(item.inputs[i]));
  }
  for (std::size_t k = 0; k < item.wanted.size(); ++k) wanted.push_back("y:" + std::to_string(k));
  const auto f = [&](std::span<const tensor> xs) {
    std::vector<kg::named_operand> again;
    for (std::size_t i = 0; i < xs.size(); ++i) again.emplace_back(names[i], xs[i]);
    const kg::graph::results all = once(again, wanted);
    return list(all.begin(), all.end());
  };
  const folder here;
  kg::graph::save(here / "model.json", kg::graph::record(f, in));
  const kg::graph::results ys = kg::graph::load(here / "model.json")(in);
  return {ys.begin(), ys.end()};
}

// The table read in both directions.
TEST(GraphOps, AreRecordedAsTheyRun) {
  for (const op_case& item : all_cases()) {
    if (!is_recorded(item)) continue;
    SCOPED_TRACE(std::string(item.op) + " " + item.attrs.dump());
    try {
      expect_equal(item, recorded(item));
    } catch (const std::exception& e) {
      ADD_FAILURE() << e.what();
    }
  }
}

// Draws give others each time: their shapes, dtypes and bounds are looked at.
TEST(GraphOps, DrawAnewForEachCallWithoutASeed) {
  const tensor dims = ints({100});
  struct draw {
    std::string_view op;
    json attrs;
    list inputs;
    double least, most;
  };
  const draw draws[] = {
      {"RandomUniform", none, {dims}, 0, 1},
      {"RandomStandardNormal", none, {dims}, -10, 10},
      {"TruncatedNormal", none, {dims}, -2, 2},
      {"RandomUniformInt", none, {dims, whole_number(3), whole_number(1000)}, 3, 999},
      {"Multinomial", none, {kg::zeros({1, 5}), whole_number(100)}, 0, 4},
  };
  for (const draw& item : draws) {
    const kg::graph::model drawn = model_of_op(item.op, item.attrs, item.inputs);
    std::vector<kg::named_operand> in;
    for (std::size_t i = 0; i < item.inputs.size(); ++i) in.emplace_back("x" + std::to_string(i), item.inputs[i]);
    const std::vector<std::string> wanted{"y"};
    const tensor first = drawn(in, wanted)[0], second = drawn(in, wanted)[0];
    EXPECT_EQ(first.size(), 100) << item.op;
    EXPECT_GE(kg::min(first).item(), item.least) << item.op;
    EXPECT_LE(kg::max(first).item(), item.most) << item.op;
    EXPECT_NE(first.to_doubles(), second.to_doubles()) << item.op;
    const json seeded{{"seed", whole(7)}};
    EXPECT_EQ(run_op(item.op, seeded, item.inputs)[0].to_doubles(),
              run_op(item.op, seeded, item.inputs)[0].to_doubles())
        << item.op;
  }
}

TEST(GraphOps, AreAllTried) {
  std::set<std::string_view> tried{"RandomUniform", "RandomStandardNormal", "TruncatedNormal", "RandomUniformInt",
                                   "Multinomial"};
  const std::vector<op_case> cases = all_cases();
  for (const op_case& item : cases) tried.insert(item.op);
  for (const kg::graph::needed_op& op : kg::graph::known_ops())
    if (!op.by.empty() && op.by != "graph") EXPECT_TRUE(tried.contains(op.name)) << op.name;
}

}  // namespace
