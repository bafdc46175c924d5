// Simulates the actions of a pipeline: advances each rank as far as possible, until all are done.
#include <algorithm>
#include <optional>

#include "base/error.h"
#include "profile/parallel/schedules.h"

namespace symprof::profile {
namespace {

class Player {
 public:
  Player(const Pipeline& pipeline, const StageTimes& times)
      : pipeline_(pipeline),
        times_(times),
        ranks_(static_cast<std::size_t>(pipeline.ranks)),
        ends_(static_cast<std::size_t>(pipeline.stages()) * microbatches()) {}

  PipelineRun run(const std::vector<std::vector<PipelineAction>>& actions) {
    for (bool is_done = false; !is_done;) {
      bool has_moved = false;
      is_done = true;
      for (std::size_t rank = 0; rank < actions.size(); ++rank) {
        has_moved |= advance(rank, actions[rank]);
        is_done &= ranks_[rank].next == actions[rank].size();
      }
      if (!is_done && !has_moved)
        throw Error("pipeline", "its ranks wait for each other",
                    "Give an order in which each action comes after what it needs.");
    }
    return result();
  }

 private:
  /// End times of a microbatch's parts in a stage.
  struct Ends {
    std::optional<double> forward, backward_input;
  };
  struct Rank {
    double clock = 0, busy = 0;
    int flying = 0, most = 0;
    int waiting = 0, most_waiting = 0;
    std::size_t next = 0;
  };

  std::size_t microbatches() const { return static_cast<std::size_t>(pipeline_.microbatches); }

  Ends& ends(int stage, int microbatch) {
    return ends_[static_cast<std::size_t>(stage) * microbatches() +
                 static_cast<std::size_t>(microbatch)];
  }

  bool advance(std::size_t rank, const std::vector<PipelineAction>& actions) {
    const std::size_t before = ranks_[rank].next;
    while (ranks_[rank].next < actions.size() && run_one(ranks_[rank], actions[ranks_[rank].next]))
      ++ranks_[rank].next;
    return ranks_[rank].next > before;
  }

  double transfer(int stage, int from) const {
    return pipeline_.rank_of(stage) == pipeline_.rank_of(from) ? 0 : times_.transfer;
  }

  /// The time when the dependencies of `action` are met; nullopt while unknown.
  std::optional<double> ready(const PipelineAction& action) {
    const int stage = action.stage, microbatch = action.microbatch;
    if (action.computation == Computation::forward) {
      if (stage == 0) return 0;
      const std::optional<double> before = ends(stage - 1, microbatch).forward;
      if (before) return *before + transfer(stage, stage - 1);
      return before;
    }
    if (action.computation == Computation::backward_weight)
      return ends(stage, microbatch).backward_input;
    const std::optional<double> forward = ends(stage, microbatch).forward;
    if (!forward || stage == pipeline_.stages() - 1) return forward;
    const std::optional<double> after = ends(stage + 1, microbatch).backward_input;
    if (after) return std::max(*forward, *after + transfer(stage, stage + 1));
    return after;
  }

  double duration(const PipelineAction& action) const {
    const auto stage = static_cast<std::size_t>(action.stage);
    switch (action.computation) {
      case Computation::forward:
        return times_.forward[stage];
      case Computation::backward_input:
        return times_.backward_input[stage];
      case Computation::backward_weight:
        return times_.backward_weight[stage];
      default:
        return times_.backward_input[stage] + times_.backward_weight[stage];
    }
  }

  bool run_one(Rank& rank, const PipelineAction& action) {
    const std::optional<double> begin = ready(action);
    if (!begin) return false;
    const double takes = duration(action);
    rank.clock = std::max(rank.clock, *begin) + takes;
    rank.busy += takes;
    Ends& found = ends(action.stage, action.microbatch);
    if (action.computation == Computation::forward) {
      found.forward = rank.clock;
      rank.most = std::max(rank.most, ++rank.flying);
    } else if (action.computation == Computation::backward_weight) {
      --rank.flying, --rank.waiting;
    } else {
      found.backward_input = rank.clock;
      if (action.computation == Computation::backward)
        --rank.flying;
      else
        rank.most_waiting = std::max(rank.most_waiting, ++rank.waiting);
    }
    return true;
  }

  PipelineRun result() const {
    PipelineRun run;
    for (const Rank& rank : ranks_) run.makespan = std::max(run.makespan, rank.clock);
    run.idle.reserve(ranks_.size());
    run.in_flight.reserve(ranks_.size());
    run.waiting.reserve(ranks_.size());
    for (const Rank& rank : ranks_) {
      run.idle.push_back(run.makespan - rank.busy);
      run.in_flight.push_back(rank.most);
      run.waiting.push_back(rank.most_waiting);
    }
    return run;
  }

  const Pipeline& pipeline_;
  const StageTimes& times_;
  std::vector<Rank> ranks_;
  std::vector<Ends> ends_;  // By stage, then by microbatch.
};

}  // namespace

double PipelineRun::bubble() const {
  double sum = 0;
  for (const double one : idle) sum += one;
  const double time = makespan * static_cast<double>(idle.size());
  return time > 0 ? sum / time : 0;
}

PipelineRun run_pipeline(const Pipeline& pipeline,
                         const std::vector<std::vector<PipelineAction>>& actions,
                         const StageTimes& times) {
  return Player(pipeline, times).run(actions);
}

}  // namespace symprof::profile
