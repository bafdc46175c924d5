// The memory of a training loop as JSON members.
#pragma once

#include "profile/step_memory.h"
#include "report/json_writer.h"

namespace symprof::report {

/// The member "peak_at": phase and node of the call that ran, null before the first.
void write_peak_at(JsonWriter& json, const StepMemory& memory, const Recording& recording);

/// The member "memory": who holds the bytes at the peak, by category and by module, and what is in
/// no sum.
void write_memory(JsonWriter& json, const StepMemory& memory, const Recording& recording);

}  // namespace symprof::report
