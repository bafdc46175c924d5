// FLOPs of a model's nodes, for the engine layers that run them.
#pragma once

#include <string>
#include <vector>

#include "engine/costs.h"

namespace symprof {

/// Runs the model's forward pass for inference on fake tensors, with `sizes` in the form of --set.
/// Throws Error as a Session does.
engine::NodeFlops flops_of_nodes(const std::string& model, const std::vector<std::string>& sizes);

}  // namespace symprof
