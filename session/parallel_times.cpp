#include "session/parallel_times.h"

#include <algorithm>

#include "profile/collective_times.h"
#include "profile/pipeline_time.h"
#include "profile/step_time.h"
#include "profile/time/collectives/links.h"
#include "session/paths.h"

namespace symprof {
namespace {

/// The longest message between stages, and all of them together; in `timed` they then take no time.
struct Messages {
  TimedCollective longest;
  double all_us = 0;
};

Messages take_messages(const std::vector<Collective>& collectives,
                       std::vector<TimedCollective>& timed) {
  Messages messages;
  for (std::size_t i = 0; i < timed.size(); ++i) {
    if (collectives[i].dimension != MeshDimension::pipeline) continue;
    if (timed[i].us > messages.longest.us) messages.longest = timed[i];
    messages.all_us += timed[i].us;
    timed[i].us = timed[i].low_us = timed[i].high_us = 0;
  }
  return messages;
}

/// The ranks of the pipeline that `profile` has one of.
class PipelineRanks {
 public:
  PipelineRanks(const PipelineRun& run, Profile& profile)
      : run_(run),
        profile_(profile),
        options_(*run.ran.step.parallel),
        times_(time_model_of(run.device, *run.ran.time)) {}

  void run() {
    const std::int64_t own = options_.pipeline.rank.value_or(0);
    for (std::int64_t rank = 0; rank < options_.pipeline.ranks; ++rank)
      if (rank == own)
        add(profile_.recording);
      else
        add(record(rank));
    replace_step(static_cast<int>(own));
  }

 private:
  Recording record(std::int64_t rank) {
    Settings settings = run_.given;
    settings.step.parallel->pipeline.rank = rank;
    return run_.record(settings);
  }

  void add(const Recording& recording) {
    std::vector<TimedCollective> timed = timed_collectives(recording, options_, run_.device);
    const Messages messages = take_messages(recording.rank->collectives, timed);
    if (messages.longest.us > longest_.us) longest_ = messages.longest;
    const profile::StepLoad load =
        profile::load_of_step(recording, run_.device, times_, *run_.ran.time, nullptr, timed,
                              run_.given.step.checkpoint_plan);
    ranks_.push_back(profile::passes_of(recording.rank->passes, load));
  }

  /// The rank's own step without messages, then with its waiting times.
  void replace_step(int own) {
    std::vector<TimedCollective> timed =
        timed_collectives(profile_.recording, options_, run_.device);
    const Messages messages = take_messages(profile_.recording.rank->collectives, timed);
    profile::add_collectives(profile_, run_.device, timed);
    StepTime& step = *profile_.time;
    step.communication_us += messages.all_us;
    const profile::Reach of_rank{step.low_us / step.step_us, step.high_us / step.step_us};
    step.pipeline = pipeline_with(own, longest_.us);
    step.step_us = step_us_of(*step.pipeline);
    profile::join_reaches(step, of_rank,
                          {step_us_of(pipeline_with(own, longest_.low_us)) / step.step_us,
                           step_us_of(pipeline_with(own, longest_.high_us)) / step.step_us});
    step.idle_us = std::max(step.step_us - step.busy_us() - step.exposed_us, 0.0);
  }

  PipelineTime pipeline_with(int own, double message_us) const {
    const PipelineOptions& pipeline = options_.pipeline;
    return profile::pipeline_time(
        {pipeline.kind, static_cast<int>(pipeline.ranks),
         static_cast<int>(pipeline.stages_per_rank), static_cast<int>(pipeline.microbatches)},
        ranks_, own, message_us);
  }

  double step_us_of(const PipelineTime& pipeline) const {
    double rest_us = 0;
    for (const profile::RankPasses& rank : ranks_) rest_us = std::max(rest_us, rank.rest_us);
    return pipeline.makespan_us + rest_us;
  }

  const PipelineRun& run_;
  Profile& profile_;
  const ParallelOptions& options_;
  profile::TimeModel times_;
  std::vector<profile::RankPasses> ranks_;
  TimedCollective longest_;
};

}  // namespace

profile::TimeModel time_model_of(const DeviceSpec& device, const TimeOptions& options) {
  const bool is_graph = options.launch == LaunchKind::graph;
  return profile::time_model_of(device, data_sheet_path(),
                                is_graph ? profile::Floor::of_graph : profile::Floor::of_device);
}

std::vector<TimedCollective> timed_collectives(const Recording& recording,
                                               const ParallelOptions& options,
                                               const DeviceSpec& device) {
  const std::vector<Collective>& collectives = recording.rank->collectives;
  const std::vector<profile::CollectiveTime> times =
      profile::times_of(collectives, profile::collective_model_of(device),
                        {.pipeline = static_cast<int>(options.pipeline.ranks),
                         .data = static_cast<int>(options.replicas),
                         .shard = static_cast<int>(options.shards),
                         .tensor = static_cast<int>(options.tensor * options.recorded),
                         .devices_per_node = static_cast<int>(options.ranks_per_node)});
  std::vector<TimedCollective> timed;
  timed.reserve(times.size());
  for (std::size_t i = 0; i < times.size(); ++i)
    timed.push_back({.before_call = collectives[i].call,
                     .needed_by = collectives[i].needed_by,
                     .us = times[i].us,
                     .low_us = times[i].low_us,
                     .high_us = times[i].high_us});
  return timed;
}

bool has_pipeline_time(const Settings& settings) {
  return settings.time && settings.step.parallel && settings.step.parallel->pipeline.ranks > 1;
}

void add_pipeline_time(const PipelineRun& run, Profile& profile) {
  PipelineRanks(run, profile).run();
}

}  // namespace symprof
