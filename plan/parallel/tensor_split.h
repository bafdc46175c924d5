// Which linear layers of repeated blocks tensor parallelism can split, found in what a step read
// and wrote: a layer that reads what is whole is split by its columns, one that reads what a column
// made by its rows, and what lies between them works on its share. What does not allow that stays
// whole.
//
// Public header.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "record/recording.h"

namespace symprof::plan {

enum class NodeSplit : std::uint8_t {
  whole,   ///< Every rank does all of it.
  column,  ///< ColwiseParallel: a share of the outputs.
  row,     ///< RowwiseParallel: a share of the inputs, and a sum over the ranks.
  inside,  ///< Between the two: a share of the heads or features.
};

struct SplitLinear {
  std::string module;  ///< Its path; that of the block is a prefix.
  NodeSplit style = NodeSplit::column;
  NodeId node = none;
};

struct TensorSplit {
  std::vector<NodeSplit> nodes;  ///< By NodeId.
  std::vector<SplitLinear> linears;
  /// The number of ranks has to divide each: heads, features. Ascending, distinct.
  std::vector<std::int64_t> counts;
  /// Where tokens, or gradients, are joined: modules whose input is gathered, each the innermost
  /// that has all column layers of one input; and other modules with parameters, which work on a
  /// share of the tokens.
  std::vector<std::string> gathering_modules, token_modules;

  bool allows(std::int64_t ranks) const;
};

/// `blocks`: paths of modules. Only linear layers inside them are split.
TensorSplit find_tensor_split(const Recording& recording, const std::vector<std::string>& blocks);

/// Fills `gathering_modules` and `token_modules` from `linears`.
void name_modules(const Recording& recording, const std::vector<std::string>& blocks,
                  TensorSplit& split);

/// Whether `path` is `module` or inside of it.
bool is_in_module(const std::string& path, const std::string& module);

}  // namespace symprof::plan
