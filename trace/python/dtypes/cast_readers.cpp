#include "trace/python/dtypes/cast_readers.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "trace/graph/uses.h"
#include "trace/python/source/assignment.h"

namespace symprof::trace {
namespace {

bool has_word(std::string_view line, std::string_view word) {
  if (word.empty()) return false;
  for (std::size_t at = line.find(word); at != line.npos; at = line.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    const bool begins = at == 0 || (!is_word(line[at - 1]) && line[at - 1] != '.');
    if (begins && (end == line.size() || !is_word(line[end]))) return true;
  }
  return false;
}

/// A no-op cast to a literal dtype.
struct NamedCast {
  std::size_t node = 0;
  ValueId before = no_value, after = no_value;
  std::string_view receiver;  ///< "x" of `h = x.float()`.
  std::string_view name;      ///< "h"; empty where the statement does more with the cast.
};

class ReaderRestorer {
 public:
  ReaderRestorer(Graph& graph, CastLines& lines)
      : graph_(graph), lines_(lines), run_(lines.run()), uses_(graph) {}

  void run() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[i];
      if (!is_recorded_cast(node) || is_move(node) || run_.statement_of[i] == no_index) continue;
      const auto* dtype = argument_as<DType>(find_argument(node, "dtype"));
      if (dtype == nullptr || !is_floating_point(*dtype) || node.outputs.size() != 1) continue;
      if (dtype_in_file(graph_, operand(node, 0)) != *dtype) continue;
      const WrittenDType written = lines_.written(i, *dtype);
      if (written.source == DTypeSource::named) restore(named_cast(i, written));
    }
  }

 private:
  NamedCast named_cast(std::size_t index, const WrittenDType& written) {
    const Node& node = graph_.nodes[index];
    NamedCast cast{.node = index,
                   .before = operand(node, 0),
                   .after = node.outputs[0],
                   .receiver = written.receiver};
    const PythonStatement& statement = run_.statements[run_.statement_of[index]];
    const auto targets = parse_assignment(line_of(run_.statement_of[index])).targets;
    if (targets.size() != 1) return cast;
    const std::vector<std::size_t>& beside = lines_.beside(index);
    if (targets[0].size() == 1 && statement.result == index) cast.name = targets[0][0].name;
    if (targets[0].size() > 1 && targets[0].size() == beside.size())
      cast.name =
          targets[0][static_cast<std::size_t>(std::ranges::find(beside, index) - beside.begin())]
              .name;
    return cast;
  }

  std::string_view line_of(std::size_t statement) const {
    return graph_.source_lines[static_cast<std::size_t>(run_.statements[statement].line)].text;
  }

  std::size_t call_of(const NamedCast& cast) const {
    return run_.statements[run_.statement_of[cast.node]].call;
  }

  void restore(const NamedCast& cast) {
    const std::size_t call = call_of(cast);
    const auto maker = uses_.maker(cast.before);
    const bool was_given = !maker || run_.statement_in(call, *maker) == no_index;
    const bool goes_on = std::ranges::any_of(uses_.readers(cast.after), [&](std::size_t reader) {
      return run_.statement_in(call, reader) != no_index;
    });
    for (const std::size_t reader : uses_.readers(cast.after)) {
      if (run_.statement_of[reader] == no_index) continue;
      const std::size_t statement = run_.statement_in(call, reader);
      const bool means_before =
          statement == no_index ? was_given && goes_on : reads_before(cast, statement);
      if (means_before)
        read_before(cast, graph_.nodes[reader].arguments);
      else if (graph_.nodes[reader].op == "aten::type_as")
        read_dtype_before(cast, graph_.nodes[reader]);
    }
    const bool has_caller = run_.calls[call].statement != no_index;
    if (has_caller && was_given && goes_on)
      std::ranges::replace(graph_.outputs, cast.after, cast.before);
  }

  /// True if a statement of the function that casts means the tensor before the cast.
  bool reads_before(const NamedCast& cast, std::size_t statement) const {
    if (statement == run_.statement_of[cast.node]) return false;
    if (cast.name.empty()) return true;  // Nothing else has a name.
    const std::string_view line = line_of(statement);
    return cast.name != cast.receiver && has_word(line, cast.receiver) &&
           !has_word(line, cast.name);
  }

  static void read_before(const NamedCast& cast, std::vector<Argument>& arguments) {
    for (Argument& argument : arguments)
      for_each_value(argument, [&](ValueId& id) {
        if (id == cast.after) id = cast.before;
      });
  }

  static void read_dtype_before(const NamedCast& cast, Node& type_as) {
    if (operand(type_as, 1) == cast.after) type_as.arguments[1].value = ValueRef{cast.before};
  }

  Graph& graph_;
  CastLines& lines_;
  const PythonRun& run_;
  Uses uses_;
};

class RepeatedCasts {
 public:
  explicit RepeatedCasts(Graph& graph) : graph_(graph), uses_(graph) {}

  void run() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (!is_recorded_cast(graph_.nodes[i]) || is_move(graph_.nodes[i])) continue;
      const auto first = uses_.maker(operand(graph_.nodes[i], 0));
      if (first && is_repeated(graph_.nodes[*first], graph_.nodes[i])) take_uncast(*first, i);
    }
  }

 private:
  bool is_repeated(const Node& first, const Node& second) const {
    if (!is_recorded_cast(first) || is_move(first)) return false;
    const auto* dtype = argument_as<DType>(find_argument(first, "dtype"));
    const auto* again = argument_as<DType>(find_argument(second, "dtype"));
    return dtype != nullptr && again != nullptr && *dtype == *again &&
           dtype_in_file(graph_, operand(first, 0)) == *dtype &&
           !is_inside(first.scope, second.scope) && !is_inside(second.scope, first.scope);
  }

  bool is_inside(ScopeId inner, ScopeId outer) const {
    while (inner != outer && inner != 0)
      inner = graph_.scopes[static_cast<std::size_t>(inner)].parent;
    return inner == outer;
  }

  /// The operand of the first cast lives until the second one.
  void take_uncast(std::size_t first, std::size_t second) {
    const ValueId uncast = operand(graph_.nodes[first], 0);
    graph_.nodes[second].arguments[0].value = ValueRef{uncast};
    for (std::size_t i = first; i < second; ++i)
      if (std::erase(graph_.nodes[i].releases, uncast) > 0)
        graph_.nodes[second].releases.push_back(uncast);
  }

  Graph& graph_;
  Uses uses_;
};

}  // namespace

void restore_repeated_casts(Graph& graph) { RepeatedCasts(graph).run(); }

void restore_readers(Graph& graph, CastLines& lines) { ReaderRestorer(graph, lines).run(); }

}  // namespace symprof::trace
