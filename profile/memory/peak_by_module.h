// Who holds the peak: the bytes of StepMemory::peak_by_node, folded into modules.
//
// Public header.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profile/memory/step_memory.h"

namespace symprof {

struct PeakOwner {
  enum class Kind : std::uint8_t {
    module,
    node,  ///< In the place of modules, where a graph has none.
    input,
    output,
    loss,
    optimizer,  ///< What the update makes and drops again. States belong to their parameters.
    workspace,  ///< Those of cuBLAS, and cuDNN's state of dropout.
    unknown,    ///< Parameters and buffers that nothing uses.
  };
  Kind kind = Kind::unknown;
  std::string name;  ///< The module's path (empty: the model itself), or the node's name.
  MemoryBreakdown held;
};

namespace profile {

/// All that is held at the peak, each byte with one owner: the sum is `memory.at_peak`. Modules
/// whose paths begin with the same `depth` components are one owner. Largest first.
std::vector<PeakOwner> peak_by_module(const StepMemory& memory, const Recording& recording,
                                      std::optional<int> depth);

/// The least depth at which no module holds more than a quarter of what modules hold; if there is
/// none, the least at which the largest holds as little as it ever does.
int telling_depth(const StepMemory& memory, const Recording& recording);

}  // namespace profile
}  // namespace symprof
