// SPDX-License-Identifier: Apache-2.0
// Gradients on 1 to 4 ranks. A collective is made a function of the arrays of all ranks, which every rank has: then the
// test kit differentiates it by differences, to second order and forward, without knowing of ranks.
#include <functional>

#include "tests/mpi/ranks.h"

namespace {

using namespace kgtest;

// x has the operand of rank r in row r. The mean over ranks of equal arrays is that array, and its adjoint makes every
// rank's gradient that of one loss.
kg::testkit::results_of of_all_ranks(const std::function<tensor(const tensor&)>& op) {
  return [op](std::span<const tensor> xs) {
    const tensor all = mpi::all_reduce(xs[0], mpi::reduction::mean);
    return kg::tensor_list{mpi::all_gather(kg::reshape(op(all(rank())), {-1}))};
  };
}

// As many elements as can be cut into equal parts.
std::int64_t parts() { return ranks() == 1 ? 3 : ranks(); }

struct one_op {
  const char* name;
  std::function<tensor(const tensor&)> op;
};
std::vector<one_op> all_ops() {
  const int n = ranks(), right = (rank() + 1) % n, left = (rank() + n - 1) % n;
  const int below = rank() + 1 < n ? rank() + 1 : -1;
  return {{"sum", [](const tensor& x) { return mpi::all_reduce(x); }},
          {"mean", [](const tensor& x) { return mpi::all_reduce(x, mpi::reduction::mean); }},
          {"max", [](const tensor& x) { return mpi::all_reduce(x, mpi::reduction::max); }},
          {"min", [](const tensor& x) { return mpi::all_reduce(x, mpi::reduction::min); }},
          {"reduce", [n](const tensor& x) { return mpi::reduce(x, n - 1); }},
          {"broadcast", [n](const tensor& x) { return mpi::broadcast(x, n - 1); }},
          {"all_gather", [](const tensor& x) { return mpi::all_gather(x); }},
          {"reduce_scatter", [](const tensor& x) { return mpi::reduce_scatter(x); }},
          {"mean_scatter", [](const tensor& x) { return mpi::reduce_scatter(x, mpi::reduction::mean); }},
          {"all_to_all", [](const tensor& x) { return mpi::all_to_all(x); }},
          {"ring", [=](const tensor& x) { return mpi::send_recv(x, right, left); }},
          {"line", [=](const tensor& x) { return mpi::send_recv(x, below, rank() - 1); }},
          {"barrier", [](const tensor& x) { return mpi::barrier(x); }}};
}

TEST(gradients, of_all_ops_are_those_of_differences_in_both_orders_and_forward) {
  const tensor x = kg::random_uniform({ranks(), parts()}, -2, 2, 3, kg::dtype::float64);
  for (const one_op& one : all_ops()) {
    // The square makes the second order differ from zero.
    const kg::testkit::report found = kg::testkit::check_function(
        one.name, of_all_ranks([&](const tensor& own) { return kg::square(one.op(own)) + one.op(own * 2); }), {&x, 1});
    EXPECT_TRUE(found) << to_string(found);
    EXPECT_GT(found.count(kg::testkit::check::second_order), 0) << one.name;
    EXPECT_GT(found.count(kg::testkit::check::forward), 0) << one.name;
  }
}

TEST(gradients, of_complex_numbers_flow_through_sums_and_moves) {
  const tensor re = kg::random_uniform({ranks(), parts()}, -2, 2, 3);
  const tensor im = kg::random_uniform({ranks(), parts()}, -2, 2, 4);
  const tensor x = kg::complex(re, im);
  for (const one_op& one : all_ops()) {
    const std::string_view name = one.name;
    if (name == "max" || name == "min") continue;
    const kg::testkit::report found =
        kg::testkit::check_function(one.name, of_all_ranks(one.op), {&x, 1}, kg::testkit::coarse);
    EXPECT_TRUE(found) << to_string(found);
  }
}

TEST(gradients, are_those_of_a_loss_that_is_summed_over_the_ranks) {
  // The loss of rank r is (r + 1) * sum(y), so the sum of all weights arrives on every rank.
  const double weights = ranks() * (ranks() + 1) / 2.0;
  const auto loss = [](const tensor& x) { return kg::sum(mpi::all_reduce(x)) * (rank() + 1); };
  EXPECT_EQ(values(kg::grad(loss)(mine({3}))), doubles(3, weights));
  const auto at_root = [](const tensor& x) { return kg::sum(mpi::broadcast(x)) * (rank() + 1); };
  EXPECT_EQ(values(kg::grad(at_root)(mine({3}))), doubles(3, rank() == 0 ? weights : 0));
}

TEST(gradients, of_a_replicated_loss_count_it_once) {
  const auto square = [](const tensor& x) { return kg::square(kg::sum(mpi::all_reduce(x))); };
  const auto counted_once = [&](const tensor& x) { return mpi::replicated_loss(square(x)); };
  const double total = kg::sum(mpi::all_reduce(mine({3}))).item();
  for (double each : values(kg::grad(counted_once)(mine({3})))) EXPECT_NEAR(each, 2 * total, 1e-9);
  for (double each : values(kg::grad(square)(mine({3})))) EXPECT_NEAR(each, 2 * total * ranks(), 1e-9);
}

TEST(gradients, of_equal_extremes_are_shared) {
  const auto largest = [](const tensor& x) { return mpi::replicated_loss(mpi::all_reduce(x, mpi::reduction::max)); };
  EXPECT_NEAR(kg::grad(largest)(tensor(5.0)).item(), 1.0 / ranks(), 1e-12);
}

// One rank alone holds what check_op assumes: that results depend on this rank's operands only.
template <class Op>
void check_alone(kg::testkit::options how = {}) {
  how.samples = {{{{"x", kg::shape{}}}},
                 {{{"x", kg::shape{5}}}},
                 {{{"x", kg::shape{2, 3}}}},
                 {{{"x", kg::shape{3, 0}}}},
                 {{{"x", kg::shape{1, 2, 3}}}}};
  const std::string_view name = Op::row.name;
  if (name == "ReduceScatter" || name == "AllToAll") how.samples.erase(how.samples.begin());
  const kg::testkit::report found = kg::testkit::check_op<Op>(how);
  EXPECT_TRUE(found) << to_string(found);
}
TEST(ops, pass_the_test_kit) {
  if (ranks() > 1) return;
  check_alone<mpi::AllReduce>();
  check_alone<mpi::AllReduceMax>();
  check_alone<mpi::AllReduceMin>();
  check_alone<mpi::Reduce>();
  check_alone<mpi::Broadcast>();
  check_alone<mpi::AllGather>();
  check_alone<mpi::ReduceScatter>();
  check_alone<mpi::AllToAll>();
  check_alone<mpi::SendRecv>();
  check_alone<mpi::Barrier>();
}

}  // namespace
