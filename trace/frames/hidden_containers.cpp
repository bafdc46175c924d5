#include "trace/frames/hidden_containers.h"

#include <algorithm>

#include "trace/frames/own_calls.h"

namespace symprof::trace {
namespace {

/// The name that a statement gives to all that it computes; empty where there is no such.
std::string_view name_bound(const Assignment& assignment) {
  if (assignment.targets.size() != 1 || assignment.targets[0].size() != 1) return {};
  const Target& target = assignment.targets[0][0];
  return target.replaces && target.name.find('.') == target.name.npos ? target.name
                                                                      : std::string_view{};
}

/// An export has the first line of a statement alone: what it reads may stand on the next one.
bool is_whole(std::string_view line) {
  const auto count = [&](std::string_view letters) {
    return std::ranges::count_if(line, [&](char c) { return letters.find(c) != letters.npos; });
  };
  return count("([{") == count(")]}") && !line.starts_with('.');
}

}  // namespace

HiddenContainers::HiddenContainers(const Graph& graph, const PythonRun& run,
                                   const std::vector<Assignment>& assignments)
    : graph_(graph), run_(run), assignments_(assignments), uses_(graph) {}

std::size_t HiddenContainers::end_of(std::size_t statement) const {
  const PythonStatement& binding = run_.statements[statement];
  const Assignment& assignment = assignments_[static_cast<std::size_t>(binding.line)];
  const std::string_view name = name_bound(assignment);
  if (name.empty() || !assignment.assigns_one_call() || binding.result == no_index) return no_index;
  const std::vector<ValueId>& results = graph_.nodes[binding.result].outputs;
  if (results.size() != 1 || reading_of(results[0], statement) != Reading::otherwise)
    return no_index;
  for (std::size_t i = statement + 1; i < run_.statements.size(); ++i) {
    const PythonStatement& next = run_.statements[i];
    if (next.call == binding.call &&
        name_bound(assignments_[static_cast<std::size_t>(next.line)]) == name)
      return next.last;
  }
  return run_.calls[binding.call].last;
}

bool HiddenContainers::has_other_name(ValueId value, std::size_t statement) const {
  return reading_of(value, statement) == Reading::otherwise;
}

const SourceLine& HiddenContainers::line_of(std::size_t statement) const {
  return graph_.source_lines[static_cast<std::size_t>(run_.statements[statement].line)];
}

bool HiddenContainers::reads_name(std::size_t statement, std::string_view name) const {
  const std::string_view text = line_of(statement).text;
  const Assignment& assignment =
      assignments_[static_cast<std::size_t>(run_.statements[statement].line)];
  return count_word(assignment.targets.empty() ? text : assignment.value, name) > 0;
}

/// How the function reads what the statement binds: never, ever by the name, or only otherwise.
HiddenContainers::Reading HiddenContainers::reading_of(ValueId value, std::size_t statement) const {
  const PythonStatement& binding = run_.statements[statement];
  const std::string_view name = name_bound(assignments_[static_cast<std::size_t>(binding.line)]);
  Reading reading = Reading::none;
  if (name.empty()) return reading;
  for (const std::size_t reader : uses_.readers(value)) {
    const std::size_t reads = statement_in(reader, binding.call);
    if (reads == no_index || reads == statement) continue;
    if (!is_whole(line_of(reads).text) || reads_name(reads, name)) return Reading::by_name;
    reading = Reading::otherwise;
  }
  return reading;
}

/// The statement of the call during which a node runs.
std::size_t HiddenContainers::statement_in(std::size_t node, std::size_t call) const {
  std::size_t i = run_.statement_of[node];
  while (i != no_index && run_.statements[i].call != call)
    i = run_.calls[run_.statements[i].call].statement;
  return i;
}

}  // namespace symprof::trace
