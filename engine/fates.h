// What became of the model's nodes: in a kernel, or why in none.
#pragma once

#include "engine/engine.h"
#include "engine/map.h"
#include "engine/model.h"

namespace symprof::engine {

/// Fills in the fate of every node, and its reason, from the layers that `map` has for the nodes.
void decide_fates(const Engine& engine, const Model& model, NodeMap& map);

}  // namespace symprof::engine
