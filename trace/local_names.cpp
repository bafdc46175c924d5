#include "trace/local_names.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>

#include "trace/assignment.h"
#include "trace/calls.h"

namespace symprof::trace {
namespace {

using Names = std::unordered_map<std::string_view, std::size_t>;

bool is_attribute_of_self(const Target& target) { return target.name.starts_with("self."); }

class Holder {
 public:
  Holder(const Graph& graph, std::vector<std::size_t>& last_uses)
      : graph_(graph), last_(last_uses), run_(rebuild_calls(graph)) {}

  void hold() {
    if (run_.statements.empty()) return;
    parse_lines();
    find_deaths_of_names();
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
      if (run_.statement_of[i] != no_index) hold_results(i);
    hold_by_second_names();
  }

 private:
  /// A value that is used after its name was bound anew.
  struct Renamed {
    ValueId value;
    std::size_t bound_at;  ///< The last node of the statement that bound the name.
  };

  void parse_lines() {
    for (const SourceLine& line : graph_.source_lines)
      assignments_.push_back(parse_assignment(line.text));
  }

  const Assignment& assignment_of(const PythonStatement& statement) const {
    return assignments_[static_cast<std::size_t>(statement.line)];
  }

  /// For each target of each statement the last node of the next statement that binds its name.
  void find_deaths_of_names() {
    std::vector<Names> next_binding(run_.calls.size());
    deaths_.resize(run_.statements.size());
    for (std::size_t i = run_.statements.size(); i-- > 0;) {
      const PythonStatement& statement = run_.statements[i];
      Names& next = next_binding[statement.call];
      const auto& groups = assignment_of(statement).targets;
      for (const auto& group : groups)
        for (const Target& target : group) deaths_[i].push_back(death_of(target, next, statement));
      for (const auto& group : groups)
        for (const Target& target : group)
          if (target.replaces) next[target.name] = statement.last;
    }
  }

  std::size_t death_of(const Target& target, const Names& next,
                       const PythonStatement& statement) const {
    const auto found = next.find(target.name);
    if (found != next.end()) return found->second;
    return is_attribute_of_self(target) ? no_index : run_.calls[statement.call].last;
  }

  void hold_results(std::size_t node) {
    const std::vector<ValueId>& outputs = graph_.nodes[node].outputs;
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (outputs[i] != no_value) hold_value(outputs[i], node, i, outputs.size());
  }

  /// From the statement that made it outwards, as far as the value is returned.
  void hold_value(ValueId value, std::size_t node, std::size_t position, std::size_t count) {
    std::size_t& last = last_[static_cast<std::size_t>(value)];
    for (std::size_t i = run_.statement_of[node]; i != no_index;) {
      const PythonStatement& statement = run_.statements[i];
      const Assignment& assignment = assignment_of(statement);
      const bool is_needed = last > statement.last;
      if (!is_needed && (statement.result != node || !binds(assignment))) return;
      if (!assignment.targets.empty()) bind(value, i, position, count);
      i = run_.calls[statement.call].statement;
    }
  }

  static bool binds(const Assignment& assignment) {
    return assignment.returns || !assignment.targets.empty();
  }

  static std::string_view first_name(const Assignment& assignment) {
    const std::vector<Target>& group = assignment.targets.front();
    return group.empty() ? std::string_view{} : group.front().name;
  }

  void bind(ValueId value, std::size_t index, std::size_t position, std::size_t count) {
    const PythonStatement& statement = run_.statements[index];
    const PythonCall& call = run_.calls[statement.call];
    std::size_t& last = last_[static_cast<std::size_t>(value)];
    std::size_t offset = 0, death = statement.last;
    for (const auto& group : assignment_of(statement).targets) {
      const std::size_t chosen = count == group.size() ? position : 0;
      if (!group.empty()) death = std::max(death, deaths_[index][offset + chosen]);
      offset += group.size();
    }
    if (last > death && last <= call.last)
      renamed_[{statement.call, first_name(assignment_of(statement))}].push_back(
          {value, statement.last});
    last = std::max(last, death);
  }

  void hold_by_second_names() {
    if (renamed_.empty()) return;
    find_last_reads();
    for (auto& [key, values] : renamed_) {
      const std::size_t returned = run_.calls[key.first].last;
      std::vector<std::size_t> ends(values.size());
      for (std::size_t i = 0; i < values.size(); ++i) ends[i] = end_of(values, i, returned);
      for (std::size_t i = 0; i < values.size(); ++i) last_of(values[i]) = ends[i];
    }
  }

  void find_last_reads() {
    last_read_.resize(graph_.values.size());
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
      for (const Argument& argument : graph_.nodes[i].arguments)
        for_each_value(argument, [&](ValueId id) {
          if (id != no_value) last_read_[static_cast<std::size_t>(id)] = i;
        });
  }

  std::size_t end_of(const std::vector<Renamed>& values, std::size_t i, std::size_t returned) {
    const auto overlap = [&](std::size_t j) { return last_of(values[j]) > values[j + 1].bound_at; };
    const auto used_together = [&](std::size_t j) {
      return overlap(j) && last_read_of(values[j]) == last_read_of(values[j + 1]);
    };
    const bool before = i > 0, after = i + 1 < values.size();
    if ((before && used_together(i - 1)) || (after && used_together(i))) return returned;
    if ((before && overlap(i - 1)) || (after && overlap(i))) return last_of(values[i]);
    return after ? values[i + 1].bound_at : returned;
  }

  std::size_t& last_of(const Renamed& renamed) {
    return last_[static_cast<std::size_t>(renamed.value)];
  }

  std::size_t last_read_of(const Renamed& renamed) const {
    return last_read_[static_cast<std::size_t>(renamed.value)];
  }

  const Graph& graph_;
  std::vector<std::size_t>& last_;
  std::vector<std::size_t> last_read_;  // By value: the last node that reads it.
  PythonRun run_;
  std::vector<Assignment> assignments_;           // By line.
  std::vector<std::vector<std::size_t>> deaths_;  // By statement, for its targets in order.
  std::map<std::pair<std::size_t, std::string_view>, std::vector<Renamed>> renamed_;
};

}  // namespace

void hold_by_names(const Graph& graph, std::vector<std::size_t>& last_uses) {
  Holder(graph, last_uses).hold();
}

}  // namespace symprof::trace
