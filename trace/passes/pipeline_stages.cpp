#include "trace/passes/pipeline_stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "trace/graph/module_patterns.h"
#include "trace/graph/region_markers.h"
#include "trace/graph/uses.h"

namespace symprof::trace {
namespace {

class StageCut {
 public:
  StageCut(Graph& graph, const PipelineOptions& options, const ValueSpecs& specs)
      : graph_(graph), options_(options), specs_(specs), uses_(graph) {
    find_begins();
    find_carried();
  }

  void run() {
    std::vector<ValueId> sent, made;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
      if (is_region_marker(graph_.nodes[i])) keep(i, 0);  // Around nodes of several stages.
    for (std::int32_t stage = 0; stage < stages(); ++stage) {
      if (!options_.has_stage(stage)) continue;
      keep_nodes(stage);
      std::vector<ValueId>& outputs = stage + 1 == stages() ? made : sent;
      for (const ValueId id : outputs_of(stage)) outputs.push_back(id);
    }
    sent.insert(sent.end(), made.begin(), made.end());
    std::erase_if(graph_.mutations, [&](const Mutation& mutation) {
      const auto maker = uses_.maker(mutation.source);
      return !maker || !kept_.contains(*maker);
    });
    graph_.outputs = std::move(sent);
    write_nodes();
    drop_unread_leaves();
  }

 private:
  std::int32_t stages() const { return static_cast<std::int32_t>(options_.stages()); }

  /// The first nodes of the blocks with which stages begin.
  void find_begins() {
    std::vector<std::size_t> firsts;
    std::set<std::string> seen;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const std::string block = block_of(graph_.nodes[i].scope);
      if (!block.empty() && seen.insert(block).second) firsts.push_back(i);
    }
    const std::size_t wanted = static_cast<std::size_t>(stages());
    if (firsts.size() < wanted)
      throw Error(
          SettingRef{"parallel"},
          fmt::format("{} has {} blocks for {} stages.", graph_.path, firsts.size(), wanted),
          "Give fewer stages, or name smaller blocks with " + setting("wrap", "GLOB") + ".");
    begins_.push_back(0);
    for (std::size_t stage = 1; stage < wanted; ++stage)
      begins_.push_back(firsts[stage * firsts.size() / wanted]);
  }

  /// The outermost block around a scope; empty for none.
  std::string block_of(ScopeId scope) const {
    std::string found;
    for (; scope != 0; scope = graph_.scopes[static_cast<std::size_t>(scope)].parent) {
      std::string path = module_path(graph_.scopes[static_cast<std::size_t>(scope)]);
      if (std::ranges::find(options_.blocks, path) != options_.blocks.end())
        found = std::move(path);
    }
    return found;
  }

  std::int32_t stage_of(std::size_t node) const {
    return static_cast<std::int32_t>(std::ranges::upper_bound(begins_, node) - begins_.begin()) - 1;
  }

  /// Results into which a parameter went.
  void find_carried() {
    carried_.resize(graph_.values.size());
    for (const Node& node : graph_.nodes) {
      bool is_carried = false;
      for_each_value(node, [&](ValueId id) {
        is_carried =
            is_carried || (id != no_value && (graph_.value(id).kind == ValueKind::parameter ||
                                              carried_[static_cast<std::size_t>(id)]));
      });
      for (const ValueId id : node.outputs)
        if (id != no_value) carried_[static_cast<std::size_t>(id)] = is_carried;
    }
  }

  bool is_carried(ValueId id) const {
    return id != no_value && carried_[static_cast<std::size_t>(id)];
  }

  void keep_nodes(std::int32_t stage) {
    const std::size_t begin = begins_[static_cast<std::size_t>(stage)];
    const std::size_t end =
        stage + 1 == stages() ? graph_.nodes.size() : begins_[static_cast<std::size_t>(stage) + 1];
    for (std::size_t i = begin; i < end; ++i) keep(i, stage);
    if (stage + 1 < stages()) return;
    for (const ValueId id : graph_.outputs)
      if (!is_carried(id)) need(id, stage);
  }

  void keep(std::size_t index, std::int32_t stage) {
    if (kept_.contains(index)) return;
    Node node = graph_.nodes[index];
    for_each_value(node, [&](ValueId& id) { id = need(id, stage); });
    kept_.emplace(index, std::move(node));
  }

  /// The value of `stage` that stands for `id`: computed there, or received.
  ValueId need(ValueId id, std::int32_t stage) {
    if (id == no_value) return id;
    const auto maker = uses_.maker(id);
    if (!maker) return id;
    if (is_carried(id)) return stage_of(*maker) < stage ? received(id, stage) : id;
    keep(*maker, stage);
    return id;
  }

  ValueId received(ValueId id, std::int32_t stage) {
    const auto known = received_.find({id, stage});
    if (known != received_.end()) return known->second;
    const auto& spec = specs_[static_cast<std::size_t>(id)];
    if (!spec)
      throw Error(
          SettingRef{"parallel"},
          fmt::format("stage {} needs {} of an earlier one, which is no tensor.", stage,
                      graph_.value(id).name),
          "Cut elsewhere, with " + setting("wrap", "GLOB") + " or another number of stages.");
    const std::string name = fmt::format("stage_{}_{}", stage, graph_.value(id).name);
    const ValueId made = graph_.add_value({.name = name});
    receives_[stage].push_back({.name = name,
                                .op = std::string(pipeline_receive),
                                .arguments = {{"sizes", spec->sizes},
                                              {"dtype", spec->dtype},
                                              {"has_gradient", is_floating_point(spec->dtype)}},
                                .outputs = {made}});
    return received_[{id, stage}] = made;
  }

  void write_nodes() {
    graph_.nodes.clear();
    auto next = receives_.begin();
    for (auto& [index, node] : kept_) {
      while (next != receives_.end() && begins_[static_cast<std::size_t>(next->first)] <= index) {
        std::ranges::move(next->second, std::back_inserter(graph_.nodes));
        ++next;
      }
      graph_.nodes.push_back(std::move(node));
    }
  }

  /// The last stage has the outputs of the model; another stage outputs the values that later
  /// stages need, whether it computes them or passes them on.
  std::vector<ValueId> outputs_of(std::int32_t stage) {
    std::vector<ValueId> outputs;
    if (stage + 1 == stages()) {
      for (const ValueId id : graph_.outputs)
        if (const auto maker = uses_.maker(id);
            !maker || !is_carried(id) || stage_of(*maker) == stage)
          outputs.push_back(id);
      return outputs;
    }
    for (std::size_t i = 0; i < begins_[static_cast<std::size_t>(stage) + 1]; ++i)
      for (const ValueId id : graph_.nodes[i].outputs) {
        const auto reader = id == no_value ? std::nullopt : uses_.last_reader(id);
        if (is_carried(id) && reader && stage_of(*reader) > stage)
          outputs.push_back(need(id, stage));
      }
    return outputs;
  }

  /// A rank has no parameters of other stages: they become values that nothing makes or reads.
  void drop_unread_leaves() {
    std::set<ValueId> read;
    for (const Node& node : graph_.nodes)
      for_each_value(node, [&](ValueId id) { read.insert(id); });
    read.insert(graph_.outputs.begin(), graph_.outputs.end());
    for (const Mutation& mutation : graph_.mutations) read.insert(mutation.target);
    for (std::size_t i = 0; i < graph_.values.size(); ++i) {
      Value& value = graph_.values[i];
      const bool is_leaf = value.kind != ValueKind::result && value.kind != ValueKind::input;
      if (is_leaf && !read.contains(static_cast<ValueId>(i))) value = {.name = value.name};
    }
  }

  Graph& graph_;
  const PipelineOptions& options_;
  const ValueSpecs& specs_;
  const Uses uses_;
  std::vector<std::size_t> begins_;  // By stage.
  std::vector<bool> carried_;        // By value.
  std::map<std::size_t, Node> kept_;
  std::map<std::pair<ValueId, std::int32_t>, ValueId> received_;
  std::map<std::int32_t, std::vector<Node>> receives_;  // By stage.
};

}  // namespace

void keep_stages(Graph& graph, const PipelineOptions& options, const ValueSpecs& specs) {
  StageCut(graph, options, specs).run();
}

}  // namespace symprof::trace
