// How long a step of a layout takes, and what its fullest rank holds: an estimate from the costs of
// units, the times of collectives and the order in which PyTorch's engines issue both.
//
// Public header.
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

/// Of the fullest rank, in bytes. Sums, and no allocator: what is reserved is taken to be above
/// what is allocated by as much as in the profiled step.
struct LayoutMemory {
  double parameters = 0, gradients = 0, optimizer = 0;
  double buffers = 0;      ///< What FSDP gathers and reduces, and what a pipeline receives into.
  double activations = 0;  ///< Saved, of all microbatches in flight.
  double temporaries = 0;
  double peak_bytes = 0;  ///< Reserved.
};

/// Collectives of one kind over one dimension of the mesh, of one rank in a step.
struct CollectiveSum {
  MeshDimension dimension = MeshDimension::data;
  profile::CollectiveKind kind = profile::CollectiveKind::all_reduce;
  std::int64_t count = 0;
  double bytes = 0;  ///< As nccl-tests count them.
};

struct LayoutResult {
  ParallelLayout layout;
  double step_us = 0;
  double compute_us = 0;        ///< Of the rank that computes longest, the update included.
  double communication_us = 0;  ///< Of that rank, hidden or not.
  double exposed_us = 0;        ///< Computation stands still because of it.
  double bubble = 0;            ///< Share of a pipeline's time in which a rank is idle.
  /// Of the rank that sends most; of a pipeline's hops a send and a receive are one.
  std::vector<CollectiveSum> collectives;
  LayoutMemory memory;
  bool fits = false;

  double comm_bytes() const;
  /// Of a pipeline, by stage: how many blocks there are up to its end. What comes before the blocks
  /// is in the first stage, what comes after them in the last.
  std::vector<std::size_t> stage_ends;
};

/// One unit of the model on one rank of a layout, for one microbatch.
struct UnitTimes {
  double forward_us = 0, backward_us = 0;
  double again_us = 0;  ///< What a checkpoint runs again, tensor collectives included.
  /// Collectives of tensor and expert parallelism, which are waited for at once.
  double forward_tensor_us = 0, backward_tensor_us = 0;
  double gather_us = 0, reduce_us = 0;  ///< Collectives of data parallelism.
  double held_bytes = 0;       ///< Parameters of the rank with its tensor share, not sharded.
  double expert_bytes = 0;     ///< Of experts that are spread: the rank's part, beside the others.
  double saved_bytes = 0;      ///< As the unit runs, checkpointed or not.
  double whole_set_bytes = 0;  ///< Saved without a checkpoint: what recomputation brings back.
  double boundary_bytes = 0;
};

class StepModel {
 public:
  StepModel(ModelCosts& costs, const profile::CollectiveModel& collectives,
            const ParallelProblem& problem)
      : costs_(costs), collectives_(collectives), problem_(problem) {}

  /// The least number of checkpointed blocks with which the layout fits, all of them where none
  /// does; a pipeline has none or all. Or `checkpointed` of them.
  LayoutResult evaluate(ParallelLayout layout, std::optional<int> checkpointed = std::nullopt);

  /// Of a group of `ranks` within a node.
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

/// Units by stage, in order: where each stage ends, so that the slowest stage is as fast as
/// possible. `us` are the times of the units; there are at least as many units as stages.
std::vector<std::size_t> balanced_stages(const std::vector<double>& us, std::size_t stages);

}  // namespace symprof::plan
