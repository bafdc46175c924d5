// ONNX models as the workbench reads, changes and writes them: onnx's own ModelProto. External data
// stays in its file.
//
// Public header.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace onnx {
class ModelProto;
}

namespace symprof::workbench {

/// Shared, so that callers need no header of onnx's.
using Model = std::shared_ptr<onnx::ModelProto>;

/// How much of a file's tensors is read.
enum class Weights : std::uint8_t {
  skip,   ///< Tensors of more than 32 KiB come without their data: enough to look at a graph.
  keep,   ///< All that is in the file; external data stays where it is.
  small,  ///< Skips what is larger in files of more than 256 MiB, keeps all in others.
};

/// Reads a model. Throws Error: a file that is missing, damaged or no ONNX.
Model read_model(const std::string& path, Weights weights);

/// True where the file's content, by its first bytes, is no ONNX but an archive (.pt2, .pt).
bool is_archive(const std::string& path);

/// The bytes of a model file. Throws Error for what protobuf cannot write (2 GiB and more).
std::string bytes_of(const onnx::ModelProto& model, const std::string& path);

/// Makes external data that the model at `from` refers to readable for a model written to `to`:
/// where the folders differ, hard links the files, or copies them. Throws Error when that fails.
void bring_external_data(const onnx::ModelProto& model, const std::string& from,
                         const std::string& to);

/// Puts types and shapes of results into the model's value_info, as far as onnx can tell. What it
/// cannot infer stays open.
void infer_types(onnx::ModelProto& model);

}  // namespace symprof::workbench
