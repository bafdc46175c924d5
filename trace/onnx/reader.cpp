#include "trace/onnx/reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <onnx/defs/parser.h>
#include <onnx/onnx_pb.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "trace/onnx/builder.h"
#include "trace/onnx/definitions.h"
#include "trace/onnx/initializers.h"
#include "trace/onnx/sequences.h"
#include "trace/onnx/skim.h"

namespace symprof::trace {
namespace {

/// A file mapped for reading: pages of weights that are skipped are never read.
class MappedFile {
 public:
  explicit MappedFile(const std::string& path) {
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat status = {};
    if (file < 0 || ::fstat(file, &status) != 0) {
      const int reason = errno;
      if (file >= 0) ::close(file);
      throw Error(path, std::string("cannot be read: ") + std::strerror(reason),
                  "Give the path of a model file.");
    }
    if (!S_ISREG(status.st_mode)) {
      ::close(file);
      throw Error(path, "not a file", "Give the path of a model file.");
    }
    size_ = static_cast<std::size_t>(status.st_size);
    if (size_ > 0) data_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
    ::close(file);
    if (data_ == MAP_FAILED) throw Error(path, "cannot be mapped into memory");
  }
  ~MappedFile() {
    if (size_ > 0) ::munmap(data_, size_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::string_view bytes() const { return {static_cast<const char*>(data_), size_}; }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

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

Graph graph_of(const onnx::ModelProto& model, const std::string& path) {
  Graph graph;
  graph.path = path;
  graph.format = "onnx";
  graph.producer = model.producer_name();
  if (!model.producer_version().empty()) graph.producer += " " + model.producer_version();
  graph.opsets = read_opsets(model);
  check_opsets(model, graph);
  const FunctionLibrary functions = function_library(model, path);
  const Signature signature = find_signature(model);
  GraphBuilder(graph, functions, signature).build(model.graph(), {});
  unpack_sequences(graph);
  return graph;
}

Graph to_graph(const onnx::ModelProto& model, const std::string& path) {
  if (const auto expanded = with_definitions(model, path)) return graph_of(*expanded, path);
  return graph_of(model, path);
}

}  // namespace

Graph load_onnx(const std::string& path) {
  const MappedFile file(path);
  return read_onnx(file.bytes(), path);
}

Graph read_onnx(std::string_view bytes, const std::string& path) {
  onnx::ModelProto model;
  parse_model(bytes, path, model);
  return to_graph(model, path);
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
