// ONNX attributes, constants and graph inputs as plain data.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "trace/graph/graph.h"

namespace onnx {
class AttributeProto;
class ValueInfoProto;
}  // namespace onnx

namespace symprof::trace {

/// Numbers, texts, their lists and tensors. Empty for the types that a Graph does not hold: lists
/// of tensors or graphs, sparse tensors, types. The builder handles subgraphs.
std::optional<ArgumentValue> attribute_value(const onnx::AttributeProto& attribute,
                                             const std::string& where);

/// The tensor that a Constant node makes of its attribute, which the node calls `form` ("value",
/// "value_float", "value_ints", …); null for texts. Throws Error for a sparse or unknown form.
std::shared_ptr<const ConstantTensor> constant_attribute(const onnx::AttributeProto& attribute,
                                                         const std::string& form,
                                                         const std::string& where);

/// A graph input. A dimension without a size keeps its symbol, or gets "<input>_dim<i>"; an input
/// without a shape has neither spec nor dimensions. Throws Error if it is not a tensor.
Value input_value(const onnx::ValueInfoProto& input, const std::string& path);

}  // namespace symprof::trace
