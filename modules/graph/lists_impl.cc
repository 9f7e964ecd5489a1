// SPDX-License-Identifier: Apache-2.0
// Tensor arrays and lists. An array is one object that its handles share; a list is a value: what changes one that
// others still hold works on a copy.
module;
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>
#include "kernels/common/abi.h"
module kerngrad.graph;

#include "modules/graph/plan.h"

namespace kerngrad::graph::detail {

namespace {

constexpr std::int64_t most_items = std::int64_t{1} << 24;
constexpr std::int64_t item_bytes = 256;  // the handle and the smallest block of a tensor, whose header is not counted

}  // namespace

item_list::item_list(const item_list& other)
    : type(other.type), item(other.item), grows(other.grows), budget_(other.budget_) {
  count(other.size());
  at_ = other.at_;
}

void item_list::count(std::int64_t items) {
  const std::int64_t bytes = items * item_bytes, more = bytes - counted_.bytes();
  if (more > budget_->left)
    fail("list", std::to_string(items) + " items, which take " + std::to_string(more) + " bytes more",
         "at most the " + std::to_string(budget_->left) + " that the lists of a run may still take",
         "raise load_options::most_bytes");
  counted_.resize(bytes);
  budget_->left -= more;
}

void item_list::resize(std::int64_t items) {
  count(items);
  at_.resize(static_cast<std::size_t>(items));
}

namespace {

// A step on lists, with what it reads.
struct items_call {
  const step& s;
  const sequence& of;
  run_frame& with;

  const tensor& x(std::size_t i) const { return tensor_at(s, of, with, i); }
  std::int64_t integer(std::size_t i) const { return integer_at(s, of, with, i); }
  const std::shared_ptr<item_list>& list(std::size_t i) const {
    const run_value& v = value_at(of, with, s.in.at(i));
    if (!v.items) fail_at(*s.at, "a tensor as input " + std::to_string(i), "a tensor array or a list");
    return v.items;
  }
  std::shared_ptr<item_list> new_list() const {
    run_state& run = *with.run;
    if (!run.items) run.items = std::make_shared<item_budget>(run.left.bytes);
    return std::make_shared<item_list>(run.items);
  }
  // A list of one's own: the one that is moved from here, or a copy.
  std::shared_ptr<item_list> own(std::size_t i) const {
    std::shared_ptr<item_list> shared = list(i);
    const bool ends = std::ranges::find(s.last, s.in[i]) != s.last.end();
    if (ends) with.values[static_cast<std::size_t>(s.in[i])].items.reset();
    return ends && shared.use_count() == 1 ? shared : std::make_shared<item_list>(*shared);
  }
  void give(tensor x) const { put(s, with, 0, {std::move(x), {}}); }
  void give(std::shared_ptr<item_list> items) const { put(s, with, 0, {{}, std::move(items)}); }
  // The flow of an array, whose value nobody reads.
  void flow(std::size_t output) const { put(s, with, output, {tensor(1.0f), {}}); }
};

std::int64_t checked_count(const items_call& c, std::int64_t count) {
  if (count < 0 || count > most_items)
    fail_at(*c.s.at, std::to_string(count) + " items", "0 to " + std::to_string(most_items));
  return count;
}

// Sizes and indices, which are far more numbers in memory than in the tensor.
std::vector<std::int64_t> integers_in(const items_call& c, const tensor& x) {
  checked_count(c, x.size());
  std::vector<std::int64_t> all;
  for (const double v : x.to_doubles()) all.push_back(static_cast<std::int64_t>(v));
  return all;
}

// The item at an index; arrays and lists that grow make room.
tensor& item_at(const items_call& c, item_list& list, std::int64_t i) {
  const bool beyond = i >= list.size();
  if (i < 0 || (beyond && (!list.grows || i >= most_items)))
    fail_at(*c.s.at, "item " + std::to_string(i), "one of " + std::to_string(list.size()));
  if (beyond) list.resize(i + 1);
  return list[i];
}

// The shape of items: what the list knows of it, and the reader's input besides.
partial_shape item_shape(const items_call& c, const item_list& list, std::size_t input) {
  if (input >= c.s.in.size() || c.x(input).rank() != 1) return list.item;
  const std::vector<std::int64_t> said = integers_in(c, c.x(input));
  if (!list.item.known_rank) return {true, said};
  partial_shape item = list.item;
  for (std::size_t i = 0; i < std::min(item.dims.size(), said.size()); ++i)
    if (item.dims[i] < 0) item.dims[i] = said[i];
  return item;
}

// Items for reading. One that nobody has written is zeros, if its shape is known or follows from others. All of these
// share their elements.
class read_items {
 public:
  read_items(const items_call& c, const item_list& list, const partial_shape& item) : c_(c), list_(list), item_(item) {}
  tensor at(std::int64_t i) {
    if (i < 0 || i >= list_.size())
      fail_at(*c_.s.at, "item " + std::to_string(i), "one of " + std::to_string(list_.size()));
    if (list_[i].defined()) return list_[i];
    if (!zeros_.defined()) zeros_ = zeros_of(i);
    return zeros_;
  }

 private:
  tensor zeros_of(std::int64_t i) const {
    const auto other = std::ranges::find_if(list_.all(), &tensor::defined);
    if (other != list_.all().end()) return zeros(other->dims(), other->type());
    if (!item_.known_rank || std::ranges::any_of(item_.dims, [](std::int64_t d) { return d < 0; }))
      fail_at(*c_.s.at, "item " + std::to_string(i) + ", which was not written", "one that was");
    return zeros(shape(item_.dims), list_.type);
  }

  const items_call& c_;
  const item_list& list_;
  const partial_shape& item_;
  tensor zeros_;
};

std::shared_ptr<const item_list> items_of(const items_call& c, const item_list& list, const partial_shape& item,
                                          std::span<const std::int64_t> which) {
  std::shared_ptr<item_list> items = c.new_list();
  items->resize(checked_count(c, std::ssize(which)));
  read_items read(c, list, item);
  for (std::size_t i = 0; i < which.size(); ++i) (*items)[static_cast<std::int64_t>(i)] = read.at(which[i]);
  return items;
}

std::vector<std::int64_t> first_integers(std::int64_t count) {
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < count; ++i) all.push_back(i);
  return all;
}

// No items, as one tensor whose axes after the first are these.
tensor nothing_of(const item_list& list, std::span<const std::int64_t> behind) {
  std::vector<std::int64_t> dims{0};
  for (const std::int64_t d : behind) dims.push_back(std::max<std::int64_t>(d, 0));
  return zeros(shape(dims), list.type);
}

tensor stacked(const items_call& c, const item_list& list, const partial_shape& item,
               std::span<const std::int64_t> which) {
  if (which.empty()) return nothing_of(list, item.dims);
  return stack(items_of(c, list, item, which)->all());
}

// All items one after the other, and the length of each.
void give_joined(const items_call& c, const item_list& list, const partial_shape& item) {
  const std::shared_ptr<const item_list> items = items_of(c, list, item, first_integers(list.size()));
  std::vector<std::int32_t> lengths;
  for (const tensor& x : items->all()) lengths.push_back(x.rank() > 0 ? static_cast<std::int32_t>(x.dims()[0]) : 0);
  put(c.s, c.with, 1, {tensor(lengths), {}});
  const std::span<const std::int64_t> dims = item.dims;
  if (items->size() > 0) return c.give(concat(items->all()));
  c.give(nothing_of(list, dims.subspan(std::min<std::size_t>(dims.size(), 1))));
}

// Makes room for all items before the first is written.
void make_room(const items_call& c, item_list& list, std::int64_t count) {
  if (list.grows && count > list.size()) list.resize(checked_count(c, count));
}

// The slices of a tensor along its first axis become items: each at its index, or in order.
void scatter(const items_call& c, item_list& list, const tensor& x, std::span<const std::int64_t> where) {
  if (x.rank() == 0 || x.dims()[0] < static_cast<std::int64_t>(where.size()))
    fail_at(*c.s.at, "a tensor of shape " + to_string(x.dims()), std::to_string(where.size()) + " slices");
  if (!where.empty()) make_room(c, list, std::min(std::ranges::max(where), most_items) + 1);
  for (std::size_t i = 0; i < where.size(); ++i) item_at(c, list, where[i]) = x(static_cast<std::int64_t>(i));
}

// Parts of a tensor of these lengths.
void split(const items_call& c, item_list& list, const tensor& x, std::span<const std::int64_t> lengths) {
  make_room(c, list, std::ssize(lengths));
  std::int64_t first = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (x.rank() == 0 || lengths[i] < 0 || lengths[i] > x.dims()[0] - first)
      fail_at(*c.s.at, "a tensor of shape " + to_string(x.dims()), "as many slices as the lengths add up to");
    item_at(c, list, static_cast<std::int64_t>(i)) = x(range(first, first + lengths[i]));
    first += lengths[i];
  }
}

// A new one, by the node's attributes and its input that says the shape of items.
std::shared_ptr<item_list> make(const items_call& c, std::string_view type_name, std::ptrdiff_t shape_input) {
  std::shared_ptr<item_list> list = c.new_list();
  if (const attribute* type = c.s.at->attr(type_name)) list->type = type->type;
  if (const attribute* dims = c.s.at->attr("element_shape")) list->item = dims->dims;
  if (shape_input >= 0) {
    const tensor& dims = c.x(static_cast<std::size_t>(shape_input));
    if (dims.rank() == 1) list->item = {true, integers_in(c, dims)};
  }
  return list;
}

void run_array(const items_call& c, std::string_view op) {
  if (op == "TensorArrayV3") {
    auto made = make(c, "dtype", -1);
    made->resize(checked_count(c, c.integer(0)));
    const attribute* grows = c.s.at->attr("dynamic_size");
    made->grows = grows && grows->flag;
    c.give(std::move(made));
    return c.flow(1);
  }
  item_list& list = *c.list(0);
  if (op == "TensorArrayWriteV3") return item_at(c, list, c.integer(1)) = c.x(2), c.flow(0);
  if (op == "TensorArrayScatterV3") return scatter(c, list, c.x(2), integers_in(c, c.x(1))), c.flow(0);
  if (op == "TensorArraySplitV3") return split(c, list, c.x(1), integers_in(c, c.x(2))), c.flow(0);
  if (op == "TensorArraySizeV3") return c.give(tensor(static_cast<std::int32_t>(list.size())));
  if (op == "TensorArrayGatherV3") return c.give(stacked(c, list, list.item, integers_in(c, c.x(1))));
  if (op == "TensorArrayReadV3") {
    item_at(c, list, c.integer(1));
    return c.give(read_items(c, list, list.item).at(c.integer(1)));
  }
  if (op == "TensorArrayConcatV3") return give_joined(c, list, list.item);
  list.resize(0);  // TensorArrayCloseV3
}

void make_list(const items_call& c, std::string_view op) {
  const bool from_tensor = op == "TensorListFromTensor", is_split = op == "TensorListSplit";
  const bool scattered = op.starts_with("TensorListScatter");
  auto made = make(c, "element_dtype", from_tensor || is_split ? 1 : scattered ? 2 : 0);
  if (op == "TensorListReserve") made->resize(checked_count(c, c.integer(1)));
  if (op != "TensorListReserve") made->grows = true;
  if (from_tensor) scatter(c, *made, c.x(0), first_integers(c.x(0).rank() ? checked_count(c, c.x(0).dims()[0]) : 0));
  if (is_split) split(c, *made, c.x(0), integers_in(c, c.x(2)));
  if (scattered) {
    if (op == "TensorListScatterV2" && c.integer(3) > 0) made->resize(checked_count(c, c.integer(3)));
    scatter(c, *made, c.x(0), integers_in(c, c.x(1)));
  }
  c.give(std::move(made));
}

void change_list(const items_call& c, std::string_view op) {
  if (op == "TensorListSetItem") {
    const tensor x = c.x(2);
    std::shared_ptr<item_list> mine = c.own(0);
    item_at(c, *mine, c.integer(1)) = x;
    return c.give(std::move(mine));
  }
  std::shared_ptr<item_list> mine = c.own(0);
  if (op == "TensorListPushBack") {
    mine->resize(checked_count(c, mine->size() + 1));
    (*mine)[mine->size() - 1] = c.x(1);
  } else if (op == "TensorListResize") {
    mine->resize(checked_count(c, c.integer(1)));
  } else {  // TensorListPopBack
    if (mine->size() == 0) fail_at(*c.s.at, "an empty list", "one with an item");
    const std::int64_t last = mine->size() - 1;
    put(c.s, c.with, 1, {(*items_of(c, *mine, item_shape(c, *mine, 1), {&last, 1}))[0], {}});
    mine->resize(last);
  }
  c.give(std::move(mine));
}

void read_list(const items_call& c, std::string_view op) {
  const item_list& list = *c.list(0);
  if (op == "TensorListLength") return c.give(tensor(static_cast<std::int32_t>(list.size())));
  const std::int64_t count = list.size();
  if (op == "TensorListStack") return c.give(stacked(c, list, item_shape(c, list, 1), first_integers(count)));
  if (op.starts_with("TensorListConcat")) return give_joined(c, list, item_shape(c, list, 1));
  const partial_shape item = item_shape(c, list, 2);
  if (op == "TensorListGather") return c.give(stacked(c, list, item, integers_in(c, c.x(1))));
  const std::int64_t i = c.integer(1);  // TensorListGetItem
  c.give((*items_of(c, list, item, {&i, 1}))[0]);
}

constexpr std::string_view making[] = {"EmptyTensorList", "TensorListReserve", "TensorListFromTensor",
                                       "TensorListSplit", "TensorListScatter", "TensorListScatterV2"};
constexpr std::string_view changing[] = {"TensorListSetItem", "TensorListPushBack", "TensorListPopBack",
                                         "TensorListResize"};
constexpr std::string_view reading[] = {"TensorListLength",  "TensorListStack",  "TensorListGather",
                                        "TensorListGetItem", "TensorListConcat", "TensorListConcatV2"};
constexpr std::string_view arrays[] = {"TensorArrayV3",      "TensorArrayWriteV3",  "TensorArrayScatterV3",
                                       "TensorArraySplitV3", "TensorArraySizeV3",   "TensorArrayGatherV3",
                                       "TensorArrayReadV3",  "TensorArrayConcatV3", "TensorArrayCloseV3"};

template <class Names>
bool has(const Names& names, std::string_view op) {
  return std::ranges::find(names, op) != std::end(names);
}

}  // namespace

bool is_items_op(std::string_view op) {
  return has(making, op) || has(changing, op) || has(reading, op) || has(arrays, op);
}

void run_items(const step& s, const sequence& of, run_frame& with) {
  const items_call c{s, of, with};
  const std::string_view op = s.at->op;
  if (has(arrays, op)) return run_array(c, op);
  if (has(making, op)) return make_list(c, op);
  if (has(changing, op)) return change_list(c, op);
  read_list(c, op);
}

}  // namespace kerngrad::graph::detail
