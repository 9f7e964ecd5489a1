// SPDX-License-Identifier: Apache-2.0
// Elements that are not in a tensor's own block: in the storages of backends, with where a tensor has copies and moving
// them, or borrowed by the program. A copy once made stays as long as the tensor does: elements never change.
module;
#include <atomic>
#include <memory>
#include "kernels/common/abi.h"
module kerngrad;

import :live;
import :locks;
import :mirrors;

namespace kerngrad {

storage::~storage() = default;

namespace detail {

// A copy in a storage; a buffer on the host that holds what was fetched, without `where`; or neither, for elements that
// are borrowed: what keeps them alive, which may be nothing.
struct mirror {
  std::shared_ptr<storage> where;
  void* block = nullptr;
  mirror* next = nullptr;
  std::shared_ptr<const void> lender{};
};

namespace {

// List of the copies of its elements. A part of a tensor has copies of its own: those of the whole begin
// elsewhere.
const buffer* root_of(const buffer* b) { return b->base && !is_part(b) ? b->base : b; }
std::size_t bytes_of(const buffer* b) { return static_cast<std::size_t>(b->dims.size()) * size_of(b->type); }

const mirror* mirror_in(const buffer* root, const storage* where) {
  for (const mirror* m = root->mirrors.load(std::memory_order_acquire); m; m = m->next)
    if (m->where.get() == where) return m;
  return nullptr;
}

void add_mirror(buffer* root, std::shared_ptr<storage> where, void* block) {
  mirror* m = new mirror{std::move(where), block, root->mirrors.load(std::memory_order_relaxed)};
  root->mirrors.store(m, std::memory_order_release);
}

// Gives a buffer whose elements were away their address on the host; under the lock `moving`.
void set_data(buffer* b, std::byte* data) {
  if (b->data) return;
  __atomic_store_n(&b->data, data, __ATOMIC_RELEASE);
  note_home();
}

}  // namespace

void drop_mirrors(mirror* copies) noexcept {
  while (copies) {
    mirror* next = copies->next;
    if (copies->where) copies->where->release(copies->block);
    else if (copies->block) release(static_cast<buffer*>(copies->block));
    delete copies;
    copies = next;
  }
}

bool is_lent(const mirror* copies) noexcept {
  for (const mirror* m = copies; m; m = m->next)
    if (!m->where && !m->block) return true;
  return false;
}

tensor lent(const void* elements, dtype type, const shape& dims, std::shared_ptr<const void> keep_alive) {
  auto from = std::make_unique<mirror>();
  from->lender = std::move(keep_alive);
  buffer* b = allocate_lent(type, dims);
  // Without elements the address may be null, which would say that they are in a storage.
  if (dims.size() > 0) b->data = const_cast<std::byte*>(static_cast<const std::byte*>(elements));
  b->mirrors.store(from.release(), std::memory_order_release);
  return tensor_access::adopt(b);
}

std::byte* fetch(const buffer* b) {
  buffer* root = const_cast<buffer*>(root_of(b));
  const library_lock lock(lock_of::moving);  // the second of two threads finds what the first has made
  if (!root->data) {
    const mirror* from = root->mirrors.load(std::memory_order_acquire);
    buffer* copy = allocate(root->type, root->dims);
    try {
      from->where->read(from->block, copy->data, bytes_of(root));
      add_mirror(root, nullptr, copy);
    } catch (...) {
      release(copy);
      throw;
    }
    set_data(root, copy->data);
  }
  set_data(const_cast<buffer*>(b), root->data);
  return root->data;
}

const void* block_in(const tensor& x, const std::shared_ptr<storage>& where) {
  buffer* root = const_cast<buffer*>(root_of(tensor_access::buffer(x)));
  if (root->type == dtype::text)
    fail("storage", "a tensor of dtype text", "a dtype of numbers", "keep texts on backends that compute on the host");
  if (const mirror* m = mirror_in(root, where.get())) return m->block;
  const std::byte* from = host_data(root);
  const library_lock lock(lock_of::moving);
  if (const mirror* m = mirror_in(root, where.get())) return m->block;
  void* block = where->allocate(bytes_of(root));
  try {
    where->write(block, from, bytes_of(root));
    add_mirror(root, where, block);
  } catch (...) {
    where->release(block);
    throw;
  }
  return block;
}

tensor allocate_in(const std::shared_ptr<storage>& where, dtype type, const shape& dims, void*& block) {
  buffer* b = allocate_header(type, dims);
  tensor x = tensor_access::adopt(b);
  block = where->allocate(bytes_of(b));
  try {
    add_mirror(b, where, block);
  } catch (...) {
    where->release(block);
    throw;
  }
  return x;
}

}  // namespace detail
}  // namespace kerngrad
