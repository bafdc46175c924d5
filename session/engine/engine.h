// A TensorRT engine read from its files, mapped to a model's nodes and compared with a device's
// limits.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/causes.h"
#include "engine/costs.h"
#include "engine/engine.h"
#include "engine/map.h"
#include "engine/model.h"
#include "engine/summary.h"

namespace symprof {

/// The files of one engine; `profile` and `log` may be empty.
struct EngineFiles {
  std::string layers, profile, log;
};

struct EngineQuestion {
  EngineFiles files;
  std::string onnx, device;        ///< The model it was built from, and where it ran; may be empty.
  std::vector<std::string> sizes;  ///< Sizes of the model's open dimensions: "N=8".
};

struct EngineAnswer {
  engine::Engine engine;
  engine::EngineSummary summary;
  std::optional<engine::Model> model;  ///< Empty without a model; then `map` is empty, too.
  std::optional<engine::NodeMap> map;
  std::vector<engine::Cause> causes;
  std::optional<engine::EngineCosts> costs;  ///< Empty where no device was named.
};

/// Reads the files alone, without a model, a device and causes. Throws Error for other files.
EngineAnswer read_engine_files(const EngineFiles& files);

/// Throws Error, as read_engine_files, and for a model or a device that cannot be read.
EngineAnswer analyze_engine(const EngineQuestion& question);

/// Two engines, compared by their layers.
struct EnginePair {
  EngineAnswer before, after;
};
EnginePair compare_engines(const EngineFiles& before, const EngineFiles& after);

}  // namespace symprof
