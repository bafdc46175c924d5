// Files of TensorRT's tools.
#pragma once

#include <string>

namespace symprof::engine {

/// Advice where a file is none that is read.
constexpr auto wanted_files =
    "symprof reads what trtexec writes with exportLayerInfo, the JSON or text of TensorRT's "
    "EngineInspector, and verbose logs of a build.";

/// The bytes of a file. Throws Error where it cannot be read, or is larger than any list of layers.
std::string content_of_file(const std::string& path);

}  // namespace symprof::engine
