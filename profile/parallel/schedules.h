// Pipeline schedules of torch.distributed.pipelining: the order of each rank's actions, the step
// time, and the microbatches in flight.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "record/parallel_options.h"

namespace symprof::profile {

struct PipelineKindRow {
  PipelineKind kind;
  std::string_view name;        ///< As in torch.distributed.pipelining's get_schedule_class.
  std::string_view short_name;  ///< "1f1b"
  /// Fewest and most stages per rank.
  int least_stages, most_stages;
  bool splits_backward;  ///< Gradients of inputs and of weights at different times.
  bool is_v;  ///< Stages are placed in a V (down the ranks and up again), else in a loop.
};
std::span<const PipelineKindRow> pipeline_kinds();
const PipelineKindRow& row_of(PipelineKind kind);
/// The schedule of this name (PyTorch's class name or the short one), ignoring case; empty if there
/// is none.
std::optional<PipelineKind> pipeline_called(std::string_view name);

enum class Computation : std::uint8_t { forward, backward, backward_input, backward_weight };

struct PipelineAction {
  Computation computation = Computation::forward;
  int stage = 0, microbatch = 0;
  /// Runs overlapped with the next action of the rank.
  bool overlaps_next = false;
  bool operator==(const PipelineAction&) const = default;
};
/// As PyTorch writes it: "0F1", "3B0", "(0F3;3B1)OVERLAP_F_B" for a pair.
std::string text_of(std::span<const PipelineAction> actions);

struct Pipeline {
  PipelineKind kind = PipelineKind::one_f_one_b;
  int ranks = 1;
  int stages_per_rank = 1;
  int microbatches = 1;

  int stages() const { return ranks * stages_per_rank; }
  int rank_of(int stage) const;
};

/// The actions by rank. Throws Error if PyTorch's schedule does not accept these numbers.
std::vector<std::vector<PipelineAction>> actions_of(const Pipeline& pipeline);

/// One unit of a rank's work: a computation, or a message to or from a neighbor.
struct PipelineWork {
  enum class Message : std::uint8_t {
    none,
    send_forward,
    receive_forward,
    send_backward,
    receive_backward
  };
  PipelineAction action;  ///< For a message: the stage on this rank, and the microbatch.
  Message message = Message::none;
  bool operator==(const PipelineWork&) const = default;
};
/// By rank, in the order in which PyTorch issues it. Throws Error as actions_of does, and for a
/// schedule that splits backward.
std::vector<std::vector<PipelineWork>> work_of(const Pipeline& pipeline);

/// Times of one microbatch by stage. A full backward is the sum of its two halves.
struct StageTimes {
  std::vector<double> forward, backward_input, backward_weight;
  /// From the end of a stage to the start of the next on another rank.
  double transfer = 0;
};

struct PipelineRun {
  double makespan = 0;
  std::vector<double> idle;    ///< By rank.
  std::vector<int> in_flight;  ///< By rank: the most microbatches of all its stages whose forward
                               ///< ran and whose backward (or weight gradient) has not.
  std::vector<int> waiting;    ///< By rank: the most microbatches with input gradients done and
                               ///< weight gradients pending.
  /// Idle time divided by the makespan, averaged over the ranks.
  double bubble() const;
};

/// Runs each action as soon as its rank is free and its dependencies are met; the two of a pair in
/// sequence. Throws Error on a deadlock of ranks.
PipelineRun run_pipeline(const Pipeline& pipeline,
                         const std::vector<std::vector<PipelineAction>>& actions,
                         const StageTimes& times);

}  // namespace symprof::profile
