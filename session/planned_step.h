// A step of a session, recorded and measured with different checkpoint plans.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "plan/checkpoint/trial.h"
#include "profile/memory/memory_data.h"
#include "profile/memory/pool_bytes.h"
#include "profile/step_time.h"
#include "profile/time/time_model.h"
#include "session/session.h"

namespace symprof {

class PlannedStep final : public plan::CheckpointTrial {
 public:
  PlannedStep(Session& session, const Settings& settings, profile::TimeModel model)
      : session_(session), settings_(settings), model_(std::move(model)) {}

  Recording record(const CheckpointPlan& plan) override;
  plan::StepPeaks peaks(const Recording& recording) override;
  /// Simulates the step with memory reserved up front. Empty if the allocator would release that
  /// memory or not use it for other blocks. A block that does not fit into it takes a segment of
  /// its own; then that much less is reserved up front.
  std::optional<plan::ReservedStep> reserve(const Recording& recording, std::int64_t bytes,
                                            std::int64_t small_segments_bytes,
                                            std::int64_t most_bytes) override;
  std::int64_t small_segments_bytes(const Recording& recording,
                                    const plan::StepPeaks& as_it_is) override;
  StepMemory expandable_memory(const Recording& recording);
  std::vector<plan::HeldBytes> held_bytes(const Recording& recording) override;
  std::vector<profile::PoolWeights> segment_weights(const Recording& again,
                                                    const Recording& plain) override;
  std::vector<plan::HeldBytes> held_weights(const Recording& recording,
                                            const profile::PoolWeights& weights) override;
  std::vector<double> costs_us(const Recording& recording) override;
  plan::HostCosts host_costs(const Recording& recording) override;
  std::int64_t recompute_flops(const Recording& recording) override;
  profile::StepLoad load_of(const Recording& recording);
  void set_plain(const profile::StepLoad& load);
  static plan::StepPeaks peaks_of(const StepMemory& memory);

 private:
  static plan::ReservedStep reserved_of(const profile::LoopOptions& loop, const StepMemory& memory);
  bool may_reserve() const;
  /// True if a loop that reserves memory up front also creates the optimizer's states and the
  /// workspaces before its first step. A plan's file does so before ranks have their shards of the
  /// model, and does not know master weights.
  bool starts_warm() const;
  profile::LoopOptions warm_loop() const;
  /// The size of the up-front segment, at most `bytes`; 0: none.
  std::int64_t up_front_bytes(std::int64_t bytes) const;
  TimeOptions time_options() const { return settings_.time.value_or(TimeOptions{}); }

  static std::vector<plan::HeldBytes> held_of(const std::vector<profile::PoolBytes>& by_call);
  /// True if the call copies a saved tensor to the host or back.
  static bool is_transfer(const Recording& recording, const CallRecord& call);

  Session& session_;
  Settings settings_;
  profile::TimeModel model_;
  bool waits_for_host_ = false;
  double host_slack_us_ = 0;  // See plan::HostCosts.
};

}  // namespace symprof
