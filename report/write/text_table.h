// A table of text for a terminal or a file: aligned columns, numbers aligned at their units, long
// names shortened in the middle where the terminal is too narrow.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "report/write/layout.h"
#include "report/write/text_width.h"

namespace symprof::report {

enum class Emphasis : std::uint8_t { normal, faint, strong, alert };
enum class Align : std::uint8_t { left, number };
/// The density of a table: a tight one has fewer digits, and short names.
enum class Density : std::uint8_t { roomy, tight };

struct TextColumn {
  std::string title;  ///< Wrapped at spaces where its column is too narrow.
  Align align = Align::left;
  int least_width = 0;  ///< Above 0: cells may be shortened in the middle to this width.
};

struct TextCell {
  std::string text;
  std::string unit = {};  ///< Number columns only: aligned separately from the text.
  Emphasis emphasis = Emphasis::normal;
  int indent = 0;  ///< Left columns only, in steps of two spaces.
};

/// `rule` draws a line above the row.
struct TextRow {
  std::vector<TextCell> cells;
  enum class Rule : std::uint8_t { none, above } rule = Rule::none;
};

struct TextTable {
  std::vector<TextColumn> columns;
  std::vector<TextRow> rows;
  int gap = 2;  ///< Blanks between columns.
};

/// Width of the table with wrapped titles and nothing shortened, in terminal columns.
int natural_width(const TextTable& table);
/// Width of the table with everything shortened that can be, in terminal columns.
int least_width(const TextTable& table);

/// Titles, a line, the rows. Wider than `layout.width` only where shortening does not suffice.
void write(fmt::memory_buffer& out, const TextTable& table, const Layout& layout);

/// `text` in at most `width` columns: components of a path become their first letters from the left
/// and their numbers ("e.l.0.mlp/linear"), as long as that is needed; a text that is still too wide
/// loses its middle.
std::string shorten(std::string_view text, int width);
/// `text` in the colors of `emphasis`, or unchanged if color is off.
std::string emphasize(std::string_view text, Emphasis emphasis, Color color);

}  // namespace symprof::report
