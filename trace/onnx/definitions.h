// Operators that ONNX defines as functions of other operators.
#pragma once

#include <optional>
#include <string>

namespace onnx {
class ModelProto;
}

namespace symprof::trace {

/// A domain as a key of maps: ONNX's own has two spellings.
inline std::string domain_key(const std::string& domain) {
  return domain == "ai.onnx" ? "" : domain;
}

/// `model` with the definitions of its operators that are read as such (LinearAttention, SwiGLU …)
/// as local functions; empty when it has none. Throws Error if ONNX cannot expand one.
std::optional<onnx::ModelProto> with_definitions(const onnx::ModelProto& model,
                                                 const std::string& path);

}  // namespace symprof::trace
