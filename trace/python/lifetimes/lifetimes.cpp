#include "trace/python/lifetimes/lifetimes.h"

#include <algorithm>
#include <utility>

#include "trace/graph/region_markers.h"
#include "trace/python/lifetimes/local_variables.h"

namespace symprof::trace {
namespace {

constexpr std::size_t nowhere = never_dies;  // For a value that no node makes, or reads.

class LastUses {
 public:
  LastUses(const Graph& graph, Lifetimes lifetimes)
      : graph_(graph),
        lifetimes_(lifetimes),
        made_at_(graph.values.size(), nowhere),
        last_(graph.values.size(), nowhere),
        is_released_(graph.values.size(), false),
        first_of_scope_(graph.scopes.size(), nowhere),
        last_of_scope_(graph.scopes.size(), 0) {}

  std::vector<std::size_t> find() {
    find_calls();
    if (lifetimes_ == Lifetimes::frames) find_releases();
    if (lifetimes_ == Lifetimes::last_use && graph_.traits.blocks_are_calls) find_regions();
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      for (const ValueId id : graph_.nodes[i].outputs)
        if (id != no_value)
          made_at_[static_cast<std::size_t>(id)] = last_[static_cast<std::size_t>(id)] = i;
      for_each_value(graph_.nodes[i], [&](ValueId id) { use(id, i); });
      for (const ValueId id : graph_.nodes[i].releases)
        if (is_released_[static_cast<std::size_t>(id)]) use(id, i);
    }
    for (const ValueId id : graph_.outputs) keep(id);
    for (const Mutation& mutation : graph_.mutations) keep(mutation.source);
    if (lifetimes_ == Lifetimes::frames) extend_by_variables(graph_, last_);
    for (std::size_t id = 0; id < graph_.values.size(); ++id)
      if (graph_.values[id].kind != ValueKind::result) last_[id] = nowhere;
    return std::move(last_);
  }

 private:
  /// Finds the first and the last node of each call of a module.
  void find_calls() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
      for (ScopeId scope = graph_.nodes[i].scope; scope != 0; scope = parent_of(scope)) {
        std::size_t& first = first_of_scope_[static_cast<std::size_t>(scope)];
        if (first == nowhere) first = i;
        last_of_scope_[static_cast<std::size_t>(scope)] = i;
      }
  }

  void find_releases() {
    for (const Node& node : graph_.nodes)
      for (const ValueId id : node.releases) is_released_[static_cast<std::size_t>(id)] = true;
  }

  /// Finds the calls of higher-order operators that became regions
  /// (`wrap_with_set_grad_enabled`).
  void find_regions() {
    region_of_.resize(graph_.nodes.size(), nowhere);
    std::size_t innermost = nowhere;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const bool ends = graph_.nodes[i].op == region_end && innermost != nowhere;
      if (is_region_marker(graph_.nodes[i]) && graph_.nodes[i].op != region_end) {
        regions_.push_back({.begin = i, .outer = innermost});
        innermost = regions_.size() - 1;
      }
      region_of_[i] = innermost;
      if (!ends) continue;
      regions_[innermost].end = i;
      innermost = regions_[innermost].outer;
    }
  }

  /// The operands of a subgraph are arguments of that call, which holds them until it returns.
  void hold_by_regions(std::size_t made_at, std::size_t node, std::size_t& last) const {
    if (region_of_.empty() || made_at == nowhere) return;
    for (std::size_t i = region_of_[node]; i != nowhere; i = regions_[i].outer)
      if (made_at < regions_[i].begin) last = std::max(last, regions_[i].end);
  }

  ScopeId parent_of(ScopeId scope) const {
    return graph_.scopes[static_cast<std::size_t>(scope)].parent;
  }

  void use(ValueId id, std::size_t node) {
    if (id == no_value) return;
    std::size_t& last = last_[static_cast<std::size_t>(id)];
    last = last == nowhere ? node : std::max(last, node);
    const std::size_t made_at = made_at_[static_cast<std::size_t>(id)];
    hold_by_regions(made_at, node, last);
    if (lifetimes_ == Lifetimes::last_use || is_released_[static_cast<std::size_t>(id)]) return;
    for (ScopeId scope = graph_.nodes[node].scope; scope != 0; scope = parent_of(scope)) {
      const std::size_t first = first_of_scope_[static_cast<std::size_t>(scope)];
      if (made_at != nowhere && made_at >= first) return;  // Made inside, and so in all around it.
      last = std::max(last, last_of_scope_[static_cast<std::size_t>(scope)]);
    }
  }

  void keep(ValueId id) {
    if (id != no_value) last_[static_cast<std::size_t>(id)] = nowhere;
  }

  /// From its opening marker to its closing one, and the region around it.
  struct Region {
    std::size_t begin = 0, end = 0, outer = nowhere;
  };

  const Graph& graph_;
  Lifetimes lifetimes_;
  std::vector<std::size_t> made_at_, last_;  // By value: the index of a node.
  std::vector<bool> is_released_;            // By value: a node says when it goes.
  std::vector<std::size_t> first_of_scope_, last_of_scope_;
  std::vector<Region> regions_;
  std::vector<std::size_t>
      region_of_;  // By node: the innermost region; empty where none is a call.
};

/// A hook's operands are freed before the arguments of the modules around it.
void begin_with_operands(const Node& node, std::vector<ValueId>& dying) {
  std::vector<ValueId> operands;
  for_each_value(node, [&](ValueId id) { operands.push_back(id); });
  std::stable_partition(dying.begin(), dying.end(), [&](ValueId id) {
    return std::ranges::find(operands, id) != operands.end();
  });
}

}  // namespace

std::vector<std::size_t> last_uses(const Graph& graph, Lifetimes lifetimes) {
  return LastUses(graph, lifetimes).find();
}

std::vector<std::vector<ValueId>> values_dying_after(const Graph& graph, Lifetimes lifetimes) {
  std::vector<std::vector<ValueId>> dying(graph.nodes.size());
  const std::vector<std::size_t> last = last_uses(graph, lifetimes);
  for (std::size_t id = 0; id < last.size(); ++id)
    if (last[id] != never_dies) dying[last[id]].push_back(static_cast<ValueId>(id));
  for (std::size_t i = 0; i < dying.size(); ++i)
    if (graph.nodes[i].op.starts_with("tensor_parallel::"))
      begin_with_operands(graph.nodes[i], dying[i]);
  return dying;
}

}  // namespace symprof::trace
