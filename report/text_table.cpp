#include "report/text_table.h"

#include <algorithm>
#include <iterator>
#include <numeric>

namespace symprof::report {
namespace {

constexpr int gap = 2;

bool starts_code_point(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

/// Byte offset of code point `index`.
std::size_t offset_of(std::string_view text, int index) {
  std::size_t at = 0;
  for (; at < text.size(); ++at)
    if (starts_code_point(text[at]) && index-- == 0) break;
  return at;
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

int sum(const std::vector<Widths>& widths) {
  const int gaps = gap * std::max<int>(0, static_cast<int>(widths.size()) - 1);
  return std::accumulate(widths.begin(), widths.end(), gaps,
                         [](int total, const Widths& column) { return total + column.total(); });
}

/// Takes the missing columns from the widest columns that may be shortened.
void shrink(const TextTable& table, std::vector<Widths>& widths, int available) {
  for (int excess = sum(widths) - available; excess > 0; --excess) {
    std::size_t widest = widths.size();
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const int least = std::max(table.columns[i].least_width, widths[i].title);
      if (table.columns[i].least_width == 0 || widths[i].text <= least) continue;
      if (widest == widths.size() || widths[i].text > widths[widest].text) widest = i;
    }
    if (widest == widths.size()) return;
    --widths[widest].text;
  }
}

/// One line; blanks are written only before something visible, so none trail.
class Line {
 public:
  explicit Line(fmt::memory_buffer& out) : out_(out) {}
  void skip(int columns) { blanks_ += columns; }
  void put(std::string_view text, Emphasis emphasis, Colour colour) {
    if (text.empty()) return;
    fmt::format_to(std::back_inserter(out_), "{:{}}{}", "", blanks_,
                   emphasize(text, emphasis, colour));
    blanks_ = 0;
  }
  void end() { out_.push_back('\n'); }

 private:
  fmt::memory_buffer& out_;
  int blanks_ = 0;
};

void put_cell(Line& line, const TextCell& cell, Align align, const Widths& width, Colour colour) {
  if (align == Align::left) {
    line.skip(2 * cell.indent);
    const std::string text = shorten_middle(cell.text, width.text - 2 * cell.indent);
    line.put(text, cell.emphasis, colour);
    line.skip(width.total() - 2 * cell.indent - display_width(text));
    return;
  }
  const int unit_width = width.unit ? 1 + width.unit : 0;
  line.skip(width.total() - unit_width - display_width(cell.text));
  line.put(cell.text, cell.emphasis, colour);
  if (cell.unit.empty()) return line.skip(unit_width);
  line.skip(1);
  line.put(cell.unit, cell.emphasis, colour);
  line.skip(unit_width - 1 - display_width(cell.unit));
}

/// A line over each column, as wide as the column.
void write_rule(fmt::memory_buffer& out, const std::vector<Widths>& widths, Colour colour) {
  Line line(out);
  for (std::size_t i = 0; i < widths.size(); ++i) {
    std::string dashes;
    for (int k = 0; k < widths[i].total(); ++k) dashes += "─";
    if (i) line.skip(gap);
    line.put(dashes, Emphasis::faint, colour);
  }
  line.end();
}

/// Titles on as many lines as they need, their last words on the same line.
void write_titles(fmt::memory_buffer& out, const TextTable& table,
                  const std::vector<std::vector<std::string>>& titles,
                  const std::vector<Widths>& widths, Colour colour) {
  std::size_t lines = 0;
  for (const auto& title : titles) lines = std::max(lines, title.size());
  for (std::size_t row = 0; row < lines; ++row) {
    Line line(out);
    for (std::size_t i = 0; i < titles.size(); ++i) {
      const std::size_t missing = lines - titles[i].size();
      const std::string text = row < missing ? "" : titles[i][row - missing];
      if (i) line.skip(gap);
      const int blanks = widths[i].total() - display_width(text);
      if (table.columns[i].align == Align::number) line.skip(blanks);
      line.put(text, Emphasis::strong, colour);
      if (table.columns[i].align == Align::left) line.skip(blanks);
    }
    line.end();
  }
}

}  // namespace

int display_width(std::string_view text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), starts_code_point));
}

std::string shorten_middle(std::string_view text, int width) {
  const int length = display_width(text);
  if (length <= width) return std::string(text);
  if (width < 3) return std::string(text.substr(0, offset_of(text, std::max(0, width))));
  // The end of a name tells more than its beginning: it gets two thirds.
  const int front = (width - 1) / 3, back = width - 1 - front;
  return fmt::format("{}…{}", text.substr(0, offset_of(text, front)),
                     text.substr(offset_of(text, length - back)));
}

std::string emphasize(std::string_view text, Emphasis emphasis, Colour colour) {
  if (colour == Colour::off || emphasis == Emphasis::normal) return std::string(text);
  const std::string_view code = emphasis == Emphasis::faint    ? "2"
                                : emphasis == Emphasis::strong ? "1"
                                                               : "33";
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

int natural_width(const TextTable& table) { return sum(measure(table)); }

int least_width(const TextTable& table) {
  std::vector<Widths> widths = measure(table);
  shrink(table, widths, 0);
  return sum(widths);
}

void write(fmt::memory_buffer& out, const TextTable& table, const Layout& layout) {
  std::vector<std::vector<std::string>> titles;
  std::vector<Widths> whole = measure(table);
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    titles.push_back({table.columns[i].title});
    whole[i].title = std::max(whole[i].title, display_width(table.columns[i].title));
  }
  std::vector<Widths> widths = whole;
  if (layout.width && sum(whole) > *layout.width) {
    widths = measure(table);
    shrink(table, widths, *layout.width);
    for (std::size_t i = 0; i < titles.size(); ++i) titles[i] = words(table.columns[i].title);
  }
  write_titles(out, table, titles, widths, layout.colour);
  write_rule(out, widths, layout.colour);
  for (const TextRow& row : table.rows) {
    if (row.rule == TextRow::Rule::above) write_rule(out, widths, layout.colour);
    Line line(out);
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      if (i) line.skip(gap);
      put_cell(line, row.cells[i], table.columns[i].align, widths[i], layout.colour);
    }
    line.end();
  }
}

}  // namespace symprof::report
