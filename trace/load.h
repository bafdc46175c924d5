// Detects the format of a model file and loads its graph.
//
// Public header.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "trace/graph/graph.h"

namespace symprof::trace {

/// A model file that was opened and read.
struct ModelFile {
  std::string path;
  /// As the file has it, its sizes open. Empty for TorchScript, which is code: its graph depends on
  /// the inputs (trace/torchscript/load.h).
  std::optional<Graph> graph;
};

/// Opens a file by its content (.pt2 archive, ONNX or TorchScript). Weights are not read. One
/// program of a .pt2 with several is "model.pt2:decode".
/// Throws Error: missing file, not a model, truncated archive, cyclic or dangling graph.
ModelFile open(const std::string& path);

/// The file of such a path; the path itself if it names no program.
std::string file_of(const std::string& path);

/// An ONNX model that is in memory; `path` is for messages. Throws Error as `open`.
ModelFile open_onnx(std::string_view bytes, const std::string& path);

/// The graph of a .pt2 archive or an ONNX file. Throws Error as `open`, and for TorchScript.
Graph load(const std::string& path);

}  // namespace symprof::trace
