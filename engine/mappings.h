// The mapping of model nodes: to a kernel, or the reason for none.
#pragma once

#include "engine/engine.h"
#include "engine/model.h"
#include "engine/node_map.h"

namespace symprof::engine {

/// Fills the mapping and reason of every node from its layers in `map`.
void decide_mappings(const Engine& engine, const Model& model, NodeMap& map);

}  // namespace symprof::engine
