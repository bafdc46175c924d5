#include "report/profile/memory_json.h"

#include "report/profile/memory_text.h"
#include "report/profile/names.h"
#include "report/profile/peak_owners.h"

namespace symprof::report {

void write_peak_at(JsonWriter& json, const StepMemory& memory, const Recording& recording) {
  const CallRecord* call = memory.peak_call == none ? nullptr : &recording.calls[memory.peak_call];
  json.key("peak_at");
  json.begin_object();
  json.member("phase", name(call == nullptr ? Phase::forward : call->phase));
  json.key("node");
  call == nullptr ? json.null() : json.value(recording.nodes[call->node].name);
  json.end_object();
}

void write_held(JsonWriter& json, std::string_view key, const MemoryBreakdown& held) {
  json.key(key);
  json.begin_object();
  for (std::size_t i = 0; i < memory_categories; ++i)
    if (held.bytes[i] != 0) json.member(name(static_cast<MemoryCategory>(i)), held.bytes[i]);
  json.end_object();
}

void write_on_device(JsonWriter& json, const StepMemory& memory,
                     std::optional<std::int64_t> context_bytes) {
  json.member("fragmentation_bytes", memory.fragmentation_bytes());
  json.member("graph_pool_bytes", memory.graph_pool_bytes);
  json.member("context_bytes", context_bytes);
  json.member("nvidia_smi_bytes", context_bytes
                                      ? std::optional(memory.peak_reserved_bytes + *context_bytes)
                                      : std::nullopt);
}

void write_uncertainty(JsonWriter& json, const StepMemory& memory) {
  const PeakUncertainty& uncertainty = memory.uncertainty;
  const bool misses_calls = memory.unmodelled_calls > 0;
  json.member("peak_is_lower_bound",
              (uncertainty.is_lower_bound() || misses_calls) && !memory.other_calls.is_no_bound());
  json.member("peak_doubt_bytes", uncertainty.bytes);
  json.member("peak_doubt_most_bytes", uncertainty.most_bytes);
  json.key("peak_doubt_because");
  uncertainty.is_lower_bound() ? json.value(because(uncertainty)) : json.null();
}

namespace {

void write_estimate(JsonWriter& json, const OtherCalls& calls) {
  json.member("peak_is_estimate", calls.may_differ());
  json.key("peak_estimate_because");
  calls.may_differ() ? json.value(because(calls)) : json.null();
}

}  // namespace

void write_memory(JsonWriter& json, const StepMemory& memory, const Recording& recording,
                  const DeviceSpec& device) {
  json.key("memory");
  json.begin_object();
  json.key("at_peak");
  json.begin_object();
  for (std::size_t i = 0; i < memory_categories; ++i)
    json.member(name(static_cast<MemoryCategory>(i)), memory.at_peak.bytes[i]);
  json.end_object();
  json.member("requested_at_peak_bytes", memory.requested_at_peak_bytes);
  write_uncertainty(json, memory);
  write_estimate(json, memory.other_calls);
  write_on_device(json, memory, device.context_bytes);
  json.member("micro_batches", std::int64_t{memory.micro_batches});
  json.member("incomplete_calls", memory.incomplete_calls);
  write_peak_by_module(json, memory, recording);
  json.end_object();
}

}  // namespace symprof::report
