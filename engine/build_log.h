// Quantizer fusions in a verbose build log: `QuantizeDoubleInputNodes: fusing QuantizeLinear_150
// into Conv_138`, `Eliminating QuantizeLinear_38 which duplicates (Q) QuantizeLinear_15`.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"

namespace symprof::engine {

/// Adds the fusions in `line` (without its prefix); a line may have two quantizers.
void add_fusions(std::string_view line, std::vector<Fusion>& fusions);

/// "8.5.10" of a line with "[TensorRT v8510]", "10.16.1" of "v101601"; empty for other lines.
std::optional<std::string> version_in(std::string_view line);

}  // namespace symprof::engine
