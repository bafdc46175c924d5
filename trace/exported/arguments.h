// Arguments and operator names of the export schema as graph data.
#pragma once

#include <functional>
#include <string_view>

#include "trace/exported/json.h"
#include "trace/graph/graph.h"

namespace symprof::trace::exported {

/// Resolves references in arguments.
struct ArgumentContext {
  /// The value of that name; throws Error if not defined before.
  std::function<ValueId(std::string_view, const Place&)> value;
  /// The graph of a branch or a loop body.
  std::function<std::shared_ptr<const Graph>(Json, const Place&)> graph;
};

/// `Argument` of the schema, all kinds of it. Throws Error for unknown ones.
ArgumentValue argument_value(Json argument, const ArgumentContext& context, const Place& place);

struct OperatorName {
  std::string op, overload;
};

/// "torch.ops.aten.conv2d.default"   → "aten::conv2d", "default"
/// "torch.ops.higher_order.cond"     → "higher_order::cond", ""
/// "_operator.mul"                   → "builtin::mul": Python's operators on sizes,
/// "math.trunc", "torch.sym_float"   → "builtin::trunc", "builtin::sym_float"
/// anything else                     → "python::<target>", without any rule.
OperatorName operator_name(std::string_view target);

}  // namespace symprof::trace::exported
