#include "workbench/types.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <limits>

#include "base/tensor_spec.h"
#include "trace/onnx/scopes.h"
#include "trace/onnx/tensors.h"

namespace symprof::workbench {
namespace {

std::string dimension_text(const onnx::TensorShapeProto::Dimension& dimension) {
  if (dimension.has_dim_value()) return fmt::format("{}", dimension.dim_value());
  return dimension.dim_param().empty() ? "?" : dimension.dim_param();
}

template <class TensorType>
std::string tensor_type_text(const TensorType& type) {
  std::string text(numpy_name(type.elem_type()));
  if (!type.has_shape()) return text;
  std::vector<std::string> dimensions;
  dimensions.reserve(static_cast<std::size_t>(type.shape().dim_size()));
  for (const auto& dimension : type.shape().dim()) dimensions.push_back(dimension_text(dimension));
  return fmt::format("{}[{}]", text, fmt::join(dimensions, ","));
}

/// "path: Class/path: Class/node: aten.op.default": torch/onnx/_internal/exporter/_core.py. Paths
/// and classes have dots, never slashes.
std::vector<ModuleStep> modules_of_namespace(std::string_view text) {
  std::vector<ModuleStep> steps;
  for (auto slash = text.find('/'); slash != text.npos; slash = text.find('/')) {
    const std::string_view entry = text.substr(0, slash);
    text.remove_prefix(slash + 1);
    const auto colon = entry.find(": ");
    const std::string path(entry.substr(0, colon));
    if (path.empty()) continue;
    steps.push_back(
        {path, colon == entry.npos ? std::string() : std::string(entry.substr(colon + 2))});
  }
  return steps;
}

}  // namespace

std::string_view numpy_name(std::int32_t element_type) {
  if (element_type == onnx::TensorProto::STRING) return "object";
  if (element_type == 0) return "undefined";
  if (const auto dtype = trace::onnx_dtype(element_type)) return name(*dtype);
  return "other";
}

std::string type_text(const onnx::TypeProto& type) {
  switch (type.value_case()) {
    case onnx::TypeProto::kTensorType:
      return tensor_type_text(type.tensor_type());
    case onnx::TypeProto::kSparseTensorType:
      return fmt::format("sparse({})", tensor_type_text(type.sparse_tensor_type()));
    case onnx::TypeProto::kSequenceType:
      return fmt::format("seq({})", type_text(type.sequence_type().elem_type()));
    case onnx::TypeProto::kOptionalType:
      return fmt::format("optional({})", type_text(type.optional_type().elem_type()));
    case onnx::TypeProto::kMapType:
      return fmt::format("map({},{})", numpy_name(type.map_type().key_type()),
                         type_text(type.map_type().value_type()));
    default:
      return "?";
  }
}

std::string type_text(const onnx::TensorProto& tensor) {
  return fmt::format("{}[{}]", numpy_name(tensor.data_type()), fmt::join(tensor.dims(), ","));
}

std::int64_t element_count(const onnx::TensorProto& tensor) {
  std::int64_t count = 1;
  for (const std::int64_t size : tensor.dims())
    if (__builtin_mul_overflow(count, std::max<std::int64_t>(size, 0), &count))
      return std::numeric_limits<std::int64_t>::max();
  return count;
}

std::int64_t tensor_bytes(const onnx::TensorProto& tensor) {
  const auto dtype = trace::onnx_dtype(tensor.data_type());
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 128;
  return dtype ? packed_bytes(*dtype, std::min(element_count(tensor), most)) : 0;
}

std::unordered_map<std::string, std::string> value_types(const onnx::GraphProto& graph) {
  std::unordered_map<std::string, std::string> types;
  for (const auto* list : {&graph.value_info(), &graph.output(), &graph.input()})
    for (const onnx::ValueInfoProto& value : *list) types[value.name()] = type_text(value.type());
  for (const onnx::TensorProto& tensor : graph.initializer())
    types[tensor.name()] = type_text(tensor);
  return types;
}

std::vector<ModuleStep> modules_of(const onnx::NodeProto& node) {
  Graph graph;
  trace::ScopeTable scopes(graph);
  std::vector<ModuleStep> steps;
  for (ScopeId scope = scopes.of_node(node, 0); scope != 0;) {
    const Scope& found = graph.scopes[static_cast<std::size_t>(scope)];
    steps.push_back({found.path, found.type});
    scope = found.parent;
  }
  std::reverse(steps.begin(), steps.end());
  if (!steps.empty()) return steps;
  for (const onnx::StringStringEntryProto& entry : node.metadata_props())
    if (entry.key() == "namespace") return modules_of_namespace(entry.value());
  return steps;
}

std::string module_path(const onnx::NodeProto& node) {
  const auto steps = modules_of(node);
  return steps.empty() ? std::string() : steps.back().path;
}

std::string_view plain_domain(std::string_view domain) { return domain == "ai.onnx" ? "" : domain; }

std::string qualified_op(const onnx::NodeProto& node) {
  const std::string_view domain = plain_domain(node.domain());
  return domain.empty() ? node.op_type() : fmt::format("{}.{}", domain, node.op_type());
}

}  // namespace symprof::workbench
