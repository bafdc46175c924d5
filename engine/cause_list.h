// Collects causes: one for each place and kind, whatever finds them.
#pragma once

#include <string>
#include <vector>

#include "engine/causes.h"
#include "engine/layer_graph.h"

namespace symprof::engine {

class CauseList {
 public:
  explicit CauseList(const EngineSummary& summary) : summary_(summary) {}

  /// Adds `layer` to the cause of this kind at this place, which is made where it is not there.
  void add(Cause::Kind kind, const std::string& place, int layer, const std::string& what,
           const std::string& change);

  /// All of them, with their times, in the order of their first layers.
  std::vector<Cause> take();

 private:
  const EngineSummary& summary_;
  std::vector<Cause> causes_;
};

/// Adds quantizers that run alone before operators which no convolution or product feeds, and marks
/// their layers in `explained`.
void add_head_causes(const EngineSummary& summary, const Model& model, const NodeMap& map,
                     CauseList& causes, std::vector<bool>& explained);

/// Adds what quantizers that stand alone tell, but for those that are `explained`. `graph` is of
/// `engine`.
void add_quantizer_causes(const Engine& engine, const EngineSummary& summary,
                          const LayerGraph& graph, const std::vector<bool>& explained,
                          CauseList& causes);

/// Adds what reformats tell that change a type between two layers. `graph` is of `engine`.
void add_cast_causes(const Engine& engine, const EngineSummary& summary, const LayerGraph& graph,
                     CauseList& causes);

/// Adds activations that run beside the convolution before them.
void add_activation_causes(const Engine& engine, const EngineSummary& summary, const Model& model,
                           const NodeMap& map, CauseList& causes);

}  // namespace symprof::engine
