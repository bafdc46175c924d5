#include "session/engine/engine.h"

#include "engine/ideal.h"
#include "engine/read.h"
#include "session/devices.h"
#include "session/engine/flops.h"
#include "session/paths.h"

namespace symprof {
namespace {

/// Adds the information of a build log to the description of layers.
void add_log(engine::Engine& engine, const std::string& path) {
  const engine::Engine built = engine::read_engine(path);
  engine.fusions = built.fusions;
  if (engine.version.empty()) engine.version = built.version;
  if (engine.regions.empty()) engine.regions = built.regions.empty() ? built.layers : built.regions;
  if (!engine.times) engine.times = built.times;
}

void add_costs(EngineAnswer& answer, const EngineQuestion& question, const DeviceSpec& device) {
  std::optional<engine::NodeFlops> flops;
  if (answer.map) flops = flops_of_nodes(question.onnx, question.sizes);
  answer.costs = engine::cost_layers(
      answer.engine, answer.summary, device, answer.model ? &*answer.model : nullptr,
      answer.map ? &*answer.map : nullptr, flops ? &*flops : nullptr);
  profile::TimeModel times = profile::time_model_of(device, data_sheet_path());
  engine::estimate_layers(answer.engine, answer.summary, times, *answer.costs);
}

void add_causes(EngineAnswer& answer) {
  answer.causes =
      engine::find_causes(answer.engine, answer.summary, answer.model ? &*answer.model : nullptr,
                          answer.map ? &*answer.map : nullptr);
}

}  // namespace

EngineAnswer read_engine_files(const EngineFiles& files) {
  EngineAnswer answer{.engine = engine::read_engine(files.layers)};
  if (!files.log.empty()) add_log(answer.engine, files.log);
  if (!files.profile.empty()) answer.engine.times = engine::read_times(files.profile);
  answer.summary = engine::summarize(answer.engine, nullptr);
  return answer;
}

EngineAnswer analyze_engine(const EngineQuestion& question) {
  EngineAnswer answer = read_engine_files(question.files);
  if (!question.onnx.empty()) {
    answer.model = engine::read_model(question.onnx);
    answer.map = engine::map_nodes(answer.engine, *answer.model);
  }
  std::optional<DeviceSpec> device;
  if (!question.device.empty())
    add_costs(answer, question, device.emplace(find_device(question.device)));
  add_causes(answer);
  engine::add_ideal_times(answer.engine, answer.summary, device ? &*device : nullptr,
                          answer.costs ? &*answer.costs : nullptr, answer.causes);
  return answer;
}

EnginePair compare_engines(const EngineFiles& before, const EngineFiles& after) {
  EnginePair pair{.before = read_engine_files(before), .after = read_engine_files(after)};
  for (EngineAnswer* side : {&pair.before, &pair.after}) add_causes(*side);
  return pair;
}

}  // namespace symprof
