#include "shape/interpreter/leaves.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "base/error.h"
#include "trace/graph/uses.h"

namespace symprof::shape {
namespace {

/// By value: true if read by copies to the device, and by other nodes.
struct LeafReads {
  std::vector<bool> by_copies, otherwise;
};

LeafReads reads_of(const Graph& graph);

/// The inputs of a module that is recomputed in backward are read by its nested graph.
void add_reads_inside(const Node& node, const Graph& body, LeafReads& reads) {
  const LeafReads inside = reads_of(body);
  for (std::size_t i = 1; i < node.arguments.size(); ++i) {
    const ValueId id = trace::operand(node, i);
    if (id == no_value) continue;
    const auto outer = static_cast<std::size_t>(id);
    const auto inner = i <= body.inputs.size() ? static_cast<std::size_t>(body.inputs[i - 1])
                                               : inside.by_copies.size();
    const bool is_known = inner < inside.by_copies.size();
    if (is_known && inside.by_copies[inner]) reads.by_copies[outer] = true;
    if (!is_known || inside.otherwise[inner]) reads.otherwise[outer] = true;
  }
}

LeafReads reads_of(const Graph& graph) {
  LeafReads reads{std::vector<bool>(graph.values.size()), std::vector<bool>(graph.values.size())};
  for (const Node& node : graph.nodes) {
    const auto* body = trace::argument_at<std::shared_ptr<const Graph>>(node, 0);
    if (body != nullptr && node.op == "higher_order::tag_activation_checkpoint") {
      add_reads_inside(node, **body, reads);
      continue;
    }
    std::vector<bool>& found =
        node.op == "aten::lift_fresh_copy" ? reads.by_copies : reads.otherwise;
    for_each_value(node, [&](ValueId id) {
      if (id != no_value) found[static_cast<std::size_t>(id)] = true;
    });
  }
  for (const ValueId id : graph.outputs)
    if (id != no_value) reads.otherwise[static_cast<std::size_t>(id)] = true;
  return reads;
}

}  // namespace

bool stays_real(const Graph& graph, const Value& value) {
  if (graph.traits.operators_are_aten || value.kind != ValueKind::constant ||
      value.constant == nullptr)
    return false;
  return !is_floating_point(value.constant->spec.dtype) || value.constant->spec.sizes.empty();
}

std::vector<bool> numbers_of_code(const Graph& graph) {
  LeafReads reads = reads_of(graph);
  for (std::size_t i = 0; i < graph.values.size(); ++i)
    if (reads.otherwise[i] || graph.values[i].kind != ValueKind::constant)
      reads.by_copies[i] = false;
  return std::move(reads.by_copies);
}

const TensorSpec& spec_of_leaf(const Graph& graph, const Value& value) {
  if (value.spec) return *value.spec;
  throw Error(graph.path, fmt::format("{} has no known shape", value.name),
              fmt::format("Give it with {}.", setting("inputs")));
}

}  // namespace symprof::shape
