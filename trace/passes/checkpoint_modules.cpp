#include "trace/passes/checkpoint_modules.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/error.h"
#include "trace/graph/module_patterns.h"
#include "trace/python/lifetimes/lifetimes.h"

namespace symprof::trace {
namespace {

constexpr const char* checkpoint_operator = "higher_order::tag_activation_checkpoint";

/// Nodes [begin, end) of one call of a module.
struct ModuleRegion {
  ScopeId scope = 0;
  std::size_t begin = 0, end = 0;
  const CheckpointRegion* planned = nullptr;
};

/// The line of the module's own forward that made the region's last node, so that names hold what
/// the module returns; of the functions called forward the outermost is the root's
/// (trace/python/lifetimes/calls.h). no_source where the file has no lines.
SourceId line_of(const Graph& graph, const ModuleRegion& region) {
  std::size_t depth = 1;
  for (ScopeId scope = region.scope; scope != 0;
       scope = graph.scopes[static_cast<std::size_t>(scope)].parent)
    ++depth;
  std::vector<SourceId> forwards;  // From the innermost out.
  for (SourceId id = graph.nodes[region.end - 1].source; id != no_source;
       id = graph.source_lines[static_cast<std::size_t>(id)].caller)
    if (graph.source_lines[static_cast<std::size_t>(id)].function == "forward")
      forwards.push_back(id);
  return forwards.size() < depth ? no_source : forwards[forwards.size() - depth];
}

std::vector<std::string> texts_of(const std::vector<KeptCall>& kept) {
  std::vector<std::string> texts;
  texts.reserve(kept.size());
  for (const KeptCall& call : kept) texts.push_back(to_string(call));
  return texts;
}

/// Makes the graph inside one checkpoint, and the node that stands for it.
class Outliner {
 public:
  Outliner(Graph& graph, const ModuleRegion& region) : graph_(graph), region_(region) {
    inner_ = std::make_shared<Graph>();
    inner_->path = graph.path;
    inner_->format = graph.format;
    inner_->traits = graph.traits;
    inner_->producer = graph.producer;
    inner_->opsets = graph.opsets;
    inner_->cast_to = graph.cast_to;
    // Calls of modules and functions inside end as they do without a checkpoint.
    inner_->scopes = graph.scopes;
    inner_->source_lines = graph.source_lines;
  }

  /// `last_use` is that of trace/python/lifetimes/lifetimes.h.
  Node run(const std::vector<std::size_t>& last_use) {
    const SourceId source = line_of(graph_, region_);
    for (std::size_t i = region_.begin; i < region_.end; ++i) {
      Node node = std::move(graph_.nodes[i]);
      for_each_value(node, [&](ValueId& id) { id = read(id); });
      for (ValueId& id : node.outputs) id = define(id);
      take_outer_releases(node);
      inner_->nodes.push_back(std::move(node));
    }
    const Scope& scope = graph_.scopes[static_cast<std::size_t>(region_.scope)];
    Node outer{.name = scope.path,
               .op = checkpoint_operator,
               .arguments = {{"", std::shared_ptr<const Graph>(inner_)}},
               .scope = region_.scope,
               .source = source};
    for (const ValueId id : operands_) outer.arguments.push_back({"", ValueRef{id}});
    if (region_.planned != nullptr && !region_.planned->kept.empty())
      outer.arguments.push_back({kept_argument, texts_of(region_.planned->kept)});
    for (const ValueId id : made_) {
      if (last_use[static_cast<std::size_t>(id)] < region_.end) continue;
      outer.outputs.push_back(id);
      inner_->outputs.push_back(numbers_.at(id));
    }
    outer.releases = std::move(outer_releases_);
    return outer;
  }

 private:
  ValueId read(ValueId id) {
    if (id == no_value) return id;
    const auto known = numbers_.find(id);
    if (known != numbers_.end()) return known->second;
    Value value = graph_.values[static_cast<std::size_t>(id)];
    value.kind = ValueKind::input;
    operands_.push_back(id);
    const ValueId number = inner_->add_value(std::move(value));
    inner_->inputs.push_back(number);
    numbers_.emplace(id, number);
    return number;
  }

  ValueId define(ValueId id) {
    if (id == no_value) return id;
    made_.push_back(id);
    const ValueId number = inner_->add_value(graph_.values[static_cast<std::size_t>(id)]);
    numbers_.emplace(id, number);
    return number;
  }

  /// Releases move: the inner graph releases values that it makes, its node releases all others.
  void take_outer_releases(Node& node) {
    std::vector<ValueId> inner_releases;
    for (const ValueId id : node.releases) {
      const auto known = numbers_.find(id);
      const bool is_made = known != numbers_.end() && !is_operand(known->second);
      if (is_made)
        inner_releases.push_back(known->second);
      else
        outer_releases_.push_back(id);
    }
    node.releases = std::move(inner_releases);
  }

  bool is_operand(ValueId number) const {
    return inner_->values[static_cast<std::size_t>(number)].kind == ValueKind::input;
  }

  Graph& graph_;
  const ModuleRegion& region_;
  std::shared_ptr<Graph> inner_;
  std::unordered_map<ValueId, ValueId>
      numbers_;  // By value: the corresponding value in the nested graph.
  std::vector<ValueId> operands_, made_, outer_releases_;
};

void refuse_overlaps(const Graph& graph, const std::vector<ModuleRegion>& regions) {
  for (std::size_t i = 1; i < regions.size(); ++i)
    if (regions[i].begin < regions[i - 1].end)
      throw Error(graph.path,
                  fmt::format("the nodes of {} and {} are interleaved",
                              graph.scopes[static_cast<std::size_t>(regions[i - 1].scope)].path,
                              graph.scopes[static_cast<std::size_t>(regions[i].scope)].path),
                  "Checkpoint the module around them, or one of the two.");
}

/// Calls of modules that are one region of the plan become one.
void join_planned(const Graph& graph, const CheckpointPlan& plan,
                  std::vector<ModuleRegion>& regions) {
  std::unordered_map<std::string, const CheckpointRegion*> planned;
  for (const CheckpointRegion& region : plan.regions)
    for (const std::string& module : region.modules)
      if (!planned.emplace(module, &region).second)
        throw Error(graph.path, fmt::format("the plan has {} twice", module),
                    "Leave one of the two out.");
  std::vector<ModuleRegion> joined;
  for (ModuleRegion& region : regions) {
    const auto found =
        planned.find(module_path(graph.scopes[static_cast<std::size_t>(region.scope)]));
    if (found != planned.end()) region.planned = found->second;
    const bool is_same = !joined.empty() && region.planned != nullptr &&
                         region.planned->modules.size() > 1 &&
                         joined.back().planned == region.planned;
    if (is_same)
      joined.back().end = region.end;
    else
      joined.push_back(region);
  }
  regions = std::move(joined);
}

/// From the first node of each call to its last: what stands between goes with it.
std::vector<ModuleRegion> find_regions(const Graph& graph, const std::vector<ScopeId>& matched,
                                       const CheckpointPlan& plan) {
  std::vector<ModuleRegion> regions;
  std::unordered_map<ScopeId, std::size_t> of_scope;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const ScopeId scope = matched[static_cast<std::size_t>(graph.nodes[i].scope)];
    if (scope == 0) continue;
    const auto [at, is_new] = of_scope.try_emplace(scope, regions.size());
    if (is_new) regions.push_back({scope, i, i});
    regions[at->second].end = i + 1;
  }
  refuse_overlaps(graph, regions);
  join_planned(graph, plan, regions);
  return regions;
}

/// torch.utils.checkpoint would nest; here the outer call keeps all that is inside.
void refuse_nested(const Graph& graph, const std::vector<std::string>& patterns,
                   const std::vector<ScopeId>& matched) {
  for (const std::string& pattern : patterns) {
    const std::vector<ScopeId> of_pattern = matched_scopes(graph, {pattern}, "checkpoint");
    const auto is_outermost = [&](ScopeId scope) {
      return scope != 0 && matched[static_cast<std::size_t>(scope)] == scope;
    };
    if (std::ranges::none_of(of_pattern, is_outermost))
      throw Error(graph.path,
                  fmt::format("{} matches only modules inside those that another pattern "
                              "matches, and checkpoints do not nest",
                              setting("checkpoint", pattern)),
                  "Leave one of the two out.");
  }
}

}  // namespace

void checkpoint_modules(Graph& graph, const std::vector<std::string>& chosen,
                        const CheckpointPlan& plan) {
  std::vector<std::string> patterns = chosen;
  for (const CheckpointRegion& region : plan.regions)
    patterns.insert(patterns.end(), region.modules.begin(), region.modules.end());
  const std::vector<ScopeId> matched = matched_scopes(graph, patterns, "checkpoint");
  refuse_nested(graph, patterns, matched);
  const std::vector<ModuleRegion> regions = find_regions(graph, matched, plan);
  const std::vector<std::size_t> last_use = last_uses(graph, Lifetimes::last_use);
  std::vector<Node> nodes;
  std::size_t next = 0;
  for (const ModuleRegion& region : regions) {
    for (; next < region.begin; ++next) nodes.push_back(std::move(graph.nodes[next]));
    nodes.push_back(Outliner(graph, region).run(last_use));
    next = region.end;
  }
  for (; next < graph.nodes.size(); ++next) nodes.push_back(std::move(graph.nodes[next]));
  graph.nodes = std::move(nodes);
}

}  // namespace symprof::trace
