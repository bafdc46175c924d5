// Reads the bytes of a model without its weights: large tensors are stepped over on the wire, so
// that time and memory follow the graph and not the file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace onnx {
class ModelProto;
}

namespace symprof::trace {

/// Tensors of more bytes than this lose their data on reading.
constexpr std::uint64_t largest_kept_tensor_bytes = 32 * 1024;

/// Parses `bytes` into `model`; tensors of more than `largest_kept` bytes come without data. Throws
/// Error when this is not ONNX or ends too soon; `path` is for the message.
void parse_model(std::string_view bytes, const std::string& path, onnx::ModelProto& model,
                 std::uint64_t largest_kept = largest_kept_tensor_bytes);

}  // namespace symprof::trace
