// How an ONNX file is read.
#pragma once

#include <cstdint>

namespace symprof::trace {

/// Changes made by an exporter that are undone on reading.
enum class Reading : std::uint8_t {
  as_exported,  ///< Names of parameters and joined calls are put back, as trace/onnx/reader.h says.
  as_written,   ///< Nothing: nodes and names are the file's, initializers are constants.
};

}  // namespace symprof::trace
