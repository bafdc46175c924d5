#include "engine/ideal.h"

#include <algorithm>
#include <map>

#include "engine/layer_graph.h"
#include "engine/layer_kinds.h"

namespace symprof::engine {
namespace {

class IdealTimes {
 public:
  IdealTimes(const Engine& engine, const EngineSummary& summary, const DeviceSpec* device,
             const EngineCosts* costs)
      : engine_(engine), summary_(summary), device_(device), costs_(costs), graph_(engine) {}

  void fill(Cause& cause) const {
    std::map<int, std::vector<int>> groups;  // By partner: the layers that should be fused into it.
    for (const int layer : cause.layers) {
      const int partner = partner_of(layer, cause);
      if (partner < 0) return;
      groups[partner].push_back(layer);
    }
    cause.partners.clear();
    std::vector<int> all = cause.layers;
    std::optional<double> ideal_ms = 0.0;
    for (const auto& [partner, layers] : groups) {
      cause.partners.push_back(partner);
      all.push_back(partner);
      ideal_ms = sum(ideal_ms, ideal_of(partner, layers));
    }
    cause.group_ms = measured_ms(summary_, all);
    cause.ideal_ms = ideal_ms;
  }

 private:
  const Layer& at(int layer) const { return engine_.layers[static_cast<std::size_t>(layer)]; }

  static std::optional<double> sum(const std::optional<double>& a, const std::optional<double>& b) {
    return a && b ? std::optional(*a + *b) : std::nullopt;
  }

  static bool has(const std::vector<int>& layers, int layer) {
    return std::ranges::find(layers, layer) != layers.end();
  }

  /// -1 if unknown, or if it is one of the cause's own layers.
  int partner_of(int index, const Cause& cause) const {
    const Layer& layer = at(index);
    if (layer.inputs.empty() || layer.outputs.empty()) return -1;
    const std::string& dtype = layer.inputs.front().dtype;
    const bool dequantizes = summary_.layers[static_cast<std::size_t>(index)].is_quantizer &&
                             (dtype == "int8" || dtype == "float8");
    int partner = -1;
    if (dequantizes) {
      const std::vector<int> readers = graph_.readers(layer.outputs.front().name);
      if (!readers.empty()) partner = readers.front();
    } else {
      partner = graph_.producer(layer.inputs.front().name);
    }
    return has(cause.layers, partner) ? -1 : partner;
  }

  /// True if `tensor`, written by `maker`, would be eliminated.
  bool vanishes(const Tensor& tensor, const std::vector<int>& group) const {
    for (const int layer : group) {
      const LayerFigures& figures = summary_.layers[static_cast<std::size_t>(layer)];
      const bool changes_type = figures.is_quantizer || figures.is_reformat;
      if (changes_type &&
          std::ranges::find(at(layer).inputs, tensor.name, &Tensor::name) != at(layer).inputs.end())
        return true;
    }
    if (std::ranges::find(engine_.bindings, tensor.name) != engine_.bindings.end()) return false;
    const std::vector<int> readers = graph_.readers(tensor.name);
    return !readers.empty() &&
           std::ranges::all_of(readers, [&](int reader) { return has(group, reader); });
  }

  /// Milliseconds at the bandwidth and the peak of the device.
  std::optional<double> ideal_of(int partner, std::vector<int> group) const {
    if (!device_ || !costs_ || !device_->memory_bytes_per_second) return std::nullopt;
    group.push_back(partner);
    std::optional<std::int64_t> moved = at(partner).weight_bytes.value_or(0);
    for (const int layer : group) {
      for (const Tensor& input : at(layer).inputs)
        if (!has(group, graph_.producer(input.name))) moved = known_sum(moved, bytes(input));
      for (const Tensor& output : at(layer).outputs)
        if (!vanishes(output, group)) moved = known_sum(moved, bytes(output));
    }
    if (!moved) return std::nullopt;
    const double memory_ms = 1e3 * static_cast<double>(*moved) / *device_->memory_bytes_per_second;
    const LayerCost& cost = costs_->layers[static_cast<std::size_t>(partner)];
    return cost.limit == "compute" ? std::max(memory_ms, cost.least_ms.value_or(0)) : memory_ms;
  }

  const Engine& engine_;
  const EngineSummary& summary_;
  const DeviceSpec* device_;
  const EngineCosts* costs_;
  LayerGraph graph_;
};

}  // namespace

void add_ideal_times(const Engine& engine, const EngineSummary& summary, const DeviceSpec* device,
                     const EngineCosts* costs, std::vector<Cause>& causes) {
  const IdealTimes times(engine, summary, device, costs);
  for (Cause& cause : causes) times.fill(cause);
}

}  // namespace symprof::engine
