// The mapping between model nodes and engine layers.
#pragma once

#include <string_view>

#include "engine/engine.h"
#include "engine/model.h"
#include "engine/node_map.h"

namespace symprof::engine {

NodeMap map_nodes(const Engine& engine, const Model& model);

/// "alone", "weights", "absorbed" or "duplicate" of a Q or DQ; empty of another node.
std::string_view quantizer_role(const Engine& engine, const Model& model, const NodeMap& map,
                                int node);

std::string_view name(Rule rule);
std::string_view name(Certainty certainty);
std::string_view name(Mapping mapping);

}  // namespace symprof::engine
