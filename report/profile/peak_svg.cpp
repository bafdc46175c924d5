#include "report/profile/peak_svg.h"

#include <algorithm>
#include <iterator>

#include "report/profile/category_colors.h"
#include "report/profile/names.h"
#include "report/profile/timeline_svg.h"
#include "report/write/format_number.h"
#include "report/write/text_table.h"

namespace symprof::report {
namespace {

constexpr struct {
  int width = 1100, left = 290, right = 150, row_height = 22, bar_height = 15, top = 4;
  constexpr int plot_width() const { return width - left - right; }
} bars;
constexpr int label_columns = 42;  ///< Letters that fit into `left` at 12 px.

class PeakDrawing {
 public:
  PeakDrawing(fmt::memory_buffer& out, const StepMemory& memory) : out_(out), memory_(memory) {}

  void run(const PeakRows& found) {
    const std::int64_t first = found.rows.empty() ? 0 : found.rows.front().held.total();
    most_ = std::max({first, found.others ? found.others->held.total() : 0, std::int64_t{1}});
    const std::size_t rows = found.rows.size() + (found.others ? 1 : 0);
    print(R"(<svg viewBox="0 0 {} {}" role="img" aria-label="Who holds the memory at its peak">)"
          "\n",
          bars.width, static_cast<int>(rows) * bars.row_height + 2 * bars.top);
    for (const PeakOwner& row : found.rows) draw_row(label(row), row.held);
    if (found.others) draw_row(fmt::format("[{} others]", found.other_count), found.others->held);
    print("</svg>\n");
  }

 private:
  template <class... Arguments>
  void print(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Arguments>(arguments)...);
  }

  void draw_row(const std::string& text, const MemoryBreakdown& held) {
    const int y = bars.top + drawn_++ * bars.row_height;
    const int baseline = y + bars.bar_height - 3;
    print(R"(<text x="{}" y="{}" text-anchor="end">{}<title>{}</title></text>)", bars.left - 8,
          baseline, escaped(shorten(text, label_columns)), escaped(text));
    double x = bars.left;
    for (const auto& [category, color] : category_colors) {
      if (held[category] == 0) continue;
      const double length =
          bars.plot_width() * static_cast<double>(held[category]) / static_cast<double>(most_);
      print(R"(<rect x="{:.1f}" y="{}" width="{:.1f}" height="{}" fill="{}">)"
            "<title>{}: {} {}</title></rect>",
            x, y, length, bars.bar_height, color, escaped(text), name(category),
            format_bytes(held[category]));
      x += length;
    }
    print(R"(<text x="{:.1f}" y="{}">{} <tspan class="share">{:.1f} %</tspan></text>)"
          "\n",
          x + 8, baseline, format_bytes(held.total()),
          100.0 * static_cast<double>(held.total()) /
              static_cast<double>(std::max<std::int64_t>(memory_.at_peak.total(), 1)));
  }

  fmt::memory_buffer& out_;
  const StepMemory& memory_;
  std::int64_t most_ = 1;
  int drawn_ = 0;
};

}  // namespace

void write_peak_svg(fmt::memory_buffer& out, const StepMemory& memory, const Recording& recording,
                    const PeakTableOptions& options) {
  PeakDrawing(out, memory).run(peak_rows(memory, recording, options));
}

}  // namespace symprof::report
