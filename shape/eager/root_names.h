// Names of a program's models in front of the paths of their modules.
#pragma once

#include <string>

#include "record/recording.h"

namespace symprof::shape {

/// Takes the name of the only model away: "model.layers.0" becomes "layers.0", and what "model"
/// itself calls is at the root.
void drop_root(Recording& recording, const std::string& root);

}  // namespace symprof::shape
