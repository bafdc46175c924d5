#include "shape/step/inlined_function.h"

#include <fmt/format.h>

#include <string>

namespace symprof::shape {
namespace {

/// `pscan.py:181`: where the node was made in a forward function that belongs to no module. A
/// trace has one for each module around the node; a torch.autograd.Function's is one more.
std::string place_of_function(const Graph& graph, const Node& node) {
  std::size_t modules = 1, functions = 0;
  for (ScopeId scope = node.scope; scope != 0;
       scope = graph.scopes[static_cast<std::size_t>(scope)].parent)
    ++modules;
  for (SourceId id = node.source; id != no_source;
       id = graph.source_lines[static_cast<std::size_t>(id)].caller)
    functions += graph.source_lines[static_cast<std::size_t>(id)].function == "forward";
  if (functions <= modules) return {};
  const SourceLine& line = graph.source_lines[static_cast<std::size_t>(node.source)];
  return fmt::format("{}:{}", line.file, line.line);
}

}  // namespace

Error with_cause_in_export(const Error& error, const Graph& graph, const NodeRecord& node) {
  if (graph.format != "exported" || node.graph_node == none) return error;
  const std::string place =
      place_of_function(graph, graph.nodes[static_cast<std::size_t>(node.graph_node)]);
  return {error.where(unspelled), error.problem(unspelled),
          fmt::format("torch.export writes out the forward pass of a torch.autograd.Function and "
                      "drops its backward pass{}. The model itself may train. Export it with that "
                      "part written without changes in place; {} profiles the forward pass alone.",
                      place.empty() ? "" : fmt::format(": likely so of the one at {}", place),
                      setting("mode", "inference"))};
}

}  // namespace symprof::shape
