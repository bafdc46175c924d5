// Evaluates an operator on constants.
#pragma once

#include <optional>
#include <vector>

#include "workbench/constants.h"

namespace onnx {
class NodeProto;
}

namespace symprof::workbench {

/// The results of `node` on `inputs` (null for an omitted optional input), computed in the types
/// that ONNX specifies; empty for an operator, an attribute or a dtype without a rule here, and
/// where a result would have more than `most_elements`.
std::optional<std::vector<ConstantPointer>> evaluate(const onnx::NodeProto& node,
                                                     const std::vector<ConstantPointer>& inputs,
                                                     std::int64_t most_elements);

}  // namespace symprof::workbench
