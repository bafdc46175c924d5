// What an engine's layers add up to: time, memory traffic, reformats, quantizers that stand alone.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/times.h"

namespace symprof::engine {

/// What one layer moves and how long it took. Bytes are those of its tensors with the channels
/// that their layouts add, weights included once; empty where a size or dtype is not known.
struct LayerFigures {
  std::optional<std::int64_t> bytes_read, bytes_written;
  std::optional<double> measured_ms;
  bool has_kernel = false;
  bool is_reformat = false;
  bool is_quantizer = false;  ///< Q or DQ that no other layer took in.
};

/// Layers of one kind together.
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
  /// Kernels of regions, which do not say how large the weights are that they read.
  std::int64_t layers_of_unknown_weights = 0;
  double measured_ms = 0;  ///< Of all records of the profile.
  std::int64_t runs = 0;   ///< 0 where the profile does not say.
  bool has_times = false;
  std::vector<std::string> warnings;  ///< The engine's, the profile's, and those of joining them.
};

/// `times` may be null: those in the engine's own file serve.
EngineSummary summarize(const Engine& engine, const Times* times);

/// Empty where one of the two is not known, or their sum does not fit into 64 bits.
std::optional<std::int64_t> known_sum(const std::optional<std::int64_t>& a,
                                      const std::optional<std::int64_t>& b);

/// What the layer reads and writes; empty where it is not known, or does not fit into 64 bits.
std::optional<std::int64_t> bytes_moved(const LayerFigures& layer);

/// The time of `layers` together; empty where one of them has none. `index` gives a layer's number.
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

/// "int8 → float32"; one word where they are one; empty where the file does not say.
std::string precision(const Layer& layer);

}  // namespace symprof::engine
