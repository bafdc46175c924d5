// Reads what TensorRT's tools say of an engine, in whichever form it comes.
#pragma once

#include <string>
#include <string_view>

#include "engine/engine.h"

namespace symprof::engine {

/// The bytes of a file. Throws Error where it cannot be read, or is larger than any list of layers.
std::string content_of_file(const std::string& path);

/// Reads the inspector's JSON (detailed, names alone, a bare list, one object after another), its
/// text, a verbose build log, polygraphy's list, or a profile, whose records are layers that have a
/// name and a time alone. Unknown fields do nothing; a line or file that is cut is a warning with
/// its place. Throws Error where no layer is there.
Engine read_engine(const std::string& path);

/// `read_engine` of bytes in memory; `path` is for messages.
Engine read_engine(std::string_view content, const std::string& path);

}  // namespace symprof::engine
