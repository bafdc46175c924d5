// The memory of a training loop as JSON members.
#pragma once

#include "base/device_spec.h"
#include "profile/memory/step_memory.h"
#include "report/write/json_writer.h"

namespace symprof::report {

/// The member "peak_at": phase and node of the call that ran, null before the first.
void write_peak_at(JsonWriter& json, const StepMemory& memory, const Recording& recording);

/// The member `key`: bytes by category, empty categories left out.
void write_held(JsonWriter& json, std::string_view key, const MemoryBreakdown& held);

/// The members "fragmentation_bytes", "context_bytes" and "nvidia_smi_bytes"; null where `context`,
/// and so its sum with the reserved bytes, is unknown.
void write_on_device(JsonWriter& json, const StepMemory& memory,
                     std::optional<std::int64_t> context_bytes);

/// The members "peak_is_lower_bound", "peak_uncertainty_bytes", "peak_uncertainty_most_bytes" and
/// "peak_uncertainty_because": the values that may live longer, also where the peak is no lower
/// bound.
void write_uncertainty(JsonWriter& json, const StepMemory& memory);

/// The member "memory": the owners of the bytes at the peak, by category and by module,
/// nvidia-smi's value for `device`, and the bytes excluded from totals.
void write_memory(JsonWriter& json, const StepMemory& memory, const Recording& recording,
                  const DeviceSpec& device);

}  // namespace symprof::report
