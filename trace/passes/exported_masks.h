// Attention masks that a model of transformers makes only because it is exported or traced.
#pragma once

#include <string>

#include "trace/graph/graph.h"

namespace symprof::trace {

/// Warns where lines of transformers made masks that depend on sizes alone. Where such a mask hides
/// nothing, or only what is to come, transformers leaves it out and the kernel does without; not
/// while the model is exported or traced (transformers/masking_utils.py: `is_tracing`,
/// `is_torchdynamo_exporting`).
void warn_of_exported_masks(Graph& graph);

/// A line as warnings name it: its text, file and number.
std::string spelled(const SourceLine& line);

/// What is said of them; `first` says where the first of them was made.
std::string exported_masks_warning(const std::string& first);

}  // namespace symprof::trace
