// SPDX-License-Identifier: Apache-2.0
// Registrations of a pack's init: the C structs are read with suspicion and become entries of a transaction.
module;
#include <algorithm>
#include <cstring>
#include <exception>
#include <memory>
#include <string>
#include <vector>
#include "kernels/common/abi.h"
#include "kernels/common/shown.h"
#include "kernels/include/kerngrad/pack.h"
module kerngrad;

import :pack_host;
import :run;

using namespace kerngrad;
using namespace kerngrad::detail;

extern "C++" {
// The pack while its init runs. The first failure stays.
struct kerngrad_pack {
  struct kernel {
    std::string name;
    bool known;
    int results;
    std::vector<std::string> operands;
  };
  struct gradient {
    gradient_config config;
    pack_function code;
  };
  std::string where;
  std::shared_ptr<const void> keeper;
  transaction& changes;
  std::vector<kernel> kernels{};
  std::vector<gradient> gradients{};  // added when all kernels are known
  bool failed = false;
  std::exception_ptr thrown{};
  std::string text{};
};
}

namespace kerngrad::detail {

// ------------------------------------------------------------------------------------------ reading

void read_pack_struct(const void* from, void* to, std::size_t known, std::size_t alignment, std::string_view what) {
  constexpr std::uint32_t limit = 4096;
  if (!from) fail(what, "NULL", "a struct");
  std::uint32_t size = 0;
  std::memcpy(&size, from, sizeof(size));
  if (size < known || size > limit || size % alignment != 0)
    fail(what, "struct_size " + std::to_string(size),
         "sizeof(" + std::string(what) + "), here " + std::to_string(known));
  const std::byte* bytes = static_cast<const std::byte*>(from);
  if (std::any_of(bytes + known, bytes + size, [](std::byte b) { return b != std::byte{0}; }))
    fail(what, "a member that this version of the library does not know", "0 there", "update the library");
  std::memcpy(to, from, known);
}

void check_pack_count(std::int32_t count, std::int32_t most, const void* items, std::string_view what) {
  if (count < 0 || count > most) fail(what, "a count of " + std::to_string(count), "0 to " + std::to_string(most));
  if (count > 0 && !items) fail(what, std::to_string(count) + " items at NULL", "an array of them");
}

std::string pack_text(const char* text, std::string_view what, std::size_t least, std::size_t most) {
  if (!text && least == 0) return {};
  const std::string wanted = "UTF-8 of " + std::to_string(least) + " to " + std::to_string(most) + " bytes";
  if (!text) fail("pack", std::string(what) + " that is NULL", wanted);
  const std::string_view all(text, strnlen(text, most + 1));
  if (all.size() < least) fail("pack", std::string(what) + " that is empty", wanted);
  if (all.size() > most) fail("pack", std::string(what) + " of more than " + std::to_string(most) + " bytes", wanted);
  for (std::string_view rest = all; !rest.empty();) {
    const std::size_t length = kernels::utf8_sequence(rest);
    if (length == 0 || kernels::is_control(rest.substr(0, length)))
      fail("pack",
           std::string(what) + " with a byte " + std::to_string(static_cast<unsigned char>(rest[0])) +
               " that is no text",
           wanted);
    rest.remove_prefix(length);
  }
  return std::string(all);
}

namespace {

// The texts of a schema while the transaction copies them.
struct read_schema {
  kernel_schema schema;
  std::vector<std::unique_ptr<std::string>> texts;
  int results = 0;
  std::string_view keep(std::string text) {
    texts.push_back(std::make_unique<std::string>(std::move(text)));
    return *texts.back();
  }
};

void refuse_flags(std::uint32_t flags, std::uint32_t known, std::string_view of, std::uint32_t reserved = 0) {
  if (flags & ~known) fail("pack", std::string(of) + " with unknown flags", "those of this ABI version");
  if (reserved) fail("pack", std::string(of) + " with a reserved member that is not 0", "0");
}

operand read_operand(const kerngrad_operand& o, read_schema& into) {
  const std::string name = pack_text(o.name, "the name of an operand");
  refuse_flags(o.flags, KERNGRAD_OPTIONAL | KERNGRAD_LIST, "operand " + name, o.reserved);
  if (o.dtypes & ~std::uint32_t{any_dtype.bits})
    fail("pack", "operand " + name + " with dtypes that do not exist", to_string(any_dtype));
  const dtype_set types = o.dtypes ? dtype_set{static_cast<std::uint16_t>(o.dtypes)} : any_dtype;
  return {into.keep(name), types, role::value, (o.flags & KERNGRAD_OPTIONAL) != 0, (o.flags & KERNGRAD_LIST) != 0};
}

attr_spec read_attr(const kerngrad_attr& given, read_schema& into) {
  const std::string name = pack_text(given.name, "the name of an attribute");
  refuse_flags(given.flags, KERNGRAD_REQUIRED | KERNGRAD_BOUNDED, "attribute " + name,
               static_cast<std::uint32_t>(given.reserved));
  if (given.kind < KERNGRAD_BOOLEAN_ATTR || given.kind > KERNGRAD_NUMBERS_ATTR)
    fail("pack", "attribute " + name + " of kind " + std::to_string(given.kind), "a KERNGRAD_..._ATTR");
  attr_spec a{into.keep(name), static_cast<attr_kind>(given.kind),
              into.keep(pack_text(given.doc, "the doc of an attribute", 0, 1000))};
  a.required = (given.flags & KERNGRAD_REQUIRED) != 0;
  a.fallback = given.fallback;
  if (given.flags & KERNGRAD_BOUNDED) a.least = given.least, a.most = given.most;
  if (a.kind == attr_kind::text) a.choices = into.keep(pack_text(given.choices, "the choices of " + name, 0, 1000));
  return a;
}

read_schema schema_of(const kerngrad_schema* given) {
  const kerngrad_schema s = pack_struct(given, "kerngrad_schema");
  check_pack_count(s.operand_count, op_gradient::max_operands, s.operands, "operands");
  check_pack_count(s.attr_count, attr_list::capacity, s.attrs, "attributes");
  if (s.result_count < 1 || s.result_count > 16)
    fail("results", "a count of " + std::to_string(s.result_count), "1 to 16");
  read_schema read;
  read.results = s.result_count;
  read.schema.doc = pack_text(s.doc, "the doc of a schema", 0, 1000);
  for (std::int32_t i = 0; i < s.operand_count; ++i)
    read.schema.operands.push_back(read_operand(pack_item(s.operands, i, "kerngrad_operand"), read));
  for (std::int32_t i = 0; i < s.attr_count; ++i)
    read.schema.attrs.push_back(read_attr(pack_item(s.attrs, i, "kerngrad_attr"), read));
  return read;
}

// ------------------------------------------------------------------------------------------ the host's functions

template <class F>
int guarded(kerngrad_pack* pack, F body) noexcept {
  if (!pack || pack->failed) return KERNGRAD_FAILED;
  try {
    body(*pack);
    return KERNGRAD_OK;
  } catch (...) {
    pack->failed = true;
    pack->thrown = std::current_exception();
    return KERNGRAD_FAILED;
  }
}

int register_pack_kernel(kerngrad_pack* pack, const kerngrad_kernel* given) noexcept {
  return guarded(pack, [&](kerngrad_pack& p) {
    const kerngrad_kernel k = pack_struct(given, "kerngrad_kernel");
    kernel_config config;
    config.name = pack_text(k.name, "the name of a kernel");
    if (k.backend) config.backend = pack_text(k.backend, "the backend of kernel " + config.name);
    refuse_flags(k.flags, 0, "kernel " + config.name);
    if (!k.run) fail("pack", "kernel " + config.name + " without a function", "a function that computes its results");
    const bool known = find_op(config.name) >= 0;
    if (known && k.schema)
      fail("pack", "kernel " + config.name + " of a built-in op with a schema", "NULL there: the op's row stands in");
    if (!known && !k.schema) fail("pack", "kernel " + config.name + " without a schema", "what the op takes");
    kerngrad_pack::kernel made{config.name, known, 0, {}};
    pack_function code{k.run, k.user, p.where, 0};
    read_schema read;
    if (k.schema) {
      read = schema_of(k.schema);
      code.results = made.results = read.results;
      for (const operand& o : read.schema.operands) made.operands.emplace_back(o.name);
      config.schema = std::move(read.schema);
    }
    for (const kerngrad_pack::kernel& other : p.kernels)
      if (other.name == made.name && other.results != made.results)
        fail("pack",
             "kernels of " + made.name + " with " + std::to_string(other.results) + " and " +
                 std::to_string(made.results) + " results",
             "one number for all backends");
    config.run = pack_kernel(std::move(code));
    p.changes.add(std::move(config), existing::refuse, p.where, p.keeper);
    p.kernels.push_back(std::move(made));
  });
}

int register_pack_gradient(kerngrad_pack* pack, const kerngrad_gradient* given) noexcept {
  return guarded(pack, [&](kerngrad_pack& p) {
    const kerngrad_gradient g = pack_struct(given, "kerngrad_gradient");
    gradient_config config;
    config.name = pack_text(g.name, "the name of a gradient");
    refuse_flags(g.flags, KERNGRAD_SAVES_RESULTS, "gradient " + config.name, static_cast<std::uint32_t>(g.reserved));
    if (!g.run) fail("pack", "gradient " + config.name + " without a function", "a function that computes gradients");
    check_pack_count(g.save_count, op_gradient::max_operands, g.saves, "saves of gradient " + config.name);
    for (std::int32_t i = 0; i < g.save_count; ++i)
      config.saves_inputs.push_back(pack_text(g.saves[i], "an operand that gradient " + config.name + " saves"));
    config.saves_outputs = (g.flags & KERNGRAD_SAVES_RESULTS) != 0;
    p.gradients.push_back({std::move(config), {g.run, g.user, p.where}});
  });
}

int refuse_pack(kerngrad_pack* pack, const char* text) noexcept {
  guarded(pack, [&](kerngrad_pack& p) {
    p.failed = true;
    if (text) p.text.assign(text, strnlen(text, 1000));
  });
  return KERNGRAD_FAILED;
}

const kerngrad_host& host_table() {
  static const kerngrad_host table = [] {
    kerngrad_host host{};
    host.struct_size = sizeof(kerngrad_host);
    host.abi_version = KERNGRAD_PACK_ABI;
    host.register_kernel = register_pack_kernel;
    host.register_gradient = register_pack_gradient;
    host.refuse = refuse_pack;
    fill_call_functions(host);
    return host;
  }();
  return table;
}

// Made when the library is loaded: a fork must not find it half made.
[[maybe_unused]] const kerngrad_host& made_early = host_table();

// A gradient that no call would ever use is a slip of the pen.
void add_gradient(kerngrad_pack& pack, kerngrad_pack::gradient& g) {
  const std::string name = g.config.name;
  bool used = false;
  g.code.results = 1;  // of an op that is not the pack's, the first result's gradient is all that is known of
  for (const kerngrad_pack::kernel& k : pack.kernels) {
    if (k.name != name) continue;
    used = true;
    if (k.known) continue;
    g.code.results = k.results;
    for (const std::string& operand : g.config.saves_inputs)
      if (std::ranges::count(k.operands, operand) == 0)
        fail("pack", "gradient " + name + " that saves " + operand, "operands that the op has");
  }
  const std::vector<std::string> names = used ? std::vector<std::string>() : op_names();
  if (!used && std::ranges::count(names, name) == 0)
    fail("pack", "gradient " + name + " of an op that does not exist", "an op of this pack, or a registered one");
  g.config.run = pack_gradient(name, std::move(g.code));
  pack.changes.add(std::move(g.config), existing::refuse, pack.where, pack.keeper);
}

}  // namespace

void run_pack_init(const kerngrad_pack_info& info, std::string where, std::shared_ptr<const void> keeper,
                   transaction& changes) {
  if (!info.init) fail("pack", "a pack without an init function", "one that registers its kernels");
  kerngrad_pack pack{std::move(where), std::move(keeper), changes};
  int code = KERNGRAD_FAILED;
  try {
    code = info.init(&host_table(), &pack);
  } catch (const std::exception& e) {  // against the rules; what it throws may be of a type that is unmapped soon
    if (!pack.failed) pack.text = "it threw: " + std::string(e.what());
  } catch (...) {
    if (!pack.failed) pack.text = "it threw";
  }
  if (pack.thrown) std::rethrow_exception(pack.thrown);
  if (code != KERNGRAD_OK || pack.failed)
    fail("init", pack.text.empty() ? "the error code " + std::to_string(code) : pack.text, "a pack that accepts");
  for (kerngrad_pack::gradient& g : pack.gradients) add_gradient(pack, g);
}

}  // namespace kerngrad::detail
