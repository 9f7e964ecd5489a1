// SPDX-License-Identifier: Apache-2.0
// Fuzz target: a model.json and, after a zero byte, its weight file w.bin. A model that loads is run; what `save`
// writes of it loads, and gives the same results.
#include <algorithm>
#include <vector>

#include "tests/fuzz/files.h"
#include "tests/fuzz/words.h"

import kerngrad.graph;

namespace {

using kg::graph::model;
using kg::graph::port;

// Loops end soon.
constexpr kg::graph::load_options limits{
    .most_nodes = 10'000, .most_bytes = fuzz::most_memory, .most_iterations = 1'000};

// Elements around 0, the same each time; 2 for sizes that the port leaves open.
kg::tensor filled(const port& p) {
  std::vector<std::int64_t> dims = p.dims;
  for (std::int64_t& size : dims) size = size < 0 ? 2 : size;
  const kg::shape wanted(dims);
  if (p.type == kg::dtype::text)
    return kg::tensor(std::vector<std::string>(static_cast<std::size_t>(wanted.size()), "a b"), wanted);
  if (wanted.size() > 1 << 16) return kg::zeros(wanted, p.type);
  return kg::cast(kg::reshape(kg::arange(wanted.size()) - wanted.size() / 2, wanted), p.type);
}

bool is_random(const model& m) {
  const auto needs = m.needs();
  return std::any_of(needs.begin(), needs.end(), [](const kg::graph::needed_op& op) {
    return op.name.find("Random") != op.name.npos || op.name.find("Multinomial") != op.name.npos ||
           op.name.find("Truncated") != op.name.npos;
  });
}

// Nothing where the model takes no such inputs.
std::vector<kg::tensor> run_of(const model& m) {
  std::vector<kg::tensor> ys;
  fuzz::accepted([&] {
    std::vector<kg::named_operand> in;
    for (const port& p : m.inputs()) in.emplace_back(p.key, filled(p));
    const kg::graph::results made = m(in);
    ys.assign(made.begin(), made.end());
  });
  return ys;
}

void write(const std::string& path, std::string_view bytes) { std::ofstream(path, std::ios::binary) << bytes; }

void check_model(const std::string& text, const std::string& weights) {
  const std::string folder = fuzz::folder() + "/graph";
  std::filesystem::create_directory(folder);
  write(folder + "/m.json", text);
  write(folder + "/w.bin", weights);
  model m, again;
  if (!fuzz::accepted([&] { m = kg::graph::load(folder + "/m.json", limits); })) return;
  fuzz::accepted([&] { fuzz::require(m.nodes().size() < text.size(), "more nodes than bytes"); });
  const std::vector<kg::tensor> before = run_of(m);
  if (!fuzz::accepted([&] { kg::graph::save(folder + "/saved.json", m); })) return;
  const std::string said = fuzz::refusal([&] { again = kg::graph::load(folder + "/saved.json", limits); });
  fuzz::require(said.empty(), "a model that was saved does not load: " + said);
  const std::vector<kg::tensor> after = run_of(again);
  if (is_random(m)) return;
  fuzz::require(before.size() == after.size(), "a saved model has other results");
  for (std::size_t i = 0; i < before.size(); ++i)
    fuzz::require(fuzz::same(before[i], after[i]), "a saved model has a result with other elements");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return fuzz::run(data, size, [](std::span<const std::uint8_t> input) {
    const std::string_view all(reinterpret_cast<const char*>(input.data()), input.size());
    const std::size_t end = std::min(all.find('\0'), all.size());
    check_model(std::string(all.substr(0, end)), std::string(all.substr(std::min(end + 1, all.size()))));
    std::filesystem::remove_all(fuzz::folder() + "/graph");
  });
}

std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  return fuzz::changed_words(data, size, most, seed);
}
