// Aligns the layers of two engines of one model.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/summary.h"

namespace symprof::engine {

/// Layers of both engines that do the same work, or layers of only one engine.
struct ComparedLayers {
  enum class Kind : std::uint8_t {
    same,       ///< One layer each, with the same name.
    similar,    ///< One layer each, with the same nodes except helpers and quantizers.
    regrouped,  ///< The same nodes in other layers: fused differently.
    only_one,   ///< Not in the other engine.
  };
  Kind kind = Kind::same;
  std::vector<int> before, after;             ///< Layers of the first and of the second engine.
  std::optional<double> before_ms, after_ms;  ///< Empty if a time is missing, or without layers.
};

/// Layers and reformats with a kernel; others are omitted. Aligned by name, then by the nodes in
/// their names and metadata, then by the preceding layers. In the order of the first engine, then
/// of the second.
std::vector<ComparedLayers> compare(const Engine& before, const EngineSummary& before_summary,
                                    const Engine& after, const EngineSummary& after_summary);

std::string_view name(ComparedLayers::Kind kind);

}  // namespace symprof::engine
