// A layer from its fields: the inspector's JSON and text lines, and dialects of other versions and
// tools.
#pragma once

#include "engine/engine.h"
#include "engine/fields.h"

namespace symprof::engine {

/// Unknown fields are ignored. A string instead of an object is the layer's name.
Layer layer_of(const Field& field);

/// The names in `[ONNX Layer: name]` marks, with any separator: 0x1E in classic layers, 0x1F in
/// Myelin's, nothing or U+FFFD in text that was pasted.
std::vector<std::string> metadata_names(std::string_view metadata);

/// The number in `text`; empty where it has none.
std::optional<double> number_in(std::string_view text);

}  // namespace symprof::engine
