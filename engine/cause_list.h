// Collects causes: one per place and kind.
#pragma once

#include <string>
#include <vector>

#include "engine/cause.h"
#include "engine/layer_graph.h"
#include "engine/map.h"
#include "engine/summary.h"

namespace symprof::engine {

class CauseList {
 public:
  explicit CauseList(const EngineSummary& summary) : summary_(summary) {}

  /// Adds `layer` to the cause of this kind at this place; creates it if needed.
  void add(Cause::Kind kind, const std::string& place, int layer, const std::string& what,
           const std::string& change);

  /// All of them, with their times, in the order of their first layers.
  std::vector<Cause> take();

 private:
  const EngineSummary& summary_;
  std::vector<Cause> causes_;
};

/// Adds quantizers that run alone before operators not fed by a convolution or product, and marks
/// their layers in `explained`.
void add_head_causes(const EngineSummary& summary, const Model& model, const NodeMap& map,
                     CauseList& causes, std::vector<bool>& explained);

/// Adds causes from standalone quantizers, except `explained` ones. `graph` is of `engine`.
void add_quantizer_causes(const Engine& engine, const EngineSummary& summary,
                          const LayerGraph& graph, const std::vector<bool>& explained,
                          CauseList& causes);

/// Adds causes from reformats that change the dtype between two layers. `graph` is of `engine`.
void add_cast_causes(const Engine& engine, const EngineSummary& summary, const LayerGraph& graph,
                     CauseList& causes);

/// Adds activations that were not fused into the preceding convolution.
void add_activation_causes(const Engine& engine, const EngineSummary& summary, const Model& model,
                           const NodeMap& map, CauseList& causes);

}  // namespace symprof::engine
