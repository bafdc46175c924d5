#include "trace/python/lifetimes/unpacked_results.h"

#include <algorithm>
#include <string>

#include "record/module_path.h"
#include "trace/graph/module_patterns.h"

namespace symprof::trace {
namespace {

class Unpacker {
 public:
  Unpacker(const Graph& graph, const PythonRun& run, std::vector<std::size_t>& last)
      : graph_(graph), run_(run), last_(last), readers_(graph.values.size()) {
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
      for_each_value(graph.nodes[i], [&](ValueId id) {
        if (id != no_value) readers_[static_cast<std::size_t>(id)].push_back(i);
      });
  }

  void hold() {
    find_results();
    for (std::size_t call = 0; call < run_.calls.size(); ++call) {
      if (results_[call].size() < 2 || is_called_by_its_line(graph_, run_, call)) continue;
      const std::size_t end = end_of_names(call);
      for (const ValueId id : results_[call]) {
        std::size_t& last = last_[static_cast<std::size_t>(id)];
        if (!may_be_replaced(id, run_.calls[call].statement)) last = std::max(last, end);
      }
    }
  }

 private:
  /// Finds the results of module calls: the values that are read after the call.
  void find_results() {
    results_.resize(run_.calls.size());
    for (std::size_t node = 0; node < graph_.nodes.size(); ++node)
      for (const ValueId id : graph_.nodes[node].outputs) {
        if (id == no_value || readers_[static_cast<std::size_t>(id)].empty()) continue;
        const std::size_t read = readers_[static_cast<std::size_t>(id)].back();
        for (std::size_t i = run_.statement_of[node]; i != no_index;) {
          const PythonCall& call = run_.calls[run_.statements[i].call];
          if (read <= call.last) break;
          results_[run_.statements[i].call].push_back(id);
          i = call.statement;
        }
      }
  }

  /// When the next module of that kind that the statement calls has returned, or the statement
  /// ends.
  std::size_t end_of_names(std::size_t call) const {
    const std::size_t statement = run_.calls[call].statement;
    const std::string kind = kind_of(call);
    for (std::size_t next = call + 1; next < run_.calls.size(); ++next)
      if (run_.calls[next].statement == statement && kind_of(next) == kind)
        return run_.calls[next].last;
    return run_.statements[statement].last;
  }

  std::string kind_of(std::size_t call) const {
    const ScopeId module = run_.calls[call].module;
    return without_numbers(module_path(graph_.scopes[static_cast<std::size_t>(module)]));
  }

  /// True if the function makes a new tensor of the same spec from the result, which may take its
  /// variable.
  bool may_be_replaced(ValueId id, std::size_t statement) const {
    const auto& spec = graph_.values[static_cast<std::size_t>(id)].spec;
    return std::ranges::any_of(readers_[static_cast<std::size_t>(id)], [&](std::size_t reader) {
      const Node& node = graph_.nodes[reader];
      if (run_.statement_of[reader] != statement || node.op.ends_with('_')) return false;
      return std::ranges::any_of(node.outputs, [&](ValueId made) {
        return made != no_value && graph_.values[static_cast<std::size_t>(made)].spec == spec;
      });
    });
  }

  const Graph& graph_;
  const PythonRun& run_;
  std::vector<std::size_t>& last_;
  std::vector<std::vector<std::size_t>> readers_;  // By value: the nodes that read it, in order.
  std::vector<std::vector<ValueId>> results_;      // By call.
};

}  // namespace

void hold_unpacked_results(const Graph& graph, const PythonRun& run,
                           std::vector<std::size_t>& last) {
  Unpacker(graph, run, last).hold();
}

}  // namespace symprof::trace
