// SPDX-License-Identifier: Apache-2.0
// Training and evaluation. Include last: this header imports the module.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "idx.h"
#include "network.h"
#include "ranks.h"
#include "scores.h"
import kerngrad;

namespace demo {

/// Images and labels as the network takes them, converted once.
struct dataset {
  kg::tensor images;  ///< float32 [n, 784], from 0 to 1
  kg::tensor labels;  ///< float32 [n, 10], one 1 in each row
  explicit dataset(const image_set& set);
  std::int64_t count() const { return images.dims()[0]; }
};

/// Called after each step with the number of images seen, its loss and the mean loss so far.
using step_hook = std::function<void(std::int64_t seen, double loss, double mean)>;

/// The place of a training within its epochs.
struct position {
  int epoch = 1;
  std::int64_t step = 0;  ///< of this epoch, how many are done
  double sum = 0;         ///< of their losses
};

/// Adam on the mean softmax cross entropy of shuffled batches. Random numbers depend on the seed and the epoch only.
class trainer {
 public:
  trainer(const network& net, const dataset& data, int batch, std::uint64_t seed, bool several_ranks);
  /// Images in an epoch: whole batches only.
  std::int64_t images_per_epoch() const { return data_.count() / batch_ * batch_; }
  /// One pass, or what is left of it after `resume`; returns the mean loss.
  double run_epoch(int epoch, const step_hook& after_step);
  /// Writes a checkpoint every `steps` steps, on rank 0: as a whole or not at all.
  void write_checkpoints(const std::string& path, int steps) { checkpoint_ = path, every_ = steps; }
  /// Continues where a checkpoint was written; what follows is bitwise what would have followed there. Returns the
  /// epoch. Throws bad_input.
  int resume(const std::string& path);
  int rank() const { return parallel_.rank(); }

 private:
  void shuffle(int epoch);
  void write_checkpoint() const;

  const network& net_;
  const dataset& data_;
  int batch_;
  std::uint64_t seed_;
  kg::adam optimizer_{1e-3};
  std::vector<std::int32_t> order_;
  ranks parallel_;
  position at_;
  std::string checkpoint_{};
  int every_ = 0;
};

/// Predictions of the network for each image.
predictions predict(const network& net, const dataset& data);

}  // namespace demo
