// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/common/roofline.h"
#include "kernels/common/targets.h"
#include "tools/kerngrad/tool.h"

import kerngrad;
import kerngrad.graph;

#include "tools/kerngrad/graph_profile.h"

namespace tool {

namespace {

using kerngrad::kernels::floor_time;
using kerngrad::kernels::roofs;
using kg::graph::node_time;

// ------------------------------------------------------------------------------------------ what there is to do

double bytes_of(const kg::signature& x) {
  return static_cast<double>(x.dims.size()) * static_cast<double>(kg::size_of(x.type));
}
double elements_of(const kg::signature& x) { return static_cast<double>(x.dims.size()); }

const kg::signature* operand_named(const node_time& t, std::string_view name) {
  const auto found = std::ranges::find(t.operands, name, &node_time::operand::name);
  return found == t.operands.end() ? nullptr : &found->is;
}

// Elements of the largest operand or result: what most rows state their cost for.
double largest(const node_time& t) {
  double most = 0;
  for (const kg::signature& y : t.results) most = std::max(most, elements_of(y));
  for (const node_time::operand& x : t.operands) most = std::max(most, elements_of(x.is));
  return most;
}

// Each place of the result, or of the gradient that stands for it, meets the whole filter. A row's cost is that of a
// filter of 3x3 or 3x3x3 for one channel of the operand and one of the result.
std::optional<double> convolved(const node_time& t, const kg::op_row& row, double cost) {
  const kg::signature* filter = operand_named(t, "filter");
  const kg::signature* dy = operand_named(t, "dy");
  if (!filter || filter->dims.rank() < 4 || t.results.empty()) return {};
  const kg::signature& y = dy ? *dy : t.results[0];
  const int last = filter->dims.rank() - 1;
  const double channels = static_cast<double>(filter->dims[last] * (row.depthwise ? filter->dims[last - 1] : 1));
  const double taps = row.group == kg::family::volume ? 27 : 9;
  return channels > 0 ? cost / taps * elements_of(y) / channels * elements_of(*filter) : 0;
}

// A row's cost is that of one product.
std::optional<double> multiplied(const node_time& t, double cost) {
  const kg::signature* a = operand_named(t, "a");
  if (!a || a->dims.rank() < 2 || t.results.empty() || t.results[0].dims.rank() < 2) return {};
  const kg::shape &of = a->dims, &y = t.results[0].dims;
  const int rank = of.rank();
  const std::int64_t inner = of[rank - 2] == y[y.rank() - 2] ? of[rank - 1] : of[rank - 2];
  return cost * elements_of(t.results[0]) * static_cast<double>(inner);
}

// Arithmetic operations of a node; nothing where its row does not say.
std::optional<double> operations_of(const node_time& t, const kg::op_row& row) {
  const bool takes_product = operand_named(t, "a") && operand_named(t, "b");
  const double behind = row.group == kg::family::fused ? 2 : 0;  // bias and activation: modules/ops/fused/rows.cc
  if (row.group == kg::family::matmul || (behind > 0 && takes_product)) {
    const std::optional<double> work = multiplied(t, row.cost - behind);
    return work ? *work + behind * largest(t) : work;
  }
  if (operand_named(t, "filter") && row.group != kg::family::image) {
    const std::optional<double> work = convolved(t, row, row.cost - behind);
    return work && !t.results.empty() ? *work + behind * elements_of(t.results[0]) : work;
  }
  const bool by_elements = row.bounded || row.group == kg::family::sparse || row.group == kg::family::text ||
                           row.group == kg::family::fft || row.group == kg::family::sort;
  if (by_elements) return {};
  // One for each element of the window, which in poolings is 2x2; of an image each result is computed, else each
  // operand.
  if (row.group == kg::family::window) return row.cost / 4 * largest(t);
  return row.cost * (row.group == kg::family::image ? elements_of(t.results[0]) : largest(t));
}

// Several elementwise nodes that run as one have the name of the last, and no row.
bool is_fused(const node_time& t) { return t.by == "fused"; }
const std::string& shown_op(const node_time& t) { return is_fused(t) ? t.by : t.op; }

// The least time that the roofs leave a node; a fused pass that of its reads and writes.
std::optional<floor_time> floor_of(const node_time& t, const roofs& at) {
  const int id = kg::find_op(t.by);
  if ((id < 0 && !is_fused(t)) || t.results.empty()) return {};
  const std::optional<double> operations =
      is_fused(t) ? 0 : operations_of(t, kg::op_table[static_cast<std::size_t>(id)]);
  if (!operations) return {};
  double read = 0, written = 0;
  for (const node_time::operand& x : t.operands) read += bytes_of(x.is);
  for (const kg::signature& y : t.results) written += bytes_of(y);
  const kg::dtype type = t.results[0].type;
  return kerngrad::kernels::floor_of({largest(t), *operations, read, written, read + written, kg::size_of(type),
                                      kg::kind_of(type) >= kg::dtype_kind::half},
                                     at);
}

// Those of the target that kernels run on. Threads have registers, and the first two levels of caches, each; what is
// behind them they share.
roofs roofs_for(int threads) {
  kerngrad::kernels::target all[64];
  const std::span<const kerngrad::kernels::target> known(
      all, static_cast<std::size_t>(kerngrad::kernels::supported_targets(all, 64)));
  kerngrad::kernels::require_target();
  const auto running = std::ranges::find(known, std::string_view(kerngrad::kernels::running_target()),
                                         [](const auto& t) { return std::string_view(t.name); });
  roofs found = kerngrad::kernels::roofs_of(running == known.end() ? known[0] : *running);
  const double cores = std::min(threads, std::max(1, static_cast<int>(std::thread::hardware_concurrency())));
  for (double* rate :
       {&found.flops32, &found.flops64, &found.quotients32, &found.quotients64, &found.roots32, &found.roots64})
    *rate *= cores;
  for (const std::size_t level : {0u, 1u})
    found.read[level] *= cores, found.write[level] *= cores, found.copy[level] *= cores;
  return found;
}

// ------------------------------------------------------------------------------------------ the page

std::string sizes_of(const node_time& t) {
  std::string all;
  for (const kg::signature& s : t.results) all += (all.empty() ? "" : " ") + kg::to_string(s.dims);
  return all;
}

// Total of several nodes; the roofline bound is that of the ops whose rows give their work.
struct total {
  int nodes = 0;
  double seconds = 0, floor = 0, under_roof = 0;
  void add(const node_time& t, const std::optional<floor_time>& least) {
    ++nodes, seconds += t.seconds;
    if (least) floor += least->seconds, under_roof += t.seconds;
  }
  std::string roof() const { return under_roof > 0 ? fmt::format("{:.0f}", 100 * floor / under_roof) : "-"; }
};

}  // namespace

std::string profile_page(const std::vector<node_time>& times, int threads) {
  const roofs at = roofs_for(threads);
  total all;
  std::map<std::string, total> by_op;
  struct line {
    const node_time* of;
    std::optional<floor_time> least;
  };
  std::vector<line> lines;
  for (const node_time& t : times) {
    lines.push_back({&t, floor_of(t, at)});
    by_op[shown_op(t)].add(t, lines.back().least), all.add(t, lines.back().least);
  }
  const auto share = [&](double seconds) { return all.seconds > 0 ? 100 * seconds / all.seconds : 0; };
  std::vector<std::pair<std::string, total>> ops(by_op.begin(), by_op.end());
  std::sort(ops.begin(), ops.end(), [](const auto& a, const auto& b) { return a.second.seconds > b.second.seconds; });
  std::string page = fmt::format("\n{:<32} {:>6} {:>10} {:>6} {:>7}\n", "op", "nodes", "us", "%", "% roof");
  ops.emplace_back("all", all);
  for (const auto& [op, sum] : ops)
    page += fmt::format("{:<32} {:>6} {:>10.1f} {:>6.1f} {:>7}\n", shown(op), sum.nodes, 1e6 * sum.seconds,
                        share(sum.seconds), sum.roof());
  std::sort(lines.begin(), lines.end(), [](const line& a, const line& b) {
    return a.of->seconds != b.of->seconds ? a.of->seconds > b.of->seconds : a.of->node < b.of->node;
  });
  lines.resize(std::min<std::size_t>(lines.size(), 20));
  page += fmt::format("\n{:>10} {:>6} {:>7} {:>8}  {}\n", "us", "%", "% roof", "limit", "node");
  for (const auto& [t, least] : lines) {
    total one;
    one.add(*t, least);
    page += fmt::format("{:>10.1f} {:>6.1f} {:>7} {:>8}  {}, {} {}\n", 1e6 * t->seconds, share(t->seconds), one.roof(),
                        least ? least->limit : "-", shown(t->node), shown(shown_op(*t)), sizes_of(*t));
  }
  return page;
}

std::vector<node_time> best_profile(const kg::graph::model& m, std::span<const kg::named_operand> in, int repeat) {
  const auto sum_of = [](const std::vector<node_time>& times) {
    double sum = 0;
    for (const node_time& t : times) sum += t.seconds;
    return sum;
  };
  std::vector<node_time> best = m.profile(in);
  for (int i = 1; i < repeat; ++i)
    if (std::vector<node_time> next = m.profile(in); sum_of(next) < sum_of(best)) best = std::move(next);
  return best;
}

}  // namespace tool
