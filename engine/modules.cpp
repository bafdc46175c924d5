#include "engine/modules.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace symprof::engine {
namespace {

/// The first `depth` components of a path, all of them for 0.
std::string_view first_components(std::string_view path, int depth) {
  std::size_t end = 0;
  for (int i = 0; i < depth; ++i) {
    end = path.find('.', i == 0 ? 0 : end + 1);
    if (end == std::string_view::npos) return path;
  }
  return depth == 0 ? path : path.substr(0, end);
}

/// The longest common module path.
std::string_view common_module(std::string_view a, std::string_view b) {
  std::size_t end = 0;
  for (std::size_t i = 0;; ++i) {
    const bool a_ends = i == a.size() || a[i] == '.', b_ends = i == b.size() || b[i] == '.';
    if (a_ends && b_ends) end = i;
    if (i == a.size() || i == b.size() || a[i] != b[i]) return a.substr(0, end);
  }
}

class ModuleFold {
 public:
  ModuleFold(const Model& model, const NodeMap& map) : model_(model), map_(map) {}

  std::string_view module_of(int layer) const {
    const LayerNodes& found = map_.layers[static_cast<std::size_t>(layer)];
    if (found.owner >= 0 && found.owner != layer && found.nodes.empty())
      return module_of_nodes(map_.layers[static_cast<std::size_t>(found.owner)]);
    return module_of_nodes(found);
  }

 private:
  std::string_view module_of_nodes(const LayerNodes& layer) const {
    if (layer.nodes.empty())
      return layer.serves < 0 ? std::string_view() : module_of_node(layer.serves);
    std::string_view common = module_of_node(layer.nodes.front());
    for (const int node : layer.nodes) common = common_module(common, module_of_node(node));
    return common;
  }

  std::string_view module_of_node(int node) const {
    return model_.nodes[static_cast<std::size_t>(node)].module;
  }

  const Model& model_;
  const NodeMap& map_;
};

}  // namespace

std::vector<ModuleRow> fold_by_module(const EngineSummary& summary, const Model& model,
                                      const NodeMap& map, int depth) {
  std::vector<ModuleRow> rows;
  std::unordered_map<std::string_view, std::size_t> places;
  const ModuleFold fold(model, map);
  for (std::size_t i = 0; i < summary.layers.size(); ++i) {
    if (!summary.layers[i].has_kernel) continue;
    const std::string_view module = first_components(fold.module_of(static_cast<int>(i)), depth);
    const auto [place, is_new] = places.emplace(module, rows.size());
    if (is_new) rows.push_back({.module = std::string(module)});
    add(summary.layers[i], rows[place->second].layers);
    rows[place->second].nodes += static_cast<std::int64_t>(map.layers[i].nodes.size());
  }
  return rows;
}

}  // namespace symprof::engine
