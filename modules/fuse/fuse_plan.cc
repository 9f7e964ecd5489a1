// SPDX-License-Identifier: Apache-2.0
// One call of a fused program, known inside the library only: the program's steps with dtypes, kernels and locations of
// the call's operands, and the walk over the blocks.
module;
#include "kernels/common/abi.h"
#include "kernels/fuse/chain.h"
module kerngrad:fuse_plan;

import :std;
import :core;
import :op;
import :table;
import :tensor;
import :entry;
import :tape;
import :symbol;
import :fuse_program;
import :fuse;

namespace kerngrad::detail {

/// Runs a fused function that was put together at run time. Its author may not be who replaces a rule: a recorded call
/// follows the rules of now, step by step where one of them is another than the function was made with.
tensor run_following_rules(const fused_parts& parts, std::span<const tensor* const> in);

/// True if a recording is open and follows one of the operands.
bool tracked(std::span<const tensor* const> in);

/// Location of an operand or a result of a step while a block is computed.
struct block_location {
  enum class kind : std::uint8_t {
    array,    // of all elements: a block is a stretch of it
    buffer,   // of one block
    single,   // one value
    strided,  // an operand that is broadcast
  };
  kind is;
  std::uint8_t size;   // bytes of an element
  std::uint16_t leaf;  // which strided operand
  union {
    std::byte* base;
    std::size_t offset;  // which buffer
  };
};

/// A step that is ready to run.
struct block_step {
  enum class form : std::uint8_t { flat1, flat2, unary, broadcast, count, cast, fill, chain };
  form how;
  std::uint8_t operands;
  dtype to;
  const kernel_slot* kernel;
  block_location in[kernels::most_chain_operands], out;
  std::array<double, 2> numbers;
  // A chain's kernel, and the locations of the values in between.
  kernels::run_fn run;
  std::array<block_location, kernels::most_kept_values> kept;
  std::uint8_t keeps;  // bit k: there is kept[k]
  bool keeps_sigmoid_tail;
  bool past_caches;
};

/// Steps in the order in which they run. A few need no heap, and none is initialised before it is there.
class block_steps {
 public:
  inline block_step& add() {
    if (count_ < few) return first_[count_++];
    if (count_++ == few) all_.assign(first_, first_ + few);
    return all_.emplace_back();
  }
  inline std::span<const block_step> all() const {
    return count_ <= few ? std::span<const block_step>(first_, count_) : std::span<const block_step>(all_);
  }

 private:
  static constexpr std::size_t few = 24;
  block_step first_[few];
  std::size_t count_ = 0;
  std::vector<block_step> all_;
};

/// An operand that is broadcast: its elements and the distance, in elements, along each merged axis.
struct strided_leaf {
  const std::byte* elements = nullptr;
  const shape* dims = nullptr;
  std::size_t size = 0;
  std::array<std::int64_t, max_rank> strides{};
};

/// The elements of one block: `n` from `offset`, `rows` of the walk's axis; where the operands that are broadcast have
/// theirs, and the buffers of the thread that computes it.
struct block_range {
  std::int64_t offset = 0, rows = 0, n = 0;
  const std::byte* const* strided = nullptr;
  std::byte* scratch = nullptr;
};

class fused_plan {
 public:
  /// `wanted` says of each result whether it is; all of them when it is empty.
  fused_plan(const fused_program& program, std::span<const tensor* const> in, std::span<const bool> wanted);
  fused_plan(const fused_plan&) = delete;
  fused_plan& operator=(const fused_plan&) = delete;

  /// Chooses kernels and locations. False: the steps have to run one by one, which also says what is wrong with them.
  bool make();
  /// All value operands of all steps have one floating dtype, and so have the results.
  bool has_one_floating_dtype() const { return one_floating_; }
  /// Computes the results that are wanted; the others stay undefined.
  void run(std::span<tensor> out);

 private:
  struct value {
    dtype type{};
    bool used = false;
    bool dense = true;  // it has as many elements as the results
    const shape* dims = nullptr;
    std::int16_t same_as = -1;  // a Cast to the dtype that its operand has
    std::byte* result = nullptr;
  };
  const fused_step& step(std::size_t i) const { return program_.steps[i]; }
  std::size_t resolved(std::int16_t i) const;
  void mark_used(std::span<const bool> wanted);
  bool infer();
  bool infer_op(std::size_t i);
  bool infer_dims(std::size_t i, bool uniform);
  bool compute_invariant(std::size_t i);
  tensor whole_value(std::size_t i) const;
  const tensor* tensor_at(std::size_t i) const;
  void plan_op(std::size_t i);
  bool can_take_chain(std::size_t i) const;
  bool takes_chain(std::size_t i) const;
  void plan_chain(std::size_t i);
  block_location location_of_result(std::size_t i) const;
  block_location location_of(std::size_t i, dtype wanted, int cast_buffer);
  block_location single(std::size_t i, dtype wanted);
  void give_results(std::span<tensor> out);
  void plan_walk();
  void merge_axes();
  void run_all(std::size_t scratch_bytes) const;
  void run_blocks(std::int64_t first, std::int64_t end, std::byte* scratch) const;
  std::byte* address(const block_location& p, const block_range& block) const;
  void run_step(const block_step& s, const block_range& block) const;
  void run_broadcast(const block_step& s, const void* const* in, void* out, const block_range& block) const;
  void run_chain(const block_step& s, const block_range& block) const;

  static constexpr std::size_t usual = 24;  // steps that need no heap
  const fused_program& program_;
  std::span<const tensor* const> in_;
  work_array<value, usual> values_;
  block_steps ready_;
  work_array<std::uint64_t, 8> singles_;
  std::size_t next_single_ = 0, element_ = 1;  // bytes of the largest element
  bool one_floating_ = true, extra_buffers_ = false;
  const shape* full_ = nullptr;
  std::vector<shape> shapes_;  // of steps, when operands differ in shape
  std::vector<tensor> whole_;  // values that are smaller than the results, computed before the walk
  std::vector<tensor> casts_;  // and copies in the dtype that a step needs
  std::vector<strided_leaf> leaves_;
  // The walk: merged axes, of which a block covers `rows_` of axis `axis_` and all of those after it.
  std::array<std::int64_t, max_rank> axes_{};
  int rank_ = 1, axis_ = 0;
  std::int64_t inner_ = 1, rows_ = 1, blocks_ = 0, block_ = 0;
};

}  // namespace kerngrad::detail
