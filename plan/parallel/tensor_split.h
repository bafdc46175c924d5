// Which linear layers of repeated blocks tensor parallelism can split, from the recorded reads and
// writes of a step: a layer that reads a replicated tensor is split by columns, a layer that reads
// the output of a column layer by rows, and operators between them work on their shard. Layers for
// which that fails stay replicated.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "record/recording.h"

namespace symprof::plan {

enum class NodeSplit : std::uint8_t {
  whole,   ///< Replicated: every rank computes all of it.
  column,  ///< ColwiseParallel: a shard of the outputs.
  row,     ///< RowwiseParallel: a shard of the inputs, reduced over the ranks.
  inside,  ///< Between the two: a shard of the heads or features.
};

struct SplitLinear {
  std::string module;  ///< Its path, which begins with that of the block.
  NodeSplit style = NodeSplit::column;
  NodeId node = none;
};

struct TensorSplit {
  std::vector<NodeSplit> nodes;  ///< By NodeId.
  std::vector<SplitLinear> linears;
  /// Numbers of heads and features that the ranks must divide. Ascending, distinct.
  std::vector<std::int64_t> counts;
  /// Modules at which sequence parallelism gathers tokens or gradients: `gathering_modules` gather
  /// their input (each is the innermost module with all column layers of that input);
  /// `token_modules` have parameters and work on a shard of the tokens.
  std::vector<std::string> gathering_modules, token_modules;

  bool allows(std::int64_t ranks) const;
};

/// `blocks`: paths of modules. Only linear layers inside them are split.
TensorSplit find_tensor_split(const Recording& recording, const std::vector<std::string>& blocks);

/// Fills `gathering_modules` and `token_modules` from `linears`.
void name_modules(const Recording& recording, const std::vector<std::string>& blocks,
                  TensorSplit& split);

/// True if `path` is `module` or inside it.
bool is_in_module(const std::string& path, const std::string& module);

}  // namespace symprof::plan
