#include "python/bindings/throughput.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/error.h"
#include "plan/fit.h"
#include "plan/largest_size.h"
#include "session/devices.h"
#include "session/read_text.h"

namespace symprof::python {
namespace {

using OfDevice = ThroughputAnswer::OfDevice;

class Tried {
 public:
  Tried(std::string name, const std::string& budget, ThroughputAnswer& answer)
      : name_(std::move(name)), answer_(answer), found_{.device = find_device(name_)} {
    if (budget.empty()) return;
    const std::int64_t bytes = settings::parse_bytes(SettingRef{"budget"}, budget);
    room_.emplace(found_.device).memory_bytes = std::min(found_.device.memory_bytes, bytes);
  }

  OfDevice run(std::int64_t start, const RunBatch& run) {
    const plan::LargestSize largest = plan::find_largest_size(
        start, std::nullopt, [&](std::int64_t batch) { return add(batch, start, run); });
    found_.refused = largest.refused;
    for (auto& [batch, row] : rows_) found_.rows.push_back(std::move(row));
    return std::move(found_);
  }

 private:
  bool add(std::int64_t batch, std::int64_t start, const RunBatch& run) {
    const std::optional<ProfileHandle> ran = run(name_, batch);
    found_.refusal = ran ? "" : "the program does not run with it";
    if (!ran) return false;
    const StepTime& time = ran->profile.time.value();
    if (batch == start) {
      answer_.settings = ran->settings;
      answer_.model = ran->profile.recording.path;
      found_.unknown_calls = time.unknown_calls;
    }
    if (!fits(*ran)) return false;
    const StepMemory& memory = ran->profile.memory;
    ThroughputAnswer::Row row{.batch = batch, .plain_step_us = time.step_us};
    row.plan.peaks.allocated_bytes = memory.peak_allocated_bytes;
    row.plan.peaks.reserved_bytes = memory.peak_reserved_bytes;
    rows_[batch] = std::move(row);
    return true;
  }

  bool fits(const ProfileHandle& ran) const {
    const DeviceSpec& device = room_ ? *room_ : found_.device;
    std::optional<plan::ProgramRun> program;
    if (const auto range = ran.program_range()) program.emplace(*range, ran.program_memory);
    const profile::LoopOptions& loop = ran.settings.loop;
    return plan::fit(ran.whole_recording(), device, budget_of(device, loop), loop, program).fits();
  }

  std::string name_;
  ThroughputAnswer& answer_;
  OfDevice found_;
  std::optional<DeviceSpec> room_;  // The device with no more memory than the budget.
  std::map<std::int64_t, ThroughputAnswer::Row> rows_;
};

}  // namespace

ThroughputHandle throughput_of(const std::vector<std::string>& devices, const std::string& budget,
                               std::int64_t start, const RunBatch& run) {
  ThroughputHandle made;
  for (const std::string& device : devices)
    made.answer.devices.push_back(Tried(device, budget, made.answer).run(start, run));
  return made;
}

}  // namespace symprof::python
