// SPDX-License-Identifier: Apache-2.0
// Collective operations between the processes of an MPI program, as ops with gradients. A module of its own on top of
// kerngrad's public interface: programs that do not import it link no MPI, and no interface includes mpi.h.
module;
#include "kernels/common/abi.h"
export module kerngrad.mpi;

import kerngrad;

// ------------------------------------------------------------------------------------------ communicators

export namespace kerngrad::mpi {

/// The ranks that take part in a collective operation: a value that names an MPI communicator. Copies name the same
/// one. The MPI communicator lives until the program ends, because recorded ops refer to it by `number()`. One thread
/// of a rank at a time may call ops of a communicator. Threads that call ops at the same time need one each:
/// `duplicate` makes them. After an op has thrown midway, later ops of the rank on the communicator throw as well.
class communicator {
 public:
  /// The communicator of all ranks of the program. The first call starts MPI with MPI_THREAD_MULTIPLE, unless the
  /// program has started it before. All ranks must make that first call. It throws if a rank has another version of
  /// kerngrad.
  communicator();
  /// The communicator of that number. Throws if there is none.
  explicit communicator(std::int64_t number);

  /// The rank of this process, from 0.
  int rank() const;
  /// Number of ranks.
  int size() const;
  /// The value of the attribute `comm` of an op. 0 is the communicator of all ranks.
  std::int64_t number() const { return number_; }

  /// Splits the ranks: all ranks that pass the same color get one communicator, ordered by `key`, then by their ranks
  /// here. All ranks must call it. Throws for a negative color.
  communicator split(int color, int key = 0) const;
  /// A communicator of the same ranks, whose messages do not mix with others. All ranks must call it.
  communicator duplicate() const;

  bool operator==(const communicator& other) const { return number_ == other.number_; }

 private:
  std::int64_t number_ = 0;
};

/// Turns the checked mode on or off, from the next op on. All ranks must agree. In this mode every op first compares
/// what the ranks call: another op, shape, dtype or order throws on every rank. It costs a small message between all
/// pairs of ranks. The environment variable KERNGRAD_MPI_CHECKED=1 turns it on at the start.
void set_checked(bool on);
/// True in the checked mode.
bool checked();
/// Sets the number of seconds that an op waits for the other ranks before it throws. The error names the op and the
/// ranks that sent nothing. At the start it is the environment variable KERNGRAD_MPI_TIMEOUT, else 300. Throws unless
/// `seconds` is above 0.
void set_timeout(double seconds);
/// The number of seconds that an op waits for the other ranks before it throws.
double timeout();
/// Ends MPI if kerngrad started it. All ranks must call it, and no op can follow it. The end of the program does it as
/// well, so you need not call it. In the checked mode, finish throws on every rank if another rank calls an op instead.
void finish();

}  // namespace kerngrad::mpi

// ------------------------------------------------------------------------------------------ ops

namespace kerngrad::mpi::detail {

inline constexpr dtype_set summed = numeric | complex_only;
inline constexpr operand any_numbers[] = {{"x", any_dtype}};
inline constexpr operand sums_of[] = {{"x", summed}};
inline constexpr operand ordered[] = {{"x", numeric}};
inline constexpr attr_spec comm{
    .name = "comm", .kind = attr_kind::integer, .doc = "number of the communicator", .least = 0, .most = 4095};
inline constexpr attr_spec mean{
    .name = "mean", .kind = attr_kind::boolean, .doc = "divides the sum by the number of ranks"};
inline constexpr attr_spec root{
    .name = "root", .kind = attr_kind::integer, .doc = "the rank that sends or receives", .least = 0, .most = 1 << 24};
inline constexpr attr_spec on_comm[] = {comm};
inline constexpr attr_spec sum_on_comm[] = {comm, mean};
inline constexpr attr_spec from_root[] = {comm, root};
inline constexpr attr_spec partners[] = {
    comm,
    {.name = "to", .kind = attr_kind::integer, .doc = "the rank that gets x; -1: none", .fallback = -1, .least = -1},
    {.name = "from", .kind = attr_kind::integer, .doc = "the rank that sends; -1: none", .fallback = -1, .least = -1}};

void infer_same(inference& call);
void infer_sum(inference& call);
void infer_rooted(inference& call);
void infer_partners(inference& call);
void infer_gathered(inference& call);
void infer_scattered(inference& call);
void infer_exchanged(inference& call);

void run_all_reduce(const launch_call& c);
void run_all_reduce_max(const launch_call& c);
void run_all_reduce_min(const launch_call& c);
void run_reduce(const launch_call& c);
void run_broadcast(const launch_call& c);
void run_all_gather(const launch_call& c);
void run_reduce_scatter(const launch_call& c);
void run_all_to_all(const launch_call& c);
void run_send_recv(const launch_call& c);
void run_barrier(const launch_call& c);

// A kernel for each dtype: all of them run the same function.
template <void (*Run)(const launch_call&), dtype_set Set>
inline constexpr auto kernels_of = on_calls<Set>([]<class>(const launch_call& c) { Run(c); });
template <void (*Run)(const launch_call&)>
inline constexpr auto ordered_kernels = kernels_of<Run, numeric>;
template <void (*Run)(const launch_call&)>
inline constexpr auto sum_kernels = kernels_of<Run, summed>;
template <void (*Run)(const launch_call&)>
inline constexpr auto all_kernels = kernels_of<Run, any_dtype>;

// The gradients of the ops: they call the ops of the other direction.
tensor sum_of_all(const tensor& x, const attr_value& comm, const attr_value& mean);
tensor share_of_extremes(const tensor& x, const tensor& extreme, const tensor& dy, const attr_value& comm);
tensor sum_at(const tensor& x, const attr_value& comm, const attr_value& root);
tensor sent_from(const tensor& x, const attr_value& comm, const attr_value& root);
tensor gathered(const tensor& x, const attr_value& comm, const attr_value& mean, const shape& dims);
tensor scattered(const tensor& x, const attr_value& comm, const shape& dims);
tensor exchanged(const tensor& x, const attr_value& comm);
tensor passed(const tensor& x, const attr_value& comm, const attr_value& to, const attr_value& from);
tensor after_all(const tensor& x, const attr_value& comm);

}  // namespace kerngrad::mpi::detail

export namespace kerngrad::mpi {

/// The op of `all_reduce` for sums and means: `register_op<mpi::AllReduce>()` makes it callable by name as well.
struct AllReduce {
  static constexpr op_row row{.name = "AllReduce",
                              .doc = "The sum of x over all ranks, on every rank, added in the order of the ranks.",
                              .group = family::reduce,
                              .operands = detail::sums_of,
                              .attrs = detail::sum_on_comm,
                              .infer = detail::infer_sum,
                              .cost = 64};
  static constexpr auto kernels = detail::sum_kernels<detail::run_all_reduce>;
  static constexpr auto gradient = gradient_of(wrt(keep::nothing, [](const auto& c) {
    return detail::sum_of_all(c.dy(), c.template attr<"comm">(), c.template attr<"mean">());
  }));
};

/// The op of `all_reduce` for the largest elements; `register_ops` makes it callable by name as well.
struct AllReduceMax {
  static constexpr op_row row{.name = "AllReduceMax",
                              .doc =
                                  "The largest x of all ranks, element by element. Gradient: equal largest elements "
                                  "share dy equally; NaN gets 0.",
                              .group = family::reduce,
                              .operands = detail::ordered,
                              .attrs = detail::on_comm,
                              .infer = detail::infer_same,
                              .cost = 64};
  static constexpr auto kernels = detail::ordered_kernels<detail::run_all_reduce_max>;
  static constexpr auto gradient = gradient_of(wrt(keep::in0 | keep::out0, [](const auto& c) {
    return detail::share_of_extremes(c.in(0), c.out(), c.dy(), c.template attr<"comm">());
  }));
};

/// The op of `all_reduce` for the smallest elements; `register_ops` makes it callable by name as well.
struct AllReduceMin {
  static constexpr op_row row{.name = "AllReduceMin",
                              .doc = "The least x of all ranks, element by element. Gradient: as AllReduceMax.",
                              .group = family::reduce,
                              .operands = detail::ordered,
                              .attrs = detail::on_comm,
                              .infer = detail::infer_same,
                              .cost = 64};
  static constexpr auto kernels = detail::ordered_kernels<detail::run_all_reduce_min>;
  static constexpr auto gradient = gradient_of(wrt(keep::in0 | keep::out0, [](const auto& c) {
    return detail::share_of_extremes(c.in(0), c.out(), c.dy(), c.template attr<"comm">());
  }));
};

/// The op of `reduce`, the sum over all ranks on one rank; `register_ops` makes it callable by name as well.
struct Reduce {
  static constexpr op_row row{.name = "Reduce",
                              .doc = "The sum of x over all ranks on the root, zeros on the other ranks.",
                              .group = family::reduce,
                              .operands = detail::sums_of,
                              .attrs = detail::from_root,
                              .infer = detail::infer_rooted,
                              .cost = 64};
  static constexpr auto kernels = detail::sum_kernels<detail::run_reduce>;
  static constexpr auto gradient = gradient_of(wrt(keep::nothing, [](const auto& c) {
    return detail::sent_from(c.dy(), c.template attr<"comm">(), c.template attr<"root">());
  }));
};

/// The op of `broadcast`, which sends the x of one rank to all; `register_ops` makes it callable by name as well.
struct Broadcast {
  static constexpr op_row row{.name = "Broadcast",
                              .doc = "The root's x on every rank.",
                              .group = family::reduce,
                              .operands = detail::any_numbers,
                              .attrs = detail::from_root,
                              .infer = detail::infer_rooted,
                              .cost = 64};
  static constexpr auto kernels = detail::all_kernels<detail::run_broadcast>;
  static constexpr auto gradient = gradient_of(wrt(keep::nothing, [](const auto& c) {
    return detail::sum_at(c.dy(), c.template attr<"comm">(), c.template attr<"root">());
  }));
};

/// The op of `all_gather`, which joins the x of all ranks; `register_ops` makes it callable by name as well.
struct AllGather {
  static constexpr op_row row{.name = "AllGather",
                              .doc = "The x of all ranks along axis 0, in the order of the ranks.",
                              .group = family::reduce,
                              .operands = detail::any_numbers,
                              .attrs = detail::on_comm,
                              .infer = detail::infer_gathered,
                              .cost = 64};
  static constexpr auto kernels = detail::all_kernels<detail::run_all_gather>;
  static constexpr auto gradient = gradient_of(wrt(
      keep::nothing, [](const auto& c) { return detail::scattered(c.dy(), c.template attr<"comm">(), c.dims(0)); }));
};

/// The op of `reduce_scatter`, which gives each rank a part of the sum; `register_ops` makes it callable by name as
/// well.
struct ReduceScatter {
  static constexpr op_row row{.name = "ReduceScatter",
                              .doc = "Part r along axis 0 of the sum of x over all ranks, on rank r.",
                              .group = family::reduce,
                              .operands = detail::sums_of,
                              .attrs = detail::sum_on_comm,
                              .infer = detail::infer_scattered,
                              .cost = 64};
  static constexpr auto kernels = detail::sum_kernels<detail::run_reduce_scatter>;
  static constexpr auto gradient = gradient_of(wrt(keep::nothing, [](const auto& c) {
    return detail::gathered(c.dy(), c.template attr<"comm">(), c.template attr<"mean">(), c.dims(0));
  }));
};

/// The op of `all_to_all`, which sends a part of x to each rank; `register_ops` makes it callable by name as well.
struct AllToAll {
  static constexpr op_row row{.name = "AllToAll",
                              .doc = "Part r along axis 0 goes to rank r; the parts that arrive are joined.",
                              .group = family::reduce,
                              .operands = detail::any_numbers,
                              .attrs = detail::on_comm,
                              .infer = detail::infer_exchanged,
                              .cost = 64};
  static constexpr auto kernels = detail::all_kernels<detail::run_all_to_all>;
  static constexpr auto gradient = gradient_of(
      wrt(keep::nothing, [](const auto& c) { return detail::exchanged(c.dy(), c.template attr<"comm">()); }));
};

/// The op of `send_recv`, which passes x to another rank; `register_ops` makes it callable by name as well.
struct SendRecv {
  static constexpr op_row row{.name = "SendRecv",
                              .doc = "Sends x to one rank and gives that of another rank; zeros where none sends.",
                              .group = family::reduce,
                              .operands = detail::any_numbers,
                              .attrs = detail::partners,
                              .infer = detail::infer_partners,
                              .cost = 64};
  static constexpr auto kernels = detail::all_kernels<detail::run_send_recv>;
  static constexpr auto gradient = gradient_of(wrt(keep::nothing, [](const auto& c) {
    return detail::passed(c.dy(), c.template attr<"comm">(), c.template attr<"from">(), c.template attr<"to">());
  }));
};

/// The op of `barrier`, which returns x after all ranks called it; `register_ops` makes it callable by name as well.
struct Barrier {
  static constexpr op_row row{.name = "Barrier",
                              .doc = "x, after every rank has reached the call. Its gradient is a barrier, too.",
                              .group = family::reduce,
                              .operands = detail::any_numbers,
                              .attrs = detail::on_comm,
                              .infer = detail::infer_same,
                              .cost = 64};
  static constexpr auto kernels = detail::all_kernels<detail::run_barrier>;
  static constexpr auto gradient = gradient_of(
      wrt(keep::nothing, [](const auto& c) { return detail::after_all(c.dy(), c.template attr<"comm">()); }));
};

/// The ways to combine the values of several ranks.
enum class reduction : std::uint8_t { sum, mean, max, min };

/// Combines x of all ranks element by element, on every rank: sum, mean, largest or smallest. Sums are added in the
/// order of the ranks, so they repeat bitwise; float16 and bfloat16 are added in float32 and rounded once. The ranks
/// pass equal shapes and dtypes. Throws for a mean of integers, and for the largest or smallest of complex numbers.
/// Gradients are those of a loss that is summed over the ranks. The gradient of a sum or mean is the sum or mean of dy
/// over all ranks. For the largest or smallest elements it is the sum of dy, shared equally by the ranks whose elements
/// equal the result.
tensor all_reduce(const tensor& x, reduction how = reduction::sum, const communicator& on = {});
/// The sum of x over all ranks on the rank `root`, zeros on the others. The ranks pass equal shapes and dtypes. Throws
/// if there is no rank `root`. Gradient: dy of the root, on every rank.
tensor reduce(const tensor& x, int root = 0, const communicator& on = {});
/// Returns the x of the rank `root` on every rank. All ranks pass a tensor of its shape and dtype. Throws if there is
/// no rank `root`. Gradient: the sum of dy over all ranks on the root, zeros on the others.
tensor broadcast(const tensor& x, int root = 0, const communicator& on = {});
/// Joins the x of all ranks along axis 0, in the order of the ranks. Scalars become a vector. The ranks pass equal
/// shapes and dtypes. Gradient: the sum over all ranks of the part of dy that belongs to this rank.
tensor all_gather(const tensor& x, const communicator& on = {});
/// The sum, or mean, of x over all ranks, cut into parts along axis 0: rank r gets part r. Throws unless the size of
/// the axis is a multiple of the number of ranks, for a mean of integers, and for other reductions. Gradient: dy of all
/// ranks, joined along axis 0; a mean divides it by the number of ranks.
tensor reduce_scatter(const tensor& x, reduction how = reduction::sum, const communicator& on = {});
/// Cuts x along axis 0 into one part per rank and sends part r to rank r. Returns the parts that arrive, joined in the
/// order of the ranks. Throws unless the size of the axis is a multiple of the number of ranks. Gradient: `all_to_all`
/// of dy.
tensor all_to_all(const tensor& x, const communicator& on = {});
/// Sends x to the rank `to` and returns the tensor that the rank `from` sends. Both have the same shape and dtype. No
/// rank is written as -1: without a sender the result is zeros. All ranks of the communicator call it. Throws for other
/// ranks than there are, and if only one of `to` and `from` is the calling rank. Gradient: dy goes in the other
/// direction.
tensor send_recv(const tensor& x, int to, int from, const communicator& on = {});
/// Returns x after every rank has reached the call. Gradient: dy, after another barrier.
tensor barrier(const tensor& x, const communicator& on = {});
/// Returns after every rank has reached the call.
void barrier(const communicator& on = {});

/// Returns loss / size, the share of this rank in a loss that all ranks compute alike. Gradients are those of a loss
/// that is summed over the ranks, so without this function such a loss would count once per rank. Throws for a loss
/// that is neither floating nor complex. In the checked mode it throws on every rank if the losses differ. Gradient: dy
/// / size.
tensor replicated_loss(const tensor& loss, const communicator& on = {});

/// Makes the ops of this module callable by name. Throws if a name is taken.
void register_ops();

}  // namespace kerngrad::mpi

// ------------------------------------------------------------------------------------------ training

export namespace kerngrad::mpi {

/// Settings of data_parallel. All ranks must pass the same ones.
struct data_parallel_options {
  std::int64_t first_bucket = std::int64_t{1} << 20;  ///< bytes of gradients that are sent first
  std::int64_t bucket = std::int64_t{25} << 20;       ///< bytes that are sent together afterwards
  bool overlap = true;   ///< a thread sends gradients while the backward pass computes others
  double clip_norm = 0;  ///< the largest global norm of the gradients of all ranks; 0: they are not clipped
};

/// Trains the same variables on all ranks, each with its own part of a batch. A step applies the gradient of the mean
/// loss over the examples of all ranks. So it is the step of one rank with the whole batch, up to rounding. Gradients
/// are added in the order of the ranks: a run with as many ranks repeats bitwise, whatever the buckets. Messages go
/// through a duplicate of the communicator. One thread at a time may call the functions of an object.
class data_parallel {
 public:
  /// Gives all ranks the values that rank 0 has, and then calls `check_weights`. All ranks pass variables of the same
  /// names, shapes and dtypes in the same order, and the same options. If a rank does not, or if its own arguments are
  /// invalid, all ranks throw. The optimizer must live as long as this object. Variables are float32 or float64.
  data_parallel(optimizer& by, const communicator& on, std::span<const variable> variables,
                const data_parallel_options& options = {});
  ~data_parallel();
  data_parallel(const data_parallel&) = delete;
  data_parallel& operator=(const data_parallel&) = delete;

  /// Takes one step. `loss` returns the mean loss over this rank's examples, and `examples` is their number. If it is
  /// 0, `loss` is not called. Returns the mean loss over the examples of all ranks, before the step. Gradients from
  /// `accumulate` take part. Throws if no rank has examples. After `minimize` or `accumulate` has thrown on a rank,
  /// both throw there at every call. Then end the program on every rank, and resume from a checkpoint.
  double minimize(const std::function<tensor()>& loss, std::int64_t examples = 1);
  /// Adds the gradients of a part of the batch to those of this rank, without messages. `loss` and `examples` are as in
  /// `minimize`. Ranks may call it any number of times before a step.
  void accumulate(const std::function<tensor()>& loss, std::int64_t examples = 1);
  /// Compares a hash of 64 bits of the variables of all ranks, and throws on every rank if the hashes differ. All ranks
  /// must call it. A change of any bit changes the hash. Several changes may give the same hash again, by a chance of
  /// about 1 in 2^64.
  void check_weights() const;
  /// Number of messages that a step sums: one per bucket.
  std::int64_t buckets() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace kerngrad::mpi
