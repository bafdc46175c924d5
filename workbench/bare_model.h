// A model without its weights, and these beside it.
#pragma once

#include <cstdint>
#include <string>

#include "workbench/model.h"
#include "workbench/runnable.h"

namespace symprof::workbench {

/// What becomes of weights whose data is not there.
enum class MissingWeights : std::uint8_t {
  refuse,  ///< Error.
  leave,   ///< They are no leaves; who runs the model has to give them values.
};

/// `model` without what its values do not depend on; `weights` gets those of initializers, from
/// the file's data files too. Throws Error for data that is missing or cut short.
onnx::ModelProto bare_model(const onnx::ModelProto& model, const std::string& path,
                            ValueRunner::Leaves& weights,
                            MissingWeights missing = MissingWeights::refuse);

}  // namespace symprof::workbench
