// ONNX models as the workbench reads, changes and writes them: onnx's own ModelProto. External data
// stays in its file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace onnx {
class ModelProto;
}

namespace symprof::workbench {

/// Shared, so that callers do not need onnx's headers.
using Model = std::shared_ptr<onnx::ModelProto>;

/// Which tensor data of a file to read.
enum class Weights : std::uint8_t {
  skip,   ///< Omits data of tensors above 32 KiB: enough to inspect a graph.
  keep,   ///< All data of the file; external data stays in its file.
  small,  ///< As skip in files of more than 256 MiB, as keep in others.
};

/// Reads a model. Throws Error for a file that is missing, damaged or not ONNX.
Model read_model(const std::string& path, Weights weights);

/// True if the file is an archive (.pt2, .pt) by its first bytes.
bool is_archive(const std::string& path);

/// The bytes of a model file. Throws Error for what protobuf cannot write (2 GiB and more).
std::string bytes_of(const onnx::ModelProto& model, const std::string& path);

/// Makes external data of the model at `from` accessible to a model written to `to`: if the folders
/// differ, hard-links the files, or copies them. Throws Error when that fails.
void bring_external_data(const onnx::ModelProto& model, const std::string& from,
                         const std::string& to);

/// Adds types and shapes of results to the model's value_info, as far as onnx can infer them.
void infer_types(onnx::ModelProto& model);

}  // namespace symprof::workbench
