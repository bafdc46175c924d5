#include "trace/passes/training_updates.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "trace/graph/name_list.h"
#include "trace/graph/uses.h"

namespace symprof::trace {
namespace {

constexpr std::array<std::string_view, 7> writes_of_parts = {
    "aten::index_copy", "aten::index_put",      "aten::index_add",     "aten::scatter",
    "aten::index_fill", "aten::masked_scatter", "aten::slice_scatter",
};

bool is_norm(std::string_view op) { return op.find("_norm") != op.npos; }

/// True if the operator's write to a buffer may update a whole statistic.
bool may_replace(std::string_view op) {
  if (op.ends_with('_')) op.remove_suffix(1);
  return !is_norm(op) && std::ranges::find(writes_of_parts, op) == writes_of_parts.end();
}

class Updates {
 public:
  explicit Updates(const Graph& graph) : graph_(graph), uses_(graph) {}

  std::vector<std::string> find() {
    for (const Node& node : graph_.nodes) {
      if (!may_replace(node.op)) continue;
      if (node.op.ends_with('_')) add(operand(node, 0));
      add(value_of(find_argument(node, "out")));
    }
    for (const Mutation& mutation : graph_.mutations) {
      const auto maker = uses_.maker(mutation.source);
      if (maker && may_replace(graph_.nodes[*maker].op)) add(mutation.target);
    }
    return std::move(names_);
  }

 private:
  void add(ValueId id) {
    if (id == no_value || graph_.value(id).kind != ValueKind::buffer) return;
    const std::string& name = graph_.value(id).name;
    if (std::ranges::find(names_, name) == names_.end()) names_.push_back(name);
  }

  const Graph& graph_;
  Uses uses_;
  std::vector<std::string> names_;
};

}  // namespace

void warn_of_training_updates(Graph& graph) {
  const std::vector<std::string> names = Updates(graph).find();
  if (names.empty()) return;
  graph.warnings.push_back(fmt::format(
      "the file's code updates {}: where the model does so in training alone (`if "
      "self.training:`), "
      "the file has the code of training, and so have these figures. Export model.eval() to see "
      "evaluation.",
      list_names(names)));
}

}  // namespace symprof::trace
