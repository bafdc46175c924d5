#include "report/chrome_trace.h"

#include <cmath>
#include <string>
#include <vector>

#include "report/json_writer.h"
#include "report/names.h"

namespace symprof::report {
namespace {

constexpr std::int64_t host_process = 0, device_process = 1, only_thread = 0;

/// One event after the other, each on a line of its own.
class TraceWriter {
 public:
  explicit TraceWriter(JsonWriter& json) : json_(json) {}

  /// Begins an event; `end` follows. `us`: since the step's begin.
  void begin(std::string_view kind, std::string_view name, std::int64_t process, double us) {
    json_.line(2);
    json_.begin_object();
    json_.member("ph", kind);
    json_.member("name", name);
    json_.member("pid", process);
    json_.member("tid", only_thread);
    time("ts", us);
  }
  void end() { json_.end_object(); }

  void slice(std::string_view name, std::int64_t process, double begin_us, double end_us) {
    begin("X", name, process, begin_us);
    time("dur", end_us - begin_us);
    json_.key("args");
    json_.begin_object();
  }
  void end_slice() {
    json_.end_object();
    end();
  }

  void counter(std::string_view name, std::string_view series, double us, double value) {
    begin("C", name, device_process, us);
    json_.key("args");
    json_.begin_object();
    json_.member(series, value);
    json_.end_object();
    end();
  }

  /// An end of an arrow; it lies in the slice that runs at that time.
  void flow(bool is_start, std::string_view kind, std::int64_t id, std::int64_t process,
            double us) {
    begin(is_start ? "s" : "f", kind, process, us);
    json_.member("cat", kind);
    json_.member("id", id);
    if (!is_start) json_.member("bp", "e");
    end();
  }

  void title(std::string_view what, std::int64_t process, std::string_view text) {
    begin("M", what, process, 0);
    json_.key("args");
    json_.begin_object();
    json_.member("name", text);
    json_.end_object();
    end();
  }

  JsonWriter& json() { return json_; }

 private:
  /// To the nanosecond.
  void time(std::string_view key, double us) { json_.member(key, std::round(us * 1e3) / 1e3); }

  JsonWriter& json_;
};

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
    trace.slice(op, host_process, slot.issue_us, slot.issued_us);
    write_arguments(trace.json(), recording, call);
    trace.end_slice();
  }
  if (!runs) return;
  trace.slice(op, device_process, slot.begin_us, slot.end_us);
  write_arguments(trace.json(), recording, call);
  trace.json().member("limit", profile::name(call.time->limit));
  trace.json().member("basis", name(call.time->basis));
  trace.json().member("launches", std::int64_t{call.time->launches});
  trace.json().member("low_us", std::round(call.time->low_us * 1e3) / 1e3);
  trace.json().member("high_us", std::round(call.time->high_us * 1e3) / 1e3);
  trace.end_slice();
  if (is_issued) {
    trace.flow(true, "launch", call.call, host_process, slot.issue_us);
    trace.flow(false, "launch", call.call, device_process, slot.begin_us);
  }
  const double flops = static_cast<double>(call.cost.product_flops + call.cost.other_flops);
  trace.counter("FLOPs per second", "FLOPs/s", slot.begin_us,
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
  trace.flow(true, "fwdbwd", node.node, device_process, forward->begin_us);
  trace.flow(false, "fwdbwd", node.node, device_process, backward->begin_us);
}

/// The allocator runs with the host: memory is taken when a call is issued.
void write_memory_counter(TraceWriter& trace, const Profile& profile) {
  const bool is_graph = profile.time->launch == LaunchKind::graph;
  for (const TimelinePoint& point : profile.memory.timeline) {
    if (point.call == none) continue;
    const CallSlot& slot = profile.time->schedule[static_cast<std::size_t>(point.call)];
    trace.counter("allocated", "bytes", is_graph ? slot.end_us : slot.issued_us,
                  static_cast<double>(point.held.total()));
  }
}

}  // namespace

void write_chrome_trace(fmt::memory_buffer& out, const Profile& profile, const DeviceSpec& device) {
  JsonWriter json(out);
  json.begin_object();
  json.member("displayTimeUnit", "ms");
  json.key("traceEvents");
  json.begin_array();
  TraceWriter trace(json);
  trace.title("process_name", host_process, "host, predicted");
  trace.title("process_name", device_process, fmt::format("{}, predicted", name(device)));
  for (const NodeProfile& node : profile.nodes) {
    for (const CallProfile& call : node.calls) write_call(trace, profile, call);
    write_passes(trace, profile, node);
  }
  write_memory_counter(trace, profile);
  json.closing_line(1);
  json.end_array();
  json.end_document();
}

}  // namespace symprof::report
