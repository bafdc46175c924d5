// Roofline bound of a layer from the device's data sheet: the bytes that the layer moves, and the
// FLOPs of its nodes.
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
  std::optional<double> least_ms;     ///< Empty if both bytes and FLOPs are unknown.
  std::string_view limit;             ///< "memory" or "compute": the limiting one.
  /// From the model of kernel times; empty if it does not cover the layer's kernel.
  std::optional<double> estimated_ms, estimated_low_ms, estimated_high_ms;
};

struct EngineCosts {
  std::string device;
  std::vector<LayerCost> layers;        ///< In the engine's order.
  std::int64_t flops = 0;               ///< Of all layers.
  std::int64_t other_flops = 0;         ///< Of nodes without a layer.
  double least_ms = 0;                  ///< Of all layers with a kernel.
  double measured_ms = 0;               ///< Of the layers in `least_ms` with a time.
  std::int64_t unknown_layers = 0;      ///< With a kernel, excluded from the sums.
  double estimated_ms = 0;              ///< Of all layers with an estimate.
  double estimated_measured_ms = 0;     ///< Of those with a measured time.
  std::int64_t unestimated_layers = 0;  ///< With a kernel, and without an estimate.
};

/// A node's FLOPs count once, in the first of its layers; those of nodes folded by the builder are
/// not counted. The rate is that of the layer's first input: the device's dense peak, of tf32 where
/// the tactic's name has it. `model`, `map` and `flops` may be null.
EngineCosts cost_layers(const Engine& engine, const EngineSummary& summary,
                        const DeviceSpec& device, const Model* model, const NodeMap* map,
                        const NodeFlops* flops);

/// Fills the estimates of `costs` (engine/layer_time.h maps layers to kernels).
void estimate_layers(const Engine& engine, const EngineSummary& summary, profile::TimeModel& model,
                     EngineCosts& costs);

}  // namespace symprof::engine
