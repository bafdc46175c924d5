#include "trace/python/lifetimes/repeated_lines.h"

#include <algorithm>
#include <string_view>

#include "trace/python/source/assignment.h"
#include "trace/python/source/own_calls.h"
#include "trace/python/source/tokens.h"

namespace symprof::trace {
namespace {

/// The first node of a call of a PyTorch function, and the function.
struct FunctionCall {
  std::size_t node = 0;
  std::string_view function;

  bool operator==(const FunctionCall& other) const { return function == other.function; }
};

using FunctionCalls = std::vector<FunctionCall>;

/// The period after which the calls repeat until the end; 0 if they do not.
std::size_t period_of(const FunctionCalls& calls) {
  for (std::size_t period = 1; period * 2 <= calls.size(); ++period)
    if (calls.size() % period == 0 &&
        std::equal(calls.begin() + static_cast<std::ptrdiff_t>(period), calls.end(), calls.begin()))
      return period;
  return 0;
}

/// True if one run of `line` makes the first `period` calls and no others.
bool makes(std::string_view line, const FunctionCalls& calls, std::size_t period) {
  if (has_comprehension(tokens_of(line))) return false;
  const std::string_view body = simple_statement(line);
  std::vector<std::string_view> functions;
  for (std::size_t i = 0; i < period; ++i) {
    const auto same =
        std::count(calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(period), calls[i]);
    if (times_called(body, calls[i].function) != same) return false;
    functions.push_back(calls[i].function);
  }
  return names_no_other_call(body, functions);
}

void mark(const Graph& graph, const FunctionCalls& calls, std::vector<bool>& begins_again) {
  if (calls.size() < 2) return;
  const SourceId source = graph.nodes[calls.front().node].source;
  const std::size_t period = period_of(calls);
  if (period == 0 || source == no_source) return;
  const std::string_view line = graph.source_lines[static_cast<std::size_t>(source)].text;
  if (!makes(line, calls, period)) return;
  for (std::size_t i = period; i < calls.size(); i += period) begins_again[calls[i].node] = true;
}

}  // namespace

std::vector<bool> lines_beginning_again(const Graph& graph) {
  std::vector<bool> begins_again(graph.nodes.size());
  FunctionCalls calls;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const Node &node = graph.nodes[i], &before = graph.nodes[i == 0 ? 0 : i - 1];
    if (node.source != before.source || node.scope != before.scope) {
      mark(graph, calls, begins_again);
      calls.clear();
    }
    if (calls.empty() || node.call.empty() || node.call != before.call)
      calls.push_back({i, function_of(node.call)});
  }
  mark(graph, calls, begins_again);
  return begins_again;
}

}  // namespace symprof::trace
