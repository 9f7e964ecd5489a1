// SPDX-License-Identifier: Apache-2.0
// Explaining a call: the engine's checks and choices without its runs.
module;
#include <algorithm>
#include <memory>
#include <range/v3/algorithm/contains.hpp>
#include <range/v3/view/enumerate.hpp>
#include <range/v3/view/iota.hpp>
#include <range/v3/view/take.hpp>
#include <range/v3/view/zip.hpp>
#include <string>
#include <vector>
#include "kernels/common/abi.h"
#include "kernels/common/targets.h"
module kerngrad;

import :by_name;
import :live;
import :run;
import :snapshot;
import :tape;

namespace kerngrad {

using namespace detail;

namespace {

namespace views = ranges::views;

constexpr std::string_view plain_cpp = "plain C++ (baseline)";
constexpr std::string_view refused = "the call is refused";

// ------------------------------------------------------------------------------------------ kernels

std::string location_text(const std::string& where) { return where.empty() ? "" : " at " + where; }

// Current meaning of a name, held after the snapshot is released.
std::optional<name_record> record_of(std::string_view name) {
  const pinned now;
  const name_record* record = find_name(*now, name);
  if (!record || !record->runs()) return {};
  name_record copy = *record;
  copy.op = record->op_now();
  return copy;
}

// A backend with the tables that a call would find there, initialized or not.
live_backend tables_of(std::string_view name) {
  live_backend there;
  there.name = name;
  for (int b = 0; b < backend_count; ++b)
    if (name_of(static_cast<backend>(b)) == name) there.table = b;
  if (there.table < 0) there.own_table = own_table_of(name);
  return there;
}

bool is_built_in(std::string_view backend) { return tables_of(backend).table >= 0; }

dtype_set table_dtypes(const op_entry& op, const live_backend& there) {
  dtype_set types{};
  for (int t = 0; t < dtype_count; ++t)
    if (there.slot(op, static_cast<dtype>(t))) types = types | only(static_cast<dtype>(t));
  return types;
}

// The dtypes that the option simd_dtypes leaves to the reference kernel.
dtype_set reference_dtypes(const op_entry& op, const live_backend& there) {
  constexpr int simd = static_cast<int>(backend::simd);
  return op.id >= 0 && there.table == simd ? op.plain_cpp[simd] : dtype_set{};
}

// Everything that there is, in the order in which a call asks: the backends by priority, registered kernels first.
std::vector<explained_kernel> candidates_of(const name_record& record, const live_backend& on) {
  std::vector<backend_info> all = backends();
  const auto listed = [&](std::string_view name) {
    return std::any_of(all.begin(), all.end(), [&](const backend_info& b) { return b.name == name; });
  };
  if (!listed(on.name)) all.push_back({on.name, on.priority, true, on.memory != nullptr});  // removed, but in a scope
  std::vector<explained_kernel> list;
  for (const backend_info& b : all) {
    const explained_kernel blank{b.name, b.priority, b.name == on.name, b.alive};
    const std::size_t before = list.size();
    if (const kernel_ptr* k = record.kernel_on(b.name)) {
      list.push_back(blank);
      list.back().origin = kernel_origin::registered;
      list.back().dtypes = (*k)->config.dtypes;
      list.back().where = (*k)->where;
    }
    const live_backend there = b.name == on.name ? on : tables_of(b.name);
    const dtype_set types = record.op ? table_dtypes(*record.op, there) : dtype_set{};
    if (types.bits) {
      list.push_back(blank);
      list.back().origin = record.op->id >= 0 ? kernel_origin::built_in : kernel_origin::user_defined;
      list.back().dtypes = types;
      list.back().reference = reference_dtypes(*record.op, there);
      list.back().where = record.op_where();
    }
    if (list.size() == before) list.push_back(blank);
  }
  for (const kernel_ptr& k : record.kernels) {
    if (listed(k->config.backend) || k->config.backend == on.name || k->withdrawn) continue;
    explained_kernel orphan{k->config.backend};
    orphan.origin = kernel_origin::registered;
    orphan.dtypes = k->config.dtypes;
    orphan.where = k->where;
    orphan.why_not = "there is no backend of that name: register_backend";
    list.push_back(std::move(orphan));
  }
  return list;
}

// How a call looks for its kernel.
struct search {
  std::optional<dtype> compute;  // nothing: any that there is
  bool by_name = true;           // a registered kernel takes the place of a built-in backend's own
  bool has_row = true;           // without a row, dtypes are checked once the kernel has been chosen
};

bool fits(const explained_kernel& k, const search& wanted) {
  if (k.origin == kernel_origin::none || !k.why_not.empty()) return false;
  return !wanted.has_row || (wanted.compute ? k.dtypes.has(*wanted.compute) : k.dtypes.bits != 0);
}

bool runs_when_active(const explained_kernel& k, const search& wanted) {
  if (k.origin == kernel_origin::registered && wanted.by_name) return !wanted.has_row || fits(k, wanted);
  if (k.origin == kernel_origin::registered && is_built_in(k.backend)) return false;
  return fits(k, wanted);
}

bool runs_in_fallback(const explained_kernel& k, const search& wanted) {
  return fits(k, wanted) && !(wanted.has_row && k.origin == kernel_origin::registered && is_built_in(k.backend));
}

// The one that runs, or null.
explained_kernel* chosen_of(std::vector<explained_kernel>& list, const search& wanted) {
  for (explained_kernel& k : list)
    if (k.active && runs_when_active(k, wanted)) return &k;
  if (active_fallback() == fallback::refuse) return nullptr;
  for (explained_kernel& k : list)
    if (!k.active && runs_in_fallback(k, wanted)) return &k;
  return nullptr;
}

std::string why_not(const explained_kernel& k, const explained_kernel* chosen, const live_backend& on,
                    const search& wanted) {
  if (k.origin == kernel_origin::none) return "no kernel";
  const bool fitting = fits(k, wanted);
  if (k.active && chosen && chosen->active && fitting)
    return "replaced by the kernel registered" + location_text(chosen->where) + ", for calls by name";
  if (!fitting && wanted.compute) return "no kernel for " + std::string(name_of(*wanted.compute));
  if (chosen && chosen->active) return "backend " + on.name + " is active";
  if (active_fallback() == fallback::refuse)
    return "backend " + on.name + " is active, and set_fallback does not allow another one";
  if (!runs_in_fallback(k, wanted)) return "a call that falls back to " + k.backend + " takes the built-in kernel";
  return chosen ? "kernels of " + chosen->backend + " go first" : "no kernel";
}

explained_run run_of(const explained_kernel& k, const name_record& record, std::optional<dtype> compute) {
  explained_run run{k.backend, record.name, k.origin, "registered function"};
  if (k.origin == kernel_origin::registered) return run;
  if (k.origin == kernel_origin::built_in) run.kernel = record.op->row->kernel_name();
  const int table = tables_of(k.backend).table;
  if (table < 0) {
    run.code = "table of the backend";
    return run;
  }
  dtype type = compute.value_or(dtype::float32);
  for (int t = 0; !k.dtypes.has(type) && t < dtype_count; ++t) type = static_cast<dtype>(t);
  const bool is_plain = record.op->plain_cpp[static_cast<std::size_t>(table)].has(type);
  run.code = is_plain ? std::string(plain_cpp) : active_simd_target();
  if (k.reference.has(type))
    run.code = "reference kernel, " + run.code + ": this build has no SIMD kernel of " + record.name + " for " +
               std::string(name_of(type)) + " (option simd_dtypes)";
  return run;
}

// True if the cast that an operand needs would run; it is a call of its own, through the typed API.
void check_cast(const live_backend& on, dtype from) {
  const std::optional<name_record> cast = record_of("Cast");
  std::vector<explained_kernel> list = candidates_of(*cast, on);
  if (!chosen_of(list, {from, false, true})) throw missing_kernel(*cast->op, on, from);
}

// ------------------------------------------------------------------------------------------ the call

// Source of the explanation of a call.
enum class arguments { none, signatures, tensors };

class explainer {
 public:
  explainer(std::string_view name, arguments given) : on_(backend_here()), has_elements_(given == arguments::tensors) {
    told_.op = name;
    told_.of_call = given != arguments::none;
    const std::optional<name_record> record = record_of(name);
    told_.found = record.has_value();
    if (!record) {
      told_.similar = similar_names(name);
      told_.refusal = missing_name(name, *on_).what();
      return;
    }
    record_ = *record;
    told_.targets = compiled_simd_targets();
    told_.candidates = candidates_of(record_, *on_);
    find_row();
  }

  explanation told(std::span<const operand_ref> operands, std::span<const attribute_ref> attrs) {
    if (!told_.found) return std::move(told_);
    if (told_.of_call) {
      try {
        if (record_.op) check_with_row(operands, attrs);
        else check_without_row(operands, attrs);
      } catch (const error& refusal) {
        told_.refusal = as_spelled_by_name(refusal, told_.op).what();
      }
    }
    choose();
    tell_gradient();
    return std::move(told_);
  }

 private:
  void find_row() {
    told_.known = record_.op && record_.op->id >= 0;
    if (record_.op) {
      row_ = record_.op->row;
      told_.group = row_->group;
    } else if (const explained_kernel* k = chosen_of(told_.candidates, free_search())) {
      kernel_ = *record_.kernel_on(k->backend);
      if (kernel_->checked()) row_ = &kernel_->row;
    }
    if (!row_) return;
    told_.doc = row_->doc;
    for (const operand& o : row_->operands)
      told_.operands.push_back(
          {.name = std::string(o.name), .types = o.types, .part = o.part, .optional = o.optional, .list = o.list});
    for (const attr_spec& a : row_->attrs)
      told_.attributes.push_back({.name = std::string(a.name),
                                  .doc = std::string(a.doc),
                                  .kind = a.kind,
                                  .value = default_of(a),
                                  .required = a.required});
  }
  static search free_search() { return {.compute = {}, .by_name = true, .has_row = false}; }

  void note_given(std::span<const tensor* const> in) {
    if (told_.operands.empty()) return;
    for (const auto& [i, x] : views::enumerate(in)) {
      if (!x->defined()) continue;
      const std::size_t at = row_->place_of(i);
      if (at < told_.operands.size()) told_.operands[at].given.push_back({x->signature()});
    }
  }
  void note_attrs(std::span<const attr_value> given, std::span<const attr_value> normal) {
    for (auto&& [told, at_call, value] : views::zip(told_.attributes, given, normal)) {
      told.given = at_call.given();
      told.value = value;
    }
  }

  // As run_list does it: operands, attributes, promotion, shapes.
  void check_with_row(std::span<const operand_ref> operands, std::span<const attribute_ref> attrs) {
    const std::vector<const tensor*> in = operands_in_order(*row_, operands);
    note_given(in);
    attr_list ordered(row_->attrs.size()), normal(row_->attrs.size());
    order_attrs(*row_, attrs, ordered);
    check_operands(*row_, in);
    check_attrs(*row_, ordered.all(), normal.all());
    note_attrs(ordered.all(), normal.all());
    const dtype common = common_dtype(*row_, in, normal.all());
    const kernel_ptr* const instead = record_.kernel_on(on_->name);
    told_.compute = computed_here(*record_.op, common, instead ? instead->get() : nullptr);
    const std::vector<view> seen = promoted(in);
    // Results that keep a dtype that the kernel does not compute in follow the row's rules for that dtype.
    const dtype ruled = keeps_dtype(*row_, common, *told_.compute) ? common : *told_.compute;
    inference call{*row_, seen, normal.all(), ruled, result_of(ruled, row_->types.after)};
    for (const auto& [i, x] : views::enumerate(in))
      if (!x->defined()) call.absent |= std::uint32_t{1} << i;
    if (!told_.decided_by.empty()) return;
    row_->infer(call);
    for (int k = 0; k < call.out.size(); ++k) {
      explained_result made{std::string(row_->result_name(static_cast<std::size_t>(k))), call.out[k], row_->bounded};
      if (ruled != *told_.compute && call.out[k].type == ruled) made.cast_from = told_.compute;
      told_.results.push_back(std::move(made));
    }
  }

  // The operands as the kernel sees them; notes the casts.
  std::vector<view> promoted(std::span<const tensor* const> in) {
    std::vector<view> seen(in.size());
    std::size_t among = 0;  // the given ones of a list
    for (auto&& [i, x, as] : views::zip(views::iota(std::size_t{0}), in, seen)) {
      if (!x->defined()) continue;
      as = {nullptr, x->dims(), x->type()};
      const operand& spec = row_->operand_at(i);
      if (spec.part == role::value && as.type != *told_.compute) {
        check_cast(*on_, as.type);
        told_.operands[row_->place_of(i)].given[spec.list ? among : 0].cast = told_.compute;
        as.type = *told_.compute;
      }
      if (spec.part == role::read) {
        if (has_elements_) as.data = const_cast<void*>(x->address());
        else told_.decided_by = spec.name;
      }
      among += spec.list;
    }
    return seen;
  }

  // As run_free does it.
  void check_without_row(std::span<const operand_ref> operands, std::span<const attribute_ref> attrs) {
    if (!kernel_) throw missing_name(told_.op, *on_);
    if (!row_) {
      for (const operand_ref& o : operands) {
        told_.operands.push_back({.name = std::string(o.name),
                                  .types = kernel_->config.dtypes,
                                  .part = role::own,
                                  .list = o.tensors.size() > 1});
        for (const tensor& x : o.tensors)
          if (x.defined()) told_.operands.back().given.push_back({x.signature()});
      }
      for (const attribute_ref& a : attrs)
        told_.attributes.push_back(
            {.name = std::string(a.name), .doc = "", .kind = a.value.kind(), .value = a.value, .given = true});
    } else {
      const std::vector<const tensor*> in = operands_in_order(*row_, operands);
      note_given(in);
      check_operands(*row_, in);
      attr_list ordered(row_->attrs.size()), normal(row_->attrs.size());
      order_attrs(*row_, attrs, ordered);
      check_attrs(*row_, ordered.all(), normal.all());
      note_attrs(ordered.all(), normal.all());
    }
    const dtype_set types = kernel_->config.dtypes;
    for (const explained_operand& o : told_.operands)
      for (const explained_tensor& x : o.given)
        if (!types.has(x.given.type))
          fail(told_.op, "operand " + o.name + " of dtype " + std::string(name_of(x.given.type)), to_string(types));
  }

  void choose() {
    const search wanted{.compute = told_.compute, .by_name = true, .has_row = record_.op != nullptr};
    const bool registered_here = record_.kernel_on(on_->name) != nullptr;
    told_.shares_elements = row_ && row_->convention == convention::copy && !registered_here;
    explained_kernel* chosen = told_.shares_elements ? nullptr : chosen_of(told_.candidates, wanted);
    if (!chosen && !told_.shares_elements && told_.refusal.empty() && told_.of_call && record_.op)
      told_.refusal = as_spelled_by_name(missing_kernel(*record_.op, *on_, *told_.compute), told_.op).what();
    for (explained_kernel& k : told_.candidates) {
      k.runs = &k == chosen && told_.refusal.empty();
      if (k.runs || !k.why_not.empty()) continue;
      k.why_not = told_.shares_elements ? "none is needed" : &k == chosen ? refused : why_not(k, chosen, *on_, wanted);
    }
    if (told_.refusal.empty() && chosen) told_.runs = run_of(*chosen, record_, told_.compute);
  }

  // -------------------------------------------------------------------------------------- the gradient

  void tell_gradient() {
    explained_gradient& g = told_.gradient;
    const op_gradient* scoped = record_.op ? rule_of_scope(*record_.op) : nullptr;
    const op_gradient* rule = scoped ? scoped : record_.op ? gradient_of(*record_.op) : nullptr;
    if (scoped) {
      g.origin = gradient_origin::rule_scope;
    } else if (record_.gradient_now()) {
      g.origin = gradient_origin::registered;
      g.where = record_.gradient->where;
    } else if (rule) {
      g.origin = told_.known ? gradient_origin::rule : gradient_origin::user_defined;
      g.where = record_.op_where();
    } else {
      g.why_none = record_.op ? std::string(row_->no_gradient) : "none is registered: register_gradient";
    }
    bool any = false;
    for (auto&& [i, o] : views::enumerate(told_.operands)) {
      o.constant_because = why_constant(o, rule ? &rule->of[rule->place_of(i)] : nullptr);
      o.has_gradient = o.constant_because.empty();
      any = any || o.has_gradient;
    }
    if (any && told_.refusal.empty() && told_.of_call) tell_saved(rule);
    for (const explained_operand& o : told_.operands)
      for (const explained_tensor& x : o.given)
        if (x.kept == keeping::whole) g.saved_bytes += bytes_of({x.given.dims, x.cast.value_or(x.given.type)});
    for (const explained_result& y : told_.results)
      if (y.kept == keeping::whole) g.saved_bytes += bytes_of(y.made);
  }
  static std::int64_t bytes_of(const signature& s) {
    return s.dims.size() * static_cast<std::int64_t>(size_of(s.type));
  }

  // As they are given: an integer that was cast to a float is a constant as well.
  static dtype_set dtypes_of(const explained_operand& o) {
    dtype_set types{};
    for (const explained_tensor& x : o.given) types = types | only(x.given.type);
    return o.given.empty() ? o.types : types;
  }
  std::string why_constant(const explained_operand& o, const op_gradient::part* part) const {
    if (told_.gradient.origin == gradient_origin::none) return "the op has no gradient";
    if (told_.of_call && o.given.empty()) return "it is not given";
    if (told_.gradient.origin != gradient_origin::registered && !part->run) return "the rule takes it as a constant";
    if (const dtype_set types = dtypes_of(o); !(types & differentiable).bits)
      return "no gradient flows through " + to_string(types);
    if (const dtype_set types = result_dtypes(); record_.op && !(types & differentiable).bits)
      return "the result's dtype is " + to_string(types);
    return {};
  }
  // Dtypes of the results that the call gives, or those of the row.
  dtype_set result_dtypes() const {
    dtype_set types{};
    for (const explained_result& y : told_.results) types = types | only(y.made.type);
    if (types.bits || !row_) return types;
    for (const result_spec& y : row_->results) types = types | only(result_of(dtype::float32, y.type));
    return types.bits ? types : only(result_of(dtype::float32, row_->types.after));
  }

  // As the tape keeps it: whole what the rules ask for, shapes where they are not the first result's.
  void tell_saved(const op_gradient* rule) {
    const gradient_config* registered =
        told_.gradient.origin == gradient_origin::registered ? &record_.gradient->config : nullptr;
    kept keeps{};
    for (std::size_t i = 0; rule && !registered && i < told_.operands.size(); ++i)
      if ((dtypes_of(told_.operands[i]) & differentiable).bits) keeps = keeps | rule->of[rule->place_of(i)].keeps;
    for (auto&& [i, o] : views::enumerate(told_.operands)) {
      const bool whole = registered ? std::ranges::count(registered->saves_inputs, o.name) > 0
                                    : rule && keeps.operand(rule->place_of(i));
      for (explained_tensor& x : o.given) {
        const bool like_result = !registered && told_.results.size() == 1 && x.given.dims == told_.results[0].made.dims;
        x.kept = whole ? keeping::whole : like_result ? keeping::nothing : keeping::shape;
      }
    }
    for (auto&& [k, y] : views::enumerate(told_.results)) {
      const bool whole = registered ? registered->saves_outputs : keeps.result(k);
      y.kept = whole ? keeping::whole : told_.results.size() > 1 ? keeping::shape : keeping::nothing;
    }
  }

  std::shared_ptr<const live_backend> on_;
  bool has_elements_;
  name_record record_;
  kernel_ptr kernel_;            // of a name without a row of its own
  const op_row* row_ = nullptr;  // of the op, or of the kernel's schema
  explanation told_;
};

}  // namespace

std::vector<compiled_target> compiled_simd_targets() {
  kernels::target all[64], supported[64];
  const int count = kernels::compiled_targets(all, 64), runnable = kernels::supported_targets(supported, 64);
  const std::string running = active_simd_target();
  std::vector<compiled_target> list;
  for (const kernels::target& t : all | views::take(count)) {
    const bool runs = ranges::contains(supported | views::take(runnable), t.bits, &kernels::target::bits);
    list.push_back({t.name, runs, running == t.name});
  }
  return list;
}

explanation explain(std::string_view op, std::span<const operand_ref> operands, std::span<const attribute_ref> attrs) {
  return explainer(op, arguments::tensors).told(operands, attrs);
}

explanation explain(std::string_view op, std::initializer_list<operand_ref> operands,
                    std::initializer_list<attribute_ref> attrs) {
  return explain(op, std::span(operands.begin(), operands.size()), std::span(attrs.begin(), attrs.size()));
}

explanation explain(std::string_view op, std::span<const operand_signature> operands,
                    std::span<const attribute_ref> attrs) {
  // Views of nothing: they have the shapes, and their elements are never read.
  std::vector<std::vector<tensor>> lists;
  std::vector<operand_ref> refs;
  for (const operand_signature& o : operands) {
    std::vector<tensor>& list = lists.emplace_back();
    for (const signature& s : o.tensors) {
      if (!is_dtype(s.type))
        fail("explain", "an operand of dtype " + std::to_string(static_cast<int>(s.type)), "one of those of kg::dtype");
      const tensor empty = tensor_access::adopt(allocate(s.type, {0}));
      list.push_back(tensor_access::adopt(share(tensor_access::buffer(empty), s.dims)));
    }
  }
  for (const auto& [o, list] : views::zip(operands, lists)) refs.emplace_back(o.name, list);
  return explainer(op, arguments::signatures).told(refs, attrs);
}

explanation explain(std::string_view op) { return explainer(op, arguments::none).told({}, {}); }

}  // namespace kerngrad
