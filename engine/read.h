// Reads descriptions of an engine by TensorRT's tools, in any form.
#pragma once

#include <string>
#include <string_view>

#include "engine/engine.h"

namespace symprof::engine {

/// Reads the inspector's JSON (detailed, names alone, a bare list, one object after another), its
/// text, a verbose build log, polygraphy's list, or a profile, whose records are layers with only a
/// name and a time. Unknown fields are ignored; a truncated line or file is a warning with its
/// position. Throws Error without any layer.
Engine read_engine(const std::string& path);

/// `read_engine` of bytes in memory; `path` is for messages.
Engine read_engine(std::string_view content, const std::string& path);

}  // namespace symprof::engine
