// Attention masks that a model of transformers makes only because it is exported or traced.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "trace/graph/graph.h"

namespace symprof::trace {

/// The lines of transformers that make masks: `attention_mask = create_causal_mask(`.
class MaskLines {
 public:
  /// `graph` has to outlive this.
  explicit MaskLines(const Graph& graph);

  bool empty() const { return std::ranges::find(creates_, true) == creates_.end(); }

  /// The line that makes a mask, among those that `source` was called from: an index into
  /// Graph::source_lines.
  std::optional<std::size_t> of(SourceId source) const;

 private:
  const Graph& graph_;
  std::vector<bool> creates_;  // By line.
};

/// A line as warnings name it: its text, file and number.
std::string spelled(const SourceLine& line);

/// Warns where lines of transformers made masks that depend on sizes alone. Where such a mask hides
/// nothing, or only what is to come, transformers leaves it out and the kernel does without; not
/// while the model is exported or traced (transformers/masking_utils.py: `is_tracing`,
/// `is_torchdynamo_exporting`).
void warn_of_exported_masks(Graph& graph);

/// What is said of them; `first` says where the first of them was made.
std::string exported_masks_warning(const std::string& first);

}  // namespace symprof::trace
