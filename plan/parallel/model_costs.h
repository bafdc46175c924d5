// A model as a chain of units (what precedes the repeated blocks, the blocks, what follows them),
// with the costs of each unit for a number of samples on a share of a tensor-parallel group.
// Derived from one profile of the step on one device by re-estimating kernels with other sizes.
// Blocks that make the same calls are one type, which is estimated once.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "plan/parallel/block_placements.h"
#include "plan/parallel/tensor_split.h"
#include "profile/call_kernels.h"
#include "profile/profile.h"
#include "profile/time/time_model.h"
#include "trace/passes/expert_products.h"

namespace symprof::plan {

struct Unit {
  std::string name;  ///< The block's path; "" before and after the blocks.
  std::size_t type = 0;
  std::vector<CallId> calls;
};

/// The share of a unit to estimate.
struct UnitShare {
  double samples = 1;  ///< In a microbatch.
  int tensor = 1;      ///< Ranks of the tensor-parallel group.
  bool sequence = false;
  int expert = 1;        ///< Ranks that share the experts.
  bool by_node = false;  ///< Split by block_placements.h, else by the rule.
  auto operator<=>(const UnitShare&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// Costs of one rank; times in microseconds, the larger of the device's and the host's.
struct UnitCosts {
  double forward_us = 0, backward_us = 0;
  double saved_bytes = 0;     ///< Kept for backward.
  double boundary_bytes = 0;  ///< Its outputs that later units read.
  /// Collectives over the tensor-parallel group, in bytes of whole tensors.
  std::vector<double> forward_reduces, backward_reduces;  ///< all_reduce.
  std::vector<double> forward_gathers, forward_scatters;  ///< With sequence parallelism; swapped
                                                          ///< in backward.
  /// all_to_all over the expert ranks: rows of tokens there and back, in forward and backward; and
  /// the number of rows of each expert, in forward.
  std::vector<double> row_exchanges, count_exchanges;
};

/// The split of a model among ranks: each rank's share of every unit.
struct ModelSplit {
  TensorSplit tensors;
  /// By unit: bytes of replicated parameters, and of linear layers that are split.
  std::vector<double> whole_parameter_bytes, split_parameter_bytes;
  std::vector<double> expert_parameter_bytes;  ///< By unit: of the replicated ones, the experts'.
};

/// The placements found inside the blocks, for one share.
struct FoundPlacements {
  UnitShare share;
  BlockPlacements block;  ///< Of the most frequent kind of block.
};

class ModelCosts {
 public:
  /// `profile` has times and memory; `graph` is the executed graph, `specs` those of its values.
  /// `blocks` are paths of repeated modules, in order. All but `blocks` must outlive this.
  ModelCosts(const Profile& profile, const DeviceSpec& device, profile::TimeModel& model,
             const std::vector<std::string>& blocks, const Graph& graph,
             const trace::ValueSpecs& specs);

  const std::vector<Unit>& units() const { return units_; }
  const TensorSplit& split() const { return rule_.tensors; }
  const ModelSplit& split(const UnitShare& share) const;
  /// Bytes of parameters before data parallelism shards them; without distributed experts.
  double held_bytes(std::size_t unit, const UnitShare& share) const;
  /// Bytes of distributed experts, which data parallelism does not shard.
  double expert_bytes(std::size_t unit, const UnitShare& share) const;
  /// All recognized experts (trace/passes/expert_products.h).
  const std::vector<trace::ExpertProducts>& experts() const { return experts_; }
  bool can_spread_experts(int ranks) const;

  /// Searches placements inside the blocks for `share`'s ranks and samples; `collective_us` is of
  /// its group. If they beat the rule, shares with `by_node` use them from then on.
  void find_placements(UnitShare share,
                       const std::function<double(profile::CollectiveKind, double)>& collective_us);
  /// True if there are placements that beat the rule.
  bool has_placements(int tensor, bool sequence) const;
  const std::vector<FoundPlacements>& found_placements() const { return found_; }
  /// True if a block reads the output of a block other than the previous one, or of what precedes
  /// all blocks.
  bool skips_blocks() const { return skips_blocks_; }
  std::size_t types() const { return type_count_; }
  double samples() const { return samples_; }  ///< In the profiled step.

  const UnitCosts& costs(std::size_t unit, const UnitShare& share);

  double optimizer_us() const { return optimizer_us_; }
  double parameter_bytes() const { return parameter_bytes_; }
  double gradient_bytes() const { return gradient_bytes_; }
  double state_bytes() const { return state_bytes_; }
  /// The largest temporary memory of forward and backward beyond what is saved; for the profiled
  /// samples.
  double temporary_bytes() const { return temporary_bytes_; }
  double optimizer_temporary_bytes() const { return optimizer_temporary_bytes_; }
  /// Reserved over allocated bytes of the profiled step.
  double fragmentation() const { return fragmentation_; }

 private:
  void make_units(const std::vector<std::string>& blocks);
  void find_boundaries();
  void find_types();
  void find_memory();
  UnitCosts compute(std::size_t unit, const UnitShare& share);
  double call_us(CallId call, double samples, double share, NodeSplit split, int expert = 1);
  double share_of(NodeId node, const UnitShare& share) const;
  ModelSplit with_parameters(TensorSplit tensors) const;
  TensorSplit split_of_placements(const BlockPlacements& block, std::size_t unit) const;
  std::vector<NodeId> nodes_of(std::size_t unit) const;
  void find_experts();
  void add_exchanges(std::size_t unit, const UnitShare& share, UnitCosts& costs) const;
  void add_collectives(std::size_t unit, const UnitShare& share, UnitCosts& costs) const;
  const TensorSpec* weight_of(NodeId node) const;
  const TensorSpec* expert_weights(NodeId node) const;

  const Profile& profile_;
  const DeviceSpec& device_;
  profile::TimeModel& model_;
  const std::vector<std::string> blocks_;
  const Graph& graph_;
  const trace::ValueSpecs& specs_;
  ModelSplit rule_;
  std::map<std::pair<int, bool>, ModelSplit> by_node_;  ///< By tensor ranks and sequence.
  std::vector<FoundPlacements> found_;
  std::vector<Unit> units_;
  std::vector<std::size_t> unit_of_node_;
  std::vector<profile::LaunchEstimate> kernels_;
  std::vector<double> boundary_bytes_;  ///< By unit, for the profiled samples.
  bool skips_blocks_ = false;
  std::vector<double> saved_bytes_;  ///< By node.
  std::vector<trace::ExpertProducts> experts_;
  std::set<std::size_t> expert_readers_;  ///< Graph nodes that read a weight of experts.
  /// By node of the graph: the weights of its grouped expert product.
  std::map<std::size_t, const TensorSpec*> expert_weights_;
  std::map<std::tuple<std::size_t, double, int, bool, int, bool>, UnitCosts> known_;  ///< By type.
  std::size_t type_count_ = 0;
  double samples_ = 1, optimizer_us_ = 0, parameter_bytes_ = 0, gradient_bytes_ = 0;
  double state_bytes_ = 0, temporary_bytes_ = 0, optimizer_temporary_bytes_ = 0;
  double fragmentation_ = 1;
};

}  // namespace symprof::plan
