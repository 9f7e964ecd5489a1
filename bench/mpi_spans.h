// SPDX-License-Identifier: Apache-2.0
// A trace of kernels and of messages that arrive, for a program of one unit. Messages are seen by MPI's profiling
// interface: these definitions of MPI's functions come between the library and MPI. Include it before the modules.
#pragma once
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace spans {

struct span {
  std::string name;
  std::int64_t begin, end;  // nanoseconds of the steady clock
  int row;                  // in the picture
};

inline bool active = false;
// Each list is written by one thread at a time: kernels run on one thread, messages on another that it waits for.
inline std::vector<span> kernels, messages;
inline std::map<MPI_Request, span> arriving;
inline std::int64_t backward_begin = 0, backward_end = 0;

inline std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Writes the trace and says how much of the time of messages is within the backward pass.
inline std::string write(const std::string& path) {
  active = false;
  std::vector<span> all = kernels;
  all.insert(all.end(), messages.begin(), messages.end());
  std::FILE* const file = std::fopen(path.c_str(), "w");
  if (!file) return "cannot write " + path;
  const std::int64_t zero = std::ranges::min(all, {}, &span::begin).begin;
  std::fputs("{\"traceEvents\":[", file);
  for (std::size_t i = 0; i < all.size(); ++i)
    std::fprintf(file, "%s\n{\"name\":\"%s\",\"ph\":\"X\",\"pid\":1,\"tid\":%d,\"ts\":%.3f,\"dur\":%.3f}",
                 i == 0 ? "" : ",", all[i].name.c_str(), all[i].row, static_cast<double>(all[i].begin - zero) / 1e3,
                 static_cast<double>(all[i].end - all[i].begin) / 1e3);
  std::fputs("\n]}\n", file);
  std::fclose(file);
  // Messages of a bucket arrive at the same time: each moment counts once.
  std::ranges::sort(messages, {}, &span::begin);
  std::int64_t at = 0, total = 0, hidden = 0;
  for (const span& one : messages) {
    const std::int64_t begin = std::max(at, one.begin);
    at = std::max(at, one.end);
    total += std::max<std::int64_t>(0, one.end - begin);
    hidden += std::max<std::int64_t>(0, std::min(one.end, backward_end) - std::max(begin, backward_begin));
  }
  char text[200];
  std::snprintf(text, sizeof text, "backward pass %.2f ms, messages %.2f ms, of which %.2f ms during the backward pass",
                static_cast<double>(backward_end - backward_begin) / 1e6, static_cast<double>(total) / 1e6,
                static_cast<double>(hidden) / 1e6);
  return text;
}

}  // namespace spans

extern "C" int MPI_Irecv(void* y, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                         MPI_Request* request) {
  const std::int64_t begin = spans::now();
  const int code = PMPI_Irecv(y, count, type, from, tag, comm, request);
  if (spans::active) spans::arriving[*request] = {std::to_string(count) + " bytes", begin, 0, 2};
  return code;
}

extern "C" int MPI_Test(MPI_Request* request, int* over, MPI_Status* status) {
  const MPI_Request before = *request;
  const int code = PMPI_Test(request, over, status);
  if (!spans::active || !*over) return code;
  if (const auto at = spans::arriving.find(before); at != spans::arriving.end()) {
    spans::messages.push_back(at->second);
    spans::messages.back().end = spans::now();
    spans::arriving.erase(at);
  }
  return code;
}
