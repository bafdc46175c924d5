// Edits of a graph: node arguments, inserted and removed nodes.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "trace/graph/graph.h"

namespace symprof::trace {

/// Sets the argument that find_argument (trace/graph/uses.h) finds, or adds one with that name.
void set_argument(Node& node, std::string_view name, ArgumentValue value);
void set_argument(Node& node, std::string_view name, std::size_t position, ArgumentValue value);

/// Sets the positional argument at `position` (unnamed arguments come first). Missing ones before
/// it become NoArgument.
void set_input(Node& node, std::size_t position, ArgumentValue value);

/// The constant converted to another floating-point dtype.
std::shared_ptr<const ConstantTensor> with_dtype(const ConstantTensor& constant, DType dtype);

/// If `argument` is a graph, replaces it by a copy changed by `change(Graph&)`: other owners of the
/// nested graph are not affected.
template <class Change>
void change_nested(Argument& argument, Change&& change) {
  auto* nested = std::get_if<std::shared_ptr<const Graph>>(&argument.value);
  if (nested == nullptr || *nested == nullptr) return;
  auto copy = std::make_shared<Graph>(**nested);
  change(*copy);
  *nested = std::move(copy);
}

/// Removes `candidates` (a flag for each node) whose results are unused except by other removed
/// candidates. Returns flags of the removed nodes.
std::vector<bool> remove_unread(Graph& graph, const std::vector<bool>& candidates);

/// Removes the elements that are `gone`, to keep a pass' per-node data aligned with the nodes.
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

/// Collects insertions and removals while a pass walks a graph, applied together at the end: until
/// then node indices, and data by index (Uses), stay valid.
class NodeEdits {
 public:
  /// `graph` has to outlive this.
  explicit NodeEdits(Graph& graph);

  /// Insert a node; a later one at the same place goes after it. A duplicate name gets a trailing
  /// "_". A node without outputs gets one with its name. Return the first output.
  ValueId insert_first(Node node) { return insert(0, std::move(node)); }
  ValueId insert_before(std::size_t index, Node node) {
    return insert(2 * index + 1, std::move(node));
  }
  ValueId insert_after(std::size_t index, Node node) {
    return insert(2 * index + 2, std::move(node));
  }

  /// Removes the node if it is unused at the end.
  void remove_if_unread(std::size_t index) { if_unread_[index] = true; }

  /// Applies the edits. No other call may follow.
  void apply();

 private:
  struct Insertion {
    std::size_t place;
    Node node;
  };

  ValueId insert(std::size_t place, Node node);

  Graph& graph_;
  std::unordered_set<std::string> names_;
  std::vector<Insertion> insertions_;
  std::vector<bool> if_unread_;
};

}  // namespace symprof::trace
