// SPDX-License-Identifier: Apache-2.0
// Shape rules, kernels and gradients of the ops, and the functions that call them.
module;
#include <mpi.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>
#include "kernels/common/abi.h"
#include "kernels/common/sizes.h"
module kerngrad.mpi;

#include "modules/mpi/link.h"

namespace kerngrad::mpi {
namespace detail {
namespace {

// The communicator of a call. Errors name the op.
link& link_in(const inference& call) {
  const std::int64_t number = call.attrs[0].as_integer();
  if (const std::int64_t count = links_made(); number >= count) [[unlikely]]
    call.refuse("comm = " + std::to_string(number), "a number from 0 to " + std::to_string(count - 1),
                "pass communicator::number()");
  return link_of(number);
}
std::int64_t bytes_in(const view& x) { return x.dims.size() * static_cast<std::int64_t>(size_of(x.type)); }

// Throws for an attribute that names no rank of the communicator.
void check_rank(inference& call, std::size_t attribute, std::int64_t least) {
  const link& on = link_in(call);
  const std::int64_t rank = call.attrs[attribute].as_integer();
  if (rank < least || rank >= on.size)
    call.refuse(std::string(call.row.attrs[attribute].name) + " = " + std::to_string(rank),
                "a rank from " + std::to_string(least) + " to " + std::to_string(on.size - 1));
}

shape with_first(const shape& dims, std::int64_t first) {
  std::vector<std::int64_t> all(dims.begin(), dims.end());
  if (all.empty()) all.push_back(first);
  else all[0] = first;
  return shape(all);
}

// Throws for a mean of integers.
void check_mean(const inference& call) {
  if (call.attrs[1].as_bool() && !differentiable.has(call.in[0].type))
    call.refuse("a mean of " + std::string(name_of(call.in[0].type)), to_string(differentiable),
                "cast x, or take the sum");
}

// Throws unless x has equal parts for all ranks along axis 0.
std::int64_t part_of_axis(inference& call) {
  const link& on = link_in(call);
  const shape& dims = call.in[0].dims;
  if (dims.rank() == 0 || dims[0] % on.size != 0)
    call.refuse("x of shape " + to_string(dims),
                "an axis 0 whose size is a multiple of the number of ranks, " + std::to_string(on.size));
  return dims[0] / on.size;
}

constexpr function_name of_all_reduce = "kg::mpi::all_reduce", of_reduce = "kg::mpi::reduce",
                        of_broadcast = "kg::mpi::broadcast", of_all_gather = "kg::mpi::all_gather",
                        of_reduce_scatter = "kg::mpi::reduce_scatter", of_all_to_all = "kg::mpi::all_to_all",
                        of_send_recv = "kg::mpi::send_recv", of_barrier = "kg::mpi::barrier";

void reduce_all(const launch_call& c, reduction how) {
  const collective of(link_in(c.call), of_all_reduce, &c.in[0], static_cast<int>(how));
  of.compare();
  all_reduce(of, how, c.in[0].type, c.in[0].data, c.out[0].data, c.in[0].dims.size());
}

reduction sum_or_mean(const attr_value& mean) { return mean.as_bool() ? reduction::mean : reduction::sum; }

}  // namespace

// ------------------------------------------------------------------------------------------ shape rules

void infer_same(inference& call) {
  link_in(call);
  call.give(call.in[0].dims);
}
void infer_sum(inference& call) {
  link_in(call);
  check_mean(call);
  call.give(call.in[0].dims);
}
void infer_rooted(inference& call) {
  check_rank(call, 1, 0);
  call.give(call.in[0].dims);
}
void infer_partners(inference& call) {
  check_rank(call, 1, -1);
  check_rank(call, 2, -1);
  const std::int64_t to = call.attrs[1].as_integer(), from = call.attrs[2].as_integer(), own = link_in(call).rank;
  if ((to == own) != (from == own))
    call.refuse(
        "to = " + std::to_string(to) + " and from = " + std::to_string(from) + " on rank " + std::to_string(own),
        "the rank itself as both or as neither", "a message to the rank itself has it as sender and receiver");
  call.give(call.in[0].dims);
}
void infer_gathered(inference& call) {
  const shape& dims = call.in[0].dims;
  call.give(with_first(dims, kernels::product_of(dims.rank() == 0 ? 1 : dims[0], link_in(call).size)));
}
void infer_scattered(inference& call) {
  check_mean(call);
  call.give(with_first(call.in[0].dims, part_of_axis(call)));
}
void infer_exchanged(inference& call) {
  part_of_axis(call);
  call.give(call.in[0].dims);
}

// ------------------------------------------------------------------------------------------ kernels

void run_all_reduce(const launch_call& c) { reduce_all(c, sum_or_mean(c.call.attrs[1])); }
void run_all_reduce_max(const launch_call& c) { reduce_all(c, reduction::max); }
void run_all_reduce_min(const launch_call& c) { reduce_all(c, reduction::min); }

void run_reduce(const launch_call& c) {
  const auto root = static_cast<int>(c.call.attrs[1].as_integer());
  const collective of(link_in(c.call), of_reduce, &c.in[0], root);
  of.compare();
  reduce(of, root, c.in[0].type, c.in[0].data, c.out[0].data, c.in[0].dims.size());
}

void run_broadcast(const launch_call& c) {
  const auto root = static_cast<int>(c.call.attrs[1].as_integer());
  const collective of(link_in(c.call), of_broadcast, &c.in[0], root);
  of.compare();
  broadcast(of, root, c.in[0].data, c.out[0].data, bytes_in(c.in[0]));
}

void run_all_gather(const launch_call& c) {
  const collective of(link_in(c.call), of_all_gather, &c.in[0]);
  of.compare();
  all_gather(of, c.in[0].data, c.out[0].data, bytes_in(c.in[0]));
}

void run_reduce_scatter(const launch_call& c) {
  const reduction how = sum_or_mean(c.call.attrs[1]);
  const collective of(link_in(c.call), of_reduce_scatter, &c.in[0], static_cast<int>(how));
  of.compare();
  reduce_scatter(of, how, c.in[0].type, c.in[0].data, c.out[0].data, c.out[0].dims.size());
}

void run_all_to_all(const launch_call& c) {
  const collective of(link_in(c.call), of_all_to_all, &c.in[0]);
  of.compare();
  all_to_all(of, c.in[0].data, c.out[0].data, bytes_in(c.in[0]) / of.on().size);
}

void run_send_recv(const launch_call& c) {
  const auto to = static_cast<int>(c.call.attrs[1].as_integer()), from = static_cast<int>(c.call.attrs[2].as_integer());
  const collective of(link_in(c.call), of_send_recv, &c.in[0], 0, to, from);
  of.compare();
  send_recv(of, to, from, c.in[0].data, c.out[0].data, bytes_in(c.in[0]));
}

void run_barrier(const launch_call& c) {
  const collective of(link_in(c.call), of_barrier, &c.in[0]);
  of.compare();
  barrier(of);
  std::memcpy(c.out[0].data, c.in[0].data, static_cast<std::size_t>(bytes_in(c.in[0])));
}

// ------------------------------------------------------------------------------------------ gradients

tensor sum_of_all(const tensor& x, const attr_value& comm, const attr_value& mean) {
  return call<AllReduce>(x, attr<"comm">(comm), attr<"mean">(mean));
}

// Equal shares among the ranks that have the extreme. NaN equals nothing, so that nobody has it.
tensor share_of_extremes(const tensor& x, const tensor& extreme, const tensor& dy, const attr_value& comm) {
  const tensor here = x == extreme;
  const tensor holders = cast(call<AllReduce>(cast(here, dtype::int32), attr<"comm">(comm)), dy.type());
  const tensor all = call<AllReduce>(dy, attr<"comm">(comm));
  return where(here, all / maximum(holders, 1), zeros_like(dy));
}

tensor sum_at(const tensor& x, const attr_value& comm, const attr_value& root) {
  return call<Reduce>(x, attr<"comm">(comm), attr<"root">(root));
}
tensor sent_from(const tensor& x, const attr_value& comm, const attr_value& root) {
  return call<Broadcast>(x, attr<"comm">(comm), attr<"root">(root));
}
tensor gathered(const tensor& x, const attr_value& comm, const attr_value& mean, const shape& dims) {
  const tensor all = reshape(call<AllGather>(x, attr<"comm">(comm)), dims);
  return mean.as_bool() ? all / link_of(comm.as_integer()).size : all;
}
tensor scattered(const tensor& x, const attr_value& comm, const shape& dims) {
  return reshape(call<ReduceScatter>(x, attr<"comm">(comm)), dims);
}
tensor exchanged(const tensor& x, const attr_value& comm) { return call<AllToAll>(x, attr<"comm">(comm)); }
tensor passed(const tensor& x, const attr_value& comm, const attr_value& to, const attr_value& from) {
  return call<SendRecv>(x, attr<"comm">(comm), attr<"to">(to), attr<"from">(from));
}
tensor after_all(const tensor& x, const attr_value& comm) { return call<Barrier>(x, attr<"comm">(comm)); }

}  // namespace detail

// ------------------------------------------------------------------------------------------ functions

tensor all_reduce(const tensor& x, reduction how, const communicator& on) {
  switch (how) {
    case reduction::max: return call<AllReduceMax>(x, attr<"comm">(on.number()));
    case reduction::min: return call<AllReduceMin>(x, attr<"comm">(on.number()));
    default: return call<AllReduce>(x, attr<"comm">(on.number()), attr<"mean">(how == reduction::mean));
  }
}
tensor reduce(const tensor& x, int root, const communicator& on) {
  return call<Reduce>(x, attr<"comm">(on.number()), attr<"root">(root));
}
tensor broadcast(const tensor& x, int root, const communicator& on) {
  return call<Broadcast>(x, attr<"comm">(on.number()), attr<"root">(root));
}
tensor all_gather(const tensor& x, const communicator& on) { return call<AllGather>(x, attr<"comm">(on.number())); }
tensor reduce_scatter(const tensor& x, reduction how, const communicator& on) {
  if (how != reduction::sum && how != reduction::mean)
    fail("kg::mpi::reduce_scatter", "a reduction that is an extreme", "a sum or a mean", "call all_reduce and slice");
  return call<ReduceScatter>(x, attr<"comm">(on.number()), attr<"mean">(how == reduction::mean));
}
tensor all_to_all(const tensor& x, const communicator& on) { return call<AllToAll>(x, attr<"comm">(on.number())); }
tensor send_recv(const tensor& x, int to, int from, const communicator& on) {
  return call<SendRecv>(x, attr<"comm">(on.number()), attr<"to">(to), attr<"from">(from));
}
tensor barrier(const tensor& x, const communicator& on) { return call<Barrier>(x, attr<"comm">(on.number())); }
void barrier(const communicator& on) {
  const detail::collective of(detail::link_of(on.number()), detail::of_barrier, nullptr);
  of.compare();
  detail::barrier(of);
}

tensor replicated_loss(const tensor& loss, const communicator& on) {
  constexpr std::string_view name = "kg::mpi::replicated_loss";
  if (!loss.defined() || !differentiable.has(loss.type()))
    fail(name, loss.defined() ? "a loss of dtype " + std::string(name_of(loss.type())) : "an undefined tensor",
         "a loss of " + to_string(differentiable));
  if (checked()) {
    const tensor value = stop_gradient(loss), all = broadcast(value, 0, on);
    const bool equal =
        std::memcmp(value.address(), all.address(), static_cast<std::size_t>(loss.size()) * size_of(loss.type())) == 0;
    const tensor differ = all_gather(tensor({equal ? 0 : 1}), on);
    std::vector<int> ranks;
    for (int r = 0; r < on.size(); ++r)
      if (differ.data<std::int32_t>()[static_cast<std::size_t>(r)] != 0) ranks.push_back(r);
    if (!ranks.empty())
      fail(name, "another loss on " + detail::ranks_text(ranks) + " than on rank 0", "one loss on all ranks",
           "reduce the loss over the ranks, or leave replicated_loss out where the losses are summed");
  }
  return loss / on.size();
}

void register_ops() {
  register_op<AllReduce>();
  register_op<AllReduceMax>();
  register_op<AllReduceMin>();
  register_op<Reduce>();
  register_op<Broadcast>();
  register_op<AllGather>();
  register_op<ReduceScatter>();
  register_op<AllToAll>();
  register_op<SendRecv>();
  register_op<Barrier>();
}

}  // namespace kerngrad::mpi
