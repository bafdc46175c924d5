// Question and answer about a step on several devices (plan/parallel/planner.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/parallel/planner.h"
#include "session/settings.h"

namespace symprof {

struct ParallelQuestion {
  plan::Mesh mesh;
  /// Samples per step over all devices; empty: the batch of the model's inputs, on each device.
  std::optional<std::int64_t> global_batch;
  /// Blocks of which each is a unit of FSDP and of a pipeline; empty: the modules that repeat.
  std::vector<std::string> blocks;
  plan::LayoutFilter wanted;  ///< Layouts that are evaluated.
};

struct ParallelAnswer {
  Settings settings;  ///< Settings of the run: see PreparedModel.
  DeviceSpec device;
  std::string model;
  plan::ParallelProblem problem;
  std::int64_t context_bytes = 0;
  std::vector<std::string> blocks;
  std::size_t block_types = 0;  ///< Kinds of units, each timed once.
  plan::TensorSplit split;      ///< Of the plan; without a plan, by the rule.
  /// Inside the blocks, of each tensor-parallel group that was looked at.
  std::vector<plan::FoundPlacements> placements;
  /// Recognized modules of experts, with the number of products of each.
  struct Experts {
    std::string module;
    std::size_t products = 0;
    std::vector<std::string> weights;  ///< Names of its parameters, split by their dimension 0.
    std::int64_t experts = 0;
  };
  std::vector<Experts> experts;
  std::vector<std::string> node_names;  ///< By NodeId.
  double one_device_us = 0;             ///< The step on one device, with the batch of the file.
  double samples = 1;                   ///< The global batch.
  std::int64_t one_device_bytes = 0;    ///< Reserved there.
  std::int64_t unknown_calls = 0;       ///< Without a time.
  bool skips_blocks = false;            ///< torch.distributed.pipelining cannot split such a model.
  bool has_measured_links = false;      ///< Within one node.
  plan::ParallelPlan plan;
};

class Session;

/// Returns the layout of least time for a mesh of `settings`' device. Throws what
/// Session::profile() throws, and Error for a model without repeated blocks, a device without
/// links, and a batch that the ranks cannot divide.
ParallelAnswer plan_parallel(Session& session, const Settings& settings,
                             const ParallelQuestion& question);

}  // namespace symprof
