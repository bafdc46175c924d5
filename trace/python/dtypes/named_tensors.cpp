#include "trace/python/dtypes/named_tensors.h"

#include <algorithm>

#include "base/text.h"
#include "trace/python/source/assignment.h"
#include "trace/python/source/own_calls.h"

namespace symprof::trace {

std::string_view NamedTensors::name_in(std::string_view expression) {
  const auto end = std::ranges::find_if_not(expression, is_word);
  const std::string_view name =
      expression.substr(0, static_cast<std::size_t>(end - expression.begin()));
  return name == "self" ? std::string_view{} : name;
}

std::size_t NamedTensors::call_of(std::size_t node) {
  return call_of_statement(lines_.run().statement_of[node]);
}

ValueId NamedTensors::bound_before(std::size_t index, std::size_t call, std::string_view name) {
  const PythonRun& run = lines_.run();
  ValueId bound = no_value;
  for (const std::size_t position : statements_of(call)) {
    const PythonStatement& statement = run.statements[position];
    if (statement.last >= index || statement.result == no_index) continue;
    const std::string& line = graph_.source_lines[static_cast<std::size_t>(statement.line)].text;
    const std::vector<ValueId>& results = graph_.nodes[statement.result].outputs;
    for (const auto& targets : parse_assignment(line).targets)
      for (std::size_t i = 0; i < targets.size(); ++i) {
        const std::size_t place = targets.size() == results.size() ? i : 0;
        if (targets[i].name == name && place < results.size() && is_float(results[place]))
          bound = results[place];
      }
  }
  return bound;
}

ValueId NamedTensors::given_to(std::size_t call, std::size_t end) {
  std::vector<bool> made(graph_.values.size(), false);
  for (std::size_t i = first_of(call); i < end; ++i) {
    if (!is_inside(i, call)) continue;
    ValueId given = no_value;
    for_each_value(graph_.nodes[i], [&](ValueId id) {
      if (given != no_value || id == no_value || made[static_cast<std::size_t>(id)]) return;
      const ValueKind kind = graph_.value(id).kind;
      if ((kind == ValueKind::result || kind == ValueKind::input) && is_float(id)) given = id;
    });
    if (given != no_value) return given;
    for (const ValueId id : graph_.nodes[i].outputs)
      if (id != no_value) made[static_cast<std::size_t>(id)] = true;
  }
  return no_value;
}

ValueId NamedTensors::given_as(std::string_view name, std::size_t call, std::size_t index) {
  const PythonRun& run = lines_.run();
  std::vector<bool> made(graph_.values.size(), false);
  ValueId given = no_value;
  std::size_t statement = no_index;
  for (std::size_t i = first_of(call); i < graph_.nodes.size(); ++i) {
    const std::size_t own = run.statement_of[i];
    if (own == no_index) continue;
    if (i > index && !is_inside(i, call)) break;
    if (statement != no_index && own != statement) break;
    const std::string& line =
        graph_.source_lines[static_cast<std::size_t>(run.statements[own].line)].text;
    const bool names =
        run.statements[own].call == call && reads_name(line, parse_assignment(line), name);
    bool has_other = false;
    for_each_value(graph_.nodes[i], [&](ValueId id) {
      if (!names || id == no_value || made[static_cast<std::size_t>(id)] || !is_float(id)) return;
      has_other |= given != no_value && given != id;
      given = id;
    });
    if (has_other) return no_value;
    if (given != no_value) statement = own;
    for (const ValueId id : graph_.nodes[i].outputs)
      if (id != no_value) made[static_cast<std::size_t>(id)] = true;
  }
  return given;
}

bool NamedTensors::is_float(ValueId id) const {
  const std::optional<DType> dtype = dtype_in_file(graph_, id);
  return dtype && is_floating_point(*dtype);
}

const std::vector<std::size_t>& NamedTensors::statements_of(std::size_t call) {
  if (statements_.empty()) {
    const PythonRun& run = lines_.run();
    statements_.resize(run.calls.size());
    for (std::size_t i = 0; i < run.statements.size(); ++i)
      statements_[run.statements[i].call].push_back(i);
  }
  return statements_[call];
}

/// The first node of a call, including the calls that it makes.
std::size_t NamedTensors::first_of(std::size_t call) {
  if (first_.empty()) {
    first_.resize(lines_.run().calls.size(), no_index);
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
      for (std::size_t c = call_of(i); c != no_index && first_[c] == no_index;
           c = call_of_statement(lines_.run().calls[c].statement))
        first_[c] = i;
  }
  return first_[call];
}

std::size_t NamedTensors::call_of_statement(std::size_t statement) {
  return statement == no_index ? no_index : lines_.run().statements[statement].call;
}

bool NamedTensors::is_inside(std::size_t node, std::size_t call) {
  return lines_.run().statement_in(call, node) != no_index;
}

}  // namespace symprof::trace
