// What a verbose build log says of fusions: `QuantizeDoubleInputNodes: fusing QuantizeLinear_150
// into Conv_138`, `ConvReluFusion: Fusing Conv_0 with Relu_1`, `Swapping MaxPool_12 with
// QuantizeLinear_15`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"

namespace symprof::engine {

/// Adds the fusions that `line`, without its prefix, speaks of. A line about two quantizers gives
/// two. `number` is the line's, counted from 1.
void add_fusions(std::string_view line, std::size_t number, std::vector<Fusion>& fusions);

/// All fusions of a log.
std::vector<Fusion> fusions_in(std::string_view log);

/// "8.5.10" of a line with "[TensorRT v8510]", "10.16.1" of "v101601"; empty for other lines.
std::optional<std::string> version_in(std::string_view line);

}  // namespace symprof::engine
