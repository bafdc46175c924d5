#include "trace/python/lifetimes/variable_bindings.h"

#include "trace/python/lifetimes/calls.h"

namespace symprof::trace {

std::vector<ValueId> VariableBindings::held(std::size_t call, std::string_view name,
                                            std::size_t statement,
                                            const NextBinding& next_binding) const {
  const auto found = bound_.find({call, name});
  if (found == bound_.end()) return {};
  std::size_t last = no_index;
  for (const Bound& bound : found->second)
    if (bound.statement < statement && (last == no_index || bound.statement > last))
      last = bound.statement;
  std::vector<ValueId> values;
  for (const Bound& bound : found->second) {
    if (bound.statement != last) continue;
    const std::size_t next = next_binding(bound.value, bound.statement, name);
    if (next == no_index || next > statement) values.push_back(bound.value);
  }
  return values;
}

}  // namespace symprof::trace
