// SPDX-License-Identifier: Apache-2.0
// The ranks of a build with kerngrad.mpi.
#include "ranks.h"
import kerngrad.mpi;

namespace demo {

struct ranks::group {
  kg::mpi::communicator all{};
  kg::mpi::data_parallel training;
};

ranks::ranks(kg::optimizer& by, const std::vector<kg::variable>& variables, bool several) : by_(by) {
  if (several) group_.reset(new group{.training = {by, {}, variables}});
}
ranks::~ranks() = default;
int ranks::rank() const { return group_ ? group_->all.rank() : 0; }
int ranks::size() const { return group_ ? group_->all.size() : 1; }

double ranks::minimize(const std::function<kg::tensor()>& loss, std::int64_t examples) {
  return group_ ? group_->training.minimize(loss, examples) : by_.minimize(loss).item<float>();
}

}  // namespace demo
