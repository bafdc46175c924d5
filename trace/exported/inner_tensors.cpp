#include "trace/exported/inner_tensors.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>

#include "trace/graph/uses.h"

namespace symprof::trace::exported {
namespace {

/// torch/export/custom_ops.py: (src_subclass_tensor, attr).
constexpr std::string_view reads_inner = "export::access_subclass_inner_tensor";

/// What the file says of a result, if all of its sizes are numbers.
std::optional<TensorSpec> recorded_spec(const Value& value) {
  if (!value.recorded_dtype || !value.recorded_sizes) return std::nullopt;
  TensorSpec spec{.dtype = *value.recorded_dtype};
  for (const Dimension& dimension : *value.recorded_sizes) {
    if (dimension.size < 0) return std::nullopt;
    spec.sizes.push_back(dimension.size);
  }
  spec.strides = contiguous_strides(spec.sizes);
  return spec;
}

class InnerTensors {
 public:
  explicit InnerTensors(Graph& graph) : graph_(graph) {}

  void run() {
    std::erase_if(graph_.nodes, [&](const Node& node) { return take(node); });
    if (outer_.empty()) return;
    for (Node& node : graph_.nodes)
      for_each_value(node, [&](ValueId& id) { id = first_reader_of(id); });
    for (ValueId& id : graph_.outputs) id = first_reader_of(id);
    const Uses uses(graph_);
    for (const ValueId id : outer_)
      if (uses.readers(id).empty() && !uses.is_output(id)) forget(graph_.value(id));
  }

 private:
  ValueId first_reader_of(ValueId id) const {
    const auto found = same_.find(id);
    return found == same_.end() ? id : found->second;
  }

  /// True if `node` reads a tensor that is from now on one of the graph's own.
  bool take(const Node& node) {
    if (node.op != reads_inner || node.outputs.size() != 1) return false;
    const ValueId outer = first_reader_of(operand(node, 0)), made = node.outputs[0];
    const auto* attribute = argument_at<std::string>(node, 1);
    if (outer == no_value || made == no_value || attribute == nullptr) return false;
    const Value& holder = graph_.value(outer);
    const std::optional<TensorSpec> spec = recorded_spec(graph_.value(made));
    const bool is_weight = holder.kind == ValueKind::parameter || holder.kind == ValueKind::buffer;
    if (!is_weight || !spec) return false;
    const std::string name = holder.name + "." + *attribute;
    outer_.insert(outer);
    if (const auto [first, is_new] = by_name_.emplace(name, made); !is_new) {
      same_[made] = first->second;
      return true;
    }
    const bool is_trained = is_floating_point(spec->dtype) && holder.requires_grad &&
                            holder.kind == ValueKind::parameter;
    Value inner{.name = name, .kind = holder.kind, .spec = spec, .requires_grad = is_trained};
    graph_.value(made) = std::move(inner);
    return true;
  }

  static void forget(Value& outer) {
    outer.kind = ValueKind::result;  // Without producer and consumer: takes no memory.
    outer.spec.reset();
    outer.constant.reset();
  }

  Graph& graph_;
  std::unordered_set<ValueId> outer_;
  std::map<std::string, ValueId> by_name_;
  std::map<ValueId, ValueId> same_;  // A later reader of the same tensor, and the first one.
};

}  // namespace

void read_inner_tensors(Graph& graph) { InnerTensors(graph).run(); }

}  // namespace symprof::trace::exported
