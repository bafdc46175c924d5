#include <utility>

#include "trace/graph/uses.h"
#include "workbench/compare/side.h"
#include "workbench/runnable.h"

namespace symprof::workbench {
namespace {

constexpr std::string_view aten = "aten::";

class GraphRows {
 public:
  explicit GraphRows(Side& side)
      : side_(side), graph_(side.graph), row_of_(graph_.values.size(), no_row) {
    side_.rows_of.resize(graph_.values.size());
  }

  void add_all() {
    const trace::Uses uses(graph_);
    for (std::size_t i = 0; i < graph_.values.size(); ++i) {
      const auto id = static_cast<ValueId>(i);
      const ValueKind kind = graph_.values[i].kind;
      const bool is_weight = kind != ValueKind::input && kind != ValueKind::result;
      if (is_weight && graph_.values[i].spec && !uses.readers(id).empty())
        add(RowKind::initializer, id);
    }
    for (const ValueId id : graph_.inputs)
      if (graph_.value(id).kind == ValueKind::input && graph_.value(id).spec)
        add(RowKind::input, id);
    for (const Node& node : graph_.nodes) add_results(node);
    for (const ValueId id : graph_.outputs)
      if (id != no_value) {
        const std::size_t made = row_of_[static_cast<std::size_t>(id)];
        add(RowKind::output, id).operands.assign(1, made);
      }
  }

 private:
  Row& add(RowKind kind, ValueId id) {
    Row row;
    row.kind = kind;
    row.name = graph_.value(id).name;
    if (const auto& spec = graph_.value(id).spec) {
      row.dtype = std::string(name(spec->dtype));
      row.shape.emplace(spec->sizes.begin(), spec->sizes.end());
    }
    const auto index = static_cast<std::size_t>(id);
    if (kind != RowKind::output) row_of_[index] = side_.rows.size();
    side_.rows_of[index].push_back(side_.rows.size());
    side_.rows.push_back(std::move(row));
    return side_.rows.back();
  }

  void add_results(const Node& node) {
    std::vector<std::size_t> operands;
    for_each_value(node, [&](ValueId id) {
      operands.push_back(id == no_value ? no_row : row_of_[static_cast<std::size_t>(id)]);
    });
    const std::string op = node.op.starts_with(aten) ? node.op.substr(aten.size()) : node.op;
    for (std::size_t k = 0; k < node.outputs.size(); ++k) {
      if (node.outputs[k] == no_value) continue;
      Row& row = add(RowKind::result, node.outputs[k]);
      row.op_type = op;
      row.node = node.name;
      row.module = graph_.scopes[static_cast<std::size_t>(node.scope)].path;
      row.output = static_cast<int>(k);
      row.operands = operands;
    }
  }

  Side& side_;
  const Graph& graph_;
  std::vector<std::size_t> row_of_;  ///< By ValueId.
};

}  // namespace

Side side_of(const Graph& graph, const std::string& path, const ValueRunner& runner) {
  Runnable start = runnable(graph, path, runner);
  Side side{.path = path, .graph = std::move(start.graph)};
  side.leaves = std::move(start.leaves);
  side.has_onnx_operators = false;
  GraphRows(side).add_all();
  return side;
}

}  // namespace symprof::workbench
