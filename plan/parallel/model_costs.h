// A model as a chain of units (what comes before the repeated blocks, the blocks, what comes after
// them), and what each unit costs for a number of samples on a share of a tensor-parallel group.
// Follows from one profile of the step on one device: kernels are asked again with other sizes.
// Blocks that make the same calls are one type, which is asked once.
//
// Public header.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "plan/parallel/tensor_split.h"
#include "profile/call_kernels.h"
#include "profile/profile.h"

namespace symprof::plan {

struct Unit {
  std::string name;  ///< The block's path; "" before and after the blocks.
  std::size_t type = 0;
  std::vector<CallId> calls;
  std::int64_t whole_parameter_bytes = 0;  ///< Of parameters that every tensor rank has.
  std::int64_t split_parameter_bytes = 0;  ///< Of linear layers that are split.
};

/// What is asked about a unit.
struct UnitShare {
  double samples = 1;  ///< Of a microbatch.
  int tensor = 1;      ///< Ranks of the tensor-parallel group.
  bool sequence = false;
  auto operator<=>(const UnitShare&) const = default;
};

/// One rank's part, times in microseconds with the host's time where that is longer.
struct UnitCosts {
  double forward_us = 0, backward_us = 0;
  double saved_bytes = 0;     ///< Kept for backward.
  double boundary_bytes = 0;  ///< What later units read of it.
  /// Collectives over the tensor-parallel group, in bytes of whole tensors.
  std::vector<double> forward_reduces, backward_reduces;  ///< all_reduce.
  std::vector<double> forward_gathers, forward_scatters;  ///< With sequence parallelism; backward
                                                          ///< has them the other way round.
};

class ModelCosts {
 public:
  /// `profile` has times and memory. `blocks` are paths of repeated modules, in order. `model` has
  /// to outlive this.
  ModelCosts(const Profile& profile, const DeviceSpec& device, profile::TimeModel& model,
             const std::vector<std::string>& blocks);

  const std::vector<Unit>& units() const { return units_; }
  const TensorSplit& split() const { return split_; }
  std::size_t types() const { return type_count_; }
  double samples() const { return samples_; }  ///< Of the profiled step.

  const UnitCosts& costs(std::size_t unit, const UnitShare& share);

  double optimizer_us() const { return optimizer_us_; }
  double parameter_bytes() const { return parameter_bytes_; }
  double gradient_bytes() const { return gradient_bytes_; }
  double state_bytes() const { return state_bytes_; }
  /// At the worst moment of forward and backward, beyond what is saved; for the profiled samples.
  double temporary_bytes() const { return temporary_bytes_; }
  double optimizer_temporary_bytes() const { return optimizer_temporary_bytes_; }
  /// Reserved by allocated bytes of the profiled step.
  double fragmentation() const { return fragmentation_; }

 private:
  void make_units(const std::vector<std::string>& blocks);
  void find_parameters();
  void find_boundaries();
  void find_types();
  void find_memory();
  UnitCosts compute(std::size_t unit, const UnitShare& share);
  double call_us(CallId call, const UnitShare& share);
  double share_of(NodeId node, const UnitShare& share) const;
  void add_collectives(std::size_t unit, const UnitShare& share, UnitCosts& costs) const;
  const TensorSpec* weight_of(NodeId node) const;

  const Profile& profile_;
  const DeviceSpec& device_;
  profile::TimeModel& model_;
  TensorSplit split_;
  std::vector<Unit> units_;
  std::vector<std::size_t> unit_of_node_;
  std::vector<profile::LaunchEstimate> kernels_;
  std::vector<double> boundary_bytes_;  ///< By unit, for the profiled samples.
  std::vector<double> saved_bytes_;     ///< By node.
  std::map<std::tuple<std::size_t, double, int, bool>, UnitCosts> known_;  ///< By type.
  std::size_t type_count_ = 0;
  double samples_ = 1, optimizer_us_ = 0, parameter_bytes_ = 0, gradient_bytes_ = 0;
  double state_bytes_ = 0, temporary_bytes_ = 0, optimizer_temporary_bytes_ = 0;
  double fragmentation_ = 1;
};

}  // namespace symprof::plan
