#include "trace/onnx/definitions.h"

#include <fmt/format.h>
#include <onnx/defs/schema.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"

namespace symprof::trace {
namespace {

bool is_defined_by_graph(const onnx::NodeProto& node) {
  static const std::unordered_set<std::string> names = {
      "::CausalConvWithState", "::LinearAttention", "::SwiGLU", "ai.onnx.preview::FlexAttention"};
  return names.contains(domain_key(node.domain()) + "::" + node.op_type());
}

/// Types that ONNX infers for the main graph: a definition may depend on dtypes and ranks.
using Types = std::unordered_map<std::string, onnx::TypeProto>;

Types infer_types(onnx::ModelProto& model) {
  try {
    onnx::shape_inference::InferShapes(model);
  } catch (const std::exception&) {
    // Unknown types are missing when a definition needs them.
  }
  Types types;
  const onnx::GraphProto& graph = model.graph();
  for (const onnx::TensorProto& tensor : graph.initializer()) {
    onnx::TypeProto::Tensor& type = *types[tensor.name()].mutable_tensor_type();
    type.set_elem_type(tensor.data_type());
    for (const std::int64_t size : tensor.dims())
      type.mutable_shape()->add_dim()->set_dim_value(size);
  }
  for (const auto* infos : {&graph.value_info(), &graph.input()})
    for (const onnx::ValueInfoProto& info : *infos) types[info.name()] = info.type();
  return types;
}

int opset_of(const onnx::ModelProto& model, const std::string& domain) {
  for (const onnx::OperatorSetIdProto& opset : model.opset_import())
    if (domain_key(opset.domain()) == domain) return static_cast<int>(opset.version());
  return 0;
}

/// Omitted attributes get the schema's defaults.
void add_defaults(const onnx::OpSchema& schema, onnx::FunctionProto& function) {
  for (const auto& [name, attribute] : schema.attributes())
    if (attribute.default_value.type() != onnx::AttributeProto::UNDEFINED)
      *function.add_attribute_proto() = attribute.default_value;
}

/// ONNX's function body for `node`, which may depend on its inputs and attributes; empty if not
/// available. May throw ONNX's errors for an invalid node.
std::optional<onnx::FunctionProto> written_out(const onnx::OpSchema& schema,
                                               const onnx::NodeProto& node, const Types& types,
                                               int opset) {
  onnx::FunctionProto function;
  if (schema.HasContextDependentFunction()) {
    std::vector<onnx::TypeProto> inputs;
    for (const std::string& input : node.input()) {
      const auto type = types.find(input);
      inputs.push_back(type == types.end() ? onnx::TypeProto() : type->second);
    }
    const onnx::FunctionBodyBuildContextImpl context(node, inputs);
    if (!schema.BuildContextDependentFunction(context, function, opset)) return std::nullopt;
  } else {
    const onnx::FunctionProto* fixed = schema.GetFunction(opset);
    if (fixed == nullptr) return std::nullopt;
    function = *fixed;
  }
  add_defaults(schema, function);
  return function;
}

onnx::FunctionProto definition_of(const onnx::NodeProto& node, const onnx::ModelProto& model,
                                  const Types& types, const std::string& path) {
  const std::string domain = domain_key(node.domain());
  const int opset = opset_of(model, domain);
  std::string reason;
  try {
    const auto* schema = onnx::OpSchemaRegistry::Schema(node.op_type(), opset, domain);
    if (schema != nullptr)
      if (auto function = written_out(*schema, node, types, opset)) return std::move(*function);
  } catch (const std::exception& error) {
    reason = fmt::format(": {}", error.what());
  }
  throw Error(fmt::format("{}: node {} ({})", path, node.name(), node.op_type()),
              fmt::format("ONNX's definition of this operator cannot be written out for opset {}{}",
                          opset, reason),
              "Give its required inputs and attributes, and the types of the graph's values.");
}

}  // namespace

std::optional<onnx::ModelProto> with_definitions(const onnx::ModelProto& model,
                                                 const std::string& path) {
  const auto& nodes = model.graph().node();
  if (std::none_of(nodes.begin(), nodes.end(), is_defined_by_graph)) return std::nullopt;
  onnx::ModelProto expanded = model;
  const Types types = infer_types(expanded);
  int count = 0;
  for (onnx::NodeProto& node : *expanded.mutable_graph()->mutable_node()) {
    if (!is_defined_by_graph(node)) continue;
    onnx::FunctionProto function = definition_of(node, expanded, types, path);
    // Each node has its own, because it depends on omitted inputs.
    const std::string overload = fmt::format("definition_{}", count++);
    function.set_domain(node.domain());
    function.set_name(node.op_type());
    function.set_overload(overload);
    node.set_overload(overload);
    *expanded.add_functions() = std::move(function);
  }
  return expanded;
}

}  // namespace symprof::trace
