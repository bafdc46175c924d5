// Nodes that a change of the graph has left without readers.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "trace/graph/graph.h"

namespace symprof::trace {

/// Takes those `candidates` (true or false for each node) out of the graph whose results nothing
/// reads but candidates that go as well. Returns which they were.
std::vector<bool> remove_unread(Graph& graph, std::vector<bool> candidates);

/// Takes out the elements that are `gone`; what a pass knows of each node goes with the nodes.
template <class Element>
void erase_gone(std::vector<Element>& elements, const std::vector<bool>& gone) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < gone.size(); ++i) {
    if (gone[i]) continue;
    if (kept != i) elements[kept] = std::move(elements[i]);
    ++kept;
  }
  elements.resize(kept);
}

}  // namespace symprof::trace
