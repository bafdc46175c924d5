#include "cases.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <fstream>

#include "base/error.h"
#include "shape/lowering/real_tensor.h"
#include "trace/onnx/tensors.h"

namespace symprof::testing {
namespace {

CaseValue read_value(const onnx::AttributeProto& attribute, const std::string& where) {
  CaseValue value;
  if (attribute.type() == onnx::AttributeProto::TENSOR) {
    value.kind = CaseValue::Kind::tensor;
    value.tensors.push_back(trace::constant_tensor(attribute.t(), where));
  } else if (attribute.type() == onnx::AttributeProto::TENSORS) {
    value.kind = CaseValue::Kind::sequence;
    for (const onnx::TensorProto& tensor : attribute.tensors())
      value.tensors.push_back(trace::constant_tensor(tensor, where));
  }
  return value;
}

void read_weights(BackendCase& test) {
  onnx::ModelProto model;
  if (!model.ParseFromString(test.model)) return;
  for (const onnx::TensorProto& tensor : model.graph().initializer()) try {
      test.weights[tensor.name()] = trace::constant_tensor(tensor, tensor.name());
    } catch (const Error& error) {
      test.unreadable = error.problem();
    }
}

BackendCase read_case(const onnx::NodeProto& node) {
  BackendCase result{.name = node.name(), .op = node.op_type()};
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (attribute.name() == "model") result.model = attribute.s();
    if (attribute.name() == "rtol") result.rtol = attribute.f();
    if (attribute.name() == "atol") result.atol = attribute.f();
    const bool is_input = attribute.name().starts_with("input_");
    if (!is_input && !attribute.name().starts_with("output_")) continue;
    try {
      (is_input ? result.inputs : result.outputs)
          .push_back(read_value(attribute, attribute.name()));
    } catch (const Error& error) {
      result.unreadable = error.problem();
    }
  }
  read_weights(result);
  return result;
}

}  // namespace

std::vector<BackendCase> read_cases(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  onnx::GraphProto graph;
  if (!file || !graph.ParseFromIstream(&file) || graph.node_size() == 0)
    throw Error(path, "not a file of cases", "Make it: truth/onnx_backend/write_cases.py");
  std::vector<BackendCase> cases;
  for (const onnx::NodeProto& node : graph.node()) cases.push_back(read_case(node));
  return cases;
}

c10::IValue real_value(const CaseValue& value) {
  if (value.kind == CaseValue::Kind::none) return {};
  if (value.kind == CaseValue::Kind::tensor) return lowering::real_tensor(*value.tensors.front());
  c10::List<at::Tensor> list;
  for (const auto& tensor : value.tensors) list.push_back(lowering::real_tensor(*tensor));
  return list;
}

}  // namespace symprof::testing
