// The bytes of a trace file, packed or not.
#pragma once

#include <simdjson.h>

#include <string>

namespace symprof::measure::kineto {

/// The file as text, unpacked where it is a gzip file, whatever its name says. Throws Error that
/// names the byte at which packed data ends or is damaged.
simdjson::padded_string read_file(const std::string& path);

}  // namespace symprof::measure::kineto
