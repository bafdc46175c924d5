// A file of Python: maps line numbers to statements and functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/graph/graph.h"

namespace symprof::trace {

/// A statement, or the first line of one that has others below it: `for x in xs:`.
struct PythonLine {
  std::int64_t first = 0, last = 0;  ///< The lines that it stands on, from 1.
  std::string text;                  ///< In one line, without comments.
  std::string function;          ///< The enclosing function: "forward"; empty outside of functions.
  std::string class_name;        ///< Of the innermost class around it; empty outside of them.
  std::int64_t function_at = 0;  ///< The line of that function's `def`; 0 outside of functions.
  std::vector<PythonBlock> blocks;  ///< Of that function, around it: the outermost first.
  /// The gradient mode set by the innermost `with torch.no_grad():` or `with torch.enable_grad():`.
  std::optional<bool> gradients;
  bool no_autocast = false;  ///< It lies in a `with torch.autocast(…, enabled=False):`.
};

class PythonFile {
 public:
  explicit PythonFile(std::string_view text);

  /// The statement that has this line; null where none has.
  const PythonLine* at(std::int64_t line) const;

  /// The last `return …` of the function that the statement lies in; null where it has none.
  const PythonLine* last_return(const PythonLine& statement) const;

  /// The statements of the same function that bind names and call nothing (binds_plainly); in
  /// order.
  std::vector<const PythonLine*> plain_lines(const PythonLine& statement) const;

  const std::vector<PythonLine>& lines() const { return lines_; }  ///< In order.

 private:
  std::vector<PythonLine> lines_;  // In order.
};

}  // namespace symprof::trace
