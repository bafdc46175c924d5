// The colours of memory categories in drawings, in the order in which they are stacked.
#pragma once

#include <array>

#include "profile/memory/step_memory.h"

namespace symprof::report {

struct CategoryColour {
  MemoryCategory category;
  const char* colour;
};

/// Persistent categories first, temporary ones last.
inline constexpr std::array category_colours = {
    CategoryColour{MemoryCategory::parameters, "#4c78a8"},
    CategoryColour{MemoryCategory::buffers, "#9ecae9"},
    CategoryColour{MemoryCategory::optimizer, "#72b7b2"},
    CategoryColour{MemoryCategory::persistent, "#2f6f5e"},
    CategoryColour{MemoryCategory::workspace, "#8c8c8c"},
    CategoryColour{MemoryCategory::communication, "#9467bd"},
    CategoryColour{MemoryCategory::inputs, "#b79a20"},
    CategoryColour{MemoryCategory::kv_cache, "#54a24b"},
    CategoryColour{MemoryCategory::gradients, "#e45756"},
    CategoryColour{MemoryCategory::activations, "#f2a541"},
    CategoryColour{MemoryCategory::temporaries, "#d4b6e0"},
};
static_assert(category_colours.size() == memory_categories);

}  // namespace symprof::report
