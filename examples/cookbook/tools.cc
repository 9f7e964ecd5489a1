// SPDX-License-Identifier: Apache-2.0
// The recipes of docs/cookbook: custom ops, performance, debugging.
#include <cstddef>
#include <iostream>
#include <span>
#include <vector>

import kerngrad;

namespace {

constexpr auto log1pexp =
    kg::custom_gradient<[](const kg::tensor& x) { return kg::saved(kg::log(kg::exp(x) + 1), x); },
                        [](const kg::tensor& dy, const kg::tensor& x) { return dy * kg::sigmoid(x); }>;

// ------------------------------------------------------------------------------------------------ custom ops

void a_gradient_that_is_accurate_where_the_chain_rule_is_not() {
  const auto plain = [](const kg::tensor& x) { return kg::log(kg::exp(x) + 1); };
  const kg::tensor x({0.f, 100.f});
  std::cout << kg::grad(plain)(x) << "\n" << kg::grad(log1pexp)(x) << "\n";
}

void a_kernel_and_its_gradient_by_name() {
  const auto run = [](const kg::kernel_call& call) {
    const kg::tensor& x = call.input("x");
    return kg::tensor_list{kg::tensor::build<float>(x.dims(), [&](std::span<float> y) {
      for (std::size_t i = 0; const float v : x.data<float>()) y[i++] = v * v * v;
    })};
  };
  const auto gradient = [](const kg::gradient_call& call) {
    return std::vector<kg::named_operand>{{"x", call.dy() * kg::square(call.input("x")) * 3}};
  };
  const kg::registration kernel = kg::scoped_kernel({.name = "Cube", .run = run});
  const kg::registration rule = kg::scoped_gradient({.name = "Cube", .saves_inputs = {"x"}, .run = gradient});
  const auto cube = [](const kg::tensor& x) { return kg::run_kernel("Cube", {{"x", x}}); };
  std::cout << cube(kg::tensor({1.f, 2.f})) << "\n" << kg::grad(cube)(kg::tensor({1.f, 2.f})) << "\n";
}

void another_gradient_for_a_known_op_for_a_while() {
  const auto floor = [](const kg::tensor& x) { return kg::floor(x); };
  const kg::tensor x({0.5f, 1.5f});
  {
    const kg::registration straight = kg::scoped_gradient(
        {.name = "Floor",
         .run = [](const kg::gradient_call& call) { return std::vector<kg::named_operand>{{"x", call.dy()}}; }},
        kg::existing::replace);
    std::cout << kg::grad(floor)(x) << "\n";
  }
  std::cout << kg::grad(floor)(x) << "\n";
}

// ------------------------------------------------------------------------------------------------ performance

void one_pass_instead_of_five() {
  constexpr auto gauss =
      kg::fuse([](auto x, auto mean, auto width) { return kg::exp(kg::square((x - mean) / width) * -0.5); });
  std::cout << gauss(kg::tensor({0.f, 1.f, 2.f}), 1, 0.5) << "\n";
}

void threads() {
  const kg::tensor x = kg::random_normal({1 << 18}, 0, 1, 3);
  const kg::tensor alone = kg::softmax(x);
  kg::set_num_threads(4);
  std::cout << kg::all(kg::softmax(x) == alone).item() << ": the same bits\n";
  kg::set_num_threads(1);
}

void writing_into_memory_of_your_own() {
  std::vector<float> signal{1, 4, 9}, root(3);
  kg::kernel<"Sqrt">(std::span<const float>(signal), std::span<float>(root));
  std::cout << root[0] << " " << root[1] << " " << root[2] << "\n";
}

void which_kernels_take_the_time() {
  const kg::tensor x = kg::ones({64, 64});
  const kg::profile_result p = kg::profile([&] { kg::sum(kg::exp(kg::matmul(x, x) * 0.01)); });
  for (const kg::kernel_run& run : p.runs) std::cout << run.op << " " << run.bytes << " bytes\n";
}

// ------------------------------------------------------------------------------------------------ debugging

void where_the_first_nan_comes_from() {
  try {
    const kg::nan_check guard;
    kg::sum(kg::log(kg::tensor({1.f, 0.f, -1.f})));
  } catch (const kg::error& e) {
    std::cout << e.op() << "\n" << e.advice() << "\n";
  }
}

void what_a_call_by_name_would_do() {
  const kg::explanation told = kg::explain("Add", {{"a", kg::tensor({1, 2})}, {"b", kg::tensor({0.5f, 1.f})}});
  std::cout << told.op << " in " << kg::name_of(*told.compute) << ", " << told.runs->backend << "\n";
  std::cout << "Ad is no op: " << kg::explain("Ad").similar.front() << "?\n";
}

void what_a_piece_of_a_program_leaves_in_memory() {
  std::vector<kg::tensor> cache;
  const kg::memory_scope scope;
  cache.push_back(kg::zeros({250}));
  std::cout << kg::to_string(scope.leaked()) << "\n";
}

void two_results_that_should_be_the_same() {
  const kg::tensor a({1.0, 2.0}), b({1.0, 2.0 + 1e-9});
  std::cout << kg::all(a == b).item() << " " << kg::allclose(a, b) << " " << kg::max(kg::abs(a - b)).item() << "\n";
}

}  // namespace

int main() {
  a_gradient_that_is_accurate_where_the_chain_rule_is_not();
  a_kernel_and_its_gradient_by_name();
  another_gradient_for_a_known_op_for_a_while();
  one_pass_instead_of_five();
  threads();
  writing_into_memory_of_your_own();
  which_kernels_take_the_time();
  where_the_first_nan_comes_from();
  what_a_call_by_name_would_do();
  what_a_piece_of_a_program_leaves_in_memory();
  two_results_that_should_be_the_same();
}
