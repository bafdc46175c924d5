#include "trace/python/lifetimes/local_variables.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "trace/python/lifetimes/calls.h"
#include "trace/python/lifetimes/hidden_rebindings.h"
#include "trace/python/lifetimes/last_iterations.h"
#include "trace/python/lifetimes/missing_results.h"
#include "trace/python/lifetimes/released_names.h"
#include "trace/python/lifetimes/returned_objects.h"
#include "trace/python/lifetimes/unpacked_results.h"
#include "trace/python/lifetimes/variable_bindings.h"
#include "trace/python/source/assignment.h"

namespace symprof::trace {
namespace {

using Names = std::unordered_map<std::string_view, std::size_t>;

bool is_attribute_of_self(std::string_view name) { return name.starts_with("self."); }

class Holder {
 public:
  Holder(const Graph& graph, std::vector<std::size_t>& last_uses)
      : graph_(graph), last_(last_uses), run_(rebuild_calls(graph)), returned_(graph, run_) {}

  void hold() {
    if (run_.statements.empty()) return;
    for (const SourceLine& line : graph_.source_lines) {
      GeneratedLine generated = parse_generated_line(line.text);
      assignments_.push_back(parse_assignment(generated.statement));
      released_.push_back(std::move(generated.released));
      std::ranges::copy(deleted_names(line.text), std::back_inserter(released_.back()));
    }
    find_last_reads();
    find_results();
    find_next_bindings();
    new_lists_.emplace(graph_, run_, assignments_);
    for_each_result([&](std::size_t node, std::size_t position) { hold_value(node, position); });
    HiddenRebindings(graph_, run_, assignments_).release(bound_, last_);
    release_in_last_iterations(graph_, run_, assignments_, bound_, last_);
    bind_copies();
    hold_by_second_names();
    hold_named_containers();
    hold_unread_results();
    hold_unpacked_results(graph_, run_, last_);
    returned_.hold([&](ValueId value, std::size_t statement,
                       std::string_view name) { return death_of(value, statement, name); },
                   last_);
  }

 private:
  using NameOfCall = std::pair<std::size_t, std::string_view>;
  /// A value that is read after its variable was rebound.
  struct Renamed {
    ValueId value;
    std::size_t bound_at;  ///< The last node of the statement that bound the name.
  };

  /// A result of a statement that a later statement needs.
  struct Result {
    ValueId value;
    std::size_t inner;  ///< The statement of a called function that made it; no_index for none.
  };

  const Assignment& assignment_of(std::size_t statement) const {
    return assignments_[static_cast<std::size_t>(run_.statements[statement].line)];
  }

  const SourceLine& line_of(std::size_t statement) const {
    return graph_.source_lines[static_cast<std::size_t>(run_.statements[statement].line)];
  }

  /// Calls `visit(node, position)` for the results of nodes whose line is known.
  template <class Visit>
  void for_each_result(Visit&& visit) const {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
      if (run_.statement_of[i] != no_index)
        for (std::size_t j = 0; j < graph_.nodes[i].outputs.size(); ++j)
          if (graph_.nodes[i].outputs[j] != no_value) visit(i, j);
  }

  void find_last_reads() {
    last_read_.resize(graph_.values.size());
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
      for_each_value(graph_.nodes[i], [&](ValueId id) {
        if (id != no_value) last_read_[static_cast<std::size_t>(id)] = i;
      });
  }

  void find_results() {
    results_.resize(run_.statements.size());
    for_each_result([&](std::size_t node, std::size_t position) {
      const ValueId id = graph_.nodes[node].outputs[position];
      const auto value = static_cast<std::size_t>(id);
      std::size_t inner = no_index;
      for (std::size_t i = run_.statement_of[node]; i != no_index; i = run_.caller_of(i)) {
        if (std::max(last_[value], last_read_[value]) <= run_.statements[i].last) return;
        results_[i].push_back({.value = id, .inner = inner});
        inner = i;
      }
    });
  }

  const std::vector<std::string_view>& released_by(std::size_t statement) const {
    return released_[static_cast<std::size_t>(run_.statements[statement].line)];
  }

  /// For each target of each statement: the next statement of its call that rebinds or deletes the
  /// variable.
  void find_next_bindings() {
    std::vector<Names> next_binding(run_.calls.size());
    next_.resize(run_.statements.size());
    for (std::size_t i = run_.statements.size(); i-- > 0;) {
      Names& next = next_binding[run_.statements[i].call];
      const auto& groups = assignment_of(i).targets;
      for (const auto& group : groups)
        for (const Target& target : group) {
          const auto found = next.find(target.name);
          next_[i].push_back(found == next.end() ? no_index : found->second);
        }
      const std::string_view keeper = assignment_of(i).keeper;
      if (const auto found = next.find(keeper); !keeper.empty())
        next_[i].push_back(found == next.end() ? no_index : found->second);
      for (const auto& group : groups)
        for (const Target& target : group)
          if (target.replaces && keeper.empty()) next[target.name] = i;
      for (const std::string_view name : released_by(i)) next[name] = i;
    }
  }

  /// The last node during which the variable that `statement` bound to a value holds it.
  std::size_t death_of(ValueId value, std::size_t statement, std::string_view name) const {
    const std::size_t next = next_binding(value, statement, name);
    if (next != no_index) return run_.statements[next].last;
    const bool stays = is_attribute_of_self(name) && !is_in_constructor(line_of(statement));
    return stays ? no_index : run_.calls[run_.statements[statement].call].last;
  }

  /// The statement that rebinds the variable. `x = f(x)` binds the same value again if f changes it
  /// in place: then f has no other result.
  std::size_t next_binding(ValueId value, std::size_t statement, std::string_view name) const {
    const std::size_t read = last_read_[static_cast<std::size_t>(value)];
    const auto changes_in_place = [&](std::size_t i) {
      return !run_.statements[i].is_plain && read > run_.statements[i].last && results_[i].empty();
    };
    std::size_t next = next_of(statement, name);
    while (next != no_index && changes_in_place(next)) next = next_of(next, name);
    return next;
  }

  std::size_t next_of(std::size_t statement, std::string_view name) const {
    std::size_t index = 0;
    for (const auto& group : assignment_of(statement).targets)
      for (const Target& target : group) {
        if (target.name == name) return next_[statement][index];
        ++index;
      }
    return name == assignment_of(statement).keeper ? next_[statement][index] : no_index;
  }

  /// Binds a result in the statement that made it, and in its callers as far as the value is
  /// returned.
  void hold_value(std::size_t node, std::size_t position) {
    const ValueId value = graph_.nodes[node].outputs[position];
    for (std::size_t i = run_.statement_of[node]; i != no_index; i = run_.caller_of(i)) {
      const PythonStatement& statement = run_.statements[i];
      const Assignment& assignment = assignment_of(i);
      const bool is_kept = !assignment.targets.empty() || !assignment.keeper.empty();
      const bool binds = assignment.returns || is_kept;
      const bool is_needed = last_[static_cast<std::size_t>(value)] > statement.last;
      if (!is_needed && (statement.result != node || !binds)) return;
      if (is_kept) bind(value, i, position, graph_.nodes[node].outputs.size());
    }
  }

  /// Index of the assignment target that a value is bound to: its position among the results of its
  /// node, or, if each target has a node of its own (`q, k = map(split, (q, k))`), its position
  /// among the results of the statement, which Python computes in order.
  std::size_t place_of(ValueId value, std::size_t statement, std::size_t position,
                       std::size_t count, std::size_t targets) const {
    if (count == targets) return position;
    const std::vector<Result>& results = results_[statement];
    if (results.size() != targets || return_together(results)) return 0;
    const auto found = std::ranges::find(results, value, &Result::value);
    return found == results.end() ? 0 : static_cast<std::size_t>(found - results.begin());
  }

  /// True if a called function computed several of the results before it returned them: then they
  /// may be computed in another order than that of its `return`.
  bool return_together(const std::vector<Result>& results) const {
    const auto call_of = [&](const Result& result) {
      const bool is_kept = result.inner != no_index && !assignment_of(result.inner).returns;
      return is_kept ? run_.statements[result.inner].call : no_index;
    };
    for (std::size_t i = 0; i + 1 < results.size(); ++i)
      if (call_of(results[i]) != no_index && call_of(results[i]) == call_of(results[i + 1]))
        return true;
    return false;
  }

  void bind(ValueId value, std::size_t index, std::size_t position, std::size_t count) {
    const PythonStatement& statement = run_.statements[index];
    std::size_t& last = last_[static_cast<std::size_t>(value)];
    std::size_t death = statement.last;
    std::string_view name;
    for (const std::vector<Target>& group : assignment_of(index).targets) {
      if (group.empty()) continue;
      name = group[place_of(value, index, position, count, group.size())].name;
      if (std::ranges::find(released_by(index), name) != released_by(index).end()) continue;
      returned_.bind(index, name, value);
      bound_names_.bind(statement.call, index, name, value);
      const std::size_t end = death_of(value, index, name);
      if (end == run_.calls[statement.call].last)
        bound_.push_back({.value = value, .name = name, .statement = index, .last_else = last});
      death = std::max(death, end);
    }
    if (const std::string_view keeper = assignment_of(index).keeper; !keeper.empty()) {
      const std::size_t rebound = new_lists_->end_of(index);
      death = std::max(death, rebound != no_index ? rebound : death_of(value, index, keeper));
    }
    if (last > death && last <= run_.calls[statement.call].last)
      renamed_[{statement.call, name}].push_back({value, statement.last});
    named_.insert({value, {statement.call, name}});
    last = std::max(last, death);
  }

  /// `residual = x`: from here on the value of x has a second name.
  void bind_copies() {
    const auto next = [&](ValueId value, std::size_t statement, std::string_view name) {
      return next_binding(value, statement, name);
    };
    for (std::size_t i = 0; i < run_.statements.size(); ++i) {
      if (!run_.statements[i].is_plain || !is_plain_copy(line_of(i).text)) continue;
      const std::size_t call = run_.statements[i].call;
      const Assignment& copy = assignment_of(i);
      const std::string_view name = copy.targets[0][0].name;
      for (const ValueId value : bound_names_.held(call, copy.value, i, next)) {
        bound_names_.bind(call, i, name, value);
        returned_.bind(i, name, value);
        hold_by_copy(value, death_of(value, i, name));
      }
    }
  }

  /// A copy tells how long a value has a second variable; then nothing is guessed.
  void hold_by_copy(ValueId value, std::size_t end) {
    hold_to(value, end);
    if (end < last_read_[static_cast<std::size_t>(value)]) return;
    const auto [first, behind] = named_.equal_range(value);
    for (auto named = first; named != behind; ++named)
      if (const auto guesses = renamed_.find(named->second); guesses != renamed_.end())
        std::erase_if(guesses->second,
                      [&](const Renamed& renamed) { return renamed.value == value; });
  }

  void hold_by_second_names() {
    for (auto& [key, values] : renamed_) {
      std::vector<std::size_t> ends(values.size());
      for (std::size_t i = 0; i < values.size(); ++i) ends[i] = end_of(values, i, key.first);
      for (std::size_t i = 0; i < values.size(); ++i) last_of(values[i]) = ends[i];
    }
  }

  /// If `cat(xs)` reads a list by its name, the most recent element is also in the list, although
  /// its variable still refers to it.
  void hold_named_containers() {
    for (const auto& [name, values] : renamed_)
      for (const Renamed& renamed : values) {
        const std::size_t reader = last_read_of(renamed), statement = run_.statement_of[reader];
        if (statement == no_index || run_.statements[statement].call != name.first) continue;
        if (!joined_list(line_of(statement).text).empty()) hold_read_by_name(reader, name);
      }
  }

  /// How long a list holds what `reader` reads of it in a call: until the call returns, unless `xs
  /// = stack(xs)` rebinds the list's variable.
  std::size_t end_of_list(std::size_t reader, std::size_t call) const {
    const std::size_t statement = run_.statement_of[reader], returned = run_.calls[call].last;
    if (statement == no_index || run_.statements[statement].call != call) return returned;
    const std::string_view list = joined_list(line_of(statement).text);
    if (list.empty()) return returned;
    const auto is_list = [&](const Target& target) {
      return target.replaces && target.name == list;
    };
    for (const std::vector<Target>& group : assignment_of(statement).targets)
      if (std::ranges::any_of(group, is_list)) return run_.statements[statement].last;
    return returned;
  }

  /// Values that `reader` reads from the list live as long as the list has that name.
  void hold_read_by_name(std::size_t reader, const NameOfCall& name) {
    for_each_value(graph_.nodes[reader], [&](ValueId value) {
      const auto [first, end] = named_.equal_range(value);
      for (auto named = first; named != end; ++named)
        if (named->second == name) hold_to(value, end_of_list(reader, name.first));
    });
  }

  void hold_to(ValueId value, std::size_t end) {
    std::size_t& last = last_[static_cast<std::size_t>(value)];
    last = std::max(last, end);
  }

  std::size_t end_of(const std::vector<Renamed>& values, std::size_t i, std::size_t call) {
    const auto overlap = [&](std::size_t j) { return last_of(values[j]) > values[j + 1].bound_at; };
    const auto used_together = [&](std::size_t j) {
      return overlap(j) && last_read_of(values[j]) == last_read_of(values[j + 1]);
    };
    const bool before = i > 0, after = i + 1 < values.size();
    if ((before && used_together(i - 1)) || (after && used_together(i)))
      return end_of_list(last_read_of(values[i]), call);
    if ((before && overlap(i - 1)) || (after && overlap(i))) return last_of(values[i]);
    return after ? values[i + 1].bound_at : end_of_list(last_read_of(values[i]), call);
  }

  /// A named result that nothing reads may be collected by a line without a node,
  /// `caches.append(c)`. By convention `_` is not.
  void hold_unread_results() {
    const MissingResults missing(graph_, run_, assignments_);
    for (const UnreadResult& unread : missing.unread()) {
      const std::size_t end = unread.name.starts_with('_')
                                  ? death_of(unread.value, unread.statement, unread.name)
                                  : run_.calls[run_.statements[unread.statement].call].last;
      hold_to(unread.value, end);
    }
  }

  std::size_t& last_of(const Renamed& renamed) {
    return last_[static_cast<std::size_t>(renamed.value)];
  }

  std::size_t last_read_of(const Renamed& renamed) const {
    return last_read_[static_cast<std::size_t>(renamed.value)];
  }

  const Graph& graph_;
  std::vector<std::size_t>& last_;
  PythonRun run_;
  ReturnedObjects returned_;
  std::vector<Assignment> assignments_;                  // By line.
  std::vector<std::vector<std::string_view>> released_;  // By line: variables that it releases.
  std::vector<std::size_t> last_read_;                   // By value: the last node that reads it.
  std::vector<std::vector<Result>> results_;  // By statement, in the order in which they are made.
  std::vector<std::vector<std::size_t>> next_;  // By statement, for its targets in order.
  std::map<NameOfCall, std::vector<Renamed>> renamed_;
  VariableBindings bound_names_;
  std::optional<NewLists> new_lists_;
  std::multimap<ValueId, NameOfCall> named_;  // Every name that a value was given.
  std::vector<HeldByVariable> bound_;  // To names that no later statement of their call binds.
};

}  // namespace

void extend_by_variables(const Graph& graph, std::vector<std::size_t>& last_uses) {
  Holder(graph, last_uses).hold();
}

}  // namespace symprof::trace
