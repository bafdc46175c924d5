#include "trace/python/lifetimes/hidden_rebindings.h"

#include <algorithm>
#include <map>
#include <utility>

#include "trace/python/source/tokens.h"

namespace symprof::trace {

namespace {

using NameOfCall = std::pair<std::size_t, std::string_view>;

/// The statement that appended a value, by value.
using Appended = std::unordered_map<ValueId, std::size_t>;

/// The first statement whose appended value the node reads; no_index if it reads none.
std::size_t first_read(const Node& node, const Appended& appended) {
  std::size_t first = no_index;
  for_each_value(node, [&](ValueId id) {
    if (const auto found = appended.find(id); found != appended.end())
      first = std::min(first, found->second);
  });
  return first;
}

}  // namespace

HiddenRebindings::HiddenRebindings(const Graph& graph, const PythonRun& run,
                                   const std::vector<Assignment>& assignments)
    : graph_(graph),
      run_(run),
      assignments_(assignments),
      made_at_(graph.values.size(), no_index),
      last_read_(graph.values.size(), no_index),
      next_run_(run.statements.size(), no_index) {
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const ValueId id : graph.nodes[i].outputs)
      if (id != no_value) made_at_[static_cast<std::size_t>(id)] = i;
    for_each_value(graph.nodes[i], [&](ValueId id) {
      if (id != no_value) last_read_[static_cast<std::size_t>(id)] = i;
    });
  }
  std::map<std::pair<std::size_t, SourceId>, std::size_t> next;
  for (std::size_t i = run.statements.size(); i-- > 0;) {
    const auto [found, is_last] =
        next.try_emplace({run.statements[i].call, run.statements[i].line}, i);
    if (!is_last) next_run_[i] = std::exchange(found->second, i);
  }
}

void HiddenRebindings::release(const std::vector<HeldByVariable>& held,
                               std::vector<std::size_t>& last) const {
  std::map<std::size_t, std::vector<const HeldByVariable*>> by_reader;
  for (const HeldByVariable& one : held)
    if (const std::size_t reader = reading_statement(one); reader != no_index)
      by_reader[reader].push_back(&one);
  for (auto& [reader, names] : by_reader) {
    const std::vector<ValueId> handed = handed_on(reader);
    if (handed.empty()) continue;
    if (names.size() > 1)
      std::erase_if(names,
                    [&](const HeldByVariable* one) { return !has_spec_of(one->value, handed); });
    if (names.size() != 1) continue;
    const HeldByVariable& released = *names.front();
    last[static_cast<std::size_t>(released.value)] =
        std::max(released.last_else, run_.statements[reader].last);
  }
}

/// The statement that reads the value last, if it is repeated and reads the variable without
/// rebinding it.
std::size_t HiddenRebindings::reading_statement(const HeldByVariable& held) const {
  const std::size_t read = last_read_[static_cast<std::size_t>(held.value)];
  if (read == no_index) return no_index;
  const std::size_t reader = run_.statement_in(run_.statements[held.statement].call, read);
  if (reader == no_index || reader == held.statement || next_run_[reader] == no_index)
    return no_index;
  const Assignment& assignment = assignment_of(reader);
  if (assignment.targets.empty() || count_word(assignment.value, held.name) == 0) return no_index;
  for (const std::vector<Target>& group : assignment.targets)
    for (const Target& target : group)
      if (count_word(assignment.value, target.name) > 0) return no_index;
  return reader;
}

/// The values that the statement makes and its next run reads.
std::vector<ValueId> HiddenRebindings::handed_on(std::size_t statement) const {
  const std::size_t again = next_run_[statement], call = run_.statements[statement].call;
  std::vector<ValueId> handed;
  for (std::size_t i = run_.statements[statement].last + 1; i <= run_.statements[again].last; ++i) {
    if (run_.statement_in(call, i) != again) continue;
    for_each_value(graph_.nodes[i], [&](ValueId id) {
      if (id == no_value) return;
      const std::size_t made_at = made_at_[static_cast<std::size_t>(id)];
      if (made_at != no_index && run_.statement_in(call, made_at) == statement)
        handed.push_back(id);
    });
  }
  return handed;
}

const Assignment& HiddenRebindings::assignment_of(std::size_t statement) const {
  return assignments_[static_cast<std::size_t>(run_.statements[statement].line)];
}

bool HiddenRebindings::has_spec_of(ValueId value, const std::vector<ValueId>& others) const {
  const auto& spec = graph_.values[static_cast<std::size_t>(value)].spec;
  return spec && std::ranges::any_of(others, [&](ValueId other) {
           return graph_.values[static_cast<std::size_t>(other)].spec == spec;
         });
}

NewLists::NewLists(const Graph& graph, const PythonRun& run,
                   const std::vector<Assignment>& assignments) {
  for (const List& list : find_lists(graph, run, assignments)) find_ends(run, list);
}

std::size_t NewLists::end_of(std::size_t statement) const {
  const auto found = ends_.find(statement);
  return found == ends_.end() ? no_index : found->second;
}

std::vector<NewLists::List> NewLists::find_lists(const Graph& graph, const PythonRun& run,
                                                 const std::vector<Assignment>& assignments) const {
  std::map<NameOfCall, std::pair<List, Appended>> lists;
  for (std::size_t i = 0; i < run.statements.size(); ++i) {
    const PythonStatement& statement = run.statements[i];
    const std::string_view name = assignments[static_cast<std::size_t>(statement.line)].keeper;
    if (name.empty() || statement.result == no_index) continue;
    auto& [list, appended] = lists[{statement.call, name}];
    list.appends.push_back(i);
    for (const ValueId id : graph.nodes[statement.result].outputs) appended.emplace(id, i);
  }
  for (std::size_t i = 0; i < graph.nodes.size() && !lists.empty(); ++i) {
    if (run.statement_of[i] == no_index) continue;
    const PythonStatement& statement = run.statements[run.statement_of[i]];
    const auto& line = graph.source_lines[static_cast<std::size_t>(statement.line)];
    const auto found = lists.find({statement.call, joined_list(line.text)});
    if (found == lists.end()) continue;
    auto& [list, appended] = found->second;
    if (const std::size_t first = first_read(graph.nodes[i], appended); first != no_index)
      list.joins.push_back({run.statement_of[i], first});
  }
  std::vector<List> found;
  found.reserve(lists.size());
  for (auto& [name, list] : lists) found.push_back(std::move(list.first));
  return found;
}

void NewLists::find_ends(const PythonRun& run, const List& list) {
  auto begin = list.appends.begin();
  for (std::size_t i = 1; i < list.joins.size(); ++i) {
    const auto first = std::ranges::find(list.appends, list.joins[i].first_append);
    for (; begin < first && *begin < list.joins[i - 1].statement; ++begin)
      ends_[*begin] = run.statements[list.joins[i - 1].statement].last;
  }
}

}  // namespace symprof::trace
