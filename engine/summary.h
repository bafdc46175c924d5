// Totals over an engine's layers: time, memory traffic, reformats, standalone quantizers.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/times.h"

namespace symprof::engine {

/// Bytes and time of one layer. Bytes of its tensors include channel padding, and weights once;
/// empty if a size or dtype is unknown.
struct LayerFigures {
  std::optional<std::int64_t> bytes_read, bytes_written;
  std::optional<double> measured_ms;
  bool has_kernel = false;
  bool is_reformat = false;
  bool is_quantizer = false;  ///< Standalone Q or DQ.
};

/// Totals of layers of one kind.
struct LayerGroup {
  std::int64_t layers = 0;
  double measured_ms = 0;
  std::int64_t timed_layers = 0;
  std::int64_t bytes = 0;
  std::int64_t layers_of_unknown_bytes = 0;
};

struct EngineSummary {
  std::vector<LayerFigures> layers;  ///< In the engine's order.
  LayerGroup kernels, reformats, quantizers;
  std::int64_t untyped_layers = 0;  ///< They count as layers with a kernel.
  /// Kernels of regions, whose weight sizes are unknown.
  std::int64_t layers_of_unknown_weights = 0;
  double measured_ms = 0;  ///< Of all records of the profile.
  std::int64_t runs = 0;   ///< 0 if not in the profile.
  bool has_times = false;
  std::vector<std::string> warnings;  ///< The engine's, the profile's, and those of joining them.
};

/// `times` may be null: then those in the engine's file are used.
EngineSummary summarize(const Engine& engine, const Times* times);

/// Empty if one is unknown, or on overflow of 64 bits.
std::optional<std::int64_t> known_sum(const std::optional<std::int64_t>& a,
                                      const std::optional<std::int64_t>& b);

/// Bytes that the layer reads and writes; empty if unknown, or on overflow of 64 bits.
std::optional<std::int64_t> bytes_moved(const LayerFigures& layer);

/// Total time of `layers`; empty if one has none. `index` maps an element to its layer number.
template <class Layers, class Index = std::identity>
std::optional<double> measured_ms(const EngineSummary& summary, const Layers& layers,
                                  Index index = {}) {
  double sum = 0;
  for (const auto& each : layers) {
    const auto layer = static_cast<std::size_t>(std::invoke(index, each));
    if (!summary.layers[layer].measured_ms) return std::nullopt;
    sum += *summary.layers[layer].measured_ms;
  }
  return sum;
}

/// Adds a layer to a group.
void add(const LayerFigures& layer, LayerGroup& group);

/// "int8 → float32"; one word where they are one; empty if not in the file.
std::string precision(const Layer& layer);

}  // namespace symprof::engine
