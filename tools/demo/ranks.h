// SPDX-License-Identifier: Apache-2.0
// Steps of one process, or of several that mpirun started. Include last: this header imports the module.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>
import kerngrad;

namespace demo {

class ranks {
 public:
  /// Takes part in a run of several processes if `several` says so. Throws bad_input in a build without kerngrad.mpi.
  ranks(kg::optimizer& by, const std::vector<kg::variable>& variables, bool several);
  ~ranks();
  int rank() const;
  int size() const;
  /// One step on the batches of all ranks; `loss` gives the mean loss of this rank's examples. Returns that of all.
  double minimize(const std::function<kg::tensor()>& loss, std::int64_t examples);

 private:
  struct group;
  kg::optimizer& by_;
  std::unique_ptr<group> group_;
};

}  // namespace demo
