#include "trace/python/lifetimes/missing_results.h"

#include <algorithm>
#include <map>

#include "trace/python/source/tokens.h"

namespace symprof::trace {
namespace {

constexpr std::size_t after_all =
    no_index - 1;  // The moment when the caller reads the outputs of the graph.

bool changes_its_argument(const Node& node) { return node.op.ends_with('_'); }

}  // namespace

MissingResults::MissingResults(const Graph& graph, const PythonRun& run,
                               const std::vector<Assignment>& assignments)
    : graph_(graph),
      run_(run),
      assignments_(assignments),
      last_read_(graph.values.size(), no_index),
      results_(run.statements.size(), 0),
      missing_(run.statements.size(), 0) {
  const auto read = [&](ValueId id, std::size_t when) {
    if (id != no_value) last_read_[static_cast<std::size_t>(id)] = when;
  };
  for (std::size_t i = 0; i < graph.nodes.size(); ++i)
    for_each_value(graph.nodes[i], [&](ValueId id) { read(id, i); });
  for (const ValueId id : graph.outputs) read(id, after_all);
  for (const Mutation& mutation : graph.mutations) read(mutation.source, after_all);
  count_results();
  count_missing();
  find_unread();
}

void MissingResults::count_results() {
  for (std::size_t node = 0; node < graph_.nodes.size(); ++node)
    for (const ValueId id : graph_.nodes[node].outputs) {
      if (id == no_value) continue;
      const std::size_t last = last_read_[static_cast<std::size_t>(id)];
      for (std::size_t i = run_.statement_of[node]; i != no_index; i = run_.caller_of(i)) {
        if (last == no_index || last <= run_.statements[i].last) break;
        ++results_[i];
      }
    }
  for (std::size_t i = 0; i < run_.statements.size(); ++i)
    if (const std::size_t node = run_.statements[i].result; node != no_index)
      results_[i] = std::max(results_[i], graph_.nodes[node].outputs.size());
}

void MissingResults::count_missing() {
  for (std::size_t i = 0; i < run_.statements.size(); ++i)
    if (const std::size_t targets = targets_of_call(i); targets > results_[i])
      missing_[i] = targets - results_[i];
}

/// The number of variables that take a result of the statement's only call, without those that are
/// also its arguments, as in `x, sizes = block(x, sizes)`. 0 for other statements.
std::size_t MissingResults::targets_of_call(std::size_t statement) const {
  const Assignment& assignment = assignment_of(statement);
  if (assignment.targets.empty() || !assignment.assigns_one_call()) return 0;
  const std::vector<Target>& targets = assignment.targets.back();
  const auto passed_on = std::ranges::count_if(
      targets, [&](const Target& target) { return count_word(assignment.value, target.name) > 0; });
  return targets.size() < 2 ? 0 : targets.size() - static_cast<std::size_t>(passed_on);
}

void MissingResults::find_unread() {
  std::map<std::size_t, std::vector<ValueId>> candidates;  // By the statement that lacks some.
  for (std::size_t node = 0; node < graph_.nodes.size(); ++node) {
    if (run_.statement_of[node] == no_index || !is_named_in_its_function(node)) continue;
    std::size_t caller = run_.caller_of(run_.statement_of[node]);
    while (caller != no_index && missing_[caller] == 0) caller = run_.caller_of(caller);
    if (caller != no_index) candidates[caller].push_back(graph_.nodes[node].outputs[0]);
  }
  for (const auto& [statement, values] : candidates) {
    if (values.size() != missing_[statement]) continue;
    const std::vector<Target>& targets = assignment_of(statement).targets.back();
    for (std::size_t i = 0; i < values.size(); ++i)
      unread_.push_back({.value = values[i],
                         .statement = statement,
                         .name = targets[targets.size() - values.size() + i].name});
    results_[statement] += values.size();
    missing_[statement] = 0;
  }
}

/// True if nothing reads the only result of the node, and its function binds or returns it.
bool MissingResults::is_named_in_its_function(std::size_t node) const {
  const std::vector<ValueId>& outputs = graph_.nodes[node].outputs;
  if (outputs.size() != 1 || outputs[0] == no_value || changes_its_argument(graph_.nodes[node]))
    return false;
  if (last_read_[static_cast<std::size_t>(outputs[0])] != no_index) return false;
  const Assignment& assignment = assignment_of(run_.statement_of[node]);
  if (assignment.targets.size() != 1 || assignment.targets[0].size() != 1)
    return assignment.returns;
  const Target& target = assignment.targets[0][0];
  return target.replaces && !target.name.starts_with('_');
}

const Assignment& MissingResults::assignment_of(std::size_t statement) const {
  return assignments_[static_cast<std::size_t>(run_.statements[statement].line)];
}

}  // namespace symprof::trace
