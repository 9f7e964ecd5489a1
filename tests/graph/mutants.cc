// SPDX-License-Identifier: Apache-2.0
// Mutants of valid graphs: an op, an input, an attribute or a weight is another one. Each is rejected when it is loaded
// or run, in one `error`, or gives results. Loops end after a number of iterations: a mutant of one may have no end.
#include <cstdint>
#include <iostream>
#include <iterator>
#include <optional>

#include "tests/graph/sweep.h"

#include "tests/graph/loops.h"
#include "tests/graph/networks.h"
#include "tests/graph/small_runs.h"

namespace {

using namespace kgtest;

struct graph {
  std::vector<json> nodes;
  std::vector<weight> weights{};
  std::vector<json> functions{};
};

const json typed{{"dtype", type("DT_FLOAT")}}, element{{"element_dtype", type("DT_FLOAT")}};

// Arrays, lists, branches, functions and loops.
std::vector<graph> graphs_by_hand() {
  const std::vector<json> constants{input_of("x"), whole_of("zero", 0), whole_of("two", 2), whole_of("any", -1)};
  const auto with = [&](std::vector<json> more) {
    more.insert(more.begin(), constants.begin(), constants.end());
    return more;
  };
  const std::vector<weight> places{{"places", kg::tensor({0, 1})}};
  const json twice = function_of("twice", {{"v", "DT_FLOAT"}}, {{"r", "t:z:0"}}, {node_of("t", "AddV2", {"v", "v"})});
  const json itself = function_of("itself", {{"v", "DT_FLOAT"}}, {{"r", "v"}}, {});
  const json outer = function_of("outer", {{"v", "DT_FLOAT"}}, {{"r", "t:output:0"}},
                                 {node_of("t", "PartitionedCall", {"v"}, {{"f", calls("twice")}})});
  const name_pairs counter{{"i", "DT_INT32"}, {"n", "DT_INT32"}};
  const json below = function_of("below", counter, {{"r", "t:z:0"}}, {node_of("t", "Less", {"i", "n"})});
  const json more = function_of("more", counter, {{"a", "t:z:0"}, {"b", "n"}},
                                {whole_of("one", 1), node_of("t", "AddV2", {"i", "one:output:0"})});
  return {
      {counting()},
      {with({input_of("n", "DT_INT32"),
             node_of("y", "While", {"zero", "n"}, {{"cond", calls("below")}, {"body", calls("more")}})}),
       {},
       {below, more}},
      {with({node_of("array", "TensorArrayV3", {"two"}, typed),
             node_of("all", "TensorArrayScatterV3", {"array", "places", "x", "array:1"}),
             node_of("first", "TensorArrayReadV3", {"array", "zero", "all"}),
             node_of("flow", "TensorArrayWriteV3", {"array", "zero", "first", "all"}),
             node_of("y", "TensorArrayGatherV3", {"array", "places", "flow"}),
             node_of("size", "TensorArraySizeV3", {"array", "flow"}),
             node_of("joined", "TensorArrayConcatV3", {"array", "flow"})}),
       places},
      {with({node_of("list", "TensorListFromTensor", {"x", "any"}, element),
             node_of("first", "TensorListGetItem", {"list", "zero", "any"}, element),
             node_of("set", "TensorListSetItem", {"list", "zero", "first"}, element),
             node_of("pushed", "TensorListPushBack", {"set", "first"}, element),
             node_of("popped", "TensorListPopBack", {"pushed", "any"}, element),
             node_of("y", "TensorListStack", {"popped", "any"}, element),
             node_of("z", "TensorListGather", {"pushed", "places", "any"}, element),
             node_of("length", "TensorListLength", {"popped"}),
             node_of("reserved", "TensorListReserve", {"any", "two"}, element),
             node_of("parts", "TensorListSplit", {"x", "any", "places"}, element),
             node_of("joined", "TensorListConcatV2", {"parts", "any", "places"}, element)}),
       places},
      {with({node_of("any_true", "Any", {"c", "zero"}), node_of("way", "Switch", {"x", "any_true"}),
             node_of("left", "Neg", {"way"}), node_of("right", "Square", {"way:1"}),
             node_of("y", "Merge", {"left", "right"}), input_of("c", "DT_BOOL"),
             node_of("z", "If", {"any_true", "y"}, {{"then_branch", calls("twice")}, {"else_branch", calls("itself")}}),
             node_of("called", "PartitionedCall", {"z"}, {{"f", calls("outer")}})}),
       {},
       {twice, itself, outer}},
      {with({node_of("shape", "Shape", {"x"}), node_of("size", "Size", {"x"}), node_of("rank", "Rank", {"x"}),
             node_of("range", "Range", {"zero", "size", "two"}), node_of("filled", "Fill", {"places", "half"}),
             node_of("parts", "SplitV", {"x", "places", "zero"}, {{"num_split", whole(2)}}),
             node_of("split", "Split", {"zero", "x"}, {{"num_split", whole(2)}}),
             node_of("unpacked", "Unpack", {"x"}, {{"num", whole(2)}}), node_of("unique", "Unique", {"range"}),
             node_of("top", "TopKV2", {"x", "two"}), node_of("gathered", "GatherV2", {"x", "places", "zero"}),
             node_of("one", "OneHot", {"range", "two", "half", "half"}),
             node_of("slice", "StridedSlice", {"x", "places", "places", "places"}),
             node_of("all", "IdentityN", {"parts", "split:1", "unpacked:1", "unique:1", "top:1"}),
             node_of("passed", "FakeQuantWithMinMaxVars", {"gathered", "half", "half"}),
             node_of("printed", "Print", {"slice", "one"}), node_of("snapshot", "Snapshot", {"filled"}),
             node_of("stopped", "StopGradient", {"snapshot"}),
             node_of("given", "PlaceholderWithDefault", {"stopped"}, typed)}),
       {{"places", kg::tensor({0, 1})}, {"half", kg::tensor(0.5f)}}},
  };
}

class mutator {
 public:
  explicit mutator(std::vector<graph> by_hand) : random_(0), by_hand_(std::move(by_hand)) {
    for (const kg::graph::needed_op& op : kg::graph::known_ops()) ops_.push_back(op.name);
    ops_.push_back("Gelu"), ops_.push_back("RandomNormal");  // rows that no graph op has
  }
  graph mutant(std::uint64_t seed) {
    random_ = kg::testkit::stream(seed);
    graph made;
    if (random_.below(2) == 0) {
      made = by_hand_[random_.below(by_hand_.size())];
    } else {
      const network net = random_network(random_.bits());
      made = {net.nodes, net.weights, {}};
    }
    for (std::uint64_t changes = 1 + random_.below(3); changes > 0; --changes) change(made);
    return made;
  }

 private:
  template <class Items>
  auto& one_of(Items& items) {
    return items[random_.below(items.size())];
  }
  std::string some_name(const graph& g) {
    std::string name = !g.weights.empty() && random_.below(4) == 0 ? one_of(g.weights).name
                                                                   : one_of(g.nodes)["name"].get<std::string>();
    if (random_.below(3) == 0) name += ":" + std::to_string(random_.below(4));
    return random_.below(16) ? name : "^" + name;
  }
  json some_attribute() {
    switch (random_.below(8)) {
      case 0: return flag(random_.below(2));
      case 1: return whole(static_cast<std::int64_t>(random_.below(8)) - 3);
      case 2: return whole(std::int64_t{1} << random_.below(63));
      case 3: return number(static_cast<double>(random_.below(8)) / 4 - 1);
      case 4: return text("VALID");
      case 5: return wholes({static_cast<std::int64_t>(random_.below(4)), 1, 2, -1});
      case 6: return type(random_.below(2) ? "DT_INT32" : "DT_BOOL");
      default: return json::object();
    }
  }
  void change_node(const graph& g, json& node) {
    json& input = node["input"];
    switch (random_.below(6)) {
      case 0: node["op"] = one_of(ops_); break;
      case 1: input.push_back(some_name(g)); break;
      case 2:
        if (!input.empty()) input.erase(random_.below(input.size()));
        break;
      case 3:
        if (!input.empty()) input[random_.below(input.size())] = some_name(g);
        break;
      case 4: input = json::array(); break;
      default:
        if (node["attr"].empty() || random_.below(4) == 0) node["attr"]["axis"] = some_attribute();
        else
          std::next(node["attr"].begin(), static_cast<std::ptrdiff_t>(random_.below(node["attr"].size()))).value() =
              some_attribute();
    }
  }
  void change(graph& g) {
    if (!g.weights.empty() && random_.below(6) == 0) {
      weight& w = one_of(g.weights);
      const std::vector<kg::tensor> others{
          kg::zeros({0}),      kg::zeros({}), kg::tensor({-1, 7}), kg::tensor(3), kg::reshape(w.value, {-1}),
          kg::zeros({2, 1, 3})};
      w.value = one_of(others);
    } else if (!g.functions.empty() && random_.below(3) == 0) {
      json& f = one_of(g.functions);
      if (!f["nodeDef"].empty() && random_.below(2)) change_node(g, f["nodeDef"][0]);
      else f["ret"]["r"] = std::vector<std::string>{"v", "v:1", "t", "t:1", "t:z:3", "none"}[random_.below(6)];
    } else {
      change_node(g, one_of(g.nodes));
    }
  }

  kg::testkit::stream random_;
  std::vector<graph> by_hand_;
  std::vector<std::string> ops_;
};

// Its outputs, twice, so that the kept plan is used, and a few nodes for themselves.
std::string complaint_of(const graph& g, std::uint64_t seed) {
  std::optional<kg::graph::model> m;
  std::string said = complaint_of_run([&] {
    m = model_with(g.nodes, g.weights, g.functions, {}, {.most_iterations = 100});
    return 0;
  });
  if (!m) return said;
  const std::optional<std::vector<kg::named_operand>> inputs = small_inputs(*m);
  if (!inputs) return "";
  const std::vector<std::string> nodes = m->nodes();
  kg::testkit::stream random(seed);
  for (int turn = 0; turn < 4 && said.empty(); ++turn) {
    std::vector<std::string> wanted;
    if (turn >= 2) wanted.push_back(nodes[random.below(nodes.size())]);
    if (turn == 3) wanted[0] += ":1";
    said = complaint_of_run([&] { return (*m)(*inputs, wanted); });
  }
  return said;
}

TEST(mutants_of_graphs, are_refused_or_give_results) {
  const auto [first, count] = wanted_sweep("KERNGRAD_MUTATIONS", 1500, 10'000);
  const memory_limit_scope limit(std::int64_t{64} << 20);
  mutator next(graphs_by_hand());
  const std::int64_t before = kg::memory().live_tensors;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t seed = first + static_cast<std::uint64_t>(i);
    const graph made = next.mutant(seed);
    const std::string complaint = complaint_of(made, seed);
    if (complaint.empty()) continue;
    ADD_FAILURE() << "KERNGRAD_SEED=" << seed << " KERNGRAD_MUTATIONS=1: " << complaint;
    std::cout << json(made.nodes).dump(1) << "\n";
    break;
  }
  EXPECT_EQ(kg::memory().live_tensors, before);
}

}  // namespace
