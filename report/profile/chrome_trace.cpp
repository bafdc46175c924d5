#include "report/profile/chrome_trace.h"

#include <cmath>
#include <string>
#include <vector>

#include "report/profile/measured_trace.h"
#include "report/profile/names.h"
#include "report/write/json_writer.h"
#include "report/write/trace_writer.h"

namespace symprof::report {
namespace {

constexpr TraceThread host{.process = 0}, gpu{.process = 1};

void write_arguments(JsonWriter& json, const Recording& recording, const CallProfile& call) {
  const CallRecord& record = recording.calls[call.call];
  const NodeRecord& node = recording.nodes[record.node];
  json.member("call", std::int64_t{call.call});
  json.member("node", node.name);
  json.member("module", node.module);
  json.member("phase", name(record.phase));
}

void write_call(TraceWriter& trace, const Profile& profile, const CallProfile& call) {
  const Recording& recording = profile.recording;
  const std::string& op = recording.ops[recording.calls[call.call].op];
  const CallSlot& slot = profile.time->schedule[static_cast<std::size_t>(call.call)];
  const bool is_issued = slot.issued_us > slot.issue_us, runs = slot.end_us > slot.begin_us;
  if (is_issued) {
    trace.slice(op, host, slot.issue_us, slot.issued_us);
    write_arguments(trace.json(), recording, call);
    trace.end_slice();
  }
  if (!runs) return;
  trace.slice(op, gpu, slot.begin_us, slot.end_us);
  write_arguments(trace.json(), recording, call);
  trace.json().member("limit", profile::name(call.time->limit));
  trace.json().member("basis", name(call.time->basis));
  trace.json().member("launches", std::int64_t{call.time->launches});
  trace.json().member("low_us", std::round(call.time->low_us * 1e3) / 1e3);
  trace.json().member("high_us", std::round(call.time->high_us * 1e3) / 1e3);
  trace.end_slice();
  if (is_issued) {
    trace.flow(true, "launch", call.call, host, slot.issue_us);
    trace.flow(false, "launch", call.call, gpu, slot.begin_us);
  }
  const double flops = static_cast<double>(call.cost.product_flops + call.cost.other_flops);
  trace.counter("FLOPs per second", "FLOPs/s", gpu, slot.begin_us,
                std::round(flops / (slot.end_us - slot.begin_us) * 1e6));
}

/// From the first kernel of a node's forward pass to the first of its backward pass.
void write_passes(TraceWriter& trace, const Profile& profile, const NodeProfile& node) {
  const CallSlot *forward = nullptr, *backward = nullptr;
  for (const CallProfile& call : node.calls) {
    const CallSlot& slot = profile.time->schedule[static_cast<std::size_t>(call.call)];
    if (slot.end_us <= slot.begin_us) continue;
    const Phase phase = profile.recording.calls[call.call].phase;
    if (phase == Phase::forward && forward == nullptr) forward = &slot;
    if (phase == Phase::backward && backward == nullptr) backward = &slot;
  }
  if (forward == nullptr || backward == nullptr) return;
  trace.flow(true, "fwdbwd", node.node, gpu, forward->begin_us);
  trace.flow(false, "fwdbwd", node.node, gpu, backward->begin_us);
}

/// The allocator runs with the host: memory is taken when a call is issued.
void write_memory_counter(TraceWriter& trace, const Profile& profile) {
  const bool is_graph = profile.time->launch == LaunchKind::graph;
  for (const TimelinePoint& point : profile.memory.timeline) {
    if (point.call == none) continue;
    const CallSlot& slot = profile.time->schedule[static_cast<std::size_t>(point.call)];
    trace.counter("allocated", "bytes", gpu, is_graph ? slot.end_us : slot.issued_us,
                  static_cast<double>(point.held.total()));
  }
}

void write_prediction(TraceWriter& trace, const Profile& profile, const DeviceSpec& device) {
  trace.title("process_name", host, "host, predicted");
  trace.title("thread_name", host, "calls");
  trace.title("process_name", gpu, fmt::format("{}, predicted", name(device)));
  trace.title("thread_name", gpu, "kernels");
  for (const NodeProfile& node : profile.nodes) {
    for (const CallProfile& call : node.calls) write_call(trace, profile, call);
    write_passes(trace, profile, node);
  }
  write_memory_counter(trace, profile);
}

}  // namespace

void write_chrome_trace(fmt::memory_buffer& out, const Profile& profile, const DeviceSpec& device,
                        const measure::Run* measured) {
  JsonWriter json(out);
  json.begin_object();
  json.member("displayTimeUnit", "ms");
  json.key("traceEvents");
  json.begin_array();
  TraceWriter trace(json);
  if (profile.time) write_prediction(trace, profile, device);
  if (measured != nullptr) write_measured_trace(trace, profile.recording, *measured);
  json.closing_line(1);
  json.end_array();
  json.end_document();
}

}  // namespace symprof::report
