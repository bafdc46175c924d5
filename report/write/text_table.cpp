#include "report/write/text_table.h"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace symprof::report {
namespace {

std::string shorten_middle(std::string_view text, int width) {
  if (display_width(text) <= width) return std::string(text);
  if (width < 3) return std::string(text.substr(0, end_of_front(text, width)));
  // The end of a name tells more than its beginning: it gets two thirds.
  const int front = (width - 1) / 3, back = width - 1 - front;
  return fmt::format("{}…{}", text.substr(0, end_of_front(text, front)),
                     text.substr(begin_of_back(text, back)));
}

std::vector<std::string> words(const std::string& title) {
  std::vector<std::string> result(1);
  for (const char letter : title) {
    if (letter == ' ')
      result.emplace_back();
    else
      result.back() += letter;
  }
  return result;
}

/// The first letter and the number at the end: "e0" of "encoder_layer_0"; numbers stay.
std::string abbreviate(std::string_view component) {
  const std::size_t last_letter = component.find_last_not_of("0123456789");
  if (last_letter == std::string_view::npos) return std::string(component);
  return std::string(first_letter(component)) + std::string(component.substr(last_letter + 1));
}

struct Widths {
  int text = 0, unit = 0, title = 0;
  int total() const { return std::max(title, text + (unit ? 1 + unit : 0)); }
};

Widths measure(const TextTable& table, std::size_t column) {
  Widths widths;
  for (const std::string& word : words(table.columns[column].title))
    widths.title = std::max(widths.title, display_width(word));
  for (const TextRow& row : table.rows) {
    const TextCell& cell = row.cells[column];
    widths.text = std::max(widths.text, 2 * cell.indent + display_width(cell.text));
    widths.unit = std::max(widths.unit, display_width(cell.unit));
  }
  return widths;
}

std::vector<Widths> measure(const TextTable& table) {
  std::vector<Widths> widths;
  for (std::size_t i = 0; i < table.columns.size(); ++i) widths.push_back(measure(table, i));
  return widths;
}

int sum(const TextTable& table, const std::vector<Widths>& widths) {
  const int gaps = table.gap * std::max<int>(0, static_cast<int>(widths.size()) - 1);
  return std::accumulate(widths.begin(), widths.end(), gaps,
                         [](int total, const Widths& column) { return total + column.total(); });
}

/// The number of letters by which `column` can shrink.
int spare(const TextColumn& column, const Widths& width) {
  if (column.least_width == 0) return 0;
  return std::max(0, width.text - std::max(column.least_width, width.title));
}

/// Takes the missing letters from the columns with most to spare.
void shrink(const TextTable& table, std::vector<Widths>& widths, int available) {
  for (int excess = sum(table, widths) - available; excess > 0; --excess) {
    std::size_t best = 0;
    for (std::size_t i = 1; i < widths.size(); ++i)
      if (spare(table.columns[i], widths[i]) > spare(table.columns[best], widths[best])) best = i;
    if (spare(table.columns[best], widths[best]) == 0) return;
    --widths[best].text;
  }
}

/// One line; blanks are written only before something visible, so none trail.
class Line {
 public:
  explicit Line(fmt::memory_buffer& out) : out_(out) {}
  void skip(int columns) { blanks_ += columns; }
  void put(std::string_view text, Emphasis emphasis, Color color) {
    if (text.empty()) return;
    fmt::format_to(std::back_inserter(out_), "{:{}}{}", "", blanks_,
                   emphasize(text, emphasis, color));
    blanks_ = 0;
  }
  void end() { out_.push_back('\n'); }

 private:
  fmt::memory_buffer& out_;
  int blanks_ = 0;
};

void put_cell(Line& line, const TextCell& cell, Align align, const Widths& width, Color color) {
  if (align == Align::left) {
    line.skip(2 * cell.indent);
    const std::string text = shorten(cell.text, width.text - 2 * cell.indent);
    line.put(text, cell.emphasis, color);
    line.skip(width.total() - 2 * cell.indent - display_width(text));
    return;
  }
  const int unit_width = width.unit ? 1 + width.unit : 0;
  line.skip(width.total() - unit_width - display_width(cell.text));
  line.put(cell.text, cell.emphasis, color);
  if (cell.unit.empty()) return line.skip(unit_width);
  line.skip(1);
  line.put(cell.unit, cell.emphasis, color);
  line.skip(unit_width - 1 - display_width(cell.unit));
}

/// A line over each column, as wide as the column.
void write_rule(fmt::memory_buffer& out, const TextTable& table, const std::vector<Widths>& widths,
                Color color) {
  Line line(out);
  for (std::size_t i = 0; i < widths.size(); ++i) {
    std::string dashes;
    for (int k = 0; k < widths[i].total(); ++k) dashes += "─";
    if (i) line.skip(table.gap);
    line.put(dashes, Emphasis::faint, color);
  }
  line.end();
}

/// In lines of at most `width`, or of one word.
std::vector<std::string> wrap(const std::string& title, int width) {
  std::vector<std::string> lines;
  for (const std::string& word : words(title)) {
    const bool fits =
        !lines.empty() && display_width(lines.back()) + 1 + display_width(word) <= width;
    if (fits)
      lines.back() += " " + word;
    else
      lines.push_back(word);
  }
  return lines;
}

/// Titles on as many lines as they need, their last words on the same line.
void write_titles(fmt::memory_buffer& out, const TextTable& table,
                  const std::vector<Widths>& widths, Color color) {
  std::vector<std::vector<std::string>> titles;
  for (std::size_t i = 0; i < widths.size(); ++i)
    titles.push_back(wrap(table.columns[i].title, widths[i].total()));
  std::size_t lines = 0;
  for (const auto& title : titles) lines = std::max(lines, title.size());
  for (std::size_t row = 0; row < lines; ++row) {
    Line line(out);
    for (std::size_t i = 0; i < titles.size(); ++i) {
      const std::size_t missing = lines - titles[i].size();
      const std::string text = row < missing ? "" : titles[i][row - missing];
      if (i) line.skip(table.gap);
      const int blanks = widths[i].total() - display_width(text);
      if (table.columns[i].align == Align::number) line.skip(blanks);
      line.put(text, Emphasis::strong, color);
      if (table.columns[i].align == Align::left) line.skip(blanks);
    }
    line.end();
  }
}

}  // namespace

std::string shorten(std::string_view text, int width) {
  std::string path(text);
  for (std::size_t begin = 0; display_width(path) > width;) {
    const std::size_t end = path.find_first_of("./", begin);
    if (end == std::string::npos) return shorten_middle(path, width);
    const std::string initial = abbreviate(std::string_view(path).substr(begin, end - begin));
    path.replace(begin, end - begin, initial);
    begin += initial.size() + 1;
  }
  return path;
}

std::string emphasize(std::string_view text, Emphasis emphasis, Color color) {
  if (color == Color::off || emphasis == Emphasis::normal) return std::string(text);
  const std::string_view code = emphasis == Emphasis::faint    ? "2"
                                : emphasis == Emphasis::strong ? "1"
                                                               : "33";
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

int natural_width(const TextTable& table) { return sum(table, measure(table)); }

int least_width(const TextTable& table) {
  std::vector<Widths> widths = measure(table);
  shrink(table, widths, 0);
  return sum(table, widths);
}

void write(fmt::memory_buffer& out, const TextTable& table, const Layout& layout) {
  std::vector<Widths> widths = measure(table);
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    widths[i].title = std::max(widths[i].title, display_width(table.columns[i].title));
  if (layout.width && sum(table, widths) > *layout.width) {
    widths = measure(table);
    shrink(table, widths, *layout.width);
  }
  write_titles(out, table, widths, layout.color);
  write_rule(out, table, widths, layout.color);
  for (const TextRow& row : table.rows) {
    if (row.rule == TextRow::Rule::above) write_rule(out, table, widths, layout.color);
    Line line(out);
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      if (i) line.skip(table.gap);
      put_cell(line, row.cells[i], table.columns[i].align, widths[i], layout.color);
    }
    line.end();
  }
}

}  // namespace symprof::report
