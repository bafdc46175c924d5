// Which modules of a graph run again in backward, and what each of them keeps for it.
//
// Public header.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace symprof {

/// A call of a region whose outputs are kept: the `index`-th one of its operator, from 0, as a
/// policy of torch.utils.checkpoint counts them.
struct KeptCall {
  std::string op;  ///< "aten::addmm"
  int index = 0;

  auto operator<=>(const KeptCall&) const = default;
};

/// "aten::addmm#0"
std::string to_string(const KeptCall& call);
/// Throws Error where `text` is not what to_string() writes.
KeptCall parse_kept_call(const std::string& text);

/// Modules that run again in backward as one, from the first node of the first to the last of the
/// last. Of a single module, each of its calls is a region.
struct CheckpointRegion {
  std::vector<std::string> modules;
  std::vector<KeptCall> kept;  ///< Besides its inputs.

  bool operator==(const CheckpointRegion&) const = default;
};

/// All other modules keep what autograd saves.
struct CheckpointPlan {
  std::vector<CheckpointRegion> regions;
  /// Modules that do not run again, and whose saved tensors wait in host memory.
  std::vector<std::string> offloaded;
  std::string path;  ///< The file that it was read from; empty where there is none.

  bool is_empty() const { return regions.empty() && offloaded.empty(); }
  bool operator==(const CheckpointPlan&) const = default;
};

}  // namespace symprof
