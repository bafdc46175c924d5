#include "workbench/bare_model.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include "base/error.h"
#include "trace/onnx/external.h"
#include "trace/onnx/tensors.h"
#include "workbench/constants.h"

namespace symprof::workbench {
namespace {

[[noreturn]] void refuse_missing(const std::string& path, const std::string& name) {
  throw Error(path, fmt::format("the data of '{}' is not there, so no value can be computed", name),
              "Put random weights in its place: symprof fill.");
}

}  // namespace

onnx::ModelProto bare_model(const onnx::ModelProto& model, const std::string& path,
                            ValueRunner::Leaves& weights, MissingWeights missing) {
  onnx::ModelProto out = model;
  out.clear_metadata_props();
  onnx::GraphProto& graph = *out.mutable_graph();
  graph.clear_metadata_props();
  graph.clear_value_info();
  for (onnx::NodeProto& node : *graph.mutable_node()) node.clear_metadata_props();
  for (onnx::TensorProto& tensor : *graph.mutable_initializer()) {
    if (tensor.data_type() == onnx::TensorProto::STRING) continue;
    const bool is_outside = tensor.data_location() == onnx::TensorProto::EXTERNAL;
    ConstantPointer value = is_outside ? trace::external_tensor(tensor, path)
                                       : trace::constant_tensor(tensor, tensor.name());
    if (value->data.empty() && value->spec.numel() != 0) {
      if (missing == MissingWeights::leave) continue;
      refuse_missing(path, tensor.name());
    }
    weights[tensor.name()] = std::move(value);
  }
  return out;
}

}  // namespace symprof::workbench
