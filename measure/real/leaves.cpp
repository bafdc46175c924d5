#include "measure/real/leaves.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "meta/fake/convert.h"
#include "shape/interpreter/leaves.h"
#include "shape/lowering/real_tensor.h"
#include "trace/graph/uses.h"

namespace symprof::measure::real {
namespace {

/// Look-up operators, with the positions of table and indices.
struct LookUp {
  const char* op;
  std::size_t table, indices;
};
constexpr LookUp look_ups[] = {{"aten::embedding", 0, 1},
                               {"aten::embedding_bag", 0, 1},
                               {"aten::index_select", 0, 2},
                               {"onnx::Gather", 0, 1}};

/// Operators whose result has the values of their first operand.
constexpr const char* keeps_numbers[] = {
    "aten::to",      "aten::_to_copy",   "aten::view",      "aten::reshape",   "aten::slice",
    "aten::select",  "aten::expand",     "aten::unsqueeze", "aten::squeeze",   "aten::clone",
    "aten::flatten", "aten::contiguous", "aten::permute",   "aten::transpose", "onnx::Cast",
    "onnx::Reshape", "onnx::Unsqueeze",  "onnx::Squeeze",   "onnx::Identity",  "onnx::Slice"};

constexpr std::int64_t usual_bound = 2;

/// The size of a dimension of `table`; the usual bound if unknown.
std::int64_t size_of(const Graph& graph, ValueId table, std::size_t dimension) {
  if (table == no_value) return usual_bound;
  const Value& value = graph.values[static_cast<std::size_t>(table)];
  return value.spec && dimension < value.spec->sizes.size() ? value.spec->sizes[dimension]
                                                            : usual_bound;
}

/// Operators with an index or None for each dimension of their first operand.
bool is_by_dimensions(const Node& node) {
  return node.op == "aten::index" || node.op.starts_with("aten::index_put") ||
         node.op == "aten::_index_put_impl_";
}

/// Calls `found` with each index of such an operator and its upper bound.
template <typename Found>
void for_each_index(const Graph& graph, const Node& node, const Found& found) {
  if (!is_by_dimensions(node) || node.arguments.size() < 2) return;
  const auto* indices = std::get_if<std::vector<ListElement>>(&node.arguments[1].value);
  for (std::size_t i = 0; indices != nullptr && i < indices->size(); ++i)
    if (const auto* index = std::get_if<ValueRef>(&(*indices)[i]))
      found(index->id, size_of(graph, trace::operand(node, 0), i));
}

}  // namespace

std::vector<std::int64_t> bounds_of_inputs(const Graph& graph) {
  std::vector<std::int64_t> bounds(graph.values.size(), 0);  // 0: not used as an index.
  const auto lower = [&](ValueId id, std::int64_t bound) {
    if (id == no_value || bound <= 0) return;
    std::int64_t& known = bounds[static_cast<std::size_t>(id)];
    known = known == 0 ? bound : std::min(known, bound);
  };
  for (std::size_t i = graph.nodes.size(); i > 0; --i) {  // From consumers to producers.
    const Node& node = graph.nodes[i - 1];
    for (const LookUp& look_up : look_ups)
      if (node.op == look_up.op)
        lower(trace::operand(node, look_up.indices),
              size_of(graph, trace::operand(node, look_up.table), 0));
    for_each_index(graph, node, lower);
    if (std::ranges::find(keeps_numbers, node.op) == std::end(keeps_numbers)) continue;
    if (!node.outputs.empty() && node.outputs[0] != no_value)
      lower(trace::operand(node, 0), bounds[static_cast<std::size_t>(node.outputs[0])]);
  }
  for (std::int64_t& bound : bounds)
    if (bound == 0) bound = usual_bound;
  return bounds;
}

namespace {

/// Cycles through numbers below `bound`: index buffers of a model, such as positions, use each row
/// about equally. All zeros would add all gradients to one row.
at::Tensor spread(const at::Tensor& like, std::int64_t bound) {
  return at::arange(like.numel(), like.options().dtype(at::kLong))
      .remainder(bound)
      .view(like.sizes());
}

}  // namespace

at::Tensor leaf(const Graph& graph, const Value& value, std::int64_t bound, c10::Device device) {
  const TensorSpec& spec = shape::spec_of_leaf(graph, value);
  if (value.constant && value.constant->data.size() == static_cast<std::size_t>(spec.bytes()))
    return lowering::real_tensor(*value.constant).to(device);
  at::Tensor tensor = at::empty_strided(
      spec.sizes, spec.strides, at::TensorOptions(meta::scalar_type(spec.dtype)).device(device));
  if (!tensor.is_floating_point() && !tensor.is_complex()) {
    // Masks are all true; integers index some table.
    if (tensor.scalar_type() == at::kBool) return tensor.fill_(true);
    if (value.kind == ValueKind::input) return tensor.random_(0, bound);
    return tensor.copy_(spread(tensor, bound));
  }
  // Buffers such as variances must be positive.
  if (value.kind != ValueKind::parameter && value.kind != ValueKind::input)
    return tensor.uniform_(0.5, 1.5);
  if (value.kind == ValueKind::input) return tensor.normal_(0, 1);
  draw(tensor);
  return tensor;
}

void draw(const at::Tensor& parameter) { parameter.normal_(0, 0.02); }

}  // namespace symprof::measure::real
