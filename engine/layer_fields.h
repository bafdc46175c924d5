// A layer from its fields: those of the inspector's JSON, of its lines of text, and of dialects
// that other versions and tools write.
#pragma once

#include "engine/engine.h"
#include "engine/fields.h"

namespace symprof::engine {

/// Unknown fields do nothing. A text in the place of an object is the layer's name.
Layer layer_of(const Field& field);

/// The names in `[ONNX Layer: name]` marks, whatever stands between these: 0x1E in classic layers,
/// 0x1F in Myelin's, nothing or U+FFFD in text that was pasted.
std::vector<std::string> metadata_names(std::string_view metadata);

/// The number in `text`; empty where it has none.
std::optional<double> number_in(std::string_view text);

}  // namespace symprof::engine
