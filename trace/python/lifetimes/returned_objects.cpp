#include "trace/python/lifetimes/returned_objects.h"

#include <algorithm>

#include "trace/python/source/assignment.h"

namespace symprof::trace {
namespace {

constexpr std::string_view constructor = "__init__";

}  // namespace

bool is_in_constructor(const SourceLine& line) { return line.function == constructor; }

ReturnedObjects::ReturnedObjects(const Graph& graph, const PythonRun& run)
    : graph_(graph),
      run_(run),
      last_statements_(run.calls.size(), no_index),
      passed_on_(run.calls.size()) {
  for (std::size_t i = 0; i < run.statements.size(); ++i)
    last_statements_[run.statements[i].call] = i;
  for (const SourceLine& line : graph.source_lines)
    if (parse_assignment(line.text).returns) returns_[{line.caller, line.function}] = line.text;
}

void ReturnedObjects::Returned::add(const Returned& other) {
  values.insert(values.end(), other.values.begin(), other.values.end());
  is_object |= other.is_object;
}

void ReturnedObjects::bind(std::size_t statement, std::string_view name, ValueId value) {
  Held& held = held_[{run_.statements[statement].call, name}];
  if (held.statement > statement) return;
  if (held.statement < statement) held = {statement, {}};
  held.values.push_back(value);
}

/// Callers come before callees in the list, so it is walked backwards: the innermost return is
/// known first.
void ReturnedObjects::hold(const Death& death, std::vector<std::size_t>& last) {
  for (std::size_t call = run_.calls.size(); call-- > 0;) {
    const std::size_t caller = run_.calls[call].statement;
    if (caller == no_index) continue;
    if (const Returned returned = returned_of(call); !returned.values.empty())
      hand_to(caller, call, returned, death, last);
  }
}

/// The statement `caller` binds the call's result to a variable, returns it, or drops it.
void ReturnedObjects::hand_to(std::size_t caller, std::size_t call, const Returned& returned,
                              const Death& death, std::vector<std::size_t>& last) {
  const PythonStatement& statement = run_.statements[caller];
  const Assignment assignment = parse_assignment(line_of(caller).text);
  const bool is_all = run_.calls[call].last == statement.last;  // Nothing is made of it there.
  const bool goes_on_building = is_in_constructor(last_line_of(call)) &&
                                line_of(caller).text.find(constructor) != std::string::npos;
  const bool is_passed_on = goes_on_building || (assignment.returns && is_all);
  const bool is_named = is_all && assignment.targets.size() == 1 &&
                        assignment.targets[0].size() == 1 && assignment.assigns_one_call();
  if (is_passed_on) passed_on_[statement.call].add(returned);
  if (!is_passed_on && !is_named && !returned.is_object) return;
  for (const ValueId id : returned.values) {
    // A line without a node has bound the name anew: trace/python/lifetimes/hidden_rebindings.h.
    if (last[static_cast<std::size_t>(id)] < run_.calls[call].last) continue;
    std::size_t end = statement.last;
    if (is_named && !goes_on_building) {
      const std::string_view name = assignment.targets[0][0].name;
      if (is_bound(caller, name, id)) continue;  // The result itself, whose end is known.
      bind(caller, name, id);
      end = std::max(end, death(id, caller, name));
    }
    last[static_cast<std::size_t>(id)] = std::max(last[static_cast<std::size_t>(id)], end);
  }
}

bool ReturnedObjects::is_bound(std::size_t statement, std::string_view name, ValueId value) const {
  const auto held = held_.find({run_.statements[statement].call, name});
  return held != held_.end() &&
         std::ranges::find(held->second.values, value) != held->second.values.end();
}

ReturnedObjects::Returned ReturnedObjects::returned_of(std::size_t call) const {
  Returned returned = passed_on_[call];
  const auto add = [&](const Held& held) {
    returned.values.insert(returned.values.end(), held.values.begin(), held.values.end());
  };
  if (!is_in_constructor(last_line_of(call))) {
    for (const std::string_view name : returned_by(call))
      if (const auto held = held_.find({call, name}); held != held_.end()) add(held->second);
    return returned;
  }
  returned.is_object = true;
  for (auto held = held_.lower_bound({call, {}}); held != held_.end() && held->first.first == call;
       ++held)
    if (held->first.second.starts_with("self.")) add(held->second);
  return returned;
}

/// The variables that the call's last line returns.
std::vector<std::string_view> ReturnedObjects::returned_by(std::size_t call) const {
  const SourceLine& line = last_line_of(call);
  if (parse_assignment(line.text).returns) return returned_names(line.text);
  const auto found = returns_.find({line.caller, line.function});
  return found == returns_.end() ? std::vector<std::string_view>{} : returned_names(found->second);
}

const SourceLine& ReturnedObjects::line_of(std::size_t statement) const {
  return graph_.source_lines[static_cast<std::size_t>(run_.statements[statement].line)];
}

const SourceLine& ReturnedObjects::last_line_of(std::size_t call) const {
  return line_of(last_statements_[call]);
}

}  // namespace symprof::trace
