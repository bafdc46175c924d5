#include "trace/python/dtypes/returned_casts.h"

#include <algorithm>

#include "trace/graph/uses.h"
#include "trace/python/lifetimes/calls.h"
#include "trace/python/source/assignment.h"

namespace symprof::trace {
namespace {

class OutputFinder {
 public:
  explicit OutputFinder(const Graph& graph)
      : graph_(graph), uses_(graph), run_(rebuild_calls(graph)) {}

  /// The tensor that the module returns where the file has `id`.
  ValueId returned(ValueId id) const {
    for (ValueId uncast = before_cast(id); uncast != no_value; uncast = before_cast(id))
      id = uncast;
    return id;
  }

 private:
  /// The operand of the cast that made `id`, if the module returns that; else no_value.
  ValueId before_cast(ValueId id) const {
    const auto maker = id == no_value ? std::nullopt : uses_.maker(id);
    if (!maker || !did_nothing(graph_.nodes[*maker], id)) return no_value;
    const ValueId given = operand(graph_.nodes[*maker], 0);
    const std::size_t statement = outermost(*maker);
    if (statement == no_index || !binds_another(statement, *maker)) return no_value;
    const bool is_read_later = uses_.last_reader(id) > run_.statements[statement].last;
    const auto made = uses_.maker(given);
    return is_read_later || (made && outermost(*made) == statement) ? no_value : given;
  }

  bool did_nothing(const Node& node, ValueId result) const {
    if (node.op != "aten::to" && node.op != "aten::_to_copy") return false;
    const ValueId given = operand(node, 0);
    if (given == no_value) return false;
    const auto dtype = graph_.values[static_cast<std::size_t>(result)].recorded_dtype;
    return dtype && graph_.values[static_cast<std::size_t>(given)].recorded_dtype == dtype;
  }

  /// The statement of the outermost function during which a node ran.
  std::size_t outermost(std::size_t node) const {
    std::size_t statement = run_.statement_of[node];
    while (statement != no_index && run_.caller_of(statement) != no_index)
      statement = run_.caller_of(statement);
    return statement;
  }

  /// True if the statement binds one variable to a call's result, and that is not the result of
  /// `node`.
  bool binds_another(std::size_t statement, std::size_t node) const {
    const PythonStatement& run = run_.statements[statement];
    const Assignment assignment =
        parse_assignment(graph_.source_lines[static_cast<std::size_t>(run.line)].text);
    return run.result != node && assignment.targets.size() == 1 &&
           assignment.targets[0].size() == 1 && assignment.assigns_one_call();
  }

  const Graph& graph_;
  Uses uses_;
  PythonRun run_;
};

}  // namespace

void return_uncast(Graph& graph) {
  const OutputFinder finder(graph);
  std::ranges::transform(graph.outputs, graph.outputs.begin(),
                         [&](ValueId id) { return finder.returned(id); });
}

}  // namespace symprof::trace
