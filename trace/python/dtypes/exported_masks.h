// Attention masks that transformers makes only while a model is exported or traced.
#pragma once

#include <string>

#include "trace/graph/graph.h"

namespace symprof::trace {

/// Warns about masks that depend only on sizes and were made by lines of transformers. transformers
/// omits a mask that hides nothing, or only future tokens, and the kernel runs without it; but not
/// while the model is exported or traced (transformers/masking_utils.py: `is_tracing`,
/// `is_torchdynamo_exporting`).
void warn_of_exported_masks(Graph& graph);

/// A line as warnings show it: its text, file and number.
std::string spelled(const SourceLine& line);

/// The warning; `first` tells where the first mask was made.
std::string exported_masks_warning(const std::string& first);

}  // namespace symprof::trace
