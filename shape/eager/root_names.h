// Model names as prefixes of module paths.
#pragma once

#include <string>

#include "record/recording.h"

namespace symprof::shape {

/// Removes the name of the only model: "model.layers.0" becomes "layers.0", and calls of "model"
/// itself belong to the root.
void drop_root(Recording& recording, const std::string& root);

}  // namespace symprof::shape
