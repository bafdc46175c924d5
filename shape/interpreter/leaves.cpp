#include "shape/interpreter/leaves.h"

#include <fmt/format.h>

#include "base/error.h"

namespace symprof::shape {

bool stays_real(const Graph& graph, const Value& value) {
  if (graph.format != "onnx" || value.kind != ValueKind::constant || value.constant == nullptr)
    return false;
  return !is_floating_point(value.constant->spec.dtype) || value.constant->spec.sizes.empty();
}

const TensorSpec& spec_of_leaf(const Graph& graph, const Value& value) {
  if (value.spec) return *value.spec;
  throw Error(graph.path, fmt::format("{} has no known shape", value.name),
              fmt::format("Give it with {}.", setting("inputs")));
}

}  // namespace symprof::shape
