// SPDX-License-Identifier: Apache-2.0
// From a call to a kernel: validate by the row, promote, infer, allocate, launch, record.
module;
#include <algorithm>
#include <cmath>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/join.hpp>
#include <range/v3/view/take.hpp>
#include <range/v3/view/transform.hpp>
#include "kernels/elementwise/binary.h"
#include "kernels/common/targets.h"
#include "kernels/elementwise/unary.h"
#include "kernels/text/text.h"
#include "modules/engine/operands.h"
module kerngrad;

import :blocks;
import :geometry;
import :live;
import :mirrors;
import :run;
import :snapshot;
import :tape;
import :texts;
import :watch;

namespace kerngrad {

std::vector<simd_target> simd_targets() {
  kernels::target all[64];
  const int count = kernels::supported_targets(all, 64);
  const auto named = [](const kernels::target& t) { return simd_target{t.name}; };
  return all | ranges::views::take(count) | ranges::views::transform(named) | ranges::to<std::vector>();
}

void set_simd_target(std::string_view name) {
  if (name.empty()) return kernels::unpin_target();
  kernels::target all[64];
  const int count = kernels::supported_targets(all, 64);
  const auto supported = all | ranges::views::take(count);
  for (const kernels::target& t : supported)
    if (name == t.name) return kernels::pin_target(t.bits);
  const auto text = [](const kernels::target& t) { return std::string(t.name); };
  const auto known = supported | ranges::views::transform(text) | ranges::views::join(std::string_view(", ")) |
                     ranges::to<std::string>();
  fail("set_simd_target", "the target " + std::string(name), "one that is compiled in and supported: " + known);
}

std::string active_simd_target() { return kernels::running_target(); }

namespace detail {
namespace {

// Elements that are in a backend's storage only have no address yet.
inline view view_of(const tensor& x) {
  const buffer* b = tensor_access::buffer(x);
  return b ? view{__atomic_load_n(&b->data, __ATOMIC_ACQUIRE), b->dims, b->type} : view{};
}

// A call on its way: what the row's rules see of it, its operands, and these as kernels see them.
struct running {
  inference& call;
  std::span<const tensor* const> in;
  std::span<view> views;
};

// Kernels cut, join and rewrite bytes.
void check_made(std::string_view op, const tensor& y) {
  const std::span<const text> made = y.data<text>();
  for (std::size_t i = 0; i < made.size(); ++i)
    check_utf8(op, "a result with text", i, made[i], "cut and join texts at whole characters");
}

// Tensors that are never freed, because others may still read their elements.
struct staying {
  tensor x;
  staying* next;
};
std::atomic<staying*> all_staying{nullptr};

void keep(const tensor& x) {
  auto* const more = new staying{x, all_staying.load()};
  while (!all_staying.compare_exchange_weak(more->next, more)) continue;
}

// Allocates the results and runs a kernel of a table. Nothing is written before everything was checked. Kernels of
// other ops a launcher takes from the built-in backend `from`.
tensor_list launched_on(const op_entry& op, const kernel_slot& slot, backend from, bool built_in, const running& run) {
  const inference& call = run.call;
  for (std::size_t i = 0; i < run.in.size(); ++i)
    if (!run.views[i].data && run.in[i]->defined()) run.views[i].data = host_data(tensor_access::buffer(*run.in[i]));
  tensor_list out;
  for (int k = 0; k < call.out.size(); ++k)
    out.push_back(tensor_access::adopt(allocate(call.out[k].type, call.out[k].dims)));
  work_array<view> outs(static_cast<std::size_t>(out.size()),
                        [&](std::size_t k) { return view_of(out[static_cast<int>(k)]); });
  // Without elements to write there is nothing to run, however many the operands' shapes promise.
  const std::span<view> results = outs.all();
  bool any = false;
  for (const view& y : results) any = any || y.dims.size() > 0;
  if (any) {
    kernels::text_writer texts;
    const launch_call all{.call = call,
                          .kernel = slot,
                          .from = from,
                          .built_in = built_in,
                          .in = run.views,
                          .out = results,
                          .texts = &texts};
    try {
      slot.direct ? slot.direct(all) : op.launch(all);
    } catch (...) {
      if (!std::exchange(kernels::arrays_stay, false)) throw;
      for (const tensor* x : run.in) keep(*x);
      for (const tensor& y : out) keep(y);
      throw;
    }
    if (call.row.bounded)
      for (int k = 0; k < out.size(); ++k) cut_to(out[k], results[static_cast<std::size_t>(k)].dims);
    for (tensor& y : out) {
      if (y.type() != dtype::text) continue;
      if (texts.kept() > 0) check_made(call.row.name, y);
      own_texts(y);
    }
  }
  return out;
}

// A registered kernel takes operands and attributes by the names of the row.
tensor_list launched_registered(const registered_kernel& kernel, const live_backend& on, const inference& call,
                                std::span<const tensor* const> in) {
  const named_by_row named(call.row, in, call.attrs);
  std::vector<signature> results;
  for (int k = 0; k < call.out.size(); ++k) results.push_back(call.out[k]);
  return run_registered(kernel, on, call.compute, named.operands(), named.attrs(), {results, call.row.bounded});
}

// The kernel of one backend, watched: its registered one, else that of its table. False: it has none.
bool launched_there(const live_backend& on, const registered_kernel* instead, const op_entry& op, const running& run,
                    tensor_list& out) {
  const inference& call = run.call;
  kernel_ptr own;
  if (!instead && on.table < 0) {
    own = registered_for(op.row->name, on.name);
    if (own && own->config.dtypes.has(call.compute)) instead = own.get();
  }
  if (instead) {
    out = launched_registered(*instead, on, call, run.in);
    return true;
  }
  const kernel_slot* slot = on.slot(op, call.compute);
  if (!slot) return false;
  const bool plain_cpp = on.table >= 0 && op.plain_cpp[static_cast<std::size_t>(on.table)].has(call.compute);
  watch_run watched(op.row->name, on, call.compute, run.in, plain_cpp);
  if (on.table >= 0) out = launched_on(op, *slot, static_cast<backend>(on.table), op.built_in, run);
  else out = launched_on(op, *slot, backend::simd, false, run);
  watched.done(out);
  return true;
}

// The slow path: a user-defined backend, a hook active, elements outside the host's memory, no kernel.
tensor_list launched_on_slow_path(const op_entry& op, const running& run, const registered_kernel* instead) {
  const dtype compute = run.call.compute;
  const std::shared_ptr<const live_backend> on = backend_here();
  tensor_list out;
  if (launched_there(*on, instead, op, run, out)) return out;
  for (const std::shared_ptr<const live_backend>& next : fallback_chain(*on)) {
    const kernel_ptr registered = next->table >= 0 ? nullptr : registered_for(op.row->name, next->name);
    const bool by_registry = registered && registered->config.dtypes.has(compute);
    if (!by_registry && !next->slot(op, compute)) continue;
    watch_fallback(op.row->name, *on, *next, compute);
    launched_there(*next, by_registry ? registered.get() : nullptr, op, run, out);
    return out;
  }
  throw missing_kernel(op, *on, compute);
}

tensor_list launched(const op_entry& op, const running& run, const registered_kernel* instead) {
  const inference& call = run.call;
  // A registered kernel stands in for the dtypes that it takes; for others the call goes on without it.
  if (instead && !instead->config.dtypes.has(call.compute)) instead = nullptr;
  if (call.row.convention == convention::copy && !instead) {  // the same elements in the same order: a second header
    tensor_list out;
    out.push_back(tensor_access::adopt(share(tensor_access::buffer(*run.in[0]), call.out[0].dims)));
    return out;
  }
  const int table = instead ? -1 : fast_table();
  if (table >= 0 && op.kernel(table, call.compute).exists())
    return launched_on(op, op.kernel(table, call.compute), static_cast<backend>(table), op.built_in, run);
  return launched_on_slow_path(op, run, instead);
}

void record_all(const op_entry& op, std::span<const tensor* const> in, std::span<const attr_value> attrs,
                tensor_list& out) {
  if (out.empty()) return;
  if (out.size() == 1) return record(op, in, attrs, {&out[0], 1});
  std::vector<tensor> flat;
  for (int k = 0; k < out.size(); ++k) flat.push_back(std::move(out[k]));
  record(op, in, attrs, flat);
  for (int k = 0; k < out.size(); ++k) out[k] = std::move(flat[static_cast<std::size_t>(k)]);
}

// A call whose operands and attributes are as the kernel will see them.
tensor_list run_checked(const op_entry& op, std::span<const tensor* const> in, std::span<const attr_value> attrs,
                        dtype compute, std::uint32_t absent, const registered_kernel* instead) {
  const op_row& row = *op.row;
  work_array<view> views(in.size(), [&](std::size_t i) { return view_of(*in[i]); });
  inference call{row, views.all(), attrs, compute, result_of(compute, row.types.after), {}, absent};
  row.infer(call);
  tensor_list out = launched(op, {call, in, views.all()}, instead);
  if (concerns_a_tape(in)) record_all(op, in, attrs, out);
  return out;
}

// Calls an op on operands that were cast from `given`, which it has no kernel for, to `compute`. Applies the row's
// rules for `given`: what it rejects, and which results have that dtype.
tensor_list run_converted(const op_entry& op, std::span<const tensor* const> in, std::span<const attr_value> attrs,
                          dtype given, dtype compute, std::uint32_t absent, const registered_kernel* instead) {
  const op_row& row = *op.row;
  work_array<view> views(in.size(), [&](std::size_t i) { return view_of(*in[i]); });
  inference said{row, views.all(), attrs, given, result_of(given, row.types.after), {}, absent};
  row.infer(said);
  attr_list wide(attrs.size());
  for (std::size_t i = 0; i < attrs.size(); ++i) {
    const bool asks = attrs[i].kind() == attr_kind::dtype && attrs[i].as_dtype() == given;
    wide[i] = asks ? attr_value(compute) : attrs[i];
  }
  tensor_list out = run_checked(op, in, wide.all(), compute, absent, instead);
  for (int k = 0; k < out.size(); ++k) out[k] = cast(out[k], said.out[k].type);
  return out;
}

tensor_list run_promoted(const op_entry& op, std::span<const tensor* const> in, std::span<const attr_value> attrs,
                         const registered_kernel* instead) {
  const op_row& row = *op.row;
  const dtype common = common_dtype(row, in, attrs), compute = computed_here(op, common, instead);
  work_array<tensor> promoted(in.size());
  std::uint32_t absent = 0;
  work_array<const tensor*> operands(in.size(), [&](std::size_t i) {
    const buffer* b = tensor_access::buffer(*in[i]);
    const role part = row.operand_at(i).part;
    if (!b) absent |= std::uint32_t{1} << i;
    else if (part == role::read) host_data(b);  // for the shape rule, wherever the elements are
    if (!b || b->type == compute || part != role::value) return in[i];
    promoted[i] = cast(*in[i], compute);
    return static_cast<const tensor*>(&promoted[i]);
  });
  return keeps_dtype(row, common, compute) ? run_converted(op, operands.all(), attrs, common, compute, absent, instead)
                                           : run_checked(op, operands.all(), attrs, compute, absent, instead);
}

// True if the operands are all there and of one dtype that the op computes in: nothing to check, nothing to promote.
bool are_plain(const op_entry& op, std::span<const tensor* const> in) {
  const std::size_t stated = op.row->operands.size();
  if (in.empty() || (in.size() != stated && (in.size() < stated || !op.row->takes_list()))) return false;
  const buffer* first = tensor_access::buffer(*in[0]);
  if (!first || !op.plain.has(first->type)) return false;
  for (const tensor* x : in) {
    const buffer* b = tensor_access::buffer(*x);
    if (!b || b->type != first->type) return false;
  }
  return true;
}

}  // namespace

tensor_list run_list(const op_entry& op, std::span<const tensor* const> in, std::span<const attr_value> attrs,
                     const registered_kernel* instead) {
  const op_row& row = *op.row;
  const bool plain = are_plain(op, in);
  if (!plain) check_operands(row, in);
  const auto run = [&](std::span<const attr_value> as_declared) {
    return plain ? run_checked(op, in, as_declared, tensor_access::buffer(*in[0])->type, 0, instead)
                 : run_promoted(op, in, as_declared, instead);
  };
  if (attrs_as_declared(row, attrs)) return run(attrs);
  attr_list normal(row.attrs.size());
  check_attrs(row, attrs, normal.all());
  return run(normal.all());
}

tensor_list run_list(const op_entry& op, std::span<const tensor* const> in, std::span<const attr_value> attrs) {
  return run_list(op, in, attrs, nullptr);
}

void run_several(const op_entry& op, std::span<const tensor* const> in, std::span<const attr_value> attrs,
                 std::span<tensor> out) {
  tensor_list all = run_list(op, in, attrs, nullptr);
  if (static_cast<std::size_t>(all.size()) != out.size())
    fail(op.row->name, std::to_string(all.size()) + " results of the shape rule",
         std::to_string(out.size()) + " as the op's row names", "give one for each");
  std::ranges::move(all, out.begin());
}

namespace {

// The direct path: a small elementwise call whose result has the operand's dtype, that no tape has to know of, on the
// kernels of a built-in table, in a block that the thread keeps. Every call asks for it first; what it does not take
// goes the usual way, which decides again.
inline bool fits_direct_path(const buffer* b, dtype_set takes) {
  return b && takes.has(type_in(b->form)) && b->dims.size() < split_least;
}
// No tape has to know: nearly always there is none.
inline bool off_tape(const tensor& x) { return tensor_access::position(x).tape == 0 || !concerns_a_tape(x); }

// The numbers of a call as its kernel sees them; false where there is something to reject.
inline bool are_numbers(const op_row& row, std::span<const attr_value> attrs, double* params) {
  if (attrs.size() != row.attrs.size()) return false;
  for (std::size_t i = 0; i < attrs.size(); ++i) {
    const attr_spec& spec = row.attrs[i];
    if (attrs[i].kind() != attr_kind::number) return false;
    params[i] = attrs[i].as_number();
    if (!(params[i] >= spec.least && params[i] <= spec.most)) return false;
  }
  return true;
}

// An op whose attributes are numbers; an undefined tensor when more is to be done.
inline tensor run_with_numbers(const op_entry& op, const tensor& x, std::span<const attr_value> attrs) {
  static_assert(std::extent_v<decltype(kernels::unary_geometry::params)> == most_numbers);
  const int table = direct_table();
  const buffer* b = tensor_access::buffer(x);
  if (table < 0 || !fits_direct_path(b, op.numbers[static_cast<std::size_t>(table)]) || !off_tape(x)) return {};
  kernels::unary_geometry g{b->dims.size(), {}};
  if (!are_numbers(*op.row, attrs, g.params)) return {};
  buffer* made = buffer_like(b);
  if (!made) return {};
  tensor y = tensor_access::adopt(made);
  const void* const in[] = {b->data};
  void* const out[] = {made->data};
  op.kernel(table, b->type).run(in, out, &g);
  return y;
}

}  // namespace

tensor run_one(const op_entry& op, std::span<const tensor* const> in, std::span<const attr_value> attrs) {
  if (in.size() == 1)
    if (tensor y = run_with_numbers(op, *in[0], attrs); y.defined()) return y;
  tensor_list out = run_list(op, in, attrs, nullptr);
  return std::move(out.front());
}

tensor run_reshape(const op_entry& op, const tensor& x, std::span<const std::int64_t> wanted) {
  const buffer* b = tensor_access::buffer(x);
  if (direct_table() >= 0 && b && off_tape(x) && wanted.size() <= max_rank) {
    std::int64_t size = 1;
    bool plain = true;  // nothing to work out, nothing to reject
    for (const std::int64_t axis : wanted) plain = plain && axis > 0 && !__builtin_mul_overflow(size, axis, &size);
    if (plain && size == b->dims.size()) return tensor_access::adopt(share(const_cast<buffer*>(b), shape(wanted)));
  }
  const tensor* const in[] = {&x};
  const attr_value sizes(wanted);
  return run_one(op, in, {&sizes, 1});
}

namespace {

// True if the result of an elementwise op may be written over x: its elements are of the result's dtype and have
// no other owner. User-defined kernels are not asked to support that.
bool may_overwrite(const op_entry& op, const tensor& x, dtype made) {
  return op.built_in && tensor_access::buffer(x)->type == made && tensor_access::unique(x);
}

// The memory of the operand that gives it up, if there is one.
[[gnu::noinline]] tensor in_donated_memory(const op_entry& op, dtype made, const tensor& a, const tensor& b,
                                           unsigned donated) {
  const tensor* from = donated & 1 && may_overwrite(op, a, made)   ? &a
                       : donated & 2 && may_overwrite(op, b, made) ? &b
                                                                   : nullptr;
  if (!from) return {};
  // Taken out of its handle, which may live on to the end of an expression; the caller donated it, so it may change.
  tensor y = std::move(const_cast<tensor&>(*from));
  tensor_access::position(y) = {};
  return y;
}

// The result of an elementwise op. While a gradient is recorded, rules may want the operands: they stay what they are.
inline tensor result_for(const op_entry& op, dtype made, const tensor& a, const tensor& b, unsigned donated) {
  if (donated && !recording_now())
    if (tensor y = in_donated_memory(op, made, a, b, donated); y.defined()) return y;
  return tensor_access::adopt(allocate(made, tensor_access::buffer(a)->dims));
}

}  // namespace

tensor run_unary(const op_entry& op, const tensor& x, unsigned donated) {
  const op_row& row = *op.row;
  const int table = fast_table();
  const buffer* b = tensor_access::buffer(x);
  if (b && table >= 0 && op.flat[static_cast<std::size_t>(table)].has(b->type)) {
    tensor y = result_for(op, result_of(b->type, row.types.after), x, x, donated);
    const buffer* to = tensor_access::buffer(y);
    run_flat1(op.kernel(table, b->type), op.id >= 0 ? row.cost : never_split, b->data, b->type, to->data, to->type,
              b->dims.size());
    if (concerns_a_tape(x)) record(op, x, y);
    return y;
  }
  const tensor* const in[] = {&x};
  return run_one(op, in, {});
}

tensor run_binary(const op_entry& op, const tensor& a, const tensor& b, unsigned donated) {
  const op_row& row = *op.row;
  const int table = fast_table();
  const buffer *p = tensor_access::buffer(a), *q = tensor_access::buffer(b);
  if (p && q && table >= 0 && p->type == q->type && op.flat[static_cast<std::size_t>(table)].has(p->type) &&
      p->dims == q->dims) {
    tensor y = result_for(op, result_of(p->type, row.types.after), a, b, donated);
    const buffer* to = tensor_access::buffer(y);
    run_flat2(op.kernel(table, p->type), op.id >= 0 ? row.cost : never_split, p->data, q->data, p->type, to->data,
              to->type, p->dims.size());
    if (concerns_a_tape(a) || concerns_a_tape(b)) record(op, a, b, y);
    return y;
  }
  const tensor* const in[] = {&a, &b};
  return run_one(op, in, {});
}

namespace {
[[gnu::noinline]] void run_on_fast_path(tensor& y, const op_entry& op, const tensor& x) { y = run_unary(op, x, 0); }
[[gnu::noinline]] void run_on_fast_path(tensor& y, const op_entry& op, const tensor& a, const tensor& b) {
  y = run_binary(op, a, b, 0);
}
}  // namespace

void run_into(tensor& y, const op_entry& op, const tensor& x) {
  const int table = direct_table();
  const buffer* b = tensor_access::buffer(x);
  if (table < 0) [[unlikely]]
    return run_on_fast_path(y, op, x);
  if (!fits_direct_path(b, op.alike[static_cast<std::size_t>(table)]) || !off_tape(x)) [[unlikely]]
    return run_on_fast_path(y, op, x);
  const kernel_slot& slot = op.kernel(table, b->type);
  buffer* made = buffer_like(b);
  if (!made) [[unlikely]]
    return run_on_fast_path(y, op, x);
  tensor_access::fill(y, made);
  slot.flat1(b->data, made->data, static_cast<std::size_t>(b->dims.size()));
}

namespace {

// False: nothing has happened, the call goes the usual way. Tapes are the caller's to ask for.
[[gnu::always_inline]] inline bool run_directly(tensor& y, const op_entry& op, const tensor& a, const tensor& b) {
  const int table = direct_table();
  const buffer *p = tensor_access::buffer(a), *q = tensor_access::buffer(b);
  if (table < 0) [[unlikely]]
    return false;
  if (!q || !fits_direct_path(p, op.alike[static_cast<std::size_t>(table)]) || !of_one_form(p, q)) [[unlikely]]
    return false;
  buffer* made = buffer_like(p);
  if (!made) [[unlikely]]
    return false;
  tensor_access::fill(y, made);
  op.kernel(table, p->type).flat2(p->data, q->data, made->data, static_cast<std::size_t>(p->dims.size()));
  return true;
}

[[gnu::noinline]] void run_near_tape(tensor& y, const op_entry& op, const tensor& a, const tensor& b) {
  if (concerns_a_tape(a) || concerns_a_tape(b) || !run_directly(y, op, a, b)) run_on_fast_path(y, op, a, b);
}

}  // namespace

void run_into(tensor& y, const op_entry& op, const tensor& a, const tensor& b) {
  if (tensor_access::position(a).tape | tensor_access::position(b).tape) [[unlikely]]
    return run_near_tape(y, op, a, b);
  if (!run_directly(y, op, a, b)) [[unlikely]]
    return run_on_fast_path(y, op, a, b);
}

tensor run_with_number(const op_entry& op, const tensor& x, double value, number_is side, unsigned donated) {
  constexpr std::int64_t most = 1 << 15;  // beyond, the ordinary way costs nothing to speak of and may share the work
  const int table = fast_table();
  const buffer* b = tensor_access::buffer(x);
  if (!b || table < 0 || b->dims.size() > most || b->dims.size() == 0 || concerns_a_tape(x)) return {};
  if (!wide_floats.has(b->type) || !op.flat[static_cast<std::size_t>(table)].has(b->type)) return {};
  const kernel_slot& slot = op.kernel(table, b->type);
  if (!slot.run || slot.direct) return {};
  tensor y = result_for(op, result_of(b->type, op.row->types.after), x, x, donated);
  const float single = static_cast<float>(value);
  const void* number = b->type == dtype::float32 ? static_cast<const void*>(&single) : &value;
  kernels::broadcast_geometry g;
  const int at = side == number_is::right ? 1 : 0;
  g.rank = 1;
  g.dims[0] = b->dims.size();
  g.strides[at][0] = 0;
  g.strides[1 - at][0] = 1;
  const void* in[2];
  in[at] = number;
  in[1 - at] = b->data;
  void* const out[] = {tensor_access::buffer(y)->data};
  slot.run(in, out, &g);
  return y;
}

}  // namespace detail

}  // namespace kerngrad
