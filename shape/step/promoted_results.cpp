#include "shape/step/promoted_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "trace/graph/uses.h"
#include "trace/python/dtypes/casts_back.h"
#include "trace/python/dtypes/exported_masks.h"
#include "trace/python/lifetimes/calls.h"
#include "trace/python/source/assignment.h"
#include "trace/python/source/own_calls.h"

namespace symprof::shape {
namespace {

class PromotionFinder {
 public:
  PromotionFinder(const Graph& graph, const Recording& recording)
      : graph_(graph),
        recording_(recording),
        run_(trace::rebuild_calls(graph)),
        uses_(graph),
        mixes_(run_.statements.size()) {}

  /// The lines that call a function whose own lines the export lacks, and which mixes precisions
  /// and returns float32 to operators that autocast leaves in float32. Each line once.
  std::vector<SourceId> find() {
    for_each_hidden([&](std::size_t, std::size_t statement, const NodeRecord& record) {
      mixes_[statement] = mixes_[statement] || mixes(record);
    });
    std::vector<SourceId> lines;
    for_each_hidden([&](std::size_t index, std::size_t statement, const NodeRecord& record) {
      const SourceId line = run_.statements[statement].line;
      if (mixes_[statement] && gives_float32(index, statement, record) &&
          std::ranges::find(lines, line) == lines.end())
        lines.push_back(line);
    });
    return lines;
  }

 private:
  /// Calls `visit(index, statement, record)` for nodes made by a function without source lines.
  template <class Visit>
  void for_each_hidden(Visit&& visit) const {
    for (const NodeRecord& record : recording_.nodes) {
      if (record.graph_node == none) continue;
      const auto index = static_cast<std::size_t>(record.graph_node);
      const std::size_t statement = run_.statement_of[index];
      if (statement == trace::no_index) continue;
      const SourceLine& line =
          graph_.source_lines[static_cast<std::size_t>(run_.statements[statement].line)];
      if (!trace::calls_function(line.text, graph_.nodes[index].call))
        visit(index, statement, record);
    }
  }

  const TensorSpec* spec_of(const TensorRecord& tensor) const {
    return tensor.spec == none ? nullptr : &recording_.specs[static_cast<std::size_t>(tensor.spec)];
  }

  bool has(const std::vector<TensorRecord>& tensors, auto&& wanted) const {
    return std::ranges::any_of(tensors, [&](const TensorRecord& tensor) {
      const TensorSpec* spec = spec_of(tensor);
      return spec != nullptr && !spec->sizes.empty() && wanted(spec->dtype);
    });
  }

  static bool is_float32(DType dtype) { return dtype == DType::float32; }

  bool mixes(const NodeRecord& record) const {
    const auto is_lower = [](DType dtype) {
      return dtype == DType::bfloat16 || dtype == DType::float16;
    };
    return has(record.inputs, is_lower) && has(record.inputs, is_float32) &&
           has(record.outputs, is_float32);
  }

  bool gives_float32(std::size_t index, std::size_t statement, const NodeRecord& record) const {
    if (!has(record.outputs, is_float32)) return false;
    return std::ranges::any_of(graph_.nodes[index].outputs, [&](ValueId id) {
      if (id == no_value) return false;
      return std::ranges::any_of(uses_.readers(id), [&](std::size_t reader) {
        return reader > run_.statements[statement].last &&
               !trace::is_lowered_by_autocast(graph_.nodes[reader]);
      });
    });
  }

  const Graph& graph_;
  const Recording& recording_;
  trace::PythonRun run_;
  trace::Uses uses_;
  std::vector<bool> mixes_;  // By statement: a node has operands of two precisions.
};

}  // namespace

void warn_of_promoted_results(const Graph& graph, Recording& recording) {
  if (!graph.traits.has_outer_lines()) return;
  const std::vector<SourceId> lines = PromotionFinder(graph, recording).find();
  if (lines.empty()) return;
  recording.warnings.push_back(fmt::format(
      "under autocast {} (first {}) call{} functions whose own lines the file does not have, and "
      "which compute with two precisions: their results are float32 here. Where such a function "
      "casts back to the dtype that it was given, that did nothing when the file was made, and is "
      "not in it.",
      lines.size() == 1 ? "1 line" : fmt::format("{} lines", lines.size()),
      trace::spelled(graph.source_lines[static_cast<std::size_t>(lines[0])]),
      lines.size() == 1 ? "s" : ""));
}

}  // namespace symprof::shape
