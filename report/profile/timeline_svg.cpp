#include "report/profile/timeline_svg.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include "report/profile/call_axis.h"
#include "report/profile/category_colors.h"
#include "report/profile/memory_text.h"
#include "report/profile/names.h"
#include "report/write/format_number.h"

namespace symprof::report {
namespace {

constexpr int width = 1100, height = 380, left = 86, right = 14, top = 30, bottom = 24;
constexpr int plot_width = width - left - right, plot_height = height - top - bottom;

/// One step of the drawing: the fullest point among the calls that share a pixel.
struct Bin {
  int x = 0;
  CallId call = none;
  MemoryBreakdown held;
};

/// A power of two, so that the lines have short names in binary units: at most eight of them.
std::int64_t grid_step(std::int64_t top_bytes) {
  std::int64_t step = 1;
  while (top_bytes / step >= 8) step *= 2;
  return step;
}

class TimelineDrawing {
 public:
  TimelineDrawing(fmt::memory_buffer& out, const StepMemory& memory, const Recording& recording)
      : out_(out), memory_(memory), recording_(recording), axis_(recording, left, plot_width) {
    top_bytes_ = std::max<std::int64_t>(memory.peak_reserved_bytes, 1);
  }

  void run() {
    print(R"(<svg viewBox="0 0 {} {}" role="img" aria-label="Memory over the calls of a step">)"
          "\n",
          width, height);
    draw_grid();
    const std::vector<Bin> steps = bins();
    draw_layers(steps);
    draw_phases();
    draw_peak(memory_.peak_reserved_bytes, "reserved");
    draw_peak(memory_.peak_allocated_bytes, "allocated");
    draw_hover_texts(steps);
    mark_peak();
    print("</svg>\n");
  }

 private:
  template <class... Arguments>
  void print(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Arguments>(arguments)...);
  }

  double y_of(std::int64_t bytes) const {
    return top + plot_height * (1.0 - static_cast<double>(bytes) / static_cast<double>(top_bytes_));
  }

  std::vector<Bin> bins() const {
    std::vector<Bin> result;
    for (const TimelinePoint& point : memory_.timeline) {
      const int x = static_cast<int>(axis_.x_of(point.call));
      if (result.empty() || result.back().x != x)
        result.push_back({x, point.call, point.held});
      else if (point.held.total() > result.back().held.total())
        result.back() = {x, point.call, point.held};
    }
    return result;
  }

  void draw_grid() {
    const std::int64_t step = grid_step(top_bytes_);
    for (std::int64_t bytes = 0; bytes <= top_bytes_; bytes += step)
      print(R"(<line x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}" class="grid"/>)"
            R"(<text x="{}" y="{:.1f}" class="axis">{}</text>)"
            "\n",
            left, width - right, y_of(bytes), y_of(bytes), left - 8, y_of(bytes) + 4,
            format_bytes(bytes));
  }

  /// Allocated bytes are constant until the next point: a staircase.
  void draw_layers(const std::vector<Bin>& bins) {
    if (bins.empty()) return;
    std::vector<std::int64_t> below(bins.size());
    for (const CategoryColor& layer : category_colors) {
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
            upper, lower, layer.color, name(layer.category), format_bytes(most));
    }
  }

  void draw_phases() {
    for (const CallAxis::Stretch& phase : axis_.stretches())
      print(R"(<line x1="{0:.1f}" x2="{0:.1f}" y1="{1}" y2="{2}" class="phase"/>)"
            R"(<text x="{3:.1f}" y="{4}">{5}</text>)"
            "\n",
            phase.x, top, height - bottom, phase.x + 4, height - 8, name(phase.phase));
  }

  /// Tooltips with the allocated bytes, in columns over the whole height: a page of a thousand
  /// calls stays small.
  void draw_hover_texts(const std::vector<Bin>& bins) {
    constexpr int column = 5;
    for (std::size_t i = 0; i < bins.size();) {
      std::size_t end = i + 1, fullest = i;
      for (; end < bins.size() && bins[end].x < bins[i].x + column; ++end)
        if (bins[end].held.total() > bins[fullest].held.total()) fullest = end;
      const int right_edge = end < bins.size() ? bins[end].x : width - right;
      const Bin& bin = bins[fullest];
      print(R"(<rect x="{}" y="{}" width="{}" height="{}" class="hover"><title>{} after {}: {})"
            "</title></rect>\n",
            bins[i].x, top, right_edge - bins[i].x, plot_height, format_bytes(bin.held.total()),
            escaped(call_text(bin.call, recording_)), held_text(bin.held));
      i = end;
    }
  }

  void mark_peak() {
    if (memory_.peak_call == none) return;
    print(R"(<circle cx="{:.1f}" cy="{:.1f}" r="4" class="mark"><title>{} at the peak, in {}: {})"
          "</title></circle>\n",
          axis_.x_of(memory_.peak_call), y_of(memory_.peak_allocated_bytes),
          format_bytes(memory_.peak_allocated_bytes),
          escaped(call_text(memory_.peak_call, recording_)), held_text(memory_.at_peak));
  }

  void draw_peak(std::int64_t bytes, std::string_view what) {
    const double y = y_of(bytes);
    print(R"(<line x1="{}" x2="{}" y1="{:.1f}" y2="{:.1f}" class="peak"/>)"
          R"(<text x="{}" y="{:.1f}" class="peak-word">{} {}</text>)"
          "\n",
          left, width - right, y, y, left + 6, what == "allocated" ? y + 14 : y - 5, what,
          format_bytes(bytes));
  }

  fmt::memory_buffer& out_;
  const StepMemory& memory_;
  const Recording& recording_;
  CallAxis axis_;
  std::int64_t top_bytes_ = 1;
};

}  // namespace

void write_timeline_svg(fmt::memory_buffer& out, const StepMemory& memory,
                        const Recording& recording) {
  TimelineDrawing(out, memory, recording).run();
  fmt::format_to(std::back_inserter(out), "<p class=\"legend\">");
  for (const CategoryColor& layer : category_colors)
    if (memory.at_peak[layer.category] > 0)
      fmt::format_to(std::back_inserter(out), R"(<span><i style="background:{}"></i>{} {}</span>)",
                     layer.color, name(layer.category),
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
