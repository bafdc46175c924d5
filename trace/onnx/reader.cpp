#include "trace/onnx/reader.h"

#include <fmt/format.h>
#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>

#include "base/error.h"
#include "trace/onnx/builder.h"
#include "trace/onnx/definitions.h"
#include "trace/onnx/initializers.h"
#include "trace/onnx/mapped_file.h"
#include "trace/onnx/sequences.h"
#include "trace/onnx/skim.h"

namespace symprof::trace {
namespace {

std::vector<std::pair<std::string, std::int64_t>> read_opsets(const onnx::ModelProto& model) {
  std::vector<std::pair<std::string, std::int64_t>> opsets;
  for (const onnx::OperatorSetIdProto& opset : model.opset_import())
    opsets.emplace_back(opset.domain().empty() ? "ai.onnx" : opset.domain(), opset.version());
  return opsets;
}

void check_opsets(const onnx::ModelProto& model, Graph& graph) {
  std::int64_t model_opset = 0;
  for (const auto& [domain, version] : graph.opsets) {
    if (domain != "ai.onnx") continue;
    model_opset = version;
    if (version < oldest_opset)
      throw Error(graph.path, fmt::format("opset {}; wanted {} or later", version, oldest_opset),
                  "Export the model again: operator sets count from 1.");
  }
  for (const onnx::FunctionProto& function : model.functions())
    for (const onnx::OperatorSetIdProto& opset : function.opset_import())
      if (opset.domain().empty() && model_opset != 0 && opset.version() != model_opset)
        graph.warnings.push_back(
            fmt::format("function {} is written for opset {}, the model for {}; operators are "
                        "read as of the model's",
                        function.name(), opset.version(), model_opset));
}

Graph graph_of(const onnx::ModelProto& model, const std::string& path, Reading reading) {
  Graph graph;
  graph.path = path;
  graph.format = "onnx";
  graph.traits = onnx_traits;
  graph.producer = model.producer_name();
  if (!model.producer_version().empty()) graph.producer += " " + model.producer_version();
  graph.opsets = read_opsets(model);
  check_opsets(model, graph);
  const FunctionLibrary functions = function_library(model, path);
  const Signature signature = find_signature(model);
  GraphBuilder(graph, functions, signature, reading).build(model.graph(), {});
  unpack_sequences(graph);
  return graph;
}

Graph to_graph(const onnx::ModelProto& model, const std::string& path,
               Reading reading = Reading::as_exported) {
  if (const auto expanded = with_definitions(model, path))
    return graph_of(*expanded, path, reading);
  return graph_of(model, path, reading);
}

}  // namespace

Graph load_onnx(const std::string& path) {
  const MappedFile file(path);
  return read_onnx(file.bytes(), path);
}

Graph read_onnx(std::string_view bytes, const std::string& path, Reading reading) {
  onnx::ModelProto model;
  parse_model(bytes, path, model);
  return to_graph(model, path, reading);
}

Graph parse_onnx_text(const std::string& text, const std::string& path) {
  onnx::ModelProto model;
  onnx::OnnxParser parser(text.c_str());
  if (const auto status = parser.Parse(model); !status.IsOK())
    throw Error(path, "not a model in ONNX text syntax: " + status.ErrorMessage(),
                "See docs/Syntax.md of the onnx project.");
  return to_graph(model, path);
}

}  // namespace symprof::trace
