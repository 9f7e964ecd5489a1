// SPDX-License-Identifier: Apache-2.0
// Elements in the storages of backends: where a tensor has copies, and moving them. A copy once made stays as long as
// the tensor does: elements never change.
module;
#include <atomic>
#include <memory>
#include "kernels/common/abi.h"
module kerngrad;

import :locks;
import :mirrors;

namespace kerngrad {

storage::~storage() = default;

namespace detail {

struct mirror {
  std::shared_ptr<storage> where;  // null: `block` is a buffer on the host that holds what was fetched
  void* block = nullptr;
  mirror* next = nullptr;
};

namespace {

// Where the copies of its elements are noted. A part of a tensor has copies of its own: those of the whole begin
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

void set_data(buffer* b, std::byte* data) { __atomic_store_n(&b->data, data, __ATOMIC_RELEASE); }

}  // namespace

void drop_mirrors(mirror* copies) noexcept {
  while (copies) {
    mirror* next = copies->next;
    if (copies->where) copies->where->release(copies->block);
    else release(static_cast<buffer*>(copies->block));
    delete copies;
    copies = next;
  }
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
  if (b != root) set_data(const_cast<buffer*>(b), root->data);
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
