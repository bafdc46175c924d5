#include "trace/python/lifetimes/hidden_containers.h"

#include <algorithm>

#include "trace/python/source/own_calls.h"

namespace symprof::trace {
namespace {

/// The variable that holds all that a statement computes; empty if there is none.
std::string_view name_bound(const Assignment& assignment) {
  if (assignment.targets.size() != 1 || assignment.targets[0].size() != 1) return {};
  const Target& target = assignment.targets[0][0];
  return target.replaces && target.name.find('.') == target.name.npos ? target.name
                                                                      : std::string_view{};
}

/// An export has only the first line of a statement; its operands may stand on the next one.
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
  const Assignment& assignment = assignment_of(statement);
  const std::string_view name = name_bound(assignment);
  if (name.empty() || !assignment.assigns_one_call() || binding.result == no_index) return no_index;
  const std::vector<ValueId>& results = graph_.nodes[binding.result].outputs;
  if (results.size() != 1 || reading_of(results[0], statement) != Reading::otherwise)
    return no_index;
  for (std::size_t i = statement + 1; i < run_.statements.size(); ++i) {
    const PythonStatement& next = run_.statements[i];
    if (next.call == binding.call && name_bound(assignment_of(i)) == name) return next.last;
  }
  return run_.calls[binding.call].last;
}

bool HiddenContainers::has_other_name(ValueId value, std::size_t statement) const {
  return reading_of(value, statement) == Reading::otherwise;
}

const SourceLine& HiddenContainers::line_of(std::size_t statement) const {
  return graph_.source_lines[static_cast<std::size_t>(run_.statements[statement].line)];
}

const Assignment& HiddenContainers::assignment_of(std::size_t statement) const {
  return assignments_[static_cast<std::size_t>(run_.statements[statement].line)];
}

/// How the function reads the value that the statement binds: never, sometimes by the variable, or
/// only otherwise.
HiddenContainers::Reading HiddenContainers::reading_of(ValueId value, std::size_t statement) const {
  const PythonStatement& binding = run_.statements[statement];
  const std::string_view name = name_bound(assignment_of(statement));
  Reading reading = Reading::none;
  if (name.empty()) return reading;
  for (const std::size_t reader : uses_.readers(value)) {
    const std::size_t reads = run_.statement_in(binding.call, reader);
    if (reads == no_index || reads == statement) continue;
    const std::string_view line = line_of(reads).text;
    if (!is_whole(line) || reads_name(line, assignment_of(reads), name)) return Reading::by_name;
    reading = Reading::otherwise;
  }
  return reading;
}

}  // namespace symprof::trace
