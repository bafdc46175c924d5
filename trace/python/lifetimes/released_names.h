// Variables that a line of generated code releases.
#pragma once

#include <string_view>
#include <vector>

namespace symprof::trace {

/// A line that torch.fx generated: "y = f(x, w);  x = w = None".
struct GeneratedLine {
  std::string_view statement;  ///< "y = f(x, w)"; the whole line where nothing is let go.
  std::vector<std::string_view> released;  ///< x and w, which refer to nothing afterwards.
};

/// Views into `line`.
GeneratedLine parse_generated_line(std::string_view line);

}  // namespace symprof::trace
