// SPDX-License-Identifier: Apache-2.0
// Profiles in the Trace Event Format that chrome://tracing and Perfetto read: one JSON object with a list of events,
// times in microseconds.
module;
#include <fstream>
#include <ostream>
#include <string>
#include <unistd.h>
#include "kernels/common/abi.h"
#include "kernels/common/shown.h"
module kerngrad;

namespace kerngrad {
namespace {

// A JSON string. Names come from users: what is no UTF-8 becomes the replacement character.
std::string json_string(std::string_view text) {
  constexpr char hex[] = "0123456789abcdef";
  std::string out = "\"";
  while (!text.empty()) {
    const std::size_t length = kernels::utf8_sequence(text);
    const unsigned char c = static_cast<unsigned char>(text[0]);
    if (length == 0) out += "\\ufffd";
    else if (c == '"' || c == '\\') out += {'\\', text[0]};
    else if (c < 0x20) out += {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
    else out += text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out + "\"";
}

// Microseconds with all digits of the nanoseconds, from integers: no locale, no rounding, no NaN.
std::string microseconds(std::int64_t ns) {
  if (ns < 0) ns = 0;
  const std::string rest = std::to_string(ns % 1000);
  return std::to_string(ns / 1000) + "." + std::string(3 - rest.size(), '0') + rest;
}

std::string shapes(const std::vector<signature>& all) {
  std::string text = "[";
  for (const signature& s : all)
    text += (text.size() > 1 ? "," : "") + json_string(std::string(name_of(s.type)) + " " + to_string(s.dims));
  return text + "]";
}

// The events of one profile, one a line.
class event_list {
 public:
  explicit event_list(int thread)
      : ids_(",\"pid\":" + std::to_string(getpid()) + ",\"tid\":" + std::to_string(thread)) {}

  void add(std::string_view name, std::string_view phase, std::int64_t at_ns, std::string_view more) {
    text_ += (text_.empty() ? "" : ",\n") + ("{\"name\":" + json_string(name)) + ",\"ph\":" + json_string(phase) +
             ",\"ts\":" + microseconds(at_ns) + ids_;
    text_ += more;
    text_ += "}";
  }
  const std::string& text() const { return text_; }

 private:
  std::string ids_, text_;
};

void add_run(event_list& events, const kernel_run& run) {
  events.add(run.op, "X", run.begin_ns,
             ",\"dur\":" + microseconds(run.ns) + ",\"cat\":" + (run.backward ? "\"backward\"" : "\"forward\"") +
                 ",\"args\":{\"backend\":" + json_string(run.backend) + ",\"target\":" + json_string(run.target) +
                 ",\"compute\":" + json_string(name_of(run.compute)) + ",\"in\":" + shapes(run.in) +
                 ",\"out\":" + shapes(run.out) + ",\"bytes\":" + std::to_string(run.bytes) + "}");
}

std::string live_bytes(std::int64_t bytes) { return ",\"args\":{\"bytes\":" + std::to_string(bytes) + "}"; }

}  // namespace

void write_chrome_trace(const profile_result& result, std::ostream& out) {
  event_list events(result.thread);
  events.add("live bytes", "C", 0, live_bytes(result.begin_bytes));
  for (const memory_sample& sample : result.memory)
    events.add("live bytes", "C", sample.at_ns, live_bytes(result.begin_bytes + sample.bytes));
  for (const kernel_run& run : result.runs) add_run(events, run);
  for (const fallback_run& f : result.fallbacks)
    events.add("fallback", "i", f.at_ns,
               ",\"s\":\"t\",\"args\":{\"op\":" + json_string(f.op) + ",\"from\":" + json_string(f.from) +
                   ",\"to\":" + json_string(f.to) + ",\"compute\":" + json_string(name_of(f.compute)) + "}");
  const std::string text = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n" + events.text() + "\n]}\n";
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.flush();
  if (!out) fail("write_chrome_trace", "a stream that refused the trace", "one that can be written");
}

void write_chrome_trace(const profile_result& result, const std::string& path) {
  if (path.find('\0') != std::string::npos)
    fail("write_chrome_trace", "a file's name with a NUL byte", "a name without one");
  std::ofstream file(path, std::ios::binary);
  if (!file) fail("write_chrome_trace", "the file " + path + ", which cannot be opened", "one that can be written");
  write_chrome_trace(result, file);
}

}  // namespace kerngrad
