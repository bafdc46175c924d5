// Two graphs side by side: run, aligned, and compared value by value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "workbench/compare/align.h"
#include "workbench/compare/inputs.h"
#include "workbench/compare/side.h"

namespace symprof::workbench {

enum class AlignBy : std::uint8_t { best, edit };

struct CompareOptions {
  AlignBy align = AlignBy::best;
  /// A bound of |x - y| / max(1, |x|). Default: 1e-5, or 1e-2 where a value has float16 or
  /// bfloat16.
  std::optional<double> tolerance;
  std::size_t held_bytes = std::size_t{256} << 20;  ///< A limit of A's values that wait for B's.
};

struct Comparison {
  std::vector<Row> a, b;
  Alignment alignment;
  double tolerance = 0;
  std::vector<std::string> notes;  ///< By line: differences other than values; may be empty.
  /// If outputs differ: the line where values first diverge, in the order of A.
  std::optional<std::size_t> first_divergence;

  /// True if each output of A has a partner within the tolerance, and so has each of B.
  bool outputs_agree() const;
  std::size_t count(char mark) const;
};

/// Runs both sides on their leaves, once for the signatures, aligns their rows, and runs both again
/// to compare the pairs. Fills the descriptions of the rows of `sides`.
Comparison compare(Side& a, const ValueRunner& runner_a, Side& b, const ValueRunner& runner_b,
                   const CompareOptions& options);

}  // namespace symprof::workbench
