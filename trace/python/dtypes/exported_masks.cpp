#include "trace/python/dtypes/exported_masks.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "trace/graph/uses.h"
#include "trace/python/source/tokens.h"
#include "trace/python/source/written_calls.h"

namespace symprof::trace {
namespace {

/// `attention_mask = create_causal_mask(` and `… = self._create_attention_masks(`.
bool creates_mask(std::string_view line) {
  if (line.find("create_") == line.npos) return false;
  const std::vector<Token> tokens = tokens_of(line);
  return std::ranges::any_of(calls_in(tokens), [](const WrittenCall& call) {
    return call.function.find("create_") != call.function.npos &&
           (call.function.ends_with("mask") || call.function.ends_with("masks"));
  });
}

class MaskFinder {
 public:
  explicit MaskFinder(const Graph& graph) : graph_(graph), depends_(graph.values.size(), false) {
    for (const SourceLine& line : graph.source_lines) {
      const bool is_mask =
          line.file.find("transformers/") != std::string::npos && creates_mask(line.text);
      creates_.push_back(is_mask);
    }
    reads_input_.resize(creates_.size(), false);
    makes_nodes_.resize(creates_.size(), false);
  }

  /// The first line that makes a mask of sizes alone.
  const SourceLine* find() {
    if (std::ranges::find(creates_, true) == creates_.end()) return nullptr;
    for (const ValueId id : graph_.inputs) depends_[static_cast<std::size_t>(id)] = true;
    for (const Node& node : graph_.nodes) add(node);
    for (std::size_t i = 0; i < creates_.size(); ++i)
      if (makes_nodes_[i] && !reads_input_[i]) return &graph_.source_lines[i];
    return nullptr;
  }

 private:
  void add(const Node& node) {
    bool depends = false;
    for_each_value(node, [&](ValueId id) {
      depends |= id != no_value && depends_[static_cast<std::size_t>(id)];
    });
    for (const ValueId id : node.outputs)
      if (id != no_value) depends_[static_cast<std::size_t>(id)] = depends;
    const std::optional<std::size_t> line = line_of_mask(node.source);
    if (!line) return;
    makes_nodes_[*line] = true;
    if (depends) reads_input_[*line] = true;
  }

  /// The line that makes a mask, among those that `source` was called from.
  std::optional<std::size_t> line_of_mask(SourceId source) const {
    for (; source != no_source;
         source = graph_.source_lines[static_cast<std::size_t>(source)].caller)
      if (creates_[static_cast<std::size_t>(source)]) return static_cast<std::size_t>(source);
    return std::nullopt;
  }

  const Graph& graph_;
  std::vector<bool> depends_;                              // By value: on the values of an input.
  std::vector<bool> creates_, reads_input_, makes_nodes_;  // By line.
};

}  // namespace

std::string spelled(const SourceLine& line) {
  const std::string_view file = line.file;
  return fmt::format("`{}` ({}:{})", line.text, file.substr(file.rfind('/') + 1), line.line);
}

std::string exported_masks_warning(const std::string& first) {
  return fmt::format(
      "{} makes an attention mask. transformers leaves a mask out that hides nothing, or that its "
      "kernel does without, but not while a model is exported or traced: attention is counted with "
      "the mask here, and the model's own code may take another kernel and less memory.",
      first);
}

void warn_of_exported_masks(Graph& graph) {
  const SourceLine* line = MaskFinder(graph).find();
  if (line == nullptr) return;
  graph.has_export_masks = true;
  graph.warnings.push_back(exported_masks_warning(spelled(*line)));
}

}  // namespace symprof::trace
