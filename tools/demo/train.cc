// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <numeric>
#include <span>
#include <string>
#include <utility>

#include "failure.h"
#include "safetensors.h"
#include "train.h"

namespace demo {

dataset::dataset(const image_set& set) {
  const std::span<const std::uint8_t> pixels(set.pixels), classes(set.labels);
  images = kg::cast(kg::tensor(pixels, {set.count(), image_pixels}), kg::dtype::float32) / 255;
  labels = kg::one_hot(kg::cast(kg::tensor(classes, {set.count()}), kg::dtype::int32), class_count);
  kg::release_cached_memory();  // the steps in between were as large as the whole set
}

trainer::trainer(const network& net, const dataset& data, int batch, std::uint64_t seed, bool several_ranks)
    : net_(net),
      data_(data),
      batch_(batch),
      seed_(seed),
      order_(static_cast<std::size_t>(data.count())),
      parallel_(optimizer_, net.variables(), several_ranks) {}

// Fisher and Yates, written out: the standard library's shuffle may differ from one implementation to the next.
void trainer::shuffle(int epoch) {
  std::iota(order_.begin(), order_.end(), 0);
  const std::uint64_t stream = mixed(seed_, static_cast<std::uint64_t>(1000 + epoch));
  for (std::size_t left = order_.size(); left > 1; --left) {
    const std::uint64_t draw = mixed(stream, left) >> 32;
    std::swap(order_[left - 1], order_[(draw * left) >> 32]);
  }
}

double trainer::run_epoch(int epoch, const step_hook& after_step) {
  shuffle(epoch);
  if (at_.epoch != epoch) at_ = {.epoch = epoch};
  const std::span<const std::int32_t> order(order_);
  const std::int64_t steps = data_.count() / batch_;
  // Each rank has a part of the batch.
  const std::int64_t begin = batch_ * parallel_.rank() / parallel_.size();
  const std::int64_t size = batch_ * (parallel_.rank() + 1) / parallel_.size() - begin;
  while (at_.step < steps) {
    const kg::tensor rows(
        order.subspan(static_cast<std::size_t>(at_.step * batch_ + begin), static_cast<std::size_t>(size)), {size});
    const kg::tensor images = kg::gather(data_.images, rows), labels = kg::gather(data_.labels, rows);
    const double value =
        parallel_.minimize([&] { return kg::mean(kg::softmax_cross_entropy(net_(images), labels)); }, size);
    at_.sum += value;
    ++at_.step;
    if (!checkpoint_.empty() && optimizer_.steps() % every_ == 0) write_checkpoint();
    after_step(at_.step * batch_, value, at_.sum / static_cast<double>(at_.step));
  }
  return at_.sum / static_cast<double>(steps);
}

namespace {

// A file of weights holds float32 alone. Four of them hold 64 bits, 16 each.
weight words(std::uint64_t bits) {
  weight w{{4}, {}};
  for (int i = 0; i < 4; ++i) w.values.push_back(static_cast<float>(bits >> (16 * i) & 0xffff));
  return w;
}
std::uint64_t bits_of(const weight_map& all, const std::string& name, const std::string& path) {
  const auto at = all.find(name);
  if (at == all.end() || at->second.values.size() != 4) throw bad_input(path + ": is no checkpoint: no " + name);
  std::uint64_t bits = 0;
  for (int i = 0; i < 4; ++i)
    bits |= static_cast<std::uint64_t>(at->second.values[static_cast<std::size_t>(i)]) << (16 * i);
  return bits;
}
const std::string state_prefix = "state/";

}  // namespace

void trainer::write_checkpoint() const {
  if (parallel_.rank() != 0) return;
  weight_map all = net_.weights();
  for (const auto& [name, value] : optimizer_.state()) {
    const std::span<const std::int64_t> dims = value.dims().dims();
    if (value.type() == kg::dtype::int64)
      all[state_prefix + name] = words(static_cast<std::uint64_t>(value.item<std::int64_t>()));
    else
      all[state_prefix + name] = {{dims.begin(), dims.end()}, {value.data<float>().begin(), value.data<float>().end()}};
  }
  all["position/epoch"] = words(static_cast<std::uint64_t>(at_.epoch));
  all["position/step"] = words(static_cast<std::uint64_t>(at_.step));
  all["position/sum"] = words(std::bit_cast<std::uint64_t>(at_.sum));
  all["position/seed"] = words(seed_);
  all["position/batch"] = words(static_cast<std::uint64_t>(batch_));
  save_safetensors(checkpoint_, all);
}

int trainer::resume(const std::string& path) {
  const weight_map all = load_safetensors(path);
  if (bits_of(all, "position/seed", path) != seed_ ||
      bits_of(all, "position/batch", path) != static_cast<std::uint64_t>(batch_))
    throw bad_input(path + ": is of a training with another --seed or --batch");
  weight_map weights;
  kg::named_tensors state;
  for (const auto& [name, w] : all) {
    if (name.starts_with("position/")) continue;
    if (!name.starts_with(state_prefix)) weights[name] = w;
    else if (name == state_prefix + "steps")
      state.emplace_back("steps", kg::tensor(static_cast<std::int64_t>(bits_of(all, name, path))));
    else state.emplace_back(name.substr(state_prefix.size()), kg::tensor(w.values, kg::shape(w.dims)));
  }
  net_.take(weights, path);
  optimizer_.set_state(state, net_.variables());
  at_ = {.epoch = static_cast<int>(bits_of(all, "position/epoch", path)),
         .step = static_cast<std::int64_t>(bits_of(all, "position/step", path)),
         .sum = std::bit_cast<double>(bits_of(all, "position/sum", path))};
  return at_.epoch;
}

predictions predict(const network& net, const dataset& data) {
  constexpr std::int64_t batch = 250;  // few enough images for their activations to stay in the cache
  predictions all;
  for (std::int64_t first = 0; first < data.count(); first += batch) {
    const std::int64_t size = std::min(batch, data.count() - first);
    const kg::tensor scores = net(kg::slice(data.images, {first, 0}, {size, image_pixels}));
    const kg::tensor best = kg::argmax(scores, 1);
    for (const std::int32_t index : best.data<std::int32_t>()) all.classes.push_back(static_cast<std::uint8_t>(index));
    const kg::tensor logs = kg::log_softmax(scores);
    all.logs.insert(all.logs.end(), logs.data<float>().begin(), logs.data<float>().end());
  }
  return all;
}

}  // namespace demo
