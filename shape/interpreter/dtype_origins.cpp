#include "shape/interpreter/dtype_origins.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "trace/graph/uses.h"

namespace symprof::shape {
namespace {

std::string_view kind_of(const Value& value) {
  switch (value.kind) {
    case ValueKind::input:
      return "input";
    case ValueKind::parameter:
      return "parameter";
    case ValueKind::buffer:
      return "buffer";
    case ValueKind::constant:
      return "constant";
    case ValueKind::result:
      break;
  }
  return "value";
}

class Origins {
 public:
  Origins(const Graph& graph, const ValueDTypes& dtypes)
      : graph_(graph), dtypes_(dtypes), uses_(graph) {}

  DTypeOrigins of(const Node& node) const {
    std::vector<DType> seen;
    DTypeOrigins found;
    for_each_value(node, [&](ValueId id) {
      const std::optional<DType> dtype = dtype_of(id);
      if (!dtype || !is_floating_point(*dtype) || std::ranges::find(seen, *dtype) != seen.end())
        return;
      found.values.push_back(origin(id, *dtype));
      found.text += fmt::format("{} {}{} from {}", seen.empty() ? ":" : ";", name(*dtype),
                                seen.empty() ? " comes" : "", described(found.values.back()));
      seen.push_back(*dtype);
    });
    return seen.size() > 1 ? found : DTypeOrigins{};
  }

 private:
  std::optional<DType> dtype_of(ValueId id) const {
    return id == no_value ? std::nullopt : dtypes_[static_cast<std::size_t>(id)];
  }

  /// Follows producers back while an operand already has the dtype.
  ValueId origin(ValueId id, DType dtype) const {
    for (auto maker = uses_.maker(id); maker; maker = uses_.maker(id)) {
      ValueId before = no_value;
      for_each_value(graph_.nodes[*maker], [&](ValueId operand) {
        if (before == no_value && dtype_of(operand) == dtype) before = operand;
      });
      if (before == no_value) break;
      id = before;
    }
    return id;
  }

  std::string described(ValueId id) const {
    const Value& value = graph_.value(id);
    const auto maker = uses_.maker(id);
    if (!maker) return fmt::format("{} {}", kind_of(value), value.name);
    const Node& node = graph_.nodes[*maker];
    const bool named = !node.overload.empty() && node.overload != "default";
    std::string text = fmt::format("node {} ({}{}{})", node.name, node.op, named ? "." : "",
                                   named ? std::string_view(node.overload) : std::string_view());
    const std::string_view line =
        node.source == no_source ? std::string_view()
                                 : graph_.source_lines[static_cast<std::size_t>(node.source)].text;
    if (!line.empty()) text += fmt::format(", `{}`", line);
    return text;
  }

  const Graph& graph_;
  const ValueDTypes& dtypes_;
  trace::Uses uses_;
};

}  // namespace

DTypeOrigins dtype_origins(const Graph& graph, const Node& node, const ValueDTypes& dtypes) {
  return Origins(graph, dtypes).of(node);
}

}  // namespace symprof::shape
