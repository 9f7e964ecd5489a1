// SPDX-License-Identifier: Apache-2.0
// Tensor arrays and lists: each op gives what its definition says, on graphs that end in tensors.
#include "tests/graph/graphs.h"

namespace {

using namespace kgtest;
using kg::tensor;
using kg::graph::model;
using kg::graph::results;

const json floats{{"element_dtype", type("DT_FLOAT")}}, array_of_floats{{"dtype", type("DT_FLOAT")}};
const tensor rows({1.f, 2.f, 3.f, 4.f, 5.f, 6.f}, {3, 2}), row({7.f, 8.f});

// Inputs that the graphs have, as many as they read: rows, row, the integers 0 to 5, "any" for a shape of which nothing
// is known, "pair" for [2].
model list_model(std::vector<json> nodes) {
  for (const json& node : {input_of("rows"), input_of("row"), input_of("pair", "DT_INT32"), whole_of("any", -1),
                           whole_of("0", 0), whole_of("1", 1), whole_of("2", 2), whole_of("3", 3), whole_of("5", 5)})
    nodes.push_back(node);
  return model_with(nodes,
                    {{"one_two", tensor({1, 2})}, {"two_none", tensor({2, 0})}, {"two_none_three", tensor({2, 0, 3})}});
}
results run(const model& m, const std::vector<std::string>& wanted) {
  const kg::named_operand in[] = {{"rows", rows}, {"row", row}, {"pair", tensor({2})}};
  return m(in, wanted);
}

struct list_case {
  std::string_view what;
  std::vector<json> nodes;
  std::vector<std::string> wanted;
  std::vector<tensor> values;
};
void check(const std::vector<list_case>& cases) {
  for (const list_case& item : cases) {
    const model m = list_model(item.nodes);
    for (const std::string_view call : {"first", "second"}) {
      const results got = run(m, item.wanted);
      for (std::size_t i = 0; i < item.values.size(); ++i)
        EXPECT_TRUE(same(got[i], item.values[i]))
            << item.what << ": " << item.wanted[i] << " of the " << call << " call";
    }
  }
}

json stack_of(std::string_view list, std::string_view dims = "any") {
  return node_of("y", "TensorListStack", {list, dims}, floats);
}
const json from_rows = node_of("list", "TensorListFromTensor", {"rows", "any"}, floats);
json reserved(std::string_view dims, std::string_view count) {
  return node_of("list", "TensorListReserve", {dims, count}, floats);
}

// ------------------------------------------------------------------------------------------ lists

TEST(lists, are_made_and_read) {
  check({{"stacked again", {from_rows, stack_of("list")}, {"y"}, {rows}},
         {"items and length",
          {from_rows, node_of("item", "TensorListGetItem", {"list", "1", "any"}, floats),
           node_of("length", "TensorListLength", {"list"})},
          {"item", "length"},
          {tensor({3.f, 4.f}), tensor(3)}},
         {"gathered, in any order and twice",
          {from_rows, node_of("y", "TensorListGather", {"list", "two_none_three_of_list", "any"}, floats),
           node_of("two_none_three_of_list", "ConcatV2", {"two_none", "two_none", "0"})},
          {"y"},
          {tensor({5.f, 6.f, 1.f, 2.f, 5.f, 6.f, 1.f, 2.f}, {4, 2})}},
         {"scattered",
          {node_of("list", "TensorListScatter", {"rows", "two_none", "any"}, floats), stack_of("list")},
          {"y"},
          {tensor({3.f, 4.f, 0.f, 0.f, 1.f, 2.f}, {3, 2})}},
         {"scattered into a list of a length",
          {node_of("list", "TensorListScatterV2", {"rows", "two_none", "any", "5"}, floats), stack_of("list")},
          {"y"},
          {tensor({3.f, 4.f, 0.f, 0.f, 1.f, 2.f, 0.f, 0.f, 0.f, 0.f}, {5, 2})}},
         {"split by lengths, one of them 0",
          {node_of("list", "TensorListSplit", {"rows", "any", "two_none_one"}, floats),
           node_of("two_none_one", "ConcatV2", {"two_none", "one_of_it", "0"}),
           node_of("one_of_it", "ExpandDims", {"1", "0"}),
           node_of("first", "TensorListGetItem", {"list", "0", "any"}, floats),
           node_of("none", "TensorListGetItem", {"list", "1", "any"}, floats),
           node_of("y", "TensorListConcatV2", {"list", "any", "two_none"}, floats)},
          {"first", "none", "y", "y:1"},
          {tensor({1.f, 2.f, 3.f, 4.f}, {2, 2}), kg::zeros({0, 2}), rows, tensor({2, 0, 1})}},
         {"joined",
          {from_rows, node_of("y", "TensorListConcat", {"list"}, floats)},
          {"y", "y:1"},
          {kg::reshape(rows, {6}), tensor({2, 2, 2})}}});
}

TEST(lists, are_values_that_changes_leave_as_they_were) {
  check({{"set",
          {from_rows, node_of("set", "TensorListSetItem", {"list", "1", "row"}, floats), stack_of("set"),
           node_of("before", "TensorListStack", {"list", "any"}, floats)},
          {"y", "before"},
          {tensor({1.f, 2.f, 7.f, 8.f, 5.f, 6.f}, {3, 2}), rows}},
         {"pushed onto an empty one, twice",
          {node_of("empty", "EmptyTensorList", {"any", "any"}, floats),
           node_of("one", "TensorListPushBack", {"empty", "row"}, floats),
           node_of("two", "TensorListPushBack", {"one", "row"}, floats), stack_of("two"),
           node_of("lengths", "TensorListLength", {"one"}), node_of("none", "TensorListLength", {"empty"})},
          {"y", "lengths", "none"},
          {tensor({7.f, 8.f, 7.f, 8.f}, {2, 2}), tensor(1), tensor(0)}},
         {"popped",
          {from_rows, node_of("pop", "TensorListPopBack", {"list", "any"}, floats), stack_of("pop"),
           node_of("before", "TensorListLength", {"list"})},
          {"pop:1", "y", "before"},
          {tensor({5.f, 6.f}), tensor({1.f, 2.f, 3.f, 4.f}, {2, 2}), tensor(3)}},
         {"made longer and shorter",
          {from_rows, node_of("longer", "TensorListResize", {"list", "5"}),
           node_of("shorter", "TensorListResize", {"list", "2"}), stack_of("shorter"),
           node_of("all", "TensorListStack", {"longer", "any"}, floats)},
          {"y", "all"},
          {tensor({1.f, 2.f, 3.f, 4.f}, {2, 2}), tensor({1.f, 2.f, 3.f, 4.f, 5.f, 6.f, 0.f, 0.f, 0.f, 0.f}, {5, 2})}}});
}

// Items that nobody wrote are zeros of the shape that the list knows, the reader, or another item.
TEST(lists, have_zeros_where_nothing_was_written) {
  const json set = node_of("set", "TensorListSetItem", {"list", "2", "row"}, floats);
  const tensor padded({0.f, 0.f, 0.f, 0.f, 7.f, 8.f}, {3, 2});
  check({{"as the list says", {reserved("pair", "3"), stack_of("list")}, {"y"}, {kg::zeros({3, 2})}},
         {"as the reader says", {reserved("any", "3"), stack_of("list", "pair")}, {"y"}, {kg::zeros({3, 2})}},
         {"as another item is", {reserved("any", "3"), set, stack_of("set")}, {"y"}, {padded}},
         {"one of them",
          {reserved("any", "3"), node_of("y", "TensorListGetItem", {"list", "1", "pair"}, floats)},
          {"y"},
          {kg::zeros({2})}},
         {"gathered",
          {reserved("any", "3"), node_of("y", "TensorListGather", {"list", "one_two", "pair"}, floats)},
          {"y"},
          {kg::zeros({2, 2})}},
         {"popped",
          {reserved("any", "3"), node_of("pop", "TensorListPopBack", {"list", "pair"}, floats)},
          {"pop:1"},
          {kg::zeros({2})}},
         {"joined, with their lengths",
          {reserved("any", "3"), set, node_of("y", "TensorListConcatV2", {"set", "any", "two_none"}, floats)},
          {"y", "y:1"},
          {kg::reshape(padded, {6}), tensor({2, 2, 2})}},
         {"none at all", {reserved("any", "0"), stack_of("list", "pair")}, {"y"}, {kg::zeros({0, 2})}},
         {"none at all, joined",
          {reserved("any", "0"), node_of("y", "TensorListConcatV2", {"list", "pair", "two_none"}, floats)},
          {"y"},
          {kg::zeros({0})}}});
}

// ------------------------------------------------------------------------------------------ tensor arrays

json array(std::string_view count, bool grows = false) {
  json attrs = array_of_floats;
  if (grows) attrs["dynamic_size"] = flag(true);
  return node_of("array", "TensorArrayV3", {count}, attrs);
}
const json filled = node_of("flow", "TensorArrayScatterV3", {"array", "two_none", "rows", "array:1"});

TEST(tensor_arrays, are_written_and_read_in_the_order_of_their_flow) {
  check(
      {{"written twice, read between",
        {array("2"), node_of("first", "TensorArrayWriteV3", {"array", "1", "row", "array:1"}),
         node_of("read", "TensorArrayReadV3", {"array", "1", "first"}), node_of("double", "AddV2", {"read", "read"}),
         node_of("second", "TensorArrayWriteV3", {"array", "0", "double", "first"}),
         node_of("y", "TensorArrayReadV3", {"array", "0", "second"}),
         node_of("size", "TensorArraySizeV3", {"array", "second"})},
        {"read", "y", "size"},
        {row, row * 2, tensor(2)}},
       {"scattered and gathered",
        {array("3"), filled, node_of("y", "TensorArrayGatherV3", {"array", "two_none", "flow"})},
        {"y"},
        {tensor({1.f, 2.f, 3.f, 4.f}, {2, 2})}},
       {"zeros beside what was scattered",
        {array("3"), filled, node_of("y", "TensorArrayGatherV3", {"array", "one_two", "flow"})},
        {"y"},
        {tensor({0.f, 0.f, 1.f, 2.f}, {2, 2})}},
       {"split and joined",
        {array("3"), node_of("flow", "TensorArraySplitV3", {"array", "rows", "lengths", "array:1"}),
         node_of("one_of_it", "ExpandDims", {"1", "0"}), node_of("lengths", "ConcatV2", {"two_none", "one_of_it", "0"}),
         node_of("part", "TensorArrayReadV3", {"array", "0", "flow"}),
         node_of("y", "TensorArrayConcatV3", {"array", "flow"})},
        {"part", "y", "y:1"},
        {tensor({1.f, 2.f, 3.f, 4.f}, {2, 2}), rows, tensor({2, 0, 1})}},
       {"grown",
        {array("0", true), node_of("flow", "TensorArrayWriteV3", {"array", "2", "row", "array:1"}),
         node_of("size", "TensorArraySizeV3", {"array", "flow"})},
        {"size"},
        {tensor(3)}}});
}

// ------------------------------------------------------------------------------------------ refusals

TEST(lists_and_arrays, refuse_items_that_they_do_not_have) {
  struct refused {
    std::vector<json> nodes;
    std::initializer_list<std::string_view> parts;
  };
  const refused cases[] = {
      {{from_rows, node_of("y", "TensorListGetItem", {"list", "5", "any"}, floats)}, {"item 5", "one of 3"}},
      {{from_rows, node_of("y", "TensorListGather", {"list", "over", "any"}, floats),
        node_of("over", "AddV2", {"one_two", "2"})},
       {"item 3", "one of 3"}},
      {{reserved("any", "2"), node_of("list_too", "TensorListSetItem", {"list", "3", "row"}, floats),
        stack_of("list_too")},
       {"item 3", "one of 2"}},
      {{reserved("any", "any"), stack_of("list")}, {"-1 items"}},
      {{reserved("any", "2"), stack_of("list")}, {"item 0", "not written"}},
      {{node_of("list", "EmptyTensorList", {"any", "any"}, floats),
        node_of("pop", "TensorListPopBack", {"list", "any"}, floats), node_of("y", "TensorListLength", {"pop"})},
       {"an empty list"}},
      {{node_of("list", "TensorListSplit", {"rows", "any", "two_none_three"}, floats), stack_of("list")},
       {"[3, 2]", "lengths"}},
      {{array("2"), node_of("flow", "TensorArrayWriteV3", {"array", "2", "row", "array:1"}),
        node_of("y", "TensorArraySizeV3", {"array", "flow"})},
       {"item 2", "one of 2"}},
      {{node_of("y", "TensorListLength", {"rows"})}, {"a tensor as input 0", "a list"}},
      {{from_rows, node_of("y", "Neg", {"list"})}, {"a list as", "a tensor"}}};
  for (const refused& item : cases) {
    const model m = list_model(item.nodes);
    const std::string text = refusal([&] { run(m, {"y"}); });
    EXPECT_TRUE(says(text, item.parts)) << text;
    EXPECT_EQ(text.find('\n'), text.npos) << text;
  }
}

// Closing gives nothing that could be read.
TEST(tensor_arrays, are_closed) {
  const model m = list_model({array("2"), node_of("flow", "TensorArrayWriteV3", {"array", "1", "row", "array:1"}),
                              node_of("y", "TensorArrayReadV3", {"array", "1", "flow"}),
                              node_of("close", "TensorArrayCloseV3", {"array"})});
  EXPECT_TRUE(same(run(m, {"y"})[0], row));
  EXPECT_TRUE(says(refusal([&] { run(m, {"y", "close"}); }), {"no value of output close"}));
}

}  // namespace
