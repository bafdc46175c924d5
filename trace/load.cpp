#include "trace/load.h"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "base/error.h"
#include "trace/exported/archive.h"
#include "trace/exported/program_path.h"
#include "trace/exported/reader.h"
#include "trace/onnx/reader.h"
#include "trace/passes/prepare.h"
#include "trace/torchscript/load.h"

namespace symprof::trace {
namespace {

constexpr auto formats = "symprof reads .pt2 (torch.export.save), .onnx and TorchScript .pt files.";

enum class Content {
  exported,
  torchscript,
  checkpoint,
  other_archive,
  onnx,
  pickle,
  script,
  unknown
};

/// The first bytes of the file. Throws Error when it cannot be read or has none.
std::string first_bytes(const std::string& path) {
  std::error_code code;
  const auto status = std::filesystem::status(path, code);
  if (!std::filesystem::exists(status)) throw Error(path, "there is no such file", formats);
  if (std::filesystem::is_directory(status)) throw Error(path, "is a directory", formats);
  if (!std::filesystem::is_regular_file(status)) throw Error(path, "is no regular file", formats);
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(path, "cannot be read", "Check the permissions of the file.");
  std::string bytes(8, '\0');
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  if (bytes.empty()) throw Error(path, "is empty", formats);
  return bytes;
}

Content archive_content(const std::string& path) {
  const exported::Archive archive(path);
  bool has_code = false, has_pickle = false;
  for (const std::string& record : archive.records()) {
    if (record.starts_with("models/") || record == "archive_format" ||
        record == "serialized_exported_program.json")
      return Content::exported;
    has_code |= record.starts_with("code/");
    has_pickle |= record == "data.pkl";
  }
  if (has_code && has_pickle) return Content::torchscript;
  return has_pickle ? Content::checkpoint : Content::other_archive;
}

/// Protobuf writes fields in ascending order, and a ModelProto has ir_version (1) unless a tool
/// left it out; then opset_import (8), producer_name (2) or graph (7) come first.
bool may_be_onnx(std::string_view bytes) {
  constexpr std::string_view tags = "\x08\x12\x3a\x42";
  return tags.find(bytes.front()) != std::string_view::npos;
}

Content content_of(const std::string& given) {
  const auto [path, program] = exported::program_path(given);
  const std::string bytes = first_bytes(path);
  if (bytes.starts_with("PK\x03\x04") || bytes.starts_with("PK\x05\x06"))
    return program.empty() ? archive_content(path) : Content::exported;
  if (!program.empty())
    throw Error(given, "only .pt2 archives have several programs",
                fmt::format("Wanted: the path of a file, such as {}.", path));
  if (bytes.starts_with('\x80')) return Content::pickle;
  const std::filesystem::path extension = std::filesystem::path(path).extension();
  if (extension == ".py") return Content::script;
  const bool named_onnx = extension == ".onnx";
  return named_onnx || may_be_onnx(bytes) ? Content::onnx : Content::unknown;
}

/// The graph of a file with such content; none of TorchScript.
std::optional<Graph> read(const std::string& path, Content content) {
  switch (content) {
    case Content::exported:
      return load_exported(path);
    case Content::onnx:
      return load_onnx(path);
    case Content::torchscript:
      return std::nullopt;
    case Content::checkpoint:
    case Content::pickle:
      throw Error(path, "is a checkpoint: it has tensors or Python objects, but no graph",
                  "Load it into its model and export that with torch.export.");
    case Content::script:
      throw Error(path, "is a Python script, not a model",
                  fmt::format("The Python package runs it: symprof run {}", path));
    case Content::other_archive:
    case Content::unknown:
      break;
  }
  throw Error(path, "is not a model", formats);
}

}  // namespace

std::string file_of(const std::string& path) { return exported::program_path(path).file; }

bool is_torchscript(const std::string& path) { return content_of(path) == Content::torchscript; }

ModelFile open(const std::string& path) {
  ModelFile file{.path = path, .graph = read(path, content_of(path))};
  if (file.graph) finish_reading(*file.graph);
  return file;
}

ModelFile open_onnx(std::string_view bytes, const std::string& path) {
  ModelFile file{.path = path, .graph = read_onnx(bytes, path)};
  finish_reading(*file.graph);
  return file;
}

Graph load(const std::string& path) {
  ModelFile file = open(path);
  if (!file.graph)
    throw Error(path, "is TorchScript, which is code: its graph depends on the inputs",
                "Load it with trace::load_torchscript, which takes them.");
  return *std::move(file.graph);
}

}  // namespace symprof::trace
