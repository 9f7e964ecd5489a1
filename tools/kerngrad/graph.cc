// SPDX-License-Identifier: Apache-2.0
#include "tools/kerngrad/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <span>

#include "tools/kerngrad/tool.h"

import kerngrad.graph;
import kerngrad.io;

#include "tools/kerngrad/graph_profile.h"

namespace tool {

namespace {

using kg::graph::model;
using kg::graph::port;

std::string text_of(const port& p) {
  std::string sizes = p.known_rank ? "" : "any shape";
  for (const std::int64_t size : p.dims) sizes += (sizes.empty() ? "" : ", ") + (size < 0 ? "?" : std::to_string(size));
  return fmt::format("{}: {} {}", shown(p.key), kg::name_of(p.type), p.known_rank ? "[" + sizes + "]" : sizes);
}

json json_of(std::span<const port> ports) {
  json all = json::array();
  for (const port& p : ports)
    all.push_back({{"name", p.key},
                   {"node", p.node},
                   {"dtype", std::string(kg::name_of(p.type))},
                   {"shape", p.known_rank ? json(p.dims) : json()}});
  return all;
}

// The part before the first = and what follows; no name where there is none.
std::pair<std::string, std::string> named_file(const std::string& text) {
  const std::size_t at = text.find('=');
  return at == std::string::npos ? std::pair(std::string(), text) : std::pair(text.substr(0, at), text.substr(at + 1));
}

const port* port_named(std::span<const port> ports, const std::string& name) {
  const auto found = std::find_if(ports.begin(), ports.end(), [&](const port& p) {
    return p.key == name || p.node == name || p.node == name + ":0";
  });
  return found == ports.end() ? nullptr : &*found;
}

// Elements that are the same each time: uniform, of integers from 0 to 255. Unknown sizes are 1.
kg::tensor filled(const port& p, std::int64_t seed) {
  std::vector<std::int64_t> dims = p.dims;
  for (std::int64_t& size : dims) size = std::max<std::int64_t>(size, 1);
  const bool is_integer = kg::kind_of(p.type) == kg::dtype_kind::integer;
  const kg::tensor x = kg::random_uniform(kg::shape(dims), 0, is_integer ? 256 : 1, seed);
  return kg::cast(x, p.type);
}

std::vector<kg::named_operand> operands_of(const model& m, const graph_request& wanted) {
  std::vector<kg::named_operand> all;
  for (const std::string& text : wanted.inputs) {
    auto [name, file] = named_file(text);
    if (name.empty() && m.inputs().size() == 1) name = m.inputs()[0].key;
    if (name.empty()) throw usage_error("--input " + text + ": NAME=FILE is wanted, as the model has several inputs");
    all.emplace_back(name, kg::tensor(kg::io::load(file)));
  }
  for (const port& p : m.inputs()) {
    const bool given = std::any_of(all.begin(), all.end(), [&](const kg::named_operand& x) {
      return port_named(std::span(&p, 1), x.name) != nullptr;
    });
    if (!given && wanted.fills) all.emplace_back(p.key, filled(p, static_cast<std::int64_t>(all.size()) + 1));
    else if (!given)
      throw usage_error("no --input for " + text_of(p) + ": give " + p.key +
                        "=FILE.npy, or --fill for random elements");
  }
  return all;
}

// ------------------------------------------------------------------------------------------ what came out

std::string line_of(const std::string& name, const kg::tensor& y) {
  std::string line = fmt::format("{}: {} {}", shown(name), kg::name_of(y.type()), kg::to_string(y.dims()));
  if (y.size() == 0 || !kg::real_or_bool.has(y.type())) return line;
  const std::vector<double> all = y.to_doubles();
  const auto [least, most] = std::minmax_element(all.begin(), all.end());
  double sum = 0;
  for (const double item : all) sum += item;
  return line +
         fmt::format(", from {:.6g} to {:.6g}, mean {:.6g}", *least, *most, sum / static_cast<double>(all.size()));
}

void save_results(const kg::graph::results& ys, const graph_request& wanted) {
  for (const std::string& text : wanted.outputs) {
    const auto [name, file] = named_file(text);
    if (name.empty() && ys.size() != 1)
      throw usage_error("--output " + text + ": NAME=FILE is wanted, as the model has several outputs");
    kg::io::save(file, name.empty() ? ys[0] : ys.at(name));
  }
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  if (!(file << text).flush()) throw refusal(path + " cannot be written");
}

}  // namespace

// ------------------------------------------------------------------------------------------ commands

std::string graph_ops_page() {
  std::string page = "| graph op | run by |\n| --- | --- |\n";
  for (const kg::graph::needed_op& op : kg::graph::known_ops())
    page += fmt::format("| {} | {} |\n", op.name, op.by.empty() ? "not run: " + op.reason : op.by);
  return page;
}

int graph_check(const graph_request& wanted) {
  const model m = kg::graph::load(wanted.model, {.most_bytes = wanted.most_bytes});
  std::vector<kg::graph::needed_op> needs = m.needs();
  std::sort(needs.begin(), needs.end(),
            [](const auto& a, const auto& b) { return a.nodes != b.nodes ? a.nodes > b.nodes : a.name < b.name; });
  const auto missing = std::count_if(needs.begin(), needs.end(), [](const auto& op) { return op.by.empty(); });
  if (wanted.as_json) {
    json ops = json::array();
    for (const auto& op : needs)
      ops.push_back({{"op", op.name}, {"nodes", op.nodes}, {"by", op.by}, {"reason", op.reason}});
    write_out(text_of(json{{"inputs", json_of(m.inputs())}, {"outputs", json_of(m.outputs())}, {"ops", ops}}));
    return missing == 0 ? done : refused;
  }
  std::string page;
  for (const port& p : m.inputs()) page += "input   " + text_of(p) + "\n";
  for (const port& p : m.outputs()) page += "output  " + text_of(p) + "\n";
  page += fmt::format("\n{:<32} {:>6}  {}\n", "op", "nodes", "run by");
  for (const auto& op : needs)
    page += fmt::format("{:<32} {:>6}  {}\n", shown(op.name), op.nodes,
                        op.by.empty() ? "missing: " + shown(op.reason) : op.by);
  write_out(page + fmt::format("\n{} ops, {} missing\n", needs.size(), missing));
  return missing == 0 ? done : refused;
}

int graph_run(const graph_request& wanted) {
  kg::set_num_threads(wanted.threads);
  const model m = kg::graph::load(wanted.model, {.most_bytes = wanted.most_bytes});
  const std::vector<kg::named_operand> in = operands_of(m, wanted);
  kg::graph::results ys = m(in);
  using clock = std::chrono::steady_clock;
  double best = 0;
  for (int i = 0; i < wanted.repeat; ++i) {
    const clock::time_point begin = clock::now();
    ys = m(in);
    const double took = std::chrono::duration<double>(clock::now() - begin).count();
    best = i == 0 ? took : std::min(best, took);
  }
  save_results(ys, wanted);
  std::string page;
  for (std::size_t i = 0; i < ys.size(); ++i) page += line_of(ys.keys()[i], ys[i]) + "\n";
  page += fmt::format("{:.3f} ms, least of {} run{} after the first, {} thread{}\n", 1e3 * best, wanted.repeat,
                      wanted.repeat == 1 ? "" : "s", wanted.threads, wanted.threads == 1 ? "" : "s");
  if (wanted.profiles) page += profile_page(best_profile(m, in, wanted.repeat), wanted.threads);
  if (!wanted.dot.empty()) write_file(wanted.dot, m.planned(in).to_dot());
  // Nothing is planned in what is traced: the plan is there by now.
  if (!wanted.trace.empty()) kg::write_chrome_trace(kg::profile([&] { m(in); }), wanted.trace);
  write_out(page);
  return done;
}

}  // namespace tool
