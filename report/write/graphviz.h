// Drawings laid out by graphviz, an external program.
#pragma once

#include <fmt/format.h>

#include <string_view>

namespace symprof::report {

/// The SVG of a drawing in graphviz's language. Throws Error if graphviz is not installed or fails.
fmt::memory_buffer svg_of(std::string_view drawing);

}  // namespace symprof::report
