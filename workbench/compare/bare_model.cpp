#include "workbench/compare/bare_model.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <filesystem>

#include "base/error.h"
#include "trace/onnx/mapped_file.h"
#include "trace/onnx/tensors.h"
#include "workbench/constants.h"

namespace symprof::workbench {
namespace {

[[noreturn]] void refuse_missing(const std::string& path, const std::string& name) {
  throw Error(path, fmt::format("the data of '{}' is not there, so no value can be computed", name),
              "Put random weights in its place: symprof fill.");
}

/// The tensor's data where it lies in another file.
ConstantPointer data_beside(const onnx::TensorProto& tensor, const std::string& path,
                            MissingWeights missing) {
  std::string location;
  std::uint64_t offset = 0;
  for (const onnx::StringStringEntryProto& entry : tensor.external_data()) {
    if (entry.key() == "location") location = entry.value();
    if (entry.key() == "offset") offset = std::strtoull(entry.value().c_str(), nullptr, 10);
  }
  const auto file = std::filesystem::path(path).parent_path() / location;
  std::error_code error;
  if (location.empty() || !std::filesystem::is_regular_file(file, error)) {
    if (missing == MissingWeights::leave) return nullptr;
    refuse_missing(path, tensor.name());
  }
  const trace::MappedFile mapped(file.string());
  auto constant = std::make_shared<ConstantTensor>();
  constant->spec = trace::tensor_spec(tensor, path);
  const auto bytes = static_cast<std::uint64_t>(constant->spec.bytes());
  if (offset > mapped.bytes().size() || bytes > mapped.bytes().size() - offset)
    throw Error(file.string(), fmt::format("ends before the data of '{}'", tensor.name()));
  const auto* data = reinterpret_cast<const std::byte*>(mapped.bytes().data()) + offset;
  constant->data.assign(data, data + bytes);
  return constant;
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
    ConstantPointer value = is_outside ? data_beside(tensor, path, missing)
                                       : trace::constant_tensor(tensor, tensor.name());
    if (!value || (value->data.empty() && value->spec.numel() != 0)) {
      if (missing == MissingWeights::leave) continue;
      refuse_missing(path, tensor.name());
    }
    weights[tensor.name()] = std::move(value);
  }
  return out;
}

}  // namespace symprof::workbench
