// Types of an ONNX graph's values as text, and the modules of its nodes.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace onnx {
class GraphProto;
class ModelProto;
class NodeProto;
class TensorProto;
class TypeProto;
}  // namespace onnx

namespace symprof::workbench {

/// numpy's name of an element type: "float32", "bfloat16", "bool"; "object" for strings;
/// "undefined" for 0.
std::string_view numpy_name(std::int32_t element_type);

/// "float32[batch,16]", "float32[]" for a scalar, "float32" for an unknown rank, "seq(float32[2])",
/// "?" if unknown.
std::string type_text(const onnx::TypeProto& type);
/// The same of a tensor.
std::string type_text(const onnx::TensorProto& tensor);

/// Element count of `tensor`. Saturates at 2^63 - 1; negative sizes count as 0.
std::int64_t element_count(const onnx::TensorProto& tensor);
/// Bytes of its elements, packed; 0 for strings, whose sizes differ.
std::int64_t tensor_bytes(const onnx::TensorProto& tensor);

/// Type texts of a graph's values by name, without subgraphs.
std::unordered_map<std::string, std::string> value_types(const onnx::GraphProto& graph);

/// A module that contains a node, outermost first.
struct ModuleStep {
  std::string path;  ///< "layers.0.self_attn".
  std::string type;  ///< The class, "LlamaAttention"; may be empty.
};

/// The modules of a node: the dynamo exporter's metadata ("pkg.torch.onnx.name_scopes", or
/// "namespace"), else a name such as "/layers.0/mlp/MatMul". Empty at the root.
std::vector<ModuleStep> modules_of(const onnx::NodeProto& node);
/// The path of the innermost of them; empty at the root.
std::string module_path(const onnx::NodeProto& node);

/// The canonical domain: "" for ONNX's own, in either spelling.
std::string_view plain_domain(std::string_view domain);
/// "Conv", "com.microsoft.Gelu".
std::string qualified_op(const onnx::NodeProto& node);

}  // namespace symprof::workbench
