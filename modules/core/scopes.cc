// SPDX-License-Identifier: Apache-2.0
// Scopes of one thread, which may end in any order and on any thread. Known inside the library only.
module;
#include "kernels/common/abi.h"
#include "kernels/common/tls_model.h"
module kerngrad:scopes;

import :std;
import :stop;

namespace kerngrad::detail {

/// A scope of one thread, in the list of those that the thread is in, innermost first. Scopes may end in any order and
/// on any thread: one that has ended is passed by, and leaves the list when its own thread looks.
template <class T>
struct scope_link {
  T what;
  std::shared_ptr<scope_link> outer;
  std::atomic<bool> ended{false};
};
template <class T>
using scope_list = std::shared_ptr<scope_link<T>>;

/// Takes out of a thread's list what has ended.
template <class T>
void drop_ended(scope_list<T>& list) noexcept {
  for (scope_list<T>* at = &list; *at;) {
    if ((*at)->ended) *at = scope_list<T>((*at)->outer);
    else at = &(*at)->outer;
  }
}
template <class T>
std::shared_ptr<void> enter_scope(scope_list<T>& list, T what) {
  drop_ended(list);
  list = scope_list<T>(new scope_link<T>{std::move(what), list});
  return list;
}
template <class T>
void end_scope(scope_list<T>& list, const std::shared_ptr<void>& scope) noexcept {
  static_cast<scope_link<T>*>(scope.get())->ended = true;
  drop_ended(list);
}

/// True while the thread has a stop_scope. It may still be true after one that another thread ended.
KG_INITIAL_EXEC extern constinit thread_local bool may_stop;
/// check_stop in loops of the library: one load where there is no scope.
inline void poll_stop(std::string_view function) {
  if (may_stop) [[unlikely]]
    check_stop(function);
}

}  // namespace kerngrad::detail
