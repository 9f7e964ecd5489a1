// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "train.h"

namespace demo {

dataset::dataset(const image_set& set) {
  const std::span<const std::uint8_t> pixels(set.pixels), classes(set.labels);
  images = kg::cast(kg::tensor(pixels, {set.count(), image_pixels}), kg::dtype::float32) / 255;
  labels = kg::one_hot(kg::cast(kg::tensor(classes, {set.count()}), kg::dtype::int32), class_count);
  kg::release_cached_memory();  // the steps in between were as large as the whole set
}

trainer::trainer(const network& net, const dataset& data, int batch, std::uint64_t seed)
    : net_(net), data_(data), batch_(batch), seed_(seed), order_(static_cast<std::size_t>(data.count())) {}

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
  const std::span<const std::int32_t> order(order_);
  const std::int64_t steps = data_.count() / batch_;
  double sum = 0;
  for (std::int64_t step = 0; step < steps; ++step) {
    const auto size = static_cast<std::size_t>(batch_);
    const kg::tensor rows(order.subspan(static_cast<std::size_t>(step) * size, size), {batch_});
    const kg::tensor images = kg::gather(data_.images, rows), labels = kg::gather(data_.labels, rows);
    const kg::tensor loss =
        optimizer_.minimize([&] { return kg::mean(kg::softmax_cross_entropy(net_(images), labels)); });
    const double value = loss.item<float>();
    sum += value;
    after_step((step + 1) * batch_, value, sum / static_cast<double>(step + 1));
  }
  return sum / static_cast<double>(steps);
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
