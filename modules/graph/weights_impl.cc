// SPDX-License-Identifier: Apache-2.0
// Weights: groups of files whose bytes are one sequence, cut into tensors in the order of the manifest.
module;
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>
#include "kernels/common/abi.h"
#include "kernels/common/sizes.h"
#include "modules/io/json.h"
module kerngrad.graph;

import kerngrad.io;

#include "modules/graph/files.h"

namespace kerngrad::graph::detail {

namespace {

// How elements lie in a file.
enum class form : std::uint8_t { plain, half, bytes, words };

// A weight of the manifest.
struct weight_entry {
  std::string name;
  shape dims;
  dtype type = dtype::float32;
  form stored = form::plain;
  double scale = 1, min = 0;  // of bytes and words
};

struct stored_dtype {
  std::string_view name;
  dtype type;
  form stored;
};
constexpr stored_dtype stored_dtypes[] = {
    {"float32", dtype::float32, form::plain},     {"int32", dtype::int32, form::plain},
    {"bool", dtype::boolean, form::plain},        {"string", dtype::text, form::plain},
    {"complex64", dtype::complex64, form::plain}, {"float16", dtype::float32, form::half},
    {"uint8", dtype::int32, form::bytes}};

// ------------------------------------------------------------------------------------------ bytes of a group

// The bytes of shards, one after the other.
class shard_bytes {
 public:
  shard_bytes(const origin& file, std::string what) : file_(file), what_(std::move(what)) {}
  void add(io::mapped_bytes shard) {
    left_ += shard.bytes.size();
    shards_.push_back(std::move(shard));
  }
  std::uint64_t left() const { return left_; }
  const origin& file() const { return file_; }
  // The next bytes where they lie, if one file has them all at an address that suits, and what keeps them there; they
  // are taken. Nothing else: {}.
  io::mapped_bytes lend(std::size_t count, std::size_t alignment) {
    while (shard_ < shards_.size() && at_ == shards_[shard_].bytes.size()) ++shard_, at_ = 0;
    if (shard_ == shards_.size()) return {};
    const std::span<const std::byte> now = shards_[shard_].bytes.subspan(at_);
    if (count == 0 || count > now.size() || reinterpret_cast<std::uintptr_t>(now.data()) % alignment != 0) return {};
    left_ -= count, at_ += count;
    return {now.first(count), shards_[shard_].owner};
  }
  void copy(std::span<std::byte> to, std::string_view of) {
    need(to.size(), of);
    left_ -= to.size();
    while (!to.empty()) {
      const std::span<const std::byte> now = shards_[shard_].bytes.subspan(at_);
      const std::size_t count = std::min(now.size(), to.size());
      if (count > 0) std::memcpy(to.data(), now.data(), count);
      to = to.subspan(count);
      at_ += count;
      if (!to.empty()) ++shard_, at_ = 0;
    }
  }
  void need(std::uint64_t count, std::string_view of) const {
    if (count > left_)
      file_.refuse("has " + std::to_string(left_) + " bytes left in " + what_ + " for weight " + in_quotes(of),
                   std::to_string(count), "a file may have been cut short");
  }
  void done() const {
    if (left_ > 0)
      file_.refuse("has " + std::to_string(left_) + " bytes in " + what_ + " behind its weights",
                   "files as long as the weights that it lists");
  }

 private:
  const origin& file_;
  std::string what_;
  std::vector<io::mapped_bytes> shards_;
  std::size_t shard_ = 0, at_ = 0;
  std::uint64_t left_ = 0;
};

template <class T>
tensor copied(shard_bytes& from, const weight_entry& w) {
  return tensor::build<T>(w.dims, [&](std::span<T> to) {
    from.copy(std::as_writable_bytes(to), w.name);
    if constexpr (std::is_same_v<T, bool>)
      for (std::byte& b : std::as_writable_bytes(to)) b = std::byte{b != std::byte{0}};
  });
}

// The elements where the file is mapped, copied only where they do not lie as a tensor's do.
template <class T>
tensor lent(shard_bytes& from, const weight_entry& w) {
  const io::mapped_bytes at = from.lend(static_cast<std::size_t>(w.dims.size()) * sizeof(T), alignof(T));
  if (at.bytes.empty()) return copied<T>(from, w);
  return borrow(reinterpret_cast<const T*>(at.bytes.data()), w.dims, at.owner);
}

// The value of a quantised number, as TensorFlow.js computes it.
template <class T>
T step_at(double stored, double scale, double min) {
  const double value = stored * scale + min;
  if constexpr (std::is_same_v<T, float>) return static_cast<float>(value);
  else return static_cast<T>(std::clamp(std::floor(value + 0.5), double{INT32_MIN}, double{INT32_MAX}));
}

// Decodes bytes by a table of all values.
template <class T>
tensor steps_of(const weight& w) {
  T values[256];
  for (int i = 0; i < 256; ++i) values[i] = step_at<T>(i, w.scale, w.min);
  return tensor::build<T>(w.stored.dims(), [&](std::span<T> to) {
    std::ranges::transform(w.stored.data<std::uint8_t>(), to.begin(), [&](std::uint8_t at) { return values[at]; });
  });
}

// Decodes numbers of two bytes, for which there is no dtype.
template <class T>
tensor words_in(shard_bytes& from, const weight_entry& w) {
  constexpr std::size_t block = 4096;  // in the cache
  return tensor::build<T>(w.dims, [&](std::span<T> to) {
    std::uint16_t stored[block];
    while (!to.empty()) {
      const std::size_t count = std::min(block, to.size());
      from.copy(std::as_writable_bytes(std::span(stored).first(count)), w.name);
      for (std::size_t i = 0; i < count; ++i) to[i] = step_at<T>(stored[i], w.scale, w.min);
      to = to.subspan(count);
    }
  });
}

// Each text is four bytes of length, the lowest first, and its bytes.
tensor texts_in(shard_bytes& from, const weight_entry& w) {
  from.need(kernels::saturated_product(w.dims.size(), 4), w.name);
  std::vector<std::string> texts(static_cast<std::size_t>(w.dims.size()));
  for (std::string& text : texts) {
    std::uint32_t length = 0;
    from.copy(std::as_writable_bytes(std::span(&length, 1)), w.name);
    from.need(length, w.name);
    text.resize(length);
    from.copy(std::as_writable_bytes(std::span(text)), w.name);
  }
  return tensor_of(from.file(), texts, w.dims, "weight " + in_quotes(w.name));
}

tensor plain_in(shard_bytes& from, const weight_entry& w) {
  switch (w.type) {
    case dtype::text: return texts_in(from, w);
    case dtype::boolean: return copied<bool>(from, w);
    case dtype::int32: return lent<std::int32_t>(from, w);
    case dtype::complex64: return lent<complex64>(from, w);
    default: return lent<float>(from, w);
  }
}

// Makes a tensor of the bytes of a file, which nothing else does. The first read widens half precision and bytes.
weight read_weight(shard_bytes& from, const weight_entry& w) {
  switch (w.stored) {
    case form::half: return {.stored = lent<float16>(from, w), .read_as = w.type};
    case form::bytes: return {.stored = lent<std::uint8_t>(from, w), .read_as = w.type, .scale = w.scale, .min = w.min};
    case form::words:
      return {.stored = w.type == dtype::int32 ? words_in<std::int32_t>(from, w) : words_in<float>(from, w)};
    case form::plain: break;
  }
  return {.stored = plain_in(from, w)};
}

std::int64_t stored_size(const weight_entry& w) {
  if (w.stored == form::plain) return w.type == dtype::text ? 4 : static_cast<std::int64_t>(size_of(w.type));
  return w.stored == form::bytes ? 1 : 2;
}

// ------------------------------------------------------------------------------------------ the manifest

double finite_in(const origin& file, const json& object, const char* key, std::string_view what) {
  const json* value = member(object, key);
  if (!value || !value->is_number() || !std::isfinite(value->number()))
    file.refuse("has " + std::string(what) + " quantised without a number \"" + key + "\"", "\"scale\" and \"min\"");
  return value->number();
}

void read_quantization(const origin& file, const json& how, std::string_view what, weight_entry& w) {
  const std::string name = text_in(file, how, "dtype", what);
  if (name == "float16" && w.type == dtype::float32) {
    w.stored = form::half;
    return;
  }
  if ((name != "uint8" && name != "uint16") || (w.type != dtype::float32 && w.type != dtype::int32))
    file.refuse("has " + std::string(what) + " quantised to " + in_quotes(name),
                "float32 as float16, uint8 or uint16, or int32 as uint8 or uint16");
  w.stored = name == "uint8" ? form::bytes : form::words;
  w.scale = finite_in(file, how, "scale", what);
  w.min = finite_in(file, how, "min", what);
}

weight_entry entry_in(const origin& file, const json& entry, std::int64_t& bytes_left) {
  weight_entry w;
  w.name = text_in(file, entry, "name", "a weight");
  const std::string what = "weight " + in_quotes(w.name), type = text_in(file, entry, "dtype", what);
  const auto* known = std::ranges::find(stored_dtypes, type, &stored_dtype::name);
  if (known == std::end(stored_dtypes))
    file.refuse("has " + what + " of dtype " + in_quotes(type),
                "float32, float16, int32, uint8, bool, complex64 or string");
  w.type = known->type, w.stored = known->stored;
  if (const json* how = member(entry, "quantization")) read_quantization(file, *how, what, w);
  if (!member(entry, "shape")) file.refuse("has " + what + " without a shape", "a list of sizes");
  const std::string shape_of = "the shape of " + what;
  std::vector<std::int64_t> dims;
  for (const json& size : list_in(file, entry, "shape", what)) dims.push_back(integer_in(file, size, shape_of));
  w.dims = allowed_shape(file, dims, w.type, what, bytes_left);
  return w;
}

// The path of a file next to the model. If the model's name is a link, the file may be next to what it leads to,
// where save writes it.
std::string beside(const origin& file, const std::string& name) {
  const std::size_t slash = file.name.rfind('/');
  const std::string here = (slash == std::string::npos ? "" : file.name.substr(0, slash + 1)) + name;
  std::error_code failed;
  if (!std::filesystem::is_symlink(file.name, failed) || std::filesystem::exists(here, failed)) return here;
  const std::filesystem::path real = std::filesystem::canonical(file.name, failed);
  return failed ? here : (real.parent_path() / name).string();
}

std::string path_in(const origin& file, const json& value) {
  if (!value.is_string()) file.refuse("has a path of a weight file that is no text", "names of files");
  const std::string path(value.text());
  bool leaves = path.empty() || path.starts_with('/') || path.find('\0') != std::string::npos;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    leaves = leaves || std::string_view(path).substr(begin, end - begin) == "..";
    begin = end + 1;
  }
  if (leaves) file.refuse("names the weight file " + in_quotes(path), "one in the model's folder");
  return beside(file, path);
}

// The nodes that a weight's name means: one of the graph, and those of functions. In the order of their names: Clang 21
// rejects libstdc++ 16's maps by hash here, where it sees another module's using-declaration of std::operator==.
struct meant_node {
  std::string_view name;
  function_def* of;
  std::int32_t at;
  std::size_t number;  // in the order of reading
  bool given = false;  // of the first of a name: whether a weight had it
};
using nodes_by_name = std::vector<meant_node>;

nodes_by_name named_nodes(graph_def& graph) {
  nodes_by_name all;
  const auto add = [&](function_def& f) {
    for (std::size_t i = 0; i < f.nodes.size(); ++i)
      all.push_back({f.nodes[i].name, &f, static_cast<std::int32_t>(i), all.size()});
  };
  add(graph.main);
  for (function_def& f : graph.library) add(f);
  // std::ranges::stable_sort takes its buffer by a function that libstdc++ 12 warns of.
  std::ranges::sort(all, [](const meant_node& a, const meant_node& b) {
    return a.name != b.name ? a.name < b.name : a.number < b.number;
  });
  return all;
}

std::span<meant_node> nodes_named(nodes_by_name& nodes, std::string_view name) {
  return std::ranges::equal_range(nodes, name, {}, &meant_node::name);
}

void give(function_def& f, std::int32_t at, const tensor& x) {
  std::vector<attribute>& attrs = f.nodes[static_cast<std::size_t>(at)].attrs;
  const auto found = std::ranges::find(attrs, "value", &attribute::name);
  attribute& value = found == attrs.end() ? attrs.emplace_back() : *found;
  value.name = "value", value.holds = attribute::kind::tensor, value.type = x.type(), value.value = x;
  value.dims = {true, {x.dims().begin(), x.dims().end()}};
}

void read_group(const origin& file, const json& group, graph_def& graph, nodes_by_name& nodes, std::int64_t& bytes_left,
                std::size_t number) {
  const std::string what = "group " + std::to_string(number) + " of its weights";
  const json& list = list_in(file, group, "weights", what);
  std::vector<weight_entry> entries;
  std::int64_t needed = 0;
  for (const json& entry : list) {
    entries.push_back(entry_in(file, entry, bytes_left));
    const weight_entry& w = entries.back();
    needed = kernels::saturated_sum(needed, kernels::saturated_product(w.dims.size(), stored_size(w)));
    const std::span<meant_node> meant = nodes_named(nodes, w.name);
    if (meant.empty()) file.refuse("has weight " + in_quotes(w.name) + " of no node", "weights of nodes that it has");
    if (std::exchange(meant.front().given, true))
      file.refuse("has weight " + in_quotes(w.name) + " twice", "weights once");
  }
  shard_bytes bytes(file, what);
  for (const json& path : list_in(file, group, "paths", what)) bytes.add(io::map_file(path_in(file, path), "load"));
  if (static_cast<std::uint64_t>(needed) > bytes.left())
    file.refuse("has " + std::to_string(bytes.left()) + " bytes in the files of " + what,
                std::to_string(needed) + " or more for the weights that it lists", "a file may have been cut short");
  for (const weight_entry& entry : entries) {
    const weight w = read_weight(bytes, entry);
    tensor value;  // of nodes of functions, in which constants are tensors
    for (const meant_node& node : nodes_named(nodes, entry.name)) {
      if (node.of == &graph.main) {
        graph.weights.push_back(w);
        graph.weights.back().at = node.at;
        continue;
      }
      if (!value.defined()) value = value_of(w);
      give(*node.of, node.at, value);
    }
  }
  bytes.done();
}

// A constant whose elements are nowhere.
void refuse_missing(const origin& file, const function_def& f, std::span<const weight> weights) {
  std::vector<bool> there(f.nodes.size(), false);
  for (const weight& w : weights) there[static_cast<std::size_t>(w.at)] = true;
  for (std::size_t i = 0; i < f.nodes.size(); ++i) {
    const node& n = f.nodes[i];
    if (n.op != "Const" || there[i]) continue;
    const attribute* value = n.attr("value");
    if (!value || !value->value.defined())
      file.refuse("has node " + in_quotes(n.name) + ", a constant without elements", "a weight of its name");
  }
}

}  // namespace

tensor value_of(const weight& w) {
  if (!w.read_as) return w.stored;
  if (w.stored.type() == dtype::float16) return cast(w.stored, *w.read_as);
  return *w.read_as == dtype::int32 ? steps_of<std::int32_t>(w) : steps_of<float>(w);
}

tensor tensor_of(const origin& file, std::span<const std::string> texts, const shape& dims, std::string_view what) {
  try {
    return tensor(texts, dims);
  } catch (const error& e) {
    file.refuse("has " + e.got() + " in " + std::string(what), e.wanted());
  }
}

shape allowed_shape(const origin& file, std::span<const std::int64_t> dims, dtype type, std::string_view what,
                    std::int64_t& bytes_left) {
  std::optional<shape> made;
  try {
    made = shape(dims);
  } catch (const error& e) {
    file.refuse("says that " + std::string(what) + " has " + e.got(), e.wanted());
  }
  take_bytes(file, kernels::saturated_product(made->size(), static_cast<std::int64_t>(size_of(type))), what,
             bytes_left);
  return *made;
}

void take_bytes(const origin& file, std::int64_t bytes, std::string_view what, std::int64_t& bytes_left) {
  std::int64_t allowed = bytes_left;
  if (memory_limit() != unlimited)
    allowed = std::min(allowed, std::max<std::int64_t>(memory_limit() - memory().live_bytes, 0));
  if (bytes > allowed)
    file.refuse("needs " + std::to_string(bytes) + " bytes for " + std::string(what),
                "at most the " + std::to_string(allowed) + " that the limits leave",
                "raise load_options::most_bytes or the memory limit");
  bytes_left -= bytes;
}

void read_weights(const origin& file, const json& document, graph_def& graph, std::int64_t& bytes_left) {
  nodes_by_name nodes = named_nodes(graph);
  std::size_t number = 0;
  for (const json& group : list_in(file, document, "weightsManifest", "a model"))
    read_group(file, group, graph, nodes, bytes_left, number++);
  refuse_missing(file, graph.main, graph.weights);
  for (const function_def& f : graph.library) refuse_missing(file, f, {});
}

}  // namespace kerngrad::graph::detail
