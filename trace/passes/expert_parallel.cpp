#include "trace/passes/expert_parallel.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "trace/graph/edit.h"
#include "trace/graph/uses.h"
#include "trace/passes/expert_products.h"

namespace symprof::trace {
namespace {

class ExpertWriter {
 public:
  ExpertWriter(Graph& graph, std::int64_t ranks) : graph_(graph), ranks_(ranks), edits_(graph) {}

  void run(const std::vector<ExpertProducts>& all) {
    for (const ExpertProducts& one : all) {
      split_weights(one);
      exchange_rows(one);
    }
    edits_.apply();
  }

 private:
  Node make(const char* name, std::size_t beside, const std::vector<ValueId>& read) {
    Node node;
    node.op = std::string(expert_parallel_prefix) + name;
    node.name = graph_.value(read.front()).name + "_" + name;
    node.scope = graph_.nodes[beside].scope;
    node.source = graph_.nodes[beside].source;
    for (const ValueId id : read) node.arguments.push_back({"", ValueRef{id}});
    node.arguments.push_back({"", ranks_});
    return node;
  }

  void split_weights(const ExpertProducts& one) {
    for (const ValueId weight : std::set<ValueId>(one.weights.begin(), one.weights.end())) {
      TensorSpec& spec = graph_.value(weight).spec.value();
      spec.sizes[0] /= ranks_;
      spec.strides = contiguous_strides(spec.sizes);
      for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
        ValueId averaged = no_value;
        for_each_value(graph_.nodes[i], [&](ValueId& id) {
          if (id != weight) return;
          if (averaged == no_value)
            averaged = edits_.insert_before(i, make("average", i, {weight}));
          id = averaged;
        });
      }
    }
  }

  void exchange_rows(const ExpertProducts& one) {
    const std::size_t first = one.products.front(), last = one.products.back();
    Node dispatch = make("dispatch", first, {one.rows, one.ends});
    const auto add = [&](const char* what) {
      return graph_.add_value({.name = fmt::format("{}_{}", dispatch.name, what)});
    };
    const ValueId rows = add("rows"), ends = add("ends"), order = add("order");
    dispatch.outputs = {rows, ends, order};
    edits_.insert_before(first, std::move(dispatch));
    for (const std::size_t product : one.products)
      for_each_value(graph_.nodes[product], [&](ValueId& id) {
        id = id == one.rows ? rows : id == one.ends ? ends : id;
      });
    const ValueId given_back = graph_.nodes[last].outputs.at(0);
    const ValueId made = graph_.add_value({.name = graph_.value(given_back).name + "_rows"});
    graph_.nodes[last].outputs[0] = made;
    Node combine = make("combine", last, {made, order});
    combine.outputs = {given_back};
    edits_.insert_after(last, std::move(combine));
  }

  Graph& graph_;
  std::int64_t ranks_;
  NodeEdits edits_;
};

}  // namespace

std::set<ValueId> expert_parameters(const Graph& graph) {
  std::set<ValueId> found;
  for (const Node& node : graph.nodes)
    if (node.op == averages_gradient) found.insert(operand(node, 0));
  return found;
}

void split_experts(Graph& graph, const ParallelOptions& options, const ValueSpecs& specs) {
  const std::vector<ExpertProducts> all = find_experts(graph, specs);
  const SettingRef where{"parallel", options.text};
  if (all.empty())
    throw Error(
        where, graph.path + " has no experts that are recognized.",
        "Those are whose products are one call, torch._grouped_mm of rows sorted by expert; "
        "a module, a loop or a padded batch for each expert is not.");
  for (const ExpertProducts& one : all)
    if (one.experts % options.expert != 0)
      throw Error(where,
                  fmt::format("{} ranks do not divide {} experts.", options.expert, one.experts),
                  "Give as many as divide them.");
  ExpertWriter(graph, options.expert).run(all);
  graph.warnings.push_back(fmt::format(
      "expert parallelism: rows of tokens are taken to be spread evenly, so that each rank gets as "
      "many as it sends; {} times as many if all tokens of all ranks chose the experts of one.",
      options.expert));
}

}  // namespace symprof::trace
