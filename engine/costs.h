// What a device needs at least for a layer, by its data sheet: the bytes that the layer moves, and
// the FLOPs of the model's nodes that it has.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/device_spec.h"
#include "engine/map.h"
#include "engine/summary.h"
#include "profile/time/time_model.h"

namespace symprof::engine {

/// FLOPs of the forward pass by the name of the node; empty where one of its calls has no rule.
using NodeFlops = std::unordered_map<std::string, std::optional<std::int64_t>>;

struct LayerCost {
  std::optional<std::int64_t> flops;  ///< Empty without a model, or where a node has no rule.
  std::optional<double> least_ms;     ///< Empty where neither bytes nor FLOPs are known.
  std::string_view limit;             ///< "memory" or "compute": which of the two it is.
  /// By the model of kernel times; empty where the layer is no kernel that it knows.
  std::optional<double> estimated_ms, estimated_low_ms, estimated_high_ms;
};

struct EngineCosts {
  std::string device;
  std::vector<LayerCost> layers;        ///< In the engine's order.
  std::int64_t flops = 0;               ///< Of all layers.
  std::int64_t other_flops = 0;         ///< Of nodes that are in no layer.
  double least_ms = 0;                  ///< Of all layers with a kernel.
  double measured_ms = 0;               ///< Of the layers that are in `least_ms` and have a time.
  std::int64_t unknown_layers = 0;      ///< With a kernel, and in no sum.
  double estimated_ms = 0;              ///< Of all layers with an estimate.
  double estimated_measured_ms = 0;     ///< Of those that have a time, too.
  std::int64_t unestimated_layers = 0;  ///< With a kernel, and without an estimate.
};

/// A node's FLOPs count in the first of its layers, so that each counts once; those of nodes that
/// the builder folded count nowhere. The rate is that of the layer's first input: the device's
/// dense peak, of tf32 where the tactic's name has it. `model`, `map` and `flops` may be null.
EngineCosts cost_layers(const Engine& engine, const EngineSummary& summary,
                        const DeviceSpec& device, const Model* model, const NodeMap* map,
                        const NodeFlops* flops);

/// Fills the estimates of `costs` (engine/layer_time.h says what kernel a layer is).
void estimate_layers(const Engine& engine, const EngineSummary& summary, profile::TimeModel& model,
                     EngineCosts& costs);

}  // namespace symprof::engine
