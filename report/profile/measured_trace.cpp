#include "report/profile/measured_trace.h"

#include <fmt/format.h>

#include <set>
#include <utility>

#include "report/profile/names.h"

namespace symprof::report {
namespace {

// After the processes of the prediction (report/profile/chrome_trace.cpp).
constexpr TraceThread measured_host{.process = 2};
constexpr std::int64_t first_device_process = 3;
// Arrows of the prediction count calls, too.
constexpr std::int64_t first_flow = std::int64_t{1} << 32;

double to_us(std::int64_t ns) { return static_cast<double>(ns) / 1e3; }

TraceThread stream_of(const measure::TimelineWork& work) {
  return {.process = first_device_process + work.device, .thread = work.stream};
}

void write_node(JsonWriter& json, const Recording& recording, const measure::TimelineCall& call) {
  if (call.node != none) {
    const NodeRecord& node = recording.nodes.at(static_cast<std::size_t>(call.node));
    json.member("node", node.name);
    json.member("module", node.module);
  }
  json.member("phase", name(call.phase));
}

void write_work(TraceWriter& trace, const Recording& recording, const measure::Timeline& timeline,
                std::size_t index) {
  const measure::TimelineWork& work = timeline.works[index];
  const TraceThread stream = stream_of(work);
  trace.slice(work.name, stream, to_us(work.begin_ns), to_us(work.end_ns));
  if (work.call != none) {
    const measure::TimelineCall& call = timeline.calls.at(static_cast<std::size_t>(work.call));
    trace.json().member("op", call.op);
    write_node(trace.json(), recording, call);
  }
  trace.end_slice();
  if (work.call == none) return;
  const auto id = first_flow + static_cast<std::int64_t>(index);
  const measure::TimelineCall& call = timeline.calls[static_cast<std::size_t>(work.call)];
  trace.flow(true, "launch", id, measured_host, to_us(call.begin_ns));
  trace.flow(false, "launch", id, stream, to_us(work.begin_ns));
}

void write_titles(TraceWriter& trace, const measure::Run& run) {
  const std::string processor = run.processor.empty() ? run.device : run.processor;
  trace.title("process_name", measured_host,
              run.gpu ? "host, measured" : fmt::format("{}, measured", processor));
  std::set<std::pair<std::int64_t, std::int64_t>> streams;
  for (const measure::TimelineWork& work : run.timeline->works)
    streams.emplace(work.device, work.stream);
  for (const auto& [device, stream] : streams) {
    const TraceThread thread{.process = first_device_process + device, .thread = stream};
    trace.title("process_name", thread, fmt::format("{}, measured", processor));
    trace.title("thread_name", thread, fmt::format("stream {}", stream));
  }
}

}  // namespace

void write_measured_trace(TraceWriter& trace, const Recording& recording, const measure::Run& run) {
  write_titles(trace, run);
  for (const measure::TimelineCall& call : run.timeline->calls) {
    trace.slice(call.op, measured_host, to_us(call.begin_ns), to_us(call.end_ns));
    write_node(trace.json(), recording, call);
    trace.end_slice();
  }
  for (std::size_t i = 0; i < run.timeline->works.size(); ++i)
    write_work(trace, recording, *run.timeline, i);
}

}  // namespace symprof::report
