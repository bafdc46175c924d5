#include "report/memory/snapshot_text.h"

#include <fmt/format.h>

#include "report/write/format_number.h"

namespace symprof::report {

using snapshot::Event;
using snapshot::EventIndex;
using snapshot::LineKind;

std::string_view name(LineKind kind) {
  switch (kind) {
    case LineKind::source:
      return "source";
    case LineKind::autograd:
      return "autograd";
    case LineKind::native:
      return "native";
    case LineKind::node:
      return "node";
    case LineKind::no_frames:
      return "none";
    case LineKind::before_start:
      return "earlier";
  }
  return "?";
}

const std::vector<Event>& events_of(const SnapshotAnswer& answer) {
  return answer.snapshot.traces[static_cast<std::size_t>(answer.device.history.device)];
}

std::int64_t time_since_start_us(const SnapshotAnswer& answer, EventIndex event) {
  if (event == snapshot::no_event) return 0;
  const auto& events = events_of(answer);
  return events[event].time_us - events.front().time_us;
}

std::string moment_text(const SnapshotAnswer& answer, EventIndex event) {
  if (event == snapshot::no_event) return "before the first event";
  std::string text = "event " + group_digits(static_cast<std::int64_t>(event));
  if (const std::int64_t after = time_since_start_us(answer, event); after > 0)
    text += fmt::format(", {} after the first", format_time(static_cast<double>(after)));
  return text;
}

std::string line_text(const SnapshotAnswer& answer, EventIndex event) {
  if (event == snapshot::no_event) return {};
  const snapshot::RequestIndex at = answer.device.history.request_of_event[event];
  if (at == snapshot::no_request) return {};
  const snapshot::Request& request = answer.device.history.requests[at];
  return text_of(answer.sites.line(answer.sites.line_of(request)));
}

std::string site_text(const SnapshotAnswer& answer, std::uint32_t site, MemoryRows by) {
  if (by == MemoryRows::line) return text_of(answer.sites.line(site));
  const std::string& module = answer.sites.module(site);
  return module.empty() ? "outside of modules" : module;
}

std::string pool_text(const snapshot::PoolId& pool) {
  if (pool == snapshot::PoolId{}) return "shared";
  return fmt::format("private {}:{}", pool.first, pool.second);
}

}  // namespace symprof::report
