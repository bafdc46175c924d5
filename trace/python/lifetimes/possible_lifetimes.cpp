#include "trace/python/lifetimes/possible_lifetimes.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "trace/graph/module_patterns.h"
#include "trace/python/lifetimes/calls.h"
#include "trace/python/lifetimes/hidden_containers.h"
#include "trace/python/lifetimes/lifetimes.h"
#include "trace/python/lifetimes/missing_results.h"
#include "trace/python/source/assignment.h"
#include "trace/python/source/own_calls.h"

namespace symprof::trace {
namespace {

class EndFinder {
 public:
  explicit EndFinder(const Graph& graph)
      : graph_(graph),
        run_(rebuild_calls(graph)),
        last_(last_uses(graph, Lifetimes::frames)),
        ends_(graph.values.size()) {
    for (std::size_t i = 0; i < ends_.size(); ++i) ends_[i].last = last_[i];
  }

  std::vector<PossibleLifetime> find() {
    for (const SourceLine& line : graph_.source_lines)
      assignments_.push_back(parse_assignment(line.text));
    open_all_of_trace();
    find_reads();
    find_last_of_scopes();
    find_last_of_calls();
    missing_.emplace(graph_, run_, assignments_);
    containers_.emplace(graph_, run_, assignments_);
    find_lacking();
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      for (const ValueId id : graph_.nodes[i].outputs)
        if (may_die(id)) add_made(i, static_cast<std::size_t>(id));
      if (is_hidden(i))
        for_each_value(graph_.nodes[i], [&](ValueId id) {
          if (may_die(id)) add_given(i, static_cast<std::size_t>(id));
        });
    }
    return std::move(ends_);
  }

 private:
  bool may_die(ValueId id) const {
    return id != no_value && last_[static_cast<std::size_t>(id)] != never_dies;
  }

  const PythonStatement& statement(std::size_t index) const { return run_.statements[index]; }

  const SourceLine& line_of(std::size_t index) const {
    return graph_.source_lines[static_cast<std::size_t>(statement(index).line)];
  }

  /// A trace shows no containers: any container may hold any value.
  void open_all_of_trace() {
    if (std::ranges::all_of(graph_.values,
                            [](const Value& value) { return value.may_stay_in == no_scope; }))
      return;
    for (PossibleLifetime& end : ends_) end.is_open = true;
  }

  void find_reads() {
    made_at_.resize(graph_.values.size(), no_index);
    last_read_.resize(graph_.values.size(), 0);
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      for (const ValueId id : graph_.nodes[i].outputs)
        if (id != no_value) made_at_[static_cast<std::size_t>(id)] = i;
      for_each_value(graph_.nodes[i], [&](ValueId id) {
        if (id != no_value) last_read_[static_cast<std::size_t>(id)] = i;
      });
    }
    for (const ValueId id : graph_.outputs)
      if (id != no_value) last_read_[static_cast<std::size_t>(id)] = never_dies;
  }

  void find_last_of_scopes() {
    last_of_scope_.resize(graph_.scopes.size());
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
      for (ScopeId scope = graph_.nodes[i].scope;; scope = parent_of(scope)) {
        last_of_scope_[static_cast<std::size_t>(scope)] = i;
        if (scope == 0) break;
      }
  }

  ScopeId parent_of(ScopeId scope) const {
    return graph_.scopes[static_cast<std::size_t>(scope)].parent;
  }

  /// The last node of each call of a PyTorch function that has a frame of its own.
  void find_last_of_calls() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
      if (has_frame(graph_.nodes[i].call)) last_of_call_[graph_.nodes[i].call] = i;
  }

  /// True if another function than the one whose line is known made the node.
  bool is_hidden(std::size_t node) const {
    const std::size_t i = run_.statement_of[node];
    if (graph_.traits.functions_are_followed) return false;
    return i != no_index && !calls_function(line_of(i).text, graph_.nodes[node].call);
  }

  void put_off(std::size_t value, std::size_t last, LifetimeUncertainty uncertainty) {
    ends_[value].is_open = true;
    if (last <= ends_[value].last) return;
    ends_[value].last = last;
    ends_[value].uncertainty = uncertainty;
  }

  void add_made(std::size_t node, std::size_t value) {
    const ScopeId stays_in = graph_.values[value].may_stay_in;
    if (stays_in != no_scope)
      return put_off(value, last_of_scope_[static_cast<std::size_t>(stays_in)],
                     LifetimeUncertainty::no_lines);
    const std::size_t i = run_.statement_of[node];
    const bool is_followed = graph_.traits.functions_are_followed && i == no_index;
    if (!graph_.nodes[node].releases.empty() || is_followed) return;
    if (i == no_index) return add_unknown(node, value);
    if (line_of(i).text.empty())
      return put_off(value, run_.calls[statement(i).call].last, LifetimeUncertainty::no_lines);
    if (const auto call = last_of_call_.find(graph_.nodes[node].call); call != last_of_call_.end())
      put_off(value, call->second, LifetimeUncertainty::function);
    if (is_hidden(node)) {
      put_off(value, statement(i).last, LifetimeUncertainty::function);
      if (lacks(i))
        put_off(value, run_.calls[statement(i).call].last, LifetimeUncertainty::container);
      if (gives_to_keeper(simple_statement(line_of(i).text)))
        put_off(value, graph_.nodes.size() - 1, LifetimeUncertainty::container);
    }
    open_where_lacking(i, value);
    add_inner_lines(node, value);
    add_returned(node, value);
  }

  /// `x = (` makes no node: a value made by a line inside of its brackets has a variable that no
  /// line shows.
  void add_inner_lines(std::size_t node, std::size_t value) {
    if (!graph_.traits.has_outer_lines() || graph_.nodes[node].op.ends_with('_')) return;
    for (std::size_t i = run_.statement_of[node]; i != no_index; i = run_.caller_of(i)) {
      if (last_[value] <= statement(i).last || last_read_[value] == never_dies) return;
      if (!binds(i) && is_read_below(value, i))
        put_off(value, run_.calls[statement(i).call].last, LifetimeUncertainty::no_lines);
    }
  }

  bool binds(std::size_t index) const {
    const Assignment& assignment = assignment_of(index);
    return assignment.returns || !assignment.targets.empty() || !assignment.keeper.empty();
  }

  /// True if the function reads the value in a statement further down. A call over several lines
  /// has the number of its first line, above its arguments; `.relu()` continues the expression.
  bool is_read_below(std::size_t value, std::size_t index) const {
    const std::size_t reader = run_.statement_in(statement(index).call, last_read_[value]);
    if (reader == no_index) return false;
    const SourceLine &made = line_of(index), &read = line_of(reader);
    return read.line > made.line && !read.text.starts_with('.');
  }

  /// An unknown result of a call, such as a container, may hold any value that the call made.
  void open_where_lacking(std::size_t index, std::size_t value) {
    for (; index != no_index; index = run_.caller_of(index))
      if (lacks(index)) ends_[value].is_open = true;
  }

  /// Follows a value to the callers that it may be returned to.
  void add_returned(std::size_t node, std::size_t value) {
    for (std::size_t i = run_.statement_of[node]; i != no_index;) {
      const PythonCall& call = run_.calls[statement(i).call];
      const std::size_t caller = call.statement;
      if (caller == no_index || ends_[value].last < call.last) return;
      const bool is_returned = last_read_[value] > call.last || statement(caller).result == node;
      if (is_returned && !is_called_by_its_line(graph_, run_, statement(i).call))
        put_off(value, statement(caller).last, LifetimeUncertainty::function);
      // If a callee gets a container beside a result and returns it, it returns nothing else in
      // this way.
      const bool is_rest = ends_[value].uncertainty == LifetimeUncertainty::container;
      if (lacks(caller) && (is_rest || !has_lacking_[statement(i).call]))
        put_off(value, end_of_rest(caller), LifetimeUncertainty::container);
      if (containers_->has_other_name(static_cast<ValueId>(value), i))
        if (const std::size_t end = containers_->end_of(caller); end != no_index)
          put_off(value, end, LifetimeUncertainty::container);
      i = caller;
    }
  }

  /// Finds the calls with statements that unpack more than there is.
  void find_lacking() {
    has_lacking_.resize(run_.calls.size());
    for (std::size_t i = 0; i < run_.statements.size(); ++i)
      if (lacks(i)) has_lacking_[statement(i).call] = true;
  }

  bool lacks(std::size_t index) const { return missing_->count(index) > 0; }

  const Assignment& assignment_of(std::size_t index) const {
    return assignments_[static_cast<std::size_t>(statement(index).line)];
  }

  /// `_` is rebound, or goes when its function returns; another variable may be put into a list.
  std::size_t end_of_rest(std::size_t index) const {
    const std::vector<Target>& targets = assignment_of(index).targets.back();
    const auto ignored = std::ranges::count_if(
        targets, [](const Target& target) { return target.name.starts_with('_'); });
    if (static_cast<std::size_t>(ignored) + missing_->results(index) >= targets.size())
      return run_.calls[statement(index).call].last;
    return graph_.nodes.size() - 1;
  }

  /// A node without a line: the innermost module that contains it and the value's last use.
  void add_unknown(std::size_t node, std::size_t value) {
    const std::size_t last = last_[value];
    ScopeId scope = graph_.nodes[node].scope;
    const auto holds = [&](ScopeId outer) {
      for (ScopeId inner = graph_.nodes[last].scope; inner != outer; inner = parent_of(inner))
        if (inner == 0) return false;
      return true;
    };
    while (scope != 0 && !holds(scope)) scope = parent_of(scope);
    put_off(value, last_of_scope_[static_cast<std::size_t>(scope)], LifetimeUncertainty::no_lines);
  }

  /// A parameter of a function may hold a value made by the caller's line.
  void add_given(std::size_t node, std::size_t value) {
    const std::size_t i = run_.statement_of[node], made_at = made_at_[value];
    if (made_at == no_index) return;
    for (std::size_t j = run_.statement_of[made_at]; j != no_index; j = run_.caller_of(j))
      if (j == i) return put_off(value, statement(i).last, LifetimeUncertainty::function);
  }

  const Graph& graph_;
  PythonRun run_;
  std::vector<std::size_t> last_;
  std::vector<PossibleLifetime> ends_;
  std::vector<Assignment> assignments_;           // By line.
  std::vector<std::size_t> made_at_, last_read_;  // By value.
  std::vector<std::size_t> last_of_scope_;
  std::optional<MissingResults> missing_;
  std::optional<HiddenContainers> containers_;
  std::vector<bool> has_lacking_;  // By call.
  std::unordered_map<std::string_view, std::size_t> last_of_call_;
};

}  // namespace

std::vector<PossibleLifetime> possible_lifetimes(const Graph& graph) {
  if (graph.nodes.empty()) return std::vector<PossibleLifetime>(graph.values.size());
  return EndFinder(graph).find();
}

}  // namespace symprof::trace
