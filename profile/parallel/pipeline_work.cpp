// The messages of a pipeline between its actions, in the order of
// torch/distributed/pipelining/schedules.py (2.13).
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/error.h"
#include "profile/parallel/schedules.h"

namespace symprof::profile {
namespace {

using Message = PipelineWork::Message;
using Works = std::vector<PipelineWork>;
/// Empty: something that sends nothing.
using PaddedActions = std::vector<std::optional<PipelineAction>>;

void add(Works& works, Message message, int stage, int microbatch) {
  works.push_back({{Computation::forward, stage, microbatch}, message});
}

/// ScheduleGPipe and Schedule1F1B, _step_microbatches: each action between its receives and its
/// sends. Where 1F1B batches two messages, the send comes first.
class OneStage {
 public:
  OneStage(const Pipeline& pipeline, int rank)
      : rank_(rank), is_first_(rank == 0), is_last_(rank + 1 == pipeline.ranks) {}

  Works run(const std::vector<PipelineAction>& actions) {
    for (const PipelineAction& action : actions) {
      const bool is_forward = action.computation == Computation::forward;
      if (is_forward ? !is_first_ : !is_last_)
        add(works_, is_forward ? Message::receive_forward : Message::receive_backward, rank_,
            action.microbatch);
      works_.push_back({action});
      if (is_forward ? !is_last_ : !is_first_)
        add(works_, is_forward ? Message::send_forward : Message::send_backward, rank_,
            action.microbatch);
    }
    return std::move(works_);
  }

 private:
  int rank_;
  bool is_first_, is_last_;
  Works works_;
};

/// FSDP's actions take a slot between the computations of a rank: unshard and reshard of the next
/// stages (_add_unshard_reshard), and the reduction of complete gradients (_add_reduce_grad).
PaddedActions padded(const std::vector<PipelineAction>& actions, int microbatches) {
  constexpr std::size_t most_active = 3;
  PaddedActions result;
  std::set<int> active;
  std::map<int, int> backwards;  // By stage.
  for (auto action = actions.begin(); action != actions.end(); ++action) {
    std::set<int> wanted;
    for (auto next = action; next != actions.end() && wanted.size() < most_active; ++next)
      wanted.insert(next->stage);
    std::vector<int> changes;
    std::ranges::set_symmetric_difference(active, wanted, std::back_inserter(changes));
    result.insert(result.end(), changes.size(), std::nullopt);
    active = std::move(wanted);
    result.emplace_back(*action);
    if (action->computation == Computation::backward && ++backwards[action->stage] == microbatches)
      result.emplace_back();
  }
  return result;
}

/// _add_send_recv: a send is placed together with the neighbor's receive.
class Messages {
 public:
  explicit Messages(const Pipeline& pipeline)
      : pipeline_(pipeline), works_(static_cast<std::size_t>(pipeline.ranks)) {}

  std::vector<Works> run(const std::vector<PaddedActions>& actions) {
    std::vector<std::size_t> next(actions.size());
    for (bool has_moved = true; std::exchange(has_moved, false);)
      for (std::size_t rank = 0; rank < actions.size(); ++rank) {
        if (next[rank] == actions[rank].size()) continue;
        const std::optional<PipelineAction>& action = actions[rank][next[rank]];
        if (action && !is_ready(*action, rank)) continue;
        if (action) perform(*action, rank);
        ++next[rank];
        has_moved = true;
      }
    return std::move(works_);
  }

 private:
  bool is_ready(const PipelineAction& action, std::size_t rank) const {
    const bool is_forward = action.computation == Computation::forward;
    if (action.stage == (is_forward ? 0 : pipeline_.stages() - 1)) return true;
    const PipelineWork received{{Computation::forward, action.stage, action.microbatch},
                                is_forward ? Message::receive_forward : Message::receive_backward};
    PipelineAction before = action;
    before.stage += is_forward ? -1 : 1;
    const Works& done = works_[rank];
    return std::ranges::find(done, received) != done.end() ||
           std::ranges::find(done, PipelineWork{before}) != done.end();
  }

  void perform(const PipelineAction& action, std::size_t rank) {
    works_[rank].push_back({action});
    const bool is_forward = action.computation == Computation::forward;
    const int neighbor = action.stage + (is_forward ? 1 : -1);
    if (neighbor < 0 || neighbor == pipeline_.stages()) return;
    const auto there = static_cast<std::size_t>(pipeline_.rank_of(neighbor));
    if (there == rank) return;
    add(works_[rank], is_forward ? Message::send_forward : Message::send_backward, action.stage,
        action.microbatch);
    add(works_[there], is_forward ? Message::receive_forward : Message::receive_backward, neighbor,
        action.microbatch);
  }

  const Pipeline& pipeline_;
  std::vector<Works> works_;
};

}  // namespace

std::vector<std::vector<PipelineWork>> work_of(const Pipeline& pipeline) {
  if (row_of(pipeline.kind).splits_backward)
    throw Error("schedule " + std::string(row_of(pipeline.kind).name),
                "it has backward of inputs and of weights apart, which is not simulated.",
                "Give 1f1b, gpipe, interleaved or looped-bfs.");
  const auto actions = actions_of(pipeline);
  if (pipeline.kind == PipelineKind::one_f_one_b && pipeline.microbatches < pipeline.ranks)
    throw Error("schedule 1F1B", fmt::format("{} microbatches", pipeline.microbatches),
                fmt::format("It takes at least as many as there are stages, {}.", pipeline.ranks));
  std::vector<Works> works;
  std::vector<PaddedActions> steps;
  for (std::size_t rank = 0; rank < actions.size(); ++rank)
    if (pipeline.stages_per_rank == 1)
      works.push_back(OneStage(pipeline, static_cast<int>(rank)).run(actions[rank]));
    else
      steps.push_back(padded(actions[rank], pipeline.microbatches));
  return steps.empty() ? std::move(works) : Messages(pipeline).run(steps);
}

}  // namespace symprof::profile
