// Drawings laid out by graphviz, a program of its own.
#pragma once

#include <fmt/format.h>

#include <string_view>

namespace symprof::cli {

/// The SVG that graphviz makes of a drawing in its language. Throws Error where graphviz is not
/// installed or fails.
fmt::memory_buffer svg_of(std::string_view drawing);

}  // namespace symprof::cli
