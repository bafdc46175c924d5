#include "trace/passes/recorded_dtypes.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "trace/graph/uses.h"
#include "trace/passes/cast_lines.h"
#include "trace/passes/cast_readers.h"

namespace symprof::trace {
namespace {

/// Positions and frequencies: models compute them in float32, whatever their own dtype is.
constexpr std::array<std::string_view, 3> sequences = {"aten::arange", "aten::linspace",
                                                       "aten::logspace"};

bool is_sequence(const Node& node) {
  return std::ranges::find(sequences, node.op) != sequences.end();
}

/// Makes a tensor from no other, or from the shape of one.
bool makes_new_tensor(const Node& node) {
  bool takes_none = true;
  for_each_value(node, [&](ValueId id) { takes_none &= id == no_value; });
  return takes_none || node.op.starts_with("aten::new_") || node.op.ends_with("_like");
}

class Follower {
 public:
  Follower(Graph& graph, const std::set<DType>& own, DType dtype)
      : graph_(graph), own_(own), dtype_(dtype), lines_(graph) {}

  void run() {
    restore_readers(graph_, lines_);
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      Node& node = graph_.nodes[i];
      if (!node.op.starts_with("aten::") && !is_recorded_cast(node)) continue;
      Argument* argument = find_argument(node, "dtype");
      const auto* named = argument_as<DType>(argument);
      if (named == nullptr || !is_floating_point(*named)) continue;
      if (is_move(node) && dtype_in_file(graph_, operand(node, 0)) == *named)
        argument->value = NoArgument{};  // As its input.
      else if (own_.contains(*named) && follows(i, *named))
        argument->value = dtype_;
    }
  }

 private:
  bool follows(std::size_t index, DType named) {
    switch (lines_.written(index, named).source) {
      case DTypeSource::named:
        return false;
      case DTypeSource::followed:
        return true;
      case DTypeSource::unknown:
        break;
    }
    const Node& node = graph_.nodes[index];
    if (!is_recorded_cast(node) && !makes_new_tensor(node)) return false;
    graph_.guessed_casts.push_back(node.name);
    return is_recorded_cast(node) ? is_cast_back(operand(node, 0), named) : !is_sequence(node);
  }

  /// A cast that did nothing, or one to the model's dtype from a wider one.
  bool is_cast_back(ValueId from, DType to) const {
    const std::optional<DType> before = dtype_in_file(graph_, from);
    return !before || *before == to ||
           (is_floating_point(*before) && element_bits(*before) > element_bits(to));
  }

  Graph& graph_;
  const std::set<DType>& own_;
  DType dtype_;
  CastLines lines_;
};

}  // namespace

std::set<DType> model_dtypes(const Graph& graph) {
  std::set<DType> own;
  for (const Value& value : graph.values) {
    const bool is_given = value.kind != ValueKind::result && value.kind != ValueKind::constant;
    if (is_given && value.spec && is_floating_point(value.spec->dtype))
      own.insert(value.spec->dtype);
  }
  return own;
}

void follow_dtype(Graph& graph, const std::set<DType>& own, DType dtype) {
  Follower(graph, own, dtype).run();
}

}  // namespace symprof::trace
