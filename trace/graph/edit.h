// Changes of a graph: what a node is given, which nodes there are.
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

/// Gives another value to the argument that find_argument (trace/graph/uses.h) finds, or adds an
/// argument of that name.
void set_argument(Node& node, std::string_view name, ArgumentValue value);
void set_argument(Node& node, std::string_view name, std::size_t position, ArgumentValue value);

/// Gives another value to the argument at `position` among those without a name, which come before
/// the others. Arguments that are missing before it become NoArgument.
void set_input(Node& node, std::size_t position, ArgumentValue value);

/// The constant with its numbers in another floating-point dtype.
std::shared_ptr<const ConstantTensor> with_dtype(const ConstantTensor& constant, DType dtype);

/// Where `argument` is a graph, puts a copy there that `change(Graph&)` has changed: whoever else
/// has the nested graph keeps it as it was.
template <class Change>
void change_nested(Argument& argument, Change&& change) {
  auto* nested = std::get_if<std::shared_ptr<const Graph>>(&argument.value);
  if (nested == nullptr || *nested == nullptr) return;
  auto copy = std::make_shared<Graph>(**nested);
  change(*copy);
  *nested = std::move(copy);
}

/// Takes those `candidates` (true or false for each node) out of the graph whose results nothing
/// reads but candidates that go as well. Returns which they were.
std::vector<bool> remove_unread(Graph& graph, const std::vector<bool>& candidates);

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

/// Nodes that come and go while a pass walks a graph, all at once when it is done: until then the
/// indices of nodes, and what is known by them (Uses), hold.
class NodeEdits {
 public:
  /// `graph` has to outlive this.
  explicit NodeEdits(Graph& graph);

  /// Add a node; one that comes to the same place later stands after it. A name that the graph has
  /// already is made another one by "_" at its end. A node without outputs gets one, of its name.
  /// Return the first output.
  ValueId insert_first(Node node) { return insert(0, std::move(node)); }
  ValueId insert_before(std::size_t index, Node node) {
    return insert(2 * index + 1, std::move(node));
  }
  ValueId insert_after(std::size_t index, Node node) {
    return insert(2 * index + 2, std::move(node));
  }

  /// Takes the node out if in the end nothing reads it.
  void remove_if_unread(std::size_t index) { if_unread_[index] = true; }

  /// Changes the graph. Nothing else may be called then.
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
