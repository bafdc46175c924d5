// The time of a layout's step and the memory of its fullest rank: an estimate from the costs of
// units, the times of collectives and the order in which PyTorch's engines issue both.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "plan/parallel/layout.h"
#include "plan/parallel/model_costs.h"
#include "profile/time/collectives/links.h"
#include "record/collective.h"

namespace symprof::plan {

struct ParallelProblem {
  Mesh mesh;
  std::int64_t global_batch = 1;     ///< Samples of a step, over all devices.
  std::int64_t available_bytes = 0;  ///< Of a device, without CUDA's context.
};

/// Memory of the fullest rank, in bytes. Sums without an allocator simulation: the ratio of
/// reserved to allocated memory is taken from the profiled step.
struct LayoutMemory {
  double parameters = 0, gradients = 0, optimizer = 0;
  double buffers = 0;      ///< FSDP's gather and reduce buffers, and a pipeline's receive buffers.
  double activations = 0;  ///< Saved, of all microbatches in flight.
  double temporaries = 0;
  double peak_bytes = 0;  ///< Reserved.
};

/// Collectives of one kind over one dimension of the mesh, for one rank and step.
struct CollectiveSum {
  MeshDimension dimension = MeshDimension::data;
  profile::CollectiveKind kind = profile::CollectiveKind::all_reduce;
  std::int64_t count = 0;
  double bytes = 0;  ///< Counted as nccl-tests do.
};

struct LayoutResult {
  ParallelLayout layout;
  double step_us = 0;
  double compute_us = 0;        ///< Of the slowest rank, the update included.
  double communication_us = 0;  ///< Of that rank, hidden or exposed.
  double exposed_us = 0;        ///< Communication that stalls computation.
  double bubble = 0;            ///< The idle share of a pipeline's time.
  /// Collectives of the rank that sends most; a pipeline's send and receive count as one.
  std::vector<CollectiveSum> collectives;
  LayoutMemory memory;
  bool fits = false;

  double comm_bytes() const;
  /// For a pipeline, by stage: the number of blocks up to its end. What precedes the blocks is in
  /// the first stage, what follows them in the last.
  std::vector<std::size_t> stage_ends;
};

/// One unit of the model on one rank of a layout, for one microbatch.
struct UnitTimes {
  double forward_us = 0, backward_us = 0;
  double again_us = 0;  ///< Recomputation, with its tensor collectives.
  /// Blocking collectives of tensor and expert parallelism.
  double forward_tensor_us = 0, backward_tensor_us = 0;
  double gather_us = 0, reduce_us = 0;  ///< Collectives of data parallelism.
  double held_bytes = 0;       ///< Parameters of the rank with its tensor share, not sharded.
  double expert_bytes = 0;     ///< The rank's share of distributed experts, in addition.
  double saved_bytes = 0;      ///< As the unit runs, checkpointed or not.
  double whole_set_bytes = 0;  ///< Saved without a checkpoint: what recomputation restores.
  double boundary_bytes = 0;
};

class StepModel {
 public:
  StepModel(ModelCosts& costs, const profile::CollectiveModel& collectives,
            const ParallelProblem& problem)
      : costs_(costs), collectives_(collectives), problem_(problem) {}

  /// Evaluates the layout with `checkpointed` blocks, by default the fewest with which it fits, or
  /// all if it never does; a pipeline has none or all.
  LayoutResult evaluate(ParallelLayout layout, std::optional<int> checkpointed = std::nullopt);

  /// The time of a collective in a group of `ranks` within a node.
  double tensor_us(profile::CollectiveKind kind, double bytes, int ranks) {
    return collective_us(kind, bytes, {ranks, 1});
  }

 private:
  struct Group {
    int ranks = 1, nodes = 1;
  };
  Group tensor_group(const ParallelLayout& layout) const;
  Group shard_group(const ParallelLayout& layout) const;
  Group copies_group(const ParallelLayout& layout) const;
  double collective_us(profile::CollectiveKind kind, double bytes, Group group);

  double samples_of(const ParallelLayout& layout) const;
  UnitShare share_of(const ParallelLayout& layout) const {
    return {samples_of(layout), layout.tensor, layout.sequence, layout.expert, layout.by_node};
  }
  UnitTimes unit_times(const ParallelLayout& layout, std::size_t unit);
  void add_tensor_collectives(const ParallelLayout& layout, const UnitCosts& costs,
                              UnitTimes& times);
  double add_expert_collectives(const ParallelLayout& layout, const UnitCosts& costs,
                                UnitTimes& times);
  void add_data_collectives(const ParallelLayout& layout, UnitTimes& times);
  std::vector<UnitTimes> times_of(const ParallelLayout& layout);

  std::vector<CollectiveSum> collectives_of(const LayoutResult& result, int rank);
  LayoutResult result_of(const ParallelLayout& layout);
  void run_chain(const std::vector<UnitTimes>& units, LayoutResult& result) const;
  void run_stages(const std::vector<UnitTimes>& units, LayoutResult& result);
  std::vector<UnitTimes> stages_of(const std::vector<UnitTimes>& units, LayoutResult& result);
  StageTimes stage_times(const std::vector<UnitTimes>& stages, const ParallelLayout& layout);
  double add_rank(const std::vector<UnitTimes>& own, double in_flight, double transfer_us,
                  LayoutResult& result) const;
  LayoutMemory memory_of(const ParallelLayout& layout, const std::vector<UnitTimes>& units,
                         double in_flight) const;
  double update_us(const ParallelLayout& layout, const std::vector<UnitTimes>& units) const;

  ModelCosts& costs_;
  const profile::CollectiveModel& collectives_;
  ParallelProblem problem_;
  std::map<profile::CollectiveWork, double> known_us_;
};

/// Splits units into stages such that the slowest stage is as fast as possible. Returns the end of
/// each stage, in order. `us` are the times of the units; there are at least as many units as
/// stages.
std::vector<std::size_t> balanced_stages(const std::vector<double>& us, std::size_t stages);

}  // namespace symprof::plan
