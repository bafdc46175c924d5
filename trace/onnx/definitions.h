// Operators that ONNX defines by a graph of others.
#pragma once

#include <optional>
#include <string>

namespace onnx {
class ModelProto;
}

namespace symprof::trace {

/// `model` with the definitions of its operators that are read as such (LinearAttention, SwiGLU …)
/// as local functions; empty when it has none. Throws Error when ONNX cannot write one out.
std::optional<onnx::ModelProto> with_definitions(const onnx::ModelProto& model,
                                                 const std::string& path);

}  // namespace symprof::trace
