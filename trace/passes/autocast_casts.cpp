#include "trace/passes/autocast_casts.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "trace/frames/assignment.h"
#include "trace/graph/uses.h"
#include "trace/passes/cast_lines.h"
#include "trace/passes/cast_readers.h"

namespace symprof::trace {
namespace {

/// The dtype of a cast that changed nothing when the file was made; empty for other nodes.
std::optional<DType> cast_that_did_nothing(const Graph& graph, const Node& node) {
  if (!is_recorded_cast(node) || node.outputs.size() != 1) return std::nullopt;
  const auto* named = argument_as<DType>(find_argument(node, "dtype"));
  if (named == nullptr || !is_floating_point(*named)) return std::nullopt;
  if (dtype_in_file(graph, operand(node, 0)) != *named) return std::nullopt;
  return *named;
}

class AutocastFollower {
 public:
  explicit AutocastFollower(Graph& graph) : graph_(graph), lines_(graph) {}

  void run() {
    restore_readers(graph_, lines_);
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      Node& node = graph_.nodes[i];
      const auto named = cast_that_did_nothing(graph_, node);
      if (!named) continue;
      if (is_move(node))
        find_argument(node, "dtype")->value = NoArgument{};  // As its input.
      else
        follow(i, operand(node, 0), *named);
    }
  }

 private:
  bool is_float(ValueId id) const {
    const std::optional<DType> dtype = dtype_in_file(graph_, id);
    return dtype && is_floating_point(*dtype);
  }

  void follow(std::size_t index, ValueId self, DType named) {
    const WrittenDType written = lines_.written(index, named);
    if (written.source == DTypeSource::unknown)
      graph_.kept_casts.push_back(graph_.nodes[index].name);
    if (written.source != DTypeSource::followed) return;
    const ValueId like = followed(index, written.expression);
    if (like == no_value) return;
    Node& node = graph_.nodes[index];
    node.op = "aten::type_as";
    node.overload = "default";
    node.arguments = {{"self", ValueRef{self}}, {"other", ValueRef{like}}};
  }

  /// The tensor whose dtype `expression` is; no_value for a module's own, which autocast leaves.
  ValueId followed(std::size_t index, std::string_view expression) {
    const std::string_view name = expression.substr(
        0, static_cast<std::size_t>(std::ranges::find_if_not(expression, is_word) -
                                    expression.begin()));
    if (name.empty() || name == "self") return no_value;
    const std::size_t statement = lines_.run().statement_of[index];
    const std::size_t call = lines_.run().statements[statement].call;
    const ValueId bound = bound_before(index, call, name);
    return bound != no_value ? bound : given_to(call, index);
  }

  /// The value that the function has given that name last.
  ValueId bound_before(std::size_t index, std::size_t call, std::string_view name) {
    const PythonRun& run = lines_.run();
    ValueId bound = no_value;
    for (const std::size_t position : statements_of(call)) {
      const PythonStatement& statement = run.statements[position];
      if (statement.last >= index || statement.result == no_index) continue;
      const std::string& line = graph_.source_lines[static_cast<std::size_t>(statement.line)].text;
      const std::vector<ValueId>& results = graph_.nodes[statement.result].outputs;
      for (const auto& targets : parse_assignment(line).targets)
        for (std::size_t i = 0; i < targets.size(); ++i) {
          const std::size_t place = targets.size() == results.size() ? i : 0;
          if (targets[i].name == name && place < results.size() && is_float(results[place]))
            bound = results[place];
        }
    }
    return bound;
  }

  const std::vector<std::size_t>& statements_of(std::size_t call) {
    if (statements_.empty()) {
      const PythonRun& run = lines_.run();
      statements_.resize(run.calls.size());
      for (std::size_t i = 0; i < run.statements.size(); ++i)
        statements_[run.statements[i].call].push_back(i);
    }
    return statements_[call];
  }

  /// The first tensor that the nodes of a call read and did not make, up to `end`.
  ValueId given_to(std::size_t call, std::size_t end) {
    std::vector<bool> made(graph_.values.size(), false);
    for (std::size_t i = first_of(call); i < end; ++i) {
      if (!is_inside(i, call)) continue;
      ValueId given = no_value;
      for_each_value(graph_.nodes[i], [&](ValueId id) {
        if (given != no_value || id == no_value || made[static_cast<std::size_t>(id)]) return;
        const ValueKind kind = graph_.value(id).kind;
        if ((kind == ValueKind::result || kind == ValueKind::input) && is_float(id)) given = id;
      });
      if (given != no_value) return given;
      for (const ValueId id : graph_.nodes[i].outputs)
        if (id != no_value) made[static_cast<std::size_t>(id)] = true;
    }
    return no_value;
  }

  /// The first node of a call, in its own lines or in those of what it calls.
  std::size_t first_of(std::size_t call) {
    if (first_.empty()) {
      first_.resize(lines_.run().calls.size(), no_index);
      for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
        for (std::size_t c = call_of(lines_.run().statement_of[i]);
             c != no_index && first_[c] == no_index; c = call_of(lines_.run().calls[c].statement))
          first_[c] = i;
    }
    return first_[call];
  }

  std::size_t call_of(std::size_t statement) {
    return statement == no_index ? no_index : lines_.run().statements[statement].call;
  }

  bool is_inside(std::size_t node, std::size_t call) {
    const PythonRun& run = lines_.run();
    for (std::size_t i = run.statement_of[node]; i != no_index;
         i = run.calls[run.statements[i].call].statement)
      if (run.statements[i].call == call) return true;
    return false;
  }

  Graph& graph_;
  CastLines lines_;
  std::vector<std::vector<std::size_t>> statements_;  // By call; empty until they are asked for.
  std::vector<std::size_t> first_;                    // By call; empty until one is asked for.
};

}  // namespace

void follow_autocast(Graph& graph) { AutocastFollower(graph).run(); }

void note_kept_casts(Graph& graph) {
  for (const Node& node : graph.nodes)
    if (cast_that_did_nothing(graph, node)) graph.kept_casts.push_back(node.name);
}

}  // namespace symprof::trace
