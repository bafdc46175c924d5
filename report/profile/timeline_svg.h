// The memory of a step over its calls, drawn.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "profile/memory/step_memory.h"

namespace symprof::report {

/// An SVG element: bytes by category, stacked, over the calls of the last step; phases, and the
/// peaks of allocated and reserved memory as lines. Nothing of it needs another file.
void write_timeline_svg(fmt::memory_buffer& out, const StepMemory& memory,
                        const Recording& recording);

/// `text` with the special characters of HTML and XML written as entities.
std::string escaped(std::string_view text);

}  // namespace symprof::report
