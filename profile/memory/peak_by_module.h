// Memory at the peak by owner: StepMemory::peak_by_node, folded into modules.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profile/memory/step_memory_options.h"

namespace symprof {

struct PeakOwner {
  enum class Kind : std::uint8_t {
    module,
    node,  ///< Instead of modules, if the graph has none.
    input,
    output,
    loss,
    optimizer,  ///< Temporaries of the update. Optimizer states belong to their parameters.
    workspace,  ///< cuBLAS workspaces, and cuDNN's dropout state.
    unknown,    ///< Unused parameters and buffers.
  };
  Kind kind = Kind::unknown;
  std::string name;  ///< The module's path (empty: the model itself), or the node's name.
  MemoryBreakdown held;
};

namespace profile {

/// Memory held at the peak, each byte with one owner: sums to `memory.at_peak`. Modules whose paths
/// share the first `depth` components are one owner. Largest first.
std::vector<PeakOwner> peak_by_module(const StepMemory& memory, const Recording& recording,
                                      std::optional<int> depth);

/// The smallest depth at which no module holds more than a quarter of all modules' bytes; if none,
/// the smallest depth that minimizes the largest module's bytes.
int telling_depth(const StepMemory& memory, const Recording& recording);

}  // namespace profile
}  // namespace symprof
