#include "engine/causes.h"

#include <algorithm>

#include "engine/cause_list.h"

namespace symprof::engine {

void CauseList::add(Cause::Kind kind, const std::string& place, int layer, const std::string& what,
                    const std::string& change) {
  const auto is_same = [&](const Cause& each) { return each.kind == kind && each.place == place; };
  auto found = std::ranges::find_if(causes_, is_same);
  if (found == causes_.end())
    found = causes_.insert(causes_.end(),
                           {.kind = kind, .place = place, .what = what, .change = change});
  if (std::ranges::find(found->layers, layer) == found->layers.end())
    found->layers.push_back(layer);
}

std::vector<Cause> CauseList::take() {
  for (Cause& cause : causes_) {
    std::ranges::sort(cause.layers);
    cause.measured_ms = measured_ms(summary_, cause.layers);
  }
  std::ranges::stable_sort(causes_, {}, [](const Cause& each) { return each.layers.front(); });
  return std::move(causes_);
}

std::vector<Cause> find_causes(const Engine& engine, const EngineSummary& summary,
                               const Model* model, const NodeMap* map) {
  CauseList causes(summary);
  const LayerGraph graph(engine);
  // The model explains a quantizer better than the engine alone.
  std::vector<bool> explained(engine.layers.size(), false);
  if (model && map) add_head_causes(summary, *model, *map, causes, explained);
  add_quantizer_causes(engine, summary, graph, explained, causes);
  add_cast_causes(engine, summary, graph, causes);
  if (model && map) add_activation_causes(engine, summary, *model, *map, causes);
  return causes.take();
}

}  // namespace symprof::engine
