// Words for parts of a memory snapshot, for all of its reports.
#pragma once

#include <string>
#include <string_view>

#include "report/memory/memory.h"

namespace symprof::report {

/// "source", "autograd", "native", "node", "none", "earlier".
std::string_view name(snapshot::LineKind kind);

/// "event 9,870, 1.23 s after the first"; for none, "before the first event".
std::string moment_text(const SnapshotAnswer& answer, snapshot::EventIndex event);

/// Microseconds from the first event to `event`; 0 where there are no times.
std::int64_t time_since_start_us(const SnapshotAnswer& answer, snapshot::EventIndex event);

/// "model.py:54 forward": the line at which the request of `event` was made; empty of no event.
std::string line_text(const SnapshotAnswer& answer, snapshot::EventIndex event);

/// The name of a row of the table.
std::string site_text(const SnapshotAnswer& answer, std::uint32_t site, MemoryRows by);

/// "shared", "private 0:3".
std::string pool_text(const snapshot::PoolId& pool);

/// The events of the analyzed device.
const std::vector<snapshot::Event>& events_of(const SnapshotAnswer& answer);

}  // namespace symprof::report
