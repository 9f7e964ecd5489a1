// SPDX-License-Identifier: Apache-2.0
// The tape, known inside the library only: what a recording keeps of each op, and the backward pass over it. One tape a
// thread; nested gradients share it, so that the ops of an inner backward pass are recorded for the outer one.
module;
#include "kernels/common/abi.h"
#include "kernels/common/tls_model.h"
module kerngrad:tape;

import :std;
import :core;
import :op;
import :table;
import :tensor;
import :engine;
import :entry;

namespace kerngrad::detail {

/// An append-only list in chunks: references stay valid while the list grows, and clearing is a loop.
template <class T>
class chunked {
 public:
  /// A new element at the end, as T's default constructor leaves it.
  inline T& add() {
    if (next_ == end_) next_chunk();
    ++size_;
    return *next_++;
  }
  inline T& operator[](std::size_t i) { return chunks_[i / chunk][i % chunk]; }
  inline const T& operator[](std::size_t i) const { return chunks_[i / chunk][i % chunk]; }
  inline std::uint32_t size() const { return static_cast<std::uint32_t>(size_); }
  void clear() {
    for (std::size_t at = 0; size_ > 0; ++at)
      for (std::size_t i = 0; i < chunk && size_ > 0; ++i, --size_) chunks_[at][i] = T{};
    next_ = end_ = nullptr;
    if (chunks_.size() > kept_chunks) chunks_.resize(kept_chunks);
  }

 private:
  void next_chunk() {
    const std::size_t at = size_ / chunk;
    if (at == chunks_.size()) chunks_.push_back(std::make_unique<T[]>(chunk));
    next_ = chunks_[at].get();
    end_ = next_ + chunk;
  }
  static constexpr std::size_t chunk = 256, kept_chunks = 64;
  std::vector<std::unique_ptr<T[]>> chunks_;
  std::size_t size_ = 0;
  T *next_ = nullptr, *end_ = nullptr;  // where the next element goes, and the end of its chunk
};

/// An array whose length is known when it is made; up to `Inline` items need no heap, and none is made that is not
/// used.
template <class T, std::size_t Inline = 4>
class work_array {
 public:
  inline explicit work_array(std::size_t count) : work_array(count, [](std::size_t) { return T(); }) {}
  /// Item i is what make(i) gives, built where it stays.
  template <class Make>
  inline work_array(std::size_t count, Make make)
      : size_(count), items_(count > Inline ? std::allocator<T>().allocate(count) : reinterpret_cast<T*>(room_)) {
    std::size_t i = 0;
    try {
      for (; i < count; ++i) new (static_cast<void*>(items_ + i)) T(make(i));
    } catch (...) {
      clear(i);
      throw;
    }
  }
  inline ~work_array() { clear(size_); }
  work_array(const work_array&) = delete;
  work_array& operator=(const work_array&) = delete;
  inline T& operator[](std::size_t i) { return items_[i]; }
  inline const T& operator[](std::size_t i) const { return items_[i]; }
  inline std::size_t size() const { return size_; }
  inline std::span<T> all() { return {items_, size_}; }

 private:
  inline void clear(std::size_t built) {
    for (std::size_t i = 0; i < built; ++i) std::destroy_at(items_ + i);
    if (size_ > Inline) std::allocator<T>().deallocate(items_, size_);
  }
  alignas(T) std::byte room_[Inline * sizeof(T)];
  std::size_t size_;
  T* items_;
};

/// The rule of an op that only exists at run time: dys and a flag per operand in, a gradient per operand out.
using free_rule = std::function<std::vector<tensor>(std::span<const tensor> dy, const std::vector<bool>& wanted)>;

inline constexpr std::uint32_t none = 0xffffffff;
/// Marks a tensor that another thread computed from recorded tensors. Its values may be read anywhere. Its gradient is
/// unknown, so the recording rejects it.
inline constexpr std::uint32_t lost = 0xffffffff;

/// An operand of a recorded op.
struct recorded_operand {
  tensor saved;               // empty unless the rule keeps it
  std::uint32_t value = 0;    // where its gradient goes; 0: nowhere
  std::uint32_t dims = none;  // index of its shape; none: the shape of the first result
  dtype type = dtype::float32;
};

struct recorded_call {
  const op_entry* op = nullptr;       // null: `free` has the rule
  const op_gradient* rule = nullptr;  // the op's own, or what stood in for it while this was recorded
  std::uint32_t free = none;
  std::uint32_t first_operand = 0, operands = 0;
  std::uint32_t first_value = 0, results = 0;
  std::uint32_t first_kept = 0;    // index of the first result's handle that is kept
  std::uint32_t kept_results = 0;  // a bit for each result that is
  std::uint32_t attrs = none;
  std::uint32_t made = none;  // index of the results' signatures, for ops with several

  // A call whose recording ran out of memory halfway has neither: walks pass it by.
  inline bool whole() const { return op || free != none; }
};

struct free_gradient {
  std::string name;
  free_rule run;
};

/// The recorded calls.
struct tape_lists {
  chunked<recorded_call> calls;
  chunked<recorded_operand> operands;
  chunked<tensor> results;
  chunked<shape> shapes;
  chunked<signature> made;
  chunked<attr_value> attrs;
  chunked<free_gradient> free;

  void swap_with(tape_lists& other) { std::swap(*this, other); }
};

struct tape : tape_lists {
  std::uint64_t id = 0;
  const gradient_table* rules = nullptr;  // brought by the first recording: a program without one has none of them
  int depth = 0;                          // how many gradients are being recorded
  int paused = 0;                         // how many scopes keep their ops off the tape
  int walks = 0;                          // how many backward passes run
  bool nested = false;                    // one gradient was recorded inside another since the tape was empty
  std::uint32_t next_value = 1;
  std::uint64_t foreign = 0;  // a recording of another thread whose tensors went into this one; 0: none did

  inline bool records() const { return depth > 0 && paused == 0; }
  inline bool tracks(const tensor& x) const {
    return records() && x.defined() && tensor_access::position(x).tape == id;
  }
  void open();
  void reset();
};
// The thread's tape, null before its first gradient: a call that records nothing pays one load for knowing it.
KG_INITIAL_EXEC extern constinit thread_local tape* current_tape;
tape& first_tape();
inline tape& this_tape() { return current_tape ? *current_tape : first_tape(); }
inline bool walking_back() { return current_tape && current_tape->walks > 0; }
inline bool recording_now() { return current_tape && current_tape->records(); }

/// True if a tape may have to know what was computed from x: this thread's, which records, or another one's. Nearly
/// always its position, which is on no tape, says no.
inline bool concerns_a_tape(const tensor& x) {
  const std::uint64_t id = tensor_access::position(x).tape;
  return id != 0 && (!current_tape || current_tape->id != id || current_tape->records());
}
inline bool concerns_a_tape(std::span<const tensor* const> in) {
  bool any = false;
  for (const tensor* x : in) any = any || concerns_a_tape(*x);
  return any;
}
/// Marks results as untracked by the recordings of other threads that operands belong to.
void lose(std::span<const tensor* const> in, std::span<tensor> out);
/// Rejects a tensor that is untracked by this thread's recording.
void refuse_lost(std::string_view name, const tensor& x);

/// Keeps what happens in a scope off the tape.
class unrecorded {
 public:
  inline unrecorded() { ++this_tape().paused; }
  inline ~unrecorded() { --this_tape().paused; }
  unrecorded(const unrecorded&) = delete;
  unrecorded& operator=(const unrecorded&) = delete;
};

/// Notes an op and gives its results their positions. Nothing happens when no operand is tracked.
void record(const op_entry& op, std::span<const tensor* const> in, std::span<const attr_value> attrs,
            std::span<tensor> out);
/// The same for one result of one or two operands, without attributes: the most calls by far.
void record(const op_entry& op, const tensor& x, tensor& y);
void record(const op_entry& op, const tensor& a, const tensor& b, tensor& y);
/// The same for an op with a free rule.
void record_free(std::string_view name, std::span<const tensor* const> in, std::span<tensor> out, free_rule rule);

/// The same for an op whose gradient was replaced in the registry; false when it was not.
bool record_replaced(const op_entry& op, std::span<const tensor* const> in, std::span<const attr_value> attrs,
                     std::span<tensor> out);

struct rule_frame {
  const tape& on;
  const recorded_call& at;
  std::span<tensor> dys;
  int operand = 0;                         // of a list: which of its tensors
  bool of_parts = false;                   // dys are parts of complex128 numbers, which the operands pass for as well
  mutable std::array<tensor, 2> shared{};  // what the rule computes once for several operands

  inline const recorded_operand& operand_at(int i) const {
    return on.operands[at.first_operand + static_cast<std::uint32_t>(i)];
  }
  inline const shape& dims(int i) const {
    const recorded_operand& s = operand_at(i);
    return s.saved.defined() ? s.saved.dims() : s.dims == none ? dys[0].dims() : on.shapes[s.dims];
  }
};

/// The gradient of result k; zeros where none has arrived.
const tensor& completed(const rule_frame& at, int k);

/// A gradient added up over the axes that an operand of this shape was broadcast over.
tensor summed_to(const shape& dims, const tensor& g);
inline tensor reduced_to(const shape& dims, tensor g) { return g.dims() == dims ? std::move(g) : summed_to(dims, g); }

}  // namespace kerngrad::detail
