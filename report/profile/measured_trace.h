// A step that really ran, as events of a trace.
#pragma once

#include "measure/run.h"
#include "record/recording.h"
#include "report/write/trace_writer.h"

namespace symprof::report {

/// `run` has a timeline; its nodes are those of `recording`.
void write_measured_trace(TraceWriter& trace, const Recording& recording, const measure::Run& run);

}  // namespace symprof::report
