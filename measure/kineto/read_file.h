// The bytes of a trace file, compressed or not.
#pragma once

#include <simdjson.h>

#include <string>

namespace symprof::measure::kineto {

/// The file as text, decompressed if it is gzip (regardless of its name). Throws Error that names
/// the byte at which compressed data ends or is damaged.
simdjson::padded_string read_file(const std::string& path);

}  // namespace symprof::measure::kineto
