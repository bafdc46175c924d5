#include "shape/step/inlined_function.h"

#include <fmt/format.h>

#include <string>

namespace symprof::shape {
namespace {

const SourceLine* line_of(const Graph& graph, SourceId id) {
  return id == no_source ? nullptr : &graph.source_lines[static_cast<std::size_t>(id)];
}

/// For a node of a torch.autograd.Function that a line applies (`SparsemaxFunction.apply(x, dim)`):
/// the node's line inside of the function's forward. Recognized by more calls of `forward` than
/// modules around the node. Null for other nodes.
const SourceLine* line_in_function(const Graph& graph, const Node& node) {
  std::size_t modules = 1, functions = 0;
  for (ScopeId scope = node.scope; scope != 0;
       scope = graph.scopes[static_cast<std::size_t>(scope)].parent)
    ++modules;
  for (const SourceLine* line = line_of(graph, node.source); line != nullptr;
       line = line_of(graph, line->caller))
    functions += line->function == "forward";
  return functions > modules ? line_of(graph, node.source) : nullptr;
}

/// The same, recognized by the text of the caller's line, which has `.apply(`.
const SourceLine* line_applied(const Graph& graph, const Node& node) {
  for (const SourceLine* line = line_of(graph, node.source); line != nullptr;
       line = line_of(graph, line->caller)) {
    const SourceLine* caller = line_of(graph, line->caller);
    const bool applies = caller != nullptr && caller->text.find(".apply(") != std::string::npos;
    if (applies && line->function == "forward") return line_of(graph, node.source);
  }
  return nullptr;
}

std::string place_of(const SourceLine& line) { return fmt::format("{}:{}", line.file, line.line); }

}  // namespace

void warn_of_inlined_functions(const Graph& graph, Recording& recording) {
  if (!graph.traits.loses_own_backward) return;
  std::size_t calls = 0;
  std::string first;
  for (const Node& node : graph.nodes) {
    const SourceLine* line = line_applied(graph, node);
    if (line == nullptr) continue;
    if (calls++ == 0) first = place_of(*line);
  }
  recording.inlined_function_calls = calls;
  if (calls == 0) return;
  recording.warnings.push_back(
      fmt::format("torch.export wrote out the forward pass of a torch.autograd.Function ({} calls, "
                  "first at {}) and dropped its backward pass: what autograd makes of these calls "
                  "is counted in its place.",
                  calls, first));
}

Error with_cause_in_export(const Error& error, const Graph& graph, const NodeRecord& node) {
  if (!graph.traits.loses_own_backward || node.graph_node == none) return error;
  const SourceLine* line =
      line_in_function(graph, graph.nodes[static_cast<std::size_t>(node.graph_node)]);
  const std::string place = line == nullptr ? std::string() : place_of(*line);
  return {error.where(unspelled), error.problem(unspelled),
          fmt::format("torch.export writes out the forward pass of a torch.autograd.Function and "
                      "drops its backward pass{}. The model itself may train. Export it with that "
                      "part written without changes in place; {} profiles the forward pass alone.",
                      place.empty() ? "" : fmt::format(": likely so of the one at {}", place),
                      setting("mode", "inference"))};
}

}  // namespace symprof::shape
