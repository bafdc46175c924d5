// Pipeline schedules of torch.distributed.pipelining: what each rank does in which order, how long
// a step takes with it, and how many microbatches are in flight.
//
// Public header.
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
  std::string_view name;        ///< As torch.distributed.pipelining's get_schedule_class knows it.
  std::string_view short_name;  ///< "1f1b"
  /// Stages of a rank: exactly so many, or at least.
  int least_stages, most_stages;
  bool splits_backward;  ///< Gradients of inputs and of weights at different times.
  bool is_v;             ///< Stages run down the ranks and up again; else round and round.
};
std::span<const PipelineKindRow> pipeline_kinds();
const PipelineKindRow& row_of(PipelineKind kind);
/// Either name; letters' case does not matter.
std::optional<PipelineKind> pipeline_called(std::string_view name);

enum class Computation : std::uint8_t { forward, backward, backward_input, backward_weight };

struct PipelineAction {
  Computation computation = Computation::forward;
  int stage = 0, microbatch = 0;
  /// It is one of two that a rank may run at once, with the action after it.
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

/// By rank. Throws Error where PyTorch's schedule does not take these numbers.
std::vector<std::vector<PipelineAction>> actions_of(const Pipeline& pipeline);

/// What a rank does at one time: computation, or a message to a neighbour or from it.
struct PipelineWork {
  enum class Message : std::uint8_t {
    none,
    send_forward,
    receive_forward,
    send_backward,
    receive_backward
  };
  PipelineAction action;  ///< Of a message: the stage on this rank, and the microbatch.
  Message message = Message::none;
  bool operator==(const PipelineWork&) const = default;
};
/// By rank, in the order in which PyTorch issues it. Throws Error as actions_of does, and for a
/// schedule that splits backward.
std::vector<std::vector<PipelineWork>> work_of(const Pipeline& pipeline);

/// Times of one microbatch by stage. A whole backward is the two halves together.
struct StageTimes {
  std::vector<double> forward, backward_input, backward_weight;
  /// From the end of a stage to the begin of its neighbour on another rank.
  double transfer = 0;
};

struct PipelineRun {
  double makespan = 0;
  std::vector<double> idle;    ///< By rank.
  std::vector<int> in_flight;  ///< By rank: the most microbatches of all its stages whose forward
                               ///< ran and whose backward (or weight gradient) has not.
  std::vector<int> waiting;    ///< By rank: the most of them whose gradients of inputs are there
                               ///< and those of weights are not.
  /// Idle time by the makespan, averaged over the ranks.
  double bubble() const;
};

/// Each action as soon as its rank is free and what it needs is there; the two of a pair in turn.
/// Throws Error for an order in which ranks wait for each other.
PipelineRun run_pipeline(const Pipeline& pipeline,
                         const std::vector<std::vector<PipelineAction>>& actions,
                         const StageTimes& times);

}  // namespace symprof::profile
