// Whether the calls of an inference may not be those of the model's own code.
#pragma once

#include <cstdint>

#include "record/recording.h"

namespace symprof::profile {

enum class OtherCalls : std::uint8_t {
  none,      ///< Nothing says so.
  onnx,      ///< The exporter wrote them with ONNX's operators: one call as several, or in place.
  masks,     ///< Attention masks that the model's own code may leave out.
  training,  ///< They write to buffers, as code does that Python runs in training alone.
};

/// Why the peak of the recorded step may be another one than that of the model's own code. Always
/// `none` for a step that trains: there it is autograd that holds most.
OtherCalls other_calls(const Recording& recording);

}  // namespace symprof::profile
