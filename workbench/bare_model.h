// A model without its weights, and the weights kept apart.
#pragma once

#include <cstdint>
#include <string>

#include "workbench/model.h"
#include "workbench/value_runner.h"

namespace symprof::workbench {

/// How to treat weights whose data is missing.
enum class MissingWeights : std::uint8_t {
  refuse,  ///< Throw Error.
  leave,   ///< They get no leaves; the caller has to provide values.
};

/// `model` reduced to what its values depend on; `weights` gets the data of initializers, including
/// external data. Throws Error for missing or truncated data.
onnx::ModelProto bare_model(const onnx::ModelProto& model, const std::string& path,
                            ValueRunner::Leaves& weights,
                            MissingWeights missing = MissingWeights::refuse);

}  // namespace symprof::workbench
