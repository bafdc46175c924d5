#include "engine/summary.h"

#include <algorithm>
#include <string_view>

#include "engine/layer_kinds.h"
#include "engine/names.h"

namespace symprof::engine {
namespace {

std::optional<std::int64_t> sum_of_bytes(const std::vector<Tensor>& tensors) {
  std::optional<std::int64_t> sum = 0;
  for (const Tensor& tensor : tensors) sum = known_sum(sum, bytes(tensor));
  return sum;
}

/// A layer without tensors in the file moves unknown bytes, not 0.
bool has_tensors(const Layer& layer) { return !layer.inputs.empty() || !layer.outputs.empty(); }

LayerFigures figures_of(const Layer& layer) {
  LayerFigures figures;
  figures.has_kernel = has_kernel(layer);
  figures.is_reformat = is_reformat(layer);
  figures.is_quantizer = is_lone_quantizer(layer);
  if (!has_tensors(layer)) return figures;
  figures.bytes_read = sum_of_bytes(layer.inputs);
  figures.bytes_read = known_sum(figures.bytes_read, layer.weight_bytes.value_or(0));
  figures.bytes_written = sum_of_bytes(layer.outputs);
  return figures;
}

void add_times(const Engine& engine, const Times& times, EngineSummary& summary) {
  const JoinedTimes joined = join(engine.layers, times);
  for (std::size_t i = 0; i < joined.average_ms.size(); ++i)
    summary.layers[i].measured_ms = joined.average_ms[i];
  summary.measured_ms = joined.sum_ms;
  summary.runs = times.runs;
  summary.has_times = true;
  for (const auto* warnings : {&times.warnings, &joined.warnings})
    summary.warnings.insert(summary.warnings.end(), warnings->begin(), warnings->end());
}

/// The dtypes of `tensors`, each once, with commas between them.
std::string dtypes(const std::vector<Tensor>& tensors) {
  std::vector<std::string_view> words;
  words.reserve(tensors.size());
  for (const Tensor& tensor : tensors)
    if (!tensor.dtype.empty() && std::ranges::find(words, tensor.dtype) == words.end())
      words.emplace_back(tensor.dtype);
  std::string text;
  for (const std::string_view word : words) (text += text.empty() ? "" : ",") += word;
  return text;
}

}  // namespace

std::optional<std::int64_t> known_sum(const std::optional<std::int64_t>& a,
                                      const std::optional<std::int64_t>& b) {
  std::int64_t sum = 0;
  if (!a || !b || __builtin_add_overflow(*a, *b, &sum)) return std::nullopt;
  return sum;
}

std::optional<std::int64_t> bytes_moved(const LayerFigures& layer) {
  return known_sum(layer.bytes_read, layer.bytes_written);
}

void add(const LayerFigures& layer, LayerGroup& group) {
  ++group.layers;
  if (layer.measured_ms) {
    group.measured_ms += *layer.measured_ms;
    ++group.timed_layers;
  }
  if (const auto sum = known_sum(group.bytes, bytes_moved(layer)))
    group.bytes = *sum;
  else
    ++group.layers_of_unknown_bytes;
}

EngineSummary summarize(const Engine& engine, const Times* times) {
  EngineSummary summary;
  summary.warnings = engine.warnings;
  summary.layers.reserve(engine.layers.size());
  for (const Layer& layer : engine.layers) {
    summary.layers.push_back(figures_of(layer));
    summary.untyped_layers += layer.type.empty();
    summary.layers_of_unknown_weights +=
        has_kernel(layer) && split_kernel_number(layer.name).second.has_value();
  }
  if (!times && engine.times) times = &*engine.times;
  if (times) add_times(engine, *times, summary);
  for (const LayerFigures& layer : summary.layers) {
    if (!layer.has_kernel) continue;
    add(layer, summary.kernels);
    if (layer.is_reformat) add(layer, summary.reformats);
    if (layer.is_quantizer) add(layer, summary.quantizers);
  }
  return summary;
}

std::string precision(const Layer& layer) {
  std::string in = dtypes(layer.inputs), out = dtypes(layer.outputs);
  if (in == out || out.empty()) return in;
  if (in.empty()) return out;
  return in + " → " + out;
}

}  // namespace symprof::engine
