#include "trace/graph/uses.h"

namespace symprof::trace {

ValueId operand(const Node& node, std::size_t index) {
  if (index >= node.arguments.size()) return no_value;
  const auto* ref = std::get_if<ValueRef>(&node.arguments[index].value);
  return ref == nullptr ? no_value : ref->id;
}

}  // namespace symprof::trace
