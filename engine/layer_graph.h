// Producers and consumers of an engine's tensors.
#pragma once

#include <string_view>
#include <unordered_map>
#include <vector>

#include "engine/engine.h"

namespace symprof::engine {

/// Layers connected by tensor names, looking through reformats. The engine must outlive it.
class LayerGraph {
 public:
  explicit LayerGraph(const Engine& engine);

  /// The layer that produces `tensor`; -1 for an input of the engine.
  int producer(std::string_view tensor) const;
  /// The layers that read `tensor`, in their order.
  std::vector<int> readers(std::string_view tensor) const;

 private:
  void add_readers(std::string_view tensor, int depth, std::vector<int>& found) const;

  const Engine& engine_;
  std::unordered_map<std::string_view, int> producers_;
  std::unordered_map<std::string_view, std::vector<int>> readers_;
};

}  // namespace symprof::engine
