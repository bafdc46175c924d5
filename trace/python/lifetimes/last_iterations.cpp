#include "trace/python/lifetimes/last_iterations.h"

#include <algorithm>
#include <cstdint>

namespace symprof::trace {
namespace {

class LastRounds {
 public:
  LastRounds(const Graph& graph, const PythonRun& run, const std::vector<Assignment>& assignments)
      : graph_(graph), run_(run), assignments_(assignments) {}

  /// The last statement of the iteration that bound the variable last, if a missing line rebinds
  /// the variable after it; else no_index.
  std::size_t last_before_binding(const HeldByVariable& held) const {
    const std::size_t rebound = rebound_in_round_before(held);
    if (rebound == no_index) return no_index;
    const std::int64_t binding_line = line_of(rebound);
    const std::size_t call = run_.statements[held.statement].call;
    std::size_t before = held.statement;
    for (std::size_t i = held.statement + 1; i < run_.statements.size(); ++i) {
      if (run_.statements[i].call != call) continue;
      if (line_of(i) >= binding_line) return line_of(i) == binding_line ? no_index : before;
      if (line_of(i) <= line_of(before)) return no_index;  // Another round.
      before = i;
    }
    return no_index;  // The function returns: the name went with it.
  }

 private:
  const SourceLine& source_of(std::size_t statement) const {
    return graph_.source_lines[static_cast<std::size_t>(run_.statements[statement].line)];
  }

  std::int64_t line_of(std::size_t statement) const { return source_of(statement).line; }

  bool binds(std::size_t statement, std::string_view name) const {
    const auto line = static_cast<std::size_t>(run_.statements[statement].line);
    return std::ranges::any_of(assignments_[line].targets, [&](const std::vector<Target>& group) {
      return std::ranges::any_of(
          group, [&](const Target& target) { return target.name == name && target.replaces; });
    });
  }

  /// The previous statement that bound the variable, if it is below the line that bound it last, so
  /// in an earlier iteration; else no_index.
  std::size_t rebound_in_round_before(const HeldByVariable& held) const {
    const std::size_t call = run_.statements[held.statement].call;
    for (std::size_t i = held.statement; i-- > 0;)
      if (run_.statements[i].call == call && binds(i, held.name))
        return line_of(i) > line_of(held.statement) ? i : no_index;
    return no_index;
  }

  const Graph& graph_;
  const PythonRun& run_;
  const std::vector<Assignment>& assignments_;  // By line.
};

}  // namespace

void release_in_last_iterations(const Graph& graph, const PythonRun& run,
                                const std::vector<Assignment>& assignments,
                                const std::vector<HeldByVariable>& held,
                                std::vector<std::size_t>& last) {
  if (!graph.traits.functions_are_followed) return;
  const LastRounds rounds(graph, run, assignments);
  for (const HeldByVariable& one : held) {
    const std::size_t before = rounds.last_before_binding(one);
    if (before == no_index) continue;
    std::size_t& death = last[static_cast<std::size_t>(one.value)];
    const std::size_t end = run.statements[before].last;
    if (one.last_else <= end && end < death) death = end;
  }
}

}  // namespace symprof::trace
