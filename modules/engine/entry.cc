// SPDX-License-Identifier: Apache-2.0
// The entry: all that the engine needs of one op, built-in or user-defined. Built-in ops have theirs in a table; an op
// from outside the library builds one of its own, of the same parts, and is run, recorded and differentiated like them.
module;
#include "kernels/common/abi.h"
export module kerngrad:entry;

import :std;
import :core;
import :op;
import :launch;
import :shapes;
import :table;
import :tensor;

export namespace kerngrad {

/// The values of the forward pass that a gradient rule keeps, as bits: operand i is bit i, result k is bit 8 + k.
/// Combine the constants of `keep`.
struct kept {
  std::uint16_t bits = 0;
  constexpr bool operand(std::size_t i) const { return (bits >> i) & 1; }
  constexpr bool result(std::size_t k) const { return k < 8 && (bits >> (8 + k)) & 1; }
  constexpr std::uint8_t results() const { return static_cast<std::uint8_t>(bits >> 8); }
  friend constexpr kept operator|(kept a, kept b) { return {static_cast<std::uint16_t>(a.bits | b.bits)}; }
};

namespace keep {
/// An argument of `wrt`: the rule reads no value of the forward pass.
inline constexpr kept nothing{};
/// Arguments of `wrt`, one for each of the operands 0 to 4: the rule reads this operand. `keep::in0 | keep::out0`
/// stands for an operand and a result.
inline constexpr kept in0{1}, in1{2}, in2{4}, in3{8}, in4{16};
/// Arguments of `wrt`, one for each of the results 0 to 3: the rule reads this result.
inline constexpr kept out0{1 << 8}, out1{1 << 9}, out2{1 << 10}, out3{1 << 11};
/// An argument of `wrt`: the rule reads all operands.
inline constexpr kept all_in{0xff};
}  // namespace keep

}  // namespace kerngrad

namespace kerngrad::detail {

/// State of a rule while the backward pass is at its call; only the library looks inside.
struct rule_frame;
using rule_fn = tensor (*)(const rule_frame&);

/// The gradient of an op, instantiated for tensors: one part per operand.
struct op_gradient {
  static constexpr int max_operands = 8;
  struct part {
    kept keeps;
    rule_fn run = nullptr;  // null: the operand is a constant
  };
  std::array<part, max_operands> of{};
  std::uint32_t last = max_operands - 1;  // the part of all tensors from there on, where the op takes a list

  constexpr std::uint32_t place_of(std::size_t i) const { return i < last ? static_cast<std::uint32_t>(i) : last; }
};

/// Effect of a row's shape rule on operands of one shape.
enum class shape_effect : std::uint8_t {
  other,
  none,    // it gives that shape, and rejects nothing
  bounds,  // so does that of `clip`, which rejects bounds that are out of order
};
/// The effect of a row's shape rule, for constant expressions. A program may have its own copy of an inline rule at
/// another address, so addresses cannot be compared at run time. The entry has the result.
constexpr shape_effect effect_of(const op_row& row) {
  if (row.infer == shapes::clip) return shape_effect::bounds;
  const bool none = row.infer == shapes::same || row.infer == shapes::broadcasted || row.infer == shapes::cast ||
                    row.infer == shapes::all_equal;
  return none ? shape_effect::none : shape_effect::other;
}

/// One op as the engine sees it.
struct op_entry {
  const op_row* row = nullptr;
  launch_fn launch = nullptr;                               // the row's launcher
  int id = -1;                                              // index in op_table; -1 for a user-defined op
  std::array<const kernel_slot*, backend_count> kernels{};  // by dtype, per built-in backend
  const op_gradient* gradient = nullptr;                    // of a user-defined op; null: none, or see gradient_of
  std::array<dtype_set, backend_count> plain_cpp{};         // of `kernels`: those that are no SIMD code
  std::array<dtype_set, backend_count> flat{};     // of `kernels`: those that take operands as they are, array by array
  std::array<dtype_set, backend_count> alike{};    // of `flat`: those that the result has, too
  std::array<dtype_set, backend_count> numbers{};  // of `kernels`: those with nothing but numbers next to the operand
  dtype_set plain{};               // operands that all are of one of these need no check and no promotion
  std::uint8_t bare_operands = 0;  // of an op that the typed API runs without looking further; else 0
  bool built_in = false;           // a built-in op with the library's own kernels
  shape_effect effect{};

  constexpr const kernel_slot& kernel(int backend, dtype type) const {
    return kernels[static_cast<std::size_t>(backend)][static_cast<int>(type)];
  }
};

// The dtypes that every operand of a row may have and that the op computes in as they are. Half precision and the
// integers that are mostly stored are not among them: their dtype on the way is up to the kernels of the backend.
constexpr dtype_set plain_dtypes(const op_row& row) {
  dtype_set all = row.operands.empty() ? dtype_set{} : any_dtype;
  for (const operand& item : row.operands) all = all & (item.part == role::value ? item.types : dtype_set{});
  dtype_set plain{};
  for (int i = 0; i < dtype_count; ++i) {
    const dtype type = static_cast<dtype>(i);
    if (all.has(type) && computed_in(type, {}) == type && lifted(type, row.types.before) == type)
      plain = plain | only(type);
  }
  return plain;
}

// How many operands an op has that the typed API runs without looking further: elementwise, of one result whose size
// is that of the operands, without attributes. 0 for others.
constexpr std::uint8_t bare_operands(const op_row& row) {
  if (!row.attrs.empty() || row.takes_list() || row.results.size() > 1 || row.bounded) return 0;
  return row.is_unary() ? 1 : row.is_binary() ? 2 : 0;
}

// How many numbers kernels of one operand take: as many as kernels::unary_geometry has.
inline constexpr std::size_t most_numbers = 2;
// An elementwise op of one operand, with numbers as attributes and nothing more to check than their ranges.
constexpr bool is_of_numbers(const op_row& row) {
  bool numbers = row.convention == convention::unary && row.infer == shapes::same && !row.attrs.empty() &&
                 row.attrs.size() <= most_numbers && row.results.empty() && !row.bounded;
  for (const attr_spec& item : row.attrs) numbers = numbers && item.kind == attr_kind::number;
  return numbers;
}

constexpr op_entry make_entry(const op_row& row, int id, std::array<const kernel_slot*, backend_count> kernels,
                              const op_gradient* gradient, std::array<dtype_set, backend_count> plain_cpp = {}) {
  op_entry entry{.row = &row,
                 .launch = launcher_of(row),
                 .id = id,
                 .kernels = kernels,
                 .gradient = gradient,
                 .plain_cpp = plain_cpp,
                 .plain = plain_dtypes(row),
                 .bare_operands = bare_operands(row),
                 .effect = effect_of(row)};
  for (std::size_t b = 0; b < backend_count; ++b)
    for (int i = 0; i < dtype_count; ++i) {
      const dtype type = static_cast<dtype>(i);
      const kernel_slot& slot = kernels[b][i];
      const bool there = entry.bare_operands == 1   ? slot.flat1 != nullptr
                         : entry.bare_operands == 2 ? slot.flat2 != nullptr
                                                    : false;
      const bool as_it_is =
          !row.operands.empty() && row.operands[0].types.has(type) && lifted(type, row.types.before) == type;
      const bool stays = result_of(type, row.types.after) == type;
      if (there && as_it_is) entry.flat[b] = entry.flat[b] | only(type);
      if (there && as_it_is && stays) entry.alike[b] = entry.alike[b] | only(type);
      if (is_of_numbers(row) && slot.run && !slot.direct && as_it_is && stays)
        entry.numbers[b] = entry.numbers[b] | only(type);
    }
  return entry;
}

/// The entries of the built-in ops. Each is an object, so that a program links the kernels of the ops that it calls,
/// and no others.
template <int Id>
extern const op_entry entry_object;
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wundefined-var-template"  // ops/entries_impl.cc defines all of them
#endif
template <int Id>
consteval const op_entry& known_entry() {
  return entry_object<Id>;
}
#ifdef __clang__
#pragma clang diagnostic pop
#endif

/// The entries of all built-in ops by id, for look-ups by name only: a program that refers to this table links every
/// kernel.
extern const std::array<const op_entry*, static_cast<std::size_t>(op_count)> known_entries;
/// The rules of the built-in ops by id; null if there is none. Rules call most ops, so only code that opens a
/// recording, or asks for a rule, refers to this table.
using gradient_table = std::array<const op_gradient*, static_cast<std::size_t>(op_count)>;
extern const gradient_table known_gradients;
/// The rule that an op was compiled with, or null.
inline const op_gradient* gradient_of(const op_entry& op, const gradient_table& known = known_gradients) {
  return op.id >= 0 ? known[static_cast<std::size_t>(op.id)] : op.gradient;
}

/// Begins a scope in which this thread records the op with `rule`. The innermost scope of an op counts.
std::shared_ptr<void> begin_override(const op_entry& op, const op_gradient& rule);
void end_override(const std::shared_ptr<void>& scope) noexcept;

// The frame's contents, for the context that rules are instantiated with.
const tensor& frame_dy(const rule_frame& at, int k);
std::vector<tensor> frame_all_dy(const rule_frame& at);
const tensor& frame_operand(const rule_frame& at, int i);
const tensor& frame_result(const rule_frame& at, int k);
const shape& frame_dims(const rule_frame& at, int i);
dtype frame_type(const rule_frame& at, int i);
const attr_value& frame_attr(const rule_frame& at, int index);
int frame_index(const rule_frame& at);
/// A value that the parts of a rule share while the backward pass is at the call. It begins undefined; k is 0 or 1.
tensor& frame_shared(const rule_frame& at, int k);
/// Zeros like operand i, and g added up over the axes that operand i was broadcast over.
tensor frame_zeros(const rule_frame& at, int i);
tensor frame_reduced(const rule_frame& at, int i, tensor g);

}  // namespace kerngrad::detail
