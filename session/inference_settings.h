// The settings of a model's forward pass for inference.
#pragma once

#include <string>
#include <vector>

#include "session/settings.h"

namespace symprof {

/// `sizes` are those of symbolic dimensions ("batch=2"), `shapes` those of a script's inputs
/// ("x=float32[2,3]"). Throws Error.
Settings inference_settings(const std::vector<std::string>& sizes,
                            const std::vector<std::string>& shapes = {});

}  // namespace symprof
