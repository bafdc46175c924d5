// GitHub Flavored Markdown: https://github.github.com/gfm, sections 4.10 (tables) and 6.3 (code).
#include "report/profile/markdown.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "report/profile/footer.h"
#include "report/profile/table.h"
#include "report/write/text_table.h"

namespace symprof::report {
namespace {

/// `text` as code, on one line. The fence is longer than any row of backticks inside; a bar would
/// end a table's cell, in code too.
std::string code(std::string_view text) {
  if (text.empty()) return {};
  std::string inside;
  std::size_t longest = 0, run = 0;
  for (const char letter : text) {
    run = letter == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
    if (letter == '|') inside += '\\';
    inside += letter == '\n' || letter == '\r' ? ' ' : letter;
  }
  const std::string fence(longest + 1, '`');
  const std::string_view gap = longest > 0 ? " " : "";
  return fmt::format("{0}{1}{2}{1}{0}", fence, gap, inside);
}

/// `text` as words, with the signs of emphasis, code, tags and links escaped.
std::string escaped_words(std::string_view text) {
  std::string result;
  for (const char letter : text) {
    if (std::string_view("\\`*_<[]").find(letter) != std::string_view::npos) result += '\\';
    result += letter == '\n' || letter == '\r' ? ' ' : letter;
  }
  return result;
}

std::string cell_text(const TextCell& cell, Align align) {
  if (align == Align::left) return code(cell.text);
  return cell.unit.empty() ? cell.text : cell.text + " " + cell.unit;
}

void write_rows(fmt::memory_buffer& out, const TextTable& table) {
  const auto print = [&](std::string_view text) { out.append(text); };
  for (const TextColumn& column : table.columns) print("| " + column.title + " ");
  print("|\n");
  for (const TextColumn& column : table.columns)
    print(column.align == Align::left ? "| :--- " : "| ---: ");
  print("|\n");
  for (const TextRow& row : table.rows) {
    for (std::size_t i = 0; i < row.cells.size(); ++i)
      print("| " + cell_text(row.cells[i], table.columns[i].align) + " ");
    print("|\n");
  }
}

void write_totals(fmt::memory_buffer& out, const std::vector<FooterLine>& lines,
                  SettingSpeller spell) {
  for (const FooterLine& line : lines) {
    const std::string text = escaped_words(spelled(line.text, spell));
    if (line.label.empty())
      fmt::format_to(std::back_inserter(out), "  ({})\n", text);
    else
      fmt::format_to(std::back_inserter(out), "- **{}**: {}\n", line.label, text);
  }
}

}  // namespace

void write_markdown(fmt::memory_buffer& out, const Profile& profile, const StepOptions& options,
                    const RowOptions& row_options, const std::vector<Column>& columns,
                    SettingSpeller spell) {
  fmt::format_to(std::back_inserter(out), "{}: {}\n\n", code(profile.recording.path),
                 escaped_words(coverage_line(profile.coverage)));
  write_rows(out,
             text_table(rows(profile, row_options), columns, row_options.unit, Density::roomy));
  out.push_back('\n');
  write_totals(out, footer_lines(profile, options, row_options.unit), spell);
}

}  // namespace symprof::report
