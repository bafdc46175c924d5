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
  /// Of |x - y| / max(1, |x|). Left out: 1e-5, or 1e-2 where a value has float16 or bfloat16.
  std::optional<double> tolerance;
  std::size_t held_bytes = std::size_t{256} << 20;  ///< Of values of A that wait for their twins.
};

struct Comparison {
  std::vector<Row> a, b;
  Alignment alignment;
  double tolerance = 0;
  std::vector<std::string> notes;  ///< By line: what differs but values; empty where nothing does.
  /// Where outputs do not agree: the line whose values part first, in the order of A.
  std::optional<std::size_t> first_divergence;

  /// Whether each output of A has a partner within the tolerance, and each of B one.
  bool outputs_agree() const;
  std::size_t count(char mark) const;
};

/// Runs both sides on the leaves that they have, once for the signatures, aligns their rows, and
/// runs both again to compare the pairs. `sides` get their rows described.
Comparison compare(Side& a, const ValueRunner& runner_a, Side& b, const ValueRunner& runner_b,
                   const CompareOptions& options);

}  // namespace symprof::workbench
