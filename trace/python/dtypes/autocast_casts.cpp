#include "trace/python/dtypes/autocast_casts.h"

#include <optional>
#include <string_view>

#include "trace/graph/uses.h"
#include "trace/python/dtypes/autocast_precision.h"
#include "trace/python/dtypes/cast_lines.h"
#include "trace/python/dtypes/cast_readers.h"
#include "trace/python/dtypes/named_tensors.h"

namespace symprof::trace {
namespace {

/// The dtype of a cast that did nothing in the exported run; empty for other nodes.
std::optional<DType> cast_that_did_nothing(const Graph& graph, const Node& node) {
  if (!is_recorded_cast(node) || node.outputs.size() != 1) return std::nullopt;
  const auto* named = argument_as<DType>(find_argument(node, "dtype"));
  if (named == nullptr || !is_floating_point(*named)) return std::nullopt;
  if (dtype_in_file(graph, operand(node, 0)) != *named) return std::nullopt;
  return *named;
}

class AutocastFollower {
 public:
  explicit AutocastFollower(Graph& graph)
      : graph_(graph), lines_(graph), named_(graph, lines_), uses_(graph), precision_(graph) {}

  void run() {
    restore_readers(graph_, lines_);
    uses_ = Uses(graph_);
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      Node& node = graph_.nodes[i];
      const auto named = cast_that_did_nothing(graph_, node);
      if (named && is_move(node))
        find_argument(node, "dtype")->value = NoArgument{};  // As its input.
      else if (named)
        follow(i, operand(node, 0), *named);
      precision_.add(i);
    }
  }

 private:
  void follow(std::size_t index, ValueId self, DType named) {
    const WrittenDType written = lines_.written(index, named);
    if (written.source == DTypeSource::unknown)
      graph_.kept_casts.push_back(graph_.nodes[index].name);
    if (written.source != DTypeSource::followed) return;
    const ValueId like = followed(index, written.expression);
    if (like == no_value) return;
    Node& node = graph_.nodes[index];
    node.op = "aten::type_as";
    node.overload = "default";
    node.arguments = {{"self", ValueRef{self}}, {"other", ValueRef{like}}};
  }

  /// The tensor whose dtype `expression` is; no_value for a module's own, which autocast does not
  /// change.
  ValueId followed(std::size_t index, std::string_view expression) {
    const std::string_view name = named_.name_in(expression);
    if (name.empty()) return no_value;
    const std::size_t call = named_.call_of(index);
    const ValueId bound = named_.bound_before(index, call, name);
    return bound != no_value ? bound : taken_from(call, index);
  }

  /// The tensor that a dtype variable was taken from if no node shows it (`q_type, k_type =
  /// q.dtype, k.dtype`): the function's first tensor argument; if that is float32 and the operand
  /// comes from a lower-precision one, the latter.
  ValueId taken_from(std::size_t call, std::size_t index) {
    const ValueId first = named_.given_to(call, index);
    if (precision_.is_lower(first)) return first;
    const ValueId origin =
        lower_origin(graph_, uses_, precision_, operand(graph_.nodes[index], 0),
                     [&](std::size_t node) { return named_.is_inside(node, call); });
    return origin != no_value ? origin : first;
  }

  Graph& graph_;
  CastLines lines_;
  NamedTensors named_;
  Uses uses_;
  AutocastPrecision precision_;
};

}  // namespace

void follow_autocast(Graph& graph) { AutocastFollower(graph).run(); }

void note_kept_casts(Graph& graph) {
  for (const Node& node : graph.nodes)
    if (cast_that_did_nothing(graph, node)) graph.kept_casts.push_back(node.name);
}

}  // namespace symprof::trace
