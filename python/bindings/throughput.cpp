#include "python/bindings/throughput.h"

#include <algorithm>

#include "base/error.h"
#include "plan/fit.h"
#include "session/devices.h"
#include "session/read_text.h"
#include "session/try_batches.h"

namespace symprof::python {
namespace {

/// The device with no more memory than `budget`, which may be empty.
DeviceSpec room_on(DeviceSpec device, const std::string& budget) {
  if (!budget.empty())
    device.memory_bytes =
        std::min(device.memory_bytes, settings::parse_bytes(SettingRef{"budget"}, budget));
  return device;
}

bool fits(const ProfileHandle& ran, const DeviceSpec& room) {
  std::optional<plan::ProgramRun> program;
  if (const auto range = ran.program_range()) program.emplace(*range, ran.program_memory);
  const profile::LoopOptions& loop = ran.settings.loop;
  return plan::fit(ran.whole_recording(), room, budget_of(room, loop), loop, program).fits();
}

ThroughputAnswer::Row row_of(std::int64_t batch, const Profile& profile) {
  ThroughputAnswer::Row row{.batch = batch, .plain_step_us = profile.time.value().step_us};
  row.plan.peaks.allocated_bytes = profile.memory.peak_allocated_bytes;
  row.plan.peaks.reserved_bytes = profile.memory.peak_reserved_bytes;
  return row;
}

}  // namespace

ThroughputHandle throughput_of(const std::vector<std::string>& devices, const std::string& budget,
                               std::int64_t start, const RunBatch& run) {
  ThroughputHandle made;
  const auto on = [&](const std::string& name) {
    const DeviceSpec device = find_device(name), room = room_on(device, budget);
    return try_batches(
        device, start,
        [&](std::int64_t batch,
            ThroughputAnswer::OfDevice& found) -> std::optional<ThroughputAnswer::Row> {
          const std::optional<ProfileHandle> ran = run(name, batch);
          if (!ran) {
            found.refusal = "the program does not run with it";
            return std::nullopt;
          }
          if (batch == start) {
            made.answer.settings = ran->settings;
            made.answer.model = ran->profile.recording.path;
            found.unknown_calls = ran->profile.time.value().unknown_calls;
          }
          if (!fits(*ran, room)) return std::nullopt;
          return row_of(batch, ran->profile);
        });
  };
  for (const std::string& device : devices) made.answer.devices.push_back(on(device));
  return made;
}

}  // namespace symprof::python
