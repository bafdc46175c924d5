#include "trace/python/lifetimes/calls.h"

#include <algorithm>
#include <utility>

#include "trace/graph/module_patterns.h"
#include "trace/python/lifetimes/callees.h"
#include "trace/python/lifetimes/plain_lines.h"
#include "trace/python/lifetimes/repeated_lines.h"
#include "trace/python/source/assignment.h"
#include "trace/python/source/own_calls.h"
#include "trace/python/source/tokens.h"

namespace symprof::trace {
namespace {

class Rebuilder {
 public:
  explicit Rebuilder(const Graph& graph)
      : graph_(graph),
        kinds_(graph),
        plain_lines_(graph),
        begins_again_(lines_beginning_again(graph)) {
    run_.statement_of.resize(graph.nodes.size(), no_index);
  }

  PythonRun take() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
      if (graph_.nodes[i].source != no_source) add(i);
    return std::move(run_);
  }

 private:
  /// A call that has not returned, and where it is.
  struct Open {
    ScopeId module = 0;
    std::size_t statement = no_index;
    std::vector<std::pair<int, int>> callees;  ///< Kinds that the statement called, how often each.
    std::string self;  ///< The path of the function's `self`, of one that was called directly.
  };

  void add(std::size_t index) {
    const Node& node = graph_.nodes[index];
    find_lines(node.source);
    find_modules(node.scope);
    std::size_t forwards = 0, depth = 0;
    for (; depth < lines_.size(); ++depth) {
      forwards += line(lines_[depth]).function == "forward" && !is_called_directly(depth);
      const std::size_t level = std::min(std::max<std::size_t>(forwards, 1), modules_.size()) - 1;
      const ScopeId module = modules_[level];
      std::string self = self_of(depth, level);
      if (depth == open_.size() || open_[depth].module != module || !continues(depth) ||
          is_other(self, open_[depth].self) || has_returned(depth))
        begin_call(depth, module);
      else if (statement(depth).line != lines_[depth] ||
               (begins_again_[index] && depth + 1 == lines_.size()))
        begin_statement(depth);
      if (!self.empty()) open_[depth].self = std::move(self);
    }
    open_.resize(depth);
    for (const Open& open : open_) {
      PythonStatement& reached = run_.statements[open.statement];
      reached.last = run_.calls[reached.call].last = index;
      if (!node.outputs.empty()) reached.result = index;
    }
    run_.statement_of[index] = open_.back().statement;
  }

  /// True if the line's function was called as `forward(…)` itself, not by calling its module.
  bool is_called_directly(std::size_t depth) const {
    return depth > 0 && calls_forward_itself(simple_statement(line(lines_[depth - 1]).text));
  }

  /// `layer.forward(x)` has no module scope. A line of it that calls `self.attention` shows its
  /// `self`: "layers.0" for "layers.0.attention". Empty if no line shows it.
  std::string self_of(std::size_t depth, std::size_t level) const {
    if (!is_called_directly(depth) || level + 1 >= modules_.size()) return {};
    const std::string path =
        module_path(graph_.scopes[static_cast<std::size_t>(modules_[level + 1])]);
    const std::string called = "self." + std::string(attribute_of(path));
    if (count_word(simple_statement(line(lines_[depth]).text), called) == 0) return {};
    return path.substr(0, path.rfind(called.substr(std::string_view("self").size())));
  }

  static bool is_other(const std::string& self, const std::string& before) {
    return !self.empty() && !before.empty() && self != before;
  }

  /// Fills `lines_`, from the outermost line in.
  void find_lines(SourceId source) {
    lines_.clear();
    for (; source != no_source; source = line(source).caller) lines_.push_back(source);
    std::ranges::reverse(lines_);
  }

  /// Fills `modules_`, from the root in.
  void find_modules(ScopeId scope) {
    modules_.clear();
    for (; scope != 0; scope = graph_.scopes[static_cast<std::size_t>(scope)].parent)
      modules_.push_back(scope);
    modules_.push_back(0);
    std::ranges::reverse(modules_);
  }

  const SourceLine& line(SourceId id) const {
    return graph_.source_lines[static_cast<std::size_t>(id)];
  }

  PythonStatement& statement(std::size_t depth) { return run_.statements[open_[depth].statement]; }

  /// True if the open function at this depth contains the line.
  bool continues(std::size_t depth) {
    const SourceLine &before = line(statement(depth).line), &now = line(lines_[depth]);
    return &before == &now || (before.file == now.file && before.function == now.function);
  }

  /// True if the open function at this depth was at a `return` line and is now at another line: it
  /// was called again. Lines of an export may be inside of a `return` statement.
  bool has_returned(std::size_t depth) {
    return graph_.traits.functions_are_followed && depth < open_.size() &&
           statement(depth).line != lines_[depth] &&
           parse_assignment(line(statement(depth).line).text).returns;
  }

  void begin_call(std::size_t depth, ScopeId module) {
    const bool is_again =
        depth < open_.size() && open_[depth].module == module && has_returned(depth);
    open_.resize(depth);
    if (is_called_directly(depth))
      count_callee(depth - 1, forward_itself,
                   count_calls_of_forward(simple_statement(line(lines_[depth - 1]).text)));
    else if (depth > 0 && module != open_[depth - 1].module)
      count_callee(depth - 1, kinds_.kind_of(module),
                   kinds_.most_calls(module, line(statement(depth - 1).line).text));
    else if (depth > 0 && is_again &&
             calls_once(line(statement(depth - 1).line).text, line(lines_[depth]).function))
      begin_statement(depth - 1);
    run_.calls.push_back(
        {.statement = depth == 0 ? no_index : open_[depth - 1].statement, .module = module});
    open_.push_back({.module = module});
    add_statement(depth, run_.calls.size() - 1);
  }

  /// A statement that calls more modules than one run of its line can has begun again: it is in a
  /// loop.
  void count_callee(std::size_t depth, int kind, int most) {
    auto& callees = open_[depth].callees;
    auto found = std::ranges::find(callees, kind, &std::pair<int, int>::first);
    if (found != callees.end() && found->second >= most) {
      begin_statement(depth);
      found = open_[depth].callees.end();
    }
    if (found == open_[depth].callees.end())
      open_[depth].callees.emplace_back(kind, 1);
    else
      ++found->second;
  }

  void begin_statement(std::size_t depth) {
    open_.resize(depth + 1);
    add_plain_lines(depth);
    add_statement(depth, statement(depth).call);
  }

  /// Adds the lines without nodes between the open statement and the one that begins.
  void add_plain_lines(std::size_t depth) {
    const PythonStatement before = statement(depth);
    for (const SourceId plain : plain_lines_.between(line(before.line), line(lines_[depth])))
      run_.statements.push_back(
          {.call = before.call, .line = plain, .last = before.last, .is_plain = true});
  }

  void add_statement(std::size_t depth, std::size_t call) {
    open_[depth].statement = run_.statements.size();
    open_[depth].callees.clear();
    run_.statements.push_back({.call = call, .line = lines_[depth]});
  }

  static constexpr int forward_itself =
      -1;  // The kind for a `forward` that is called without its module.

  const Graph& graph_;
  CalleeKinds kinds_;
  PlainLines plain_lines_;
  std::vector<bool> begins_again_;  // By node.
  PythonRun run_;
  std::vector<Open> open_;
  std::vector<SourceId> lines_;
  std::vector<ScopeId> modules_;
};

}  // namespace

std::size_t PythonRun::statement_in(std::size_t call, std::size_t node) const {
  std::size_t statement = statement_of[node];
  while (statement != no_index && statements[statement].call != call)
    statement = caller_of(statement);
  return statement;
}

PythonRun rebuild_calls(const Graph& graph) { return Rebuilder(graph).take(); }

bool is_called_by_its_line(const Graph& graph, const PythonRun& run, std::size_t call) {
  const std::size_t statement = run.calls[call].statement;
  if (statement == no_index) return true;
  const PythonStatement& caller = run.statements[statement];
  if (run.calls[call].module == run.calls[caller.call].module) return true;
  const Scope& module = graph.scopes[static_cast<std::size_t>(run.calls[call].module)];
  const std::string& line = graph.source_lines[static_cast<std::size_t>(caller.line)].text;
  return calls_module(simple_statement(line), module_path(module));
}

}  // namespace symprof::trace
