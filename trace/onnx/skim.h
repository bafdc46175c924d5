// Parses a model without its weights: large tensors are skipped on the wire, so time and memory
// depend on the graph, not on the file size.
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
constexpr std::uint64_t largest_kept_tensor_bytes = std::uint64_t{32} << 10;

/// Parses `bytes` into `model`; tensors of more than `largest_kept` bytes come without data. Throws
/// Error if it is not ONNX or truncated; `path` is for the message.
void parse_model(std::string_view bytes, const std::string& path, onnx::ModelProto& model,
                 std::uint64_t largest_kept = largest_kept_tensor_bytes);

}  // namespace symprof::trace
