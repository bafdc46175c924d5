// The table of a profile's figures: their meaning, how they are counted and folded, and where they
// are printed. Counting, folding, columns, CSV, JSON, formulas and the documents' test read it, so
// a new figure is one row here and its counter in RowFigures or Totals.
//
// Public header.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/checked.h"
#include "profile/profile.h"

namespace symprof::profile {

enum class FigureUnit : std::uint8_t {
  bytes,
  products,  ///< FLOPs of products only: two per MAC.
  flops,     ///< A multiply-add is 2.
  macs,
  count,
  microseconds,  ///< Counters have nanoseconds.
  share,         ///< Parts of a million.
};

/// How the figure of a folded row is computed from its nodes.
enum class Fold : std::uint8_t {
  sum,
  anew,     ///< Recounted for the row (profile/folded_figures.cpp): a parameter once, tensors that
            ///< cross the row's border.
  running,  ///< A sum over this row and all before it.
};

/// The calls whose costs are summed. If one of them has no rule, the sum is unknown.
enum class CallsOf : std::uint8_t {
  none,
  forward,   ///< And loss.
  backward,  ///< Including recomputation.
  recompute,
  optimizer,
};

/// The objects of a profile's JSON that contain the figure.
enum class InJson : std::uint8_t { nowhere, nodes, totals, nodes_and_totals };

/// A line of totals in the JSON of a profile.
enum class TotalsLine : std::uint8_t { products, all_flops, recomputed, held, saved, peaks, times };

/// When a report shows the figure by default.
enum class Shown : std::uint8_t {
  always,
  with_optimizer,       ///< If the step has one.
  where_any,            ///< Nonzero totals; as a column only on request.
  with_times,           ///< If times were requested.
  with_optimizer_time,  ///< And the step has an optimizer.
  on_request,
};

/// A column of tables and CSV.
struct FigureColumn {
  std::string_view name;         ///< Name in --columns and --sort; empty: no column.
  std::string_view title;        ///< In the table.
  std::string_view short_title;  ///< For narrow terminals.
};

/// A line among the totals of formulas.
struct FigureFormula {
  int place = 0;           ///< Order of the lines; 0: no line.
  std::string_view label;  ///< In the text.
};

struct Figure {
  using Counter = std::int64_t RowFigures::*;

  std::string_view key;  ///< In JSON.
  FigureUnit unit;
  std::string_view meaning;  ///< For --help and docs/reference/json.md; "it" is the row.

  /// The row's counter for this figure alone. Null: rows do not have this figure.
  Counter counter = nullptr;
  /// The counter of products, where `counter` holds the other FLOPs and the figure is their sum.
  Counter products = nullptr;
  /// The counter that a running sum adds up; null for other figures.
  Counter summed = nullptr;
  /// The amount that each of these calls adds to `counter`; null if no costs are summed
  /// (profile/step_time.cpp adds times).
  Count (*cost)(const Cost&) = nullptr;
  CallsOf calls = CallsOf::none;
  Fold fold = Fold::sum;
  /// The step's total; null: there is none.
  std::optional<std::int64_t> (*total)(const Profile&) = nullptr;

  InJson json = InJson::nowhere;
  TotalsLine line{};
  FigureColumn column;
  bool is_formula_column = false;  ///< A default column of formulas (few, because they are wide).
  FigureFormula formula;
  Shown shown = Shown::on_request;
};

/// All figures. Figures of rows come in the order of tables and JSON.
std::span<const Figure> figures();
/// The figure with this key. Throws Error if there is none.
const Figure& figure_of(std::string_view key);

}  // namespace symprof::profile
