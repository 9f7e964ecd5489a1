// SPDX-License-Identifier: Apache-2.0
// The usual call of a fused program, known inside the library only: operands of one shape and one floating dtype. The
// compiler has settled everything else, so there is nothing to plan.
module;
#include "kernels/common/abi.h"
#include "kernels/common/stream.h"
module kerngrad:fuse_uniform;

import :std;
import :core;
import :op;
import :table;
import :shapes;
import :tensor;
import :entry;
import :tape;
import :symbol;
import :fuse_chains;
import :fuse_program;
import :fuse;

namespace kerngrad::detail {

/// Elements of a block: a few buffers of it stay in a first-level cache next to the operands, and a kernel's call costs
/// little next to its work.
inline constexpr std::int64_t block_elements = 1024;
/// Elements of a chunk, for several threads: as many as are worth a thread's while for the cheapest program; and the
/// least number of chunks that are.
inline constexpr std::int64_t chunk_elements_of_program = 16 * block_elements, least_chunks = 4;
/// True if several threads may run the blocks of a program. User-defined ops are not asked to.
bool may_split(const fused_program& program);
/// Elements that a reduction at the end folds at a time: those that kernels/reduce/reduce-inl.h folds without a tree.
inline constexpr std::int64_t stretch_elements = 4096;
/// Bytes of the buffers of a block's steps, and with what follows them: the seeds of a block and the values of a
/// stretch. They are on the stack of the thread that computes it.
inline constexpr std::size_t block_bytes = 65536;
inline constexpr std::size_t scratch_bytes = block_bytes + (block_elements + stretch_elements) * sizeof(double);

/// Location of a step's value: an array, a buffer of one block, or one number.
struct value_location {
  std::byte* base = nullptr;
  std::int64_t moves = 0;   // bytes from one element to the next: 0 for buffers and numbers
  std::size_t scratch = 0;  // where there is no base: how far into the thread's buffers
  double number = 0;
};

/// The elements of one block, where they are in a stretch that is folded, and the buffers of the thread that computes
/// it.
struct block_part {
  std::int64_t offset, n, within;
  std::byte* scratch;
};

/// One call.
struct uniform_run {
  static constexpr std::size_t usual_steps = 32;
  const fused_program& program;
  const dtype type;
  std::size_t result_bytes = 0;
  int folded = -1;  // the step whose value a reduction reads while it is in the cache
  std::int64_t block = block_elements;
  const std::size_t stream_least = kernels::stream_least.load(std::memory_order_relaxed);
  work_array<value_location, usual_steps> locations{program.steps.size()};
  std::span<const std::uint16_t> order{};  // which kernels run
  std::vector<std::uint16_t> chosen{};     // and their list, where not all results are wanted

  inline const fused_step& step(std::size_t i) const { return program.steps[i]; }
  inline const kernel_slot& kernel(std::size_t i) const {
    return step(i).op->kernel(static_cast<int>(backend::simd), program.uniform[i].of_booleans ? dtype::boolean : type);
  }
  inline std::byte* address(std::size_t i, const block_part& block) const {
    const value_location& at = locations[i];
    return at.base ? at.base + at.moves * block.offset : block.scratch + at.scratch + at.moves * block.within;
  }
  /// The kernels that a wanted result needs, all when `wanted` is empty. False: there is none for the dtype.
  bool choose_steps(std::span<const bool> wanted);
  void choose_some(std::span<const bool> wanted);
  /// Gives the operands, buffers and numbers their locations. An operand beyond those of the call, the gradient that a
  /// reduction hands to each element, is in the buffers, after all others.
  void place_operands(std::span<const tensor* const> in);
  /// Every one of `results` that a step computes gets its tensor.
  void place_results(const shape& dims, std::span<const std::int16_t> results, std::span<const bool> wanted,
                     std::span<tensor> out);
  /// Runs the elements from `begin` to `end`, on several threads where that is worth it.
  void run_all(std::int64_t begin, std::int64_t end) const;
  void run_blocks(std::int64_t first, std::int64_t end) const;
  void run_block(const block_part& block) const;
  void run_step(std::size_t i, const block_part& block) const;
  void run_chain(std::size_t i, const block_part& block) const;
};

/// The operands have one shape and one floating dtype, and the program's buffers have room.
bool is_uniform(const fused_program& program, std::span<const tensor* const> in);
/// Results that no step computes: an operand, a number, or a result once more. `seed` gives the elements of the operand
/// beyond those of the call.
void place_others(const fused_program& program, std::span<const tensor* const> in,
                  std::span<const std::int16_t> results, std::span<const bool> wanted, std::span<tensor> out,
                  const std::function<tensor()>& seed);

/// A program on operands of one shape and one floating dtype, which needs no plan. Results that are not wanted stay
/// undefined tensors. False: nothing was done, the operands are not like that.
bool run_uniform(const fused_program& program, std::span<const tensor* const> in, std::span<const bool> wanted,
                 std::span<tensor> out);

// ------------------------------------------------------------------------------------------ a reduction at the end

/// The same for a program with a reduction at its end, which folds each block while it is in the cache, and the
/// gradients of what it adds up, if the program has them. False as well for reductions over other axes than the last
/// or all.
bool run_folded(const fused_program& program, std::span<const tensor* const> in, tensor& y, std::span<tensor> grads);

/// Gradient that a sum or mean hands to each element: `dy`, the gradient of its values, one for each, or a part of
/// that.
tensor seed_of(const fused_reduction& reduction, const shape& dims, const tensor& dy);
/// The seeds repeated over the shape of what was added up.
tensor spread_seed(const fused_reduction& reduction, const shape& dims, const tensor& seed);
/// The gradients of a program with such a reduction at its end, from its seeds. False: nothing was done.
bool run_spread(const fused_program& program, std::span<const tensor* const> in, const fused_reduction& reduction,
                const tensor& seed, std::span<const bool> wanted, std::span<tensor> grads);

}  // namespace kerngrad::detail
