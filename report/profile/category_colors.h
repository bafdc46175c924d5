// The colors of memory categories in drawings, in the order in which they are stacked.
#pragma once

#include <array>

#include "profile/memory/step_memory.h"

namespace symprof::report {

struct CategoryColor {
  MemoryCategory category;
  const char* color;
};

/// Persistent categories first, temporary ones last.
inline constexpr std::array category_colors = {
    CategoryColor{MemoryCategory::parameters, "#4c78a8"},
    CategoryColor{MemoryCategory::buffers, "#9ecae9"},
    CategoryColor{MemoryCategory::optimizer, "#72b7b2"},
    CategoryColor{MemoryCategory::persistent, "#2f6f5e"},
    CategoryColor{MemoryCategory::workspace, "#8c8c8c"},
    CategoryColor{MemoryCategory::communication, "#9467bd"},
    CategoryColor{MemoryCategory::inputs, "#b79a20"},
    CategoryColor{MemoryCategory::kv_cache, "#54a24b"},
    CategoryColor{MemoryCategory::gradients, "#e45756"},
    CategoryColor{MemoryCategory::activations, "#f2a541"},
    CategoryColor{MemoryCategory::temporaries, "#d4b6e0"},
};
static_assert(category_colors.size() == memory_categories);

}  // namespace symprof::report
