// Operators that ONNX defines by a graph of others.
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
/// as local functions; empty when it has none. Throws Error when ONNX cannot write one out.
std::optional<onnx::ModelProto> with_definitions(const onnx::ModelProto& model,
                                                 const std::string& path);

}  // namespace symprof::trace
