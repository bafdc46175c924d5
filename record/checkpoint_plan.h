// The modules of a graph that are recomputed in backward, and the activations that each keeps.
//
// Public header.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace symprof {

/// A call of a region whose outputs are kept: the `index`-th call of its operator, from 0, as a
/// policy of torch.utils.checkpoint counts them.
struct KeptCall {
  std::string op;  ///< "aten::addmm"
  int index = 0;

  auto operator<=>(const KeptCall&) const = default;  // NOLINT(modernize-use-nullptr)
};

/// "aten::addmm#0"
std::string to_string(const KeptCall& call);
/// The inverse of to_string(). Throws Error for any other text.
KeptCall parse_kept_call(const std::string& text);

/// Modules that are recomputed as one segment, from the first node of the first to the last node of
/// the last. For a single module, each of its calls is a region.
struct CheckpointRegion {
  std::vector<std::string> modules;
  std::vector<KeptCall> kept;  ///< In addition to its inputs.

  bool operator==(const CheckpointRegion&) const = default;
};

/// All other modules keep the tensors that autograd saves.
struct CheckpointPlan {
  std::vector<CheckpointRegion> regions;
  /// Modules that are not recomputed and whose saved tensors are offloaded to host memory.
  std::vector<std::string> offloaded;
  std::string path;  ///< The file that the plan was read from; empty if there is none.

  bool is_empty() const { return regions.empty() && offloaded.empty(); }
  bool operator==(const CheckpointPlan&) const = default;
};

}  // namespace symprof
