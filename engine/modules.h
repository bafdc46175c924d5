// Layers folded by the modules of their nodes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/map.h"
#include "engine/summary.h"

namespace symprof::engine {

struct ModuleRow {
  std::string module;  ///< Empty for the root, and for unmapped layers.
  LayerGroup layers;   ///< Layers with a kernel.
  std::int64_t nodes = 0;
};

/// A layer belongs to the innermost module with all its nodes, and a reformat to the module of the
/// layer that it serves, so every layer counts once. `depth` folds deeper modules; 0 folds none. In
/// the order in which the modules' first layers run.
std::vector<ModuleRow> fold_by_module(const EngineSummary& summary, const Model& model,
                                      const NodeMap& map, int depth);

}  // namespace symprof::engine
