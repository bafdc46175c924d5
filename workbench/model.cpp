#include "workbench/model.h"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>

#include <filesystem>
#include <limits>
#include <set>

#include "base/error.h"
#include "trace/onnx/mapped_file.h"
#include "trace/onnx/skim.h"
#include "workbench/nodes.h"

namespace symprof::workbench {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t small_file_bytes = std::uint64_t{1} << 28;

std::uint64_t largest_kept(Weights weights, std::uint64_t file_bytes) {
  const bool all =
      weights == Weights::keep || (weights == Weights::small && file_bytes <= small_file_bytes);
  return all ? std::numeric_limits<std::uint64_t>::max() : trace::largest_kept_tensor_bytes;
}

void add_location(const onnx::TensorProto& tensor, std::set<std::string>& locations) {
  if (tensor.data_location() != onnx::TensorProto::EXTERNAL) return;
  for (const onnx::StringStringEntryProto& entry : tensor.external_data())
    if (entry.key() == "location") locations.insert(entry.value());
}

/// External data files of a model's tensors: of initializers, also in subgraphs, and of attributes.
std::set<std::string> locations_of(const onnx::ModelProto& model) {
  std::set<std::string> locations;
  const auto add = [&](const onnx::NodeProto& node) {
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      if (attribute.has_t()) add_location(attribute.t(), locations);
      for (const onnx::TensorProto& tensor : attribute.g().initializer())
        add_location(tensor, locations);
    }
  };
  for (const onnx::TensorProto& tensor : model.graph().initializer())
    add_location(tensor, locations);
  for_all_nodes(model.graph().node(), add);
  for (const onnx::FunctionProto& function : model.functions()) for_all_nodes(function.node(), add);
  return locations;
}

void bring(const fs::path& from, const fs::path& to) {
  std::error_code error;
  if (fs::equivalent(from, to, error)) return;
  if (fs::exists(to, error))
    throw Error(to.string(), "is there already, and the model's data would take its place",
                "Write the model into another folder.");
  fs::create_hard_link(from, to, error);
  if (!error) return;
  error.clear();
  fs::copy_file(from, to, error);
  if (error) {
    std::error_code ignored;
    fs::remove(to, ignored);
    throw Error(from.string(), "cannot be copied to " + to.string() + ": " + error.message(),
                "Write the model into the folder of its data.");
  }
}

}  // namespace

Model read_model(const std::string& path, Weights weights) {
  const trace::MappedFile file(path);
  auto model = std::make_shared<onnx::ModelProto>();
  trace::parse_model(file.bytes(), path, *model, largest_kept(weights, file.bytes().size()));
  return model;
}

bool is_archive(const std::string& path) {
  const trace::MappedFile file(path);
  return file.bytes().starts_with("PK");
}

std::string bytes_of(const onnx::ModelProto& model, const std::string& path) {
  std::string bytes;
  if (model.ByteSizeLong() >= std::uint64_t{1} << 31 || !model.SerializeToString(&bytes))
    throw Error(path, "the model has 2 GiB or more, which no ONNX file holds",
                "Keep its weights in external data.");
  return bytes;
}

void bring_external_data(const onnx::ModelProto& model, const std::string& from,
                         const std::string& to) {
  const fs::path source = fs::path(from).parent_path(), target = fs::path(to).parent_path();
  std::error_code error;
  const fs::path here = ".";
  if (fs::equivalent(source.empty() ? here : source, target.empty() ? here : target, error)) return;
  for (const std::string& location : locations_of(model))
    if (fs::exists(source / location, error)) bring(source / location, target / location);
}

void infer_types(onnx::ModelProto& model) {
  const onnx::ShapeInferenceOptions options(false, 0, true);
  try {
    onnx::shape_inference::InferShapes(model, onnx::OpSchemaRegistry::Instance(), options);
  } catch (const std::exception&) {
    // Keeps the types inferred so far: nothing here needs all of them.
  }
}

}  // namespace symprof::workbench
