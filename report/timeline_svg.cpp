#include "report/timeline_svg.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "report/category_colours.h"
#include "report/format_number.h"
#include "report/names.h"

namespace symprof::report {
namespace {

constexpr int width = 1100, height = 380, left = 86, right = 14, top = 30, bottom = 24;
constexpr int room_for_word = 70;
constexpr int plot_width = width - left - right, plot_height = height - top - bottom;

/// One step of the drawing: the fullest point among the calls that share a pixel.
struct Bin {
  int x = 0;
  MemoryBreakdown held;
};

class TimelineDrawing {
 public:
  TimelineDrawing(fmt::memory_buffer& out, const StepMemory& memory, const Recording& recording)
      : out_(out), memory_(memory), recording_(recording) {
    top_bytes_ = std::max<std::int64_t>(memory.peak_reserved_bytes, 1);
  }

  void run() {
    print(R"(<svg viewBox="0 0 {} {}" role="img" aria-label="Memory over the calls of a step">)"
          "\n",
          width, height);
    draw_grid();
    draw_layers(bins());
    draw_phases();
    draw_peak(memory_.peak_reserved_bytes, "reserved");
    draw_peak(memory_.peak_allocated_bytes, "allocated");
    print("</svg>\n");
  }

 private:
  template <class... Arguments>
  void print(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Arguments>(arguments)...);
  }

  int x_of(CallId call) const {
    const auto calls = static_cast<std::int64_t>(std::max<std::size_t>(recording_.calls.size(), 1));
    return left + static_cast<int>(std::int64_t{call} * plot_width / calls);
  }
  double y_of(std::int64_t bytes) const {
    return top + plot_height * (1.0 - static_cast<double>(bytes) / static_cast<double>(top_bytes_));
  }

  std::vector<Bin> bins() const {
    std::vector<Bin> result;
    for (const TimelinePoint& point : memory_.timeline) {
      const int x = x_of(point.call);
      if (result.empty() || result.back().x != x)
        result.push_back({x, point.held});
      else if (point.held.total() > result.back().held.total())
        result.back().held = point.held;
    }
    return result;
  }

  void draw_grid() {
    constexpr int lines = 4;
    for (int i = 0; i <= lines; ++i) {
      const std::int64_t bytes = top_bytes_ / lines * i;
      print(R"(<line x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}" class="grid"/>)"
            R"(<text x="{}" y="{:.1f}" class="axis">{}</text>)"
            "\n",
            left, width - right, y_of(bytes), y_of(bytes), left - 8, y_of(bytes) + 4,
            format_bytes(bytes));
    }
  }

  /// Held bytes stay as they are until the next point: a staircase.
  void draw_layers(const std::vector<Bin>& bins) {
    if (bins.empty()) return;
    std::vector<std::int64_t> below(bins.size());
    for (const CategoryColour& layer : category_colours) {
      std::string upper, lower;
      std::int64_t most = 0;
      for (std::size_t i = 0; i < bins.size(); ++i) {
        const int end = i + 1 < bins.size() ? bins[i + 1].x : width - right;
        const std::int64_t bytes = bins[i].held[layer.category];
        most = std::max(most, bytes);
        upper += fmt::format("{},{:.1f} {},{:.1f} ", bins[i].x, y_of(below[i] + bytes), end,
                             y_of(below[i] + bytes));
        lower.insert(
            0, fmt::format("{},{:.1f} {},{:.1f} ", end, y_of(below[i]), bins[i].x, y_of(below[i])));
        below[i] += bytes;
      }
      if (most == 0) continue;
      print(R"(<polygon points="{}{}" fill="{}"><title>{}: up to {}</title></polygon>)"
            "\n",
            upper, lower, layer.colour, name(layer.category), format_bytes(most));
    }
  }

  void draw_phases() {
    for (std::size_t i = 0; i < recording_.calls.size(); ++i) {
      const Phase phase = recording_.calls[i].phase;
      if (i > 0 && phase == recording_.calls[i - 1].phase) continue;
      const int x = x_of(static_cast<CallId>(i));
      print(R"(<line x1="{0}" x2="{0}" y1="{1}" y2="{2}" class="phase"/>)", x, top,
            height - bottom);
      const bool has_room = x < width - right - room_for_word;
      if (phase != Phase::loss)
        print(R"(<text x="{}" y="{}"{}>{}</text>)", has_room ? x + 4 : width - right, height - 8,
              has_room ? "" : R"( text-anchor="end")", name(phase));
      print("\n");
    }
  }

  void draw_peak(std::int64_t bytes, std::string_view what) {
    const double y = y_of(bytes);
    print(R"(<line x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}" class="peak"/>)"
          R"(<text x="{}" y="{:.1f}" class="peak-word">{} {}</text>)"
          "\n",
          left, width - right, y, y, width - right - 4, what == "allocated" ? y + 14 : y - 5, what,
          format_bytes(bytes));
  }

  fmt::memory_buffer& out_;
  const StepMemory& memory_;
  const Recording& recording_;
  std::int64_t top_bytes_ = 1;
};

}  // namespace

void write_timeline_svg(fmt::memory_buffer& out, const StepMemory& memory,
                        const Recording& recording) {
  TimelineDrawing(out, memory, recording).run();
  fmt::format_to(std::back_inserter(out), "<p class=\"legend\">");
  for (const CategoryColour& layer : category_colours)
    if (memory.at_peak[layer.category] > 0)
      fmt::format_to(std::back_inserter(out), R"(<span><i style="background:{}"></i>{} {}</span>)",
                     layer.colour, name(layer.category),
                     format_bytes(memory.at_peak[layer.category]));
  fmt::format_to(std::back_inserter(out), "</p>\n");
}

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '"')
      result += "&quot;";
    else
      result += c;
  }
  return result;
}

}  // namespace symprof::report
