#include "session/planned_step.h"

#include <algorithm>

#include "profile/call_kernels.h"
#include "profile/memory/peak_uncertainty.h"
#include "profile/memory/segment_weights.h"
#include "profile/memory/step_memory.h"
#include "record/optimizer_states.h"

namespace symprof {

Recording PlannedStep::record(const CheckpointPlan& plan) {
  Settings planned = settings_;
  planned.step.checkpoint_plan = plan;
  return session_.record(planned);
}

plan::StepPeaks PlannedStep::peaks(const Recording& recording) {
  return peaks_of(
      profile::simulate_step_memory(recording, settings_.step.device, {.loop = settings_.loop}));
}

std::optional<plan::ReservedStep> PlannedStep::reserve(const Recording& recording,
                                                       std::int64_t bytes,
                                                       std::int64_t small_segments_bytes,
                                                       std::int64_t most_bytes) {
  constexpr int most_tries = 5;
  const std::int64_t aside = profile::peak_uncertainty(recording).margin_bytes();
  const std::int64_t most = std::max(bytes, most_bytes) - aside;
  std::int64_t room = may_reserve() ? bytes - aside - small_segments_bytes : 0;
  for (int tries = 0; tries < most_tries; ++tries) {
    profile::LoopOptions loop = settings_.loop;
    const std::int64_t up_front = may_reserve() ? up_front_bytes(room) : 0;
    if (up_front > 0) {
      loop.allocator.up_front_bytes = {up_front};
      loop.warm_start = starts_warm();
    }
    const StepMemory memory = profile::simulate_step_memory(
        recording, settings_.step.device, {.loop = loop, .most_reserved_bytes = most});
    if (!memory.refused_call) return reserved_of(loop, memory);
    room -= memory.peak_reserved_bytes - most;
    if (up_front_bytes(room) == 0) break;
  }
  return std::nullopt;
}

std::int64_t PlannedStep::small_segments_bytes(const Recording& recording,
                                               const plan::StepPeaks& as_it_is) {
  if (!may_reserve() || starts_warm() == settings_.loop.warm_start)
    return as_it_is.small_segments_bytes;
  return profile::simulate_step_memory(recording, settings_.step.device, {.loop = warm_loop()})
      .small_segments_bytes;
}

StepMemory PlannedStep::expandable_memory(const Recording& recording) {
  profile::LoopOptions loop = settings_.loop;
  loop.allocator.expandable_segments = true;
  return profile::simulate_step_memory(recording, settings_.step.device, {.loop = loop});
}

std::vector<plan::HeldBytes> PlannedStep::held_bytes(const Recording& recording) {
  return held_of(profile::pool_bytes_by_call(recording, settings_.step.device, settings_.loop));
}

std::vector<profile::PoolWeights> PlannedStep::segment_weights(const Recording& again,
                                                               const Recording& plain) {
  if (!profile::segments_stay(settings_.loop.allocator)) return {};
  return profile::segment_weights({&again, &plain}, settings_.step.device, settings_.loop,
                                  /*may_reserve=*/true);
}

std::vector<plan::HeldBytes> PlannedStep::held_weights(const Recording& recording,
                                                       const profile::PoolWeights& weights) {
  return held_of(
      profile::pool_weights_by_call(recording, settings_.step.device, settings_.loop, weights));
}

std::vector<double> PlannedStep::costs_us(const Recording& recording) {
  const profile::StepLoad load = load_of(recording);
  std::vector<double> costs;
  costs.reserve(load.calls.size());
  for (std::size_t i = 0; i < load.calls.size(); ++i) {
    const profile::CallLoad& call = load.calls[i];
    const bool is_issue = waits_for_host_ && !is_transfer(recording, recording.calls[i]);
    costs.push_back(is_issue ? call.host_us : call.device_us);
  }
  return costs;
}

plan::HostCosts PlannedStep::host_costs(const Recording& recording) {
  plan::HostCosts costs{
      .policy_us = profile::policy_us_of(settings_.step.device, time_options().launch),
      .slack_us = host_slack_us_};
  for (const profile::CallLoad& call : load_of(recording).calls) costs.us.push_back(call.host_us);
  return costs;
}

std::int64_t PlannedStep::recompute_flops(const Recording& recording) {
  const profile::StepLoad load = load_of(recording);
  std::int64_t flops = 0;
  for (std::size_t i = 0; i < load.calls.size(); ++i)
    if (recording.calls[i].phase == Phase::recompute) flops += load.calls[i].flops;
  return flops;
}

profile::StepLoad PlannedStep::load_of(const Recording& recording) {
  return profile::load_of_step(recording, settings_.step.device, model_, time_options());
}

void PlannedStep::set_plain(const profile::StepLoad& load) {
  waits_for_host_ = load.waits_for_host();
  host_slack_us_ = waits_for_host_ ? 0 : std::max(load.step_us - load.host_us, 0.0);
}

plan::StepPeaks PlannedStep::peaks_of(const StepMemory& memory) {
  const std::int64_t aside = memory.uncertainty.margin_bytes();
  return {memory.peak_allocated_bytes + aside, memory.peak_reserved_bytes + aside,
          memory.small_segments_bytes};
}

plan::ReservedStep PlannedStep::reserved_of(const profile::LoopOptions& loop,
                                            const StepMemory& memory) {
  return {loop.allocator.up_front_bytes, peaks_of(memory), loop.warm_start};
}

bool PlannedStep::may_reserve() const {
  const profile::AllocatorSettings& allocator = settings_.loop.allocator;
  return profile::segments_stay(allocator) && !allocator.expandable_segments &&
         allocator.up_front_bytes.empty();
}

bool PlannedStep::starts_warm() const {
  const StepOptions& step = settings_.step;
  return settings_.loop.warm_start ||
         (!step.parallel && !step.master_weights && states_of(step.optimizer) != nullptr);
}

profile::LoopOptions PlannedStep::warm_loop() const {
  profile::LoopOptions loop = settings_.loop;
  loop.warm_start = starts_warm();
  return loop;
}

std::int64_t PlannedStep::up_front_bytes(std::int64_t bytes) const {
  const profile::AllocatorSettings& allocator = settings_.loop.allocator;
  const std::int64_t unit = profile::own_segment_unit_bytes, whole = bytes / unit * unit;
  const bool fits = whole > 0 && profile::rounded_size(whole, allocator) == whole &&
                    profile::segment_size(whole, allocator) == whole;
  return fits ? whole : 0;
}

std::vector<plan::HeldBytes> PlannedStep::held_of(const std::vector<profile::PoolBytes>& by_call) {
  std::vector<plan::HeldBytes> held;
  held.reserve(by_call.size());
  for (const profile::PoolBytes& call : by_call) held.push_back({call.small, call.large, call.all});
  return held;
}

bool PlannedStep::is_transfer(const Recording& recording, const CallRecord& call) {
  const auto is_on_host = [&](const TensorRecord& tensor) {
    return tensor.storage != none &&
           recording.storages[static_cast<std::size_t>(tensor.storage)].kind ==
               StorageKind::offloaded;
  };
  return std::ranges::any_of(call.inputs, is_on_host) ||
         std::ranges::any_of(call.outputs, is_on_host);
}

}  // namespace symprof
