#include "plan/checkpoint/regions.h"

#include <algorithm>
#include <map>
#include <set>

#include "trace/graph/module_patterns.h"

namespace symprof::plan {
namespace {

bool is_inside(const std::string& path, const std::string& outer) {
  return path.size() > outer.size() && path.starts_with(outer) && path[outer.size()] == '.';
}

/// By module: the number of nodes in all its calls, submodules included.
std::map<std::string, std::size_t> nodes_of_modules(const Graph& graph) {
  std::map<std::string, std::size_t> nodes;
  for (const Node& node : graph.nodes)
    for (ScopeId scope = node.scope; scope != 0;
         scope = graph.scopes[static_cast<std::size_t>(scope)].parent)
      ++nodes[trace::module_path(graph.scopes[static_cast<std::size_t>(scope)])];
  return nodes;
}

/// In the order in which the modules first run.
std::vector<std::string> in_order(const Graph& graph, const std::set<std::string>& chosen) {
  std::vector<std::string> order;
  std::set<std::string> left = chosen;
  for (const Node& node : graph.nodes)
    for (ScopeId scope = node.scope; scope != 0;
         scope = graph.scopes[static_cast<std::size_t>(scope)].parent)
      if (left.erase(trace::module_path(graph.scopes[static_cast<std::size_t>(scope)])) > 0)
        order.push_back(trace::module_path(graph.scopes[static_cast<std::size_t>(scope)]));
  return order;
}

std::set<std::string> matched(const Graph& graph, const std::vector<std::string>& patterns) {
  std::set<std::string> chosen;
  for (const ScopeId scope : trace::matched_scopes(graph, patterns, "regions"))
    if (scope != 0)
      chosen.insert(trace::module_path(graph.scopes[static_cast<std::size_t>(scope)]));
  return chosen;
}

bool overlaps(const std::string& path, const std::set<std::string>& chosen) {
  return std::ranges::any_of(chosen, [&](const std::string& other) {
    return path == other || is_inside(path, other) || is_inside(other, path);
  });
}

/// The direct submodules of `outer` ("" is the model) with more than one node.
std::set<std::string> inside(const std::string& outer,
                             const std::map<std::string, std::size_t>& nodes) {
  std::set<std::string> found;
  for (const auto& [path, count] : nodes) {
    if (count < 2 || !(outer.empty() || is_inside(path, outer))) continue;
    const bool is_nested = std::ranges::any_of(nodes, [&, &path = path](const auto& other) {
      return is_inside(path, other.first) && (outer.empty() || is_inside(other.first, outer));
    });
    if (!is_nested) found.insert(path);
  }
  return found;
}

/// The largest modules that do not contain each other; a module that holds nearly everything is
/// replaced by its submodules.
std::set<std::string> side_by_side(const Graph& graph) {
  const std::map<std::string, std::size_t> nodes = nodes_of_modules(graph);
  std::set<std::string> found = inside("", nodes);
  for (int depth = 0; depth < 16; ++depth) {
    const auto largest = std::ranges::max_element(
        found, {}, [&](const std::string& path) { return nodes.at(path); });
    if (largest == found.end() || nodes.at(*largest) * 2 < graph.nodes.size()) break;
    const std::set<std::string> parts = inside(*largest, nodes);
    if (parts.empty()) break;
    found.erase(largest);
    found.insert(parts.begin(), parts.end());
  }
  return found;
}

}  // namespace

std::vector<std::string> regions_of(const Graph& graph, const std::vector<std::string>& patterns) {
  if (!patterns.empty()) return in_order(graph, matched(graph, patterns));
  std::set<std::string> chosen;
  for (const std::string& pattern : trace::repeated_modules(graph)) {
    const std::set<std::string> modules = matched(graph, {pattern});
    if (std::ranges::none_of(modules, [&](const auto& path) { return overlaps(path, chosen); }))
      chosen.insert(modules.begin(), modules.end());
  }
  for (const std::string& path : side_by_side(graph))
    if (!overlaps(path, chosen)) chosen.insert(path);
  return in_order(graph, chosen);
}

}  // namespace symprof::plan
