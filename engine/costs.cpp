#include "engine/costs.h"

#include <algorithm>

#include "engine/layer_time.h"

namespace symprof::engine {
namespace {

/// Peak FLOP/s for the layer's dtype; empty if the device's file has none.
std::optional<double> rate_of(const Layer& layer, const DeviceSpec& device) {
  if (layer.inputs.empty()) return std::nullopt;
  std::string dtype = layer.inputs.front().dtype;
  if (dtype == "float32" && layer.tactic.find("tf32") != std::string::npos) dtype = "tf32";
  const auto found =
      std::ranges::find(device.flops_per_second, dtype, &std::pair<std::string, double>::first);
  return found == device.flops_per_second.end() ? std::nullopt : std::optional(found->second);
}

/// Adds up FLOPs by layer.
void add_flops(const Model& model, const NodeMap& map, const NodeFlops& flops, EngineCosts& costs) {
  for (LayerCost& layer : costs.layers) layer.flops = 0;
  for (std::size_t i = 0; i < model.nodes.size(); ++i) {
    const auto found = flops.find(model.nodes[i].name);
    // A node joined with its neighbor has its FLOPs there; Q and DQ of weights ran at build time.
    if (found == flops.end() || is_constant(model, model.nodes[i])) continue;
    if (map.nodes[i].layers.empty()) {
      costs.other_flops += found->second.value_or(0);
      continue;
    }
    const int first = std::ranges::min(map.nodes[i].layers, {}, &Assignment::layer).layer;
    std::optional<std::int64_t>& sum = costs.layers[static_cast<std::size_t>(first)].flops;
    sum = known_sum(sum, found->second);
  }
}

void bound(const Layer& layer, const LayerFigures& figures, const DeviceSpec& device,
           LayerCost& cost) {
  if (figures.bytes_read && figures.bytes_written && device.memory_bytes_per_second) {
    const double bytes =
        static_cast<double>(*figures.bytes_read) + static_cast<double>(*figures.bytes_written);
    cost.least_ms = 1e3 * bytes / *device.memory_bytes_per_second;
    cost.limit = "memory";
  }
  const std::optional<double> rate = rate_of(layer, device);
  if (!cost.flops || !rate) return;
  const double compute_ms = 1e3 * static_cast<double>(*cost.flops) / *rate;
  if (cost.least_ms && *cost.least_ms >= compute_ms) return;
  // A layer without FLOPs and with unknown bytes has no bound, rather than zero.
  if (!cost.least_ms && *cost.flops == 0) return;
  cost.least_ms = compute_ms;
  cost.limit = "compute";
}

}  // namespace

EngineCosts cost_layers(const Engine& engine, const EngineSummary& summary,
                        const DeviceSpec& device, const Model* model, const NodeMap* map,
                        const NodeFlops* flops) {
  EngineCosts costs;
  costs.device = device.description.empty() ? device.name : device.description;
  costs.layers.resize(engine.layers.size());
  if (model && map && flops) add_flops(*model, *map, *flops, costs);
  for (std::size_t i = 0; i < engine.layers.size(); ++i) {
    LayerCost& cost = costs.layers[i];
    const LayerFigures& figures = summary.layers[i];
    if (!figures.has_kernel) continue;
    bound(engine.layers[i], figures, device, cost);
    costs.flops += cost.flops.value_or(0);
    if (!cost.least_ms) {
      ++costs.unknown_layers;
      continue;
    }
    costs.least_ms += *cost.least_ms;
    costs.measured_ms += figures.measured_ms.value_or(0);
  }
  return costs;
}

void estimate_layers(const Engine& engine, const EngineSummary& summary, profile::TimeModel& model,
                     EngineCosts& costs) {
  for (std::size_t i = 0; i < engine.layers.size(); ++i) {
    LayerCost& cost = costs.layers[i];
    const LayerFigures& figures = summary.layers[i];
    if (!figures.has_kernel) continue;
    const std::optional<profile::Kernel> kernel = kernel_of(engine.layers[i], figures, cost.flops);
    const std::optional<profile::TimeEstimate> found =
        kernel ? model.estimate(*kernel) : std::nullopt;
    if (!found) {
      ++costs.unestimated_layers;
      continue;
    }
    cost.estimated_ms = found->us / 1e3;
    cost.estimated_low_ms = found->low_us / 1e3;
    cost.estimated_high_ms = found->high_us / 1e3;
    costs.estimated_ms += *cost.estimated_ms;
    costs.estimated_measured_ms += figures.measured_ms.value_or(0);
  }
}

}  // namespace symprof::engine
