// SPDX-License-Identifier: Apache-2.0
// Loading and unloading packs.
module;
#include <algorithm>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <vector>
#include "kernels/common/abi.h"
#include "kernels/include/kerngrad/pack.h"
module kerngrad;

import :live;
import :pack_host;

namespace kerngrad {
namespace detail {

static_assert(static_cast<int>(dtype::float32) == KERNGRAD_FLOAT32 && static_cast<int>(dtype::int64) == KERNGRAD_INT64);
static_assert(static_cast<int>(dtype::complex64) == KERNGRAD_COMPLEX64 &&
              static_cast<int>(dtype::complex128) == KERNGRAD_COMPLEX128 &&
              static_cast<int>(dtype::uint32) == KERNGRAD_UINT32 && dtype_count == KERNGRAD_UINT32 + 1);
static_assert(static_cast<int>(attr_kind::boolean) == KERNGRAD_BOOLEAN_ATTR);
static_assert(static_cast<int>(attr_kind::list) == KERNGRAD_LIST_ATTR && attr_kind_count == KERNGRAD_NUMBERS_ATTR + 1);

namespace {

// Under the lock for changes. Never destroyed: so are the registry's snapshots, which hold libraries.
struct pack_list {
  std::vector<std::shared_ptr<loaded_pack>> loaded;
  std::vector<std::weak_ptr<const pack_library>> mapped;  // with those that are unloaded but still held
};
union never_destroyed {
  pack_list list{};
  ~never_destroyed() {}
};
constinit never_destroyed all_packs;
pack_list& packs() { return all_packs.list; }

// The dynamic linker finds a library that is mapped by its path, whatever the file there is now.
void refuse_stale(const std::string& path, const file_identity& file) {
  for (const auto& known : packs().mapped) {
    const std::shared_ptr<const pack_library> library = known.lock();
    if (library && (library->path() == path || library->file().same_file(file)) && !(library->file() == file))
      fail("load_pack", "a file that has changed since it was loaded as " + library->path() + ", which is still in use",
           "the file as it was", "let go of what holds the old code, or give the new file another path");
  }
}

void refuse_loaded(const std::string& path, const file_identity& file, std::string_view name) {
  for (const std::shared_ptr<loaded_pack>& p : packs().loaded) {
    if (p->path == path || p->library->file().same_file(file))
      fail("load_pack", "a file that is loaded as the pack " + p->name + " (" + p->path + ")", "one that is not",
           "unload it first");
    if (p->name == name)
      fail("load_pack", "a pack with the name of the pack " + p->name + " (" + p->path + ")", "a name that is free",
           "unload that one first");
  }
}

std::string real_path(const std::string& path) {
  const std::unique_ptr<char, decltype(&std::free)> real(realpath(path.c_str(), nullptr), &std::free);
  return real ? real.get() : path;  // what is wrong with it will be said when it is opened
}

std::shared_ptr<loaded_pack> load(const std::string& path) {
  const file_identity file = check_pack_file(path);
  {
    const changes_lock lock;
    release_retired();  // a thread's last look at an old state is no reason to call a file stale
    refuse_loaded(path, file, {});
    refuse_stale(path, file);
  }
  const auto library = std::make_shared<const pack_library>(path, file);
  const kerngrad_pack_info& info = library->info();
  auto made = std::make_shared<loaded_pack>();
  made->name = pack_text(info.name, "the name of a pack");
  made->version = pack_text(info.version, "the version of a pack", 0);
  made->path = path;
  made->library = library;
  made->mapped = library;
  transaction changes;
  run_pack_init(info, "pack " + made->name + " (" + path + ")", library, changes);
  const changes_lock lock;
  refuse_loaded(path, file, made->name);
  std::erase_if(packs().mapped, [](const auto& known) { return known.expired(); });
  packs().mapped.emplace_back(library);
  packs().loaded.push_back(made);
  try {
    static_cast<void>(changes.publish());  // a pack replaces nothing, so no hook of its own kernels can have thrown
  } catch (...) {
    std::erase(packs().loaded, made);
    throw;
  }
  return made;
}

// All names in the registry whose code is in the library.
void add_removals(const std::shared_ptr<const pack_library>& library, transaction& changes) {
  std::vector<kernel_ptr> kernels;
  std::vector<gradient_ptr> gradients;
  {
    const pinned now;
    for (const auto& record : now->records()) {
      for (const kernel_ptr& k : record->kernels)
        if (k->keeper == library) kernels.push_back(k);
      if (record->gradient && record->gradient->keeper == library) gradients.push_back(record->gradient);
    }
  }
  for (const kernel_ptr& k : kernels) changes.remove_kernel(k->config.name, k->config.backend, k.get());
  for (const gradient_ptr& g : gradients) changes.remove_gradient(g->config.name, g.get());
}

}  // namespace
}  // namespace detail

using namespace detail;

const std::string& pack::name() const { return state_->name; }
const std::string& pack::version() const { return state_->version; }
const std::string& pack::path() const { return state_->path; }

bool pack::loaded() const {
  const changes_lock lock;
  return state_->library != nullptr;
}

bool pack::mapped() const {
  release_retired();
  return !state_->mapped.expired();
}

void pack::unload() {
  std::shared_ptr<const pack_library> library;
  std::exception_ptr thrown;
  {
    const changes_lock lock;
    if (!state_->library)
      fail("unload", "the pack " + state_->name + " (" + state_->path + "), which is not loaded", "one that is");
    transaction changes;
    add_removals(state_->library, changes);
    thrown = changes.publish();
    library = std::exchange(state_->library, nullptr);
    std::erase(packs().loaded, state_);
  }
  release_retired();
  if (thrown) std::rethrow_exception(thrown);
}

pack load_pack(std::string_view given) {
  const std::string path(given);
  const std::string said = "the pack " + path + ": ";
  if (path.find('/') == std::string::npos)
    fail("load_pack", "the name \"" + path + "\" without a directory", "a path, for nothing is searched",
         "write ./" + path + " for a file in the working directory");
  if (path.find('\0') != std::string::npos) fail("load_pack", "a path with a zero byte", "a path");
  try {
    return pack(load(real_path(path)));
  } catch (const error& e) {
    const std::string from = e.op() == "load_pack" || e.op() == "pack" ? "" : "[" + e.op() + "] ";
    fail("load_pack", said + from + e.got(), e.wanted(), e.advice());
  }
}

pack load_pack(std::string_view directory, std::string_view name) {
  if (directory.empty() || name.empty() || name.find('/') != std::string_view::npos)
    fail("load_pack", "the directory \"" + std::string(directory) + "\" and the name \"" + std::string(name) + "\"",
         "a directory, and a name without one");
  return load_pack(std::string(directory) + "/" + std::string(name) + ".so");
}

std::vector<pack> loaded_packs() {
  const changes_lock lock;
  std::vector<pack> list;
  for (const std::shared_ptr<loaded_pack>& p : packs().loaded) list.push_back(pack(p));
  return list;
}

}  // namespace kerngrad
