// Two engines of one model side by side: which layers of the one are which of the other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/summary.h"

namespace symprof::engine {

/// Layers of both engines that do the same work, or layers of one that the other has not.
struct ComparedLayers {
  enum class Kind : std::uint8_t {
    same,       ///< One layer each, of one name.
    similar,    ///< One layer each, of the same nodes but for helpers and quantizers.
    regrouped,  ///< The same nodes are in other layers: what is fused differs.
    only_one,   ///< Nothing of it is in the other engine.
  };
  Kind kind = Kind::same;
  std::vector<int> before, after;             ///< Layers of the first and of the second engine.
  std::optional<double> before_ms, after_ms;  ///< Empty where one has no time, or none is there.
};

/// Layers with a kernel, and reformats with theirs; those that run none are left out. Aligned by
/// name, then by the nodes that their names and metadata give, then by the layers before them. In
/// the order of the first engine, then of the second.
std::vector<ComparedLayers> compare(const Engine& before, const EngineSummary& before_summary,
                                    const Engine& after, const EngineSummary& after_summary);

std::string_view name(ComparedLayers::Kind kind);

}  // namespace symprof::engine
